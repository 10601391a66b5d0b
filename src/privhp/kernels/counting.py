"""Counting codes in counters, Count-Min sketches and learned partitions, and reading sketches, in NumPy.

All arithmetic is in 64-bit integers, which may wrap around but never round.
`src/native/counting.cpp` holds the native kernel.

Hashing. A group of sketched levels h, ..., h + K shares one hash function, of
cells of level h. A cell c of level h + k has the ancestor a = c >> k of level h
and the suffix s = c mod 2^k. Its bucket in a row with hash function H is
H(a) xor s. Descendants of one hashed cell therefore never share a bucket.

Joint tables. Let J_K[b, s] be the number of codes with H(a) = b and suffix s at
the deepest level of the group. Dropping the lowest bits of the suffix gives the
same table of a coarser level, J_k[b, p] = sum of J_K[b, s] over all s with
s >> (K - k) = p. The row of the sketch of level h + k counts a code in bucket
x = b xor p, so it is T_k[x] = sum over p of J_k[x xor p, p]. One pass over the
codes thus fills J_K, and J_K determines the rows of all levels of the group.
The width is a multiple of 2^K, so that x xor p is a bucket.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts
from privhp.kernels.partition_nodes import read_nodes

_CHUNK = 1 << 14  # cells per pass, so that their buckets stay in the cache


class SketchGroup(NamedTuple):
    """Sketched levels that share a hash function."""

    hash_level: int
    """Level of the hashed cells."""
    words: Codes
    """Three random words per row."""
    tables: list[tuple[int, Counts]]
    """Level and table of each sketch, coarsest first."""


class LeafCounters(NamedTuple):
    """Counters of the leaves of a partition."""

    level: int
    """Root level of the partition."""
    nodes: NDArray[np.int32]
    """Its nodes, those of the root level first; see `partition_nodes`."""
    counts: Counts
    """One counter for each leaf, in the order of the domain."""


def hash_cells(cells: Codes, words: Codes, *, width: int) -> Codes:
    """Bucket of each cell under one row's three words.

    Multiply-add-shift over the two 32-bit halves of a cell: strongly universal
    in its top 32 bits, which are then scaled to the width.
    """
    high_factor, low_factor, offset = words
    wide = cells.size > 0 and bool(cells.max() >> np.uint64(32))
    mixed: Codes = (cells & np.uint64(0xFFFF_FFFF) if wide else cells) * low_factor
    mixed += offset
    if wide:
        mixed += (cells >> np.uint64(32)) * high_factor
    mixed >>= np.uint64(32)
    mixed *= np.uint64(width)
    mixed >>= np.uint64(32)
    return mixed


def count_codes(
    codes: Codes,
    weights: Counts | None,
    *,
    depth: int,
    exact_depth: int,
    counters: Counts | None,
    groups: list[SketchGroup],
    leaves: LeafCounters | None = None,
) -> None:
    """Count codes in the counters of one exact level, in sketches and in the leaves of a partition, in place.

    Values that are not codes of level `depth`, such as OUTSIDE, are skipped.

    Args:
        codes: Codes of level `depth`.
        weights: Weight of each code; 1 if None.
        depth: Level of the codes.
        exact_depth: Level of the counters.
        counters: One counter for each cell of that level, if it is measured.
        groups: The sketches.
        leaves: The partition and the counters of its leaves, if there is one.
    """
    inside = codes < np.uint64(2**depth)
    if not inside.all():
        codes, weights = codes[inside], None if weights is None else weights[inside]
    if counters is not None:
        _increment(counters, codes >> np.uint64(depth - exact_depth), weights)
    for group in groups:
        cells = codes >> np.uint64(depth - group.tables[-1][0])
        for row, words in enumerate(group.words):
            _count_row(group, row, words, cells, weights)
    if leaves is not None:
        _increment(leaves.counts, find_leaves(codes, depth=depth, level=leaves.level, nodes=leaves.nodes), weights)


def _count_row(group: SketchGroup, row: int, words: Codes, cells: Codes, weights: Counts | None) -> None:
    """Count cells of the deepest level of a group in one row of each table, by a joint table if there are enough."""
    deepest, width = group.tables[-1][0], group.tables[-1][1].shape[1]
    levels_below = deepest - group.hash_level
    joint = np.zeros(width << levels_below if cells.size >= width << levels_below else 0, dtype=np.int64)
    for start in range(0, cells.size, _CHUNK):
        chunk = cells[start : start + _CHUNK]
        suffixes = chunk & np.uint64(2**levels_below - 1)
        buckets = hash_cells(chunk >> np.uint64(levels_below), words, width=width)
        counts = None if weights is None else weights[start : start + _CHUNK]
        if joint.size:
            buckets <<= np.uint64(levels_below)
            buckets |= suffixes
            _increment(joint, buckets, counts)
        else:
            for level, table in group.tables:
                _increment(table[row], buckets ^ (suffixes >> np.uint64(deepest - level)), counts)
    if joint.size:
        for level, table in group.tables:
            prefixes = np.arange(2 ** (level - group.hash_level))
            by_prefix = joint.reshape(width, prefixes.size, -1).sum(axis=2)
            table[row] += by_prefix[np.arange(width)[:, None] ^ prefixes, prefixes].sum(axis=1)


def find_leaves(codes: Codes, *, depth: int, level: int, nodes: NDArray[np.int32]) -> Codes:
    """Index of the leaf that holds each code of level `depth`, in a partition with root level `level`."""
    codes = codes << np.uint64(63 - depth)  # bit 62 is the next step down the tree
    indices = (codes >> np.uint64(63 - level)).view(np.int64)
    codes, pending = codes << np.uint64(level), np.arange(codes.size)
    while pending.size:
        first, levels, is_family = read_nodes(nodes[indices[pending]])
        steps = levels.view(np.uint64)
        bits = (codes & np.uint64(2**63 - 1)) >> (np.uint64(63) - steps)
        indices[pending] = first + bits.view(np.int64)
        pending, codes = pending[~is_family], (codes << steps)[~is_family]
    return indices.view(np.uint64)


def _increment(counters: Counts, indices: Codes, weights: Counts | None) -> None:
    """Add each weight, or 1, to the counter at its index, in place."""
    if weights is None and indices.size * 8 >= counters.size:
        counters += np.bincount(indices.view(np.int64), minlength=counters.size)
    else:
        np.add.at(counters, indices.view(np.int64), 1 if weights is None else weights)


def find_buckets(words: Codes, cells: Codes, *, levels_below: int, width: int) -> NDArray[np.int64]:
    """Bucket of each cell in every row of its sketch; the cells are `levels_below` the hashed level."""
    suffixes, ancestors = cells & np.uint64(2**levels_below - 1), cells >> np.uint64(levels_below)
    return np.stack([hash_cells(ancestors, row, width=width) ^ suffixes for row in words]).view(np.int64)


def estimate_counts(table: Counts, words: Codes, cells: Codes, *, levels_below: int) -> Counts:
    """Count-Min estimate of each cell: the least of its buckets; the cells are `levels_below` the hashed level."""
    buckets = find_buckets(words, cells, levels_below=levels_below, width=table.shape[1])
    least: Counts = np.stack([row[indices] for row, indices in zip(table, buckets, strict=True)]).min(axis=0)
    return least

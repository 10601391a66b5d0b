"""Encoding, counting and sketching in NumPy.

Every function works on whole arrays and in 64-bit integers, which may wrap
around but never round. `src/native` has the same functions compiled.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws
from privhp.core.bits import BitPermutation
from privhp.core.cells import OUTSIDE, Codes, Counts, Floats
from privhp.kernels.partition_marks import MARK_LIMIT, read_split_mark

_CHUNK = 1 << 14  # points between two passes: their columns stay in the cache


class Grid(NamedTuple):
    """A box cut into cells: how the sides of a point become the bits of a code."""

    low: Floats
    high: Floats
    rate: Floats
    """Cells per unit of length on each side."""
    bits: NDArray[np.int64]
    masks: Codes
    """Which bits of a code are a side's own."""
    clamp: bool


class CellSides(NamedTuple):
    """The sides of the cells of every level of a grid, for sampling."""

    masks: Codes
    """Bit mask of each side in the codes of each level, shape (levels, d)."""
    low: Floats
    """Lower end of each side of the grid."""
    width: Floats
    """Length of each side of the grid."""
    margin: Floats
    """Distance of points from the edges of their cell, so that rounding cannot move them to another."""


class Group(NamedTuple):
    """Sketched levels that share a hash function."""

    base: int
    """The level whose cells are hashed."""
    words: Codes
    """Three random words per row."""
    tables: list[tuple[int, Counts]]
    """Level and table of each, coarsest first."""


class AliasTable(NamedTuple):
    """Places to draw from, all with the same chance: a draw stays at its place or goes to another that shares it."""

    thresholds: Codes
    """Chance to stay, in 2**-64."""
    others: Counts


def interleave(own: Codes, mask: int, codes: Codes) -> None:
    """Put codes into the bits of a mask of other codes, in place; what is OUTSIDE in either is so in both."""
    if mask.bit_count() <= BitPermutation.CHUNK:
        table = _spread_or_outside(mask)
        codes |= table.take(np.minimum(own, np.uint64(table.size - 1)).view(np.int64))
        return
    spread = BitPermutation.deposit(mask)
    for start in range(0, codes.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        codes[part] |= np.where(own[part] == OUTSIDE, OUTSIDE, spread(own[part]))


@lru_cache(maxsize=1024)
def _spread_or_outside(mask: int) -> Codes:
    """What becomes of each code, and at the end of OUTSIDE, which is larger than all."""
    return np.append(BitPermutation.deposit(mask)(np.arange(2 ** mask.bit_count(), dtype=np.uint64)), OUTSIDE)


def encode_grid(points: Floats, grid: Grid) -> Codes:
    """The code of each point, OUTSIDE for those out of bounds or with a NaN."""
    codes = np.zeros(len(points), dtype=np.uint64)
    with np.errstate(all="ignore"):  # NumPy says nothing about a record
        for start in range(0, len(points), _CHUNK):
            part = slice(start, start + _CHUNK)
            for side, column in enumerate(points[part].T):
                _encode_side(column, grid, side, codes[part])
    return codes


def _encode_side(column: Floats, grid: Grid, side: int, codes: Codes) -> None:
    """Put one side of each point into its bits of the codes, in place."""
    low, high = grid.low[side], grid.high[side]
    if grid.clamp:
        column = np.clip(column, low, high)
    position = column - low
    position *= grid.rate[side]
    np.fmax(position, 0.0, out=position)
    np.fmin(position, 2.0 ** grid.bits[side] - 1, out=position)
    codes |= BitPermutation.deposit(int(grid.masks[side]))(position.astype(np.int64).view(np.uint64))
    inside = column >= low
    inside &= column <= high
    if not inside.all():
        codes[~inside] = OUTSIDE


def encode_integers(numbers: Counts, *, low: int, high: int, shift: int, clamp: bool) -> Codes:
    """The code of each whole number: its distance from the lowest, less the last bits."""
    if clamp:
        numbers = np.clip(numbers, low, high)
    inside = (numbers >= low) & (numbers <= high)
    offsets = (np.where(inside, numbers, low) - low).astype(np.uint64)
    return np.where(inside, offsets >> np.uint64(shift), OUTSIDE)


def sample_grid_allocation(
    allocation: Allocation, sides: CellSides, *, balanced: bool, rng: np.random.Generator
) -> Floats:
    """Points in cells of a grid, in the order of the cells, shape (n, d).

    Independent points are uniform. In a balanced sample the first side of a
    cell is divided into as many slices as the cell has points, one point in
    each, and the other sides follow a rank-1 lattice with a random start for
    each cell, so that every point by itself is uniform, too.
    """
    if not balanced:
        return sample_grid_cells(allocation.draws(), sides, rng=rng)
    counts, owner, ranks = allocation.counts, allocation.owner, allocation.ranks
    points = np.empty((owner.size, sides.low.size))
    for side, step in enumerate(lattice_steps(sides.low.size)):
        base, span = _strips(allocation.codes, allocation.levels, sides, side)
        shares = rng.random(owner.size)
        if side == 0:
            shares = (ranks + shares) / counts[owner]
        else:
            jitter = shares * (counts[owner] ** (-1.0 / sides.low.size))
            start = rng.integers(0, 2**64, size=counts.size, dtype=np.uint64)
            shares = (((start[owner] + ranks.astype(np.uint64) * step) >> np.uint64(11)) * 2.0**-53 + jitter) % 1.0
        points[:, side] = base[owner] + shares * span[owner]
    return points


def sample_grid_cells(draws: CellDraws, sides: CellSides, *, rng: np.random.Generator) -> Floats:
    """A uniform point in the cell of each draw, shape (n, d)."""
    points = rng.random((draws.size, sides.low.size))
    for side, column in enumerate(points.T):
        base, span = _strips(draws.codes, draws.levels, sides, side)
        column *= span[draws.indices]
        column += base[draws.indices]
    return points


def _strips(codes: Codes, levels: Counts, sides: CellSides, side: int) -> tuple[Floats, Floats]:
    """Lower end and length of one side of each cell, without its margins."""
    low, width, margin = sides.low[side], sides.width[side], sides.margin[side]
    base, span = np.empty(codes.shape), np.empty(codes.shape)
    for level in np.unique(levels).tolist():
        chosen, mask = levels == level, int(sides.masks[level, side])
        cut = width / 2.0 ** mask.bit_count()
        base[chosen] = low + BitPermutation.extract(mask)(codes[chosen]) * cut + margin
        span[chosen] = cut - 2.0 * margin
    return base, span


def lattice_steps(sides: int) -> Codes:
    """How far each side moves from point to point, in 2**-64 of a cell: powers of a generalised golden ratio."""
    ratio = 1.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / sides)
    return np.array([int(ratio**-side * 2.0**64) % 2**64 for side in range(sides)], dtype=np.uint64)


def alias_table(shares: Floats) -> AliasTable:
    """A table to draw places with the given shares, which sum to 1; exact but for rounding them to 2**-61.

    All places have equal room. In order, the poor are filled up by the rich; a
    rich one that has given more than it could spare is filled up by the next.
    Sums on either side tell who gives to whom.
    """
    size, bits = shares.size, 62 - shares.size.bit_length()
    room = 2**bits
    kept = np.rint(shares * (size * 2.0**bits)).astype(np.int64)
    kept[np.argmax(kept)] += size * room - kept.sum()
    poor, rich = np.flatnonzero(kept < room), np.flatnonzero(kept >= room)
    lacking = np.concatenate([[0], np.cumsum(room - kept[poor])])
    spare = np.cumsum(kept[rich] - room)
    others = np.empty(size, dtype=np.int64)
    others[poor] = rich[np.searchsorted(spare, lacking[:-1], side="right")]
    others[rich] = np.append(rich[1:], rich[-1])
    kept[rich] = room - (lacking[np.searchsorted(lacking, spare)] - spare)
    full = kept == room  # no threshold says that, so they share with themselves
    return AliasTable(kept.view(np.uint64) << np.uint64(64 - bits), np.where(full, np.arange(size), others))


def draw(table: AliasTable, size: int, rng: np.random.Generator) -> Counts:
    """Places drawn one by one, each with its share of the table."""
    places = rng.integers(0, table.others.size, size=size)
    stays = rng.integers(0, 2**64, size=size, dtype=np.uint64) < table.thresholds[places]
    return np.where(stays, places, table.others[places])


def shuffle(records: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """The records in random order."""
    return records[rng.permutation(len(records))]


def hashed(cells: Codes, words: Codes, *, width: int) -> Codes:
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


def add(
    codes: Codes,
    weights: Counts | None,
    *,
    depth: int,
    exact_depth: int,
    counters: Counts,
    groups: list[Group],
    level: int = 0,
    slots: Counts | None = None,
) -> None:
    """Count codes of level `depth` in the counters of the exact depth and in all that lies below it, in place.

    What is not a code of that level, OUTSIDE above all, is left out.

    Args:
        codes: The codes.
        weights: How often each is counted; once unless given.
        depth: Their level.
        exact_depth: Level of the counters.
        counters: One for each cell of that level.
        groups: The sketches.
        level: Level that a partition starts from.
        slots: Those of the partition, if there is one.
    """
    inside = codes < np.uint64(2**depth)
    if not inside.all():
        codes, weights = codes[inside], None if weights is None else weights[inside]
    _count(counters, codes >> np.uint64(depth - exact_depth), weights)
    for group in groups:
        cells = codes >> np.uint64(depth - group.tables[-1][0])
        for row, words in enumerate(group.words):
            _add_row(group, row, words, cells, weights)
    if slots is not None:
        _add_to_partition(codes, weights, depth=depth, level=level, slots=slots)


def _add_row(group: Group, row: int, words: Codes, cells: Codes, weights: Counts | None) -> None:
    """Count cells of the deepest level of a group in one row of each of its tables."""
    deepest, width = group.tables[-1][0], group.tables[-1][1].shape[1]
    apart = deepest - group.base
    joint = np.zeros(width << apart if cells.size >= width << apart else 0, dtype=np.int64)
    for start in range(0, cells.size, _CHUNK):
        part = cells[start : start + _CHUNK]
        own = part & np.uint64(2**apart - 1)
        buckets = hashed(part >> np.uint64(apart), words, width=width)
        counts = None if weights is None else weights[start : start + _CHUNK]
        if joint.size:
            buckets <<= np.uint64(apart)
            buckets |= own
            _count(joint, buckets, counts)
        else:
            for level, table in group.tables:
                _count(table[row], buckets ^ (own >> np.uint64(deepest - level)), counts)
    if joint.size:  # one count of all descendants of an ancestor together gives every level of the group
        for level, table in group.tables:
            places = np.arange(2 ** (level - group.base))
            by_level = joint.reshape(width, places.size, -1).sum(axis=2)
            table[row] += by_level[np.arange(width)[:, None] ^ places, places].sum(axis=1)


def _add_to_partition(codes: Codes, weights: Counts | None, *, depth: int, level: int, slots: Counts) -> None:
    """Count codes of level `depth` in the slots of a partition that starts from `level`, in place."""
    codes = codes << np.uint64(63 - depth)  # the next step to take is the highest bit but one
    places = (codes >> np.uint64(63 - level)).view(np.int64)
    pending = np.flatnonzero(slots[places] < MARK_LIMIT)
    codes = codes[pending] << np.uint64(level)
    while pending.size:
        first, steps, _ = read_split_mark(slots[places[pending]])
        steps = steps.view(np.uint64)
        bits = (codes & np.uint64(2**63 - 1)) >> (np.uint64(63) - steps)
        places[pending] = first + bits.view(np.int64)
        codes <<= steps
        deeper = slots[places[pending]] < MARK_LIMIT
        pending, codes = pending[deeper], codes[deeper]
    np.add.at(slots, places, 1 if weights is None else weights)


def _count(counters: Counts, places: Codes, weights: Counts | None) -> None:
    """Add each weight, or one, to the counter at its place, in place."""
    if weights is None and places.size * 8 >= counters.size:
        counters += np.bincount(places.view(np.int64), minlength=counters.size)
    else:
        np.add.at(counters, places.view(np.int64), 1 if weights is None else weights)


def buckets(words: Codes, cells: Codes, *, apart: int, width: int) -> NDArray[np.int64]:
    """Bucket of each cell of one level, `apart` below the hashed level, in every row of its sketch."""
    own, ancestors = cells & np.uint64(2**apart - 1), cells >> np.uint64(apart)
    places: NDArray[np.int64] = np.stack([hashed(ancestors, row, width=width) ^ own for row in words]).view(np.int64)
    return places


def estimate(table: Counts, words: Codes, cells: Codes, *, apart: int) -> Counts:
    """Count-Min estimate of each cell of one level, `apart` below the hashed level: the least of its buckets."""
    places = buckets(words, cells, apart=apart, width=table.shape[1])
    least: Counts = np.stack([row[own] for row, own in zip(table, places, strict=True)]).min(axis=0)
    return least

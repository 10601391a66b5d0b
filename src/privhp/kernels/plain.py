"""Encoding, counting and sketching in NumPy.

Every function works on whole arrays and in 64-bit integers, which may wrap
around but never round. `native.cpp` has the same functions compiled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.cells import OUTSIDE, BitMap, Codes, Counts, Floats


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


class Group(NamedTuple):
    """Sketched levels that share a hash function."""

    base: int
    """The level whose cells are hashed."""
    words: Codes
    """Three random words per row."""
    tables: list[tuple[int, Counts]]
    """Level and table of each, coarsest first."""


def encode_grid(points: Floats, grid: Grid) -> Codes:
    """The code of each point, OUTSIDE for those out of bounds or with a NaN."""
    if grid.clamp:
        points = np.clip(points, grid.low, grid.high)
    inside = ((points >= grid.low) & (points <= grid.high)).all(axis=1)
    codes = np.where(inside, np.uint64(0), OUTSIDE)
    for side, (low, rate, bits, mask) in enumerate(zip(grid.low, grid.rate, grid.bits, grid.masks, strict=True)):
        position = (np.where(inside, points[:, side], low) - low) * rate
        codes |= BitMap.spreading(int(mask))(np.minimum(position, 2.0**bits - 1).astype(np.uint64))
    return codes


def encode_integers(numbers: Counts, *, low: int, high: int, shift: int, clamp: bool) -> Codes:
    """The code of each whole number: its distance from the lowest, less the last bits."""
    if clamp:
        numbers = np.clip(numbers, low, high)
    inside = (numbers >= low) & (numbers <= high)
    offsets = (np.where(inside, numbers, low) - low).astype(np.uint64)
    return np.where(inside, offsets >> np.uint64(shift), OUTSIDE)


def hashed(cells: Codes, words: Codes, *, width: int) -> Codes:
    """Bucket of each cell under one row's three words.

    Multiply-add-shift over the two 32-bit halves of a cell: strongly universal
    in its top 32 bits, which are then scaled to the width.
    """
    high_factor, low_factor, offset = words
    mixed = (cells & np.uint64(0xFFFF_FFFF)) * low_factor + offset
    if cells.size and cells.max() >> np.uint64(32):
        mixed += (cells >> np.uint64(32)) * high_factor
    buckets: Codes = ((mixed >> np.uint64(32)) * np.uint64(width)) >> np.uint64(32)
    return buckets


def add(
    codes: Codes, weights: Counts | None, *, depth: int, exact_depth: int, counters: Counts, groups: list[Group]
) -> None:
    """Count codes of level `depth` in the counters of the exact depth and in every sketch, in place.

    What is not a code of that level, OUTSIDE above all, is left out.
    """
    inside = codes < np.uint64(2**depth)
    codes, weights = codes[inside], None if weights is None else weights[inside]
    _count(counters, codes >> np.uint64(depth - exact_depth), weights)
    for group in groups:
        deepest, table = group.tables[-1]
        apart = deepest - group.base
        cells = codes >> np.uint64(depth - deepest)
        own = cells & np.uint64(2**apart - 1)
        for row, words in enumerate(group.words):
            buckets = hashed(cells >> np.uint64(apart), words, width=table.shape[1])
            _add_row(group, row, buckets, own, weights)


def _add_row(group: Group, row: int, buckets: Codes, own: Codes, weights: Counts | None) -> None:
    """Count cells, given by the bucket of their ancestor and their place below it, in one row of each table."""
    apart = group.tables[-1][0] - group.base
    width = group.tables[-1][1].shape[1]
    if buckets.size < width << apart:
        for level, table in group.tables:
            _count(table[row], buckets ^ (own >> np.uint64(apart - (level - group.base))), weights)
        return
    # One count of all descendants together gives every level of the group.
    joint = np.zeros(width << apart, dtype=np.int64)
    _count(joint, (buckets << np.uint64(apart)) | own, weights)
    for level, table in group.tables:
        family = 2 ** (level - group.base)
        by_level = joint.reshape(width, family, -1).sum(axis=2)
        for place in range(family):
            table[row, np.arange(width) ^ place] += by_level[:, place]


def _count(counters: Counts, places: Codes, weights: Counts | None) -> None:
    """Add each weight, or one, to the counter at its place, in place."""
    if weights is None and places.size * 8 >= counters.size:
        counters += np.bincount(places.view(np.int64), minlength=counters.size)
    else:
        np.add.at(counters, places.view(np.int64), 1 if weights is None else weights)


def estimate(table: Counts, words: Codes, cells: Codes, *, apart: int) -> Counts:
    """Count-Min estimate of each cell of one level, `apart` below the hashed level: the least of its buckets."""
    least = np.full(cells.shape, np.iinfo(np.int64).max, dtype=np.int64)
    own, ancestors = cells & np.uint64(2**apart - 1), cells >> np.uint64(apart)
    for row, row_words in zip(table, words, strict=True):
        buckets = hashed(ancestors, row_words, width=row.size) ^ own
        np.minimum(least, row[buckets.view(np.int64)], out=least)
    return least

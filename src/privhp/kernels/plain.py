"""Encoding, counting and sketching in NumPy.

Every function works on whole arrays and in 64-bit integers, which may wrap
around but never round. `native.cpp` has the same functions compiled.
"""

from typing import Any, NamedTuple

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


def fill_grid(
    cells: Codes,
    bits: Counts,
    counts: Counts,
    low: Floats,
    high: Floats,
    width: Floats,
    *,
    whole: bool,
    even: bool,
    rng: np.random.Generator,
) -> Floats:
    """Points in cells of a grid, in the order of the cells, shape (n, d).

    Drawn one by one they are uniform. Spread evenly, the first side is cut
    into as many slices as the cell has points, each getting one, and the other
    sides follow a lattice with a random start for each cell; so each point is
    uniform still. A number that rounding carries out of its cell becomes the
    cell's middle.

    Args:
        cells: For each cell its place along every side, shape (m, d).
        bits: Into how many cells its side is cut, as a power of two, shape (m, d).
        counts: How many points each cell gets.
        low: Lower end of each side.
        high: Upper end of each side.
        width: Length of each side.
        whole: Whether only whole numbers are points.
        even: Whether points are spread evenly.
        rng: Where the randomness comes from.
    """
    own = np.repeat(np.arange(counts.size), counts)
    rank = np.arange(own.size) - np.repeat(np.cumsum(counts) - counts, counts)
    points = np.empty((own.size, low.size))
    for side, step in enumerate(lattice_steps(low.size)):
        shares = rng.random(own.size)
        if even and side == 0:
            shares = (rank + shares) / counts[own]
        elif even:
            jitter = shares * counts[own] ** (-1.0 / low.size)
            start = rng.integers(0, 2**64, size=counts.size, dtype=np.uint64)
            shares = (((start[own] + rank.astype(np.uint64) * step) >> np.uint64(11)) * 2.0**-53 + jitter) % 1.0
        cell, own_bits = cells[own, side], bits[own, side].astype(np.float64)
        cut = width[side] * 2.0**-own_bits
        numbers = low[side] + (cell + shares) * cut
        numbers = np.minimum(np.rint(numbers) if whole else numbers, high[side])
        position = (numbers - low[side]) * (1.0 / width[side] * 2.0**own_bits)
        at_home = np.minimum(position, 2.0**own_bits - 1).astype(np.uint64) == cell
        points[:, side] = np.where(at_home, numbers, low[side] + (cell + 0.5) * cut)
    return points


def lattice_steps(sides: int) -> Codes:
    """How far each side moves from point to point, in 2**-64 of a cell: powers of a generalised golden ratio."""
    ratio = 1.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / sides)
    return np.array([int(ratio**-side * 2.0**64) % 2**64 for side in range(sides)], dtype=np.uint64)


def shuffle(records: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """The records in random order."""
    return records[rng.permutation(len(records))]


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

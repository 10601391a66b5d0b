"""Counting and sketching in NumPy.

Every function takes cells as uint64 and works in 64-bit integers, which may
wrap around but never round.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Codes, Counts


def buckets(cells: Codes, coefficients: NDArray[np.uint64], *, width: int, apart: int) -> NDArray[np.int64]:
    """Bucket of each cell in one sketch row.

    The ancestor `apart` levels up is hashed by multiply-add-shift over its two
    32-bit halves with three random 64-bit words: strongly universal in the top
    32 bits, which are then scaled to the width. The cell's own last bits move
    it from there, so the descendants of one ancestor never collide.
    """
    high_factor, low_factor, offset = coefficients
    own, cells = cells & np.uint64(2**apart - 1), cells >> np.uint64(apart)
    mixed = (cells >> np.uint64(32)) * high_factor + (cells & np.uint64(0xFFFF_FFFF)) * low_factor + offset
    hashed = ((mixed >> np.uint64(32)) * np.uint64(width)) >> np.uint64(32)
    places: NDArray[np.int64] = (hashed ^ own).view(np.int64)
    return places


def count(counters: Counts, places: NDArray[np.int64], counts: Counts | None) -> None:
    """Add each count, or one, to the counter at its place, in place."""
    if counts is None and places.size * 8 >= counters.size:
        counters += np.bincount(places, minlength=counters.size)
    else:
        np.add.at(counters, places, 1 if counts is None else counts)


def sketch(table: Counts, coefficients: NDArray[np.uint64], cells: Codes, counts: Counts | None, *, apart: int) -> None:
    """Add cells to every row of a sketch, in place."""
    for row, words in zip(table, coefficients, strict=True):
        count(row, buckets(cells, words, width=row.size, apart=apart), counts)


def estimate(table: Counts, coefficients: NDArray[np.uint64], cells: Codes, *, apart: int) -> Counts:
    """Count-Min estimate of each cell: the least of its buckets."""
    least = np.full(cells.shape, np.iinfo(np.int64).max, dtype=np.int64)
    for row, words in zip(table, coefficients, strict=True):
        np.minimum(least, row[buckets(cells, words, width=row.size, apart=apart)], out=least)
    return least

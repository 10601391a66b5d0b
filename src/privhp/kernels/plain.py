"""Counting and sketching in NumPy.

Every function takes cells as uint64 and works in 64-bit integers, which may
wrap around but never round.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Codes, Counts


def buckets(cells: Codes, coefficients: NDArray[np.uint64], *, width: int) -> NDArray[np.int64]:
    """Bucket of each cell in one sketch row.

    Multiply-add-shift over the two 32-bit halves of a cell with three random
    64-bit words: strongly universal in its top 32 bits, which are then scaled
    to the width.
    """
    high_factor, low_factor, offset = coefficients
    mixed = (cells >> np.uint64(32)) * high_factor + (cells & np.uint64(0xFFFF_FFFF)) * low_factor + offset
    places: NDArray[np.int64] = (((mixed >> np.uint64(32)) * np.uint64(width)) >> np.uint64(32)).view(np.int64)
    return places


def count(counters: Counts, places: NDArray[np.int64], counts: Counts | None) -> None:
    """Add each count, or one, to the counter at its place, in place."""
    if counts is None and places.size * 8 >= counters.size:
        counters += np.bincount(places, minlength=counters.size)
    else:
        np.add.at(counters, places, 1 if counts is None else counts)


def sketch(table: Counts, coefficients: NDArray[np.uint64], cells: Codes, counts: Counts | None) -> None:
    """Add cells to every row of a sketch, in place."""
    for row, words in zip(table, coefficients, strict=True):
        count(row, buckets(cells, words, width=row.size), counts)


def estimate(table: Counts, coefficients: NDArray[np.uint64], cells: Codes) -> Counts:
    """Count-Min estimate of each cell: the least of its buckets."""
    least = np.full(cells.shape, np.iinfo(np.int64).max, dtype=np.int64)
    for row, words in zip(table, coefficients, strict=True):
        np.minimum(least, row[buckets(cells, words, width=row.size)], out=least)
    return least

"""Codes of points, integers and times, in NumPy.

A number is quantised to the cells of its side, and the bits of all sides are
interleaved into one code. `src/native/encoding.cpp` holds the native kernel.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.bits import BitPermutation
from privhp.core.cells import OUTSIDE, Codes, Counts, Floats

_CHUNK = 1 << 14  # points per pass, so that their columns stay in the cache


class Grid(NamedTuple):
    """The cells of one level of a box: the quantisation of each side, and its bits in a code."""

    low: Floats
    """Lower end of each side."""
    high: Floats
    """Upper end of each side."""
    rate: Floats
    """Cells per unit of length on each side."""
    bits: NDArray[np.int64]
    """Number of bits of each side."""
    masks: Codes
    """Bit mask of each side in a code."""
    clamp: bool
    """Whether points out of bounds are moved to the nearest bound."""


def encode_grid(points: Floats, grid: Grid) -> Codes:
    """Code of each point of shape (n, d); OUTSIDE for points out of bounds or with a NaN."""
    codes = np.zeros(len(points), dtype=np.uint64)
    with np.errstate(all="ignore"):  # a NumPy warning would reveal a record
        for start in range(0, len(points), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            for side, column in enumerate(points[chunk].T):
                _encode_side(column, grid, side, codes[chunk])
    return codes


def _encode_side(column: Floats, grid: Grid, side: int, codes: Codes) -> None:
    """Deposit the bits of one side of each point in the codes, in place."""
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
    """Code of each integer: its offset from `low`, without the lowest `shift` bits; OUTSIDE if out of bounds."""
    if clamp:
        numbers = np.clip(numbers, low, high)
    inside = (numbers >= low) & (numbers <= high)
    offsets = (np.where(inside, numbers, low) - low).astype(np.uint64)
    return np.where(inside, offsets >> np.uint64(shift), OUTSIDE)


class DayCells(NamedTuple):
    """Times in cells of whole days and binary parts of a day; see `domains.day_ranges`."""

    first: int
    """First tick."""
    last: int
    """Last tick."""
    midnight: int
    """The midnight at or before the first tick."""
    odd: int
    """Ticks of a unit: of a day, halved while the halves have whole ticks."""
    unit_bits: int
    """Number of halvings of a unit in the deepest cells."""
    root: int
    """Number of deepest cells from midnight to the widest cell."""


def encode_days(ticks: Counts, days: DayCells, *, shift: int, clamp: bool) -> Codes:
    """Code of each tick: its deepest cell in the widest one, without the lowest bits; OUTSIDE if out of bounds."""
    if clamp:
        ticks = np.clip(ticks, days.first, days.last)
    inside = (ticks >= days.first) & (ticks <= days.last)
    since = np.where(inside, ticks, days.first) - days.midnight
    finer = days.unit_bits - shift
    cells = since // (days.odd << max(-finer, 0))
    if finer > 0:
        since -= cells * days.odd
        cells = (cells << finer) + (since << finer) // days.odd
    return np.where(inside, (cells - (days.root >> shift)).view(np.uint64), OUTSIDE)


def interleave(column_codes: Codes, mask: int, codes: Codes) -> None:
    """Deposit the codes of a column at the set bits of a mask, in place; OUTSIDE where either code is OUTSIDE."""
    if mask.bit_count() <= BitPermutation.CHUNK:
        table = _deposit_table(mask)
        codes |= table.take(np.minimum(column_codes, np.uint64(table.size - 1)).view(np.int64))
        return
    deposit = BitPermutation.deposit(mask)
    for start in range(0, codes.size, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        codes[chunk] |= np.where(column_codes[chunk] == OUTSIDE, OUTSIDE, deposit(column_codes[chunk]))


@lru_cache(maxsize=1024)
def _deposit_table(mask: int) -> Codes:
    """The deposited bits of each column code, followed by OUTSIDE."""
    return np.append(BitPermutation.deposit(mask)(np.arange(2 ** mask.bit_count(), dtype=np.uint64)), OUTSIDE)

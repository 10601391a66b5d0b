"""Where a number lies between declared cuts, and which declared value a text is, in NumPy.

`src/native/search.cpp` has the same functions compiled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts, Floats

_CHUNK = 1 << 14  # numbers between two passes: what is known of them stays in the cache
_OCTAVE = 52  # bits of a float that tell numbers of an octave apart
_MOST_BUCKETS = 1 << 15
_LARGEST_HALF = 1 << 2  # beyond it it is faster to search among all cuts


class Buckets(NamedTuple):
    """Where to begin to look for a number among some cuts.

    Buckets are counted from the middle, as many in each octave of the distance
    from it, so they are narrow where cuts mostly are dense. All cuts in buckets
    before a number's own are below it, whatever is rounded, and all after are
    above, so only those of its own are left to be compared.
    """

    middle: float
    least: float
    """What is added to distances, so that octaves do not become ever smaller."""
    shift: int
    """How many bits of a distance do not matter."""
    first: int
    """The number of the first bucket, counted down from the middle."""
    before: Counts
    """How many cuts are in the buckets before each."""
    starts: Floats
    """The first knot and all cuts, where the stretches start, and then infinities."""
    half: int
    """The power of two that is at most the cuts in a bucket and more than half of them."""

    @staticmethod
    def between(knots: Floats) -> "Buckets":
        """Buckets of a single cut each, if they need not be too many; the cuts are all knots but the ends."""
        widths = np.diff(knots)
        narrowest = int(widths.argmin())
        middle, least = float(knots[narrowest]) + 0.0, float(widths[narrowest])
        shift = _OCTAVE
        while True:
            down = _counted_down(knots, middle, least, shift)
            counts = np.bincount(down[0] - down[1:-1], minlength=int(down[0] - down[-1]) + 1)
            if counts.max() == 1 or 2 * counts.size > _MOST_BUCKETS:
                break
            shift -= 1
        half = 1 << (int(counts.max()).bit_length() - 1)
        starts = np.concatenate([knots[:-1], np.full(2 * half, np.inf)])
        return Buckets(middle, least, shift, int(down[0]), np.cumsum(counts) - counts, starts, half)


class PiecewiseLinear(NamedTuple):
    """A line that is cut into stretches, which are to be of equal length."""

    low: float
    high: float
    widths: Floats
    """How far it is from each end or cut to the next."""
    steps: float
    """How long the whole line is to be."""
    buckets: Buckets


WORD = 4
"""Characters that are compared at once, where declared texts and what may come after them have as many."""


class TextTable(NamedTuple):
    """Declared texts, as rows of characters, in a table in which no two of them meet."""

    declared: NDArray[np.uint32]
    columns: Counts
    """Characters that are mixed into a number, whose first bits are a place in the table."""
    factors: Codes
    """What each of these is multiplied by."""
    bits: int
    table: Counts
    """Which declared text may be meant."""


def lay_out(numbers: Floats, line: PiecewiseLinear) -> Floats:
    """How far along the line each number lies, NaN for those beyond its ends."""
    positions = np.empty(numbers.shape)
    with np.errstate(all="ignore"):  # NumPy says nothing about a record
        for start in range(0, numbers.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            positions[part] = _lay_out(numbers[part], line)
    return positions


def _lay_out(numbers: Floats, line: PiecewiseLinear) -> Floats:
    inside = (numbers >= line.low) & (numbers <= line.high)
    all_inside = inside.all()
    if not all_inside:
        numbers = np.where(inside, numbers, line.low)
    place = _cuts_up_to(numbers, line)
    share = numbers - line.buckets.starts.take(place)  # faster than by brackets
    share /= line.widths.take(place)
    share += place
    share /= line.widths.size
    share *= line.steps
    return share if all_inside else np.where(inside, share, np.nan)


def _cuts_up_to(numbers: Floats, line: PiecewiseLinear) -> Counts:
    """How many cuts are at or below each number, all of which are within the ends of the line."""
    middle, least, shift, first, before, starts, half = line.buckets
    if half > _LARGEST_HALF:
        return np.searchsorted(starts[1:], numbers, side="right")
    found = before.take(first - _counted_down(numbers, middle, least, shift))
    while half:
        found += (starts[half:].take(found) <= numbers) * half
        half //= 2
    return found


def _counted_down(numbers: Floats, middle: float, least: float, shift: int) -> Counts:
    """The bucket of each number: from 0 on downwards from the middle, and negative above it."""
    distances = middle - numbers  # never -0.0, which has the sign of what is above
    with np.errstate(over="ignore"):  # the last octave may be infinite
        buckets = (np.abs(distances) + least).view(np.int64)
    buckets -= np.float64(least).view(np.int64)
    buckets >>= shift
    buckets ^= distances.view(np.int64) >> 63
    return buckets


def slots_of(texts: NDArray[np.uint32], columns: Counts, factors: Codes, bits: int) -> Counts:
    """The place of each text in a table of 2**bits: some of its characters mixed."""
    mixed = np.zeros(len(texts), dtype=np.uint64)
    for column, factor in zip(columns.tolist(), factors, strict=True):
        mixed += texts[:, column] * factor
    return (mixed >> np.uint64(64 - bits)).view(np.int64)


def find_texts(texts: NDArray[np.uint32], known: TextTable, values: Codes, other: int) -> Codes:
    """The value of the declared text that each text is, or another; no declared text is given in more characters."""
    place = known.table.take(slots_of(texts, known.columns, known.factors, known.bits))
    declared, given = (rows.view(f"U{rows.shape[1]}")[:, 0] for rows in (known.declared, texts))
    return np.where(declared.take(place) == given, values.take(place), np.uint64(other))

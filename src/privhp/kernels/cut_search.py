"""Interpolation of numbers on a scale with declared cuts, in NumPy.

A bucket index over the cuts replaces a binary search per number.
`src/native/cut_search.cpp` holds the native kernel.
"""

from typing import NamedTuple

import numpy as np

from privhp.core.cells import Counts, Floats

_CHUNK = 1 << 14  # numbers per pass, so that their intermediate results stay in the cache
_MANTISSA_BITS = 52  # shift that leaves one bucket per octave
_MAX_BUCKETS = 1 << 15
_MAX_HALF = 1 << 2  # with more cuts per bucket, a binary search over all cuts is faster


class CutIndex(NamedTuple):
    """Bucket index over cuts: buckets of a number's distance from a middle, equally many in each octave.

    Buckets are narrow near the middle, where cuts usually are dense. The bucket
    is a monotone function of the number in floating point, too. So all cuts in
    lower buckets are below a number and all cuts in higher buckets above it, and
    only the cuts in the bucket of the number are compared.
    """

    middle: float
    offset: float
    """Added to distances, which bounds the number of octaves."""
    shift: int
    """Number of low bits of a distance that the bucket ignores."""
    first: int
    """Number of the lowest bucket; numbers count down from the middle."""
    before: Counts
    """Number of cuts in the buckets before each bucket."""
    starts: Floats
    """Start of each interval between cuts, padded with infinities."""
    half: int
    """Largest power of two that is at most the number of cuts in any bucket."""

    @staticmethod
    def build(knots: Floats) -> "CutIndex":
        """Index of the inner knots, with at most one cut per bucket unless that takes too many buckets."""
        widths = np.diff(knots)
        narrowest = int(widths.argmin())
        middle, offset = float(knots[narrowest]) + 0.0, float(widths[narrowest])
        shift = _MANTISSA_BITS
        while True:
            numbers = _bucket_numbers(knots, middle, offset, shift)
            counts = np.bincount(numbers[0] - numbers[1:-1], minlength=int(numbers[0] - numbers[-1]) + 1)
            if counts.max() == 1 or 2 * counts.size > _MAX_BUCKETS:
                break
            shift -= 1
        half = 1 << (int(counts.max()).bit_length() - 1)
        starts = np.concatenate([knots[:-1], np.full(2 * half, np.inf)])
        return CutIndex(middle, offset, shift, int(numbers[0]), np.cumsum(counts) - counts, starts, half)


class PiecewiseLinear(NamedTuple):
    """Piecewise-linear scale that maps the intervals between cuts to equal lengths."""

    low: float
    high: float
    widths: Floats
    """Width of each interval between cuts."""
    length: float
    """Length of the whole scale."""
    cut_index: CutIndex


def interpolate(numbers: Floats, scale: PiecewiseLinear) -> Floats:
    """Position of each number on the scale; NaN for numbers out of bounds."""
    positions = np.empty(numbers.shape)
    with np.errstate(all="ignore"):  # a NumPy warning would reveal a record
        for start in range(0, numbers.size, _CHUNK):
            chunk = slice(start, start + _CHUNK)
            positions[chunk] = _interpolate_chunk(numbers[chunk], scale)
    return positions


def _interpolate_chunk(numbers: Floats, scale: PiecewiseLinear) -> Floats:
    inside = (numbers >= scale.low) & (numbers <= scale.high)
    all_inside = inside.all()
    if not all_inside:
        numbers = np.where(inside, numbers, scale.low)
    interval = _count_cuts_up_to(numbers, scale)
    position = numbers - scale.cut_index.starts.take(interval)  # faster than by brackets
    position /= scale.widths.take(interval)
    position += interval
    position /= scale.widths.size
    position *= scale.length
    return position if all_inside else np.where(inside, position, np.nan)


def _count_cuts_up_to(numbers: Floats, scale: PiecewiseLinear) -> Counts:
    """Number of cuts at or below each number, for numbers within bounds."""
    middle, offset, shift, first, before, starts, half = scale.cut_index
    if half > _MAX_HALF:
        return np.searchsorted(starts[1:], numbers, side="right")
    found = before.take(first - _bucket_numbers(numbers, middle, offset, shift))
    while half:
        found += (starts[half:].take(found) <= numbers) * half
        half //= 2
    return found


def _bucket_numbers(numbers: Floats, middle: float, offset: float, shift: int) -> Counts:
    """Bucket number of each number: 0 and more below the middle, negative above it."""
    distances = middle - numbers  # never -0.0, whose sign bit is that of numbers above the middle
    with np.errstate(over="ignore"):  # the last octave may be infinite
        buckets = (np.abs(distances) + offset).view(np.int64)
    buckets -= np.float64(offset).view(np.int64)
    buckets >>= shift
    buckets ^= distances.view(np.int64) >> 63
    return buckets

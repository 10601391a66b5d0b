"""Cells of times: ranges of whole days, and below these halves, quarters, eighths ... of a day.

People ask for days, months and hours, and records follow the clock: closed nights, busy
mornings. Cells that begin at midnight, noon, six, three ... hold what such questions ask for.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts
from privhp.domains.integer_ranges import AlignedRanges


class DayRanges(AlignedRanges):
    """Cells of the times from a first to a last tick, in the smallest range of 2**k days, or part of a day, with both.

    A day has odd * 2**halvings ticks. It is halved that often into units of `odd` ticks; then the halves of
    a unit of real length begin at the next tick. Each of the deepest cells holds one tick or none.

    Args:
        first: First tick.
        last: Last tick.
        day: Ticks of a day.
        midnight: A tick at which a day begins.
    """

    def __init__(self, first: int, last: int, *, day: int, midnight: int) -> None:
        self.size, self._day = last - first + 1, day
        self._halvings = (day & -day).bit_length() - 1
        self._odd = day >> self._halvings
        self._unit_bits = (self._odd - 1).bit_length()
        self.day_depth = self._halvings + self._unit_bits
        self._before = (first - midnight) % day  # ticks from the midnight before the first tick to it
        ends = (self._position(np.array([0, self.size - 1]))).tolist()
        self.depth = (ends[0] ^ ends[1]).bit_length()
        self._root = ends[0] >> self.depth << self.depth

    def encode(self, numbers: Counts, *, level: int) -> Codes:
        """The cell of each number of ticks after the first one, which is below `size`."""
        within = self._position(numbers) - self._root
        codes: Codes = (within >> (self.depth - level)).view(np.uint64)
        return codes

    def _position(self, numbers: Counts) -> Counts:
        """Deepest cell of each number, counted from the first midnight."""
        ticks = numbers + self._before
        units = ticks // self._odd
        ticks -= units * self._odd
        position: Counts = (units << self._unit_bits) + (ticks << self._unit_bits) // self._odd
        return position

    def ranges(self, cells: Codes, bits: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        """First number and length of each cell; see `AlignedRanges.ranges`."""
        shift = np.asarray(self.depth - bits).astype(np.uint64)
        starts = self._start(cells << shift)
        return starts, self._start((cells + np.uint64(1)) << shift) - starts

    def _start(self, deepest: Codes) -> Counts:
        """Number of the first tick at or after the beginning of each deepest cell, from 0 to `size`."""
        position = deepest + np.uint64(self._root)
        units = (position >> np.uint64(self._unit_bits)).view(np.int64)
        rest = (position & np.uint64(2**self._unit_bits - 1)).view(np.int64)
        ticks = -(-rest * self._odd >> self._unit_bits)
        starts: Counts = np.clip(units * self._odd + ticks - self._before, 0, self.size)
        return starts

    def largest(self, bits: int) -> int:
        """Length of the longest cell."""
        finer = self._unit_bits - (self.depth - bits)
        ticks = self._odd << -finer if finer <= 0 else -(-self._odd >> finer)
        return min(ticks, self.size)

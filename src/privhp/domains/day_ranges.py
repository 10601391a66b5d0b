"""Cells of times: ranges of whole days, and below these halves, quarters, eighths ... of a day.

People ask for days, months and hours, and records follow the clock: closed nights, busy
mornings. Cells that begin at midnight, noon, six, three ... hold what such questions ask for.
"""

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.cells import Codes, Counts
from privhp.domains.integer_ranges import AlignedRanges
from privhp.kernels import DayCells


class DayRanges(AlignedRanges):
    """Cells of the times from a first to a last tick, in the smallest range of 2**k days, or part of a day, with both.

    A day has odd * 2**halvings ticks. It is halved that often into units of `odd` ticks; then the halves of
    a unit of real length begin at the next tick. Each of the deepest cells holds one tick or none.

    Attributes:
        size: Number of ticks.
        depth: Number of cuts down to the deepest cells.
        day_cuts: Number of cuts down to cells of one day; 0 or less if all ticks are within a day.

    Args:
        first: First tick.
        last: Last tick.
        day: Ticks of a day.
        midnight: The tick of any midnight.
    """

    def __init__(self, first: int, last: int, *, day: int, midnight: int) -> None:
        self.size = last - first + 1
        halvings = (day & -day).bit_length() - 1
        odd = day >> halvings
        days = DayCells(first, last, first - (first - midnight) % day, odd, (odd - 1).bit_length(), root=0)
        ends = kernels.encode_days(np.array([first, last]), days, shift=0, clamp=False).tolist()
        self.depth = (ends[0] ^ ends[1]).bit_length()
        self._days = days._replace(root=ends[0] >> self.depth << self.depth)
        self.day_cuts = self.depth - halvings - days.unit_bits

    def encode(self, ticks: Counts, *, level: int, clamp: bool) -> Codes:
        """The cell of each tick; OUTSIDE for those out of bounds, unless they are moved to the nearer bound."""
        return kernels.encode_days(ticks, self._days, shift=self.depth - level, clamp=clamp)

    def ranges(self, cells: Codes, bits: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        """First number and length of each cell; see `AlignedRanges.ranges`."""
        shift = np.asarray(self.depth - bits).astype(np.uint64)
        starts = self._start(cells << shift)
        return starts, self._start((cells + np.uint64(1)) << shift) - starts

    def _start(self, deepest: Codes) -> Counts:
        """Number of the first tick at or after the beginning of each deepest cell, from 0 to `size`."""
        days, bits = self._days, self._days.unit_bits
        position = deepest + np.uint64(days.root)
        units = (position >> np.uint64(bits)).view(np.int64)
        rest = (position & np.uint64(2**bits - 1)).view(np.int64)
        ticks = units * days.odd - (-rest * days.odd >> bits)
        starts: Counts = np.clip(ticks - (days.first - days.midnight), 0, self.size)
        return starts

    def largest(self, bits: int) -> int:
        """Length of the longest cell."""
        odd, finer = self._days.odd, self._days.unit_bits - (self.depth - bits)
        ticks = odd << -finer if finer <= 0 else -(-odd >> finer)
        return min(ticks, self.size)

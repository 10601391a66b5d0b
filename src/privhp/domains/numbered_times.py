"""Numbered times: the ticks of dates and of times of day."""

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import OUTSIDE, Codes, Counts
from privhp.domains.day_ranges import DayRanges
from privhp.domains.numbers import Integers
from privhp.domains.validation import Outside


class Ticks(Integers):
    """Days, in nearly all of int64; `Time` limits their number."""

    LIMIT = 2**63 - 2**50

    @property
    def day_cuts(self) -> int:
        """Number of cuts down to cells of one day; 0 or less if all ticks are within a day."""
        return self.depth


class DayTicks(Ticks):
    """Ticks of times of day, whose cells are whole days or halves, quarters, eighths ... of a day.

    Args:
        low: First tick.
        high: Last tick.
        day: Ticks of a day.
        midnight: The tick of any midnight.
        outside: Treatment of ticks out of bounds; see `Integers`.
    """

    _offsets: DayRanges

    def __init__(self, low: int, high: int, *, day: int, midnight: int, outside: Outside) -> None:
        super().__init__(low, high, outside=outside)
        self._offsets = DayRanges(low, high, day=day, midnight=midnight)

    def encode_readable(self, numbers: Counts, readable: NDArray[np.bool_], *, level: int) -> Codes:
        """See `Integers`."""
        codes = self._offsets.encode(numbers, level=level, clamp=self.outside == "clamp")
        return codes if readable.all() else np.where(readable, codes, OUTSIDE)

    @property
    def day_cuts(self) -> int:
        """See `Ticks`."""
        return self._offsets.day_cuts

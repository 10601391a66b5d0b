"""Counters of a tally that hold noise from the start, in the form that a summary keeps.

The counters are a bijection of the noisy counts of all measured levels. At
the exact depth they are noisy counts. A coarser exact level holds a
correction: its independent noise minus the noise that it would inherit from
the exact depth. So a record increments one counter for all exact levels, and
a release adds the corrections to the sums.
"""

import numpy as np

from privhp.collect.noise import discrete_laplace
from privhp.collect.tally import Tally
from privhp.core.cells import Counts, fold
from privhp.release import Release


class NoisyCounters:
    """The counters of a tally, with those of each column that is measured by itself.

    Args:
        tally: The tally that counts.
        chunk: Noise draws at once.

    Attributes:
        plan: The plan of the tally.
    """

    def __init__(self, tally: Tally, *, chunk: int) -> None:
        self.plan, self._tally, self._chunk = tally.plan, tally, chunk
        exact = self.plan.exact_levels[:-1]
        self._corrections: dict[int, Counts] = {level: np.zeros(2**level, dtype=np.int64) for level in exact}
        self._columns = {label: NoisyCounters(own, chunk=chunk) for label, own in tally.columns.items()}

    def add_noise(self) -> None:
        """Add one draw to each count, before the first record."""
        for level, counters in self._tally.by_level().items():
            self._add_draws(level, counters.reshape(-1))
        for level, correction in self._corrections.items():
            correction -= self._sums(level)
            self._add_draws(level, correction)
        for own in self._columns.values():
            own.add_noise()

    def arrays(self) -> list[Counts]:
        """All counters in the order of a checkpoint: those of the levels, coarsest first, then those of each column."""
        columns = (array for own in self._columns.values() for array in own.arrays())
        return [*(self._corrections | self._tally.by_level()).values(), *columns]

    def release(self, *, merged: int) -> Release:
        """The noisy counts of all levels; with a second draw in each if the plan is pan-private.

        Args:
            merged: Number of merged summaries.
        """
        exact = {level: self._sums(level) + correction for level, correction in self._corrections.items()}
        counts = self._corrections | self._tally.by_level() | exact
        if self.plan.pan_private:
            # What a stolen summary file and the release differ by is then private, too.
            for level, noisy in counts.items():
                self._add_draws(level, noisy.reshape(-1))
        columns = {label: own.release(merged=merged) for label, own in self._columns.items()}
        return Release(self.plan, counts, merged=merged, columns=columns)

    def _sums(self, level: int) -> Counts:
        """Counters of the exact depth, added up to the cells of a coarser level."""
        return fold(self._tally.counters, levels=self.plan.exact_depth - level)

    def _add_draws(self, level: int, counters: Counts) -> None:
        """Add one draw to each counter."""
        for start in range(0, counters.size, self._chunk):
            chunk = counters[start : start + self._chunk]
            chunk += self._draw_noise(level, chunk.size)

    def _draw_noise(self, level: int, size: int) -> Counts:
        """Independent discrete Laplace draws at the noise scale of a level."""
        return discrete_laplace(size, scale=self.plan.scale(level))

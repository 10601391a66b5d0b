"""Intervals of the masses of regions of several columns, within what each column allows.

A record of such a region meets the condition on each column. So its mass is at most that of
each condition alone, and what is missing from it to 1 is at most the sum of what is missing from theirs. A
column that is measured by itself may know that better than the leaves of the table.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from privhp.answers.uncertainty import Uncertainty
from privhp.core.cells import Floats


class ConjunctionUncertainty:
    """Uncertainty of masses, within what the columns of each region allow.

    Args:
        joint: Uncertainty of the masses by the leaves of the table.
        values: The masses, of any shape.
        regions: Their regions.
        ask: Uncertainty of the masses of some regions of single columns.
    """

    def __init__(
        self,
        joint: Uncertainty,
        values: float | Floats,
        regions: Sequence[Any],
        ask: Callable[[list[Any]], Uncertainty],
    ) -> None:
        self._joint, self._values, self._ask = joint, np.asarray(values), ask
        conditions = [own if isinstance(own, Mapping) and len(own) > 1 else {} for own in regions]
        self._conditions = [(place, {name: own}) for place, each in enumerate(conditions) for name, own in each.items()]

    @property
    def stderr(self) -> Any:
        """Standard error of each mass."""
        return self._joint.stderr

    @property
    def resolved(self) -> Any:
        """Whether the release shows more than bounds of each mass."""
        return self._joint.resolved

    @cached_property
    def _columns(self) -> Uncertainty:
        return self._ask([region for _, region in self._conditions])

    def interval(self, z: float) -> tuple[Floats, Floats]:
        """Both ends of the interval of each mass."""
        low, high = (np.array(end, dtype=np.float64) for end in self._joint.interval(z))
        if self._conditions:
            places = np.array([place for place, _ in self._conditions])
            lows, highs = self._columns.interval(z)
            least, most = np.zeros(low.size), np.ones(low.size)
            least[places] = 1.0
            np.subtract.at(least, places, 1.0 - lows)
            np.minimum.at(most, places, highs)
            low = np.maximum(low, np.minimum(least.reshape(low.shape), self._values))
            high = np.minimum(high, np.maximum(most.reshape(low.shape), self._values))
        return low, high

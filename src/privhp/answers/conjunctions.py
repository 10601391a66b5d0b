"""Intervals of the masses of regions of several columns, by what the release shows of each column.

A column that is measured by itself may know its own condition better than the leaves of the table do. A record of the
region meets each condition. So the mass is at most that of each condition alone, and what is missing from it to 1 is at
most the sum of what is missing from theirs. Leaves divide as the columns do, so the mass may err by any factor by which
one of its conditions may err.
"""

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
        ask: Masses of some regions of single columns, and their uncertainty.
    """

    def __init__(
        self,
        joint: Uncertainty,
        values: float | Floats,
        regions: Sequence[Any],
        ask: Callable[[list[Any]], tuple[Floats, Uncertainty]],
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
    def _columns(self) -> tuple[Floats, Uncertainty]:
        return self._ask([region for _, region in self._conditions])

    def interval(self, z: float) -> tuple[Floats, Floats]:
        """Both ends of the interval of each mass."""
        low, high = (np.array(end, dtype=np.float64) for end in self._joint.interval(z))
        if not self._conditions:
            return low, high
        places = np.array([place for place, _ in self._conditions])
        alone, uncertainty = self._columns
        lows, highs = uncertainty.interval(z)
        shown = alone > 0
        less, more = np.ones((2, low.size))
        np.minimum.at(less, places[shown], lows[shown] / alone[shown])
        np.maximum.at(more, places[shown], highs[shown] / alone[shown])
        low = np.minimum(low, self._values * less.reshape(low.shape))
        high = np.maximum(high, self._values * more.reshape(low.shape))
        least, most = np.zeros(low.size), np.ones(low.size)
        least[places] = 1.0
        np.subtract.at(least, places, 1.0 - lows)
        np.minimum.at(most, places, highs)
        low = np.maximum(low, np.minimum(least.reshape(low.shape), self._values))
        high = np.minimum(high, np.maximum(most.reshape(low.shape), self._values))
        return low, high

"""Axes of pictures: a variable divided into bins, each a region with a mass."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.reporting.ticks import Tick
from privhp.reporting.value_scales import ValueScale, scale_of
from privhp.reporting.variables import Variable

TAIL = 0.002
"""Share of the records beyond each end of an axis, so that a few outliers do not compress the rest."""

MAX_CATEGORIES = 16
"""Largest number of values on a categorical axis."""

_COARSE = 64
_CLOSEST = 1e-6  # smallest share of the whole scale that an axis shows


@dataclass(frozen=True)
class PictureAxis:
    """A range of a numeric scale, divided into bins.

    Args:
        variable: The variable of the records.
        scale: Scale of its values.
        edges: Ends of the bins.
    """

    variable: Variable
    scale: ValueScale
    edges: Floats

    @property
    def regions(self) -> list[Any]:
        """Region of each bin."""
        return [self.variable.region(self.scale.region(*ends)) for ends in self._ends]

    @property
    def _ends(self) -> list[tuple[float, float]]:
        return list(zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True))

    @property
    def tails(self) -> tuple[Any | None, Any | None]:
        """Regions below the first bin and above the last; None if empty."""
        ends = (self.scale.low, float(self.edges[0])), (float(self.edges[-1]), self.scale.high)
        below, above = (self.variable.region(self.scale.region(*pair)) if pair[0] < pair[1] else None for pair in ends)
        return below, above

    @property
    def positions(self) -> Floats:
        """Drawn positions of the edges, from 0 to 1."""
        return self.position_of(self.edges)

    def position_of(self, numbers: Floats) -> Floats:
        """Drawn positions of numbers; the first edge is at 0, the last at 1."""
        first, last = self.scale.positions(self.edges[[0, -1]])
        positions: Floats = (self.scale.positions(numbers) - first) / (last - first)
        return positions

    @property
    def ticks(self) -> list[Tick]:
        """Tick labels with their positions from 0 to 1."""
        low, high = self.edges[[0, -1]].tolist()
        ticks = [tick for tick in self.scale.ticks(low, high) if low <= tick.value <= high]
        return [Tick(float(self.position_of(np.array([tick.value]))[0]), tick.text) for tick in ticks]

    @property
    def words(self) -> list[str]:
        """Text of each bin."""
        return [self.scale.describe_range(*ends) for ends in self._ends]

    def recut(self, bins: int) -> PictureAxis:
        """The same range in `bins` bins of equal width, or fewer if it holds fewer integers."""
        low, high = self.edges[[0, -1]].tolist()
        return PictureAxis(self.variable, self.scale, self.scale.cut(low, high, bins))

    def bins_of(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Bin of each value, counted from 1; 0 is below the first bin, and one more than the last is above it."""
        numbers = self.scale.numbers(values if values.ndim == 1 else values[:, self.variable.coordinate])
        bins = np.searchsorted(self.edges, numbers, side="right")
        if not self.scale.whole:
            bins[numbers == self.edges[-1]] -= 1  # the upper bound belongs to the last bin
        return bins


@dataclass(frozen=True)
class CategoryAxis:
    """The values of a categorical variable, one below the other.

    Args:
        variable: The variable of the records.
        names: The values.
    """

    variable: Variable
    names: tuple[Any, ...]

    @property
    def regions(self) -> list[Any]:
        """Region of each value."""
        return [self.variable.region(name) for name in self.names]

    @property
    def ticks(self) -> list[Tick]:
        """The values, each at the middle of its band."""
        return [
            Tick((index + 0.5) / len(self.names), self.variable.domain.inner.format_value(name))
            for index, name in enumerate(self.names)
        ]

    def bins_of(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Index of each value, counted from 1."""
        order = np.argsort(np.array(self.names))
        return order[np.searchsorted(np.array(self.names)[order], values)] + 1


def axis_of(distribution: Distribution, variable: Variable) -> PictureAxis | None:
    """Axis of a variable, divided at round numbers, with nearly all of the mass on it; None without a scale."""
    scale = scale_of(variable.scale)
    if scale is None:
        return None
    return PictureAxis(
        variable, scale, scale.nice_cut(*_span(scale, lambda edges: _masses(distribution, variable, scale, edges)))
    )


def _masses(distribution: Distribution, variable: Variable, scale: ValueScale, edges: Floats) -> Floats:
    pairs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return distribution.masses([variable.region(scale.region(*pair)) for pair in pairs]).value


def _span(scale: ValueScale, masses_of: Callable[[Floats], Floats]) -> tuple[float, float]:
    """Range that holds all but `TAIL` of the mass at either end, found by repeated zooming."""
    low, high, below = scale.low, scale.high, 0.0
    total, closest = 0.0, _CLOSEST * _length(scale, scale.low, scale.high)
    while True:
        edges = scale.cut(low, high, _COARSE)
        found = masses_of(edges)
        total = total or float(found.sum())
        if total <= 0:
            return low, high
        upto = below + np.cumsum(found)
        first = min(int(np.searchsorted(upto, TAIL * total, side="right")), found.size - 1)
        last = max(min(int(np.searchsorted(upto, (1 - TAIL) * total)), found.size - 1), first)
        nearer = float(edges[first]), float(edges[last + 1])
        if nearer == (low, high) or _length(scale, *nearer) < closest:
            return low, high
        (low, high), below = nearer, float(upto[first] - found[first])
        if last - first > _COARSE // 4:
            return low, high


def _length(scale: ValueScale, low: float, high: float) -> float:
    """Drawn length of a range."""
    first, last = scale.positions(np.array([low, high])).tolist()
    return float(last - first)


def category_axis_of(variable: Variable) -> CategoryAxis | None:
    """The axis of a categorical variable with few values."""
    return CategoryAxis(variable, variable.values) if 0 < len(variable.values) <= MAX_CATEGORIES else None

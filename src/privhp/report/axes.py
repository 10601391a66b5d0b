"""Axes of pictures: a part of the records cut into bins, each a region that has a probability."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.domains import Categories
from privhp.report.lines import Line, line_of
from privhp.report.masses import masses
from privhp.report.parts import Part
from privhp.report.ticks import Tick

TAIL = 0.002
"""Share of the records that may lie beyond either end of an axis, so that a few far out do not squeeze the rest."""

MOST_NAMES = 16
"""How many names an axis may have."""

_COARSE = 64
_CLOSEST = 1e-6  # share of the whole line that an axis shows at least


@dataclass(frozen=True)
class Axis:
    """A stretch of a line, cut into bins.

    Args:
        part: The part of the records.
        line: How its values lie.
        edges: Ends of the bins.
    """

    part: Part
    line: Line
    edges: Floats

    @property
    def regions(self) -> list[Any]:
        """All records in each bin."""
        return [self.part.region(self.line.region(*ends)) for ends in self._ends]

    @property
    def _ends(self) -> list[tuple[float, float]]:
        return list(zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True))

    @property
    def tails(self) -> tuple[Any | None, Any | None]:
        """All records below the first bin, and above the last; None for what is empty."""
        ends = (self.line.low, float(self.edges[0])), (float(self.edges[-1]), self.line.high)
        below, above = (self.part.region(self.line.region(*pair)) if pair[0] < pair[1] else None for pair in ends)
        return below, above

    @property
    def places(self) -> Floats:
        """Where the edges are drawn: 0 is the first, 1 the last."""
        return self.place_of(self.edges)

    def place_of(self, numbers: Floats) -> Floats:
        """Where numbers are drawn."""
        first, last = self.line.positions(self.edges[[0, -1]])
        places: Floats = (self.line.positions(numbers) - first) / (last - first)
        return places

    @property
    def ticks(self) -> list[Tick]:
        """Text along the axis, each at its place from 0 to 1."""
        low, high = self.edges[[0, -1]].tolist()
        ticks = [tick for tick in self.line.ticks(low, high) if low <= tick.value <= high]
        return [Tick(float(self.place_of(np.array([tick.value]))[0]), tick.text) for tick in ticks]

    @property
    def words(self) -> list[str]:
        """Each bin in words."""
        return [self.line.words(*ends) for ends in self._ends]

    def recut(self, bins: int) -> Axis:
        """The same stretch in so many bins of equal width, or fewer if it has only so many whole numbers."""
        low, high = self.edges[[0, -1]].tolist()
        return Axis(self.part, self.line, self.line.cut(low, high, bins))

    def bins_of(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The bin of each value, the first being 1; 0 is below all of them, and the number after the last above."""
        numbers = self.line.numbers(values if values.ndim == 1 else values[:, self.part.coordinate])
        bins = np.searchsorted(self.edges, numbers, side="right")
        if not self.line.whole:
            bins[numbers == self.edges[-1]] -= 1  # the upper bound belongs to the last bin
        return bins


@dataclass(frozen=True)
class NameAxis:
    """The names of a part, one below the other.

    Args:
        part: The part of the records.
        names: Its values.
    """

    part: Part
    names: tuple[Any, ...]

    @property
    def regions(self) -> list[Any]:
        """All records of each name."""
        return [self.part.region(name) for name in self.names]

    @property
    def ticks(self) -> list[Tick]:
        """The names, each in the middle of its place."""
        return [
            Tick((place + 0.5) / len(self.names), str(name).lower() if isinstance(name, bool) else str(name))
            for place, name in enumerate(self.names)
        ]

    def bins_of(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The place of each value, the first being 1."""
        order = np.argsort(np.array(self.names))
        return order[np.searchsorted(np.array(self.names)[order], values)] + 1


def axis_of(distribution: Distribution, part: Part) -> Axis | None:
    """An axis with nearly all of the distribution on it, cut at round numbers; None if the part is no line."""
    line = line_of(part)
    if line is None:
        return None
    return Axis(part, line, line.nice_cut(*_span(line, lambda edges: _masses(distribution, part, line, edges))))


def _masses(distribution: Distribution, part: Part, line: Line, edges: Floats) -> Floats:
    pairs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return masses(distribution, [part.region(line.region(*pair)) for pair in pairs])


def _span(line: Line, masses_of: Callable[[Floats], Floats]) -> tuple[float, float]:
    """The stretch that holds all but a tail at either end, found by looking closer again and again."""
    low, high, below = line.low, line.high, 0.0
    total, closest = 0.0, _CLOSEST * _length(line, line.low, line.high)
    while True:
        edges = line.cut(low, high, _COARSE)
        found = masses_of(edges)
        total = total or float(found.sum())
        if total <= 0:
            return low, high
        upto = below + np.cumsum(found)
        first = min(int(np.searchsorted(upto, TAIL * total, side="right")), found.size - 1)
        last = max(min(int(np.searchsorted(upto, (1 - TAIL) * total)), found.size - 1), first)
        nearer = float(edges[first]), float(edges[last + 1])
        if nearer == (low, high) or _length(line, *nearer) < closest:
            return low, high
        (low, high), below = nearer, float(upto[first] - found[first])
        if last - first > _COARSE // 4:
            return low, high


def _length(line: Line, low: float, high: float) -> float:
    """How long a stretch is in a drawing."""
    first, last = line.positions(np.array([low, high])).tolist()
    return float(last - first)


def name_axis_of(part: Part) -> NameAxis | None:
    """An axis of names, if a part has few of them."""
    names = names_of(part)
    return NameAxis(part, names) if 0 < len(names) <= MOST_NAMES else None


def names_of(part: Part) -> tuple[Any, ...]:
    """All values of a part that is a list of categories, in their order; none of any other."""
    return tuple(part.domain.describe(0, level=0)) if isinstance(part.domain, Categories) else ()

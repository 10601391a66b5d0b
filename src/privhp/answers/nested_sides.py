"""What the finer sides along an axis show of the coarser ones that hold them.

Leaves of a table are cut along a column a different number of times. Where most
records of a side are in finer ones, these show how the side divides: the records
of a coarse leaf, too, are expected to lie where those of its neighbours along the
other axes do. What that differs from the base measure is an error of the answer.

Neighbours along the axis show where records may be heaped: what a side holds
beyond the mean of its neighbours, such as zeros at the lower bound. They also show a slope: beside
a side with fewer records, such as at the edge of a gap, the records of a side lie away from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import AxisCells
from privhp.core.cells import Codes, Floats

Indices = NDArray[np.intp]


class NestedSides:
    """Sides along one axis, each with those inside it.

    Args:
        cells: Code of each side.
        cuts: Number of cuts of each side.
        masses: Mass of the leaves with each side.
    """

    def __init__(self, cells: Codes, cuts: NDArray[np.int64], masses: Floats) -> None:
        self._masses, self._most = masses, int(cuts.max(initial=0))
        finest = (self._most - cuts).astype(np.uint64)
        first, last = cells << finest, (cells << finest) | ((np.uint64(1) << finest) - np.uint64(1))
        self._order = np.lexsort((cuts, first))  # the sides inside each one follow it
        self._first = first[self._order]
        self._from = np.empty(cells.shape, dtype=np.intp)
        self._from[self._order] = np.arange(1, cells.size + 1)
        self._until = np.searchsorted(self._first, last, side="right")
        self._before = self._sums_before(masses)
        self._points, self._sums = _cumulated(first, last, masses)

    @classmethod
    def of_cells(cls, cells: AxisCells, axis: int, counts: Floats) -> NestedSides:
        """The sides of cells along an axis, with the counts of the cells; those of null have no value there."""
        counts = np.where(cells.are_null(axis), 0.0, counts)
        along, sides = cells.along(axis), cells.distinct(axis)
        cuts = np.concatenate([np.full(own.shape, splits) for own, splits in sides])
        masses = np.bincount(along.cell_of_leaf, weights=counts).astype(np.float64)
        return cls(np.concatenate([own for own, _ in sides]), cuts, masses)

    def _sums_before(self, values: Floats) -> Floats:
        return np.concatenate([[0.0], np.cumsum(values[self._order])])

    def counts(self, cells: Codes, cuts: int) -> Floats:
        """Mass of the leaves in each of some cells of the axis, if the mass of a side is even."""
        first = cells.astype(np.float64)
        counts: Floats = self._mass_before(first + 1.0, cuts) - self._mass_before(first, cuts)
        return counts

    def excess(self, cells: Codes, cuts: int) -> tuple[Floats, Floats]:
        """Share of the mass of each of some cells beyond the mean of its neighbours, and beyond the smaller one.

        Outside the axis is no mass.
        """
        before, own, after = self._with_neighbours(cells, cuts)
        others = (before + after) / 2.0, np.minimum(before, after)
        mean, least = (np.clip(1.0 - other / np.maximum(own, 1e-300), 0.0, 1.0) for other in others)
        return mean, least

    def steepness(self, cells: Codes, cuts: int) -> Floats:
        """The x of which tanh(x) is the imbalance of the exponential density of each cell and its smaller neighbour.

        A cell at an end of the axis has one neighbour. A cell that is smaller than both, or has none, has a steepness
        of 0. Less than one record counts as one.
        """
        before, own, after = self._with_neighbours(cells, cuts)
        first, last = cells == 0, cells + np.uint64(1) == np.uint64(1) << np.uint64(cuts)
        smaller = np.minimum(np.where(first, after, before), np.where(last, before, after))
        rates = np.log(np.maximum(own, 1.0) / np.maximum(smaller, 1.0)) / 4.0
        steepness: Floats = np.where(first ^ last, np.abs(rates), np.maximum(rates, 0.0)) * ~(first & last)
        return steepness

    def _with_neighbours(self, cells: Codes, cuts: int) -> Floats:
        """Mass of the cells before, of the cells themselves, and of those after."""
        ends = cells.astype(np.float64) + np.arange(-1, 3)[:, None]
        masses: Floats = np.diff(self._mass_before(ends, cuts), axis=0)
        return masses

    def _mass_before(self, ends: Floats, cuts: int) -> Floats:
        """Mass before some positions, in units of a cell of a number of cuts."""
        return np.interp(ends * 2.0 ** (self._most - cuts), self._points, self._sums)

    def errors(self, shares: Floats) -> Floats:
        """Expected error of the share of each side in a region, from the shares of those inside it."""
        before = self._sums_before(self._masses * shares)
        return self._errors(np.arange(shares.size), before[self._until] - before[self._from], shares)

    def errors_below(self, sides: Indices, ends: Codes, shares: Floats, above: Floats) -> Floats:
        """Expected error of the share of some sides below an end.

        Args:
            sides: Index of a side that holds each end.
            ends: Code of the finest side that would hold each end.
            shares: Share of each side below the end.
            above: Mass above the end in the sides that hold it and are inside the given one.
        """
        until = np.searchsorted(self._first, ends, side="right")
        return self._errors(sides, self._before[until] - self._before[self._from[sides]] - above, shares)

    def _errors(self, sides: Indices, inside: Floats, shares: Floats) -> Floats:
        """What is expected from the sides inside each side, in their share of its mass."""
        total = self._before[self._until[sides]] - self._before[self._from[sides]]
        inside = np.clip(inside, 0.0, total)  # differences of sums are rounded, and sides may be empty
        error: Floats = np.abs(inside - total * shares) / np.maximum(total + self._masses[sides], 1e-300)
        return error


def _cumulated(first: Codes, last: Codes, masses: Floats) -> tuple[Floats, Floats]:
    """Ends of the sides along the axis, and the mass before each, if the mass of a side is even."""
    starts, ends = first.astype(np.float64), last.astype(np.float64) + 1.0
    points, index = np.unique(np.concatenate([starts, ends]), return_inverse=True)
    densities = masses / (ends - starts)
    changes = np.bincount(index, weights=np.concatenate([densities, -densities]), minlength=points.size)
    return points, np.concatenate([[0.0], np.cumsum(np.maximum(np.cumsum(changes)[:-1], 0.0) * np.diff(points))])

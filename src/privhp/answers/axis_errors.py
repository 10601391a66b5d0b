"""Errors of the shares of sides along one axis in a region, if the records of a side are taken to be even."""

from typing import NamedTuple

import numpy as np

from privhp.answers.known_sides import Dependent
from privhp.answers.nested_sides import NestedSides
from privhp.answers.share_deviations import heap_deviation, slope_deviation
from privhp.answers.unevenness import FINER_CUTS, AxisUnevenness
from privhp.core.cells import Codes, Floats, descendants


class AxisErrors(NamedTuple):
    """What determines the errors along an axis.

    Args:
        unevenness: Unevenness of the axis.
        sides: The sides of the leaves.
    """

    unevenness: AxisUnevenness
    sides: NestedSides

    def deviations(self, cells: Codes, cuts: int, shares: Floats, dependent: Dependent) -> tuple[Floats, Floats]:
        """Standard deviation of the share of sides in a region that leaves share, by group, and of each leaf's own.

        Args:
            cells: The sides.
            cuts: Number of their cuts.
            shares: Share of the base measure of each side in the region.
            dependent: Dependence on other columns that are restricted.
        """
        cut = np.flatnonzero((shares > 0) & (shares < 1))
        shared, own = np.zeros((len(dependent.on_groups), cells.size)), np.zeros(cells.size)
        if cut.size:
            cells, share, unevenness = cells[cut], shares[cut], self.unevenness
            heaps = self._heaps(cells, cuts) * np.maximum(share, 1.0 - share)
            heaped = unevenness.further_heaps(cuts)
            even = unevenness.further(cells, cuts, self.sides.steepness(cells, cuts))
            further = np.maximum(even, dependent.further(cells, cuts, FINER_CUTS)) - heaped[:, None]
            slopes = [slope_deviation(share, by_group) for by_group in further]
            shared[:, cut] = np.maximum(np.hypot(slopes, heap_deviation(share, heaped)), heaps)
            own[cut] = slope_deviation(share, unevenness.further_own(cuts))
        return shared, own

    def _heaps(self, cells: Codes, cuts: int) -> Floats:
        """Share of the records of each side that may have the same value: those beyond the mean of its neighbours.

        Inside the axis they count if they are more than its unevenness explains, or if the side and its smaller
        neighbour differ by more: at an edge, such as below a limit. Then the records of the side may end inside it, and
        all beyond the smaller neighbour may be a heap. Where the release shows how a side divides,
        the heap is one of its halves.
        """
        mean, least = self.sides.excess(cells, cuts)
        beside = least / (2.0 - least)  # imbalance of the side and its smaller neighbour
        inner = np.where(np.maximum(mean, beside) > self.unevenness.largest_imbalance(cuts - 1), least, 0.0)
        heaps = np.where(self.unevenness.are_ends(cells, cuts), mean, inner)
        cut = np.flatnonzero(self.unevenness.are_measured(cells, cuts) & (heaps > 0))
        if cut.size:
            halves = descendants(cells[cut], levels=1)
            counts = self.sides.counts(halves, cuts + 1)
            own = counts * self._heaps(halves.ravel(), cuts + 1).reshape(halves.shape)
            heaps[cut] = own.max(axis=1) / np.maximum(counts.sum(axis=1), 1e-300)
        return heaps

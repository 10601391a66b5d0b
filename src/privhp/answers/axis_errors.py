"""Errors of the shares of sides along one axis in a region, if the records of a side are taken to be even."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from typing import NamedTuple

import numpy as np

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

    def deviations(self, cells: Codes, cuts: int, shares: Floats, dependence: Floats) -> Floats:
        """Standard deviation of the share of sides in a region that leaves share, and of their own, shape (2, sides).

        Args:
            cells: The sides.
            cuts: Number of their cuts.
            shares: Share of the base measure of each side in the region.
            dependence: Squared dependence on other columns that are restricted, by the number of cuts.
        """
        found, cut = np.zeros((2, cells.size)), np.flatnonzero((shares > 0) & (shares < 1))
        if cut.size:
            cells, share, unevenness = cells[cut], shares[cut], self.unevenness
            heaps = self._heaps(cells, cuts) * np.maximum(share, 1.0 - share)
            heaped = unevenness.further_heaps(cuts)
            steepness = self.sides.steepness(cells, cuts)
            finer = np.minimum(np.arange(cuts, cuts + FINER_CUTS), dependence.size - 1)
            further = np.maximum(unevenness.further(cells, cuts, steepness), dependence[finer, None])
            slopes = slope_deviation(share, further - heaped[:, None])
            found[0, cut] = np.maximum(np.hypot(slopes, heap_deviation(share, heaped)), heaps)
            found[1, cut] = slope_deviation(share, unevenness.further_own(cuts))
        return found

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

"""How unevenly the records of a release divide along each axis of its domain, learned from the release.

Unevenness is the mean squared imbalance of the cells that are cut along an axis after b
cuts, less the noise and the sampling variance of finitely many records: of the part that
cells of the same side share, and of each cell's own part (`side_splits`). At an
end of a region, the shared parts of all leaves add up; their own parts cancel.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy import Hierarchy
from privhp.answers.side_splits import ENOUGH_SPLITS, SideSplits, Splits, learn_splits, pool_splits
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.domains.shares import ALMOST_ONE

SIGNIFICANT_SLOPE = 2.0
"""Number of standard deviations that the imbalance of one side must exceed to count for itself."""

LONELY = 0.9
"""Imbalance of a side and its neighbours that no unevenness explains: the side may hold a heap and nothing else."""

SLOPE_RATIO = 4.0
"""Factor by which the unevenness of a slope falls with each cut, and that of heaps grows at most."""

FINER_CUTS = 10
"""Number of further cuts of a leaf whose unevenness counts: a smaller part of a leaf is less than its noise."""


class _Measured(NamedTuple):
    """What the cells of one level show of an axis.

    Args:
        shared: Mean square of the imbalance that cells of the same side share.
        own: Mean square of each cell's own imbalance.
        splits: Number of cells.
        share: Their share of all records.
        cells: Their sides along the axis, in increasing order.
        slopes: Imbalance of each side, below 1; 0 where it may be noise.
        above: Shared and own unevenness at the cut before, of the cells that hold these cells.
        noise: Standard deviation of `shared` if there is none.
    """

    shared: float = 0.0
    own: float = 0.0
    splits: int = 0
    share: float = 0.0
    cells: Codes = np.zeros(0, dtype=np.uint64)
    slopes: Floats = np.zeros(0)
    above: tuple[float, float] = (0.0, 0.0)
    noise: float = 0.0


class AxisUnevenness:
    """Unevenness of one axis, between 0 and 1.

    Attributes:
        by_cuts: Shared unevenness of all sides by the number of their cuts, and FINER_CUTS beyond the last one.
        heaped_by_cuts: The part of it that heaps explain.
        own_by_cuts: Unevenness of each cell's own.
        cuts: Number of cuts down to single values.
        shown_cuts: Number of cuts of the narrowest sides that the release shows.
    """

    def __init__(self, measured: list[_Measured], rhythms: Mapping[int, float]) -> None:
        self._measured = measured
        self.cuts, self.shown_cuts = (
            len(measured),
            max((cuts for cuts, own in enumerate(measured, 1) if own.splits), default=0),
        )
        shared = _smooth(measured, [(own.shared, own.above[0]) for own in measured], rhythms, otherwise=1.0)
        self.by_cuts, self.heaped_by_cuts = _extend(shared, measured, rhythms)
        own = _smooth(measured, [(own.own, own.above[1]) for own in measured], {}, otherwise=0.0)
        own_by_cuts, _ = _extend(own, measured, {})
        self.own_by_cuts = np.minimum(own_by_cuts, 1.0 - self.by_cuts)

    def further(self, cells: Codes, cuts: int, steepness: Floats) -> Floats:
        """Shared unevenness of sides with a number of cuts, after 0, 1, 2 ... further cuts, shape (FINER_CUTS, sides).

        At the edge of the data sides are less even than most: they lie on the slope of the smallest side around them
        that was cut, or on that of their neighbours, the larger of both. An exponential density has the imbalance
        tanh(x) with an x that halves with each cut. At an end of the axis the density may be a power, with the same
        imbalance after each cut.

        Args:
            cells: The sides.
            cuts: Number of their cuts.
            steepness: The x of each side that its neighbours show.
        """
        slopes, above = self._slopes(cells, cuts)
        finer = np.arange(FINER_CUTS)[:, None]
        halvings = np.where(self.are_ends(cells, cuts), 0.0, 1.0)
        further = np.arctanh(slopes) / 2.0 ** (halvings * (cuts - above + finer))
        squares: Floats = np.tanh(np.maximum(further, steepness / 2.0**finer)) ** 2
        return np.maximum(self.by_cuts[cuts : cuts + FINER_CUTS, None], squares)

    def further_heaps(self, cuts: int) -> Floats:
        """Unevenness by heaps after 0, 1, 2 ... further cuts than a number of them."""
        return self.heaped_by_cuts[cuts : cuts + FINER_CUTS]

    def further_own(self, cuts: int) -> Floats:
        """Unevenness of a cell's own after 0, 1, 2 ... further cuts than a number of them, shape (FINER_CUTS, 1)."""
        return self.own_by_cuts[cuts : cuts + FINER_CUTS, None]

    @staticmethod
    def are_ends(cells: Codes, cuts: int) -> NDArray[np.bool_]:
        """Whether each side lies at an end of the axis."""
        ends: NDArray[np.bool_] = (cells == 0) | (cells + np.uint64(1) == np.uint64(1) << np.uint64(cuts))
        return ends

    def largest_imbalance(self, cuts: int) -> float:
        """Imbalance that their shared unevenness explains of sides of a number of cuts."""
        return min(SIGNIFICANT_SLOPE * math.sqrt(self.by_cuts[cuts]), LONELY)

    def are_measured(self, cells: Codes, cuts: int) -> NDArray[np.bool_]:
        """Whether the release shows how each side divides at the next cut."""
        return _find(cells, self._measured[cuts].cells)[0] if cuts < len(self._measured) else cells < 0

    def _slopes(self, cells: Codes, cuts: int) -> tuple[Floats, Floats]:
        """Imbalance of the smallest measured side that holds each of these, and the number of its cuts."""
        slopes, cuts_above, known = *np.zeros((2, cells.size)), np.zeros(cells.shape, dtype=np.bool_)
        for above in range(min(cuts, len(self._measured) - 1), -1, -1):
            measured, sides = self._measured[above], cells >> np.uint64(cuts - above)
            among, index = _find(sides, measured.cells)
            found = among & ~known
            slopes[found], cuts_above[found] = measured.slopes[index[found]], above
            known |= found
            if known.all():
                break
        return slopes, cuts_above


def _find(cells: Codes, known: Codes) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Whether each cell is among the known ones, which are in increasing order, and its index there."""
    if not known.size:
        return np.zeros(cells.shape, dtype=np.bool_), np.zeros(cells.shape, dtype=np.intp)
    index = np.minimum(np.searchsorted(known, cells), known.size - 1)
    return known[index] == cells, index


def learn_unevenness(hierarchy: Hierarchy, domain: Domain) -> list[AxisUnevenness]:
    """Unevenness of each axis of a domain."""
    records = max(float(hierarchy.layers[0].estimate.sum()), 1.0)
    measured: list[list[_Measured]] = [[] for _ in domain.axis_cells(np.zeros(1, dtype=np.uint64), level=0)]
    cut_before: dict[int, tuple[int, Splits]] = {}
    for level, (axis, splits, counted) in enumerate(learn_splits(hierarchy, domain)):
        total = records if counted else np.inf  # a share of 0 marks a sketch
        if splits is None:
            measured[axis].append(_Measured())
            continue
        splits = splits.significant
        own = _measure(pool_splits(domain, axis, level, splits), total)
        if axis in cut_before:
            above, before = cut_before[axis]
            holding = before.holding(above, splits.codes, level)
            own = own._replace(above=_measure(pool_splits(domain, axis, above, holding), total)[:2])
        measured[axis].append(own)
        cut_before[axis] = level, splits
    return [AxisUnevenness(own, domain.rhythms(axis)) for axis, own in enumerate(measured)]


def _measure(found: SideSplits | None, total: float) -> _Measured:
    """What the cells of one level show of the axis that they are cut along."""
    if found is None:
        return _Measured()
    variances = (
        found.variances + found.own * found.concentrations
    )  # of noise, sampling and what cells have of their own
    slopes = np.sqrt(np.clip(found.imbalances**2 - variances, 0.0, ALMOST_ONE))
    slopes = np.where(found.imbalances**2 > SIGNIFICANT_SLOPE**2 * variances, slopes, 0.0)
    records = float(found.counts.sum())
    noise = math.sqrt(2.0 * ((found.counts * found.variances) ** 2).sum()) / records
    share = min(records / total, 1.0)
    return _Measured(found.shared, found.own, found.splits, share, found.sides, slopes, noise=noise)


def _smooth(
    measured: list[_Measured], unevenness: list[tuple[float, float]], rhythms: Mapping[int, float], *, otherwise: float
) -> Floats:
    """Unevenness by the number of cuts, up to the last one that the release shows.

    The cells that are cut again are the larger and less even ones. So the others
    are not taken to be as uneven as these, but to become more or less even as these do from
    one cut to the next, and not less uneven than a rhythm may make them.

    Args:
        measured: What the cells of each number of cuts show.
        unevenness: Their unevenness, and that of the cells that hold them at the cut before.
        rhythms: Unevenness by rhythms of the axis, by number of cuts.
        otherwise: What counts where the release shows nothing.
    """
    found: list[float] = []
    before, last = otherwise, 0
    for cuts, (own, (each, above)) in enumerate(zip(measured, unevenness, strict=True)):
        if own.splits:
            enough = min(own.splits / ENOUGH_SPLITS, 1.0)
            factor = each / above if above > 0 else math.inf if each > 0 else 1.0
            least = 1.0 / SLOPE_RATIO if own.share > 0 else 1.0  # sketches are shrunk to even halves
            others = min(max(before, 1e-300) * max(factor, least), max(each, before))
            others = max(others, rhythms.get(cuts, 0.0))
            told = enough * own.share
            last = cuts if own.share > 0 or others > before else last
            before = enough * (told * each + (1.0 - told) * others) + (1.0 - enough) * before
        found.append(before)
    return np.array(found[: last + 1])


def _extend(unevenness: Floats, measured: list[_Measured], rhythms: Mapping[int, float]) -> tuple[Floats, Floats]:
    """Unevenness by the number of cuts, also of finer ones than the release shows, and the part that heaps explain.

    The unevenness of a slope falls by SLOPE_RATIO with each cut; that of heaps never falls. So
    S = s + h is followed by s / SLOPE_RATIO + h, and what heaps explain at one cut is at
    most what they explain at the next. It counts as far as it exceeds its standard deviation.
    Below the last cut, it grows as the unevenness did last. Cells of the last cut are
    single values, as uneven as can be. Whole periods of a rhythm are alike, so they do not show how uneven a period is:
    the domain says so.
    """
    noise = np.array([own.noise for own in measured[: unevenness.size]])
    before = np.concatenate([np.zeros(1), unevenness[:-1]])[: unevenness.size]
    heaped = np.clip((SLOPE_RATIO * unevenness - before) / (SLOPE_RATIO - 1.0) - noise, 0.0, unevenness)
    ratio = min(max(unevenness[-1] / max(before[-1], 1e-300), 1.0), SLOPE_RATIO) if unevenness.size > 1 else 1.0
    cuts = np.arange(1, len(measured) - unevenness.size + 1)
    by_heaps = np.minimum(heaped[-1:] * ratio**cuts, 1.0)
    slope, by_slopes = float((unevenness - heaped)[-1:].sum()), []
    for own in range(unevenness.size, len(measured)):
        slope = max(slope / SLOPE_RATIO, rhythms.get(own, 0.0))
        by_slopes.append(slope)
    single = np.ones(FINER_CUTS)
    heaped = np.concatenate([heaped, by_heaps, single])
    total = np.concatenate([unevenness, np.minimum(by_heaps + np.array(by_slopes), 1.0), single])
    return total, np.minimum.accumulate(heaped[::-1])[::-1]

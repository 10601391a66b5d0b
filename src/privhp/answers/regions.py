"""The cells that a region covers, and its mass.

The search descends from the root and splits only cells on the boundary of the
region, so its cost grows with the number of boundary cells. The masses of many
regions are sums over all leaves, by their sides along the axes that a region cuts.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from privhp.answers.axis_cells import AxisCells
from privhp.answers.histogram import Histogram, Indices
from privhp.answers.leaves import CountedCells
from privhp.answers.standard_errors import StandardErrors
from privhp.core.cells import Floats, by_level, descendants
from privhp.domains.domain import Domain
from privhp.domains.table_column import Name
from privhp.domains.unions import parts_in, parts_of, share_inside, union
from privhp.errors import warn


class Coverage(NamedTuple):
    """The cells of a histogram that a region covers.

    Args:
        first: Index of the first cell of each run of cells inside the region.
        after: Index after the last cell of each run.
        boundary: Indices of the cells that are covered in part.
        shares: Share of the base measure of each boundary cell that the region covers.
    """

    first: Indices
    after: Indices
    boundary: Indices
    shares: Floats

    def inside(self) -> Indices:
        """Indices of all cells inside the region."""
        lengths = self.after - self.first
        ends = np.cumsum(lengths)
        indices: Indices = np.arange(lengths.sum()) + np.repeat(self.first - (ends - lengths), lengths)
        return indices


def cover(histogram: Histogram, region: Any) -> Coverage:
    """Find the cells of positive probability that a region covers.

    Args:
        histogram: The histogram.
        region: A region of its domain.
    """
    runs, boundary, shares = [], [], []
    level, codes = 0, np.zeros(1, dtype=np.uint64)
    ends = np.array([[0], [histogram.codes.size]])
    while True:
        overlap = share_inside(histogram.domain, region, codes, level=level)
        before, through = histogram.before(ends)
        occupied = through > before
        cut = (overlap > 0) & (overlap < 1) & occupied
        is_leaf = histogram.levels[np.minimum(ends[0], histogram.codes.size - 1)] == level
        runs.append(ends[:, (overlap >= 1) & occupied])
        boundary.append(ends[0, cut & is_leaf])
        shares.append(overlap[cut & is_leaf])
        split = cut & ~is_leaf
        if not split.any():
            break
        level += 1
        codes = descendants(codes[split], levels=1)
        middle = np.searchsorted(histogram.starts, codes[:, 1] << np.uint64(histogram.depth - level))
        codes = codes.ravel()
        ends = np.stack([_interleave(ends[0, split], middle), _interleave(middle, ends[1, split])])
    first, after = np.concatenate(runs, axis=1)
    return Coverage(first, after, np.concatenate(boundary), np.concatenate(shares))


def _interleave(left: Indices, right: Indices) -> Indices:
    return np.stack([left, right], axis=1).ravel()


def cell_shares(domain: Domain, cells: CountedCells, region: Any) -> Floats:
    """Share of the base measure of each cell that a region covers."""
    shares = np.empty(cells.counts.shape)
    for level, chosen in by_level(cells.levels):
        shares[chosen] = share_inside(domain, region, cells.codes[chosen], level=level)
    return shares


def mass_bounds(histogram: Histogram, region: Any) -> tuple[float, float]:
    """Probability of the cells inside a region, and of all cells that intersect it."""
    covered = cover(histogram, region)
    inside = min(float((histogram.before(covered.after) - histogram.before(covered.first)).sum()), 1.0)
    return inside, min(inside + float(histogram.probabilities[covered.boundary].sum()), 1.0)


def resolved_mass_bounds(errors: StandardErrors, region: Any, value: float) -> tuple[float, float]:
    """The same for a region of this mass, where cells that a sketch hardly distinguishes count as one leaf."""
    shares = errors.region_shares(region)
    inside, touched = (errors.mass(chosen) for chosen in (shares.inside, shares.touched))
    return min(inside, value), min(max(touched, value), 1.0)  # sums that round differently


def mass(histogram: Histogram, region: Any) -> float:
    """Probability of a region."""
    covered = cover(histogram, region)
    inside = float((histogram.before(covered.after) - histogram.before(covered.first)).sum())
    return min(inside + float(histogram.probabilities[covered.boundary] @ covered.shares), 1.0)


def masses(histogram: Histogram, cells: AxisCells, regions: Sequence[Any]) -> Floats:
    """Probability of each region.

    Args:
        histogram: The histogram.
        cells: Its cells along each axis.
        regions: Regions of its domain.
    """
    by_side: dict[tuple[int, ...], Floats] = {}

    def mass_of(part: Any) -> float:
        cut = partial(histogram.domain.axis_shares, part)
        axes = cells.cut_axes(cut)
        if axes not in by_side:
            by_side[axes] = np.bincount(cells.sides(axes).side_of_leaf, histogram.probabilities).astype(np.float64)
        return float(by_side[axes] @ cells.side_shares(cut, axes))

    return np.array([min(sum(map(mass_of, parts_in(histogram.domain, region))), 1.0) for region in regions])


def region_of_column(region: Any, columns: Collection[Name]) -> tuple[Name | None, Any]:
    """The one of some columns that a region or a union is of, if it is of no other, with its region in this column.

    Other regions have None and themselves.
    """
    parts = parts_of(region)
    names = {name for part in parts for name in (part if isinstance(part, Mapping) else [None])}
    name = names.pop() if len(names) == 1 else None
    return (name, union([part[name] for part in parts])) if name in columns else (None, region)


def is_outside(domain: Domain, region: Any) -> bool:
    """Whether no record of the domain is in a region, such as one outside the bounds."""
    return not share_inside(domain, region, np.zeros(1, dtype=np.uint64), level=0)[0]


def warn_outside(domain: Domain, values: Sequence[float], regions: Sequence[Any]) -> None:
    """Warn if a region of mass 0 holds no record of the domain."""
    if any(not value and is_outside(domain, region) for value, region in zip(values, regions, strict=True)):
        warn(describe_outside("is in the region" if len(regions) == 1 else "is in one of the regions"))


def describe_outside(what: str) -> str:
    """Sentence on regions or conditions that hold no record of the domain.

    Args:
        what: What no record does: its verb and the regions or conditions.
    """
    return (
        f"no record of the domain {what}, so the share is 0 whatever the data. Outside the bounds, fit skips records, "
        "or moves them to the nearest bound if the domain says clamp; between two integers, and between two multiples "
        "of a declared step, there are none"
    )

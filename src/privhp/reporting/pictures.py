"""The pictures of a distribution as numbers: histograms, ranked lists and maps.

All of it is post-processing of a release. A picture can also count real
records in the same bins, for a comparison that is not private.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.errors import DomainError
from privhp.reporting.axes import CategoryAxis, PictureAxis, axis_of, category_axis_of
from privhp.reporting.overlay import RealBatch
from privhp.reporting.region_masses import RegionSides, estimate_masses, pair_masses
from privhp.reporting.variables import Variable, variables_of

MAP_BINS = 128
MAX_MAPS = 6
MAX_LISTED = 64
"""Largest number of categories that are all queried; of longer lists only the heavy hitters are shown."""

HEAVY = (0.01, 0.002)
"""Thresholds of the heavy hitters that are shown; the smaller one if the larger finds few."""

MAX_KINDS = 3
"""Largest number of pictures of one variable, such as one for each length of a prefix."""

FEW = 8

MAX_BAND = 2.0
"""Largest height of a picture, in heights of its tallest bar, so that wide bands leave the bars readable."""


@dataclass(frozen=True)
class HistogramPicture:
    """Histogram of a numeric variable.

    Args:
        axis: The bins.
        shares: Share of the records below all bins, in each bin, and above all bins.
        intervals: Both ends of the 90% interval of each bin's share, shape (2, bins); NaN if unknown.
        missing: Share of null.
    """

    axis: PictureAxis
    shares: Floats
    intervals: Floats
    missing: float

    @property
    def label(self) -> str:
        """Title of the picture."""
        return self.axis.variable.title

    def top(self, real: Floats | None = None) -> float:
        """Height of the picture: that of its bars and bands, but at most MAX_BAND times the tallest bar."""
        bars = max(float(self.heights(own).max()) for own in (self.shares, real) if own is not None)
        return max(bars, min(self.band_top, MAX_BAND * bars) if bars > 0 else self.band_top, 1e-12)

    @property
    def band_top(self) -> float:
        """Upper end of the bands, without bins that a bound cuts to less than half of the width; 0 if unknown."""
        widths = np.diff(self.axis.positions)
        heights = self.as_heights(self.intervals[1])[widths > np.median(widths) / 2]
        return float(np.nan_to_num(heights).max())

    def heights(self, shares: Floats) -> Floats:
        """Heights of the bars, given the shares below, in and above the bins."""
        return self.as_heights(shares[1:-1])

    def as_heights(self, shares: Floats) -> Floats:
        """Heights of the shares in the bins by density, so that a bin truncated by a bound is not too low."""
        widths = np.diff(self.axis.positions)
        heights: Floats = shares * (np.median(widths) / widths)
        return heights

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variable."""
        return (self.axis.variable,)

    def count(self, batch: RealBatch) -> Floats:
        """Real records below, in and above the bins."""
        bins = self.axis.bins_of(batch.values(self.axis.variable))
        return np.bincount(bins, minlength=self.shares.size).astype(np.float64)


@dataclass(frozen=True)
class Names:
    """Ranked list of the values of a variable, by decreasing share."""

    variable: Variable
    kind: str
    """Kind of the values, such as prefixes of some length; empty if there is only one."""
    names: list[str]
    cells: list[tuple[int, int]]
    """Level and code of each."""
    shares: Floats
    intervals: Floats
    nested: bool
    """Whether one value may contain another, so that shares overlap."""
    least: float | None = None
    """Share that a value needs to be listed; None if all are."""

    @property
    def label(self) -> str:
        """Title of the picture."""
        return f"{self.variable.title}: {self.kind}" if self.kind else self.variable.title

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variable."""
        return (self.variable,)

    def count(self, batch: RealBatch) -> Floats:
        """Real records of each value."""
        codes, depth = batch.codes(self.variable.column)
        found = [np.count_nonzero(codes >> np.uint64(depth - level) == code) for level, code in self.cells]
        return np.array(found, dtype=np.float64)


@dataclass(frozen=True)
class Map:
    """Joint histogram of two variables, one row per bin of `up`."""

    across: PictureAxis | CategoryAxis
    up: PictureAxis | CategoryAxis
    sides: tuple[RegionSides, RegionSides]
    """The bins of both axes, as regions of the distribution."""
    shares: Floats

    @property
    def label(self) -> str:
        """Title of the picture."""
        return f"{self.across.variable.title} and {self.up.variable.title}"

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Both variables."""
        return self.across.variable, self.up.variable

    @property
    def is_point(self) -> bool:
        """Whether it shows two coordinates of one point."""
        return _is_point(self.across, self.up)

    @property
    def is_geographic(self) -> bool:
        """Whether it shows longitude and latitude."""
        return (
            self.is_point and self.across.variable.scale is not None and self.across.variable.scale.kind == "longitude"
        )

    def count(self, batch: RealBatch) -> Floats:
        """Real records in each pair of bins."""
        rows, columns = (self._bins(batch, axis) for axis in (self.up, self.across))
        height, width = self.shares.shape
        inside = (rows >= 1) & (rows <= height) & (columns >= 1) & (columns <= width)
        indices = (rows[inside] - 1) * width + columns[inside] - 1
        return np.bincount(indices, minlength=self.shares.size).astype(np.float64).reshape(self.shares.shape)

    def _bins(self, batch: RealBatch, axis: PictureAxis | CategoryAxis) -> NDArray[np.int64]:
        """The bin of each record, 0 for null."""
        bins = np.zeros(batch.size, dtype=np.int64)
        bins[~batch.is_null(axis.variable)] = axis.bins_of(batch.values(axis.variable))
        return bins


Picture: TypeAlias = HistogramPicture | Names | Map


def pictures_of(
    distribution: Distribution,
    names: Sequence[str] | None = None,
    *,
    max_maps: int = MAX_MAPS,
    max_kinds: int = MAX_KINDS,
    most: int | None = None,
) -> list[Picture]:
    """Maps of points, then a picture of each variable, then maps of pairs of variables.

    Args:
        distribution: The distribution.
        names: Names of the values of a record, for a domain without columns.
        max_maps: Largest number of maps.
        max_kinds: Largest number of pictures of the heavy hitters of one variable.
        most: Largest number of pictures; the others are not computed.
    """
    return list(islice(_draw(distribution, names, max_maps, max_kinds), most))


def _draw(distribution: Distribution, names: Sequence[str] | None, max_maps: int, max_kinds: int) -> Iterator[Picture]:
    variables = variables_of(distribution.domain, names)
    axes = [axis_of(distribution, variable) for variable in variables]
    found = [
        category_axis_of(variable) if axis is None else axis.recut(MAP_BINS)
        for variable, axis in zip(variables, axes, strict=True)
    ]
    map_axes = [axis for axis in found if axis is not None]
    sides = {axis.variable.label: RegionSides(distribution, axis.regions) for axis in map_axes}
    pairs = list(combinations(map_axes, 2))
    points, others = ([pair for pair in pairs if _is_point(*pair) == of_point] for of_point in (True, False))
    for pair in points[:max_maps]:
        yield _map(distribution, *pair, sides)
    for variable, axis in zip(variables, axes, strict=True):
        if axis is None:
            yield from islice(_names(distribution, variable), max_kinds)
        else:
            yield _histogram(distribution, axis)
    for pair in others[: max(max_maps - len(points), 0)]:
        yield _map(distribution, *pair, sides)


def _histogram(distribution: Distribution, axis: PictureAxis) -> HistogramPicture:
    below, above = (0.0 if tail is None else float(distribution.mass(tail)) for tail in axis.tails)
    missing = float(distribution.mass(axis.variable.region(None))) if axis.variable.nullable else 0.0
    shares, intervals = estimate_masses(distribution, axis.regions)
    return HistogramPicture(axis, np.concatenate([[below], shares, [above]]), intervals, missing)


def _names(distribution: Distribution, variable: Variable) -> Iterator[Names]:
    """All values of a short list; else the heavy hitters, one picture for each kind of region."""
    names = variable.values
    if 0 < len(names) <= MAX_LISTED:
        yield _listed(distribution, variable, names)
        return
    marginal = distribution if variable.column is None else distribution.marginal(variable.column)
    for threshold in HEAVY:
        hitters = marginal.heavy_hitters(threshold)
        if len(hitters) >= FEW:
            break
    if not hitters:  # the leaves are larger than every reportable cell
        hitters = marginal.heavy_hitters(HEAVY[0], levels=range(1, marginal.domain.depth + 1))
    cells = [_Cell(hitter.level, hitter.code, hitter.region, hitter.mass) for hitter in hitters]
    for kind, own in _by_kind(marginal, cells).items():
        ranked = sorted(own, key=lambda cell: -cell.mass)
        regions = [variable.region(cell.region) for cell in ranked[:MAX_LISTED]]
        yield Names(
            variable,
            kind,
            [_text(cell.region) for cell in ranked],
            [(cell.level, cell.code) for cell in ranked],
            np.array([cell.mass for cell in ranked]),
            _heavy_intervals(distribution, regions, len(ranked)),
            nested=not names and not kind,
            least=threshold,
        )


class _Cell(NamedTuple):
    """A cell of a ranked list."""

    level: int
    code: int
    region: Any
    mass: float


def _by_kind(marginal: Distribution, hitters: Sequence[_Cell]) -> dict[str, Sequence[_Cell]]:
    """Cells of each kind with a hitter in them, from large to small ones; all hitters if their domain has no kinds.

    Kinds with a single cell are left out if others have several. Null is in every picture.
    """
    domain, found = marginal.domain, dict[str, list[tuple[int, int, Any]]]()
    for level in range(1, max((own.level for own in hitters), default=0) + 1):
        inside = [own.code >> (own.level - level) for own in hitters if own.level >= level]
        codes = np.unique(np.array(inside, dtype=np.uint64))
        for code in codes[domain.is_reportable(codes, level=level)].tolist():
            region = domain.describe(code, level=level)
            if kind := domain.region_kind(region):
                found.setdefault(kind, []).append((level, code, region))
    if not found:
        return {"": hitters}
    several = {kind: own for kind, own in found.items() if len(own) > 1} or dict([found.popitem()])
    null = [own for own in hitters if own.region is None]
    chosen: dict[str, Sequence[_Cell]] = {}
    for kind, own in several.items():
        shares = marginal.masses([region for *_, region in own]).value.tolist()
        chosen[kind] = [*(_Cell(*cell, mass) for cell, mass in zip(own, shares, strict=True)), *null]
    return chosen


def _heavy_intervals(distribution: Distribution, regions: Sequence[Any], size: int) -> Floats:
    """Intervals of the first regions, padded with NaN to a size; all NaN in a domain without regions."""
    found = np.full((2, size), np.nan)
    with contextlib.suppress(DomainError):
        _, found[:, : len(regions)] = estimate_masses(distribution, regions)
    return found


def _listed(distribution: Distribution, variable: Variable, names: tuple[Any, ...]) -> Names:
    """All categories and null, by decreasing share."""
    values = [*names, *([None] if variable.nullable else [])]
    shares, intervals = estimate_masses(distribution, [variable.region(value) for value in values])
    domain = variable.domain
    codes = domain.encode(values, level=domain.depth).tolist()
    order = np.argsort(-shares, kind="stable").tolist()
    return Names(
        variable,
        "",
        [_text(values[index]) for index in order],
        [(domain.depth, codes[index]) for index in order],
        shares[order],
        intervals[:, order],
        nested=False,
    )


def _text(region: Any) -> str:
    """A region as text."""
    if region is None:
        return "missing"
    if isinstance(region, list | tuple):
        return ", ".join(map(str, region[:3])) + (f" and {len(region) - 3} more" if len(region) > 3 else "")
    return str(region)


def _is_point(one: PictureAxis | CategoryAxis, other: PictureAxis | CategoryAxis) -> bool:
    """Whether two axes are coordinates of one point."""
    return one.variable.domain is other.variable.domain


def _map(
    distribution: Distribution,
    across: PictureAxis | CategoryAxis,
    up: PictureAxis | CategoryAxis,
    sides: Mapping[str, RegionSides],
) -> Map:
    if isinstance(across, CategoryAxis):  # categories are easier to read one below the other
        across, up = up, across
    own = sides[across.variable.label], sides[up.variable.label]
    return Map(across, up, own, pair_masses(distribution, *own))

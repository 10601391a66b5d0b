"""What a report shows of a distribution, as numbers: histograms, lists of names, maps.

Everything here is post-processing of a release. A picture can also count real
records in the same bins, for a comparison that is not private.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.domains import Geo, Nullable
from privhp.domains.table_column import Name
from privhp.errors import DomainError
from privhp.report.axes import Axis, NameAxis, axis_of, name_axis_of, names_of
from privhp.report.masses import doubts, masses, survey
from privhp.report.overlay import Batch
from privhp.report.parts import Part, parts_of

MAP_BINS = 128
MOST_MAPS = 6
MOST_LISTED = 64
"""Names that are asked for one by one; of more, only those that hold much are shown."""

HEAVY = (0.01, 0.002)
"""Shares of the records from which on a prefix or a name is shown; the smaller one if the larger shows few."""

FEW = 8


@dataclass(frozen=True)
class Histogram:
    """A part that is a line.

    Args:
        axis: Its bins.
        shares: Share of the records below all bins, in each bin, and above them.
        doubts: How far off the share of each bin may be, nine times in ten.
        missing: Share of null.
        fineness: Mean level of the leaves in each bin.
    """

    axis: Axis
    shares: Floats
    doubts: Floats
    missing: float
    fineness: Floats

    @property
    def label(self) -> str:
        """What it shows."""
        return self.axis.part.label

    def count(self, batch: Batch) -> Floats:
        """Real records below, in and above the bins."""
        bins = self.axis.bins_of(batch.values(self.axis.part))
        return np.bincount(bins, minlength=self.shares.size).astype(np.float64)


@dataclass(frozen=True)
class Names:
    """A part whose values have names: those that hold most, the fullest first."""

    label: str
    column: Name | None
    names: list[str]
    cells: list[tuple[int, int]]
    """Level and code of each."""
    shares: Floats
    doubts: Floats
    nested: bool
    """Whether one may lie inside another, and count in both."""

    def count(self, batch: Batch) -> Floats:
        """Real records under each name."""
        codes, depth = batch.codes(self.column)
        found = [np.count_nonzero(codes >> np.uint64(depth - level) == code) for level, code in self.cells]
        return np.array(found, dtype=np.float64)


@dataclass(frozen=True)
class Map:
    """Two parts at once: the share of the records in each pair of bins, one row for each bin of `up`."""

    across: Axis | NameAxis
    up: Axis | NameAxis
    shares: Floats
    fineness: Floats

    @property
    def label(self) -> str:
        """What it shows."""
        return f"{self.across.part.label} and {self.up.part.label}"

    @property
    def is_point(self) -> bool:
        """Whether it shows two numbers of one point."""
        return self.across.part.domain is self.up.part.domain

    @property
    def is_geographic(self) -> bool:
        """Whether it shows places on Earth."""
        return self.is_point and isinstance(self.across.part.domain, Geo)

    def count(self, batch: Batch) -> Floats:
        """Real records in each pair of bins."""
        rows, columns = (self._bins(batch, axis) for axis in (self.up, self.across))
        height, width = self.shares.shape
        inside = (rows >= 1) & (rows <= height) & (columns >= 1) & (columns <= width)
        places = (rows[inside] - 1) * width + columns[inside] - 1
        return np.bincount(places, minlength=self.shares.size).astype(np.float64).reshape(self.shares.shape)

    def _bins(self, batch: Batch, axis: Axis | NameAxis) -> NDArray[np.int64]:
        """The bin of each record, 0 for null."""
        bins = np.zeros(batch.size, dtype=np.int64)
        bins[batch.there(axis.part)] = axis.bins_of(batch.values(axis.part))
        return bins


Picture: TypeAlias = Histogram | Names | Map


def pictures_of(
    distribution: Distribution, names: Sequence[str] | None = None, *, most_maps: int = MOST_MAPS
) -> list[Picture]:
    """Maps of points, then a picture of each part, then maps of pairs of columns.

    Args:
        distribution: What to show.
        names: What the values of a record are called, where the domain does not say it.
        most_maps: How many pairs of parts are shown.
    """
    parts = parts_of(distribution.domain, names)
    axes = [axis_of(distribution, part) for part in parts]
    single = [
        _names(distribution, part) if axis is None else _histogram(distribution, axis)
        for part, axis in zip(parts, axes, strict=True)
    ]
    sides = [
        name_axis_of(part) if axis is None else axis.recut(MAP_BINS) for part, axis in zip(parts, axes, strict=True)
    ]
    maps = _maps(distribution, [side for side in sides if side is not None], most_maps)
    return [*(own for own in maps if own.is_point), *single, *(own for own in maps if not own.is_point)]


def _histogram(distribution: Distribution, axis: Axis) -> Histogram:
    below, above = (0.0 if tail is None else float(masses(distribution, [tail])[0]) for tail in axis.tails)
    missing = float(masses(distribution, [axis.part.region(None)])[0]) if axis.part.nullable else 0.0
    (shares,), (fineness,) = survey(distribution, axis.regions)
    return Histogram(
        axis, np.concatenate([[below], shares, [above]]), doubts(distribution, axis.regions), missing, fineness
    )


def _names(distribution: Distribution, part: Part) -> Names:
    names = names_of(part)
    if 0 < len(names) <= MOST_LISTED:
        return _listed(distribution, part, names)
    own = distribution if part.column is None else distribution.marginal(part.column)
    for threshold in HEAVY:
        hitters = own.heavy_hitters(threshold)
        if len(hitters) >= FEW:
            break
    if not hitters:  # leaves are larger than anything that has a name of its own
        hitters = own.heavy_hitters(HEAVY[0], levels=range(1, own.domain.depth + 1))
    hitters = sorted(hitters, key=lambda hitter: -hitter.mass)
    return Names(
        part.label,
        part.column,
        [_text(hitter.region) for hitter in hitters],
        [(hitter.level, hitter.code) for hitter in hitters],
        np.array([hitter.mass for hitter in hitters]),
        _heavy_doubts(distribution, [part.region(hitter.region) for hitter in hitters[:MOST_LISTED]], len(hitters)),
        nested=not names,
    )


def _heavy_doubts(distribution: Distribution, regions: Sequence[Any], size: int) -> Floats:
    """How far off the first of so many shares may be; 0 in a domain that has no regions."""
    found = np.zeros(size)
    with contextlib.suppress(DomainError):
        found[: len(regions)] = doubts(distribution, regions)
    return found


def _listed(distribution: Distribution, part: Part, names: tuple[Any, ...]) -> Names:
    """All categories, the fullest first, and null."""
    values = [*names, *([None] if part.nullable else [])]
    shares = masses(distribution, [part.region(value) for value in values])
    domain = Nullable(part.domain) if part.nullable else part.domain
    codes = domain.encode(values, level=domain.depth).tolist()
    order = np.argsort(-shares, kind="stable").tolist()
    return Names(
        part.label,
        part.column,
        [_text(values[place]) for place in order],
        [(domain.depth, codes[place]) for place in order],
        shares[order],
        doubts(distribution, [part.region(values[place]) for place in order]),
        nested=False,
    )


def _text(region: Any) -> str:
    """A region in the records' own terms."""
    if region is None:
        return "missing"
    if isinstance(region, list | tuple):
        return ", ".join(map(str, region[:3])) + (f" and {len(region) - 3} more" if len(region) > 3 else "")
    return str(region)


def _maps(distribution: Distribution, sides: Sequence[Axis | NameAxis], most: int) -> list[Map]:
    """Pairs of parts, those of one point first."""
    pairs = sorted(combinations(sides, 2), key=lambda pair: pair[0].part.domain is not pair[1].part.domain)
    found = []
    for across, up in pairs[:most]:
        if isinstance(across, NameAxis):  # names are easier to read one below the other
            across, up = up, across
        found.append(Map(across, up, *survey(distribution, across.regions, up.regions)))
    return found

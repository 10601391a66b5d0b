"""Domain of points on Earth.

Cells are rectangles of longitude and latitude, so points are encoded as in a
box. Areas and distances are those on a sphere, computed with `sphere`.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.allocation import Allocation
from privhp.core.cells import Codes, Floats
from privhp.core.number_format import round_end
from privhp.domains.comparisons import box_advice, parse_number, single_comparison
from privhp.domains.conversion import as_points
from privhp.domains.decimal_lattice import LatticeAxes, LatticeAxis, Step, add_decimals, make_axes, make_axis
from privhp.domains.domain import Domain
from privhp.domains.fields import Field, FieldKind
from privhp.domains.grid import GridDomain
from privhp.domains.parallels import Parallels
from privhp.domains.plot_scale import PlotScale, ScaleKind
from privhp.domains.shares import AxisShares, product_share
from privhp.domains.validation import (
    check_float_dtype,
    check_number,
    contains_float,
    quote,
    round_inwards,
    round_outwards,
    typed_arguments,
)
from privhp.errors import DomainError
from privhp.kernels import CellSides, Grid

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate

EARTH_RADIUS = 6371.0088
"""Mean radius in kilometres."""

TURN = 360.0


class Geo(GridDomain):
    """Points (longitude, latitude) in degrees, on the globe or between declared bounds.

    Distances are in kilometres on a sphere of the Earth's mean radius, and the
    base measure is area. Each level splits all longitudes or all latitudes,
    whichever side of a cell is longer on average in kilometres. So the cells of
    a level span equal angles and are smaller towards the poles.

    Longitudes from -180 to 180 and from 0 to 360 are equivalent, up to
    rounding. Points out of bounds are dropped, as are longitudes more than 360
    degrees from the bounds and latitudes beyond 90. Samples have longitudes
    from -180 to below 180.

    With `step` the values of both coordinates are the decimals with this step
    between the bounds, as those of an `Interval` with a step, and each value
    has the area of its part of the parallel.

    A region is a tuple (west, south, east, north), like the bounds, with None
    for an open south or north, or for both west and east.

    Args:
        west: Western bound between -180 and 180, public knowledge.
        south: Southern bound between -90 and 90.
        east: Eastern bound, less than `west` if the antimeridian lies between them.
        north: Northern bound.
        step: Distance of neighbouring values in degrees, public knowledge, as a decimal: "0.0001" for four digits.
        dtype: Type of samples, public knowledge: "float64" or "float32". With "float32" the domain has fewer levels,
            and the bounds are rounded outwards. Records may have any type of number.
    """

    kind: ClassVar[str] = "geo"
    region_form = "(west, south, east, north)"

    def __init__(
        self,
        west: float = -180,
        south: float = -90,
        east: float = 180,
        north: float = 90,
        *,
        step: Step | None = None,
        dtype: Any = "float64",
    ) -> None:
        own = check_float_dtype(dtype)
        bounds = [
            (_longitude(west, "west"), _longitude(east, "east")),
            (_latitude(south, "south"), _latitude(north, "north")),
        ]
        if step is None:
            bounds = [round_outwards(*pair, own) for pair in bounds]
        (self.west, self.east), (self.south, self.north) = bounds
        if self.south >= self.north:
            raise DomainError(f"expected south below north, got {self.south} and {self.north}")
        turn = TURN * (self.west > self.east)
        end = self.east + turn if step is None else add_decimals(self.east, turn)
        if end == self.west:
            raise DomainError(
                f"expected west and east to differ, got {self.west} and {self.east}; the globe is -180 to 180"
            )
        degree = math.radians(EARTH_RADIUS)
        self._parallels = Parallels(
            make_axis(self.south, self.north, own, step=step, unit=degree, name="the latitudes")
        )
        if step is not None and end - self.west == TURN:  # the last meridian of the globe is its first
            end = add_decimals(end, -add_decimals(step, 0))
        unit = degree * self._parallels.mean_cosine
        self._longitudes = make_axis(self.west, end, own, step=step, unit=unit, name="the longitudes")
        self.axes = (self._longitudes, self._parallels.axis)
        super().__init__(make_axes(self.axes, clamp=False), own)

    def __repr__(self) -> str:
        ends = (self.west, self.south, self.east, self.north)
        given = "" if ends == (-180, -90, 180, 90) else ", ".join(f"{end:.15g}" for end in ends)
        return f"Geo({(given + typed_arguments(self._typed())).removeprefix(', ')})"

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Points as the declared type; a longitude that is rounded to 180 becomes -180."""
        points = super().to_output(records)
        if self.dtype != np.float64:
            points[points[:, 0] == 180, 0] = -180
        return points

    def fields(self) -> tuple[Field, ...]:
        return tuple(
            Field(name, FieldKind.REAL, accepts=self.accepts, declared_as=self.kind)
            for name in ("longitude", "latitude")
        )

    def encode(self, records: Any, *, level: int) -> Codes:
        points = as_points(records, width=2)
        longitudes = points[:, 0]
        with np.errstate(invalid="ignore"):  # a warning could reveal a record
            lowest, highest = longitudes.min(initial=np.inf), longitudes.max(initial=-np.inf)
        grid, *others = self._turned_grids(level)
        codes = kernels.encode_grid(points, grid)
        for grid in others:
            if not (highest < grid.low[0] or lowest > grid.high[0]):
                np.minimum(codes, kernels.encode_grid(points, grid), out=codes)  # OUTSIDE is above all codes
        return codes

    def _turned_grids(self, level: int) -> list[Grid]:
        """Grid of a level, and the same shifted by 360 and -360 degrees."""
        grid = self._axes.grid(level)
        turns = [np.array([degrees, 0.0]) for degrees in (0.0, TURN, -TURN)]
        return [grid._replace(low=grid.low + turn, high=grid.high + turn) for turn in turns]

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample longitudes and shares of area on a grid, then convert the shares to latitudes."""
        codes, levels, counts = allocation.codes, allocation.levels, allocation.counts
        points = kernels.sample_grid_allocation(allocation, self._longitude_sides, balanced=balanced, rng=rng, out=out)
        if isinstance(self._axes, LatticeAxes):
            points[:, 0] = self._axes.values(0, points[:, 0], codes, levels, allocation.owner)
        if self._longitudes.high > 180:
            points[:, 0] = self._turned_back(points[:, 0])
        rows = np.empty((3, codes.size))
        for level in np.unique(levels).tolist():
            chosen = levels == level
            own = self._axes.cells(codes[chosen], level=level)[:, 1]
            rows[:, chosen] = self._parallels.rows(own, bits=self._bits(level)[1])
        points[:, 1] = self._parallels.sample(points[:, 1], (rows[0], rows[1], rows[2]), times=counts)
        return points

    sample_cells = Domain.sample_cells  # uses `sample_allocation`; that of the grid is uniform in latitude

    @cached_property
    def _longitude_sides(self) -> CellSides:
        """Sides of the cells of every level, with the interval [0, 1] for the latitudes."""
        masks, low, width, margin = self._axes.cell_sides
        columns = masks * np.array([1, 0], dtype=np.uint64)
        return CellSides(columns, *np.array([[low[0], 0.0], [width[0], 1.0], [margin[0], 0.0]]))

    def _turned_back(self, longitudes: Floats) -> Floats:
        """Longitudes from -180 to below 180."""
        turned = longitudes - TURN * (longitudes >= 180)
        return self._longitudes.lattice.round(turned) if isinstance(self._longitudes, LatticeAxis) else turned

    def _bits(self, level: int) -> list[int]:
        """Number of splits of each axis."""
        return self._axes.bits(level)

    def measure(self, codes: Codes, *, level: int) -> Floats:
        columns, rows = self._axes.cells(codes, level=level).T
        across, up = self._bits(level)
        _, units, count = self._longitudes.strips(columns, bits=across)
        return self._parallels.measure(rows, bits=up) * (units / count)

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        return product_share(part.share for part in self.axis_shares(region, codes, level=level))

    def axis_cells(self, codes: Codes, *, level: int) -> list[tuple[Codes, int]]:
        return self._axes.axis_cells(codes, level=level)

    def axis_shares(self, region: Any, codes: Codes, *, level: int) -> list[AxisShares]:
        """Shares of longitudes, and of area between latitudes."""
        west, south, east, north = _region(region)
        columns, rows = self.axis_cells(codes, level=level)
        return [AxisShares(0, self._across(west, east, *columns)), AxisShares(1, self._up(south, north, *rows))]

    def _across(self, west: float, east: float, cells: Codes, bits: int) -> Floats:
        """Share of each column of cells between longitudes."""
        if east - west == TURN:
            return np.ones(cells.shape)
        share = np.zeros(cells.shape)
        for piece in self._pieces(west, east):
            if contains_float(*piece, self._region_dtype):
                share += self._longitudes.within(*piece, cells, bits=bits)
        return share

    def _up(self, south: float, north: float, cells: Codes, bits: int) -> Floats:
        """Share of the area of each row of cells between latitudes."""
        if south <= self.south and north >= self.north:
            return np.ones(cells.shape)
        return self._parallels.within(south, north, cells, bits=bits) * contains_float(south, north, self._region_dtype)

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        west, south, east, north = _region(region)
        columns, rows = self._axes.cells(codes, level=level).T
        bits, up = self._bits(level)
        shares, heights, turns = rng.random((3, codes.size))
        pieces = self._pieces(west, east)
        pieces = [round_inwards(*piece, self._region_dtype) for piece in pieces]
        longitudes = self._longitudes.draw(*pieces[0], columns, bits=bits, shares=shares)
        if len(pieces) > 1:
            widths = [self._longitudes.within(*piece, columns, bits=bits) for piece in pieces]
            others = self._longitudes.draw(*pieces[1], columns, bits=bits, shares=shares)
            longitudes = np.where(turns * (widths[0] + widths[1]) < widths[0], longitudes, others)
        latitudes = self._parallels.draw(south, north, rows, bits=up, shares=heights, dtype=self._region_dtype)
        return np.stack([self._turned_back(longitudes), latitudes], axis=1)

    def describe(self, code: int, *, level: int) -> tuple[float, float, float, float]:
        cells, bits = self._axes.cells(np.array([code], dtype=np.uint64), level=level)[0].tolist(), self._bits(level)
        (west, east), (south, north) = (axis.ends(*own) for axis, *own in zip(self.axes, cells, bits, strict=True))
        turned = self._turned_back(np.array([west, east])).tolist()
        return turned[0], south, turned[1] if east > 180 else east, north

    def _pieces(self, west: float, east: float) -> list[tuple[float, float]]:
        """Ranges of longitude of a region within the bounds: one, or one at each end if it crosses the bounds."""
        begin, end = self._longitudes.bounds
        if east - west == TURN:
            return [(begin, end)]
        early, late = west < begin, east < begin
        first, last = west + TURN * early, east + TURN * late
        passes_begin = west > east if early == late else early  # the rounded sums could hide it
        if passes_begin or last == begin + TURN:  # the last meridian of the globe is its first
            return [(first, begin + TURN), (begin, last if passes_begin else begin)]
        return [(first, last)]

    def diameter(self, level: int) -> float:
        return self._diameters[level]

    @cached_property
    def _diameters(self) -> list[float]:
        """Diameter of each level, non-increasing despite rounding."""
        bits = [self._bits(level) for level in range(self.depth + 1)]
        angles = [self._parallels.widest_angle(self._longitudes.length(across), bits=up) for across, up in bits]
        return [EARTH_RADIUS * angle for angle in itertools.accumulate(angles, min)]

    def format_distance(self, distance: float) -> str:
        units = {"km": 1.0, "m": 1e-3, "cm": 1e-5, "mm": 0.0}
        name = next(name for name, unit in units.items() if distance >= unit) if distance > 0 else "m"
        unit = units[name] or 1e-6
        return f"{super().format_distance(distance / unit)} {name}"

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        """WEST:SOUTH:EAST:NORTH after `in`."""
        if advice := box_advice(comparisons, names):
            raise DomainError(f"expected {','.join(names)} in WEST:SOUTH:EAST:NORTH{advice}")
        comparison = single_comparison(comparisons)
        values = comparison.values if comparison.sign == "in" and len(comparison.names) == 2 else []
        ends = [[parse_number(end) for end in value.split(":")] for value in values]
        if [len(own) for own in ends] != [4]:
            raise DomainError(
                f"expected {','.join(names)} in WEST:SOUTH:EAST:NORTH, such as in -9:49.8:2:61, got {comparison}"
            )
        return tuple(ends[0])

    def format_region(self, region: Any, label: str) -> str:
        return f"{label} in {':'.join(map(repr, region))}"

    def round_region(self, region: Any) -> Any:
        return tuple(map(round_end, region))

    def everything(self) -> Any:
        return None, None, None, None

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        kind: ScaleKind = "longitude" if coordinate == 0 else "latitude"
        return PlotScale(kind, *self.axes[coordinate].bounds, step=float(self.step or 0))

    def coordinate_region(self, coordinate: int, region: Any) -> Any:
        """Region between two meridians, whose longitudes may exceed 180, or between two parallels."""
        low, high = region
        if coordinate == 1:
            return None, low, None, high
        if high - low >= TURN:
            return None, None, None, None
        return low - TURN * (low >= 180), None, high - TURN * (high > 180), None

    def parameters(self) -> dict[str, Any]:
        return {"west": self.west, "south": self.south, "east": self.east, "north": self.north, **self._typed()}


def _longitude(value: Any, name: str) -> float:
    return _within(value, name, 180)


def _latitude(value: Any, name: str) -> float:
    return _within(value, name, 90)


def _within(value: Any, name: str, limit: int) -> float:
    degrees = float(check_number(value, name))
    if abs(degrees) > limit:
        raise DomainError(f"expected {name} between -{limit} and {limit} degrees, got {degrees}")
    return degrees


def _region(region: Any) -> tuple[float, float, float, float]:
    """Sides of a region, with numbers for open sides."""
    if not isinstance(region, list | tuple) or len(region) != 4:
        raise DomainError(f"expected a region as {Geo.region_form}, got {quote(region)}")
    west, south, east, north = region
    if (west is None) != (east is None):
        raise DomainError("expected both west and east of a region, or None for both, got one of them")
    west, east = (-180, 180) if west is None else (_longitude(west, "west"), _longitude(east, "east"))
    south, north = (
        -90 if south is None else _latitude(south, "south"),
        90 if north is None else _latitude(north, "north"),
    )
    if south > north:
        raise DomainError(f"expected a region whose south is not above its north, got {south} and {north}")
    return west, south, east, north

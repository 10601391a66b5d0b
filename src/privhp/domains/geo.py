"""Points on Earth as a domain.

Cells are rectangles of longitude and latitude, so points are encoded as in a
box. Areas and distances on the sphere are here and in `sphere`.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.allocation import Allocation
from privhp.core.cells import Codes, Floats
from privhp.domains.comparisons import parse_number, single_comparison
from privhp.domains.condition_grammar import Comparison
from privhp.domains.conversion import as_points
from privhp.domains.domain import Domain
from privhp.domains.fields import Field, FieldKind
from privhp.domains.grid import Axes, GridDomain, check_axis, make_axis
from privhp.domains.plot_scale import PlotScale, ScaleKind
from privhp.domains.shares import ALMOST_ONE, share_between
from privhp.domains.sphere import Zone
from privhp.domains.validation import (
    check_float_dtype,
    check_number,
    contains_float,
    dtype_argument,
    quote,
    round_inwards,
    round_outwards,
)
from privhp.errors import DomainError
from privhp.kernels import CellSides, Grid

EARTH_RADIUS = 6371.0088
"""Mean radius in kilometres."""

TURN = 360.0

_LEAST = 2.0**-200
"""Share of a cell's area that what is not empty has at least."""


class Geo(GridDomain):
    """Places given as (longitude, latitude) in degrees, on the whole globe or between declared bounds.

    Distance is in kilometres on a sphere of the Earth's mean radius, and the
    base measure is area. Each level cuts either all longitudes or all
    latitudes in two, whichever side of a cell is longer on the ground on the
    average. So cells of a level span equal angles, and are smaller towards the
    poles.

    Longitudes may be written from -180 to 180 or from 0 to 360: a place has
    the same cell either way, to rounding. Places out of bounds are dropped,
    with longitudes more than a turn from the bounds and latitudes beyond 90.
    Samples have longitudes from -180 to below 180.

    Regions are written as the bounds are, (west, south, east, north), with
    None for an open south or north, or for both west and east.

    Args:
        west: Western bound between -180 and 180, public knowledge.
        south: Southern bound between -90 and 90.
        east: Eastern bound, less than `west` if the antimeridian lies between them.
        north: Northern bound.
        dtype: Type of samples, public knowledge: "float64", or "float32", which has fewer levels, and to which bounds
            are rounded outwards. Records may have any.
    """

    kind: ClassVar[str] = "geo"

    def __init__(
        self, west: float = -180, south: float = -90, east: float = 180, north: float = 90, *, dtype: Any = "float64"
    ) -> None:
        own = check_float_dtype(dtype)
        self.west, self.east = round_outwards(_longitude(west, "west"), _longitude(east, "east"), own)
        self.south, self.north = round_outwards(_latitude(south, "south"), _latitude(north, "north"), own)
        if self.south >= self.north:
            raise DomainError(f"expected south below north, got {self.south} and {self.north}")
        end = self.east + TURN * (self.west > self.east)
        if end == self.west:
            raise DomainError(
                f"expected west and east apart, got {self.west} and {self.east}; all the way round is -180 to 180"
            )
        degree = math.radians(EARTH_RADIUS)
        self._latitudes = make_axis(self.south, self.north, own, unit=degree)
        check_axis(self._latitudes, "the latitudes", low=self.south, high=self.north)
        self._zone = Zone(self.south, self.north)
        height = np.array(self._latitudes.width)
        self._area = float(self._zone.areas(np.zeros(()), height, height))
        # A degree of longitude is shorter, on the average over the latitudes by this factor.
        shorter = self._area / math.radians(self._latitudes.width)
        self._longitudes = make_axis(self.west, end, own, unit=degree * shorter)
        check_axis(self._longitudes, "the longitudes", low=self.west, high=self.east)
        self.axes = (self._longitudes, self._latitudes)
        super().__init__(Axes(self.axes, clamp=False), own)

    def __repr__(self) -> str:
        ends = (self.west, self.south, self.east, self.north)
        given = "" if ends == (-180, -90, 180, 90) else ", ".join(f"{end:.15g}" for end in ends)
        return f"Geo({(given + dtype_argument(self._typed())).removeprefix(', ')})"

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Places of the declared type; a longitude that is rounded to 180 is -180."""
        places = super().to_output(records)
        if self.dtype != np.float64:
            places[places[:, 0] == 180, 0] = -180
        return places

    def fields(self) -> tuple[Field, ...]:
        return tuple(
            Field(name, FieldKind.REAL, accepts=self.accepts, declared_as=self.kind)
            for name in ("longitude", "latitude")
        )

    def encode(self, records: Any, *, level: int) -> Codes:
        places = as_points(records, width=2)
        longitudes = places[:, 0]
        with np.errstate(invalid="ignore"):  # NumPy says nothing about a record
            lowest, highest = longitudes.min(initial=np.inf), longitudes.max(initial=-np.inf)
        grid, *others = self._turned_grids(level)
        codes = kernels.encode_grid(places, grid)
        for grid in others:
            if not (highest < grid.low[0] or lowest > grid.high[0]):
                np.minimum(codes, kernels.encode_grid(places, grid), out=codes)  # OUTSIDE is above all codes
        return codes

    def _turned_grids(self, level: int) -> list[Grid]:
        """The grid of a level as it is, and a full turn further on and back."""
        grid = self._axes.grid(level)
        turns = [np.array([degrees, 0.0]) for degrees in (0.0, TURN, -TURN)]
        return [grid._replace(low=grid.low + turn, high=grid.high + turn) for turn in turns]

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample longitudes and shares of area on a grid, then turn the shares into latitudes."""
        codes, levels, counts = allocation.codes, allocation.levels, allocation.counts
        places = kernels.sample_grid_allocation(allocation, self._longitude_sides, balanced=balanced, rng=rng, out=out)
        if self._longitudes.high > 180:
            places[:, 0] -= TURN * (places[:, 0] >= 180)
        rows, steps = np.empty(codes.shape), np.empty(codes.shape)
        for level in np.unique(levels).tolist():
            chosen = levels == level
            rows[chosen], steps[chosen] = self._rows(codes[chosen], level), self._step(level)
        latitudes = self._zone.latitudes_at(places[:, 1], rows, steps, times=counts)
        lowest = self.south + rows * steps + self._latitudes.margin
        highest = lowest + (steps - 2 * self._latitudes.margin)
        np.clip(latitudes, np.repeat(lowest, counts), np.repeat(highest, counts), out=places[:, 1])
        return places

    sample_cells = Domain.sample_cells  # by `sample_allocation`: the grid samples uniform latitudes, not areas

    @cached_property
    def _longitude_sides(self) -> CellSides:
        """The sides of the cells of every level, with the whole interval [0, 1] in place of latitudes."""
        axis = self._longitudes
        masks = np.array([[self._axes.grid(level).masks[0], 0] for level in range(self.depth + 1)], dtype=np.uint64)
        return CellSides(masks, *np.array([[axis.low, 0.0], [axis.width, 1.0], [axis.margin, 0.0]]))

    def _rows(self, codes: Codes, level: int) -> Codes:
        """The row of each cell, counted from the south."""
        return self._axes.cells(codes, level=level)[..., 1]

    def _step(self, level: int) -> float:
        """Height of a row in degrees."""
        return self._latitudes.width * 2.0 ** -self._bits(level)[1]

    def _bits(self, level: int) -> list[int]:
        """How often each axis has been cut."""
        bits: list[int] = self._axes.grid(level).bits.tolist()
        return bits

    def measure(self, codes: Codes, *, level: int) -> Floats:
        steps = np.full(codes.shape, self._step(level))
        return self._zone.areas(self._rows(codes, level), steps, steps) / self._area * 2.0 ** -self._bits(level)[0]

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        west, south, east, north = _region(region)
        columns, rows = self._axes.cells(codes, level=level).T
        across = np.zeros(codes.shape)
        for piece in self._pieces(west, east):
            if contains_float(*piece, self.dtype):
                across += self._longitudes.within(*piece, columns, bits=self._bits(level)[0])
        (lower, first), (upper, last) = (self._below(end, rows, level) for end in (south, north))
        # Near a pole areas are so small that they are lost in the rounding of larger ones.
        some = (last > first) & contains_float(south, north, self.dtype)
        up = np.where(some, np.maximum(share_between(lower, upper), _LEAST), 0.0)
        return across * np.where((first > 0) | (last < 1), np.minimum(up, ALMOST_ONE), up)

    def _below(self, latitude: float, rows: Codes, level: int) -> tuple[Floats, Floats]:
        """Share of each row's area below a latitude, and share of its height."""
        latitudes = np.clip(np.full(rows.shape, latitude), self.south, self.north)
        share = self._latitudes.cell_cdf(latitudes, rows, bits=self._bits(level)[1])
        area = share.copy()
        cut = (share > 0) & (share < 1)
        own, steps = rows[cut], np.full(int(cut.sum()), self._step(level))
        area[cut] = self._zone.areas(own, steps, share[cut] * steps) / self._zone.areas(own, steps, steps)
        return area, share

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        west, south, east, north = _region(region)
        columns, rows = self._axes.cells(codes, level=level).T
        bits = self._bits(level)[0]
        shares, heights, turns = rng.random((3, codes.size))
        pieces = self._pieces(west, east)
        pieces = [round_inwards(*piece, self.dtype) for piece in pieces]
        longitudes = self._longitudes.draw(*pieces[0], columns, bits=bits, shares=shares)
        if len(pieces) > 1:
            widths = [self._longitudes.within(*piece, columns, bits=bits) for piece in pieces]
            others = self._longitudes.draw(*pieces[1], columns, bits=bits, shares=shares)
            longitudes = np.where(turns * (widths[0] + widths[1]) < widths[0], longitudes, others)
        longitudes -= TURN * (longitudes >= 180)
        lower, upper = (self._below(end, rows, level)[0] for end in (south, north))
        steps, once = np.full(codes.shape, self._step(level)), np.ones(codes.shape, dtype=np.int64)
        latitudes = self._zone.latitudes_at(lower + heights * (upper - lower), rows, steps, times=once)
        lowest = self.south + rows * steps + self._latitudes.margin
        highest = lowest + (steps - 2 * self._latitudes.margin)
        latitudes = np.clip(np.clip(latitudes, lowest, highest), *round_inwards(south, north, self.dtype))
        return np.stack([longitudes, latitudes], axis=1)

    def describe(self, code: int, *, level: int) -> tuple[float, float, float, float]:
        cells, bits = self._axes.cells(np.array([code], dtype=np.uint64), level=level)[0].tolist(), self._bits(level)
        (west, east), (south, north) = (axis.ends(*own) for axis, *own in zip(self.axes, cells, bits, strict=True))
        return west - TURN * (west >= 180), south, east - TURN * (east > 180), north

    def _pieces(self, west: float, east: float) -> list[tuple[float, float]]:
        """What a region has of the longitudes: one stretch, or one at either end of them."""
        begin, end = self._longitudes.low, self._longitudes.high
        if east - west == TURN:
            return [(begin, end)]
        early, late = west < begin, east < begin
        first, last = west + TURN * early, east + TURN * late
        passes_begin = west > east if early == late else early  # which rounding could hide from the sums
        return [(first, begin + TURN), (begin, last)] if passes_begin else [(first, last)]

    def diameter(self, level: int) -> float:
        return self._diameters[level]

    @cached_property
    def _diameters(self) -> list[float]:
        """Of each level; rounding must not make one grow."""
        bits = [self._bits(level) for level in range(self.depth + 1)]
        angles = [self._zone.widest_angle(self._longitudes.width * 2.0**-across, 2**up) for across, up in bits]
        return [EARTH_RADIUS * angle for angle in itertools.accumulate(angles, min)]

    def format_distance(self, distance: float) -> str:
        kilometres = distance >= 1
        return f"{super().format_distance(distance if kilometres else 1000 * distance)} {'km' if kilometres else 'm'}"

    def parse_region(self, comparisons: Sequence[Comparison], names: Sequence[str]) -> Any:
        """WEST:SOUTH:EAST:NORTH after `in`."""
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

    def everything(self) -> Any:
        return None, None, None, None

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        kind: ScaleKind = "longitude" if coordinate == 0 else "latitude"
        return PlotScale(kind, self.axes[coordinate].low, self.axes[coordinate].high)

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
    """The sides of a region, all of them known."""
    if not isinstance(region, list | tuple) or len(region) != 4:
        raise DomainError(f"expected a region as (west, south, east, north), got {quote(region)}")
    west, south, east, north = region
    if (west is None) != (east is None):
        raise DomainError("expected west and east of a region both or neither: on a circle there is no open side")
    west, east = (-180, 180) if west is None else (_longitude(west, "west"), _longitude(east, "east"))
    south, north = (
        -90 if south is None else _latitude(south, "south"),
        90 if north is None else _latitude(north, "north"),
    )
    if south > north:
        raise DomainError(f"expected a region whose south is not above its north, got {south} and {north}")
    return west, south, east, north

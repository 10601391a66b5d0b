"""Grids of real numbers: one axis, and several axes that are split in turn.

This module bounds the rounding errors of all grids. Encoding is a monotone map
from floats to cells, clamped to the grid, and a cell is at least sixteen floats
wide.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.allocation import Allocation, CellDraws, store_records
from privhp.core.bits import BitPermutation
from privhp.core.cells import MAX_DEPTH, Codes, Floats
from privhp.domains.comparisons import continuous_range
from privhp.domains.domain import NUMERIC, Domain
from privhp.domains.shares import MIN_SHARE, share_between
from privhp.domains.split_order import split_masks, split_order
from privhp.domains.unions import Ends
from privhp.errors import DomainError
from privhp.kernels import CellSides, Grid


def spacing_at(number: float, dtype: np.dtype[Any]) -> float:
    """Spacing of the floats of a type at a positive number."""
    own = np.finfo(dtype)
    return max(math.ldexp(1.0, math.frexp(number)[1] - 1 - own.nmant), float(own.smallest_subnormal))


class Axis:
    """Range of real numbers with 2**bits cells of equal width.

    `depth` is the largest number of bits at which every cell holds sixteen
    floats, or sixteen integers on an axis of integers. Rounding moves a number
    by less than three spacings when drawn and less than four when encoded, so a
    number drawn at least eight spacings from the edges of a cell encodes to that
    cell.

    Args:
        low: Lower end.
        high: Upper end.
        integer: Whether the numbers are integers.
        unit: Distance of two numbers whose difference is 1.
        spacing: Spacing of the numbers, where samples have a coarser type than float64.
    """

    def __init__(
        self, low: float, high: float, *, integer: bool = False, unit: float = 1.0, spacing: float = 0.0
    ) -> None:
        self.low, self.high, self.integer, self.unit, self.spacing = low, high, integer, unit, spacing

    step: str | None = None
    """Distance of neighbouring values as a decimal; None for all real numbers."""

    @property
    def bounds(self) -> tuple[float, float]:
        """First and last number."""
        return self.low, self.high

    @property
    def extent(self) -> tuple[float, float]:
        """Ends of the cells of the axis."""
        return self.low, self.high

    @cached_property
    def width(self) -> float:
        """Length of the range, rounded."""
        return self.high - self.low

    @cached_property
    def rate(self) -> float:
        """Reciprocal of the width."""
        return 1.0 / self.width

    @cached_property
    def depth(self) -> int:
        """Largest number of bits of this axis; below 1 if its ends are too close."""
        if not math.isfinite(self.width) or self.width <= 0 or not math.isfinite(2.0**MAX_DEPTH / self.width):
            return 0
        return math.frexp(self.width / self._spacing)[1] - 5

    @property
    def margin(self) -> float:
        """Smallest distance of drawn numbers from the edges of their cell."""
        return 8 * self._spacing

    @property
    def _spacing(self) -> float:
        """Largest spacing of neighbouring numbers."""
        return max(math.ulp(max(abs(self.low), abs(self.high))), float(self.integer), self.spacing)

    def length(self, bits: int) -> float:
        """Largest difference of two numbers in a cell."""
        return self.width * 2.0**-bits

    def side(self, bits: int) -> float:
        """Diameter of a cell."""
        return self.length(bits) * self.unit

    def strips(self, cells: Codes, *, bits: int) -> tuple[Floats, Floats, float]:
        """Cells in equal units of the extent: units before each cell, units in it, and units of the extent."""
        return cells.astype(np.float64), np.ones(cells.shape), 2.0**bits

    def points(self, cells: Codes, shares: Floats, *, bits: int) -> Floats:
        """The number at a share of each cell; a share of 1 is its upper end, up to rounding."""
        numbers = self.low + (cells + shares) * (self.width * 2.0**-bits)
        return np.minimum(np.rint(numbers) if self.integer else numbers, self.high)

    def cell_cdf(self, numbers: Floats, cells: Codes, *, bits: int) -> Floats:
        """Share of the i-th cell below the i-th number; 0 or 1 where the number is in another cell."""
        share: Floats = np.clip(self._offsets(numbers, cells, bits), 0.0, 1.0)
        return share

    def _offsets(self, numbers: Floats, cells: Codes, bits: int) -> Floats:
        """Distance of each number from the lower end of its cell, in cells; the upper end of the axis is exact."""
        positions = (numbers - self.low) * (1.0 / self.width * 2.0**bits)
        offsets: Floats = np.where(numbers < self.high, positions, 2.0**bits) - cells
        return offsets

    def within(self, low: float, high: float, cells: Codes, *, bits: int) -> Floats:
        """Share of each cell between two numbers, both included; positive if a number between them is in the cell."""
        if low > self.high or high < self.low:
            return np.zeros(cells.shape)
        ends = np.clip(np.array([low, high], dtype=np.float64), self.low, self.high)
        first, last = (self._offsets(end, cells, bits) for end in ends)
        touched = (last >= 0) & ((first < 1) | (cells == 2**bits - 1))
        share = share_between(np.clip(first, 0.0, 1.0), np.clip(last, 0.0, 1.0))
        return np.where(touched, np.maximum(share, MIN_SHARE), 0.0)

    def span(self, low: float, high: float, cells: Codes, *, bits: int) -> tuple[Floats, Floats]:
        """Share of each cell before a range, and share of it up to the end of the range."""
        ends = np.clip([low, high], self.low, self.high)
        return self.cell_cdf(ends[0], cells, bits=bits), self.cell_cdf(ends[1], cells, bits=bits)

    def comparison_range(self, sign: str, value: str) -> Ends:
        """Range of the numbers that meet a comparison."""
        return continuous_range(sign, value)

    def ends(self, cell: int, bits: int) -> tuple[float, float]:
        """The lower and the upper end of a cell."""
        low, high = self.points(np.array([cell, cell]), np.array([0.0, 1.0]), bits=bits).tolist()
        return low, high

    def draw(self, low: float, high: float, cells: Codes, *, bits: int, shares: Floats) -> Floats:
        """The number at a share of each cell's intersection with a range, away from the edges of the cell."""
        step = self.width * 2.0**-bits
        starts = self.low + cells * step
        first, last = (np.clip(end, low, high) for end in (starts + self.margin, starts + step - self.margin))
        numbers: Floats = np.clip(first + shares * (last - first), low, high)
        return numbers


def check_axis(axis: Axis, name: str, *, low: float, high: float) -> None:
    """Refuse an axis whose ends are too close or too far apart for floating point."""
    if axis.depth < 1:
        raise DomainError(
            f"the bounds of {name}, {low} and {high}, are too close or too far apart "
            "for floating point; shift or scale the numbers"
        )


class Axes:
    """Several axes. Each level splits the axis with the longest remaining side, the first on a tie."""

    def __init__(self, axes: tuple[Axis, ...], *, clamp: bool) -> None:
        self.axes, self.clamp = axes, clamp
        self.split_axes = split_order([axis.depth for axis in axes], lambda index, bits: axes[index].side(bits))
        self._grids: dict[int, Grid] = {}

    @cached_property
    def masks(self) -> list[list[int]]:
        """Mask of the code bits of each axis, for each level."""
        return split_masks(self.split_axes, len(self.axes))

    def bits(self, level: int) -> list[int]:
        """Number of splits of each axis up to a level."""
        return [mask.bit_count() for mask in self.masks[level]]

    def grid(self, level: int) -> Grid:
        """The grid of a level."""
        if level not in self._grids:
            bits = np.array(self.bits(level), dtype=np.int64)
            self._grids[level] = Grid(
                low=np.array([axis.low for axis in self.axes]),
                high=np.array([axis.high for axis in self.axes]),
                rate=np.array([axis.rate for axis in self.axes]) * 2.0**bits,
                bits=bits,
                masks=np.array(self.masks[level], dtype=np.uint64),
                clamp=self.clamp,
            )
        return self._grids[level]

    def encode(self, points: Floats, *, level: int) -> Codes:
        """The code of each point of shape (n, d), OUTSIDE for those out of bounds or with a NaN."""
        return kernels.encode_grid(points, self.grid(level))

    def cells(self, codes: Codes, *, level: int) -> Codes:
        """The cells of each code along the axes, shape (n, d)."""
        return np.stack([BitPermutation.extract(mask)(codes) for mask in self.masks[level]], axis=-1)

    def axis_cells(self, codes: Codes, *, level: int) -> list[tuple[Codes, int]]:
        """The cells of each code along each axis, with their bits."""
        return list(zip(np.moveaxis(self.cells(codes, level=level), -1, 0), self.bits(level), strict=True))

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: Floats | None = None
    ) -> Floats:
        """Sample the allocated number of points in each cell, shape (n, d)."""
        return kernels.sample_grid_allocation(allocation, self.cell_sides, balanced=balanced, rng=rng, out=out)

    def sample_cells(self, draws: CellDraws, *, rng: np.random.Generator, out: Floats | None = None) -> Floats:
        """Sample a point in the cell of each draw, shape (n, d)."""
        if draws.size < draws.codes.size:
            draws = draws.one_each().draws()
        return kernels.sample_grid_cells(draws, self.cell_sides, rng=rng, out=out)

    @cached_property
    def cell_sides(self) -> CellSides:
        """The sides of the cells of every level."""
        masks = np.array(self.masks, dtype=np.uint64)
        low, width, margin = np.array([(axis.low, axis.width, axis.margin) for axis in self.axes]).T.copy()
        return CellSides(masks, low, width, margin)

    def measure(self, codes: Codes, *, level: int) -> Floats:
        """Share of the grid that each cell takes."""
        return np.full(codes.shape, 2.0**-level)

    def diameter(self, level: int) -> float:
        """Longest side of a cell of a level."""
        return max(axis.side(bits) for axis, bits in zip(self.axes, self.bits(level), strict=True))


class GridDomain(Domain):
    """A domain of real numbers or points on a grid.

    A record stays in its cell when it is rounded to the type of samples.
    """

    accepts = NUMERIC

    def __init__(self, axes: Axes, dtype: np.dtype[Any]) -> None:
        self._axes, self.dtype = axes, dtype
        self.step = axes.axes[0].step
        # The ends of a region are rounded inwards to the type of samples, unless these stand for decimals.
        self._region_dtype = dtype if self.step is None else np.dtype(np.float64)

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Numbers as the declared type."""
        return records.astype(self.dtype, copy=False)

    def _typed(self) -> dict[str, Any]:
        """The parameters step and dtype, unless they are the defaults."""
        step = {} if self.step is None else {"step": self.step}
        return step | ({} if self.dtype == np.float64 else {"dtype": self.dtype.name})

    @property
    def depth(self) -> int:
        """Number of levels of splits."""
        return len(self._axes.split_axes)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        """A record drawn uniformly inside each cell."""
        allocation = Allocation.one_each(codes, np.full(codes.shape, level))
        return self.sample_allocation(allocation, balanced=False, rng=rng)

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample the allocated number of records in each cell; see `Domain.sample_allocation`."""
        points = self._axes.sample_allocation(allocation, balanced=balanced, rng=rng, out=self._as_points(out))
        return store_records(self._as_records(points), out)

    def sample_cells(
        self, draws: CellDraws, *, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample a record in the cell of each draw; see `Domain.sample_cells`."""
        points = self._axes.sample_cells(draws, rng=rng, out=self._as_points(out))
        return store_records(self._as_records(points), out)

    def _as_points(self, out: NDArray[Any] | None) -> NDArray[Any] | None:
        """View of an array of records as points of shape (n, d)."""
        return None if out is None else out.reshape(-1, len(self._axes.axes))

    def _as_records(self, points: Floats) -> Floats:
        """Points of shape (n, d) as records."""
        return points

    def measure(self, codes: Codes, *, level: int) -> Floats:
        """Share of the domain that each cell takes."""
        return self._axes.measure(codes, level=level)

    def diameter(self, level: int) -> float:
        """Longest side of a cell of a level."""
        return self._axes.diameter(level)

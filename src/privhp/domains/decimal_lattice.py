"""Lattices of decimals: the values of a grid domain with a declared step.

Decimals are read exactly, as integers over a power of ten. A lattice is an
axis of real numbers that begins half a step below its first value, with as
many steps as its finest level has cells. So numbers are encoded as on any other
axis, and each number has the cell of the value nearest to it.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from privhp.core.allocation import Allocation, CellDraws
from privhp.core.bits import BitPermutation
from privhp.core.cells import Codes, Counts, Floats
from privhp.domains.comparisons import discrete_range, parse_number
from privhp.domains.grid import Axes, Axis, check_axis, spacing_at
from privhp.domains.integer_ranges import AlignedRanges
from privhp.domains.unions import Ends
from privhp.domains.validation import check_bounds, quote, round_outwards
from privhp.errors import DomainError
from privhp.kernels import CellSides

Step = str | int | float | Decimal
"""A step as a decimal; a float stands for the shortest decimal that rounds to it."""

_MAX_EXPONENT = 22
"""Largest power of ten that is a float."""


class DecimalLattice:
    """Decimals with equal steps between two bounds, both included, numbered from 0.

    Values are the floats nearest to the decimals: one division of two integers
    that floats hold exactly.

    Args:
        low: First value.
        high: Last value, a whole number of steps above the first.
        step: Distance of neighbouring values.
        dtype: Type of samples, which must hold the digits of all values.
        name: The values, for messages.
    """

    def __init__(self, low: float, high: float, step: Step, *, dtype: np.dtype[Any], name: str) -> None:
        pitch = _check_step(step)
        decimals = (_decimal(low), _decimal(high), pitch)
        digits = max(0, *(-int(own.as_tuple().exponent) for own in decimals))
        if digits > _MAX_EXPONENT or pitch > decimals[1] - decimals[0]:
            raise DomainError(
                f"expected a step between 1e-{_MAX_EXPONENT} and the width of {name}, got step {quote(step)} "
                f"between {low} and {high}"
            )
        first, last, stride = (int(Fraction(own) * 10**digits) for own in decimals)
        common = math.gcd(first, last, stride, 10**digits)
        while common % 10 == 0:
            first, last, stride, digits, common = first // 10, last // 10, stride // 10, digits - 1, common // 10
        self._first, self._stride, self._digits = first, stride, digits
        self.size = (last - first) // stride + 1
        self.low, self.high = (float(end) for end in self.values(np.array([0, self.size - 1])))
        if (last - first) % stride:
            raise DomainError(
                f"expected bounds of {name} that are a whole number of steps apart, got {low} and {high} with "
                f"step {self.step}; the last value would be {self.high!r}"
            )
        precision = np.finfo(dtype).precision
        if max(abs(first), abs(last), last - first) > 10**precision:
            raise DomainError(
                f"expected values and a width of at most {precision} digits, which {dtype} holds, got {name} from "
                f"{low} to {high} with step {self.step}; declare a larger step"
            )

    @property
    def step(self) -> str:
        """Distance of neighbouring values, as the shortest decimal."""
        text = f"{Decimal(self._stride).scaleb(-self._digits):f}"
        return text.rstrip("0").rstrip(".") if "." in text else text

    @property
    def exact_step(self) -> Fraction:
        """Distance of neighbouring values."""
        return Fraction(self._stride, 10**self._digits)

    @property
    def below(self) -> Fraction:
        """Number half a step below the first value."""
        return Fraction(self._first, 10**self._digits) - self.exact_step / 2

    def values(self, offsets: Counts) -> Floats:
        """The values with these numbers."""
        decimals: Floats = (self._first + offsets * self._stride) / 10.0**self._digits
        return decimals

    def round(self, numbers: Floats) -> Floats:
        """Numbers that differ from decimals by rounding errors alone, as the floats nearest to these decimals."""
        decimals: Floats = np.rint(numbers * 10.0**self._digits) / 10.0**self._digits
        return decimals

    def last_upto(self, numbers: Floats | float) -> Counts:
        """Number of the last value up to each number, negative if there is none.

        A number within two floats of a value, as sums of decimals are, is that value.
        """
        nearest, values, slack = self._nearest(numbers)
        return nearest - (values > numbers + slack)

    def first_from(self, numbers: Floats | float) -> Counts:
        """Number of the first value from each number on, above that of the last value if there is none."""
        nearest, values, slack = self._nearest(numbers)
        return nearest + (values < numbers - slack)

    def _nearest(self, numbers: Floats | float) -> tuple[Counts, Floats, Floats]:
        """Nearest value of each number, or the one before the first or after the last: its number, it, two floats."""
        with np.errstate(over="ignore"):
            positions = (numbers - self.low) / float(self.exact_step)
        nearest = np.rint(np.fmin(np.fmax(positions, -1.0), self.size)).astype(np.int64)  # -1 for NaN
        values = self.values(nearest)
        return nearest, values, 2 * np.spacing(np.abs(values))


class LatticeAxis(Axis):
    """The values of a lattice as an axis: each value has the numbers within half a step of it.

    A value lies in the middle of its deepest cell. Values and their differences
    are below 10**15 units, so each of the four rounding errors of an encoded
    value is below 10**15 / 2**53 < 1/9 of a step, and the value stays in its cell.

    Args:
        lattice: The values.
        unit: Distance of two values whose difference is 1.
    """

    def __init__(self, lattice: DecimalLattice, *, unit: float = 1.0) -> None:
        self.lattice, self.offsets = lattice, AlignedRanges(lattice.size)
        super().__init__(*self.extent, unit=unit)
        spacing = math.ulp(max(abs(self.low), abs(self.high)))
        while (self.high - self.low) * (self.rate * 2.0**self.depth) >= lattice.size:
            self.high -= spacing  # the middle after the last value is rounded into the last cell

    @property
    def step(self) -> str:  # type: ignore[override]  # that of the lattice
        """Distance of neighbouring values as a decimal."""
        return self.lattice.step

    @property
    def bounds(self) -> tuple[float, float]:
        """First and last value."""
        return self.lattice.low, self.lattice.high

    @property
    def extent(self) -> tuple[float, float]:
        """Half a step below the first value and above the last."""
        below, step = self.lattice.below, self.lattice.exact_step
        return float(below), float(below + self.lattice.size * step)

    @cached_property
    def width(self) -> float:
        """Length of the steps of all cells, with those past the last value."""
        return float(self.lattice.exact_step * 2**self.depth)

    @cached_property
    def rate(self) -> float:
        """Reciprocal of the width, rounded once."""
        return float(1 / (self.lattice.exact_step * 2**self.depth))

    @cached_property
    def depth(self) -> int:
        """Number of bits at which each cell is a value."""
        return self.offsets.depth

    def length(self, bits: int) -> float:
        """Largest difference of two values in a cell."""
        return float((self.offsets.largest(bits) - 1) * self.lattice.exact_step)

    def strips(self, cells: Codes, *, bits: int) -> tuple[Floats, Floats, float]:
        """Values before each cell, in it, and on the axis."""
        starts, lengths = self.offsets.ranges(cells, bits)
        return starts.astype(np.float64), lengths.astype(np.float64), float(self.lattice.size)

    def points(self, cells: Codes, shares: Floats, *, bits: int) -> Floats:
        """Smallest value of each cell with a share of the cell at or below it."""
        return self.lattice.values(self.offsets.quantile(shares, cells, bits))

    def cell_cdf(self, numbers: Floats, cells: Codes, *, bits: int) -> Floats:
        """Share of the i-th cell at or below the i-th number."""
        return self.offsets.cdf(self.lattice.last_upto(numbers), cells, bits)

    def within(self, low: float, high: float, cells: Codes, *, bits: int) -> Floats:
        """Share of each cell's values between two numbers, both included."""
        return self.offsets.share_within(*self.between(low, high), cells, bits)

    def span(self, low: float, high: float, cells: Codes, *, bits: int) -> tuple[Floats, Floats]:
        """Share of each cell's values before a range, and share of them up to its end."""
        starts, lengths = self.offsets.ranges(cells, bits)
        first, after = self.offsets.within(*self.between(low, high), cells, bits)
        sizes = np.maximum(lengths, 1)
        return (first - starts) / sizes, (after - starts) / sizes

    def draw(self, low: float, high: float, cells: Codes, *, bits: int, shares: Floats) -> Floats:
        """The value at a share of each cell's values in a range."""
        first, after = self.offsets.within(*self.between(low, high), cells, bits)
        return self.lattice.values(_pick(first, after - first, shares))

    def comparison_range(self, sign: str, value: str) -> Ends:
        """Range of the values that meet a comparison."""
        number = parse_number(value)
        around = (int(self.lattice.last_upto(number)), int(self.lattice.first_from(number)))
        ends = discrete_range(sign, value, around=around, step=1)
        first, last = (None if end is None else float(self.lattice.values(end)) for end in ends)
        return first, last

    def between(self, low: float, high: float) -> tuple[int, int]:
        """Numbers of the first and the last value in a range; the first is larger if there is none."""
        return int(self.lattice.first_from(low)), int(self.lattice.last_upto(high))


class LatticeAxes(Axes):
    """Several lattices. Samples are values: shares of a cell's sides that the kernels draw, mapped to values."""

    axes: tuple[LatticeAxis, ...]

    @cached_property
    def cell_sides(self) -> CellSides:
        """The interval [0, 1] for each side of every cell."""
        sides = len(self.axes)
        masks = np.zeros((len(self.split_axes) + 1, sides), dtype=np.uint64)
        return CellSides(masks, np.zeros(sides), np.ones(sides), np.zeros(sides))

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: Floats | None = None
    ) -> Floats:
        """Sample the allocated number of points in each cell, shape (n, d)."""
        shares = super().sample_allocation(allocation, balanced=balanced, rng=rng, out=out)
        return self._to_values(shares, allocation.codes, allocation.levels, allocation.owner)

    def sample_cells(self, draws: CellDraws, *, rng: np.random.Generator, out: Floats | None = None) -> Floats:
        """Sample a point in the cell of each draw, shape (n, d)."""
        shares = super().sample_cells(draws, rng=rng, out=out)
        return self._to_values(shares, draws.codes, draws.levels, draws.indices)

    def measure(self, codes: Codes, *, level: int) -> Floats:
        """Share of the points that each cell holds."""
        cells, bits = self.cells(codes, level=level), self.bits(level)
        shares = [axis.offsets.measure(cells[..., index], bits[index]) for index, axis in enumerate(self.axes)]
        measure: Floats = np.prod(shares, axis=0)
        return measure

    def _to_values(self, shares: Floats, codes: Codes, levels: Counts, owner: Counts) -> Floats:
        """Values at shares of the sides of their cells, in place."""
        for index in range(len(self.axes)):
            shares[:, index] = self.values(index, shares[:, index], codes, levels, owner)
        return shares

    def values(self, index: int, shares: Floats, codes: Codes, levels: Counts, owner: Counts) -> Floats:
        """Values of one axis at shares of the side of their cell."""
        axis, (starts, lengths) = self.axes[index], np.empty((2, codes.size), dtype=np.int64)
        for level in np.unique(levels).tolist():
            chosen, mask = levels == level, self.masks[level][index]
            cells = BitPermutation.extract(mask)(codes[chosen])
            starts[chosen], lengths[chosen] = axis.offsets.ranges(cells, mask.bit_count())
        return axis.lattice.values(_pick(starts[owner], lengths[owner], shares))


def make_axes(axes: tuple[Axis, ...], *, clamp: bool) -> Axes:
    """Axes of one domain: all of real numbers, or all of the values of a step."""
    return (LatticeAxes if isinstance(axes[0], LatticeAxis) else Axes)(axes, clamp=clamp)


def make_axis(
    low: Any, high: Any, dtype: np.dtype[Any], *, step: Step | None = None, unit: float = 1.0, name: str
) -> Axis:
    """An axis between two bounds, of all real numbers or of decimals with a step.

    Args:
        low: Lower bound.
        high: Upper bound.
        dtype: Type of samples. Bounds of real numbers are rounded outwards to it.
        step: Distance of neighbouring values; None for all real numbers.
        unit: Distance of two numbers whose difference is 1.
        name: The axis, for messages.
    """
    low, high = check_bounds(low, high, axis=name)
    if step is not None:
        return LatticeAxis(DecimalLattice(low, high, step, dtype=dtype, name=name), unit=unit)
    low, high = round_outwards(low, high, dtype)
    axis = Axis(low, high, unit=unit, spacing=spacing_at(max(abs(low), abs(high)), dtype))
    check_axis(axis, name, low=low, high=high)
    return axis


def add_decimals(one: Step, other: Step) -> float:
    """The float nearest to the sum of two decimals."""
    return float(_decimal(one) + _decimal(other))


def _pick(first: Counts, lengths: Counts, shares: Floats) -> Counts:
    """The number at a share of each range of numbers."""
    return first + np.minimum((shares * lengths).astype(np.int64), lengths - 1)


def _check_step(step: Any) -> Decimal:
    known = isinstance(step, str | int | float | Decimal | np.integer | np.floating) and not isinstance(step, bool)
    try:
        pitch = _decimal(step) if known else Decimal("NaN")
    except InvalidOperation:
        pitch = Decimal("NaN")
    if not pitch.is_finite() or pitch <= 0:
        raise DomainError(f'expected step as a positive decimal, such as "0.01", got {quote(step)}')
    return pitch


def _decimal(number: Any) -> Decimal:
    """The shortest decimal that rounds to a number; of text, the decimal as written."""
    return Decimal(repr(float(number)) if isinstance(number, float | np.floating) else str(number))

"""Domains of numbers: `Interval` and `Integers`."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.cells import OUTSIDE, Codes, Counts, Floats
from privhp.domains.comparisons import Ends, discrete_range, parse_number, range_region
from privhp.domains.conversion import as_floats, as_integers, floor_int64, query_numbers
from privhp.domains.domain import NUMERIC
from privhp.domains.fields import Field, FieldKind
from privhp.domains.grid import Axes, GridDomain
from privhp.domains.integer_ranges import IntegerRangeDomain
from privhp.domains.plot_scale import PlotScale
from privhp.domains.presentation import TRANSPORT
from privhp.domains.scales import LinearScale, LogScale, QuantileScale, Scale
from privhp.domains.shares import ALMOST_ONE
from privhp.domains.validation import (
    Outside,
    check_bounds,
    check_cuts,
    check_float_dtype,
    check_integer_bound,
    check_integer_dtype,
    check_outside,
    check_range,
    contains_float,
    dtype_argument,
    outside_argument,
    quote,
    round_inwards,
    round_outwards,
)
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate


class Interval(GridDomain):
    """Real numbers between two declared bounds, both included.

    With `scale="log"` cells have equal width on a logarithmic scale that is
    linear within each octave, and distances are in octaves. Positions on this
    scale come from the bits of the float, so they are exact on every machine.

    With `cuts` the base measure is piecewise uniform, with the same mass
    between any two neighbouring cuts, and the cells of a level have equal
    measure. With 1, 3, 7 ... cuts the first levels split at the cuts. Distances
    are differences of the numbers. Samples inside a cell follow the base
    measure.

    Args:
        low: Lower bound, public knowledge.
        high: Upper bound, public knowledge; it belongs to the last cell.
        scale: "linear", or "log" for positive numbers over many magnitudes.
        cuts: Guesses of evenly spaced quantiles, in increasing order, public knowledge: the median, three quartiles,
            nine deciles.
        outside: Treatment of numbers out of bounds: "drop" or "clamp" to the
            nearer bound. NaN is always dropped.
        dtype: Type of samples, public knowledge: "float64" or "float32". With "float32" the domain has fewer levels,
            and the bounds are rounded outwards. Records may have any type of number.
    """

    kind: ClassVar[str] = "interval"
    ordered: ClassVar[bool] = True
    is_line = True

    def __init__(
        self,
        low: float,
        high: float,
        *,
        scale: Literal["linear", "log"] = "linear",
        cuts: Sequence[float] | NDArray[Any] | None = None,
        outside: Outside = "drop",
        dtype: Any = "float64",
    ) -> None:
        self.dtype = check_float_dtype(dtype)
        self.low, self.high = round_outwards(*check_bounds(low, high, axis="the interval"), self.dtype)
        self.scale, self.outside = scale, outside
        check_outside(outside)
        if not isinstance(scale, str) or scale not in ("linear", "log"):
            raise DomainError(f'expected scale="linear" or scale="log", got {quote(scale)}')
        if scale == "log" and self.low <= 0:
            raise DomainError(f"expected a positive lower bound on a log scale, got {self.low}")
        self.cuts = None if cuts is None else check_cuts(cuts, self.low, self.high)
        if self.cuts is not None and scale == "log":
            raise DomainError('expected cuts or scale="log", got both; leave out one')
        self.scale_map = self._make_scale()
        self.axis = self.scale_map.axis
        super().__init__(Axes((self.axis,), clamp=outside == "clamp"), self.dtype)

    def _make_scale(self) -> Scale:
        if self.cuts is not None:
            return QuantileScale(self.low, self.high, self.cuts, self.dtype)
        return (LogScale if self.scale == "log" else LinearScale)(self.low, self.high, self.dtype)

    def __repr__(self) -> str:
        scale = ', scale="log"' if self.scale == "log" else ""
        cuts = "" if self.cuts is None else f", cuts={list(self.cuts)}"
        options = f"{scale}{cuts}{outside_argument(self.outside)}{dtype_argument(self._typed())}"
        return f"Interval({self.low:.15g}, {self.high:.15g}{options})"

    def fields(self) -> tuple[Field, ...]:
        return (Field("value", FieldKind.REAL, accepts=self.accepts, declared_as=self.kind),)

    def _positions(self, numbers: Floats) -> Floats:
        if self.outside == "clamp" and self.axis.integer:  # the grid clamps on a linear scale
            numbers = np.clip(numbers, self.low, self.high)
        return self.scale_map.positions(numbers)

    def _as_records(self, points: Floats) -> Floats:
        return self.scale_map.numbers(points[:, 0])

    def encode(self, records: Any, *, level: int) -> Codes:
        return self._axes.encode(self._positions(as_floats(records))[:, None], level=level)

    def diameter(self, level: int) -> float:
        return self.scale_map.diameter(level)

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        low, high = check_range(region, self.low, self.high)
        if low > self.high or high < self.low or not contains_float(low, high, self.dtype):
            return np.zeros(codes.shape)
        first, last = self.scale_map.positions(np.clip([low, high], self.low, self.high)).tolist()
        return self.axis.within(first, last, codes, bits=level)

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        low, high = np.clip(check_range(region, self.low, self.high), self.low, self.high)
        first, last = self.scale_map.positions(np.array([low, high])).tolist()
        positions = self.axis.draw(first, last, codes, bits=level, shares=rng.random(codes.shape))
        numbers: Floats = np.clip(self.scale_map.numbers(positions), *round_inwards(low, high, self.dtype))
        return numbers

    def describe(self, code: int, *, level: int) -> tuple[float, float]:
        low, high = self.scale_map.numbers(np.array(self.axis.ends(code, level))).tolist()
        return low, high

    def cell_cdf(self, records: Any, codes: Codes, *, level: int) -> Floats:
        numbers = np.clip(query_numbers(np.asarray(records)).astype(np.float64), self.low, self.high)
        return self.axis.cell_cdf(self.scale_map.positions(numbers), codes, bits=level)

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return self.scale_map.numbers(self.axis.points(codes, shares, bits=level))

    def format_distance(self, distance: float) -> str:
        return f"{distance:.3g} octaves" if self.scale == "log" else super().format_distance(distance)

    @property
    def distance_meaning(self) -> str:
        return f"{TRANSPORT}, in octaves (factors of two)." if self.scale == "log" else super().distance_meaning

    def everything(self) -> Any:
        return None, None

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        return PlotScale("log" if self.scale == "log" else "linear", self.low, self.high)

    @property
    def density_breaks(self) -> tuple[float, ...] | None:
        return None if self.scale == "log" else (self.low, *(self.cuts or ()), self.high)

    def parameters(self) -> dict[str, Any]:
        cuts = {} if self.cuts is None else {"cuts": list(self.cuts)}
        return {
            "low": self.low,
            "high": self.high,
            "scale": self.scale,
            **cuts,
            "outside": self.outside,
            **self._typed(),
        }


class Integers(IntegerRangeDomain):
    """Integers between two declared bounds, both included.

    Cells are aligned ranges of 2**k integers, counted from the lower bound; the
    deepest cells are single integers. Cells past the upper bound have measure
    0 and receive no mass.

    Args:
        low: Lower bound, public knowledge.
        high: Upper bound, public knowledge; within 61 bits.
        outside: Treatment of integers out of bounds: "drop" or "clamp" to
            the nearer bound. NaN and fractions are always dropped.
        dtype: Type of samples, public knowledge: "int64", or another from "int8" to "uint64" that holds the bounds.
            Records may have any type of number.
    """

    kind: ClassVar[str] = "integers"
    ordered: ClassVar[bool] = True
    is_line = True
    accepts = NUMERIC
    LIMIT: ClassVar[int] = 2**61

    def __init__(self, low: int, high: int, *, outside: Outside = "drop", dtype: Any = "int64") -> None:
        self.low = check_integer_bound(low, "the lower bound of the integers")
        self.high = check_integer_bound(high, "the upper bound of the integers")
        self.outside = outside
        check_outside(outside)
        if not self.low < self.high:
            raise DomainError(f"expected the lower bound of the integers below the upper, got {low} and {high}")
        if self.low < -self.LIMIT or self.high >= self.LIMIT:
            raise DomainError("expected integers between -2**61 and 2**61 - 1; shift or shorten them")
        self.dtype = check_integer_dtype(dtype, self.low, self.high)

    def __repr__(self) -> str:
        return f"Integers({self.low}, {self.high}{outside_argument(self.outside)}{dtype_argument(self._typed())})"

    def _typed(self) -> dict[str, Any]:
        return {} if self.dtype == np.int64 else {"dtype": self.dtype.name}

    def fields(self) -> tuple[Field, ...]:
        return (Field("value", FieldKind.INTEGER, accepts=self.accepts, declared_as=self.kind),)

    @property
    def size(self) -> int:
        """Number of integers."""
        return self.high - self.low + 1

    @property
    def depth(self) -> int:
        return (self.size - 1).bit_length()

    def encode(self, records: Any, *, level: int) -> Codes:
        return self._encode(*as_integers(records), level=level)

    def _encode(self, numbers: Counts, readable: NDArray[np.bool_], *, level: int) -> Codes:
        shift = self.depth - level
        codes = kernels.encode_integers(
            numbers, low=self.low, high=self.high, shift=shift, clamp=self.outside == "clamp"
        )
        return codes if readable.all() else np.where(readable, codes, OUTSIDE)

    def _ranges(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        """First offset and length of the range of integers in each cell."""
        shift = np.asarray(self.depth - levels, dtype=np.int64)
        starts = np.minimum(codes.astype(np.int64) << shift, self.size)
        return starts, np.minimum(self.size - starts, np.int64(1) << shift)

    def _records_at(self, numbers: Counts) -> NDArray[Any]:
        return self.low + numbers

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Integers as the declared type."""
        return records.astype(self.dtype, copy=False)

    def diameter(self, level: int) -> float:
        return float(min(2 ** (self.depth - level), self.size) - 1)

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return self._ranges(codes, level)[1] / self.size

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        low, high = check_range(region, self.low, self.high)
        return self.between(math.ceil(low), math.floor(high), codes, level=level)

    def between(self, low: int, high: int, codes: Codes, *, level: int) -> Floats:
        """Share of each cell's integers between `low` and `high`, both included; 0 if `low` exceeds `high`."""
        first, after = self._range_within(low, high, codes, level)
        inside, lengths = np.maximum(after - first, 0), self._ranges(codes, level)[1]
        share: Floats = np.where(inside < lengths, np.minimum(inside / np.maximum(lengths, 1), ALMOST_ONE), inside > 0)
        return share

    def _range_within(
        self, low: int, high: int, codes: Codes, level: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Offsets of the first integer of each cell from `low` on, and of the first one past `high`."""
        starts, lengths = self._ranges(codes, level)
        ends = [min(max(end - self.low, 0), self.size) for end in (low, high + 1)]
        return np.clip(ends[0], starts, starts + lengths), np.clip(ends[1], starts, starts + lengths)

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        low, high = check_range(region, self.low, self.high)
        return self.draw_between(math.ceil(low), math.floor(high), codes, level=level, rng=rng)

    def draw_between(
        self, low: int, high: int, codes: Codes, *, level: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A random integer of each cell between `low` and `high`, both included."""
        first, after = self._range_within(low, high, codes, level)
        return self.low + rng.integers(first, after)

    def describe(self, code: int, *, level: int) -> tuple[int, int]:
        first = self.low + (code << (self.depth - level))
        return first, min(first + (1 << (self.depth - level)) - 1, self.high)

    def cell_cdf(self, records: Any, codes: Codes, *, level: int) -> Floats:
        offsets = np.clip(floor_int64(query_numbers(np.asarray(records))), self.low - 1, self.high) - self.low + 1
        starts, lengths = self._ranges(codes, level)
        share: Floats = np.clip(offsets - starts, 0, lengths) / np.maximum(lengths, 1)
        return share

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        starts, lengths = self._ranges(codes, level)
        sizes = np.maximum(lengths, 1)
        steps = np.ceil(shares * sizes).astype(np.int64)
        # The product is rounded; these two lines restore the smallest step whose share suffices.
        steps -= (steps - 1) / sizes >= shares
        steps += steps / sizes < shares
        steps = np.where(shares < 1, steps, sizes)
        return self.low + starts + np.clip(steps - 1, 0, sizes - 1)

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        return range_region(comparisons, self._comparison_range)

    def _comparison_range(self, sign: str, value: str) -> Ends:
        number = parse_number(value)
        return discrete_range(sign, value, around=(math.floor(number), math.ceil(number)), step=1)

    def format_region(self, region: Any, label: str) -> str:
        low, high = region
        return f"{label} = {low}" if low == high else super().format_region((low, high), label)

    def everything(self) -> Any:
        return None, None

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        return PlotScale("linear", self.low, self.high + 1, integer=True)

    def parameters(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "outside": self.outside, **self._typed()}

"""Domains of numbers: `Interval` and `Integers`."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.cells import OUTSIDE, Codes, Counts, Floats
from privhp.core.number_format import format_ratio, round_end
from privhp.domains.comparisons import discrete_range, parse_number, range_condition, ranges_region
from privhp.domains.conversion import as_floats, as_integers, floor_int64, query_numbers
from privhp.domains.decimal_lattice import Step, make_axes
from privhp.domains.domain import NUMERIC
from privhp.domains.fields import Field, FieldKind
from privhp.domains.grid import GridDomain
from privhp.domains.integer_ranges import AlignedRanges, IntegerRangeDomain
from privhp.domains.plot_scale import PlotScale
from privhp.domains.presentation import TRANSPORT
from privhp.domains.scales import LinearScale, LogScale, QuantileScale, Scale
from privhp.domains.unions import Ends
from privhp.domains.validation import (
    Outside,
    check_bounds,
    check_cuts,
    check_float_dtype,
    check_integer_bound,
    check_integer_dtype,
    check_integers,
    check_outside,
    check_range,
    contains_float,
    outside_argument,
    quote,
    round_inwards,
    round_outwards,
    typed_arguments,
)
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate


class Interval(GridDomain):
    """Real numbers between two declared bounds, both included.

    With `scale="log"` cells have equal width on a logarithmic scale that is linear within each octave, and distances
    are in octaves. Positions on this scale come from the bits of the float, so they are exact on every machine.

    With `cuts` the base measure is piecewise uniform, with the same mass between any two neighbouring cuts, and the
    cells of a level have equal measure. With 1, 3, 7 ... cuts the first levels split at the cuts. Distances are
    differences of the numbers. Samples inside a cell follow the base measure.

    With `step` the values are the decimals low, low + step, ... high, and numbers between them are rounded to the
    nearest. Each deepest cell is one value, so values that are frequent in the data are frequent in samples, and
    samples are the floats nearest to the decimals: 19.99 and nothing else.

    Args:
        low: Lower bound, public knowledge.
        high: Upper bound, public knowledge; it belongs to the last cell.
        scale: "linear", or "log" for positive numbers over many magnitudes.
        cuts: Guesses of evenly spaced quantiles, in increasing order, public knowledge: the median, three quartiles,
            nine deciles.
        step: Distance of neighbouring values, public knowledge, as a decimal: "0.01" for cents. The bounds are a whole
            number of steps apart, and values and the width have at most 15 digits. On a linear scale without cuts.
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
        step: Step | None = None,
        outside: Outside = "drop",
        dtype: Any = "float64",
    ) -> None:
        self.dtype = check_float_dtype(dtype)
        low, high = check_bounds(low, high, axis="the interval")
        self.low, self.high = (low, high) if step is not None else round_outwards(low, high, self.dtype)
        self.scale, self.outside = scale, outside
        check_outside(outside)
        if not isinstance(scale, str) or scale not in ("linear", "log"):
            raise DomainError(f'expected scale="linear" or scale="log", got {quote(scale)}')
        if scale == "log" and self.low <= 0:
            raise DomainError(f"expected a positive lower bound on a log scale, got {self.low}")
        self.cuts = None if cuts is None else check_cuts(cuts, self.low, self.high)
        if self.cuts is not None and scale == "log":
            raise DomainError('expected cuts or scale="log", got both; leave out one')
        if step is not None and (self.cuts is not None or scale == "log"):
            other = "cuts" if self.cuts is not None else 'scale="log"'
            raise DomainError(f"values with a step are on a linear scale, without cuts; leave out the step or {other}")
        self.scale_map = self._make_scale(step)
        self.axis = self.scale_map.axis
        super().__init__(make_axes((self.axis,), clamp=outside == "clamp"), self.dtype)

    def _make_scale(self, step: Step | None) -> Scale:
        if self.cuts is not None:
            return QuantileScale(self.low, self.high, self.cuts, self.dtype)
        if self.scale == "log":
            return LogScale(self.low, self.high, self.dtype)
        return LinearScale(self.low, self.high, self.dtype, step)

    def __repr__(self) -> str:
        scale = ', scale="log"' if self.scale == "log" else ""
        cuts = "" if self.cuts is None else f", cuts={list(self.cuts)}"
        options = f"{scale}{cuts}{outside_argument(self.outside)}{typed_arguments(self._typed())}"
        return f"Interval({self.low:.15g}, {self.high:.15g}{options})"

    def fields(self) -> tuple[Field, ...]:
        fractional = self.step is None and self.cuts is None and self.scale == "linear"
        own = Field("value", FieldKind.REAL, accepts=self.accepts, declared_as=self.kind, fractional=fractional)
        return (own,)

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
        if low > self.high or high < self.low or not contains_float(low, high, self._region_dtype):
            return np.zeros(codes.shape)
        first, last = self.scale_map.positions(np.clip([low, high], self.low, self.high)).tolist()
        return self.axis.within(first, last, codes, bits=level)

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        low, high = np.clip(check_range(region, self.low, self.high), self.low, self.high)
        first, last = self.scale_map.positions(np.array([low, high])).tolist()
        positions = self.axis.draw(first, last, codes, bits=level, shares=rng.random(codes.shape))
        numbers = self.scale_map.numbers(positions)
        return numbers if self.step is not None else np.clip(numbers, *round_inwards(low, high, self.dtype))

    def describe(self, code: int, *, level: int) -> tuple[float, float]:
        low, high = self.scale_map.numbers(np.array(self.axis.ends(code, level))).tolist()
        return low, high

    def cell_cdf(self, records: Any, codes: Codes, *, level: int) -> Floats:
        numbers = query_numbers(np.asarray(records)).astype(np.float64)
        if self.step is None:
            numbers = np.clip(numbers, self.low, self.high)
        return self.axis.cell_cdf(self.scale_map.positions(numbers), codes, bits=level)

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return self.scale_map.numbers(self.axis.points(codes, shares, bits=level))

    def format_distance(self, distance: float) -> str:
        return format_ratio(distance) if self.scale == "log" else super().format_distance(distance)

    @property
    def distance_meaning(self) -> str:
        ratio = ", as a ratio: 5% from 100 to 105, a factor of 3 from 100 to 300" if self.scale == "log" else ""
        return f"{TRANSPORT}{ratio}."

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        return ranges_region(comparisons, self.axis.comparison_range)

    def format_region(self, region: Any, label: str) -> str:
        low, high = region
        if self.step is None:  # cells are half-open, except the last
            return range_condition(label, *map(self.format_value, region), with_high=high >= self.high)
        return f"{label} = {low}" if low == high else super().format_region(region, label)

    def round_region(self, region: Any) -> Any:
        return tuple(map(round_end, region))

    def everything(self) -> Any:
        return None, None

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        return PlotScale("log" if self.scale == "log" else "linear", self.low, self.high, step=float(self.step or 0))

    @property
    def value_step(self) -> float:  # type: ignore[override]  # fixed by the constructor
        return float(self.step or 0)

    @property
    def density_breaks(self) -> tuple[float, ...] | None:
        exact = self.scale == "log" or self.step is not None
        return None if exact else (self.low, *(self.cuts or ()), self.high)

    def parameters(self) -> dict[str, Any]:
        cuts = {} if self.cuts is None else {"cuts": list(self.cuts)}
        bounds = {"low": self.low, "high": self.high, "scale": self.scale}
        return {**bounds, **cuts, "outside": self.outside, **self._typed()}


class Integers(IntegerRangeDomain):
    """Integers between two declared bounds, both included.

    Cells are aligned ranges of 2**k integers, counted from the lower bound; the deepest cells are single integers.
    Cells past the upper bound have measure 0 and receive no mass. A region is a pair of ends, an integer or a
    collection of integers.

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
    value_step = 1.0
    LIMIT: ClassVar[int] = 2**61
    MAX_LISTED: ClassVar[int] = 128

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
        self._offsets = AlignedRanges(self.high - self.low + 1)

    def __repr__(self) -> str:
        return f"Integers({self.low}, {self.high}{outside_argument(self.outside)}{typed_arguments(self._typed())})"

    def _typed(self) -> dict[str, Any]:
        return {} if self.dtype == np.int64 else {"dtype": self.dtype.name}

    def fields(self) -> tuple[Field, ...]:
        return (Field("value", FieldKind.INTEGER, accepts=self.accepts, declared_as=self.kind),)

    @property
    def size(self) -> int:
        """Number of integers."""
        return self._offsets.size

    @property
    def depth(self) -> int:
        return self._offsets.depth

    def encode(self, records: Any, *, level: int) -> Codes:
        return self.encode_readable(*as_integers(records), level=level)

    def encode_readable(self, numbers: Counts, readable: NDArray[np.bool_], *, level: int) -> Codes:
        """The cell of each number; OUTSIDE for the numbers that are not readable."""
        shift = self.depth - level
        codes = kernels.encode_integers(
            numbers, low=self.low, high=self.high, shift=shift, clamp=self.outside == "clamp"
        )
        return codes if readable.all() else np.where(readable, codes, OUTSIDE)

    def _ranges(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        return self._offsets.ranges(codes, levels)

    def _records_at(self, numbers: Counts) -> NDArray[Any]:
        return self.low + numbers

    def to_output(self, records: NDArray[Any]) -> NDArray[Any]:
        """Integers as the declared type."""
        return records.astype(self.dtype, copy=False)

    def diameter(self, level: int) -> float:
        return float(self._offsets.largest(level) - 1)

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return self._offsets.measure(codes, level)

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        low, high = check_range(region, self.low, self.high)
        return self.between(math.ceil(low), math.floor(high), codes, level=level)

    def region_parts(self, region: Any) -> Sequence[Any]:
        """A pair of ends is a range; an integer, or each of a collection, is a range of its own."""
        return [region] if isinstance(region, tuple) else [(value, value) for value in check_integers(region)]

    def between(self, low: int, high: int, codes: Codes, *, level: int) -> Floats:
        """Share of each cell's integers between `low` and `high`, both included; 0 if `low` exceeds `high`."""
        return self._offsets.share_within(low - self.low, high - self.low, codes, level)

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        low, high = check_range(region, self.low, self.high)
        return self.draw_between(math.ceil(low), math.floor(high), codes, level=level, rng=rng)

    def draw_between(
        self, low: int, high: int, codes: Codes, *, level: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A random integer of each cell between `low` and `high`, both included."""
        return self.low + rng.integers(*self._offsets.within(low - self.low, high - self.low, codes, level))

    def describe(self, code: int, *, level: int) -> tuple[int, int]:
        first, length = (int(own[0]) for own in self._offsets.ranges(np.array([code], dtype=np.uint64), level))
        return self.low + first, self.low + first + length - 1

    def value_regions(self) -> dict[Any, Any]:
        values = range(self.low, self.high + 1) if self.size <= self.MAX_LISTED else ()
        return {value: (value, value) for value in values}

    def cell_cdf(self, records: Any, codes: Codes, *, level: int) -> Floats:
        numbers = np.clip(floor_int64(query_numbers(np.asarray(records))), self.low - 1, self.high)
        return self._offsets.cdf(numbers - self.low, codes, level)

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return self.low + self._offsets.quantile(shares, codes, level)

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        return ranges_region(comparisons, self._comparison_range)

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

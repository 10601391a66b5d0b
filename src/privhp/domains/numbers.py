"""Numbers as domains: `Interval`, `Integers` and `Box`.

Cutting the real line is where rounding could do harm, so it is done in one
place, `Axis`: a monotone map from floats to cells whose result is clamped to
the grid, and whose cells are at least sixteen floats wide.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privhp.cells import MAX_DEPTH, OUTSIDE, BitMap, Codes, Floats
from privhp.domains.base import Domain, check_outside, finite_number, shown
from privhp.domains.batches import as_floats, as_integers, as_rows, floor_int64
from privhp.errors import DomainError

Outside = Literal["drop", "clamp"]


@dataclass(frozen=True)
class Axis:
    """A stretch of the real line cut into 2**bits cells of equal width.

    `depth` is the most bits at which every cell still holds sixteen floats, or
    sixteen grains where the numbers are coarser than floats. Encoding errs by
    under five of them, so the middle of a cell encodes to it.
    """

    low: float
    high: float
    grain: float = 0.0

    @cached_property
    def width(self) -> float:
        """Length of the stretch, rounded."""
        return self.high - self.low

    @cached_property
    def depth(self) -> int:
        """Most bits this axis can be cut into; below 1 if its ends are too close."""
        if not math.isfinite(self.width) or self.width <= 0 or not math.isfinite(2.0**MAX_DEPTH / self.width):
            return 0
        spacing = max(math.ulp(max(abs(self.low), abs(self.high))), self.grain)
        return math.frexp(self.width / spacing)[1] - 5

    def cells(self, numbers: Floats, *, bits: int) -> Codes:
        """Cell of each number between the ends; the upper end is in the last cell."""
        return np.minimum(self._positions(numbers, bits), 2.0**bits - 1).astype(np.uint64)

    def _positions(self, numbers: Floats, bits: int) -> Floats:
        """Where numbers lie, counted in cells."""
        return (numbers - self.low) * (1.0 / self.width * 2.0**bits)

    def points(self, cells: Codes, shares: Floats, *, bits: int) -> Floats:
        """The number that lies at a share of each cell, 1 being its upper end, to rounding."""
        numbers = self.low + (cells + shares) * (self.width * 2.0**-bits)
        if self.grain:
            numbers = np.rint(numbers / self.grain) * self.grain
        return np.minimum(numbers, self.high)

    def numbers(self, cells: Codes, shares: Floats, *, bits: int) -> Floats:
        """The number that lies at a share of each cell; one that rounding carries out of it becomes the middle."""
        numbers = self.points(cells, shares, bits=bits)
        kept = self.cells(numbers, bits=bits) == cells
        return np.where(kept, numbers, self.low + (cells + 0.5) * (self.width * 2.0**-bits))

    def below(self, numbers: Floats, cells: Codes, *, bits: int) -> Floats:
        """Share of the i-th cell below the i-th number; 0 or 1 where the number is in another cell."""
        positions = np.where(numbers < self.high, self._positions(numbers, bits), 2.0**bits)
        share: Floats = np.clip(positions - cells, 0.0, 1.0)
        return share

    def within(self, low: float, high: float, cells: Codes, *, bits: int) -> Floats:
        """Share of each cell between two numbers."""
        ends = np.clip(np.array([low, high], dtype=np.float64), self.low, self.high)
        return self.below(ends[1], cells, bits=bits) - self.below(ends[0], cells, bits=bits)


def bounds(low: Any, high: Any, *, axis: str) -> tuple[float, float]:
    """Two declared bounds as floats, or an error that says what is wrong with them."""
    low = float(finite_number(low, f"the lower bound of {axis}"))
    high = float(finite_number(high, f"the upper bound of {axis}"))
    if not low < high:
        raise DomainError(f"expected the lower bound of {axis} below the upper, got {low} and {high}")
    return low, high


def whole_number(value: Any, name: str) -> int:
    """A declared bound as an integer, or an error that names it."""
    number = finite_number(value, name)
    if number != int(number):
        raise DomainError(f"expected a whole number for {name}, got {number}")
    return int(number)


def check_axis(axis: Axis, name: str, *, low: float, high: float) -> None:
    """Refuse an axis whose ends are too close or too far apart to be cut in floating point."""
    if axis.depth < 1:
        raise DomainError(
            f"the bounds of {name}, {low} and {high}, are too close or too far apart "
            "to be cut in floating point; shift or scale the numbers"
        )


def pair(value: Any, name: str) -> tuple[Any, Any]:
    """Two ends, or an error that names what they are the ends of."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise DomainError(f"expected {name} as a pair (low, high), got {shown(value)}")
    return value[0], value[1]


def region_ends(region: Any, low: int | float, high: int | float) -> tuple[int | float, int | float]:
    """The ends of a one-dimensional region, None being the end of the domain."""
    first, last = pair(region, "a region")
    if first is not None:
        first = finite_number(first, "the lower end of the region")
    if last is not None:
        last = finite_number(last, "the upper end of the region")
    if first is not None and last is not None and first > last:
        raise DomainError(f"expected a region whose lower end is not above its upper, got {first} and {last}")
    return low if first is None else first, high if last is None else last


class Interval(Domain):
    """Real numbers between two declared bounds, both included.

    With `scale="log"` cells have equal width in the logarithm, each octave
    being cut evenly, and distances are counted in octaves. This logarithm is
    read off the bits of the float, so it is exact and the same everywhere.

    Args:
        low: Lower bound, public knowledge.
        high: Upper bound, public knowledge; it belongs to the last cell.
        scale: "linear", or "log" for positive numbers over many magnitudes.
        outside: What becomes of numbers out of bounds: "drop" or "clamp" to
            the nearer bound. NaN is always dropped.
    """

    kind: ClassVar[str] = "interval"
    ordered: ClassVar[bool] = True

    def __init__(
        self, low: float, high: float, *, scale: Literal["linear", "log"] = "linear", outside: Outside = "drop"
    ) -> None:
        self.low, self.high = bounds(low, high, axis="the interval")
        self.scale, self.outside = scale, outside
        check_outside(outside)
        if not isinstance(scale, str) or scale not in ("linear", "log"):
            raise DomainError(f'expected scale="linear" or scale="log", got {shown(scale)}')
        if scale == "log" and self.low <= 0:
            raise DomainError(f"expected a positive lower bound on a log scale, got {self.low}")
        ends = self._to_line(np.array([self.low, self.high]))
        self.axis = Axis(float(ends[0]), float(ends[1]), grain=1.0 if scale == "log" else 0.0)
        check_axis(self.axis, "the interval", low=self.low, high=self.high)

    def __repr__(self) -> str:
        scale = ', scale="log"' if self.scale == "log" else ""
        return f"Interval({self.low:.15g}, {self.high:.15g}{scale})"

    def _to_line(self, numbers: Floats) -> Floats:
        """Where positive floats lie on the axis that is cut: themselves, or their rank among the floats."""
        if self.scale == "linear":
            return numbers
        ranks = np.ascontiguousarray(numbers).view(np.int64)
        return (ranks - np.float64(self.low).view(np.int64)).astype(np.float64)

    def _from_line(self, positions: Floats) -> Floats:
        if self.scale == "linear":
            return positions
        ranks = np.rint(positions).astype(np.int64) + np.float64(self.low).view(np.int64)
        return np.minimum(ranks.view(np.float64), self.high)  # beyond 2**53 ranks, positions are rounded

    @property
    def depth(self) -> int:
        return min(self.axis.depth, MAX_DEPTH)

    def encode(self, records: Any, *, level: int) -> Codes:
        numbers = as_floats(records)
        if self.outside == "clamp":
            numbers = np.clip(numbers, self.low, self.high)
        inside = (numbers >= self.low) & (numbers <= self.high)
        cells = self.axis.cells(self._to_line(np.where(inside, numbers, self.low)), bits=level)
        return np.where(inside, cells, OUTSIDE)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return self._from_line(self.axis.numbers(codes, rng.random(codes.shape), bits=level))

    def diameter(self, level: int) -> float:
        octave = 2.0**52 if self.scale == "log" else 1.0
        return self.axis.width / octave * 2.0**-level

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        low, high = region_ends(region, self.low, self.high)
        return self.below(high, codes, level=level) - self.below(low, codes, level=level)

    def below(self, records: Any, codes: Codes, *, level: int) -> Floats:
        numbers = np.clip(np.asarray(records, dtype=np.float64), self.low, self.high)
        return self.axis.below(self._to_line(numbers), codes, bits=level)

    def at(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        return self._from_line(self.axis.points(codes, shares, bits=level))

    def parameters(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "scale": self.scale, "outside": self.outside}


class Integers(Domain):
    """Whole numbers between two declared bounds, both included.

    Cells are aligned runs of 2**k numbers counted from the lower bound; the
    deepest are single numbers. Unless there are a power of two of them, some
    cells past the upper bound are empty: their measure is 0, and they never
    receive mass.

    Args:
        low: Lower bound, public knowledge.
        high: Upper bound, public knowledge; within 61 bits.
        outside: What becomes of numbers out of bounds: "drop" or "clamp" to
            the nearer bound. NaN and fractions are always dropped.
    """

    kind: ClassVar[str] = "integers"
    ordered: ClassVar[bool] = True
    LIMIT: ClassVar[int] = 2**61

    def __init__(self, low: int, high: int, *, outside: Outside = "drop") -> None:
        self.low = whole_number(low, "the lower bound of the integers")
        self.high = whole_number(high, "the upper bound of the integers")
        self.outside = outside
        check_outside(outside)
        if not self.low < self.high:
            raise DomainError(f"expected the lower bound of the integers below the upper, got {low} and {high}")
        if self.low < -self.LIMIT or self.high >= self.LIMIT:
            raise DomainError("expected integers between -2**61 and 2**61 - 1; shift or shorten them")

    def __repr__(self) -> str:
        return f"Integers({self.low}, {self.high})"

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.high - self.low + 1

    @property
    def depth(self) -> int:
        return (self.size - 1).bit_length()

    def encode(self, records: Any, *, level: int) -> Codes:
        numbers, inside = as_integers(records)
        if self.outside == "clamp":
            numbers = np.clip(numbers, self.low, self.high)
        inside = inside & (numbers >= self.low) & (numbers <= self.high)
        offsets = (np.where(inside, numbers, self.low) - self.low).view(np.uint64)
        return np.where(inside, offsets >> np.uint64(self.depth - level), OUTSIDE)

    def _runs(self, codes: Codes, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First offset and length of the run of numbers in each cell."""
        shift = np.int64(self.depth - level)
        starts = np.minimum(codes.astype(np.int64) << shift, self.size)
        return starts, np.minimum(self.size - starts, np.int64(1) << shift)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        starts, lengths = self._runs(codes, level)
        return self.low + starts + rng.integers(0, np.maximum(lengths, 1))

    def diameter(self, level: int) -> float:
        return float(min(2 ** (self.depth - level), self.size) - 1)

    def measure(self, codes: Codes, *, level: int) -> Floats:
        return self._runs(codes, level)[1] / self.size

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        low, high = region_ends(region, self.low, self.high)
        before = self.below(math.ceil(low) - 1, codes, level=level)
        return np.maximum(self.below(high, codes, level=level) - before, 0.0)

    def below(self, records: Any, codes: Codes, *, level: int) -> Floats:
        offsets = np.clip(floor_int64(np.asarray(records)), self.low - 1, self.high) - self.low + 1
        starts, lengths = self._runs(codes, level)
        share: Floats = np.clip(offsets - starts, 0, lengths) / np.maximum(lengths, 1)
        return share

    def at(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        starts, lengths = self._runs(codes, level)
        sizes = np.maximum(lengths, 1)
        steps = np.ceil(shares * sizes).astype(np.int64)
        # The product is rounded, and what is meant is the least number whose share suffices.
        steps -= ((steps - 1) / sizes >= shares) & (shares < 1)
        steps += steps / sizes < shares
        return self.low + starts + np.clip(steps - 1, 0, sizes - 1)

    def parameters(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "outside": self.outside}


class Box(Domain):
    """Points of d numbers, each between two declared bounds, both included.

    The axis with the longest remaining side is cut next, the first such axis
    on a tie. Distance is the largest of the distances along the axes.

    Args:
        sides: One pair (low, high) per axis, public knowledge.
        outside: What becomes of points out of bounds: "drop", or "clamp" each
            coordinate to its nearer bound. Points with a NaN are always dropped.
    """

    kind: ClassVar[str] = "box"

    def __init__(self, sides: Sequence[Sequence[float]], *, outside: Outside = "drop") -> None:
        if not isinstance(sides, list | tuple) or not 1 <= len(sides) <= MAX_DEPTH:
            raise DomainError(f"expected a box as a list of 1 to {MAX_DEPTH} pairs (low, high), got {shown(sides)}")
        self.outside = outside
        check_outside(outside)
        self.axes = tuple(
            Axis(*bounds(*pair(side, f"side {index} of the box"), axis=f"side {index} of the box"))
            for index, side in enumerate(sides)
        )
        for index, axis in enumerate(self.axes):
            check_axis(axis, f"side {index} of the box", low=axis.low, high=axis.high)
        self._low = np.array([axis.low for axis in self.axes])
        self._high = np.array([axis.high for axis in self.axes])
        self.cuts = self._cut_order()
        self._layouts: dict[int, list[AxisBits]] = {}

    def __repr__(self) -> str:
        return "Box([" + ", ".join(f"({axis.low:.15g}, {axis.high:.15g})" for axis in self.axes) + "])"

    def _cut_order(self) -> tuple[int, ...]:
        """Which axis each level cuts, until the grid is as fine as the floats or 63 levels deep."""
        bits = [0] * len(self.axes)
        cuts: list[int] = []
        while len(cuts) < MAX_DEPTH:
            open_axes = [index for index, axis in enumerate(self.axes) if bits[index] < axis.depth]
            if not open_axes:
                break
            longest = max(open_axes, key=lambda index: self.axes[index].width * 2.0 ** -bits[index])
            bits[longest] += 1
            cuts.append(longest)
        return tuple(cuts)

    @property
    def depth(self) -> int:
        return len(self.cuts)

    def _layout(self, level: int) -> list["AxisBits"]:
        """For each axis: its bits at a level, and how they go into a code and out of it."""
        if level not in self._layouts:
            cuts = self.cuts[:level]
            self._layouts[level] = [
                AxisBits.of([level - 1 - cut for cut in range(level) if cuts[cut] == index])
                for index in range(len(self.axes))
            ]
        return self._layouts[level]

    def encode(self, records: Any, *, level: int) -> Codes:
        points = as_rows(records, columns=len(self.axes))
        if self.outside == "clamp":
            points = np.clip(points, self._low, self._high)
        inside = ((points >= self._low) & (points <= self._high)).all(axis=1)
        codes = np.where(inside, np.uint64(0), OUTSIDE)
        for axis, part, column in zip(self.axes, self._layout(level), points.T, strict=True):
            cells = axis.cells(np.where(inside, column, axis.low), bits=part.bits)
            codes |= part.spread(cells)
        return codes

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        points = np.empty((codes.size, len(self.axes)))
        for index, (axis, part) in enumerate(zip(self.axes, self._layout(level), strict=True)):
            points[:, index] = axis.numbers(part.gather(codes), rng.random(codes.shape), bits=part.bits)
        return points

    def diameter(self, level: int) -> float:
        return max(axis.width * 2.0**-part.bits for axis, part in zip(self.axes, self._layout(level), strict=True))

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        if not isinstance(region, list | tuple) or len(region) != len(self.axes):
            raise DomainError(
                f"expected a region of the box as {len(self.axes)} pairs (low, high), "
                f"None for a whole side, got {shown(region)}"
            )
        share = np.ones(codes.shape)
        for axis, part, side in zip(self.axes, self._layout(level), region, strict=True):
            if side is not None:
                low, high = region_ends(side, axis.low, axis.high)
                share *= axis.within(low, high, part.gather(codes), bits=part.bits)
        return share

    def parameters(self) -> dict[str, Any]:
        return {"sides": [[axis.low, axis.high] for axis in self.axes], "outside": self.outside}


@dataclass(frozen=True)
class AxisBits:
    """How many bits of a code are an axis's own, and the two ways between code and axis."""

    bits: int
    spread: BitMap
    gather: BitMap

    @classmethod
    def of(cls, places: list[int]) -> "AxisBits":
        """The bits of an axis that stand at these places of a code, highest first."""
        own = range(len(places) - 1, -1, -1)
        return cls(
            len(places),
            BitMap(dict(zip(own, places, strict=True))),
            BitMap(dict(zip(places, own, strict=True))),
        )

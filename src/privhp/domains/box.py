"""Points of several numbers as a domain."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import MAX_DEPTH, Codes, Floats
from privhp.core.number_format import round_end
from privhp.domains.comparisons import parse_number, range_region, single_comparison
from privhp.domains.conversion import as_points
from privhp.domains.decimal_lattice import Step, make_axes, make_axis
from privhp.domains.fields import Field, FieldKind, default_names
from privhp.domains.grid import Axis, GridDomain
from privhp.domains.plot_scale import PlotScale
from privhp.domains.presentation import TRANSPORT
from privhp.domains.shares import AxisShares, product_share
from privhp.domains.validation import (
    Outside,
    check_float_dtype,
    check_outside,
    check_pair,
    check_range,
    contains_float,
    outside_argument,
    quote,
    round_inwards,
    typed_arguments,
)
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate


class Box(GridDomain):
    """Points of d numbers, each between two declared bounds, both included.

    Each level splits the axis with the longest remaining side, the first on a
    tie. The distance is the largest difference of a coordinate.

    With `step` the values of each coordinate are the decimals low, low + step,
    ... high, as those of an `Interval` with a step.

    Args:
        sides: One pair (low, high) per axis, public knowledge.
        step: Distance of neighbouring values of each coordinate, public knowledge, as a decimal: "0.01".
        outside: Treatment of points out of bounds: "drop", or "clamp" each
            coordinate to the nearer bound. Points with a NaN are always dropped.
        dtype: Type of samples, public knowledge: "float64" or "float32". With "float32" the domain has fewer levels,
            and the bounds are rounded outwards. Records may have any type of number.
    """

    kind: ClassVar[str] = "box"

    def __init__(
        self,
        sides: Sequence[Sequence[float]] | NDArray[Any],
        *,
        step: Step | None = None,
        outside: Outside = "drop",
        dtype: Any = "float64",
    ) -> None:
        if isinstance(sides, np.ndarray):
            sides = sides.tolist()
        if not isinstance(sides, list | tuple) or not 1 <= len(sides) <= MAX_DEPTH:
            raise DomainError(f"expected a box as a list of 1 to {MAX_DEPTH} pairs (low, high), got {quote(sides)}")
        self.outside = outside
        check_outside(outside)
        own = check_float_dtype(dtype)
        names = [f"side {index} of the box" for index in range(len(sides))]
        pairs = [check_pair(side, name) for side, name in zip(sides, names, strict=True)]
        self.axes = tuple(make_axis(*pair, own, step=step, name=name) for pair, name in zip(pairs, names, strict=True))
        self.rectangle = tuple(axis.extent for axis in self.axes)
        super().__init__(make_axes(self.axes, clamp=outside == "clamp"), own)

    @property
    def split_axes(self) -> tuple[int, ...]:
        """Index of the axis that each level splits."""
        return self._axes.split_axes

    def __repr__(self) -> str:
        sides = ", ".join(f"({low:.15g}, {high:.15g})" for low, high in self._bounds)
        return f"Box([{sides}]{outside_argument(self.outside)}{typed_arguments(self._typed())})"

    @property
    def _bounds(self) -> list[tuple[float, float]]:
        return [axis.bounds for axis in self.axes]

    def fields(self) -> tuple[Field, ...]:
        return tuple(
            Field(name, FieldKind.REAL, accepts=self.accepts, declared_as=self.kind, fractional=self.step is None)
            for name in default_names(len(self.axes))
        )

    def encode(self, records: Any, *, level: int) -> Codes:
        return self._axes.encode(as_points(records, width=len(self.axes)), level=level)

    @property
    def region_form(self) -> str:  # type: ignore[override]  # depends on the number of axes
        """A pair for each axis."""
        return f"({', '.join(['(low, high)'] * len(self.axes))})"

    def _sides(self, region: Any) -> list[tuple[float, float]]:
        """Bounds of each side of a region."""
        if not isinstance(region, list | tuple) or len(region) != len(self.axes):
            raise DomainError(
                f"expected a region of the box as {len(self.axes)} pairs (low, high), "
                f"None for a whole side, got {quote(region)}"
            )
        return [
            bounds if side is None else check_range(side, *bounds)
            for bounds, side in zip(self._bounds, region, strict=True)
        ]

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        return product_share(part.share for part in self.axis_shares(region, codes, level=level))

    def axis_cells(self, codes: Codes, *, level: int) -> list[tuple[Codes, int]]:
        return self._axes.axis_cells(codes, level=level)

    def axis_shares(self, region: Any, codes: Codes, *, level: int) -> list[AxisShares]:
        parts = zip(self.axes, self._sides(region), self.axis_cells(codes, level=level), strict=True)
        return [AxisShares(index, self._axis_share(axis, side, *own)) for index, (axis, side, own) in enumerate(parts)]

    def _axis_share(self, axis: Axis, side: tuple[float, float], cells: Codes, bits: int) -> Floats:
        """Share of each cell within a side of a region."""
        if side == axis.bounds:
            return np.ones(cells.shape)
        return axis.within(*side, cells, bits=bits) * contains_float(*side, self._region_dtype)

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        cells, bits = self._axes.cells(codes, level=level), self._axes.bits(level)
        shares = rng.random(cells.shape)
        sides = [round_inwards(*side, self._region_dtype) for side in self._sides(region)]
        columns = [
            axis.draw(*side, cells[:, index], bits=bits[index], shares=shares[:, index])
            for index, (axis, side) in enumerate(zip(self.axes, sides, strict=True))
        ]
        return np.stack(columns, axis=1)

    def describe(self, code: int, *, level: int) -> tuple[tuple[float, float], ...]:
        cells, bits = self._axes.cells(np.array([code], dtype=np.uint64), level=level), self._axes.bits(level)
        return tuple(axis.ends(int(cell), int(own)) for axis, cell, own in zip(self.axes, cells[0], bits, strict=True))

    @property
    def distance_meaning(self) -> str:
        return f"{TRANSPORT}, in the coordinate where it moves furthest." if len(self.axes) > 1 else f"{TRANSPORT}."

    def format_resolution(self, level: int) -> str:
        """Length of each side of a cell."""
        lengths = (axis.length(bits) for axis, bits in zip(self.axes, self._axes.bits(level), strict=True))
        return " x ".join(map(self.format_distance, lengths))

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        """Ranges of single coordinates by their names, or LOW:HIGH,LOW:HIGH after `in`."""
        if all(len(own.names) == 1 and (len(names) > 1 or own.has_sign) for own in comparisons):
            sides = [[own for own in comparisons if own.names == (name,)] for name in names]
            return [
                range_region(own, axis.comparison_range) if own else None
                for axis, own in zip(self.axes, sides, strict=True)
            ]
        comparison = single_comparison(comparisons)
        values = comparison.values if comparison.sign == "in" else []
        ends = [[parse_number(end) for end in value.split(":")] for value in values]
        if [len(own) for own in ends] != [2] * len(self.axes):
            pairs = ",".join(["LOW:HIGH"] * len(self.axes))
            raise DomainError(f"expected in {pairs}, one pair per coordinate, got {comparison}")
        return [tuple(own) for own in ends]

    def format_region(self, region: Any, label: str) -> str:
        return f"{label} in {','.join(f'{low!r}:{high!r}' for low, high in region)}"

    def round_region(self, region: Any) -> Any:
        return tuple(tuple(map(round_end, side)) for side in region)

    def everything(self) -> Any:
        return [None] * len(self.axes)

    def plot_scale(self, coordinate: int = 0) -> PlotScale:
        return PlotScale("linear", *self._bounds[coordinate], step=float(self.step or 0))

    def coordinate_region(self, coordinate: int, region: Any) -> Any:
        return tuple(region if index == coordinate else None for index in range(len(self.axes)))

    def cell_rectangles(self, codes: Codes, *, level: int) -> tuple[Floats, Floats]:
        cells, bits = self._axes.cells(codes, level=level), self._axes.bits(level)
        ends = []
        for index, axis in enumerate(self.axes):
            before, units, count = axis.strips(cells[:, index], bits=bits[index])
            ends.append((before / count, (before + units) / count))
        low, high = np.stack(ends, axis=-1)
        return low, high

    def random_regions(self, count: int, *, rng: np.random.Generator) -> list[Any]:
        sides = [(low + np.sort(rng.random((count, 2))) * (high - low)).tolist() for low, high in self._bounds]
        return [list(map(tuple, region)) for region in zip(*sides, strict=True)]

    def parameters(self) -> dict[str, Any]:
        return {"sides": [list(pair) for pair in self._bounds], "outside": self.outside, **self._typed()}

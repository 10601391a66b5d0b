"""Domains of a finite list of values, one deepest cell for each."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import OUTSIDE, Codes, Counts, Floats
from privhp.domains.comparisons import choice_region
from privhp.domains.fields import Field, FieldKind
from privhp.domains.integer_ranges import IntegerRangeDomain
from privhp.domains.lookup import Lookup
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate


def spread_codes(size: int) -> list[int]:
    """Codes of `size` values such that the numbers of values in the cells of a level differ by at most one."""
    depth = (size - 1).bit_length()
    return [(index << depth) // size for index in range(size)]


class Finite(IntegerRangeDomain):
    """Declared values in order, all of equal measure. Cells without a value have measure 0.

    Args:
        values: The values, in the order of their cells.
        codes: Code of each value at the deepest level, increasing.
        depth: The deepest level.
        distances: Distance of each value to the next. The distance of any two is the largest of those between them.
        lookup: Indices of records among the values.
    """

    def __init__(
        self, values: Sequence[Any], codes: Sequence[int], *, depth: int, distances: Sequence[float], lookup: Lookup
    ) -> None:
        self._values = _as_array(values)
        self._codes = np.array(codes, dtype=np.uint64)
        self._depth, self._lookup = depth, lookup
        self._diameters = _diameters(codes, depth, distances)

    @property
    def depth(self) -> int:
        return self._depth

    def fields(self) -> tuple[Field, ...]:
        kind = FieldKind.DICTIONARY if type(self._values[:1].tolist()[0]) is not int else FieldKind.INTEGER
        field = Field("value", kind, repeats=True, accepts=self.accepts, declared_as=self.kind)
        return (field._replace(declared_texts=self._texts, textual=self._values.dtype.kind == "U"),)

    @cached_property
    def _texts(self) -> frozenset[str]:
        return frozenset(map(str, self._values.tolist()))

    def encode(self, records: Any, *, level: int) -> Codes:
        cells = np.append(self._codes >> np.uint64(self._depth - level), OUTSIDE)  # the last is for unknown values
        return self._lookup(records, cells)

    def _spans(self, codes: Codes, level: NDArray[np.int64] | int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Index of the first value of each cell, and of the first value after it."""
        shift = np.asarray(self._depth - level, dtype=np.uint64)
        ends = np.searchsorted(self._codes, np.stack([codes, codes + np.uint64(1)]) << shift)
        return ends[0], ends[1]

    def _ranges(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        first, after = self._spans(codes, levels)
        return first, after - first

    def _records_at(self, numbers: Counts) -> NDArray[Any]:
        records: NDArray[Any] = self._values[np.minimum(numbers, self._values.size - 1)]
        return records

    def diameter(self, level: int) -> float:
        return self._diameters[level]

    def format_resolution(self, level: int) -> str:
        """Largest number of values in a cell."""
        first, after = self._spans(np.arange(2**level, dtype=np.uint64), level)
        most = int((after - first).max())
        return "exact" if most == 1 else f"up to {most:,} values"

    def measure(self, codes: Codes, *, level: int) -> Floats:
        first, after = self._spans(codes, level)
        share: Floats = (after - first) / self._values.size
        return share

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        first, after = self._spans(codes, level)
        before = np.concatenate([[0], np.cumsum(self._within(region))])
        share: Floats = (before[after] - before[first]) / np.maximum(after - first, 1)
        return share

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        first, after = self._spans(codes, level)
        chosen = self._within(region)
        before = np.concatenate([[0], np.cumsum(chosen)])
        records: NDArray[Any] = self._values[np.flatnonzero(chosen)[rng.integers(before[first], before[after])]]
        return records

    def describe(self, code: int, *, level: int) -> Any:
        (first,), (after,) = self._spans(np.array([code], dtype=np.uint64), level)
        values = self._values[first:after].tolist()
        return values[0] if len(values) == 1 else values

    def value_regions(self) -> dict[Any, Any]:
        return {value: value for value in self._values.tolist()}

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        """Mask of the largest cell of each value."""
        first, after = self._spans(codes, level)
        above = self._spans(codes >> np.uint64(1), level - 1) if level else (first, after + 1)
        named: NDArray[np.bool_] = (after - first == 1) & (above[1] - above[0] > 1)
        return named

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        if len(comparisons) == 1 and comparisons[0].sign != "!=":
            return choice_region(comparisons, self.parse_value)
        chosen = np.ones(self._values.size, dtype=np.bool_)
        for comparison in comparisons:
            excluded = comparison.sign == "!="
            own = comparison._replace(sign="=") if excluded else comparison
            chosen &= self._within(choice_region([own], self.parse_value)) != excluded
        if not chosen.any():
            raise DomainError("no value meets all conditions; correct them")
        return self._values[chosen].tolist()

    def unite(self, regions: Sequence[Any]) -> Any:
        """The list of all values or nodes."""
        return [value for region in regions for value in (region if isinstance(region, list) else [region])]

    @abstractmethod
    def _within(self, region: Any) -> NDArray[np.bool_]:
        """Mask of the values in a region."""


def _as_array(values: Sequence[Any]) -> NDArray[Any]:
    """Values as an array of text, of int64, or of Python integers beyond 64 bits."""
    if isinstance(values[0], str) or all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values)
    return np.array(values, dtype=object)


def _diameters(codes: Sequence[int], depth: int, distances: Sequence[float]) -> list[float]:
    """Diameter of the cells of each level."""
    largest = [0.0] * (depth + 1)
    for one, other, distance in zip(codes, codes[1:], distances, strict=False):
        common = depth - (one ^ other).bit_length()  # the deepest level at which both have the same cell
        largest[common] = max(largest[common], distance)
    for level in reversed(range(depth)):
        largest[level] = max(largest[level], largest[level + 1])
    return largest

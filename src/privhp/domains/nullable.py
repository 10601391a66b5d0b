"""Domain of values that may be null: one more split, before all others."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation
from privhp.core.cells import MAX_DEPTH, OUTSIDE, Codes, Floats
from privhp.domains.column import Column, is_null_value, replace_records
from privhp.domains.domain import Domain
from privhp.domains.fields import NULL_TEXTS, Field, OutputForm
from privhp.domains.plot_scale import PlotScale
from privhp.domains.shares import AxisShares
from privhp.domains.unions import parts_of, union
from privhp.domains.validation import check_number, quote
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate

_VALUE, _NULL = "value", "null"

_NULL_WORDS = frozenset(text.lower() for text in (*NULL_TEXTS, "None"))


class Nullable(Domain):
    """Values of another domain, the inner domain, or null.

    The first level splits null from the values; the further levels are those
    of the inner domain. None, NaN, NaT, pandas.NA and masked values are null.
    Values outside the inner domain are dropped. The distance of null to any
    value is the diameter of the inner domain.

    The region None is null, as are NaN, NaT and pandas.NA; any other region is
    one of the inner domain. A list with None in it is null and the other values
    of the list. Samples are masked arrays.

    Args:
        domain: The inner domain.
        share: Share of null in the base measure, above 0 and below 1, public knowledge. It matters only where no
            counter separates null from the values.
    """

    kind: ClassVar[str] = "nullable"
    nullable = True

    def __init__(self, domain: Domain, *, share: float = 0.5) -> None:
        if not isinstance(domain, Domain) or domain.kind in ("nullable", "table"):
            raise DomainError(f"expected the domain of one column, not yet nullable, got {quote(domain)}")
        self.domain, self.declared_names = domain, domain.declared_names
        self.share = float(check_number(share, "the share of null"))
        if not 0 < self.share < 1:
            raise DomainError(f"expected a share of null above 0 and below 1, got {self.share}; the default is 0.5")
        example = domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=np.random.default_rng(0))
        fields = [(_VALUE, example.dtype, example.shape[1:]), (_NULL, np.bool_)]
        self._dtype = np.dtype(fields, align=True)

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any]) -> Domain:
        if "domain" in given:
            given = {**given, "domain": Domain.from_spec(given["domain"])}
        return super().from_parameters(given)

    def parameters(self) -> dict[str, Any]:
        return {"domain": self.domain.cell_spec(), "share": self.share}

    def __repr__(self) -> str:
        share = "" if self.share == 0.5 else f", share={self.share:.15g}"
        return f"Nullable({self.domain!r}{share})"

    def fields(self) -> tuple[Field, ...]:
        return tuple(field._replace(nullable=True) for field in self.domain.fields())

    def output_forms(self) -> tuple[OutputForm, ...]:
        return self.domain.output_forms()

    @property
    def depth(self) -> int:
        return min(self.domain.depth + 1, MAX_DEPTH)

    def as_batch(self, records: Any) -> Column:
        """The batch as a column of values; accepts records of `decode` too."""
        if isinstance(records, np.ndarray) and records.dtype == self._dtype:
            return Column(records[_VALUE], null=records[_NULL])
        column: Column = super().as_batch(records)
        if isinstance(column.values, list):
            return replace_records(column, self._dtype, self._values)
        return column

    @staticmethod
    def _values(records: NDArray[Any]) -> list[Any]:
        """Values of records of `decode`, with None for null."""
        pairs = zip(records[_VALUE], records[_NULL], strict=True)
        return [None if is_null else value for value, is_null in pairs]

    def encode(self, records: Any, *, level: int) -> Codes:
        column = self.as_batch(records)
        codes = self.domain.encode(column, level=max(level - 1, 0))
        if level:
            codes = np.where(codes == OUTSIDE, OUTSIDE, codes | np.uint64(2 ** (level - 1)))
        return np.where(column.is_null(), np.uint64(0), codes)

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        records = np.zeros(codes.shape, dtype=self._dtype)
        if level:
            records[_NULL] = self._is_null_cell(codes, level)
        else:
            records[_NULL] = rng.random(codes.shape) < self.share
        valid = ~records[_NULL]
        records[_VALUE][valid] = self.domain.decode(self._inner(codes[valid], level), level=max(level - 1, 0), rng=rng)
        return records

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample the allocated number of records in each cell, with the nulls of a cell first."""
        codes, levels, counts = allocation.codes, allocation.levels, allocation.counts
        inner_levels = np.maximum(levels - 1, 0)
        value_bits = np.uint64(1) << inner_levels.astype(np.uint64)
        nulls = np.where(codes < value_bits, counts, 0)
        root = levels == 0
        if balanced:
            nulls[root] = np.floor(counts[root] * self.share + rng.random(int(root.sum())))
        else:
            nulls[root] = rng.binomial(counts[root], self.share)
        others = counts - nulls
        some = np.flatnonzero(others)
        inner = Allocation(codes[some] & (value_bits[some] - np.uint64(1)), inner_levels[some], others[some])
        values = self.domain.sample_allocation(inner, balanced=balanced, rng=rng)
        records = np.zeros(allocation.size, dtype=self._dtype) if out is None else out
        records[_NULL] = allocation.ranks < np.repeat(nulls, counts)
        records[_VALUE][~records[_NULL]] = values
        return records

    def to_output(self, records: NDArray[Any]) -> np.ma.MaskedArray[Any, Any]:
        """A masked array of the values."""
        values = self.domain.to_output(np.ascontiguousarray(records[_VALUE]))
        null = records[_NULL].reshape(-1, *(1,) * (values.ndim - 1))
        return np.ma.MaskedArray(values, mask=np.broadcast_to(null, values.shape))

    def _is_null_cell(self, codes: Codes, level: int) -> NDArray[np.bool_]:
        """Mask of the null cells of a level from 1 on."""
        return codes < np.uint64(2 ** (level - 1))

    def _inner(self, codes: Codes, level: int) -> Codes:
        """Cells of the inner domain, for cells that are not null."""
        return codes & np.uint64(2 ** max(level - 1, 0) - 1)

    @property
    def inner(self) -> Domain:
        return self.domain

    @property
    def null_share(self) -> float:  # type: ignore[override]  # fixed by the constructor
        return self.share

    def split_null(self, codes: Codes, *, level: int) -> tuple[NDArray[np.bool_], Codes, int]:
        null = self._is_null_cell(codes, level) if level else np.zeros(codes.shape, dtype=np.bool_)
        return null, self._inner(codes[~null], level), max(level - 1, 0)

    def format_distance(self, distance: float) -> str:
        return self.domain.format_distance(distance)

    @property
    def distance_meaning(self) -> str:
        return self.domain.distance_meaning

    def format_resolution(self, level: int) -> str:
        return self.domain.format_resolution(max(level - 1, 0))

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        """None for `is null` and `= null`; else the region of the inner domain."""
        if len(comparisons) == 1 and comparisons[0].sign == "among":
            return self._parse_list(comparisons[0], names)
        comparisons = [self._as_null_test(comparison, names) for comparison in comparisons]
        others = [comparison for comparison in comparisons if not comparison.is_null_test]
        if any(comparison.sign == "null" for comparison in comparisons):
            if len(comparisons) > 1:
                raise DomainError("null meets no other condition; query is null separately")
            return None
        return self.domain.parse_region(others, names) if others else self.domain.everything()

    def _parse_list(self, comparison: Predicate, names: Sequence[str]) -> Any:
        """Region of a list of values, with null if a word for it is there."""
        each = [self._as_null_test(comparison._replace(sign="=", values=[own]), names) for own in comparison.values]
        values = [own.values[0] for own in each if not own.is_null_test]
        inside = [self.domain.parse_region([comparison._replace(values=values)], names)] if values else []
        return inside[0] if len(values) == len(each) else self.unite([*inside, None])

    def _as_null_test(self, comparison: Predicate, names: Sequence[str]) -> Predicate:
        """A comparison with a word for null as a test for null, unless the word is a value of the inner domain."""
        signs = {"=": "null", "!=": "not null"}
        if comparison.sign not in signs or comparison.values[0].lower() not in _NULL_WORDS:
            return comparison
        try:
            self.domain.parse_region([comparison._replace(sign="=")], names)
        except DomainError:
            return comparison._replace(sign=signs[comparison.sign], values=[])
        return comparison

    def unite(self, regions: Sequence[Any]) -> Any:
        """A union of null, if it is there, and the region of the values."""
        values = [region for region in regions if region is not None]
        inside = parts_of(self.domain.unite(values)) if values else ()
        return union([*inside, *([None] if len(values) < len(regions) else [])])

    def format_region(self, region: Any, label: str) -> str:
        return f"{label} is null" if region is None else self.domain.format_region(region, label)

    def round_region(self, region: Any) -> Any:
        return None if region is None else self.domain.round_region(region)

    def region_kind(self, region: Any) -> str:
        return "" if region is None else self.domain.region_kind(region)

    def everything(self) -> Any:
        raise DomainError("no region holds both null and values; query each separately")

    def plot_scale(self, coordinate: int = 0) -> PlotScale | None:
        return self.domain.plot_scale(coordinate)

    def coordinate_region(self, coordinate: int, region: Any) -> Any:
        return None if region is None else self.domain.coordinate_region(coordinate, region)

    def diameter(self, level: int) -> float:
        return self.domain.diameter(max(level - 1, 0))

    def measure(self, codes: Codes, *, level: int) -> Floats:
        if level == 0:
            return np.ones(codes.shape)
        values = (1.0 - self.share) * self.domain.measure(self._inner(codes, level), level=level - 1)
        return np.where(self._is_null_cell(codes, level), np.where(codes == 0, self.share, 0.0), values)

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        inside = np.ones(codes.shape)
        if region is not None:
            inside = self.domain.overlap(region, self._inner(codes, level), level=max(level - 1, 0))
        if level == 0:
            return inside * (self.share if region is None else 1.0 - self.share)
        return np.where(self._is_null_cell(codes, level) == (region is None), inside, 0.0)

    def region_parts(self, region: Any) -> Sequence[Any]:
        """Null, and the parts of the region of the values, if a list holds both."""
        if not isinstance(region, list | set | frozenset):
            is_null = not isinstance(region, tuple | np.ndarray) and is_null_value(region)
            return [None] if is_null else self.domain.region_parts(region)
        values = [value for value in region if isinstance(value, tuple) or not is_null_value(value)]
        if len(values) == len(region):
            return self.domain.region_parts(region)
        return [*(self.domain.region_parts(values[0] if len(values) == 1 else values) if values else []), None]

    def axis_cells(self, codes: Codes, *, level: int) -> list[tuple[Codes, int]]:
        """The first axis separates null from the values; the others are those of the inner domain."""
        inner = self.domain.axis_cells(self._inner(codes, level), level=max(level - 1, 0))
        return [(codes >> np.uint64(max(level - 1, 0)), min(level, 1)), *inner]

    def null_axis(self, axis: int) -> int | None:
        return 0 if axis else None

    def rhythms(self, axis: int) -> Mapping[int, float]:
        return self.domain.rhythms(axis - 1) if axis else {}

    def axis_shares(self, region: Any, codes: Codes, *, level: int) -> list[AxisShares]:
        if region is None:
            return [AxisShares(0, self.overlap(None, codes, level=level))]
        inner = self.domain.axis_shares(region, self._inner(codes, level), level=max(level - 1, 0))
        values = 1.0 - self.overlap(None, codes, level=level)
        return [AxisShares(0, values), *(part._replace(axis=part.axis + 1) for part in inner)]

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        records = np.zeros(codes.shape, dtype=self._dtype)
        records[_NULL] = region is None
        if region is not None:
            inner = self._inner(codes, level)
            records[_VALUE] = self.domain.decode_within(region, inner, level=max(level - 1, 0), rng=rng)
        return records

    def describe(self, code: int, *, level: int) -> Any:
        """None for null."""
        null = level > 0 and code < 2 ** (level - 1)
        return None if null else self.domain.describe(code & (2 ** max(level - 1, 0) - 1), level=max(level - 1, 0))

    def value_regions(self) -> dict[Any, Any]:
        """The regions of the inner domain, and null."""
        regions = self.domain.value_regions()
        return {**regions, None: None} if regions else {}

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        """Mask of the largest null cell and of the reportable cells of the inner domain, but not all of it."""
        if level == 0:
            return np.zeros(codes.shape, dtype=np.bool_)
        null = self._is_null_cell(codes, level)
        if level == 1:
            return null
        return ~null & self.domain.is_reportable(self._inner(codes, level), level=level - 1)

"""Domain of records with several named columns."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.allocation import Allocation, CellDraws
from privhp.core.bits import BitPermutation
from privhp.core.cells import MAX_DEPTH, OUTSIDE, Codes, Floats, coarsen
from privhp.core.number_format import format_share
from privhp.domains.column import Column, replace_records
from privhp.domains.column_batch import ColumnBatch, to_batch
from privhp.domains.column_pairing import ColumnPairing
from privhp.domains.domain import Domain
from privhp.domains.fields import Field, OutputForm
from privhp.domains.presentation import TRANSPORT
from privhp.domains.shares import AxisShares, product_share
from privhp.domains.split_order import split_masks, split_order
from privhp.domains.table_column import Name, TableColumn, column_errors, read_column
from privhp.domains.table_regions import check_table_region
from privhp.domains.validation import quote
from privhp.errors import DomainError, RecordsError


class Table(Domain):
    """Records with several named columns, each with its domain.

    The relative diameter of a cell in a column is its diameter there divided by the diameter of the column's domain,
    times the weight of the column. Each level splits the column with the largest relative diameter, the first on a tie.
    The distance of two records is the largest weighted relative distance of a column. So units do not matter, and a
    column of weight 2 gets one more split than the others.

    Records are a dict of arrays, a pandas or polars data frame, an Arrow table, a structured array, an array of shape
    (n, columns), or a sequence of records. Other columns are ignored. A record is dropped if a value is outside the
    domain of its column. A region is a mapping from names of columns to regions, and holds the records that are in all
    of them.

    Args:
        columns: Domain of each column by name, for names that are not Python identifiers. A domain of points takes a
            tuple of names, such as ("lon", "lat").
        weights: Weight of each column in distances, 1 by default.
        named: Further columns.
    """

    kind: ClassVar[str] = "table"
    reads_by_name: ClassVar[bool] = True

    def __init__(
        self,
        columns: Mapping[Name, Domain] | None = None,
        /,
        *,
        weights: Mapping[Name, float] | None = None,
        **named: Domain,
    ) -> None:
        if columns is not None and not isinstance(columns, Mapping):
            raise DomainError(f"expected columns as a mapping from names to domains, got {quote(columns)}")
        if weights is not None and not isinstance(weights, Mapping):
            hint = '; a column of this name is Table({"weights": ...})' if isinstance(weights, Domain) else ""
            raise DomainError(f"expected weights as a mapping from columns to numbers, got {quote(weights)}{hint}")
        weight_of = dict(weights or {})
        given = [*(columns or {}).items(), *named.items()]
        self._set(TableColumn(name, domain, weight=weight_of.pop(name, 1.0)) for name, domain in given)
        for name in weight_of:
            raise DomainError(f"expected weights of {self._known()}, got one of {quote(name)}")

    def _set(self, columns: Iterable[TableColumn]) -> None:
        self.columns = tuple(columns)
        if not 1 <= len(self.columns) <= MAX_DEPTH:
            raise DomainError(f"expected a table of 1 to {MAX_DEPTH} columns, got {len(self.columns)}")
        self.names = tuple(name for column in self.columns for name in column.names)
        for names in (self.names, [column.label for column in self.columns]):
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise DomainError(f"the column {quote(twice[0])} is declared twice; give each column a unique name")
        self.is_line = len(self.columns) == 1 and self.columns[0].domain.is_line
        self.split_columns = split_order(
            [column.domain.depth for column in self.columns],
            lambda index, bits: self.columns[index].relative_diameter(bits),
        )
        root = np.zeros(1, dtype=np.uint64)
        sizes = [len(column.domain.axis_cells(root, level=0)) for column in self.columns]
        ends = list(itertools.accumulate(sizes))
        self.column_axes = tuple(range(end - size, end) for end, size in zip(ends, sizes, strict=True))
        fields = [(column.label, column.example.dtype, column.example.shape[1:]) for column in self.columns]
        self.dtype = np.dtype(fields, align=True)

    def _known(self) -> str:
        return ", ".join(repr(column.name) for column in self.columns)

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any]) -> Domain:
        listed = given.get("columns")
        if set(given) != {"columns"} or not isinstance(listed, list | Mapping):
            raise DomainError(
                f"expected a domain of kind 'table' with a list of columns and no other key, got {quote(given)}"
            )
        if isinstance(listed, Mapping):
            listed = [{"name": name, **spec} if isinstance(spec, Mapping) else spec for name, spec in listed.items()]
        table = cls.__new__(cls)
        table._set(map(read_column, listed))
        return table

    def parameters(self) -> dict[str, Any]:
        return {"columns": [column.spec() for column in self.columns]}

    def __repr__(self) -> str:
        plain = all(isinstance(column.name, str) and column.name.isidentifier() for column in self.columns)
        if plain:
            columns = ", ".join(f"{column.name}={column.domain!r}" for column in self.columns)
        else:
            columns = "{" + ", ".join(f"{column.name!r}: {column.domain!r}" for column in self.columns) + "}"
        weights = {own.name: own.weight for own in self.columns if own.weight != 1}
        return f"Table({columns}{f', weights={weights}' if weights else ''})"

    def fields(self) -> tuple[Field, ...]:
        return tuple(
            field._replace(name=name)
            for column in self.columns
            for name, field in zip(column.names, column.domain.fields(), strict=True)
        )

    def output_forms(self) -> tuple[OutputForm, ...]:
        return tuple(form for column in self.columns for form in column.domain.output_forms())

    @property
    def depth(self) -> int:
        return len(self.split_columns)

    def format_distance(self, distance: float) -> str:
        """A share of the range of a column; of a single column, a distance in its unit."""
        if len(self.columns) > 1:
            return format_share(distance)
        (column,) = self.columns
        return column.domain.format_distance(distance * column.domain.diameter(0) / column.weight)

    @property
    def distance_meaning(self) -> str:
        if len(self.columns) == 1:
            return self.columns[0].domain.distance_meaning
        weights = ", times its weight" if any(column.weight != 1 for column in self.columns) else ""
        return f"{TRANSPORT}, in the column where it moves furthest, as a share of that column's range{weights}."

    def format_resolution(self, level: int) -> str:
        sizes = self.format_resolutions(level)
        return "; ".join(f"{label}: {size}" if len(sizes) > 1 else size for label, size in sizes.items())

    def format_resolutions(self, level: int) -> dict[str, str]:
        pairs = zip(self.columns, self.splits_by_column(level).values(), strict=True)
        return {column.label: column.domain.format_resolution(bits) for column, bits in pairs}

    def everything(self) -> Any:
        return {}

    def resolution(self, level: int) -> dict[str, float]:
        return {own.label: own.domain.diameter(self.splits_by_column(level)[own.label]) for own in self.columns}

    def splits_by_column(self, level: int) -> dict[str, int]:
        return {column.label: self.split_columns[:level].count(index) for index, column in enumerate(self.columns)}

    @cached_property
    def _masks(self) -> list[list[int]]:
        """Mask of the code bits of each column, for each level."""
        return split_masks(self.split_columns, len(self.columns))

    def _cells(self, codes: Codes, level: int) -> list[tuple[TableColumn, Codes, int]]:
        """Each column with the cells in its domain and their level."""
        return [
            (column, BitPermutation.extract(mask)(codes), mask.bit_count())
            for column, mask in zip(self.columns, self._masks[level], strict=True)
        ]

    def as_batch(self, records: Any) -> ColumnBatch:
        """The columns of this table in a batch."""
        if isinstance(records, ColumnBatch):
            return records
        if isinstance(records, np.ndarray) and records.dtype == self.dtype:
            records = self.to_output(records)
        elif isinstance(records, list):
            records = replace_records(Column(records), self.dtype, self._values).values
        return to_batch(records, self.names)

    def _values(self, records: NDArray[Any]) -> list[tuple[Any, ...]]:
        """Values of records of `decode`."""
        return list(zip(*self.to_output(records).values(), strict=True))

    def encode(self, records: Any, *, level: int) -> Codes:
        return self.encode_columns(records, level=level, columns={})[0]

    def encode_columns(self, records: Any, *, level: int, columns: Mapping[str, int]) -> tuple[Codes, dict[str, Codes]]:
        rows, found = self.as_batch(records), dict[str, Codes]()
        codes, values = np.zeros(len(rows), dtype=np.uint64), iter(rows.columns)
        for column, mask in zip(self.columns, self._masks[level], strict=True):
            bits, alone = mask.bit_count(), columns.get(column.label, 0)
            own = column.encode([next(values) for _ in column.names], level=max(bits, alone))
            if own.shape != codes.shape:
                raise RecordsError(f"column {column.label!r}: expected one value for each record")
            kernels.interleave(coarsen(own, levels=max(alone - bits, 0)), mask, codes)
            if column.label in columns:
                found[column.label] = coarsen(own, levels=max(bits - alone, 0))
        if rows.invalid is not None:
            codes[rows.invalid] = OUTSIDE
        return codes, {label: np.where(codes == OUTSIDE, OUTSIDE, own) for label, own in found.items()}

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        records = np.empty(codes.shape, dtype=self.dtype)
        for column, cells, bits in self._cells(codes, level):
            records[column.label] = column.domain.decode(cells, level=bits, rng=rng)
        return records

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample the allocated number of records in each cell; see `Domain.sample_allocation`.

        Each column samples its values by itself. In a balanced sample a
        `ColumnPairing` pairs the values of the columns.
        """
        records = np.empty(allocation.size, dtype=self.dtype) if out is None else out
        pairing = ColumnPairing(allocation, len(self.columns), rng) if balanced else None
        for index, (column, cells, bits) in enumerate(self._cells_of_levels(allocation.codes, allocation.levels)):
            own = allocation.with_cells(cells, bits)
            values = column.domain.sample_allocation(own, balanced=balanced, rng=rng)
            records[column.label] = values if pairing is None else pairing.pair(values, index)
        return records

    def sample_cells(
        self, draws: CellDraws, *, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        records = np.empty(draws.size, dtype=self.dtype) if out is None else out
        for column, cells, bits in self._cells_of_levels(draws.codes, draws.levels):
            records[column.label] = column.domain.sample_cells(CellDraws(cells, bits, draws.indices), rng=rng)
        return records

    def _cells_of_levels(
        self, codes: Codes, levels: NDArray[np.int64]
    ) -> Iterator[tuple[TableColumn, Codes, NDArray[np.int64]]]:
        """Each column with the cells in its domain and their levels, for cells of any levels."""
        chosen = [(level, np.flatnonzero(levels == level)) for level in np.unique(levels).tolist()]
        for index, column in enumerate(self.columns):
            cells, bits = np.empty(codes.shape, dtype=np.uint64), np.empty(codes.shape, dtype=np.int64)
            for level, here in chosen:
                mask = self._masks[level][index]
                cells[here], bits[here] = BitPermutation.extract(mask)(codes[here]), mask.bit_count()
            yield column, cells, bits

    def to_output(self, records: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """An array for each name; a masked array where values may be null."""
        return dict(pair for column in self.columns for pair in column.to_output(records[column.label]))

    def diameter(self, level: int) -> float:
        masks = self._masks[level]
        return max(column.relative_diameter(mask.bit_count()) for column, mask in zip(self.columns, masks, strict=True))

    def measure(self, codes: Codes, *, level: int) -> Floats:
        share = np.ones(codes.shape)
        for column, cells, bits in self._cells(codes, level):
            share *= column.domain.measure(cells, level=bits)
        return share

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        check_table_region(region, self)
        shares = []
        for column, mask in zip(self.columns, self._masks[level], strict=True):
            if column.name in region:
                cells = BitPermutation.extract(mask)(codes)
                shares.append(column.overlap(region[column.name], cells, level=mask.bit_count()))
        return product_share(shares) if shares else np.ones(codes.shape)

    def axis_cells(self, codes: Codes, *, level: int) -> list[tuple[Codes, int]]:
        return [
            own
            for column, cells, bits in self._cells(codes, level)
            for own in column.domain.axis_cells(cells, level=bits)
        ]

    def null_axis(self, axis: int) -> int | None:
        column, axes = self._column_of(axis)
        own = column.domain.null_axis(axis - axes[0])
        return None if own is None else axes[own]

    def rhythms(self, axis: int) -> Mapping[int, float]:
        column, axes = self._column_of(axis)
        return column.domain.rhythms(axis - axes[0])

    def _column_of(self, axis: int) -> tuple[TableColumn, range]:
        return next(own for own in zip(self.columns, self.column_axes, strict=True) if axis in own[1])

    def axis_shares(self, region: Any, codes: Codes, *, level: int) -> list[AxisShares]:
        check_table_region(region, self)
        parts: list[AxisShares] = []
        for column, mask, axes in zip(self.columns, self._masks[level], self.column_axes, strict=True):
            if column.name in region:
                cells, bits = BitPermutation.extract(mask)(codes), mask.bit_count()
                with column_errors(column.label):
                    found = column.domain.axis_shares(region[column.name], cells, level=bits)
                parts += [part._replace(axis=axes[part.axis]) for part in found]
        return parts

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        check_table_region(region, self)
        records = np.empty(codes.shape, dtype=self.dtype)
        for column, cells, bits in self._cells(codes, level):
            if column.name in region:
                values = column.domain.decode_within(region[column.name], cells, level=bits, rng=rng)
            else:
                values = column.domain.decode(cells, level=bits, rng=rng)
            records[column.label] = values
        return records

    def describe(self, code: int, *, level: int) -> dict[Name, Any]:
        """Region of each column that has been split, by name."""
        cells = self._cells(np.array([code], dtype=np.uint64), level)
        return {column.name: column.domain.describe(int(own[0]), level=bits) for column, own, bits in cells if bits}

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        """Mask of the cells that reports name: those of its column if a table has one, else all."""
        one = len(self.columns) == 1
        return self.columns[0].domain.is_reportable(codes, level=level) if one else np.ones(codes.shape, dtype=np.bool_)

    def round_region(self, region: Any) -> Any:
        domains = {column.name: column.domain for column in self.columns}
        return {name: domains[name].round_region(own) for name, own in region.items()}

    def project(
        self, codes: Codes, levels: NDArray[np.int64], *, columns: Collection[TableColumn]
    ) -> tuple[Codes, NDArray[np.int64]]:
        """Cells projected to some columns: cells of a table of these columns alone.

        Other columns do not affect the order in which these columns are split.
        """
        projected, bits = np.empty_like(codes), np.empty_like(levels)
        for level in np.unique(levels).tolist():
            own = levels == level
            mask = sum(
                bit_mask for bit_mask, column in zip(self._masks[level], self.columns, strict=True) if column in columns
            )
            projected[own], bits[own] = BitPermutation.extract(mask)(codes[own]), mask.bit_count()
        return projected, bits

    def embed(self, codes: Codes, *, level: int, column: TableColumn) -> Codes:
        """A cell of a level for each cell of a column: the one that is first in all other columns."""
        return BitPermutation.deposit(self._masks[level][self.columns.index(column)])(codes)

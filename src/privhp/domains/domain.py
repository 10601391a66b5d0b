"""The domain protocol: a metric space with a fixed binary hierarchy of cells.

A domain encodes records as cells and decodes cells to records. It knows
nothing of counts or noise. For a custom domain, subclass `Domain`, set `kind`,
write the abstract methods, and pass an instance to `privhp.check_domain`.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import Codes, Floats
from privhp.core.display import render
from privhp.domains import registry
from privhp.domains.column_batch import ColumnBatch, frame_columns
from privhp.domains.fields import Field, OutputForm, default_kind, default_names
from privhp.domains.presentation import Presentation
from privhp.domains.shares import ALMOST_ONE, AxisShares
from privhp.domains.to_column import to_column
from privhp.domains.validation import quote
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.table_column import TableColumn

ValueKind = Literal["integers", "numbers", "decimals", "times", "text", "lists of text"]
"""Kind of the values of a column, by the type of the column; numbers may be integers."""

NUMERIC: frozenset[ValueKind] = frozenset({"integers", "numbers", "decimals", "text"})
"""Kinds of values that numbers are read from."""


class Domain(Presentation):
    """A metric space with a hierarchy of cells: each cell of a level splits in two on the next.

    The hierarchy is fixed before the data. Encoding is total: each record gets the code of one cell, or OUTSIDE, from
    that record alone. Two domains are equal if their specs are.
    """

    kind: ClassVar[str]
    """Name of the domain in specs and file headers."""

    ordered: ClassVar[bool] = False
    """Whether cells follow the order of the records, so that the domain has a cdf and quantiles."""

    is_line: bool = False
    """Whether the distance of two records is their difference on a line."""

    accepts: frozenset[ValueKind] | None = None
    """Kinds of columns that records can be read from; None accepts every column."""

    nullable: bool = False
    """Whether a value may be null."""

    null_share: float = 0.0
    """Share of null in the base measure."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register the kind for `Domain.from_spec`."""
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            registry.register(cls)

    @property
    @abstractmethod
    def depth(self) -> int:
        """Deepest level of the hierarchy, between 1 and 63."""

    @property
    def inner(self) -> Domain:
        """Domain of the values that are not null: the domain itself unless it is nullable."""
        return self

    def split_null(self, codes: Codes, *, level: int) -> tuple[NDArray[np.bool_], Codes, int]:
        """Mask of the null cells, and cells of the others in the inner domain with their level."""
        return np.zeros(codes.shape, dtype=np.bool_), codes, level

    reads_by_name: ClassVar[bool] = False
    """Whether readers find the columns of a record by the names of its fields, as for tables."""

    def fields(self) -> tuple[Field, ...]:
        """The values of a record, in order: their names, and how readers read each from a column.

        Unless overridden, those of the records that `to_output` gives: one value, or the numbers of a point.
        """
        rng = np.random.default_rng(0)
        example = np.asarray(self.to_output(self.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)))
        names = default_names(example.shape[1] if example.ndim == 2 else None)
        kind = default_kind(example.dtype)
        return tuple(Field(name, kind, accepts=self.accepts, declared_as=self.kind) for name in names)

    declared_names: tuple[str, ...] | None = None
    """Names of the values of a record that `named` declared, for a domain without columns."""

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the values of a record."""
        return self.declared_names or tuple(field.name for field in self.fields())

    def named(self, *names: str) -> Self:
        """The same domain with names of its values: readers find columns by them, and a release keeps them.

        Names change no cell, so domains that differ in them are equal. A table has names already.

        Args:
            names: A name, or one for each coordinate of a point.
        """
        size = len(self.fields())
        if self.columns or len(names) != size or not all(isinstance(name, str) and name for name in names):
            wanted = "no names, since a table has its own" if self.columns else f"{size} name{'s' * (size > 1)}"
            raise DomainError(f"expected {wanted} for the values of {self!r}, got {quote(list(names))}")
        if len(set(names)) != size:
            raise DomainError(f"expected each name once, got one twice in {quote(list(names))}")
        domain = copy(self)
        domain.declared_names = names
        return domain

    def output_forms(self) -> tuple[OutputForm, ...]:
        """Type of the column of each field in data frames and files of samples, beyond its NumPy dtype."""
        return (OutputForm(),) * len(self.fields())

    def as_batch(self, records: Any) -> Any:
        """A batch of any library or reader in the form that `encode` sees: a `Column`, which can be sliced."""
        batch = frame_columns(records, self.declared_names, self.fields)
        return batch.to_column() if isinstance(batch, ColumnBatch) else to_column(batch)

    @abstractmethod
    def encode(self, records: Any, *, level: int) -> Codes:
        """The cell of each record at a level, or OUTSIDE. Never raises for the value of a record."""

    def encode_columns(self, records: Any, *, level: int, columns: Mapping[str, int]) -> tuple[Codes, dict[str, Codes]]:
        """The cell of each record at a level, and of its values in the domains of some columns.

        A record without a cell has none in any column. Only a `Table` has columns.

        Args:
            records: A batch of records.
            level: Level of the cells of records.
            columns: Level of the cells of each column, by label.
        """
        return self.encode(records, level=level), {}

    @abstractmethod
    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        """A record drawn from the base measure inside each cell. Encoding it gives the cell back."""

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample the allocated number of records in each cell, in the order of the cells.

        Args:
            allocation: The cells, each with a measure above 0, and the number of records in each.
            balanced: Whether the records of a cell are a systematic sample of it, or independent.
            rng: Source of randomness.
            out: Array for the records, of their number, shape and dtype.
        """
        codes, levels, owner = allocation.codes, allocation.levels, allocation.owner
        if balanced:
            positions = allocation.ranks + rng.random(codes.size)[owner]
            shares = np.minimum(positions / allocation.counts[owner], ALMOST_ONE)
        like = self.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)
        records = np.empty((owner.size, *like.shape[1:]), dtype=like.dtype) if out is None else out
        for level in np.unique(levels).tolist():
            chosen = np.flatnonzero(levels[owner] == level)
            inner, deeper = codes[owner[chosen]], level
            if balanced:
                inner, deeper = self._descend(inner, shares[chosen], level)
            records[chosen] = self.decode(inner, level=deeper, rng=rng)
        return records

    def sample_cells(
        self, draws: CellDraws, *, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample a record in the cell of each draw, independently, in the order of the draws."""
        return self.sample_allocation(draws.one_each(), balanced=False, rng=rng, out=out)

    def to_output(self, records: NDArray[Any]) -> Any:
        """Records of `decode` or `sample_allocation` in the form that a caller of `sample` gets."""
        return records

    def _descend(self, codes: Codes, shares: Floats, level: int) -> tuple[Codes, int]:
        """Follow each share of the measure down inside its cell, until few cells hold two of the shares."""
        crowd = int(np.unique(codes, return_counts=True)[1].max(initial=1))
        deepest = min(level + (crowd - 1).bit_length(), self.depth)
        while level < deepest:
            parent = self.measure(codes, level=level)
            level += 1
            codes = codes << np.uint64(1)
            split = self.measure(codes, level=level) / parent
            right = shares >= split
            start, width = np.where(right, split, 0.0), np.where(right, 1.0 - split, split)
            shares = np.minimum((shares - start) / width, ALMOST_ONE)
            codes = codes | right
        return codes, level

    def decode_within(self, region: Any, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        """One record of each cell, drawn from the base measure on its intersection with a region.

        Unless overridden, by descending into children. A deepest cell on the boundary of the region is not split.
        """
        like = self.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)
        records = np.empty((codes.size, *like.shape[1:]), dtype=like.dtype)
        indices = np.arange(codes.size)
        while indices.size:
            inside = (self.overlap(region, codes, level=level) >= 1) | (level == self.depth)
            records[indices[inside]] = self.decode(codes[inside], level=level, rng=rng)
            indices, codes, level = indices[~inside], codes[~inside] << np.uint64(1), level + 1
            if indices.size:
                left, right = (
                    self.measure(child, level=level) * self.overlap(region, child, level=level)
                    for child in (codes, codes | np.uint64(1))
                )
                codes = codes | (rng.random(indices.size) * (left + right) >= left)
        return records

    @abstractmethod
    def diameter(self, level: int) -> float:
        """Largest distance between two records in one cell of a level."""

    def measure(self, codes: Codes, *, level: int) -> Floats:
        """Base measure of each cell, 0 for a cell without records. Uniform unless overridden."""
        return np.full(codes.shape, 2.0**-level)

    def overlap(self, region: Any, codes: Codes, *, level: int) -> Floats:
        """Share of each cell's measure inside a region: 0 only if disjoint, 1 only if the cell lies in the region."""
        raise DomainError(f"a domain of kind {self.kind!r} has no regions, so no mass of a region")

    def region_parts(self, region: Any) -> Sequence[Any]:
        """The disjoint regions of which a region consists, each of them one of `overlap`; unless overridden, itself."""
        return [region]

    def axis_cells(self, codes: Codes, *, level: int) -> list[tuple[Codes, int]]:
        """Cell of each code along each axis, with its level there. Unless overridden the domain is the only axis."""
        return [(codes, level)]

    def null_axis(self, axis: int) -> int | None:
        """The axis that tells null from the values along an axis; None if there is no null, or for this axis itself."""
        return None

    def rhythms(self, axis: int) -> Mapping[int, float]:
        """Unevenness of periods, such as days, by the number of cuts along an axis; whole periods do not show it."""
        return {}

    def axis_shares(self, region: Any, codes: Codes, *, level: int) -> list[AxisShares]:
        """Shares of the cells in a region along each axis that the region cuts; their product is the overlap.

        Unless overridden there is one axis.
        """
        return [AxisShares(0, self.overlap(region, codes, level=level))]

    def describe(self, code: int, *, level: int) -> Any:
        """Region of a cell; in a domain without regions, a text with its code."""
        return f"cell {code:0{level}b}" if level else "everything"

    def is_reportable(self, codes: Codes, *, level: int) -> NDArray[np.bool_]:
        """Mask of the cells that reports name, such as prefixes of whole octets. All unless overridden."""
        return np.ones(codes.shape, dtype=np.bool_)

    def value_regions(self) -> dict[Any, Any]:
        """Region of each value of a domain with few of them, in declared order; empty unless overridden."""
        return {}

    def upper_ends(self, values: NDArray[Any]) -> NDArray[Any]:
        """Records at or below which a cdf counts, from values as ends of a region; unless overridden, the same."""
        return values

    def cell_cdf(self, records: NDArray[Any], codes: Codes, *, level: int) -> Floats:
        """Share of the i-th cell's measure at or below the i-th record. Ordered domains only."""
        raise self._no_order()

    def cell_quantile(self, shares: Floats, codes: Codes, *, level: int) -> NDArray[Any]:
        """Smallest record of the i-th cell with the i-th share of its measure at or below it. Ordered domains only."""
        raise self._no_order()

    def _no_order(self) -> DomainError:
        kind = self.kind if self.inner.ordered else self.inner.kind
        return DomainError(f"a domain of kind {kind!r} has no order, so it has no cdf and no quantiles")

    def random_regions(self, count: int, *, rng: np.random.Generator) -> list[Any]:
        """Random regions for range queries: pairs of quantiles of the base measure in an ordered domain."""
        if not self.ordered:
            raise DomainError(f"random regions need an ordered domain or a Box, got {self!r}; pass regions")
        root = np.zeros(count, dtype=np.uint64)
        ends = np.sort(rng.random((count, 2)))
        lows, highs = (self.cell_quantile(share, root, level=0) for share in ends.T)
        return list(zip(lows.tolist(), highs.tolist(), strict=True))

    def project(
        self, codes: Codes, levels: NDArray[np.int64], *, columns: Collection[TableColumn]
    ) -> tuple[Codes, NDArray[np.int64]]:
        """Cells projected to some columns: cells of a table of these columns alone. Tables only."""
        raise DomainError(f"a domain of kind {self.kind!r} has no columns")

    def embed(self, codes: Codes, *, level: int, column: TableColumn) -> Codes:
        """A cell of a level for each cell of a column, which is projected to it. Tables only."""
        raise DomainError(f"a domain of kind {self.kind!r} has no columns")

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Arguments of the constructor as JSON values."""

    def spec(self) -> dict[str, Any]:
        """The domain as a JSON object, with the declared names of its values as `columns`."""
        names = {} if self.declared_names is None else {"columns": list(self.declared_names)}
        return self.cell_spec() | names

    def cell_spec(self) -> dict[str, Any]:
        """The spec without names: what determines the cells."""
        return {"kind": self.kind, **self.parameters()}

    @staticmethod
    def from_spec(spec: Mapping[str, Any]) -> Domain:
        """The domain that a spec describes."""
        try:
            return registry.build(spec)
        except RecursionError:
            raise DomainError("the spec of the domain is nested too deeply; describe it with fewer levels") from None

    @classmethod
    def from_parameters(cls, given: Mapping[str, Any]) -> Domain:
        """The domain with these parameters, which are JSON values."""
        return registry.construct(cls, given)

    def __repr__(self) -> str:
        """The call of the constructor, with long arguments abbreviated."""
        arguments = ", ".join(f"{name}={quote(value)}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({arguments})"

    def _repr_html_(self) -> str:
        return str(render("domain card", self))

    def __eq__(self, other: object) -> bool:
        """Whether the other domain has the same spec, whatever the names of its values are."""
        return isinstance(other, Domain) and self._serialized() == other._serialized()

    def __hash__(self) -> int:
        """Hash of the spec."""
        return hash(self._serialized())

    def _serialized(self) -> str:
        """The spec without names as JSON text, in which 1 and true differ."""
        import json  # slow to import, and rarely needed

        return json.dumps(self.cell_spec(), sort_keys=True)

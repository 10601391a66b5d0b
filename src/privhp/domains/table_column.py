"""One column of a table: its names, its domain and its weight."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Floats
from privhp.domains.column_batch import stack_points
from privhp.domains.comparisons import suggest
from privhp.domains.domain import Domain
from privhp.domains.nullable import Nullable
from privhp.domains.validation import check_number, quote
from privhp.errors import DomainError, PrivhpError

Name = str | tuple[str, ...]
"""Name of a column; a domain of points has a name for each coordinate."""

_OWN_KEYS = ("name", "weight", "nullable")
"""Keys of the spec of a column that are not those of its domain."""


class TableColumn:
    """A domain with a name, or with a name for each coordinate, and a weight."""

    def __init__(self, name: Any, domain: Any, *, weight: Any = 1.0) -> None:
        """Check the arguments; errors name the column."""
        self.names: tuple[str, ...] = name if isinstance(name, tuple) else (name,)
        if not self.names or not all(isinstance(part, str) and part for part in self.names):
            raise DomainError(
                f"expected the name of a column as a non-empty text, or a tuple of such texts, got {quote(name)}"
            )
        with column_errors(self.label):
            if not isinstance(domain, Domain) or domain.kind == "table":
                raise DomainError(f"expected the domain of one column, such as Interval(0, 1000), got {quote(domain)}")
            self.domain = domain
            self.weight = float(check_number(weight, "the weight"))
            if self.weight <= 0:
                raise DomainError(f"expected a weight above 0, got {self.weight}; leave it out for 1")
            self._check_domain()

    def _check_domain(self) -> None:
        """Refuse a domain that does not match the names, or whose parameters clash with the keys of a column."""
        example = self.domain.to_output(self.example)
        width = 1 if example.ndim == 1 else example.shape[1] if example.ndim == 2 else 0
        if width != len(self.names):
            raise DomainError(
                f"expected a name for each of the {width} coordinates of {self.domain!r}, "
                f'in a tuple such as ("lon", "lat"), got {len(self.names)}'
            )
        if width > 1 and example.dtype.kind != "f":
            raise DomainError(f"expected a domain of single values or of points, got {self.domain!r}")
        if not 0 < self.domain.diameter(0) < np.inf:
            raise DomainError(f"expected a domain with a finite diameter above 0, got {self.domain!r}")
        taken = [key for key in self._inner.parameters() if key in _OWN_KEYS]
        if taken:
            raise DomainError(f"the parameter {taken[0]!r} of the domain is a key of columns in specs; rename it")

    @property
    def label(self) -> str:
        """The names as one text, for messages and results."""
        return ", ".join(self.names)

    @property
    def name(self) -> Name:
        """The name as declared in the table."""
        return self.names[0] if len(self.names) == 1 else self.names

    @property
    def _inner(self) -> Domain:
        return self.domain.domain if isinstance(self.domain, Nullable) else self.domain

    @cached_property
    def example(self) -> NDArray[Any]:
        """One record, for its shape and type."""
        return self.domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=np.random.default_rng(0))

    def relative_diameter(self, bits: int) -> float:
        """Diameter after `bits` splits divided by the diameter of the domain, times the weight.

        Rounded, so that machines with different last digits split the same columns.
        """
        return float(f"{self.weight * self.domain.diameter(bits) / self.domain.diameter(0):.9g}")

    def encode(self, columns: Sequence[Any], *, level: int) -> Codes:
        """Codes of values, from one column of numbers for each name."""
        with column_errors(self.label):
            values = columns[0] if len(columns) == 1 else stack_points(columns)
            return self.domain.encode(values, level=level)

    def region_parts(self, region: Any) -> Sequence[Any]:
        """Disjoint regions of which a region consists; errors name the column."""
        with column_errors(self.label):
            return self.domain.region_parts(region)

    def overlap(self, region: Any, cells: Codes, *, level: int) -> Floats:
        """Share of each cell that a region covers, computed once for each cell of the level if the cells repeat."""
        with column_errors(self.label):
            if 2**level >= cells.size:
                return self.domain.overlap(region, cells, level=level)
            return self.domain.overlap(region, np.arange(2**level, dtype=np.uint64), level=level)[cells.view(np.int64)]

    def to_output(self, values: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
        """Each name with its values of records of the domain."""
        output = self.domain.to_output(np.ascontiguousarray(values))
        yield from zip(self.names, output.reshape(len(values), len(self.names)).T, strict=True)

    def spec(self) -> dict[str, Any]:
        """Name, weight and domain as one JSON object."""
        name = self.names[0] if len(self.names) == 1 else list(self.names)
        own = {"name": name, "weight": self.weight}
        if isinstance(self.domain, Nullable):
            own["nullable"] = self.domain.share
        return own | self._inner.cell_spec()


def coordinate_owner(asked: Any, columns: Iterable[TableColumn]) -> TableColumn | None:
    """The column of points that has a coordinate of this name, if there is one."""
    return next((column for column in columns if len(column.names) > 1 and asked in column.names), None)


def similar_column(asked: Any, columns: Iterable[TableColumn]) -> str:
    """End of a message on a column that a table lacks: the column of this coordinate, or a similar name."""
    columns = list(columns)
    owner = coordinate_owner(asked, columns)
    if owner is not None:
        return f"; it is a coordinate of the column {owner.name!r}"
    return suggest(asked, (name for column in columns for name in column.names)) if isinstance(asked, str) else ""


@contextmanager
def column_errors(label: str) -> Iterator[None]:
    """Prefix messages of errors with the name of the column."""
    try:
        yield
    except PrivhpError as error:
        raise type(error)(f"column {label!r}: {error}") from None


def read_column(spec: Any) -> TableColumn:
    """The column of a JSON object: a name, the spec of a domain, and optionally a weight and nullable."""
    if not isinstance(spec, Mapping) or "name" not in spec:
        raise DomainError(f"expected a column as a mapping with a name and a kind, got {quote(spec)}")
    name = tuple(spec["name"]) if isinstance(spec["name"], list) else spec["name"]
    domain: Domain | None = None
    with column_errors(", ".join(map(str, name)) if isinstance(name, tuple) else str(name)):
        domain = Domain.from_spec({key: value for key, value in spec.items() if key not in _OWN_KEYS})
        share = spec.get("nullable", False)
        if share is not False:
            domain = Nullable(domain) if share is True else Nullable(domain, share=share)
    return TableColumn(name, domain, weight=spec.get("weight", 1.0))

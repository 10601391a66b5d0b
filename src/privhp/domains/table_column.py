"""One column of a table: its names, its domain, and how much its distances count."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes
from privhp.domains.column_batch import stack_points
from privhp.domains.domain import Domain
from privhp.domains.nullable import Nullable
from privhp.domains.validation import check_number, quote
from privhp.errors import DomainError, PrivhpError

Name = str | tuple[str, ...]
"""What a column is called; a domain of several numbers a record has a name for each."""

_OWN_KEYS = ("name", "weight", "nullable")
"""Keys that the spec of a column has besides those of its domain."""


class TableColumn:
    """A domain under a name, or under one for each of its numbers."""

    def __init__(self, name: Any, domain: Any, *, weight: Any = 1.0) -> None:
        """Check all three; an error names the column."""
        self.names: tuple[str, ...] = name if isinstance(name, tuple) else (name,)
        if not self.names or not all(isinstance(part, str) and part for part in self.names):
            raise DomainError(
                f"expected the name of a column as a text that is not empty, or a tuple of them, got {quote(name)}"
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
        """Refuse a domain with other records than there are names, or that cannot be told apart in a spec."""
        example = self.domain.to_output(self.example)
        width = 1 if example.ndim == 1 else example.shape[1] if example.ndim == 2 else 0
        if width != len(self.names):
            raise DomainError(
                f"expected a name for each of the {width} numbers of {self.domain!r}, "
                f'in a tuple such as ("lon", "lat"), got {len(self.names)}'
            )
        if width > 1 and example.dtype.kind != "f":
            raise DomainError(f"expected a domain of single values or of rows of real numbers, got {self.domain!r}")
        if not 0 < self.domain.diameter(0) < np.inf:
            raise DomainError(f"expected a domain with a finite diameter above 0, got {self.domain!r}")
        taken = [key for key in self._inner.parameters() if key in _OWN_KEYS]
        if taken:
            raise DomainError(f"expected a domain without a parameter called {taken[0]}, which says that of the column")

    @property
    def label(self) -> str:
        """The names as one text, for messages and answers."""
        return ", ".join(self.names)

    @property
    def name(self) -> Name:
        """The name as it is given to the table."""
        return self.names[0] if len(self.names) == 1 else self.names

    @property
    def _inner(self) -> Domain:
        return self.domain.domain if isinstance(self.domain, Nullable) else self.domain

    @cached_property
    def example(self) -> NDArray[Any]:
        """One record, for its shape and type."""
        return self.domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=np.random.default_rng(0))

    def distance(self, bits: int) -> float:
        """Diameter after so many cuts, as a share of the whole, weighted.

        Rounded, so that a last digit that differs between machines does not decide which column is cut.
        """
        return float(f"{self.weight * self.domain.diameter(bits) / self.domain.diameter(0):.9g}")

    def encode(self, parts: Sequence[Any], *, level: int) -> Codes:
        """Codes of values that come in as many parts as there are names."""
        with column_errors(self.label):
            values = parts[0] if len(parts) == 1 else stack_points(parts)
            return self.domain.encode(values, level=level)

    def to_output(self, values: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
        """Each name with its part of values that the domain gave."""
        shown_values = self.domain.to_output(np.ascontiguousarray(values))
        yield from zip(self.names, shown_values.reshape(len(values), len(self.names)).T, strict=True)

    def spec(self) -> dict[str, Any]:
        """Name, weight and domain as one JSON object."""
        name = self.names[0] if len(self.names) == 1 else list(self.names)
        own = {"name": name, "weight": self.weight}
        if isinstance(self.domain, Nullable):
            own["nullable"] = self.domain.share
        return own | self._inner.spec()


@contextmanager
def column_errors(label: str) -> Iterator[None]:
    """Put the column before what an error says."""
    try:
        yield
    except PrivhpError as error:
        raise type(error)(f"column {label!r}: {error}") from None


def read_column(spec: Any) -> TableColumn:
    """The column of a JSON object: a name, the spec of a domain and, if wanted, a weight and nullable."""
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

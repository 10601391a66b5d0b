"""The single values that records are made of.

A part is a column of a table, one number of a point, or the whole record. It
knows how a region of it is written as a region of all records.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from privhp.domains import Box, Domain, Geo, Nullable, Table
from privhp.domains.table_column import Name


@dataclass(frozen=True)
class Part:
    """One value of every record.

    Args:
        label: What it is called.
        domain: Where it lives when it is not null; of a point, where the point lives.
        column: Its column in a table.
        coordinate: Which number of a point it is.
        nullable: Whether it may be missing.
    """

    label: str
    domain: Domain
    column: Name | None = None
    coordinate: int | None = None
    nullable: bool = False

    def region(self, own: Any) -> Any:
        """All records whose value lies in a region of its own; None is null, for a value that may be."""
        if self.coordinate is not None and own is not None:
            own = _slab(self.domain, self.coordinate, own)
        return own if self.column is None else {self.column: own}


def parts_of(domain: Domain, names: Sequence[str] | None = None) -> list[Part]:
    """The values of a record, in order.

    Args:
        domain: Where records live.
        names: What they are called, where the domain does not say it.
    """
    if isinstance(domain, Table):
        return [part for column in domain.columns for part in _parts(column.domain, column.names, column.name)]
    return _parts(domain, names, None)


def _parts(domain: Domain, names: Sequence[str] | None, column: Name | None) -> list[Part]:
    inner = domain.domain if isinstance(domain, Nullable) else domain
    nullable = inner is not domain
    labels = names or domain.value_names
    if not isinstance(inner, Box | Geo):
        return [Part(labels[0], inner, column, None, nullable)]
    return [Part(label, inner, column, place, nullable) for place, label in enumerate(labels)]


def _slab(domain: Domain, coordinate: int, ends: tuple[float, float]) -> Any:
    """All points with one of their numbers between two ends."""
    if isinstance(domain, Geo):
        low, high = ends
        if coordinate == 1:
            return None, low, None, high
        if high - low >= 360:
            return None, None, None, None
        return low - 360 * (low >= 180), None, high - 360 * (high > 180), None
    assert isinstance(domain, Box)
    return tuple(ends if place == coordinate else None for place in range(len(domain.axes)))

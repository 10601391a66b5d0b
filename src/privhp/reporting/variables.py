"""The scalar variables of a record: the columns of a table, the coordinates of a point, or the single value."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from privhp.domains import Domain
from privhp.domains.plot_scale import PlotScale
from privhp.domains.table_column import Name


@dataclass(frozen=True)
class Variable:
    """One scalar of every record.

    Args:
        label: Its name.
        domain: Domain of the column, nullable or not; for a coordinate, the domain of the point.
        column: Name of its column in a table.
        coordinate: Index of the coordinate of a point.
    """

    label: str
    domain: Domain
    column: Name | None = None
    coordinate: int = 0

    @property
    def title(self) -> str:
        """Its name in pictures, with a note on its values."""
        return f"{self.label} ({self.scale.note})" if self.scale is not None and self.scale.note else self.label

    @property
    def scale(self) -> PlotScale | None:
        """Axis of its values."""
        return self.domain.plot_scale(self.coordinate)

    @property
    def nullable(self) -> bool:
        """Whether it may be null."""
        return self.domain.nullable

    @property
    def values(self) -> tuple[Any, ...]:
        """All values of a categorical variable, in order."""
        return () if self.scale is None else self.scale.values

    def region(self, of_variable: Any) -> Any:
        """Region of the records with this variable in the region `of_variable`; None is null."""
        region = self.domain.coordinate_region(self.coordinate, of_variable)
        return region if self.column is None else {self.column: region}


def variables_of(domain: Domain, names: Sequence[str] | None = None) -> list[Variable]:
    """The variables of a record, in order.

    Args:
        domain: Domain of the records.
        names: Names of the values, for a domain without columns.
    """
    if domain.columns:
        return [
            Variable(name, column.domain, column.name, index)
            for column in domain.columns
            for index, name in enumerate(column.names)
        ]
    return [Variable(name, domain, None, index) for index, name in enumerate(names or domain.value_names)]

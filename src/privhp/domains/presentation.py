"""How a domain presents itself to people: names, units, conditions and plot scales, with defaults for every domain.

Code outside this package asks these methods and never tests for a class, so a
custom domain gets conditions, units and pictures as the built-in ones do.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from abc import ABC, abstractmethod
from collections.abc import Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Any, ClassVar

from privhp.core.cells import Codes, Floats
from privhp.core.number_format import format_number, round_digits
from privhp.domains.comparisons import (
    choice_condition,
    choice_region,
    continuous_range,
    range_condition,
    ranges_region,
    single_comparison,
)
from privhp.domains.plot_scale import PlotScale
from privhp.domains.unions import merge_ranges, parts_of, union
from privhp.errors import DomainError

if TYPE_CHECKING:
    from privhp.domains.condition_grammar import Predicate
    from privhp.domains.table_column import TableColumn

TRANSPORT = "The mean distance a record must move to turn the synthetic records into the real ones"
"""Beginning of a sentence on the 1-Wasserstein distance, for people."""


class Presentation(ABC):
    """Names, units, conditions and plot scale of a domain."""

    kind: ClassVar[str]
    ordered: ClassVar[bool]

    columns: tuple[TableColumn, ...] = ()
    """Columns of a table; empty for a domain of single values or points."""

    column_axes: tuple[range, ...] = ()
    """Indices of the axes of each column of a table."""

    rectangle: tuple[tuple[float, float], ...] | None = None
    """Bounds of each coordinate, where the distance of two points is their largest difference in a coordinate."""

    @property
    @abstractmethod
    def value_names(self) -> tuple[str, ...]:
        """Names of the values of a record."""

    @abstractmethod
    def diameter(self, level: int) -> float:
        """Largest distance between two records in one cell of a level."""

    @abstractmethod
    def describe(self, code: int, *, level: int) -> Any:
        """Region of a cell."""

    @property
    def short_text(self) -> str:
        """The domain as Python writes it, in at most 80 characters."""
        return shorten(repr(self), 80, placeholder="...")

    # Units

    def format_distance(self, distance: float) -> str:
        """A distance with its unit, to three digits."""
        return format_number(round_digits(distance))

    @property
    def distance_meaning(self) -> str:
        """A sentence on the 1-Wasserstein distance in this domain, for people who do not know the term."""
        return f"{TRANSPORT}."

    def format_resolution(self, level: int) -> str:
        """Size of a cell of a level with its unit; "exact" for cells of a single value."""
        diameter = self.diameter(level)
        return "exact" if diameter == 0 else self.format_distance(diameter + self.value_step)

    def format_resolutions(self, level: int) -> dict[str, str]:
        """Size of each column of a cell of a level, in its own unit, by label."""
        return {", ".join(self.value_names): self.format_resolution(level)}

    def splits_by_column(self, level: int) -> dict[str, int]:
        """Number of splits of each column down to a level, by label."""
        return {", ".join(self.value_names): level}

    def resolution(self, level: int) -> dict[str, float]:
        """Diameter of each column in a cell of a level, in its own unit, by label."""
        return {", ".join(self.value_names): self.diameter(level)}

    # Conditions

    region_form: str = ""
    """The parts of a region of points, for messages."""

    def everything(self) -> Any:
        """Region of all values."""
        return self.describe(0, level=0)

    def parse_value(self, text: str) -> Any:
        """Value that stands in a condition as text; the text itself unless overridden."""
        return text

    def format_value(self, value: Any) -> str:
        """Text of a value that `parse_value` reads back."""
        return str(value)

    def parse_region(self, comparisons: Sequence[Predicate], names: Sequence[str]) -> Any:
        """Region of the values that meet all comparisons.

        Unless overridden, a range of numbers (low, high) in an ordered domain;
        in others a value, a list of values, or the text after `in`.

        Args:
            comparisons: Comparisons of the values of this domain, without those with null.
            names: Names of the values of a record.
        """
        if self.ordered:
            return ranges_region(comparisons, continuous_range)
        if (comparison := single_comparison(comparisons)).sign == "in" and len(comparison.values) == 1:
            return self.parse_value(comparison.values[0])
        return choice_region(comparisons, self.parse_value)

    def unite(self, regions: Sequence[Any]) -> Any:
        """Region of the values in any of several regions of `parse_region`. Unless overridden, of ranges only."""
        parts = [part for region in regions for part in parts_of(region)]
        if not self.ordered or not all(isinstance(part, tuple) and len(part) == 2 for part in parts):
            raise DomainError("conditions on this column cannot be joined by or; query each separately")
        return union(merge_ranges(parts))

    def format_region(self, region: Any, label: str) -> str:
        """Condition that `parse_region` reads back to this region.

        Args:
            region: A region of this domain.
            label: Names of the values, as they stand in a condition.
        """
        if self.ordered and isinstance(region, tuple) and len(region) == 2:
            low, high = map(self.format_value, region)
            return range_condition(label, low, high)
        return choice_condition(label, region, self.format_value)

    def round_region(self, region: Any) -> Any:
        """A region for people, which stays the same: the ends of a range of real numbers to 15 digits."""
        return region

    # Plots

    def region_kind(self, region: Any) -> str:
        """Kind of a region that reports name, such as "first 2 characters"; regions of one kind are disjoint.

        A report has one picture for each kind. Empty unless overridden: all regions are in one picture.
        """
        return ""

    def plot_scale(self, coordinate: int = 0) -> PlotScale | None:
        """Axis of one coordinate; None if its values lie on no axis, so that a plot lists the heavy cells."""
        return None

    def coordinate_region(self, coordinate: int, region: Any) -> Any:
        """Region of the records with one coordinate in a region; of a domain of single values, the region itself."""
        return region

    # Metrics

    @property
    def density_breaks(self) -> tuple[float, ...] | None:
        """Numbers between which the base measure is uniform, bounds included.

        None unless records are real numbers and distances are their differences.
        """
        return None

    value_step: float = 0.0
    """Distance of neighbouring records, if these are numbers with a step whose distances are their differences."""

    def cell_rectangles(self, codes: Codes, *, level: int) -> tuple[Floats, Floats]:
        """Lower and upper ends of each cell, shape (n, d), as shares of the `rectangle`. Domains with one only."""
        raise DomainError(f"a domain of kind {self.kind!r} has no coordinates")

"""A distribution over a domain: it answers queries and samples records.

A distribution is computed from the leaves of a partition with their estimated counts. It is post-processing of a
release: samples and answers incur no further privacy loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from privhp.answers import quantiles
from privhp.answers.axis_cells import AxisCells
from privhp.answers.column_advice import of_all_columns
from privhp.answers.conjunctions import ConjunctionUncertainty
from privhp.answers.estimate import Estimate, as_scalar, mass_estimate
from privhp.answers.leaf_numbers import LineUnit
from privhp.answers.leaves import CountedCells, Leaves
from privhp.answers.quantile_uncertainty import QuantileUncertainty
from privhp.answers.regions import (
    mass,
    mass_bounds,
    masses,
    region_of_column,
    resolved_mass_bounds,
    warn_outside,
)
from privhp.answers.standard_errors import StandardErrors, UnavailableErrors
from privhp.answers.synthetic_records import SyntheticRecords
from privhp.answers.uncertainty import CdfUncertainty, JoinedUncertainty, MassUncertainty, Uncertainty
from privhp.core.cells import Floats
from privhp.core.display import render
from privhp.core.number_format import format_count
from privhp.domains.domain import Domain
from privhp.domains.table_column import column_errors
from privhp.errors import DomainError, QueryError, warn

if TYPE_CHECKING:  # imported when they are asked for
    from privhp.answers.heavy_hitters import HeavyHitter
    from privhp.answers.moments import Moments
    from privhp.domains.table_column import Name

SIGNIFICANT_Z = 3.0
"""Standard errors that the mass of a region with records exceeds."""

R = TypeVar("R")


class Distribution(SyntheticRecords):
    """A partition of a domain with a probability for each leaf, and the domain's base measure inside a leaf.

    Everything it returns is post-processing of a release and has the guarantee of the release.

    Attributes:
        domain: Domain of the records.
        frame: Library of the data frames that `sample` returns for a `Table` by default: that of the fitted data
            frame; None for a dict of arrays.
    """

    def __init__(
        self,
        domain: Domain,
        leaves: Leaves,
        errors: StandardErrors,
        cells: CountedCells | None = None,
        columns: Mapping[str, Distribution] | None = None,
    ) -> None:
        """Take the leaves of a partition with their counts.

        Args:
            domain: Domain of the records.
            leaves: Partition of the domain, with the count of each leaf.
            errors: Standard errors of the expectations of functions on these leaves.
            cells: Cells that the release counts, if they are not the leaves: the cells of a marginal may nest.
            columns: Distributions of the columns that are measured by themselves, by label.
        """
        super().__init__(domain, leaves)
        self._errors, self._cells = errors, leaves if cells is None else cells
        self._measured = {own.name: columns[own.label] for own in domain.columns if columns and own.label in columns}

    def _ask_column(self, where: Any, ask: Callable[[Distribution, Any], R]) -> R | None:
        """The answer of a measured column on a region of this column alone; None on other regions."""
        name, region = region_of_column(where, self._measured)
        if name is None:
            return None
        with column_errors(name if isinstance(name, str) else ", ".join(name)):
            return ask(self._measured[name], region)

    def _mass(self, where: Any) -> float:
        """Probability of a region by the leaves.

        Where columns are measured, leaves divide as finely as the columns show, and parts of leaves only as finely as
        their number allows.
        """
        if self._measured and self.total > 0:
            return min(self._errors.mass(self._errors.region_shares(where)), 1.0)
        return mass(self._histogram, where)

    @cached_property
    def axis_cells(self) -> AxisCells:
        """Cells of the leaves along each axis of the domain."""
        return AxisCells(self.domain, self._leaves.codes, self._leaves.levels)

    def mass(self, where: Any = None) -> Estimate[float]:
        """Probability of a region. A region outside the bounds has the mass 0 and a `PrivhpWarning`.

        Args:
            where: The region: a pair (low, high), one pair per side of a box, an IP prefix, a category or a node, or
                a list of categories or nodes. None stands for an open end, or for a whole side of a box. The region
                of a `Table` is a mapping from columns to regions, all of which must hold; for a nullable column,
                None is null, also in a list.
        """
        alone = self._ask_column(where, Distribution.mass)
        if alone is not None:
            return alone
        value = self._mass(where)
        warn_outside(self.domain, [value], [where])
        return mass_estimate(value, self._errors, where, self._uncertainty(value, [where]))

    def masses(self, regions: Sequence[Any]) -> Estimate[Floats]:
        """Probability of each of several regions, faster than one after the other.

        Args:
            regions: Regions, each as for `mass`.
        """
        values, uncertainty = self._masses(asked := list(regions))
        warn_outside(self.domain, values.tolist(), asked)
        return Estimate(values, uncertainty, lambda place: self.mass_bounds(asked[place]))

    def _masses(self, regions: Sequence[Any]) -> tuple[Floats, Uncertainty]:
        """Masses of regions with their uncertainty; those of one measured column by its own counters."""
        regions = [region_of_column(region, self._measured) for region in regions]
        columns, asked = [name for name, _ in regions], [region for _, region in regions]
        found, parts = np.empty(len(regions)), []
        for name in dict.fromkeys(own for own in columns if own is not None):
            places = [place for place, own in enumerate(columns) if own == name]
            with column_errors(name if isinstance(name, str) else ", ".join(name)):
                found[places], own = self._measured[name]._answer([asked[place] for place in places])
            parts.append((places, own))
        others = [place for place, own in enumerate(columns) if own is None]
        found[others], own = self._answer([asked[place] for place in others])
        return found, JoinedUncertainty([*parts, (others, own)], len(regions)) if parts else own

    def _answer(self, regions: Sequence[Any]) -> tuple[Floats, Uncertainty]:
        """Masses of regions by the leaves, with their uncertainty."""
        by_shares = [self._mass(region) for region in regions] if self._measured else None
        values = np.array(by_shares) if by_shares else masses(self._histogram, self.axis_cells, regions)
        return values, self._uncertainty(values, regions)

    def _uncertainty(self, values: float | Floats, regions: Sequence[Any]) -> Uncertainty:
        """Uncertainty of masses by the leaves, within what measured columns allow."""
        own = MassUncertainty(values, self._errors, self._errors.region_shares, regions)
        return ConjunctionUncertainty(own, values, regions, self._masses) if self._measured else own

    def mass_bounds(self, where: Any = None) -> tuple[float, float]:
        """Probability of the leaves that lie inside a region, and of all leaves that intersect it.

        The release does not resolve the positions of records inside a leaf. If the two bounds differ much, the region
        is smaller than the leaves, and its mass carries little information. Cells that a sketch hardly distinguishes
        count as one leaf.
        """
        alone = self._ask_column(where, Distribution.mass_bounds)
        if alone is not None:
            return alone
        if isinstance(self._errors, UnavailableErrors) or not self.total:
            return mass_bounds(self._histogram, where)
        return resolved_mass_bounds(self._errors, where, self._mass(where))

    def shows_records(self, where: Any) -> bool | None:
        """Whether the release shows that a region holds records: its mass exceeds three standard errors.

        None for plans with the paper's top-down inference, which have no standard errors.

        Args:
            where: The region, as for `mass`.
        """
        alone = self._ask_column(where, Distribution.shows_records)
        if alone is not None:
            return alone
        if isinstance(self._errors, UnavailableErrors):
            return None
        share = mass_estimate(self._mass(where), self._errors, where)
        return bool(share.value > SIGNIFICANT_Z * share.stderr)

    @of_all_columns
    def cdf(self, x: ArrayLike) -> Estimate[Any]:
        """Probability at or below each value: a number for a scalar, an array for an array.

        Only ordered domains have it; for a column of a table, use `marginal`.

        Args:
            x: One value of the domain, or several. A date is its whole day, as the upper end of a region is.
        """
        points = quantiles.upper_ends(self.domain, x)
        values = quantiles.cdf(self._histogram, points)
        return Estimate(as_scalar(values), CdfUncertainty(values, points, self._errors), asked=("value", np.asarray(x)))

    @of_all_columns
    def quantile(self, q: ArrayLike) -> Estimate[Any]:
        """Quantiles: the least value at or below which each share of the distribution lies.

        The quantile of 0 is the least value that can be sampled, the quantile
        of 1 the largest. Only ordered domains have quantiles. The interval
        holds the values whose cumulative probability may be q.

        Args:
            q: One share between 0 and 1, or several.
        """
        values = quantiles.quantile(self._histogram, q)
        shares = np.asarray(q, dtype=np.float64)
        uncertainty = QuantileUncertainty(self._histogram, shares, values, self._errors)
        return Estimate(
            as_scalar(values), uncertainty, asked=("share", shares), zone=self.domain.output_forms()[0].zone
        )

    @of_all_columns
    def mean(self) -> Estimate[Any]:
        """Mean of numbers or times, over the values that the release shows to hold records.

        Noisy counts far from all records are left out; docs/queries.md says by which rule. The
        interval includes what records there may add. For a column of a table, use `marginal`.
        """
        unit = LineUnit(self.domain)
        return self._moments.mean(unit)

    @of_all_columns
    def std(self) -> Estimate[Any]:
        """Standard deviation of numbers, or of times as a duration, over the same values as `mean`."""
        unit = LineUnit(self.domain)
        return self._moments.std(unit)

    def correlation(self, first: Name, second: Name) -> Estimate[float]:
        """Pearson correlation of two columns of a `Table`, over the records in which neither is null.

        Args:
            first: Name of a column of numbers or times.
            second: Name of another one.
        """
        if first == second:
            raise QueryError(f"expected two columns, got {first!r} twice")
        return self.marginal([first, second])._moments.correlation()

    @cached_property
    def _moments(self) -> Moments:
        from privhp.answers.moments import Moments

        return Moments(self._errors.variables())

    @of_all_columns
    def shares(self) -> dict[Any, Estimate[float]]:
        """Share of each value of categories, of a taxonomy or of up to 128 integers; of nullable ones, also of None.

        For a column of a table, use `marginal`.
        """
        regions = self.domain.value_regions()
        if not regions:
            advice = "marginal(COLUMN)" if self.domain.columns else "mass(...) or heavy_hitters(...)"
            raise DomainError(f"{self.domain!r} has no list of values; use {advice}")
        return {value: self.mass(region) for value, region in regions.items()}

    def heavy_hitters(self, threshold: float = 0.01, *, levels: Iterable[int] | None = None) -> list[HeavyHitter]:
        """Hierarchical heavy hitters: cells with at least this residual share of the records, the largest mass first.

        The residual share of a cell excludes the heavy hitters inside it, which
        are found first, from the leaves to the root. Residual shares sum to at
        most 1. At least half the threshold is in leaves that lie inside the cell.
        Neither parts of leaves nor the whole domain are reported.

        Args:
            threshold: Share of all records, above 0 and at most 1.
            levels: Levels of the hierarchy to report, such as [8, 16, 24] for `IPv4`; by default the levels of
                reportable cells: whole octets, nodes of a taxonomy, single categories, and every cell elsewhere.
        """
        from privhp.answers.heavy_hitters import heavy_hitters

        def answer(region: Any, mass: float) -> Estimate[float]:
            alone = self._ask_column(region, Distribution.mass)
            return mass_estimate(mass, self._errors, region) if alone is None else alone

        return heavy_hitters(self._histogram, self._cells, answer, threshold=threshold, levels=levels)

    def marginal(
        self, columns: Name | list[Name] | None = None, *, null: bool = True, where: Any = None
    ) -> Distribution:
        """Marginal distribution of a column of a `Table`, or of the table of several columns.

        A column that is measured by itself answers from its own counters; other
        marginals have the standard errors of the same regions of the joint
        distribution. With `where` it is that of a group of records, such as
        `marginal("fare", where={"paid": "cash"}).mean()`. A `PrivhpWarning` says if the
        release does not show that the group holds records.

        Args:
            columns: Name of a column, or a list of names; left out for the only column, of a table or of another
                domain.
            null: Whether to include null. With null=False, the marginal of a nullable column is conditioned on a
                value being there; numbers then have moments and quantiles, as in `marginal(null=False).mean()`.
            where: Region of other columns, as for `mass`: the distribution is conditioned on it.
        """
        from privhp.answers.marginals import marginalize

        measured = {} if where is not None else self._measured
        if isinstance(columns, str | tuple) and columns in measured:
            own = measured[columns]
            names = columns if isinstance(columns, tuple) else (columns,)
            parts = marginalize(own.domain.named(*names), own._leaves, own._cells, own._errors, None, null=null)
        else:
            parts = marginalize(self.domain, self._leaves, self._cells, self._errors, columns, null=null, where=where)
        if where is not None and self.shows_records(where) is False:
            warn(
                "the release does not show that the region of where= holds records: its mass is within three standard "
                "errors of 0, and answers about it say little"
            )
        labels = {column.label: column.name for column in self.domain.columns}
        marginal = Distribution(*parts, {label: measured[name] for label, name in labels.items() if name in measured})
        marginal.frame = self.frame
        return marginal

    def plot(self) -> Any:
        """A matplotlib figure with a picture of each column and of pairs of columns. Requires matplotlib.

        A notebook displays the figure as the last line of a cell.
        """
        return render("plot", self)

    def _repr_html_(self) -> str:
        return str(render("distribution card", self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()}, {self.count_text})"

    @property
    def count_text(self) -> str:
        """The number of records in words."""
        return f"about {format_count(round(self.total), 'record')}"

    def _summary(self) -> str:
        return f"{self.domain.short_text}, {self._leaves.codes.size:,} leaves"

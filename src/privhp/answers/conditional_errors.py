"""Errors of a distribution given a condition: records in a region of other columns, or records with a value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.leaves import CountedCells
from privhp.answers.standard_errors import CdfMasses, LeafShares
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn

if TYPE_CHECKING:  # which imports this module
    from privhp.answers.leaf_errors import LeafErrors


class ConditionalErrors:
    """Errors of a distribution given a condition: records in a region of other columns, or records with a value.

    An answer is the ratio r = R / C of two masses: of the records in a region that
    meet the condition, and of all that meet it. By the delta method its error is that
    of the expectation of a function that is 1 on the former, 0 on the rest of the
    latter and r on all others, divided by C.

    Args:
        errors: Errors of the distribution of all records, with the condition on a region.
        null: Share of the records of each leaf that have no value and do not count; None if all count.
    """

    def __init__(self, errors: LeafErrors, *, null: Floats | None = None) -> None:
        self._errors = errors
        self._there: Floats = np.ones(errors.leaves.codes.shape) if null is None else 1.0 - null
        self.region_shares, self.cdf_shares = errors.region_shares, errors.cdf_shares
        self.variables, self.is_unseen = errors.variables, errors.is_unseen

    def marginal(self, domain: Domain, columns: Sequence[TableColumn]) -> ConditionalErrors:
        """Errors of the marginal over some columns of a table, under the same condition."""
        return ConditionalErrors(self._errors.marginal(domain, columns))

    @property
    def cells_of_group(self) -> CountedCells | None:
        """Cells of a group of records along one column, as finely as the release shows them; None for other ones."""
        return self._errors.cells_of_group

    def given(self, region: Any) -> ConditionalErrors:
        """Errors of the distribution of those records that are in a region, too."""
        return self._errors.given(region)

    def given_value(self) -> ConditionalErrors:
        """Errors of the values of a nullable domain, under the same condition."""
        return self._errors.given_value()

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value, given the condition."""
        return CdfMasses(*(each / max(self._given, 1e-300) for each in self._errors.cdf_masses(values)))

    @cached_property
    def _given(self) -> float:
        """Mass of the condition."""
        leaves = LeafShares.of_leaves(np.arange(self._there.size))
        return self._errors.mass(leaves._replace(mean=self._there))

    def mass(self, shares: LeafShares) -> float:
        """Mass of a region, given the condition."""
        return self._errors.mass(shares) / max(self._given, 1e-300)

    def standard_errors(self, regions: Sequence[LeafShares]) -> Floats:
        """Standard error of the mass of each region, given the condition."""
        if self._given <= 0:
            return np.ones(len(regions))
        return np.minimum(self._errors.standard_errors(list(map(self._ratio, regions))) / self._given, 1.0)

    def unbiased_masses(self, regions: Sequence[LeafShares]) -> tuple[Floats, Floats]:
        """Mass of each region, given the condition, and its standard error: a ratio has no unbiased estimate."""
        return np.array([self.mass(own) for own in regions]), self.standard_errors(regions)

    def _ratio(self, region: LeafShares) -> LeafShares:
        """Mean, variance and deviation of the function whose expectation has the error of a ratio."""
        leaves = self._errors.leaves
        ratio, shares, condition = min(self.mass(region), 1.0), leaves.dense(region), leaves.condition
        both, others = condition.share * shares.mean, 1.0 - condition.share * self._there
        mean = both + ratio * others
        variance = np.maximum(both + ratio**2 * others - mean**2, 0.0)
        by_condition = np.abs(shares.mean - ratio * self._there)
        deviation = condition.share * shares.deviation + condition.deviation * by_condition
        scatter = np.hypot(condition.share * shares.scatter, condition.scatter * by_condition)
        chosen = np.flatnonzero((mean > 0) | (deviation > 0) | (scatter > 0))
        return LeafShares(chosen, *(each[chosen] for each in (mean, variance, deviation, scatter)))

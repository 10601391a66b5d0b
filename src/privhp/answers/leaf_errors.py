"""Standard errors of the answers of a distribution, its marginals and its conditional distributions.

The leaves of a release project to cells of the domain of each of these distributions. The noise of the leaves and the
errors of their shares in a region give the error of the mass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.conditional_errors import ConditionalErrors
from privhp.answers.cumulative_errors import CumulativeErrors
from privhp.answers.leaf_mean_deviations import leaf_mean_deviations
from privhp.answers.leaf_numbers import leaf_numbers
from privhp.answers.leaves import CountedCells
from privhp.answers.projected_leaves import ProjectedLeaves
from privhp.answers.standard_errors import CdfMasses, LeafShares, StandardErrors
from privhp.answers.variables import Variable
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn


class LeafErrors:
    """Errors of a distribution whose domain the leaves of a release project to.

    Attributes:
        leaves: The projected leaves.

    Args:
        leaves: The projected leaves.
        measured: Errors of the columns that are measured by themselves, by label.
        alone: Those of the only column of the domain.
    """

    def __init__(
        self, leaves: ProjectedLeaves, measured: Mapping[str, StandardErrors], *, alone: StandardErrors | None = None
    ) -> None:
        self.leaves, self._measured, self._alone = leaves, measured, alone

    def marginal(self, domain: Domain, columns: Sequence[TableColumn]) -> LeafErrors:
        """Errors of the marginal over some columns of a table, which has this domain."""
        alone = self._measured.get(columns[0].label) if len(columns) == 1 else None
        return LeafErrors(self.leaves.marginal(domain, columns), self._measured, alone=alone)

    @property
    def cells_of_group(self) -> CountedCells | None:
        """Cells of a group of records along one column, as finely as the release shows them; None for other ones."""
        return self.leaves.cells_of_group

    def given(self, region: Any) -> ConditionalErrors:
        """Errors of the distribution of the records in a region."""
        return ConditionalErrors(LeafErrors(self.leaves.given(region), self._measured))

    def given_value(self) -> ConditionalErrors:
        """Errors of the values of a nullable domain, given that there is a value."""
        return ConditionalErrors(self, null=self.leaves.dense(self.region_shares(None)).mean)

    def region_shares(self, region: Any) -> LeafShares:
        """Shares of the leaves of the release in a region of the domain, or in a union of disjoint ones."""
        return self.leaves.region_shares(region)

    def is_unseen(self, region: Any) -> bool:
        """Whether a region is a single value along an axis of which the release shows no single values."""
        return self.leaves.is_unseen(region)

    @cached_property
    def _cumulative(self) -> CumulativeErrors:
        return CumulativeErrors(self.leaves)

    def cdf_shares(self, value: Any) -> LeafShares:
        """Shares of the leaves of the release at or below a value of an ordered domain."""
        return self._cumulative.shares(value)

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value of an ordered domain."""
        return self._cumulative.masses(values)

    def variables(self) -> list[Variable]:
        """The numeric variable of the domain; of a table, that of each column."""
        leaves = self.leaves
        if leaves.domain.columns:
            columns = [self.marginal(column.domain, [column]) for column in leaves.domain.columns]
            return [variable for own in columns for variable in own.variables()]
        codes, levels, cell_of_leaf = leaves.cells
        numbers = leaf_numbers(leaves.domain, codes, levels).take(cell_of_leaf)
        numbers = (leaves.parts_of_group or leaves.parts).refine(numbers, leaves.domain)
        alone = None if self._alone is None else self._alone.variables()[0]
        return [Variable(numbers, cell_of_leaf, self._mean_deviations, leaves.release, leaves.condition, alone)]

    @cached_property
    def _mean_deviations(self) -> Floats:
        return leaf_mean_deviations(self.leaves)

    def mass(self, shares: LeafShares) -> float:
        """Mass of a region, among all records of the release."""
        return float((self.leaves.counts[shares.leaves] * shares.mean).sum()) / self.leaves.total

    def standard_errors(self, regions: Sequence[LeafShares]) -> Floats:
        """Standard error of the mass of each region."""
        return self.leaves.release.standard_errors(regions)

    def unbiased_masses(self, regions: Sequence[LeafShares]) -> tuple[Floats, Floats]:
        """Mass of each region by counts that may be negative, and its standard error."""
        unbiased, counted = self.leaves.release.unprojected, self.leaves.total
        sums = np.array([unbiased.counts[own.leaves] @ own.mean for own in regions])
        total = max(float(unbiased.counts.sum()), counted)
        return sums / counted, unbiased.standard_errors(regions) * total / counted

"""Standard errors of the answers of a distribution: what computes them, and the shares of leaves that they need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.answers.histogram import sum_by_index
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn
from privhp.errors import QueryError

if TYPE_CHECKING:
    from privhp.answers.leaves import CountedCells
    from privhp.answers.variables import Variable


class LeafShares(NamedTuple):
    """Shares of the leaves that a region touches.

    Args:
        leaves: Index of each leaf.
        mean: Share of its base measure in the region, or its weight in another sum.
        variance: Variance of the indicator of the region for a record drawn from the base measure of the leaf.
        deviation: Standard deviation of the share of the leaf's records in the region from the mean, which all
            leaves at an end share.
        scatter: The same by what each leaf has of its own.
    """

    leaves: NDArray[np.intp]
    mean: Floats
    variance: Floats
    deviation: Floats
    scatter: Floats

    @classmethod
    def of_region(cls, leaves: NDArray[np.intp], mean: Floats, deviation: Floats, scatter: Floats) -> LeafShares:
        """Shares of a region."""
        return cls(leaves, mean, mean * (1.0 - mean), deviation, scatter)

    @classmethod
    def of_leaves(cls, leaves: NDArray[np.intp]) -> LeafShares:
        """Shares of a region that consists of whole leaves."""
        return cls.of_region(leaves, np.ones(leaves.shape), *np.zeros((2, leaves.size)))

    @property
    def inside(self) -> LeafShares:
        """Shares of the union of the leaves inside the region."""
        return self.of_leaves(self.leaves[self.mean >= 1])

    @property
    def touched(self) -> LeafShares:
        """Shares of the union of all leaves that the region touches."""
        return self.of_leaves(self.leaves)

    @property
    def is_leaf(self) -> bool:
        """Whether the region is one leaf."""
        return self.leaves.size == 1 and bool(self.mean[0] == 1)

    def without_resolution(self) -> LeafShares:
        """The same shares with the error of noise alone."""
        return self._replace(deviation=0.0 * self.deviation, scatter=0.0 * self.scatter)

    def plus(self, other: LeafShares) -> LeafShares:
        """Sums of the shares in two regions."""
        leaves, index = np.unique(np.concatenate([self.leaves, other.leaves]), return_inverse=True)
        sums = (
            sum_by_index(index, np.concatenate(pair), leaves.size) for pair in zip(self[1:], other[1:], strict=True)
        )
        return LeafShares(leaves, *sums)


class Condition(NamedTuple):
    """Records that a distribution is conditioned on.

    Args:
        share: Share of the records of each leaf of the release that meet the condition.
        deviation: Standard deviation of this share that all leaves at an end share.
        scatter: The same by what each leaf has of its own.
        axes: Axes of the release that it restricts.
    """

    share: Floats
    deviation: Floats
    scatter: Floats
    axes: frozenset[int]

    @classmethod
    def of_all_records(cls, leaves: int) -> Condition:
        """The condition that every record of a number of leaves meets."""
        return cls(np.ones(leaves), np.zeros(leaves), np.zeros(leaves), frozenset())


class CdfMasses(NamedTuple):
    """What bounds the masses at or below each of several values.

    Args:
        resolution: Standard error of the mass by the resolution of the leaves.
        inside: Mass of the leaves below the value.
        touched: Mass of the leaves that hold values at or below it.
    """

    resolution: Floats
    inside: Floats
    touched: Floats


class StandardErrors(Protocol):
    """Standard errors of the answers of a distribution."""

    def marginal(self, domain: Domain, columns: Sequence[TableColumn]) -> StandardErrors:
        """Standard errors of the marginal over some columns of a table, which has this domain."""
        ...

    @property
    def cells_of_group(self) -> CountedCells | None:
        """Cells of a group of records along one column, as finely as the release shows them; None for other ones."""
        ...

    def given(self, region: Any) -> StandardErrors:
        """Standard errors of the distribution of the records in a region."""
        ...

    def given_value(self) -> StandardErrors:
        """Standard errors of the values of a nullable domain, given that there is a value."""
        ...

    def region_shares(self, region: Any) -> LeafShares:
        """Shares of the leaves of the release in a region of the distribution."""
        ...

    def is_unseen(self, region: Any) -> bool:
        """Whether a region is a single value along an axis of which the release shows no single values."""
        ...

    def cdf_shares(self, value: Any) -> LeafShares:
        """Shares of the leaves of the release at or below a value."""
        ...

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value."""
        ...

    def variables(self) -> list[Variable]:
        """The numeric variable of the distribution; of a table, that of each column."""
        ...

    def mass(self, shares: LeafShares) -> float:
        """Mass of a region."""
        ...

    def standard_errors(self, regions: Sequence[LeafShares]) -> Floats:
        """Standard error of the mass of each region."""
        ...

    def unbiased_masses(self, regions: Sequence[LeafShares]) -> tuple[Floats, Floats]:
        """Mass of each region by counts that may be negative, and its standard error."""
        ...


class UnavailableErrors:
    """Stands for the standard errors of a distribution that has none, for a stated reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    cells_of_group = None

    def _keep(self, *_: Any) -> UnavailableErrors:
        return self

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise QueryError(self._reason)

    marginal = given = given_value = _keep
    region_shares = is_unseen = cdf_shares = cdf_masses = variables = mass = standard_errors = unbiased_masses = _refuse

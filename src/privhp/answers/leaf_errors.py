"""Errors of the answers of a distribution, its marginals and its conditional distributions.

The leaves of a release project to cells of the domain of each of these
distributions. A region covers a share of every such cell; the noise of the
leaves and the unevenness of the axes give the error of the mass.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.leaf_numbers import leaf_numbers
from privhp.answers.standard_errors import CdfMasses, HierarchyErrors, LeafShares
from privhp.answers.unevenness import FINER_CUTS, learn_unevenness, mean_deviation, share_deviation
from privhp.answers.variables import Variable
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.domains.shares import MIN_SHARE, AxisShares, product_share
from privhp.domains.table_column import TableColumn
from privhp.domains.unions import parts_of

AxisParts = Callable[..., list[AxisShares]]
"""Shares of cells along each axis that a region cuts, given their codes and level."""


class LeafErrors:
    """Errors of a distribution whose domain the leaves of a release project to.

    Args:
        release: Errors of the leaves of the release.
        domain: Domain of the distribution.
        codes: Cell of the domain that each leaf projects to.
        levels: Level of each of these cells.
        unevenness: Computes the unevenness of each axis of the domain, by the number of its cuts.
    """

    def __init__(
        self,
        release: HierarchyErrors,
        domain: Domain,
        codes: Codes,
        levels: NDArray[np.int64],
        *,
        unevenness: Callable[[], Sequence[Floats]],
    ) -> None:
        self.release, self.domain, self.codes, self.levels = release, domain, codes, levels
        self._learn = unevenness

    @classmethod
    def of_release(cls, release: HierarchyErrors, domain: Domain) -> LeafErrors:
        """Errors of the distribution of a release itself."""
        hierarchy = release.hierarchy
        codes, levels = (hierarchy.leaf_values(name)[hierarchy.leaf_order] for name in ("codes", "levels"))
        return cls(release, domain, codes, levels, unevenness=partial(learn_unevenness, hierarchy, domain))

    def marginal(self, domain: Domain, columns: Collection[TableColumn]) -> LeafErrors:
        """Errors of the marginal over some columns of a table, which has this domain."""
        cells = self.domain.project(self.codes, self.levels, columns=columns)
        pairs = zip(self.domain.columns, self.domain.column_axes, strict=True)
        axes = [axis for column, own in pairs if column in columns for axis in own]
        return LeafErrors(self.release, domain, *cells, unevenness=partial(self._unevenness_of, axes))

    def given_value(self) -> ConditionalErrors:
        """Errors of the values of a nullable domain, given that there is a value."""
        return ConditionalErrors(self)

    def _unevenness_of(self, axes: Sequence[int]) -> Sequence[Floats]:
        return [self.unevenness[axis] for axis in axes]

    @cached_property
    def unevenness(self) -> Sequence[Floats]:
        """Unevenness of each axis, by the number of its cuts."""
        return self._learn()

    @cached_property
    def _cells(self) -> tuple[Codes, NDArray[np.int64], NDArray[np.int64]]:
        """Distinct cells that leaves project to: code and level of each, and index of the cell of each leaf."""
        first = np.uint64(1) << self.levels.astype(np.uint64)
        _, chosen, cell_of_leaf = np.unique(first | self.codes, return_index=True, return_inverse=True)
        return self.codes[chosen], self.levels[chosen], cell_of_leaf.ravel()

    def region_shares(self, region: Any) -> LeafShares:
        """Share of each leaf of the release in a region of the domain, or in a union of disjoint ones."""
        first, *others = [self._shares(partial(self.domain.axis_shares, part)) for part in parts_of(region)]
        if not others:
            return first
        mean = np.minimum(first.mean + sum(own.mean for own in others), 1.0)
        return LeafShares.of_region(mean, first.deviation + sum(own.deviation for own in others))

    def cdf_shares(self, value: Any) -> LeafShares:
        """Share of each leaf of the release that holds a value at or below this one, of an ordered domain."""
        return self._shares(partial(_cdf_parts, self.domain, np.asarray([value])))

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value: of the cells before the one that holds it, and of a share of this one."""
        found = CdfMasses(*np.zeros((4, values.size)))
        codes, levels, _ = self._cells
        for level in np.unique(levels).tolist():
            here = slice(*np.searchsorted(levels, [level, level + 1]))
            holding = self.domain.encode(values, level=level)
            null = self.domain.split_null(codes[here], level=level)[0]
            before = np.concatenate([[0.0], np.cumsum(np.where(null, 0.0, self._cell_masses[here]))])
            index = np.searchsorted(codes[here], holding)
            for each in (found.mass, found.inside, found.touched):
                each += before[index]
            own = np.flatnonzero(np.append(codes[here], 0)[index] == holding)
            own = own[index[own] < codes[here].size]
            parts = _cdf_parts(self.domain, values[own], holding[own], level=level)
            share, mass = product_share(part.share for part in parts), np.diff(before)[index[own]]
            found.mass[own] += mass * share
            found.resolution[own] += mass * self._deviation(parts, level) * (share > 0)
            found.inside[own] += mass * (share >= 1)
            found.touched[own] += mass * (share > 0)
        return found

    @cached_property
    def _cell_masses(self) -> Floats:
        """Mass of the leaves that project to each distinct cell."""
        counts = self.release.counts
        return np.bincount(self._cells[2], weights=counts) / max(float(counts.sum()), 1e-300)

    def _shares(self, cut: AxisParts) -> LeafShares:
        cell_of_leaf = self._cells[2]
        mean, deviation = self._cell_shares(cut)
        return LeafShares.of_region(mean[cell_of_leaf], deviation[cell_of_leaf])

    def _cell_shares(self, cut: AxisParts) -> tuple[Floats, Floats]:
        """Share of each distinct cell in a region, and its standard deviation."""
        codes, levels, _ = self._cells
        mean, deviation = np.ones(codes.shape), np.zeros(codes.shape)
        for level in np.unique(levels).tolist():
            here = slice(*np.searchsorted(levels, [level, level + 1]))
            parts = cut(codes[here], level=level)
            if parts:
                mean[here] = product_share(part.share for part in parts)
                deviation[here] = self._deviation(parts, level) * (mean[here] > 0)
        return mean, deviation

    def _deviation(self, parts: Sequence[AxisShares], level: int) -> Floats:
        """Sum of the deviations along all axes; each counts in the share of the leaf along the other axes."""
        bits = [own for _, own in self.domain.axis_cells(np.zeros(1, dtype=np.uint64), level=level)]
        total = np.zeros(parts[0].share.shape)
        for index, part in enumerate(parts):
            others = np.prod([own.share for own in (*parts[:index], *parts[index + 1 :])], axis=0)
            cuts = bits[part.axis]
            unevenness = self.unevenness[part.axis][cuts : cuts + FINER_CUTS]
            total += others * share_deviation(part.share, unevenness)
        return total

    def variables(self) -> list[Variable]:
        """The numeric variable of the domain; of a table, that of each column."""
        if self.domain.columns:
            parts = [self.marginal(column.domain, [column]) for column in self.domain.columns]
            return [variable for part in parts for variable in part.variables()]
        codes, levels, cell_of_leaf = self._cells
        numbers, own = leaf_numbers(self.domain, codes, levels), self.unevenness[-1]
        cuts = np.maximum(levels - self.domain.nullable, 0)
        deviations = np.array([mean_deviation(own[each : each + FINER_CUTS]) for each in range(int(cuts.max()) + 1)])
        return [Variable(numbers.take(cell_of_leaf), deviations[cuts][cell_of_leaf], self.release)]

    def mass(self, means: Floats) -> float:
        """Mass of a region that covers these shares of the leaves."""
        return float((self.release.counts * means).sum()) / max(float(self.release.counts.sum()), 1e-300)

    def standard_error(self, shares: LeafShares) -> float:
        """Standard error of the mass of a region that covers these shares of the leaves."""
        return self.release.standard_error(shares)


class ConditionalErrors:
    """Errors of the values of a nullable marginal, given that there is a value.

    An answer is the ratio r = R / V of two masses: of a region of values, and
    of all values. By the delta method its error is that of the expectation of a
    function that is 1 in the region, 0 on other values and r on null, divided by V.

    Args:
        errors: Errors of the marginal with null.
    """

    def __init__(self, errors: LeafErrors) -> None:
        self._errors = errors
        self.marginal, self.given_value = errors.marginal, errors.given_value
        self.region_shares, self.cdf_shares = errors.region_shares, errors.cdf_shares
        self.variables = errors.variables

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value, given that there is a value."""
        valid = max(self._errors.mass(self._values), 1e-300)
        return CdfMasses(*(each / valid for each in self._errors.cdf_masses(values)))

    @cached_property
    def _values(self) -> Floats:
        """Share of each leaf that is not null."""
        return 1.0 - self._errors.region_shares(None).mean

    def mass(self, means: Floats) -> float:
        """Mass of a region of values, given that there is a value."""
        return self._errors.mass(means) / max(self._errors.mass(self._values), 1e-300)

    def standard_error(self, shares: LeafShares) -> float:
        """Standard error of the mass of a region of values, given that there is a value."""
        ratio, valid = min(self.mass(shares.mean), 1.0), self._errors.mass(self._values)
        if valid <= 0:
            return 1.0
        mean = shares.mean + (1.0 - self._values) * ratio
        return min(self._errors.standard_error(shares._replace(mean=mean)) / valid, 1.0)


def _cdf_parts(domain: Domain, values: NDArray[Any], codes: Codes, *, level: int) -> list[AxisShares]:
    """Shares of cells at or below a value, along the axis of the values; one value for all cells, or one for each."""
    null, cells, inner_level = domain.split_null(codes, level=level)
    points = np.broadcast_to(values, codes.shape)[~null]
    below = domain.inner.cell_cdf(points, cells, level=inner_level)
    touched = cells == domain.inner.encode(points, level=inner_level)
    share = np.zeros(codes.shape)
    share[~null] = np.where(touched, np.maximum(below, MIN_SHARE), below)
    if not domain.nullable:
        return [AxisShares(0, share)]
    present = 1.0 - domain.overlap(None, codes, level=level)
    return [AxisShares(0, present), AxisShares(1, share)]

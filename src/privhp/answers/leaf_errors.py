"""Errors of the answers of a distribution, its marginals and its conditional distributions.

The leaves of a release project to cells of the domain of each of these
distributions. A region covers a share of every such cell; the noise of the
leaves and the unevenness of the axes give the error of the mass.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import AxisCells, AxisParts
from privhp.answers.hierarchy_errors import HierarchyErrors
from privhp.answers.histogram import sum_by_index
from privhp.answers.leaf_numbers import leaf_numbers
from privhp.answers.nested_sides import NestedSides
from privhp.answers.share_deviations import heap_deviation, mean_deviation, slope_deviation
from privhp.answers.side_shares import SideShares, cdf_parts, combine
from privhp.answers.standard_errors import CdfMasses, Condition, LeafShares
from privhp.answers.unevenness import FINER_CUTS, AxisUnevenness, learn_unevenness
from privhp.answers.variables import Variable
from privhp.core.cells import Codes, Floats, descendants
from privhp.domains.domain import Domain
from privhp.domains.shares import AxisShares, product_share
from privhp.domains.table_column import TableColumn
from privhp.domains.unions import parts_in


class LeafErrors:
    """Errors of a distribution whose domain the leaves of a release project to.

    Args:
        release: Errors of the leaves of the release.
        domain: Domain of the distribution.
        codes: Cell of the domain that each leaf projects to.
        levels: Level of each of these cells.
        unevenness: Computes the unevenness of each axis of the domain.
        condition: The records of the distribution; by default all.
    """

    def __init__(
        self,
        release: HierarchyErrors,
        domain: Domain,
        codes: Codes,
        levels: NDArray[np.int64],
        *,
        unevenness: Callable[[], Sequence[AxisUnevenness]],
        condition: Condition | None = None,
    ) -> None:
        self.release, self.domain, self.codes, self.levels = release, domain, codes, levels
        self._learn = unevenness
        self.condition = condition or Condition(np.ones(codes.size), *np.zeros((2, codes.size)))
        self._axes = AxisCells(domain, codes, levels)
        self._nested: dict[int, NestedSides] = {}

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
        unevenness = partial(self._unevenness_of, axes)
        return LeafErrors(self.release, domain, *cells, unevenness=unevenness, condition=self.condition)

    def given(self, region: Any) -> ConditionalErrors:
        """Errors of the distribution of the records in a region."""
        shares, before = self.dense(self.region_shares(region)), self.condition
        deviation = before.share * shares.deviation + before.deviation * shares.mean
        scatter = np.hypot(before.share * shares.scatter, before.scatter * shares.mean)
        condition = Condition(before.share * shares.mean, deviation, scatter)
        leaves = (self.release, self.domain, self.codes, self.levels)
        return ConditionalErrors(LeafErrors(*leaves, unevenness=self._learn, condition=condition))

    def given_value(self) -> ConditionalErrors:
        """Errors of the values of a nullable domain, given that there is a value."""
        return ConditionalErrors(self, null=self.dense(self.region_shares(None)).mean)

    def dense(self, shares: LeafShares) -> LeafShares:
        """The shares of all leaves, 0 of those that a region does not touch."""
        leaves = np.arange(self.codes.size)
        return LeafShares(leaves, *(sum_by_index(shares.leaves, each, leaves.size) for each in shares[1:]))

    @cached_property
    def counts(self) -> Floats:
        """Number of records of the distribution in each leaf of the release."""
        counts: Floats = self.release.counts * self.condition.share
        return counts

    def _unevenness_of(self, axes: Sequence[int]) -> Sequence[AxisUnevenness]:
        return [self.unevenness[axis] for axis in axes]

    @cached_property
    def unevenness(self) -> Sequence[AxisUnevenness]:
        """Unevenness of each axis."""
        return self._learn()

    @cached_property
    def _cells(self) -> tuple[Codes, NDArray[np.int64], NDArray[np.int64]]:
        """Distinct cells that leaves project to: code and level of each, and index of the cell of each leaf."""
        first = np.uint64(1) << self.levels.astype(np.uint64)
        _, chosen, cell_of_leaf = np.unique(first | self.codes, return_index=True, return_inverse=True)
        return self.codes[chosen], self.levels[chosen], cell_of_leaf.ravel()

    def region_shares(self, region: Any) -> LeafShares:
        """Shares of the leaves of the release in a region of the domain, or in a union of disjoint ones."""
        first, *others = [
            self._shares(partial(self.domain.axis_shares, part)) for part in parts_in(self.domain, region)
        ]
        if not others:
            return first
        total = reduce(LeafShares.plus, others, first)
        return LeafShares.of_region(total.leaves, np.minimum(total.mean, 1.0), total.deviation, total.scatter)

    def cdf_shares(self, value: Any) -> LeafShares:
        """Shares of the leaves of the release at or below a value of an ordered domain."""
        return self._shares(partial(cdf_parts, self.domain, np.asarray([value])))

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value: of the cells before the one that holds it, and of a share of this one."""
        found, scatter = CdfMasses(*np.zeros((4, values.size))), np.zeros(values.size)
        codes, levels, _ = self._cells
        ends, above = self.domain.encode(values, level=int(levels.max())), np.zeros(values.size)
        for level in np.unique(levels)[::-1].tolist():
            here = slice(*np.searchsorted(levels, [level, level + 1]))
            holding = self.domain.encode(values, level=level)
            null = self.domain.split_null(codes[here], level=level)[0]
            before = np.concatenate([[0.0], np.cumsum(np.where(null, 0.0, self._cell_masses[here]))])
            index = np.searchsorted(codes[here], holding)
            for each in (found.mass, found.inside, found.touched):
                each += before[index]
            own = np.flatnonzero(np.append(codes[here], 0)[index] == holding)
            own = own[index[own] < codes[here].size]
            parts = cdf_parts(self.domain, values[own], holding[own], level=level)
            share, mass = product_share(part.share for part in parts), np.diff(before)[index[own]]
            found.mass[own] += mass * share
            expected = self._nested_cells.errors_below(here.start + index[own], ends[own], share, above[own])
            along = [self._axis_deviations(part, holding[own], level) for part in parts]
            shared, single = combine([part.share for part in parts], *zip(*along, strict=True))
            found.resolution[own] += mass * np.maximum(shared, expected * (share < 1)) * (share > 0)
            scatter[own] += self._cell_squares[here][index[own]] * single**2 * (share > 0)
            above[own] += mass * (1.0 - share)
            found.inside[own] += mass * (share >= 1)
            found.touched[own] += mass * (share > 0)
        return found._replace(resolution=np.sqrt(found.resolution**2 + scatter))

    @cached_property
    def _cell_masses(self) -> Floats:
        """Mass of the leaves that project to each distinct cell."""
        return np.bincount(self._cells[2], weights=self.counts) / self._total

    @cached_property
    def _cell_squares(self) -> Floats:
        """Sum of the squared masses of the leaves that project to each distinct cell."""
        masses: Floats = np.bincount(self._cells[2], weights=(self.counts / self._total) ** 2).astype(np.float64)
        return masses

    @cached_property
    def _nested_cells(self) -> NestedSides:
        """The distinct cells of an ordered domain, without null."""
        codes, levels, _ = self._cells
        null = np.concatenate(
            [self.domain.split_null(codes[levels == level], level=level)[0] for level in np.unique(levels).tolist()]
        )
        return NestedSides(codes, levels, np.where(null, 0.0, self._cell_masses))

    def _nested_sides(self, axis: int) -> NestedSides:
        """The distinct sides along an axis."""
        if axis not in self._nested:
            along = self._axes.along(axis)
            sides = [self.domain.axis_cells(own.codes, level=own.level)[axis] for own in along.groups]
            cuts = np.concatenate([np.full(cells.shape, own) for cells, own in sides])
            masses = np.bincount(along.cell_of_leaf, weights=self.counts).astype(np.float64)
            self._nested[axis] = NestedSides(np.concatenate([cells for cells, _ in sides]), cuts, masses)
        return self._nested[axis]

    def _shares(self, cut: AxisParts) -> LeafShares:
        """Shares of the leaves in a region, by their sides."""
        parts = [self._side_shares(cut, axis) for axis in self._axes.cut_axes(cut)]
        touched = np.ones(self.codes.shape, dtype=np.bool_)
        for part in parts:
            touched &= (part.share > 0)[part.side_of_leaf]
        leaves = np.flatnonzero(touched)
        if not parts:
            return LeafShares.of_leaves(leaves)
        sides = [part.side_of_leaf[leaves] for part in parts]
        shares = [part.share[side] for part, side in zip(parts, sides, strict=True)]
        deviations = [part.deviation[side] for part, side in zip(parts, sides, strict=True)]
        scatters = [part.scatter[side] for part, side in zip(parts, sides, strict=True)]
        return LeafShares.of_region(leaves, product_share(shares), *combine(shares, deviations, scatters))

    def _side_shares(self, cut: AxisParts, axis: int) -> SideShares:
        """Shares of the sides along an axis in a region."""
        along, share = self._axes.along(axis), self._axes.shares(cut, axis)
        deviation, scatter = np.zeros((2, share.size))
        for group, (_, here) in zip(along.groups, along.by_splits(), strict=True):
            part = AxisShares(axis, share[here])
            deviation[here], scatter[here] = self._axis_deviations(part, group.codes, group.level)
        expected = self._nested_sides(axis).errors(share) * ((share > 0) & (share < 1))
        return SideShares(along.cell_of_leaf, share, np.maximum(deviation, expected), scatter)

    def _axis_deviations(self, part: AxisShares, codes: Codes, level: int) -> Floats:
        """Standard deviation of the share of each cell along an axis that leaves share, and of their own."""
        found, cut = np.zeros((2, codes.size)), np.flatnonzero((part.share > 0) & (part.share < 1))
        if cut.size:
            (cells, cuts), share = self.domain.axis_cells(codes[cut], level=level)[part.axis], part.share[cut]
            unevenness = self.unevenness[part.axis]
            heaps = self._heaps(part.axis, cells, cuts) * np.maximum(share, 1.0 - share)
            heaped = unevenness.further_heaps(cuts)
            steepness = self._nested_sides(part.axis).steepness(cells, cuts)
            slopes = slope_deviation(share, unevenness.further(cells, cuts, steepness) - heaped[:, None])
            found[0, cut] = np.maximum(np.hypot(slopes, heap_deviation(share, heaped)), heaps)
            found[1, cut] = slope_deviation(share, unevenness.further_own(cuts))
        return found

    def _heaps(self, axis: int, cells: Codes, cuts: int) -> Floats:
        """Share of the records of each side that may have the same value: those beyond the mean of its neighbours.

        Inside the axis they count if they are more than its unevenness explains. Then the records of the side may end
        inside it, and all beyond the smaller neighbour may be a heap. Where the release shows how a side divides, the
        heap is one of its halves.
        """
        sides, unevenness = self._nested_sides(axis), self.unevenness[axis]
        mean, least = sides.excess(cells, cuts)
        inner = np.where(mean > unevenness.largest_imbalance(cuts - 1), least, 0.0)
        heaps = np.where(unevenness.are_ends(cells, cuts), mean, inner)
        cut = np.flatnonzero(unevenness.are_measured(cells, cuts) & (heaps > 0))
        if cut.size:
            halves = descendants(cells[cut], levels=1)
            counts = sides.counts(halves, cuts + 1)
            own = counts * self._heaps(axis, halves.ravel(), cuts + 1).reshape(halves.shape)
            heaps[cut] = own.max(axis=1) / np.maximum(counts.sum(axis=1), 1e-300)
        return heaps

    def variables(self) -> list[Variable]:
        """The numeric variable of the domain; of a table, that of each column."""
        if self.domain.columns:
            parts = [self.marginal(column.domain, [column]) for column in self.domain.columns]
            return [variable for part in parts for variable in part.variables()]
        codes, levels, cell_of_leaf = self._cells
        numbers, own = leaf_numbers(self.domain, codes, levels), self.unevenness[-1].by_cuts
        cuts = np.maximum(levels - self.domain.nullable, 0)
        deviations = np.array([mean_deviation(own[each : each + FINER_CUTS]) for each in range(int(cuts.max()) + 1)])
        own_deviations = deviations[cuts][cell_of_leaf]
        return [Variable(numbers.take(cell_of_leaf), cell_of_leaf, own_deviations, self.release, self.condition)]

    def mass(self, shares: LeafShares) -> float:
        """Mass of a region, among all records of the release."""
        return float((self.counts[shares.leaves] * shares.mean).sum()) / self._total

    @cached_property
    def _total(self) -> float:
        """Number of records of the release."""
        return max(float(self.release.counts.sum()), 1e-300)

    def standard_errors(self, regions: Sequence[LeafShares]) -> Floats:
        """Standard error of the mass of each region."""
        return self.release.standard_errors(regions)


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
        self._there: Floats = np.ones(errors.codes.shape) if null is None else 1.0 - null
        self.region_shares, self.cdf_shares = errors.region_shares, errors.cdf_shares
        self.variables = errors.variables

    def marginal(self, domain: Domain, columns: Collection[TableColumn]) -> ConditionalErrors:
        """Errors of the marginal over some columns of a table, under the same condition."""
        return ConditionalErrors(self._errors.marginal(domain, columns))

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

    def _ratio(self, region: LeafShares) -> LeafShares:
        """Mean, variance and deviation of the function whose expectation has the error of a ratio."""
        ratio, shares, condition = min(self.mass(region), 1.0), self._errors.dense(region), self._errors.condition
        both, others = condition.share * shares.mean, 1.0 - condition.share * self._there
        mean = both + ratio * others
        variance = np.maximum(both + ratio**2 * others - mean**2, 0.0)
        by_condition = np.abs(shares.mean - ratio * self._there)
        deviation = condition.share * shares.deviation + condition.deviation * by_condition
        scatter = np.hypot(condition.share * shares.scatter, condition.scatter * by_condition)
        leaves = np.flatnonzero((mean > 0) | (deviation > 0) | (scatter > 0))
        return LeafShares(leaves, *(each[leaves] for each in (mean, variance, deviation, scatter)))

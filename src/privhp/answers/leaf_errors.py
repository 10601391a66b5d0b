"""Errors of the answers of a distribution, its marginals and its conditional distributions.

The leaves of a release project to cells of the domain of each of these
distributions. A region covers a share of every such cell; the noise of the
leaves and the unevenness of the axes give the error of the mass.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import AxisCells, AxisParts
from privhp.answers.axis_division import AxisDivision
from privhp.answers.axis_errors import AxisErrors
from privhp.answers.conditional_errors import ConditionalErrors
from privhp.answers.dependence import Dependence
from privhp.answers.division import Division
from privhp.answers.hierarchy_errors import HierarchyErrors
from privhp.answers.histogram import sum_by_index
from privhp.answers.known_sides import Dependent, SideRegion
from privhp.answers.leaf_numbers import leaf_numbers
from privhp.answers.leaves import Leaves
from privhp.answers.nested_sides import NestedSides
from privhp.answers.parts import Parts
from privhp.answers.share_deviations import mean_deviation
from privhp.answers.side_shares import SideShares, cdf_parts, cdf_share, combine
from privhp.answers.standard_errors import CdfMasses, Condition, LeafShares, StandardErrors
from privhp.answers.unevenness import FINER_CUTS, AxisUnevenness, learn_unevenness
from privhp.answers.variables import Variable
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.domains.shares import product_share
from privhp.domains.table_column import TableColumn
from privhp.domains.unions import parts_in

SINGLE_VALUE = 1.5
"""A region of fewer cells of single values is a single value: sides hold somewhat fewer values than such cells."""


class LeafErrors:
    """Errors of a distribution whose domain the leaves of a release project to.

    Args:
        release: Errors of the leaves of the release.
        domain: Domain of the distribution.
        codes: Cell of the domain that each leaf projects to.
        levels: Level of each of these cells.
        parts: The parts of the leaves.
        divisions: How the records divide along some axes of the domain.
        dependence: Dependence of the axes of the release.
        axes: The axis of the release that each axis of the domain is.
        unevenness: Computes the unevenness of each axis of the domain.
        measured: Errors of the columns that are measured by themselves, by label.
        alone: Those of the only column of the domain.
        condition: The records of the distribution; by default all.
    """

    def __init__(
        self,
        release: HierarchyErrors,
        domain: Domain,
        codes: Codes,
        levels: NDArray[np.int64],
        parts: Parts,
        divisions: Mapping[int, AxisDivision],
        dependence: Dependence,
        axes: Sequence[int],
        *,
        unevenness: Callable[[], Sequence[AxisUnevenness]],
        measured: Mapping[str, StandardErrors],
        alone: StandardErrors | None = None,
        condition: Condition | None = None,
    ) -> None:
        self.release, self.domain, self.codes, self.levels, self.parts = release, domain, codes, levels, parts
        self._learn, self._divisions = unevenness, divisions
        self._dependence, self._table_axes, self._measured, self._alone = dependence, axes, measured, alone
        nothing = np.zeros(codes.size)
        self.condition = condition or Condition(np.ones(codes.size), nothing, nothing, frozenset())
        self._axes = AxisCells(domain, codes, levels)
        self._by_axis: dict[int, AxisErrors] = {}

    @classmethod
    def of_release(
        cls,
        release: HierarchyErrors,
        domain: Domain,
        division: Division,
        divided: Leaves,
        measured: Mapping[str, StandardErrors],
    ) -> LeafErrors:
        """Errors of the distribution of a release itself, whose leaves are divided, with those of measured columns."""
        hierarchy = release.hierarchy
        codes, levels = (hierarchy.leaf_values(name)[hierarchy.leaf_order] for name in ("codes", "levels"))
        parts, learn = Parts.of_leaves(divided, domain, codes, levels), partial(learn_unevenness, hierarchy, domain)
        axes = range(len(domain.axis_cells(codes[:1], level=0)))
        divisions = {axis: own.of_leaves(codes, levels) for axis, own in division.axes.items()}
        given = (release, domain, codes, levels, parts, divisions, division.dependence, axes)
        return cls(*given, unevenness=learn, measured=measured)

    def marginal(self, domain: Domain, columns: Sequence[TableColumn]) -> LeafErrors:
        """Errors of the marginal over some columns of a table, which has this domain."""
        cells = self.domain.project(self.codes, self.levels, columns=columns)
        pairs = zip(self.domain.columns, self.domain.column_axes, strict=True)
        axes = [axis for column, own in pairs if column in columns for axis in own]
        divisions = {
            index: self._divisions[axis].project(self.domain, columns)
            for index, axis in enumerate(axes)
            if axis in self._divisions
        }
        parts, unevenness = self.parts.project(self.domain, columns), partial(self._unevenness_of, axes)
        of_table = [self._table_axes[axis] for axis in axes]
        alone = self._measured.get(columns[0].label) if len(columns) == 1 else None
        errors = partial(
            LeafErrors, unevenness=unevenness, measured=self._measured, alone=alone, condition=self.condition
        )
        return errors(self.release, domain, *cells, parts, divisions, self._dependence, of_table)

    def given(self, region: Any) -> ConditionalErrors:
        """Errors of the distribution of the records in a region."""
        axes = range(len(self._table_axes))  # what is asked of these records may restrict any column
        shares, before = self.dense(self.region_shares(region, *axes)), self.condition
        deviation = before.share * shares.deviation + before.deviation * shares.mean
        scatter = np.hypot(before.share * shares.scatter, before.scatter * shares.mean)
        cuts = [partial(self.domain.axis_shares, part) for part in parts_in(self.domain, region)]
        restricted = {self._table_axes[axis] for cut in cuts for axis in self._axes.cut_axes(cut)}
        condition = Condition(before.share * shares.mean, deviation, scatter, before.axes | restricted)
        leaves = (self.release, self.domain, self.codes, self.levels, self.parts)
        learned = (self._divisions, self._dependence, self._table_axes)
        unevenness = partial(self._unevenness_of, axes)
        return ConditionalErrors(
            LeafErrors(*leaves, *learned, unevenness=unevenness, measured=self._measured, condition=condition)
        )

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

    def region_shares(self, region: Any, *others: int) -> LeafShares:
        """Shares of the leaves of the release in a region of the domain, or in a union of disjoint ones.

        Args:
            region: The region.
            others: Further axes that are restricted.
        """
        first, *more = [
            self._shares(partial(self.domain.axis_shares, part), *others) for part in parts_in(self.domain, region)
        ]
        if not more:
            return first
        total = reduce(LeafShares.plus, more, first)
        return LeafShares.of_region(total.leaves, np.minimum(total.mean, 1.0), total.deviation, total.scatter)

    def is_unseen(self, region: Any) -> bool:
        """Whether a region is a single value along an axis of which the release shows no sides that are as narrow.

        Where every side holds several values, all may have the same number of heaps, and look even. Sides of two
        values would have to be uneven in the same way, all of them.
        """
        cuts = (partial(self.domain.axis_shares, part) for part in parts_in(self.domain, region))
        return any(self._is_unseen_value(cut, axis) for cut in cuts for axis in self._axes.cut_axes(cut))

    def _is_unseen_value(self, cut: AxisParts, axis: int) -> bool:
        own, shown = self.unevenness[axis], self._divisions[axis].deepest if axis in self._divisions else 0
        if max(own.shown_cuts, shown) >= own.cuts - 1:
            return False
        shares, along = self._axes.shares(cut, axis), self._axes.along(axis).by_splits()
        return max(float(shares[here].max()) * 2.0 ** (own.cuts - cuts) for cuts, here in along) < SINGLE_VALUE

    def cdf_shares(self, value: Any) -> LeafShares:
        """Shares of the leaves of the release at or below a value of an ordered domain."""
        return self._shares(partial(cdf_parts, self.domain, np.asarray([value])))

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value: of the cells before the one that holds it, and of a share of this one."""
        found, scatter = CdfMasses(*np.zeros((3, values.size))), np.zeros(values.size)
        codes, levels, _ = self._cells
        ends, above = self.domain.encode(values, level=int(levels.max())), np.zeros(values.size)
        divided = self._divided_below(values, int(levels.max()))
        for level in np.unique(levels)[::-1].tolist():
            here = slice(*np.searchsorted(levels, [level, level + 1]))
            holding = self.domain.encode(values, level=level)
            null = self.domain.split_null(codes[here], level=level)[0]
            before = np.concatenate([[0.0], np.cumsum(np.where(null, 0.0, self._cell_masses[here]))])
            index = np.searchsorted(codes[here], holding)
            for each in (found.inside, found.touched):
                each += before[index]
            own = np.flatnonzero(np.append(codes[here], 0)[index] == holding)
            own = own[index[own] < codes[here].size]
            masses, squares = (each[:, here][:, index[own]] for each in self._group_masses)
            along = []
            for part in cdf_parts(self.domain, values[own], holding[own], level=level):
                cells, cuts = self.domain.axis_cells(holding[own], level=level)[part.axis]
                dependent = self._dependent_on(part.axis)
                deviation, single = self._axis_errors(part.axis).deviations(cells, cuts, part.share, dependent)
                region = [each[:, own] for each in divided.get((part.axis, cuts), ())] or [part.share, deviation]
                along.append(np.broadcast_arrays(*region, single, masses)[:3])
            shares, deviations, scatters = zip(*along, strict=True)
            share, (shared, single) = product_share(shares), combine(shares, deviations, scatters)
            if not divided:
                sides, mean = here.start + index[own], share[0]
                expected = self._nested_cells.errors_below(sides, ends[own], mean, above[own])
                shared = np.maximum(shared, expected * (mean < 1))
            found.resolution[own] += (masses * shared * (share > 0)).sum(axis=0)
            scatter[own] += (squares * single**2 * (share > 0)).sum(axis=0)
            above[own] += (masses * (1.0 - share)).sum(axis=0)
            found.inside[own] += (masses * (share >= 1)).sum(axis=0)
            found.touched[own] += (masses * (share > 0)).sum(axis=0)
        return found._replace(resolution=np.sqrt(found.resolution**2 + scatter))

    def _divided_below(self, values: NDArray[Any], deepest: int) -> dict[tuple[int, int], SideRegion]:
        """The part at or below each value of the sides that hold it, by axis and number of cuts, of divided axes."""
        null = int(self.domain.nullable)
        if null not in self._divisions:
            return {}

        def evenly(sides: Codes, cuts: int) -> SideRegion:
            share = cdf_share(self.domain.inner, values, sides, level=cuts)
            return SideRegion(share, self._axis_errors(null).deviations(sides, cuts, share, dependent)[0])

        sides, dependent = self.domain.inner.encode(values, level=deepest - null), self._dependent_on(null)
        found = self._divisions[null].regions_below(sides, deepest - null, evenly, dependent)
        divided = {(null, cuts): own for cuts, own in found.items()}
        if null:
            known = self._known_regions(partial(cdf_parts, self.domain, values[:1]), 0, self._dependent_on(0))
            repeat = partial(np.repeat, repeats=values.size, axis=1)
            divided |= {(0, cuts): SideRegion(*map(repeat, own)) for cuts, own in known.items()}
        return divided

    @cached_property
    def _cell_masses(self) -> Floats:
        """Mass of the leaves that project to each distinct cell."""
        return np.bincount(self._cells[2], weights=self.counts) / self._total

    @cached_property
    def _group_masses(self) -> tuple[Floats, Floats]:
        """Mass of the leaves of each group that project to each distinct cell, and the sum of their squares."""
        division = self._divisions.get(int(self.domain.nullable))
        groups, group = (1, 0) if division is None else (division.groups.size, division.group_of_leaf)
        size, masses = self._cells[0].size, self.counts / self._total
        key = group * size + self._cells[2]
        by_mass, by_square = (sum_by_index(key, each, groups * size) for each in (masses, masses**2))
        return by_mass.reshape(groups, size), by_square.reshape(groups, size)

    @cached_property
    def _nested_cells(self) -> NestedSides:
        """The distinct cells of an ordered domain, without null."""
        codes, levels, _ = self._cells
        null = np.concatenate(
            [self.domain.split_null(codes[levels == level], level=level)[0] for level in np.unique(levels).tolist()]
        )
        return NestedSides(codes, levels, np.where(null, 0.0, self._cell_masses))

    def _axis_errors(self, axis: int) -> AxisErrors:
        """Errors along an axis."""
        if axis not in self._by_axis:
            nested = NestedSides.of_cells(self._axes, axis, self.counts)
            self._by_axis[axis] = AxisErrors(self.unevenness[axis], nested)
        return self._by_axis[axis]

    def _shares(self, cut: AxisParts, *others: int) -> LeafShares:
        """Shares of the leaves in a region, by their sides."""
        axes = self._axes.cut_axes(cut)
        along = {axis: self._axes.shares(cut, axis)[self._axes.along(axis).cell_of_leaf] for axis in axes}
        parts = []
        for axis in axes:
            share = reduce(np.multiply, (own for other, own in along.items() if other != axis), np.ones(1))
            parts.append(self._side_shares(cut, axis, self._dependent_on(axis, [*axes, *others], share)))
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

    def _side_shares(self, cut: AxisParts, axis: int, dependent: Dependent) -> SideShares:
        """Shares of the sides along an axis in a region, of each group one after the other."""
        along, even, errors = self._axes.along(axis), self._axes.shares(cut, axis), self._axis_errors(axis)
        division, known = self._divisions.get(axis), self._known_regions(cut, axis, dependent)
        groups, group = (1, 0) if division is None else (division.groups.size, division.group_of_leaf)
        share, divided = np.tile(even, (groups, 1)), np.zeros(even.shape, dtype=np.bool_)
        deviation, scatter = np.zeros((2, *share.shape))
        for sides, (cuts, here) in zip(along.groups, along.by_splits(), strict=True):
            cells = self.domain.axis_cells(sides.codes, level=sides.level)[axis][0]
            deviation[:, here], scatter[:, here] = errors.deviations(cells, cuts, even[here], dependent)
            if division is not None and cuts in known:
                found, index = division.find(cells, cuts)
                chosen = here.start + found
                share[:, chosen], deviation[:, chosen] = (each[:, index] for each in known[cuts])
                divided[chosen] = True
        # of the sides of all groups: those of no group stand for them
        expected = errors.sides.errors(share[0]) * ((even > 0) & (even < 1) & ~divided)
        side_of_leaf = group * even.size + along.cell_of_leaf
        return SideShares(side_of_leaf, share.ravel(), np.maximum(deviation, expected).ravel(), scatter.ravel())

    def _dependent_on(self, axis: int, others: Sequence[int] = (), share: Floats | float = 1.0) -> Dependent:
        """Dependence of an axis on other ones and on those of the condition, by the number of its cuts.

        Args:
            axis: The axis.
            others: Further axes that are restricted.
            share: Share of the sides of each leaf along these axes that lie in the region.
        """
        own, axes = self._table_axes[axis], {self._table_axes[other] for other in others} | self.condition.axes
        division = self._divisions.get(axis)
        if division is None:
            on_others = self._dependence.on(own, axes)
            return Dependent.without_groups(on_others)
        of_groups, whole = axes & division.groups.axes, np.ones(division.groups.size, dtype=np.bool_)
        on_groups = division.dependence if of_groups else np.zeros(division.dependence.shape)
        if of_groups:
            whole = division.are_whole(self.condition.share * share, self.release.counts)
        return Dependent(on_groups, self._dependence.on(own, axes - of_groups), whole, division.limits)

    def _known_regions(self, cut: AxisParts, axis: int, dependent: Dependent) -> dict[int, SideRegion]:
        """The part in a region of the sides that are known to divide, by the number of their cuts."""

        def evenly(codes: Codes, level: int) -> SideRegion:
            share = self._axes.share(cut, codes, level, axis)
            cells, cuts = self.domain.axis_cells(codes, level=level)[axis]
            return SideRegion(share, self._axis_errors(axis).deviations(cells, cuts, share, dependent)[0])

        return self._divisions[axis].regions(evenly, dependent) if axis in self._divisions else {}

    def variables(self) -> list[Variable]:
        """The numeric variable of the domain; of a table, that of each column."""
        if self.domain.columns:
            parts = [self.marginal(column.domain, [column]) for column in self.domain.columns]
            return [variable for part in parts for variable in part.variables()]
        codes, levels, cell_of_leaf = self._cells
        numbers = leaf_numbers(self.domain, codes, levels).take(cell_of_leaf)
        numbers, deviations = self.parts.refine(numbers, self.domain), self._mean_deviations
        alone = None if self._alone is None else self._alone.variables()[0]
        return [Variable(numbers, cell_of_leaf, deviations, self.release, self.condition, alone)]

    @cached_property
    def _mean_deviations(self) -> Floats:
        """Standard deviation of the mean of the records of each leaf on a line, as a share of its width."""
        codes, levels, cell_of_leaf = self._cells
        axis = int(self.domain.nullable)
        own, dependent, division = self.unevenness[-1].by_cuts, self._dependent_on(axis), self._divisions.get(axis)
        rows = np.maximum(dependent.on_groups, dependent.on_others)
        rows = rows[:, np.minimum(np.arange(own.size), rows.shape[1] - 1)]
        most = max(int(levels.max(initial=0)), 0 if division is None else division.deepest) + 1
        even, *dependently = (
            np.array([mean_deviation(each[cuts : cuts + FINER_CUTS]) for cuts in range(most)]) for each in (own, *rows)
        )
        by_group = np.array(dependently)
        divided = {} if division is None else division.mean_deviations(even, by_group, dependent)
        deviations = np.empty((1 if division is None else division.groups.size, codes.size))
        for level in np.unique(levels).tolist():
            here = np.flatnonzero(levels == level)
            sides, cuts = self.domain.axis_cells(codes[here], level=level)[axis]
            deviations[:, here] = np.maximum(even[cuts], by_group[:, cuts, None])
            if division is not None and cuts in divided:
                known, index = division.find(sides, cuts)
                deviations[:, here[known]] = divided[cuts][:, index]
        of_leaves: Floats = deviations[0 if division is None else division.group_of_leaf, cell_of_leaf]
        return of_leaves

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

    def unbiased_masses(self, regions: Sequence[LeafShares]) -> tuple[Floats, Floats]:
        """Mass of each region by counts that may be negative, and its standard error."""
        unbiased = self.release.unprojected
        sums = np.array([unbiased.counts[own.leaves] @ own.mean for own in regions])
        total = max(float(unbiased.counts.sum()), self._total)
        return sums / self._total, unbiased.standard_errors(regions) * total / self._total

"""The leaves of a release as they project to a domain, with what is known of their division.

A region covers a share of the cell that a leaf projects to. The unevenness of the axes, their dependence on each
other and the sides that are known to divide give the error of this share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import AxisCells, AxisParts
from privhp.answers.axis_division import AxisDivision
from privhp.answers.axis_errors import AxisErrors
from privhp.answers.column_parts import ColumnParts
from privhp.answers.dependence import Dependence
from privhp.answers.division import Division
from privhp.answers.hierarchy_errors import HierarchyErrors
from privhp.answers.histogram import sum_by_index
from privhp.answers.known_sides import Dependent, SideRegion
from privhp.answers.leaves import CountedCells, Leaves
from privhp.answers.nested_sides import NestedSides
from privhp.answers.parts import Parts
from privhp.answers.side_shares import SideShares, combine
from privhp.answers.standard_errors import Condition, LeafShares
from privhp.answers.unevenness import AxisUnevenness, learn_unevenness
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.domains.shares import product_share
from privhp.domains.table_column import TableColumn
from privhp.domains.unions import parts_in

SINGLE_VALUE = 1.5
"""A region of fewer cells of single values is a single value: sides hold somewhat fewer values than such cells."""


@dataclass(frozen=True, eq=False)
class ProjectedLeaves:
    """Leaves of a release, projected to the domain of a distribution.

    Attributes:
        release: Errors of the leaves of the release.
        domain: Domain of the distribution.
        codes: Cell of the domain that each leaf projects to.
        levels: Level of each of these cells.
        parts: The parts of the leaves.
        divisions: How the records divide along some axes of the domain.
        dependence: Dependence of the axes of the release.
        table_axes: The axis of the release that each axis of the domain is.
        compute_unevenness: Computes the unevenness of each axis of the domain.
        condition: The records of the distribution.
    """

    release: HierarchyErrors
    domain: Domain
    codes: Codes
    levels: NDArray[np.int64]
    parts: Parts
    divisions: Mapping[int, AxisDivision]
    dependence: Dependence
    table_axes: Sequence[int]
    compute_unevenness: Callable[[], Sequence[AxisUnevenness]]
    condition: Condition

    @classmethod
    def of_release(
        cls, release: HierarchyErrors, domain: Domain, division: Division, divided: Leaves
    ) -> ProjectedLeaves:
        """The leaves of a release in its own domain, with the parts that they are divided into."""
        hierarchy = release.hierarchy
        codes, levels = (hierarchy.leaf_values(name)[hierarchy.leaf_order] for name in ("codes", "levels"))
        return cls(
            release,
            domain,
            codes,
            levels,
            parts=Parts.of_leaves(divided, domain, codes, levels),
            divisions={axis: own.of_leaves(codes, levels) for axis, own in division.axes.items()},
            dependence=division.dependence,
            table_axes=range(len(domain.axis_cells(codes[:1], level=0))),
            compute_unevenness=partial(learn_unevenness, hierarchy, domain),
            condition=Condition.of_all_records(codes.size),
        )

    def marginal(self, domain: Domain, columns: Sequence[TableColumn]) -> ProjectedLeaves:
        """The leaves as they project to some columns of a table, which have this domain."""
        codes, levels = self.domain.project(self.codes, self.levels, columns=columns)
        pairs = zip(self.domain.columns, self.domain.column_axes, strict=True)
        axes = [axis for column, own in pairs if column in columns for axis in own]
        divisions = {
            index: self.divisions[axis].project(self.domain, columns)
            for index, axis in enumerate(axes)
            if axis in self.divisions
        }
        return replace(
            self,
            domain=domain,
            codes=codes,
            levels=levels,
            parts=self.parts.project(self.domain, columns),
            divisions=divisions,
            table_axes=[self.table_axes[axis] for axis in axes],
            compute_unevenness=partial(self._unevenness_of, axes),
        )

    @cached_property
    def parts_of_group(self) -> ColumnParts | None:
        """The parts of a group of records along one column; None for all records, several columns and points."""
        if not self.condition.axes or not self.divisions or len(self.domain.columns) > 1:
            return None
        cells = CountedCells(self.codes.copy(), self.levels.copy(), self.counts.copy())
        return ColumnParts.of_leaves(self.domain, cells, self.divisions)

    @property
    def cells_of_group(self) -> CountedCells | None:
        """The same parts with their counts."""
        return None if self.parts_of_group is None else self.parts_of_group.counted(self.counts)

    def given(self, region: Any) -> ProjectedLeaves:
        """The same leaves with the condition that records are in a region, too."""
        axes = range(len(self.table_axes))  # what is asked of these records may restrict any column
        shares, before = self.dense(self.region_shares(region, *axes)), self.condition
        deviation = before.share * shares.deviation + before.deviation * shares.mean
        scatter = np.hypot(before.share * shares.scatter, before.scatter * shares.mean)
        restricted = {self.table_axes[axis] for cut in self._cuts(region) for axis in self._axes.cut_axes(cut)}
        condition = Condition(before.share * shares.mean, deviation, scatter, before.axes | restricted)
        return replace(self, condition=condition, compute_unevenness=partial(self._unevenness_of, axes))

    @cached_property
    def _axes(self) -> AxisCells:
        return AxisCells(self.domain, self.codes, self.levels)

    def _cuts(self, region: Any) -> list[AxisParts]:
        """For each part of a region, what computes the shares of cells in it along each axis."""
        return [partial(self.domain.axis_shares, part) for part in parts_in(self.domain, region)]

    @cached_property
    def counts(self) -> Floats:
        """Number of records of the distribution in each leaf of the release."""
        counts: Floats = self.release.counts * self.condition.share
        return counts

    @cached_property
    def total(self) -> float:
        """Number of records of the release."""
        return max(float(self.release.counts.sum()), 1e-300)

    @cached_property
    def unevenness(self) -> Sequence[AxisUnevenness]:
        """Unevenness of each axis."""
        return self.compute_unevenness()

    def _unevenness_of(self, axes: Sequence[int]) -> Sequence[AxisUnevenness]:
        return [self.unevenness[axis] for axis in axes]

    @property
    def line_axis(self) -> int:
        """Axis of the values of an ordered domain; the one before it tells null from values."""
        return int(self.domain.nullable)

    @cached_property
    def cells(self) -> tuple[Codes, NDArray[np.int64], NDArray[np.int64]]:
        """Distinct cells that leaves project to: code and level of each, and index of the cell of each leaf."""
        first = np.uint64(1) << self.levels.astype(np.uint64)
        _, chosen, cell_of_leaf = np.unique(first | self.codes, return_index=True, return_inverse=True)
        return self.codes[chosen], self.levels[chosen], cell_of_leaf.ravel()

    def groups(self, axis: int) -> tuple[int, NDArray[np.intp]]:
        """Number of the groups along an axis, and the group of each leaf."""
        division = self.divisions.get(axis)
        if division is None:
            return 1, np.zeros(self.codes.size, dtype=np.intp)
        return division.groups.size, division.group_of_leaf

    @cached_property
    def _errors_by_axis(self) -> dict[int, AxisErrors]:
        return {}

    def axis_errors(self, axis: int) -> AxisErrors:
        """Errors along an axis, computed once."""
        if axis not in self._errors_by_axis:
            nested = NestedSides.of_cells(self._axes, axis, self.counts)
            self._errors_by_axis[axis] = AxisErrors(self.unevenness[axis], nested)
        return self._errors_by_axis[axis]

    def dependent_on(self, axis: int, others: Sequence[int] = (), share: Floats | float = 1.0) -> Dependent:
        """Dependence of an axis on other ones and on those of the condition, by the number of its cuts.

        Args:
            axis: The axis.
            others: Further axes that are restricted.
            share: Share of the sides of each leaf along these axes that lie in the region.
        """
        own, axes = self.table_axes[axis], {self.table_axes[other] for other in others} | self.condition.axes
        division = self.divisions.get(axis)
        if division is None:
            return Dependent.without_groups(self.dependence.on(own, axes))
        of_groups, whole = axes & division.groups.axes, np.ones(division.groups.size, dtype=np.bool_)
        on_groups = division.dependence if of_groups else np.zeros(division.dependence.shape)
        if of_groups:
            whole = division.are_whole(self.condition.share * share, self.release.counts)
        return Dependent(on_groups, self.dependence.on(own, axes - of_groups), whole, division.limits)

    def known_regions(self, cut: AxisParts, axis: int, dependent: Dependent) -> dict[int, SideRegion]:
        """The part in a region of the sides that are known to divide, by the number of their cuts."""

        def evenly(codes: Codes, level: int) -> SideRegion:
            share = self._axes.share(cut, codes, level, axis)
            cells, cuts = self.domain.axis_cells(codes, level=level)[axis]
            return SideRegion(share, self.axis_errors(axis).deviations(cells, cuts, share, dependent)[0])

        return self.divisions[axis].regions(evenly, dependent) if axis in self.divisions else {}

    def _side_shares(self, cut: AxisParts, axis: int, dependent: Dependent) -> SideShares:
        """Shares of the sides along an axis in a region, of each group one after the other."""
        along, even, errors = self._axes.along(axis), self._axes.shares(cut, axis), self.axis_errors(axis)
        division, known = self.divisions.get(axis), self.known_regions(cut, axis, dependent)
        groups, group = self.groups(axis)
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

    def cut_shares(self, cut: AxisParts, *others: int) -> LeafShares:
        """Shares of the leaves of the release in a region, by their sides.

        Args:
            cut: Computes the shares of cells in the region along each axis.
            others: Further axes that are restricted.
        """
        axes = self._axes.cut_axes(cut)
        along = {axis: self._axes.shares(cut, axis)[self._axes.along(axis).cell_of_leaf] for axis in axes}
        parts = []
        for axis in axes:
            share = reduce(np.multiply, (own for other, own in along.items() if other != axis), np.ones(1))
            parts.append(self._side_shares(cut, axis, self.dependent_on(axis, [*axes, *others], share)))
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

    def region_shares(self, region: Any, *others: int) -> LeafShares:
        """Shares of the leaves of the release in a region of the domain, or in a union of disjoint ones.

        Args:
            region: The region.
            others: Further axes that are restricted.
        """
        first, *more = [self.cut_shares(cut, *others) for cut in self._cuts(region)]
        if not more:
            return first
        total = reduce(LeafShares.plus, more, first)
        return LeafShares.of_region(total.leaves, np.minimum(total.mean, 1.0), total.deviation, total.scatter)

    def dense(self, shares: LeafShares) -> LeafShares:
        """The shares of all leaves, 0 of those that a region does not touch."""
        leaves = np.arange(self.codes.size)
        return LeafShares(leaves, *(sum_by_index(shares.leaves, each, leaves.size) for each in shares[1:]))

    def is_unseen(self, region: Any) -> bool:
        """Whether a region is a single value along an axis of which the release shows no sides of single values.

        Where every side holds several values, all may have the same number of heaps, and look even: those of two
        values, where all records are even numbers.
        """
        return any(self._is_unseen_value(cut, axis) for cut in self._cuts(region) for axis in self._axes.cut_axes(cut))

    def _is_unseen_value(self, cut: AxisParts, axis: int) -> bool:
        own, shown = self.unevenness[axis], self.divisions[axis].deepest if axis in self.divisions else 0
        if max(own.shown_cuts, shown) >= own.cuts:
            return False
        shares, along = self._axes.shares(cut, axis), self._axes.along(axis).by_splits()
        return max(float(shares[here].max()) * 2.0 ** (own.cuts - cuts) for cuts, here in along) < SINGLE_VALUE

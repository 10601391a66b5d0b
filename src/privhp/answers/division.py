"""Leaves of a table, divided as the records of its columns are.

Most cells of a table hold few records, so leaves are wide along each column. Some leaves are
narrower than others: pooled over all of them, the release shows how a column divides, further
than a single leaf does. A leaf is divided in halves by these pooled shares, as long as that
moves enough records. What no leaf shows stays even.
"""

from collections.abc import Collection, Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import AxisCells
from privhp.answers.axis_division import AxisDivision, MovedShares, halve
from privhp.answers.column_splits import ColumnSplits
from privhp.answers.dependence import Dependence
from privhp.answers.group_splits import Groups, GroupSplits, LevelSides, choose_groups
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.histogram import sum_by_index
from privhp.answers.known_sides import KnownSides
from privhp.answers.leaves import Leaves
from privhp.answers.nested_sides import NestedSides
from privhp.answers.side_splits import pool_all_splits
from privhp.core.cells import Codes, Floats, by_level, domain_order
from privhp.domains.domain import Domain

FINENESS, MAX_PARTS = 16, 8
"""A part is halved if that moves more than a sixteenth of what is moved in the mean leaf; most halvings for each."""

FEW_LEAVES = 16_384
"""Fewer leaves are divided as finely as this number of them."""


class Division:
    """How the columns of a table of several columns divide. Points stay even: their axes depend on each other.

    Attributes:
        axes: Division of each axis of such columns; empty for other domains.
        dependence: Dependence of the axes.

    Args:
        hierarchy: The solved hierarchy.
        leaves: Its leaves.
        domain: Its domain.
        measured: Hierarchies of the columns that are measured by themselves, by label.
    """

    def __init__(self, hierarchy: Hierarchy, leaves: Leaves, domain: Domain, measured: Mapping[str, Hierarchy]) -> None:
        self._domain, self._leaves = domain, leaves
        pairs = zip(domain.columns, domain.column_axes, strict=True)
        columns = [
            (column, axes)
            for column, axes in pairs
            if len(domain.columns) > 1 and len(axes) == 1 + column.domain.nullable
        ]
        self.dependence = Dependence(hierarchy, domain)
        self._levels = self.dependence.levels if columns else ()
        self._cells = AxisCells(domain, leaves.codes, leaves.levels)
        variance = float(hierarchy.leaf_values("variance").mean())
        self._alone = {
            label: ColumnSplits(own, label, domain, leaves, variance=variance) for label, own in measured.items()
        }
        self.axes: dict[int, AxisDivision] = {}
        for column, axes in columns:
            others = [axis for own in domain.column_axes if own is not axes for axis in own]
            shown = self._sides_of(axes)
            groups = choose_groups(domain, [*shown.values()], others)
            for axis in axes:
                inner = column.domain.inner if axis == axes[-1] else None
                known, own = self._divide_axis(axis, inner, self._alone.get(column.label))
                self.axes[axis] = self._in_groups(axis, known, own, groups, shown)
        self._moved_shares = {axis: MovedShares(own) for axis, own in self.axes.items()}

    def _sides_of(self, axes: Collection[int]) -> dict[int, LevelSides]:
        """Sides of the levels that are cut along some axes, as far as the release divides their cells."""
        levels = [(level, own) for level, own in enumerate(self._levels) if own.axis in axes]
        found = ((level, LevelSides.of_level(self._domain, level, own)) for level, own in levels)
        return {level: own for level, own in found if own is not None}

    def _divide_axis(
        self, axis: int, inner: Domain | None, alone: ColumnSplits | None
    ) -> tuple[dict[int, KnownSides], dict[int, float]]:
        """How all records of the sides along an axis divide, and the mean square of each cell's own imbalance.

        Both are by the number of cuts.

        Args:
            axis: The axis.
            inner: Domain of the values, unless the axis tells null from values.
            alone: Splits of the column, if it is measured by itself.
        """
        leaves, known, imbalances = self._leaves, dict[int, KnownSides](), dict[int, float]()
        sides = NestedSides.of_cells(self._cells, axis, leaves.counts)
        for level, (own_axis, splits, counted) in enumerate(self._levels):
            if own_axis != axis:
                continue
            pooled = None if splits is None else pool_all_splits(self._domain, axis, level, splits)
            own = 0.0 if pooled is None else pooled.own
            divided = [] if splits is None else [splits.significant.codes]
            divided += [] if alone is None else [alone.cells(level)]
            codes = np.concatenate([leaves.codes[:0], *divided])
            own_sides, cuts = self._domain.axis_cells(codes, level=level)[axis]
            shown = [] if inner is None else [KnownSides.of_one_sided(own_sides, cuts, codes, level, inner)]
            by_column = None if alone is None else alone.pool(axis, level, own=own)
            if by_column is not None and alone is not None and by_column.shared > 0:
                counted_alone = alone.is_counted(level)
                shown.append(KnownSides.of_splits(by_column, level, by_column.counts, counted=counted_alone))
            if pooled is not None and pooled.shared > 0:
                counts = sides.counts(pooled.sides, cuts)
                shown.append(KnownSides.of_splits(pooled, level, counts, counted=counted))
            there = reduce(KnownSides.plus, shown) if shown else None
            if there is not None and there.sides.size:
                known[cuts], imbalances[cuts] = there, own
        return known, imbalances

    def _in_groups(
        self,
        axis: int,
        known: Mapping[int, KnownSides],
        imbalances: Mapping[int, float],
        groups: Groups,
        shown: Mapping[int, LevelSides],
    ) -> AxisDivision:
        """How the records of the sides along an axis divide in each group.

        Args:
            axis: The axis.
            known: How all records of the sides divide, by the number of cuts.
            imbalances: Mean square of each cell's own imbalance.
            groups: The groups.
            shown: Sides of the levels that are cut along the axis, and of others.
        """
        leaves = self._leaves
        group_of_leaf = groups.of_leaves(leaves.codes, leaves.levels)
        totals = sum_by_index(group_of_leaf, leaves.counts, groups.size)
        counts = _GroupCounts(totals, NestedSides.of_cells(self._cells, axis, leaves.counts))
        average, grouped = self.dependence.on(axis, groups.axes), dict[int, KnownSides]()
        dependence = np.tile(average, (groups.size, 1))
        if not groups.cuts:
            return AxisDivision(known, group_of_leaf, groups, dependence)
        levels = [level for level, own in enumerate(self._levels) if own.axis == axis]
        for cuts, level in enumerate(levels):
            before = np.maximum(dependence[:, max(cuts - 1, 0)], average[cuts])
            own = shown.get(level)
            dependence[1:, cuts:] = (before if own is None else own.counts(groups).dependence(before))[1:, None]
            if cuts in known:
                records = counts.of(known[cuts].sides, cuts, grouped)
                splits = (
                    GroupSplits.unknown(*records.shape)
                    if own is None
                    else own.split_by_groups(groups, known[cuts].sides, own=imbalances[cuts], records=records)
                )
                grouped[cuts] = known[cuts].in_groups(splits, records)
        return AxisDivision(grouped, group_of_leaf, groups, dependence)

    def _moved(self, codes: Codes, level: int) -> Floats:
        """Largest share of each cell's records that the division along one axis moves."""
        sides = self._domain.axis_cells(codes, level=level)
        shares = [
            own.of(*sides[axis], self.axes[axis].groups.of(codes, level)) for axis, own in self._moved_shares.items()
        ]
        largest: Floats = np.max(shares, axis=0, initial=0.0)
        return largest

    def _halve(self, codes: Codes, counts: Floats, level: int) -> tuple[Codes, Floats]:
        """Both halves of each cell, with their counts."""
        axis = self._levels[level].axis
        division = self.axes.get(axis)
        group = np.zeros(codes.shape, dtype=np.intp) if division is None else division.groups.of(codes, level)
        halves, shares = halve(self._domain, codes, level, axis, division, group)
        return halves.ravel(), (counts[:, None] * shares).ravel()

    def divide(self) -> Leaves:
        """The leaves, divided where that moves enough records."""
        leaves = self._leaves
        if not self.axes:
            return leaves
        levels = by_level(leaves.levels)
        total = sum(float(leaves.counts[here] @ self._moved(leaves.codes[here], level)) for level, here in levels)
        number = max(leaves.codes.size, FEW_LEAVES)
        least, left = total / (FINENESS * number), MAX_PARTS * number
        parts: list[tuple[Codes, NDArray[np.int64], Floats]] = []
        codes, counts = leaves.codes[:0], leaves.counts[:0]
        for level in range(int(leaves.levels.min()), self._domain.depth + 1):
            here = leaves.levels == level
            codes, counts = np.concatenate([codes, leaves.codes[here]]), np.concatenate([counts, leaves.counts[here]])
            moved = counts * self._moved(codes, level)
            split = np.zeros(codes.shape, dtype=np.bool_)
            split[np.argsort(-moved, kind="stable")[: min(np.count_nonzero(moved > least), left)]] = True
            left -= int(np.count_nonzero(split))
            parts.append((codes[~split], np.full(np.count_nonzero(~split), level), counts[~split]))
            if not split.any() and level >= leaves.levels.max():
                break
            codes, counts = self._halve(codes[split], counts[split], level)
        all_codes, all_levels, all_counts = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = domain_order(all_codes, all_levels, depth=int(all_levels.max()))
        return Leaves(all_codes[order], all_levels[order], all_counts[order])


class _GroupCounts:
    """Number of records of sides along an axis in each group, from the coarsest sides to their halves.

    Args:
        totals: Number of all records of each group.
        sides: The sides of the leaves.
    """

    def __init__(self, totals: Floats, sides: NestedSides) -> None:
        self._totals, self._sides, self._counts = totals, sides, dict[int, Floats]()

    def of(self, sides: Codes, cuts: int, known: Mapping[int, KnownSides]) -> Floats:
        """Number of records of some sides, shape (groups, sides).

        Args:
            sides: The sides.
            cuts: Number of their cuts, more than before.
            known: The known sides with fewer cuts.
        """
        share = self._sides.counts(sides, cuts) / max(float(self._totals.sum()), 1e-300)
        counts = self._totals[:, None] * share
        if cuts - 1 in known:
            above, index = known[cuts - 1].find(sides >> np.uint64(1))
            first = known[cuts - 1].first[:, index]
            part = np.where(sides[above] % np.uint64(2) > 0, 1.0 - first, first)
            counts[:, above] = self._counts[cuts - 1][:, index] * part
        self._counts[cuts] = counts
        return counts

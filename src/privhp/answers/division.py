"""Leaves of a table, divided as the records of its columns are.

Most cells of a table hold few records, so leaves are wide along each column. Some leaves are
narrower than others: pooled over all of them, the release shows how a column divides, further
than a single leaf does. A leaf is divided in halves by these pooled shares, as long as that
moves enough records. What no leaf shows stays even.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import AxisCells
from privhp.answers.axis_division import AxisDivision, KnownSides
from privhp.answers.column_splits import ColumnSplits
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.leaves import Leaves
from privhp.answers.nested_sides import NestedSides
from privhp.answers.side_splits import learn_splits, pool_all_splits
from privhp.core.cells import Codes, Floats, descendants, domain_order
from privhp.domains.domain import Domain

FINENESS, MAX_PARTS = 16, 8
"""A part is halved if that moves more than a sixteenth of what is moved in the mean leaf; most halvings for each."""

FEW_LEAVES = 16_384
"""Fewer leaves are divided as finely as this number of them."""


class Division:
    """How the columns of a table of several columns divide. Points stay even: their axes depend on each other.

    Attributes:
        axes: Division of each axis of such columns; empty for other domains.

    Args:
        hierarchy: The solved hierarchy.
        leaves: Its leaves.
        domain: Its domain.
        measured: Hierarchies of the columns that are measured by themselves, by label.
    """

    def __init__(self, hierarchy: Hierarchy, leaves: Leaves, domain: Domain, measured: Mapping[str, Hierarchy]) -> None:
        self._domain, self._leaves = domain, leaves
        columns = {
            axis: column
            for column, axes in zip(domain.columns, domain.column_axes, strict=True)
            if len(domain.columns) > 1 and len(axes) == 1 + column.domain.nullable
            for axis in axes
        }
        inner = {axes[-1]: column.domain.inner for column, axes in zip(domain.columns, domain.column_axes, strict=True)}
        cells = AxisCells(domain, leaves.codes, leaves.levels)
        sides = {axis: NestedSides.of_cells(cells, axis, leaves.counts) for axis in columns}
        levels = learn_splits(hierarchy, domain) if columns else []
        variance = float(hierarchy.leaf_values("variance").mean())
        alone = {label: ColumnSplits(own, label, domain, leaves, variance=variance) for label, own in measured.items()}
        known: dict[int, dict[int, KnownSides]] = {axis: {} for axis in columns}
        for level, (axis, splits, counted) in enumerate(levels):
            if axis not in columns:
                continue
            pooled = None if splits is None else pool_all_splits(domain, axis, level, splits)
            label, own = columns[axis].label, 0.0 if pooled is None else pooled.own
            found = alone[label].pool(axis, level, own=own) if label in alone else None
            if found is not None:
                pooled, counted = found, alone[label].is_counted(level)
            divided = [] if splits is None else [splits.significant.codes]
            divided += [alone[label].cells(level)] if label in alone else []
            codes = np.concatenate([leaves.codes[:0], *divided])
            own_sides, cuts = domain.axis_cells(codes, level=level)[axis]
            there = KnownSides.of_one_sided(own_sides, cuts, codes, level, inner[axis]) if axis in inner else None
            if pooled is not None and pooled.shared > 0:
                counts = sides[axis].counts(pooled.sides, cuts) if found is None else found.counts
                split = KnownSides.of_splits(pooled, level, counts, counted=counted)
                there = split if there is None else split.plus(there)
            if there is not None and there.sides.size:
                known[axis][cuts] = there
        self._axis_of_level = [own.axis for own in levels]
        self.axes = {axis: AxisDivision(own) for axis, own in known.items()}

    def _moved(self, codes: Codes, level: int) -> Floats:
        """Largest share of each cell's records that the division along one axis moves."""
        sides = self._domain.axis_cells(codes, level=level)
        shares = [own.moved(*sides[axis]) for axis, own in self.axes.items()]
        largest: Floats = np.max(shares, axis=0, initial=0.0)
        return largest

    def _halve(self, codes: Codes, counts: Floats, level: int) -> tuple[Codes, Floats]:
        """Both halves of each cell, with their counts."""
        halves, axis = descendants(codes, levels=1), self._axis_of_level[level]
        measures = self._domain.measure(halves.ravel(), level=level + 1).reshape(halves.shape)
        first = measures[:, 0] / measures.sum(axis=1)
        if axis in self.axes:
            possible = (measures > 0).all(axis=1)
            sides, cuts = self._domain.axis_cells(codes, level=level)[axis]
            first = np.where(possible, self.axes[axis].first_shares(sides, cuts, first), first)
        return halves.ravel(), (counts[:, None] * np.stack([first, 1.0 - first], axis=1)).ravel()

    def divide(self) -> Leaves:
        """The leaves, divided where that moves enough records."""
        leaves = self._leaves
        if not self.axes:
            return leaves
        total = sum(
            float(leaves.counts[here] @ self._moved(leaves.codes[here], level)) for level, here in _by_level(leaves)
        )
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


def _by_level(leaves: Leaves) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Each level with the mask of its leaves."""
    for level in np.unique(leaves.levels).tolist():
        yield level, leaves.levels == level

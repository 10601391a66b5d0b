"""How the records of groups divide along an axis of a table: those of one category, or of one range of another column.

A group is the cells with the same side along an axis of another column, after a fixed number of cuts. A column that
depends on the other divides otherwise in each group. As far as groups differ by more than
noise explains, the leaves of a group divide as its own cells do.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.dependence import compare_groups
from privhp.answers.histogram import sum_by_index
from privhp.answers.side_splits import SIGNIFICANCE, LevelSplits, Splits
from privhp.core.cells import Codes, Floats, by_level
from privhp.domains.domain import Domain

Indices = NDArray[np.intp]

MAX_CUTS, STEPS = 4, (1, 2)
"""Most cuts that groups have, which makes sixteen of them; numbers of cuts that are added at once."""

MOST_LEVELS = 6
"""Number of levels that decide about groups: those that divide most records."""

CLEAR_Z = 4.0
"""Standard errors by which groups must differ for a column to have them."""


class Groups(NamedTuple):
    """Groups of cells by their sides along some axes. Cells with fewer cuts along one of them are in no group.

    Args:
        domain: The table.
        cuts: Number of cuts of each of these axes.
    """

    domain: Domain
    cuts: Mapping[int, int]

    @property
    def axes(self) -> set[int]:
        """Axes of the columns that the groups are of."""
        return {axis for own in self.domain.column_axes if self.cuts.keys() & set(own) for axis in own}

    @property
    def size(self) -> int:
        """Number of groups, with that of cells without a group."""
        return 1 + (1 << sum(self.cuts.values())) * bool(self.cuts)

    def of(self, codes: Codes, level: int) -> Indices:
        """Group of each cell of a level; 0 for no group."""
        return self.find(self.domain.axis_cells(codes, level=level))

    def find(self, along: Sequence[tuple[Codes, int]]) -> Indices:
        """Group of each cell, given the cells along each axis and the number of their cuts."""
        found = np.zeros(along[0][0].shape, dtype=np.intp)
        if not self.cuts or any(along[axis][1] < own for axis, own in self.cuts.items()):
            return found
        for axis, own in self.cuts.items():
            sides, cuts = along[axis]
            found = found << own | (sides >> np.uint64(cuts - own)).astype(np.intp)
        return 1 + found

    def of_leaves(self, codes: Codes, levels: NDArray[np.int64]) -> Indices:
        """Group of each of some leaves."""
        found = np.zeros(codes.shape, dtype=np.intp)
        for level, here in by_level(levels):
            found[here] = self.of(codes[here], level)
        return found

    def finer(self, others: Collection[int]) -> list[Groups]:
        """Groups with more cuts of one axis."""
        left = MAX_CUTS - sum(self.cuts.values())
        return [
            Groups(self.domain, {**self.cuts, axis: self.cuts.get(axis, 0) + more})
            for axis in others
            for more in STEPS
            if more <= left
        ]


class GroupSplits(NamedTuple):
    """How some sides divide in each group, shape (groups, sides). The first row, of no group, tells nothing.

    Args:
        first: Share of the group's records in the first half.
        variance: Variance of this share.
        told: How far it is known, from 0, as in all records, to 1.
        shown: Share of the group's records that are in cells which show it.
    """

    first: Floats
    variance: Floats
    told: Floats
    shown: Floats

    @classmethod
    def unknown(cls, groups: int, sides: int) -> GroupSplits:
        """That of sides of which no cell shows the halves."""
        return cls(*np.zeros((4, groups, sides)))


class _Counts(NamedTuple):
    """Counts of some sides by group, shape (groups, sides): of both halves, of the first, their noise, squares."""

    both: Floats
    first: Floats
    noise: Floats
    squares: Floats

    def take(self, index: Indices, there: NDArray[np.bool_]) -> _Counts:
        """Counts of the sides with an index; 0 of those that are not there."""
        return _Counts(*(own[:, index] * there for own in self))

    def differences(self, own: float = 0.0) -> tuple[Floats, Floats, Floats, Floats]:
        """Difference of each group from all groups, its variance, the spread of single records, and the group's share.

        Args:
            own: Mean square of each cell's own imbalance.
        """
        clear = self.both > SIGNIFICANCE * np.sqrt(self.noise)
        clear[0] = False
        both = np.where(clear, self.both, 0.0)
        total = np.maximum(both.sum(axis=0), 1e-300)
        pooled = np.clip(np.where(clear, self.first, 0.0).sum(axis=0) / total, 0.0, 1.0)
        count = np.maximum(self.both, 1e-100)
        share = np.clip(self.first / count, 0.0, 1.0)
        spread = pooled * (1.0 - pooled)
        noise = self.noise * (0.5 - spread) / count**2 + spread * (1.0 / count + own * self.squares / count**2)
        difference = np.where(clear, share - pooled, 0.0)
        return difference, np.where(clear, noise * (1.0 - both / total), 0.0), spread, share

    def dependence(self, before: Floats) -> Floats:
        """Squared dependence of each group: what its counts show, as far as noise allows, else that before."""
        clear = self.both > SIGNIFICANCE * np.sqrt(self.noise)
        clear[0] = False
        group, side = np.nonzero(clear)
        sides = np.unique(side, return_inverse=True)[1]
        squares, errors, _ = compare_groups(sides, *(own[clear] for own in (self.both, self.first, self.noise)))
        weights = self.both[clear] / (1.0 + errors**2)
        total, square, error = (
            sum_by_index(group, own, before.size)
            for own in (weights, weights * squares, (weights * np.where(weights > 0, errors, 0.0)) ** 2)
        )
        whole = np.maximum(total, 1e-300)
        square, error = np.maximum(square / whole, 0.0), np.where(total > 0, np.sqrt(error) / whole, np.inf)
        weight = before**2 / (before**2 + error**2)
        found: Floats = weight * np.minimum(square + error, 1.0) + (1.0 - weight) * before
        return np.where(total > 0, found, before)


class LevelSides(NamedTuple):
    """The cells of a level that the release divides along an axis, and their sides.

    Args:
        cells: The cells.
        along: Cells along each axis, and the number of their cuts.
        sides: The sides along the axis that the level is cut along, in increasing order.
        side: Index of the side of each cell.
    """

    cells: Splits
    along: Sequence[tuple[Codes, int]]
    sides: Codes
    side: Indices

    @classmethod
    def of_level(cls, domain: Domain, level: int, splits: LevelSplits) -> LevelSides | None:
        """Those of a level; None if no cell of it has halves that are counted."""
        cells = None if splits.cells is None else splits.cells.two_sided(domain, level)
        if cells is None or not cells.codes.size or not splits.counted:
            return None
        along = domain.axis_cells(cells.codes, level=level)
        return cls(cells, along, *np.unique(along[splits.axis][0], return_inverse=True))

    @property
    def divided(self) -> float:
        """Number of records that the level divides, in units of those that even halves divide."""
        both, first = (sum_by_index(self.side, own, self.sides.size) for own in (self.cells.counts, self.cells.first))
        share = np.clip(first / np.maximum(both, 1.0), 0.0, 1.0)
        return float(np.maximum(both, 0.0) @ (4.0 * share * (1.0 - share)))

    def counts(self, groups: Groups) -> _Counts:
        """Counts of each side by group."""
        shape = groups.size, self.sides.size
        key = groups.find(self.along) * self.sides.size + self.side
        values = (self.cells.counts, self.cells.first, self.cells.variance, self.cells.counts**2)
        return _Counts(*(sum_by_index(key, own, shape[0] * shape[1]).reshape(shape) for own in values))

    def explained(self, groups: Groups) -> tuple[float, float]:
        """Sum of the squared differences of groups, by their records and less their noise, and its variance."""
        counts = self.counts(groups)
        difference, noise, _, _ = counts.differences()
        return float((counts.both * (difference**2 - noise)).sum()), 2.0 * float(((counts.both * noise) ** 2).sum())

    def split_by_groups(self, groups: Groups, sides: Codes, *, own: float, records: Floats) -> GroupSplits:
        """How some sides divide in each group.

        Args:
            groups: The groups.
            sides: The sides.
            own: Mean square of each cell's own imbalance, groups taken together.
            records: Number of records of each side in each group, shape (groups, sides).
        """
        index = np.minimum(np.searchsorted(self.sides, sides), self.sides.size - 1)
        shown = self.counts(groups).take(index, self.sides[index] == sides)
        difference, noise, spread, share = shown.differences(own)
        between = max(float((shown.both * (difference**2 - noise)).sum()), 0.0)
        between /= max(float((shown.both * spread * (noise > 0)).sum()), 1e-300)
        signal = np.maximum(between * spread, difference**2 - noise)
        told = np.where(noise > 0, signal / np.maximum(signal + noise, 1e-300), 0.0)
        within = max(own - between, 0.0) * share * (1.0 - share)
        whole = np.maximum(records, 1e-300)
        return GroupSplits(share, noise + within, told, np.clip(shown.both, 0.0, whole) / whole)


def choose_groups(domain: Domain, levels: Sequence[LevelSides], others: Collection[int]) -> Groups:
    """The groups whose difference explains most of how the axes of a column divide; none if noise explains it.

    Cuts of other axes are added one after the other, as long as they explain more.

    Args:
        domain: The table.
        levels: The cells of the levels that are cut along these axes.
        others: Axes of other columns.
    """
    shown = sorted(levels, key=lambda own: -own.divided)[:MOST_LEVELS]
    groups, before = Groups(domain, {}), 0.0
    while candidates := groups.finer(others):
        sums = [np.sum([(0.0, 0.0), *(own.explained(each) for own in shown)], axis=0) for each in candidates]
        clear = [explained - before > CLEAR_Z * math.sqrt(variance) for explained, variance in sums]
        best = max(np.flatnonzero(clear), key=lambda place: float(sums[place][0]), default=None)
        if best is None:
            break
        groups, before = candidates[best], float(sums[best][0])
    return groups

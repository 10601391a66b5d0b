"""The parts of leaves along one column, as finely as the release shows how the column divides in each group.

Leaves of a table have few parts, since they are divided along all columns. Where one column is
asked for, leaves of the same group with the same cell of the column divide in the same way: they are
divided together, and to the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import cut_axis
from privhp.answers.axis_division import AxisDivision, MovedShares, halve
from privhp.answers.histogram import sum_by_index
from privhp.answers.leaf_numbers import LeafNumbers
from privhp.answers.leaves import CountedCells
from privhp.answers.parts import Parts
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain

LEAST_MOVED = 2.0**-26
"""Share of all records that dividing a part must move."""

MOST_PARTS = 2**17
"""Largest number of parts that are divided."""


class ColumnParts(NamedTuple):
    """Parts of leaves along one column.

    Args:
        parts: Parts of each pair of a group and a cell of the column.
        leaf_of_pair: A leaf of each pair.
        pair_of_leaf: The pair of each leaf.
    """

    parts: Parts
    leaf_of_pair: NDArray[np.intp]
    pair_of_leaf: NDArray[np.intp]

    @classmethod
    def of_leaves(cls, domain: Domain, cells: CountedCells, divisions: Mapping[int, AxisDivision]) -> ColumnParts:
        """Divide leaves along a column.

        Args:
            domain: Domain of the column.
            cells: Cells that the leaves project to, with the counts of the leaves.
            divisions: How the records divide along axes of the column, all with the same groups.
        """
        group = next(iter(divisions.values())).group_of_leaf
        cell = np.unique(np.uint64(1) << cells.levels.astype(np.uint64) | cells.codes, return_inverse=True)[1]
        keys = cell.ravel() * (group.max(initial=0) + 1) + group
        _, leaf_of_pair, pair_of_leaf = np.unique(keys, return_index=True, return_inverse=True)
        records = sum_by_index(pair_of_leaf, cells.counts, leaf_of_pair.size)
        whole = CountedCells(cells.codes[leaf_of_pair], cells.levels[leaf_of_pair], records)
        return cls(_divide(domain, whole, group[leaf_of_pair], divisions), leaf_of_pair, pair_of_leaf)

    def refine(self, leaves: LeafNumbers, domain: Domain) -> LeafNumbers:
        """The numbers of leaves along the column, with the mean and the variance of their parts."""
        return self.parts.refine(leaves.take(self.leaf_of_pair), domain).take(self.pair_of_leaf)

    def counted(self, counts: Floats) -> CountedCells:
        """The parts with their counts, given those of the leaves."""
        records = sum_by_index(self.pair_of_leaf, counts, self.leaf_of_pair.size)
        return CountedCells(self.parts.codes, self.parts.levels, self.parts.share * records[self.parts.leaf])


def _divide(
    domain: Domain, cells: CountedCells, group: NDArray[np.intp], divisions: Mapping[int, AxisDivision]
) -> Parts:
    """Parts of cells of a column, divided in halves as long as that moves enough records.

    Args:
        domain: Domain of the column.
        cells: The cells, which may be the same.
        group: Group of the records of each.
        divisions: How the records divide along the axes of the column.
    """
    moved_shares = {axis: MovedShares(own) for axis, own in divisions.items()}
    total = max(float(cells.counts.sum()), 1e-300)
    codes, cell, share = cells.codes[:0], np.zeros(0, dtype=np.intp), np.zeros(0)
    found: list[tuple[Codes, NDArray[np.int64], NDArray[np.intp], Floats]] = []
    left = MOST_PARTS
    for level in range(int(cells.levels.min()), domain.depth + 1):
        here = np.flatnonzero(cells.levels == level)
        codes, cell = np.concatenate([codes, cells.codes[here]]), np.concatenate([cell, here])
        share = np.concatenate([share, np.ones(here.size)])
        along = domain.axis_cells(codes, level=level)
        moved = [own.of(*along[axis], group[cell]) for axis, own in moved_shares.items()]
        amounts = cells.counts[cell] * share * np.max(moved, axis=0) / total
        split = np.zeros(codes.shape, dtype=np.bool_)
        if level < domain.depth:
            split[np.argsort(-amounts, kind="stable")[: min(np.count_nonzero(amounts > LEAST_MOVED), left)]] = True
        left -= int(np.count_nonzero(split))
        found.append((codes[~split], np.full(np.count_nonzero(~split), level), cell[~split], share[~split]))
        if not split.any() and level >= cells.levels.max():
            break
        axis = cut_axis(domain, level)
        halves, shares = halve(domain, codes[split], level, axis, divisions.get(axis), group[cell[split]])
        codes, cell, share = halves.ravel(), np.repeat(cell[split], 2), (share[split][:, None] * shares).ravel()
    all_codes, levels, leaf, all_shares = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(leaf, kind="stable")
    return Parts(all_codes[order], levels[order], leaf[order], all_shares[order])

"""Storage of a learned partition: its cells and their counts in one array.

A slot of the array holds the count of a cell. When the cell is split, its count
moves to a new slot, its children take the slots after that one, and a mark in
the old slot points to them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts, descendants
from privhp.kernels.partition_marks import MARK_LIMIT, read_split_mark, split_mark

MOST_COUNT = -MARK_LIMIT // 2
"""Largest absolute count of a valid partition; records and noise never reach it."""


@dataclass(frozen=True)
class Cells:
    """Cells of one level that were created by the same refinement.

    Args:
        slots: Indices of their counters.
        codes: The cells.
        level: Their level.
        first_epoch: First epoch in which they count: the number of refinements before they were created.
    """

    slots: NDArray[np.int64]
    codes: Codes
    level: int
    first_epoch: int

    def __getitem__(self, chosen: NDArray[np.bool_] | slice) -> "Cells":
        return Cells(self.slots[chosen], self.codes[chosen], self.level, self.first_epoch)


class Parents(NamedTuple):
    """Cells that one refinement split by the same number of levels.

    Args:
        cells: The cells; their slots hold their counts before the split.
        levels: Levels between the cells and their children.
        refinement: Number of the refinement that split them, counted from 1; the first epoch of their children.
    """

    cells: Cells
    levels: int
    refinement: int

    def children(self) -> Cells:
        """All children, grouped by parent."""
        places = (self.cells.slots[:, None] + 1 + np.arange(2**self.levels)).ravel()
        codes = descendants(self.cells.codes, levels=self.levels).ravel()
        return Cells(places, codes, self.cells.level + self.levels, self.refinement)

    def chunks(self, most: int) -> "list[Parents]":
        """The same cells in chunks with at most `most` children, or of one cell."""
        step, size = max(most >> self.levels, 1), self.cells.slots.size
        starts = range(0, size, step)
        return [Parents(self.cells[start : start + step], self.levels, self.refinement) for start in starts]


class Partition:
    """A partition that starts from all cells of one level.

    Args:
        level: First level; all its cells are in the partition.
        slots: The array; its first 2**level slots are the cells of that level.
        refinements: Number of refinements so far.
    """

    def __init__(self, level: int, slots: Counts, *, refinements: int = 0) -> None:
        self.level, self.slots, self.refinements = level, slots, refinements
        self.used = 2**level
        marks = slots[slots < MARK_LIMIT]
        if marks.size:
            first, levels, _ = read_split_mark(marks)
            self.used = int((first + (1 << levels)).max())

    def empty_copy(self) -> "Partition":
        """A copy with all counts 0."""
        slots = np.where(self.slots < MARK_LIMIT, self.slots, 0)
        return Partition(self.level, slots, refinements=self.refinements)

    def add_counts(self, other: "Partition") -> None:
        """Add the counts of a partition with the same cells."""
        self.slots += np.where(self.slots < MARK_LIMIT, 0, other.slots)

    def roots(self, most: int) -> Iterator[Cells]:
        """The cells of the first level, split or not, in chunks of at most `most`."""
        for start in range(0, 2**self.level, most):
            places = np.arange(start, min(start + most, 2**self.level))
            yield Cells(places, places.astype(np.uint64), self.level, 0)

    def leaves_and_parents(self, cells: Cells) -> tuple[Cells, list[Parents]]:
        """The leaves among some cells, and the split cells, grouped by levels and refinement."""
        values = self.slots[cells.slots]
        is_split = values < MARK_LIMIT
        first, levels, refinement = read_split_mark(values[is_split])
        parents = []
        for kind in np.unique(levels << 8 | refinement).tolist():
            chosen = (levels << 8 | refinement) == kind
            moved = Cells(first[chosen] - 1, cells.codes[is_split][chosen], cells.level, cells.first_epoch)
            parents.append(Parents(moved, kind >> 8, kind & 0xFF))
        return cells[~is_split], parents

    def leaves(self, most: int) -> Iterator[Cells]:
        """The leaves, in chunks of at most `most`."""
        for leaves, _ in self._walk(most):
            for start in range(0, leaves.slots.size, most):
                yield leaves[start : start + most]

    def parents(self, most: int) -> Iterator[Parents]:
        """The split cells, in chunks with at most `most` children, or of one cell."""
        for _, parents in self._walk(most):
            yield from parents

    def _walk(self, most: int) -> Iterator[tuple[Cells, list[Parents]]]:
        """All cells, group by group: the leaves and the split cells."""
        for roots in self.roots(most):
            pending: list[Cells | Parents] = [roots]
            while pending:
                group = pending.pop()
                leaves, split = self.leaves_and_parents(group if isinstance(group, Cells) else group.children())
                chunks = [chunk for parents in split for chunk in parents.chunks(most)]
                yield leaves, chunks
                pending += chunks

    def split(self, cells: Cells, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Split leaves, each by its number of levels (0 for none), and return the slots of all new children."""
        new = [np.zeros(0, dtype=np.int64)]
        for step in np.unique(levels[levels > 0]).tolist():
            places = cells.slots[levels == step]
            first = self.used + 1 + np.arange(places.size) * (2**step + 1)
            marks = split_mark(first, step, self.refinements)
            # One assignment, so that an interrupt leaves either all of these cells split or none.
            self.slots[np.concatenate([first - 1, places])] = np.concatenate([self.slots[places], marks])
            self.used += places.size * (2**step + 1)
            new.append((first[:, None] + np.arange(2**step)).ravel())
        return np.concatenate(new)


def is_sound(slots: Counts, *, level: int, depth: int, refinements: int) -> bool:
    """Whether untrusted slots form a valid partition.

    The blocks of all split cells, each a count and its children, must be
    contiguous, after the cells of the first level and before unused slots. A mark
    precedes its block, in the first level or among the children of a cell that an
    earlier refinement split. Counts must be far from the range of marks, so that
    neither records nor noise turn one into a mark.
    """
    is_mark = slots < MARK_LIMIT
    places = np.flatnonzero(is_mark)
    first, levels, refinement = read_split_mark(slots[places])
    order = np.argsort(first)
    places, first, levels, refinement = places[order], first[order], levels[order], refinement[order]
    if ((levels < 1) | (levels > depth - level) | (refinement < 1) | (refinement > refinements)).any():
        return False
    starts = 2**level + np.concatenate([[0], np.cumsum(1 + (1 << levels))])
    if starts[-1] > slots.size or (first - 1 != starts[:-1]).any() or (places >= starts[:-1]).any():
        return False
    if ((np.abs(slots) > MOST_COUNT) & ~is_mark).any() or slots[starts[-1] :].any():
        return False
    block = np.searchsorted(starts, places, side="right") - 1  # of each mark; -1 in the first level
    inner = np.flatnonzero(block >= 0)
    block = block[inner]
    if (places[inner] == starts[block]).any() or (refinement[inner] <= refinement[block]).any():
        return False
    ends = level + levels
    for _ in range(refinements):  # children are split later than their parent, so nesting is at most this deep
        ends[inner] = ends[block] + levels[inner]
    return bool((ends <= depth).all())

"""A partition that grows, with the counts of its cells, in one array.

A slot of the array holds the count of a cell. When the cell is cut, its count
moves to a slot of its own, the slots after that one are its parts, and a mark
in the old place says where they are. This room knows nothing of records, noise
or why a cell is cut.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts, descendants
from privhp.kernels.partition_marks import MARK_LIMIT, read_split_mark, split_mark

MOST_COUNT = -MARK_LIMIT // 2
"""Counts of a partition beyond this are refused: no stream has so many records, and noise is never so large."""


@dataclass(frozen=True)
class Cells:
    """Cells of one level that have been counted since the same refinement.

    Args:
        slots: Where their counts are.
        codes: The cells.
        level: Their level.
        born: How many refinements there had been when they came to be.
    """

    slots: NDArray[np.int64]
    codes: Codes
    level: int
    born: int

    def __getitem__(self, chosen: NDArray[np.bool_] | slice) -> "Cells":
        return Cells(self.slots[chosen], self.codes[chosen], self.level, self.born)


class Parents(NamedTuple):
    """Cells that were cut into equally many parts at the same refinement.

    Args:
        cells: The cells; their slots hold what they had counted until then.
        levels: How many levels further down their parts are.
        born: How many refinements there had been when they were cut, that one included.
    """

    cells: Cells
    levels: int
    born: int

    def parts(self) -> Cells:
        """All parts, those of one parent after those of another."""
        places = (self.cells.slots[:, None] + 1 + np.arange(2**self.levels)).ravel()
        codes = descendants(self.cells.codes, levels=self.levels).ravel()
        return Cells(places, codes, self.cells.level + self.levels, self.born)

    def pieces(self, most: int) -> "list[Parents]":
        """The same in groups of one cell, or more that have at most so many parts together."""
        step, size = max(most >> self.levels, 1), self.cells.slots.size
        return [Parents(self.cells[start : start + step], self.levels, self.born) for start in range(0, size, step)]


class Partition:
    """The cells of one level, cut further wherever `cut` is told to.

    Args:
        level: The level that it starts from, whole.
        slots: The array; its first 2**level slots are the cells of that level.
        refinements: How many refinements there have been.
    """

    def __init__(self, level: int, slots: Counts, *, refinements: int = 0) -> None:
        self.level, self.slots, self.refinements = level, slots, refinements
        self.used = 2**level
        marks = slots[slots < MARK_LIMIT]
        if marks.size:
            first, levels, _ = read_split_mark(marks)
            self.used = int((first + (1 << levels)).max())

    def emptied(self) -> "Partition":
        """The same cells with counts of 0."""
        slots = np.where(self.slots < MARK_LIMIT, self.slots, 0)
        return Partition(self.level, slots, refinements=self.refinements)

    def plus(self, other: "Partition") -> None:
        """Add the counts of a partition with the same cells."""
        self.slots += np.where(self.slots < MARK_LIMIT, 0, other.slots)

    def roots(self, most: int) -> Iterator[Cells]:
        """The cells that it started from, cut or not, in pieces of at most so many."""
        for start in range(0, 2**self.level, most):
            places = np.arange(start, min(start + most, 2**self.level))
            yield Cells(places, places.astype(np.uint64), self.level, 0)

    def sorted_out(self, cells: Cells) -> tuple[Cells, list[Parents]]:
        """Those of some cells that are counted, and those that were cut, by how and when."""
        values = self.slots[cells.slots]
        cut = values < MARK_LIMIT
        first, levels, born = read_split_mark(values[cut])
        parents = []
        for kind in np.unique(levels << 8 | born).tolist():
            own = (levels << 8 | born) == kind
            moved = Cells(first[own] - 1, cells.codes[cut][own], cells.level, cells.born)
            parents.append(Parents(moved, kind >> 8, kind & 0xFF))
        return cells[~cut], parents

    def counted(self, most: int) -> Iterator[Cells]:
        """The cells that are counted now, in pieces of at most so many."""
        for leaves, _ in self._walk(most):
            for start in range(0, leaves.slots.size, most):
                yield leaves[start : start + most]

    def parents(self, most: int) -> Iterator[Parents]:
        """The cells that were cut, in pieces of one or of at most so many parts together."""
        for _, pieces in self._walk(most):
            yield from pieces

    def _walk(self, most: int) -> Iterator[tuple[Cells, list[Parents]]]:
        """All cells, group by group: those that are counted, and those that were cut, in pieces."""
        for roots in self.roots(most):
            pending: list[Cells | Parents] = [roots]
            while pending:
                group = pending.pop()
                leaves, cut = self.sorted_out(group if isinstance(group, Cells) else group.parts())
                pieces = [piece for parents in cut for piece in parents.pieces(most)]
                yield leaves, pieces
                pending += pieces

    def cut(self, cells: Cells, levels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Cut each of some counted cells by so many levels, 0 for not at all; the slots of all new parts."""
        new = [np.zeros(0, dtype=np.int64)]
        for step in np.unique(levels[levels > 0]).tolist():
            places = cells.slots[levels == step]
            first = self.used + 1 + np.arange(places.size) * (2**step + 1)
            marks = split_mark(first, step, self.refinements)
            # In one assignment: whatever interrupts this, either all of these cells are cut or none.
            self.slots[np.concatenate([first - 1, places])] = np.concatenate([self.slots[places], marks])
            self.used += places.size * (2**step + 1)
            new.append((first[:, None] + np.arange(2**step)).ravel())
        return np.concatenate(new)


def is_sound(slots: Counts, *, level: int, depth: int, refinements: int) -> bool:
    """Whether slots, which may come from anywhere, are those of a partition.

    The blocks of all cut cells, each its count and its parts, must lie one after
    the other behind the cells of the first level and before unused slots. A mark
    stands before its block, in the first level or among the parts of a cell that
    was cut at an earlier refinement. Counts are far from where marks begin, so
    that neither records nor noise can make one of them a mark.
    """
    is_mark = slots < MARK_LIMIT
    places = np.flatnonzero(is_mark)
    first, levels, born = read_split_mark(slots[places])
    order = np.argsort(first)
    places, first, levels, born = places[order], first[order], levels[order], born[order]
    if ((levels < 1) | (levels > depth - level) | (born < 1) | (born > refinements)).any():
        return False
    starts = 2**level + np.concatenate([[0], np.cumsum(1 + (1 << levels))])
    if starts[-1] > slots.size or (first - 1 != starts[:-1]).any() or (places >= starts[:-1]).any():
        return False
    if ((np.abs(slots) > MOST_COUNT) & ~is_mark).any() or slots[starts[-1] :].any():
        return False
    block = np.searchsorted(starts, places, side="right") - 1  # that each mark stands in; -1 in the first level
    inner = np.flatnonzero(block >= 0)
    block = block[inner]
    if (places[inner] == starts[block]).any() or (born[inner] <= born[block]).any():
        return False
    ends = level + levels
    for _ in range(refinements):  # the parts of a cell are cut later than it was, so no deeper nesting is left
        ends[inner] = ends[block] + levels[inner]
    return bool((ends <= depth).all())

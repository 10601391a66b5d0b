"""The cells of leaves along each axis of a domain.

A region covers a share of each side of a leaf, and leaves have few different
sides. So the shares of a region are computed once for each side.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Floats, by_level
from privhp.domains.domain import Domain
from privhp.domains.shares import AxisShares, product_share

Indices = NDArray[np.intp]

AxisParts = Callable[..., list[AxisShares]]
"""Shares of cells along each axis that a region cuts, given their codes and level."""


def cut_axis(domain: Domain, level: int) -> int:
    """The axis along which the cells of a level are cut."""
    root = np.zeros(1, dtype=np.uint64)
    above, below = ([cuts for _, cuts in domain.axis_cells(root, level=own)] for own in (level, level + 1))
    return next(axis for axis, (before, after) in enumerate(zip(above, below, strict=True)) if before != after)


class _SameSplits(NamedTuple):
    """Distinct cells with the same number of splits along an axis.

    Args:
        level: The least level of the domain with this number of splits.
        splits: Number of splits along the axis.
        codes: A cell of this level for each distinct cell along the axis.
    """

    level: int
    splits: int
    codes: Codes


class AlongAxis(NamedTuple):
    """Cells of leaves along one axis.

    Args:
        cell_of_leaf: Index of the cell of each leaf among the distinct ones.
        groups: The distinct cells, by the number of their splits.
    """

    cell_of_leaf: Indices
    groups: list[_SameSplits]

    def by_splits(self) -> Iterator[tuple[int, slice]]:
        """Each number of splits, with the place of its cells among the distinct ones."""
        start = 0
        for own in self.groups:
            yield own.splits, slice(start, start + own.codes.size)
            start += own.codes.size


class Sides(NamedTuple):
    """Sides of leaves along several axes together.

    Args:
        side_of_leaf: Index of the side of each leaf among the distinct ones.
        cells: Index of the cell of each distinct side along each axis.
    """

    side_of_leaf: Indices
    cells: list[Indices]


class AxisCells:
    """Cells of leaves along each axis of their domain.

    Args:
        domain: The domain.
        codes: Code of each leaf.
        levels: Level of each leaf.
    """

    def __init__(self, domain: Domain, codes: Codes, levels: NDArray[np.int64]) -> None:
        self._domain, self._codes, self._levels = domain, codes, levels
        self._along: dict[int, AlongAxis] = {}
        self._sides: dict[tuple[int, ...], Sides] = {}

    @staticmethod
    def cut_axes(cut: AxisParts) -> tuple[int, ...]:
        """Axes along which a region does not hold the whole domain."""
        return tuple(part.axis for part in cut(np.zeros(1, dtype=np.uint64), level=0) if part.share[0] < 1)

    def along(self, axis: int) -> AlongAxis:
        """Cells of the leaves along an axis."""
        if axis not in self._along:
            self._along[axis] = self._find(axis)
        return self._along[axis]

    def distinct(self, axis: int) -> list[tuple[Codes, int]]:
        """Codes of the distinct cells along an axis, with the number of their splits."""
        return [self._domain.axis_cells(own.codes, level=own.level)[axis] for own in self.along(axis).groups]

    def are_null(self, axis: int) -> NDArray[np.bool_]:
        """Mask of the leaves that hold null alone in the column of an axis of values."""
        null_axis = self._domain.null_axis(axis)
        if null_axis is None:
            return np.zeros(self._codes.shape, dtype=np.bool_)
        null = [(own == 0) & (cuts > 0) for own, cuts in self.distinct(null_axis)]
        mask: NDArray[np.bool_] = np.concatenate(null)[self.along(null_axis).cell_of_leaf]
        return mask

    def sides(self, axes: tuple[int, ...]) -> Sides:
        """Sides of the leaves along some axes; without an axis, all leaves have the same side."""
        if axes not in self._sides:
            first, index = np.zeros(1, dtype=np.intp), np.zeros(self._codes.size, dtype=np.intp)
            for axis in axes:
                along = self.along(axis).cell_of_leaf
                _, first, index = np.unique(index * (along.max() + 1) + along, return_index=True, return_inverse=True)
            self._sides[axes] = Sides(index, [self.along(axis).cell_of_leaf[first] for axis in axes])
        return self._sides[axes]

    def side_shares(self, cut: AxisParts, axes: tuple[int, ...]) -> Floats:
        """Share of each distinct side along some axes in a region that cuts no other axis."""
        pairs = zip(axes, self.sides(axes).cells, strict=True)
        return product_share(self.shares(cut, axis)[cells] for axis, cells in pairs) if axes else np.ones(1)

    def shares(self, cut: AxisParts, axis: int) -> Floats:
        """Share of each distinct cell along an axis in a region; 1 along an axis that the region does not cut."""
        return np.concatenate([self.share(cut, own.codes, own.level, axis) for own in self.along(axis).groups])

    @staticmethod
    def share(cut: AxisParts, codes: Codes, level: int, axis: int) -> Floats:
        """Share of the sides of some cells along an axis in a region."""
        parts = (part.share for part in cut(codes, level=level) if part.axis == axis)
        return next(parts, np.ones(codes.shape))

    def _find(self, axis: int) -> AlongAxis:
        root = np.zeros(1, dtype=np.uint64)
        splits = [self._domain.axis_cells(root, level=level)[axis][1] for level in range(self._domain.depth + 1)]
        coarsest = np.array([splits.index(own) for own in splits])[self._levels]
        codes = self._codes >> (self._levels - coarsest).astype(np.uint64)
        index, groups, size = np.empty(codes.shape, dtype=np.intp), [], 0
        for level, here in by_level(coarsest):
            cells = self._domain.axis_cells(codes[here], level=level)[axis][0]
            _, first, inverse = np.unique(cells, return_index=True, return_inverse=True)
            index[here] = inverse + size
            groups.append(_SameSplits(level, splits[level], codes[here][first]))
            size += first.size
        return AlongAxis(index, groups)

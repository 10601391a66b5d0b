"""How far the columns of a table depend on each other, learned from the release.

Where leaves are wide along a column, they divide as the whole column does. The records of a group, such as
those of one category of another column, may divide otherwise. Where cells are cut along the column, the
release shows how far: the counts of halves differ between groups from those of independent columns, by a share
of what the counts of both columns allow. This share is the dependence, D' in genetics: 0 for independent
columns, 1 if one decides the other.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy import Hierarchy
from privhp.answers.histogram import sum_by_index
from privhp.answers.side_splits import SIGNIFICANCE, LevelSplits, Splits, learn_splits
from privhp.core.cells import Floats
from privhp.domains.domain import Domain

UNKNOWN = 0.25
"""Squared dependence where the release shows none: half of what the counts of both columns allow."""


LEAST_SQUARE = 1e-30
"""Squared number of records that dependence could move, below which it is a rounding error."""


class Shown(NamedTuple):
    """What cells show of the dependence of the axis that they are cut along.

    Args:
        square: Squared dependence.
        error: Its standard error.
        share: Share of all records that show it: all, if both axes are cut in equal halves.
    """

    square: float
    error: float
    share: float


NOTHING = Shown(0.0, 1.0, 0.0)


class Dependence:
    """Dependence of axes of different columns. The unevenness of points holds that of their own axes.

    Args:
        hierarchy: The solved hierarchy of a table.
        domain: The table.
    """

    def __init__(self, hierarchy: Hierarchy, domain: Domain) -> None:
        self._hierarchy, self._domain = hierarchy, domain
        self._column = {axis: place for place, axes in enumerate(domain.column_axes) for axis in axes}
        self._squares: dict[tuple[int, int], Floats] = {}

    def on(self, axis: int, others: Iterable[int]) -> Floats:
        """Squared dependence of an axis on those of other columns, the largest, by the number of its cuts."""
        found = [self._by_cuts(axis, other) for other in others if self._column.get(axis) != self._column.get(other)]
        _, cuts = self._domain.axis_cells(np.zeros(1, dtype=np.uint64), level=self._domain.depth)[axis]
        largest: Floats = np.max([np.zeros(cuts + 1), *found], axis=0)
        return largest

    def _by_cuts(self, axis: int, other: int) -> Floats:
        """Squared dependence of an axis on another one by the number of its cuts, and after the last of them.

        What the cells of a level do not show is as at the cut before.
        """
        if (axis, other) not in self._squares:
            squares, before = [], UNKNOWN
            for level, own in enumerate(self.levels):
                if own.axis == axis:
                    shown = self._shown(level, own, other)
                    weight = shown.share * before**2 / (before**2 + shown.error**2)
                    before = weight * min(shown.square + shown.error, 1.0) + (1.0 - weight) * before
                    squares.append(before)
            self._squares[axis, other] = np.array([*squares, before])
        return self._squares[axis, other]

    @cached_property
    def levels(self) -> Sequence[LevelSplits]:
        """Splits of the cells of each level."""
        return learn_splits(self._hierarchy, self._domain)

    def _shown(self, level: int, splits: LevelSplits, other: int) -> Shown:
        """What the cells of a level show. The halves of a sketch are shrunk to even ones, and show nothing."""
        if splits.cells is None or not splits.counted:
            return NOTHING
        total = float(self._hierarchy.layers[0].estimate.sum())
        cells = splits.cells.two_sided(self._domain, level)
        return measure(*_pool(self._domain, level, cells, splits.axis, other), total=total)


def measure(sides: NDArray[np.intp], counts: Floats, firsts: Floats, variances: Floats, *, total: float) -> Shown:
    """What groups of cells show of the dependence of their splits on the group.

    Args:
        sides: Index of the side of each group, from 0.
        counts: Number of its records.
        firsts: Number of those in the first half of the side.
        variances: Variance of the noise in the count.
        total: Number of all records.
    """
    squares, errors, spread = compare_groups(sides, counts, firsts, variances)
    shown = np.flatnonzero(np.isfinite(errors))
    if not shown.size:
        return NOTHING
    weights = counts[shown] / (1.0 + errors[shown] ** 2)
    number = int(sides.max()) + 1
    part = counts / sum_by_index(sides, counts, number)[sides]
    grouped = np.minimum(2.0 * (1.0 - sum_by_index(sides, part**2, number)), 1.0)[sides]
    return Shown(
        max(float(weights @ squares[shown] / weights.sum()), 0.0),
        float(np.linalg.norm(weights * errors[shown]) / weights.sum()),
        min(float((counts * 4.0 * spread * grouped).sum()) / total, 1.0),
    )


def compare_groups(
    sides: NDArray[np.intp], counts: Floats, firsts: Floats, variances: Floats
) -> tuple[Floats, Floats, Floats]:
    """Squared dependence that each group shows, its standard error, and the variance of the halves of its side.

    The error is infinite where the counts allow no dependence. Arguments are those of `measure`.
    """
    number = int(sides.max(initial=-1)) + 1
    of_side, first_of_side = (sum_by_index(sides, each, number)[sides] for each in (counts, firsts))
    first, part = np.clip(first_of_side / of_side, 0.0, 1.0), counts / of_side
    expected, rest = counts * first, of_side - counts
    excess = firsts - expected
    more = np.minimum(rest * first, counts - expected)
    less = np.minimum(expected, rest * (1.0 - first))
    most = np.maximum(np.where(excess > 0, more, less), 0.0) ** 2
    spread = first * (1.0 - first)
    noise = (variances * (0.5 - spread) + counts * spread) * (1.0 - part)
    squares, errors = np.zeros(counts.shape), np.full(counts.shape, np.inf)
    allowed = most > LEAST_SQUARE
    np.divide(excess**2 - noise, most, out=squares, where=allowed)
    np.divide(math.sqrt(2.0) * noise, most, out=errors, where=allowed)
    return squares, errors, spread


def _pool(
    domain: Domain, level: int, cells: Splits, axis: int, other: int
) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """Groups of the cells with the same sides along two axes and a significant count, as `measure` takes them."""
    along = domain.axis_cells(cells.codes, level=level)
    (_, side), (others, other_side) = (np.unique(along[own][0], return_inverse=True) for own in (axis, other))
    keys, group = np.unique(side * others.size + other_side, return_inverse=True)
    counts, firsts, variances = (
        sum_by_index(group, each, keys.size) for each in (cells.counts, cells.first, cells.variance)
    )
    clear = counts > SIGNIFICANCE * np.sqrt(variances)
    sides = np.unique(keys[clear] // others.size, return_inverse=True)[1]
    return sides, counts[clear], firsts[clear], variances[clear]

"""Masses of many regions at once, along one variable or for all pairs of two.

The share of a leaf in a region along one variable depends on the cells of the
leaf along the axes of that variable alone. So shares are computed for distinct
cells, which are few, and the masses of all pairs of regions are products of matrices.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Codes, Floats
from privhp.domains import Domain
from privhp.errors import QueryError

Regions: TypeAlias = Sequence[Any]
Rows: TypeAlias = NDArray[np.intp]

_CHUNK = 2**15  # leaves per step, which bounds the memory


def masses(distribution: Distribution, regions: Regions) -> Floats:
    """Mass of each region along one variable."""
    side, found = _Side(distribution.domain, regions), np.zeros(len(regions))
    for leaves in _chunks(distribution):
        overlaps, rows = side.overlaps(distribution, leaves)
        found += np.bincount(rows, weights=distribution.probabilities[leaves]) @ overlaps
    return np.clip(found, 0.0, 1.0)


def intervals(distribution: Distribution, regions: Regions) -> Floats:
    """Both ends of the 90% interval of each region's mass, shape (2, regions); NaN without least-squares inference."""
    try:
        return np.array([distribution.mass(region).interval(0.9) for region in regions]).reshape(-1, 2).T
    except QueryError:
        return np.full((2, len(regions)), np.nan)


def pair_masses(distribution: Distribution, across: Regions, up: Regions) -> Floats:
    """Mass of each pair of a region along one variable and one along another, one row per region of `up`."""
    (found,) = _pair_sums(distribution, across, up, [distribution.probabilities])
    return np.clip(found, 0.0, 1.0)


def mean_levels(distribution: Distribution, across: Regions, up: Regions) -> Floats:
    """Mean level of the leaves in each pair of regions, weighted by the base measure."""
    leaves = distribution.leaves()
    measures = np.empty(leaves.codes.shape)
    for level in np.unique(leaves.levels).tolist():
        here = leaves.levels == level
        measures[here] = distribution.domain.measure(leaves.codes[here], level=level)
    total, weighted = _pair_sums(distribution, across, up, [measures, measures * leaves.levels])
    return np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)


def _pair_sums(distribution: Distribution, across: Regions, up: Regions, weights: Sequence[Floats]) -> list[Floats]:
    """Sum of each kind of weights of the leaves in each pair of regions; a weight is spread over its leaf."""
    first, second = (_Side(distribution.domain, regions) for regions in (across, up))
    found = [np.zeros((len(up), len(across))) for _ in weights]
    for leaves in _chunks(distribution):
        columns, column_of_leaf = first.overlaps(distribution, leaves)
        rows, row_of_leaf = second.overlaps(distribution, leaves)
        order = np.argsort(row_of_leaf, kind="stable")
        starts = np.searchsorted(row_of_leaf[order], np.arange(len(rows)))
        for total, own in zip(found, weights, strict=True):
            total += rows.T @ np.add.reduceat(own[leaves][order, None] * columns[column_of_leaf[order]], starts)
    return found


def _chunks(distribution: Distribution) -> Iterator[slice]:
    """The leaves in steps."""
    for start in range(0, distribution.leaves().codes.size, _CHUNK):
        yield slice(start, start + _CHUNK)


class _Side:
    """Regions along one variable, and the shares of leaves in them.

    Args:
        domain: Domain of the leaves.
        regions: The regions; of a table, of a single column.
    """

    def __init__(self, domain: Domain, regions: Regions) -> None:
        self._domain, self._regions = domain, regions
        self._columns = [column for column in domain.columns if any(column.name in region for region in regions)]
        if self._columns:
            (column,) = self._columns
            self._domain, self._regions = column.domain, [region[column.name] for region in regions]
        root = np.zeros(1, dtype=np.uint64)
        parts = [part for region in self._regions for part in self._domain.axis_shares(region, root, level=0)]
        self._axes = sorted({part.axis for part in parts if part.share[0] < 1})
        splits = [self._cells(root, level)[1] for level in range(self._domain.depth + 1)]
        self._coarsest = np.array([splits.index(own) for own in splits])

    def overlaps(self, distribution: Distribution, chosen: slice) -> tuple[Floats, Rows]:
        """Share of distinct cells in each region, one row per cell, and the row of each of the chosen leaves."""
        leaves = distribution.leaves()
        codes, levels = leaves.codes[chosen], leaves.levels[chosen]
        if self._columns:
            codes, levels = distribution.domain.project(codes, levels, columns=self._columns)
        coarsest = self._coarsest[levels]
        codes = codes >> (levels - coarsest).astype(np.uint64)
        rows, shares, size = np.empty(codes.shape, dtype=np.intp), [], 0
        for level in np.unique(coarsest).tolist():
            here = np.flatnonzero(coarsest == level)
            distinct, rows[here] = self._distinct(codes[here], level)
            rows[here] += size
            size += distinct.size
            own = [self._domain.overlap(region, distinct, level=level) for region in self._regions]
            shares.append(np.stack(own, axis=1))
        return np.concatenate(shares), rows

    def _cells(self, codes: Codes, level: int) -> tuple[list[Codes], list[int]]:
        """Cells along the axes that the regions cut, and their levels there."""
        cells = self._domain.axis_cells(codes, level=level)
        return [cells[axis][0] for axis in self._axes], [cells[axis][1] for axis in self._axes]

    def _distinct(self, codes: Codes, level: int) -> tuple[Codes, Rows]:
        """One code for each distinct cell along the axes that the regions cut, and the index of each code's cell."""
        first, index = np.zeros(1, dtype=np.intp), np.zeros(codes.size, dtype=np.intp)
        for cells in self._cells(codes, level)[0]:
            _, along = np.unique(cells, return_inverse=True)
            _, first, index = np.unique(index * (along.max() + 1) + along, return_index=True, return_inverse=True)
        return codes[first], index

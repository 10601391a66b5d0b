"""Masses of all pairs of regions along two variables.

The share of a leaf in a region along one variable depends on the sides of the
leaf along the axes of that variable alone. So shares are computed for distinct
sides, which are few, and the masses of all pairs of regions are products of matrices.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import contextlib
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.errors import QueryError

Regions: TypeAlias = Sequence[Any]

_CHUNK = 2**13  # pairs of sides per step, which bounds the memory
_REGIONS = 16  # regions per step


def estimate_masses(distribution: Distribution, regions: Regions) -> tuple[Floats, Floats]:
    """Mass of each region, and both ends of its 90% interval, shape (2, regions); NaN without standard errors."""
    values, ends = np.zeros(len(regions)), np.full((2, len(regions)), np.nan)
    for start in range(0, len(regions), _REGIONS):
        own = slice(start, start + _REGIONS)
        estimates = distribution.masses(regions[own])
        values[own] = estimates.value
        with contextlib.suppress(QueryError):
            ends[:, own] = estimates.interval(0.9)
    return values, ends


class RegionSides:
    """Regions along one variable, and the shares of the sides of leaves in them.

    Args:
        distribution: The distribution with the leaves.
        regions: The regions.
    """

    def __init__(self, distribution: Distribution, regions: Regions) -> None:
        self._cells = distribution.axis_cells
        self._cuts = [partial(distribution.domain.axis_shares, region) for region in regions]

    @cached_property
    def _axes(self) -> tuple[int, ...]:
        """Axes that a region cuts."""
        return tuple(sorted({axis for cut in self._cuts for axis in self._cells.cut_axes(cut)}))

    @property
    def side_of_leaf(self) -> NDArray[np.intp]:
        """Index of the side of each leaf."""
        return self._cells.sides(self._axes).side_of_leaf

    @cached_property
    def shares(self) -> Floats:
        """Share of each distinct side in each region, one row per side."""
        return np.stack([self._cells.side_shares(cut, self._axes) for cut in self._cuts], axis=1)


def pair_masses(distribution: Distribution, across: RegionSides, up: RegionSides) -> Floats:
    """Mass of each pair of a region along one variable and one along another, one row per region of `up`."""
    (found,) = _pair_sums(across, up, [distribution.probabilities])
    return np.clip(found, 0.0, 1.0)


def mean_levels(distribution: Distribution, across: RegionSides, up: RegionSides) -> Floats:
    """Mean level of the leaves in each pair of regions, weighted by the base measure."""
    leaves = distribution.leaves()
    measures = leaves.measure(distribution.domain)
    total, weighted = _pair_sums(across, up, [measures, measures * leaves.levels])
    return np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)


def _pair_sums(across: RegionSides, up: RegionSides, weights: Sequence[Floats]) -> list[Floats]:
    """Sum of each kind of weights of the leaves in each pair of regions; a weight is spread over its leaf."""
    columns, rows = across.shares, up.shares
    side, region = np.nonzero(columns)
    starts = np.searchsorted(side, np.arange(len(columns) + 1))
    pairs, pair_of_leaf = np.unique(up.side_of_leaf * len(columns) + across.side_of_leaf, return_inverse=True)
    sums = [np.bincount(pair_of_leaf, own) for own in weights]
    found = [np.zeros((rows.shape[1], columns.shape[1])) for _ in weights]
    for start in range(0, pairs.size, _CHUNK):
        row, column = np.divmod(pairs[start : start + _CHUNK], len(columns))
        touched = starts[column + 1] - starts[column]
        pair = np.repeat(np.arange(row.size), touched)
        entry = np.arange(pair.size) + np.repeat(starts[column] - np.cumsum(touched) + touched, touched)
        own_rows, shares = rows[row[0] : row[-1] + 1], columns[side[entry], region[entry]]
        places = (row[pair] - row[0]) * columns.shape[1] + region[entry]
        for total, own in zip(found, sums, strict=True):
            by_row = np.bincount(places, own[start + pair] * shares, len(own_rows) * columns.shape[1])
            total += own_rows.T @ by_row.reshape(len(own_rows), -1)
    return found

"""How the sides of cells along an axis divide in halves, learned from the release.

Cells with the same side along an axis are cut at the same number. Their splits are
pooled: the imbalance of a side is the share of its first half beyond the share of the base
measure, in standard deviations of a single record, so that it is 1 if all records lie in one
half of equal measure. It has two parts, as in an analysis of variance: one that all cells of a
side share, such as a heap, and one of each cell's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.axis_cells import cut_axis
from privhp.answers.hierarchy import Hierarchy, Layer
from privhp.answers.histogram import sum_by_index
from privhp.core.cells import Codes, Floats, by_level, descendants
from privhp.domains.domain import Domain

SIGNIFICANCE = 4.0
"""Number of standard deviations that a count must exceed to show how its cell divides."""

ENOUGH_SPLITS = 8
"""Number of significant cells that show the unevenness of a level; with fewer, the level above counts as well."""


class Splits(NamedTuple):
    """Cells of one level that the release divides in two.

    Args:
        codes: Code of each cell.
        first: Count of the first half.
        counts: Count of both halves.
        variance: Variance of the noise in both.
    """

    codes: Codes
    first: Floats
    counts: Floats
    variance: Floats

    @property
    def significant(self) -> Splits:
        """The cells whose count is significant."""
        return self._chosen(self.counts > SIGNIFICANCE * np.sqrt(self.variance))

    def two_sided(self, domain: Domain, level: int) -> Splits:
        """The cells of which both halves can hold records. The others, such as null, show nothing of how values divide.

        Args:
            domain: Domain of the cells.
            level: Their level.
        """
        first, second = _measures_of_halves(domain, self.codes, level)
        return self._chosen((first > 0) & (second > 0))

    def _chosen(self, mask: NDArray[np.bool_]) -> Splits:
        return Splits(self.codes[mask], self.first[mask], self.counts[mask], self.variance[mask])

    def holding(self, level: int, codes: Codes, below: int) -> Splits:
        """Those cells, of this level, that hold some cells of a level below it."""
        return self._chosen(np.isin(self.codes, codes >> np.uint64(below - level)))


class LevelSplits(NamedTuple):
    """The splits of all cells of one level.

    Args:
        axis: The axis along which the level is cut.
        cells: The cells; None if the release divides none.
        counted: Whether the halves are counted, not decoded from a sketch.
    """

    axis: int
    cells: Splits | None
    counted: bool


class SideSplits(NamedTuple):
    """Sides along an axis with the same number of cuts, each with the pooled split of its cells.

    Args:
        sides: Code of each side, in increasing order.
        codes: A cell with this side.
        counts: Number of records in its cells.
        even: Share of the base measure in the first half.
        imbalances: Imbalance of the side.
        variances: Variance of the imbalance by noise and by sampling finitely many records.
        shared: Mean square of the imbalance that cells of the same side share.
        own: Mean square of each cell's own imbalance.
        concentrations: Sum of the squared shares of the cells in the side.
        splits: Number of cells.
    """

    sides: Codes
    codes: Codes
    counts: Floats
    even: Floats
    imbalances: Floats
    variances: Floats
    shared: float
    own: float
    concentrations: Floats
    splits: int


def learn_splits(hierarchy: Hierarchy, domain: Domain) -> list[LevelSplits]:
    """Splits of the cells of each level of a domain."""
    found: dict[int, list[Splits]] = {}
    counted_levels = set()
    for level, counted, splits in _splits(hierarchy):
        found.setdefault(level, []).append(splits)
        counted_levels |= {level} if counted else set()
    levels = []
    for level in range(domain.depth):
        parts = [np.concatenate(each) for each in zip(*found.get(level, []), strict=True)]
        cells = Splits(*parts) if parts else None
        levels.append(LevelSplits(cut_axis(domain, level), cells, level in counted_levels))
    return levels


def pool_splits(domain: Domain, axis: int, level: int, splits: Splits) -> SideSplits | None:
    """Pooled splits of the cells of one level; None if no cell has two halves that can hold records."""
    codes, first_count, count, variance = splits.two_sided(domain, level)
    if not codes.size:
        return None
    first, second = _measures_of_halves(domain, codes, level)
    even = first / (first + second)
    spread = even * (1.0 - even)
    imbalance = (first_count / count - even) / np.sqrt(spread)
    noise_variance = variance * (0.5 / spread - 1.0)
    cells, _ = domain.axis_cells(codes, level=level)[axis]
    sides, chosen, owner = np.unique(cells, return_index=True, return_inverse=True)
    counts, sums, noises, squares = (
        sum_by_index(owner, each, sides.size) for each in (count, count * imbalance, noise_variance, count**2)
    )
    pooled = sums / counts
    sampling = np.maximum(1.0 - pooled**2, 0.0)
    variances = noises / counts**2 + sampling / counts
    unevenness = float((counts * (pooled**2 - variances)).sum() / counts.sum())
    single = float((count * imbalance**2 - noise_variance / count - sampling[owner]).sum() / counts.sum())
    concentrations = squares / counts**2
    concentration = float((counts * concentrations).sum() / counts.sum())
    shared, own = _parts(unevenness, single, concentration, count.size - sides.size)
    return SideSplits(
        sides, codes[chosen], counts, even[chosen], pooled, variances, shared, own, concentrations, count.size
    )


def pool_all_splits(domain: Domain, axis: int, level: int, splits: Splits) -> SideSplits | None:
    """Pooled splits of the significant cells, with the imbalances of all cells where their sum is significant.

    Cells with few records may divide otherwise than others. One by one they are noise, but their sum is not.
    """
    splits = splits.two_sided(domain, level)
    found = pool_splits(domain, axis, level, splits.significant)
    if found is None:
        return None
    cells, _ = domain.axis_cells(splits.codes, level=level)[axis]
    owner = np.minimum(np.searchsorted(found.sides, cells), found.sides.size - 1)
    counted = np.flatnonzero(found.sides[owner] == cells)
    counts, firsts, noises = (
        sum_by_index(owner[counted], each[counted], found.sides.size)
        for each in (splits.counts, splits.first, splits.variance)
    )
    clear = counts > SIGNIFICANCE * np.sqrt(noises)
    counts, spread = np.where(clear, counts, found.counts), found.even * (1.0 - found.even)
    imbalances = np.where(clear, (firsts / counts - found.even) / np.sqrt(spread), found.imbalances)
    sampling = np.maximum(1.0 - imbalances**2, 0.0)
    variances = noises * (0.5 / spread - 1.0) / counts**2 + sampling / counts
    return found._replace(counts=counts, imbalances=imbalances, variances=np.where(clear, variances, found.variances))


def _measures_of_halves(domain: Domain, codes: Codes, level: int) -> Floats:
    """Base measure of both halves of each cell of a level, shape (2, cells)."""
    return domain.measure(descendants(codes, levels=1).ravel(), level=level + 1).reshape(-1, 2).T


def _splits(hierarchy: Hierarchy) -> Iterator[tuple[int, bool, Splits]]:
    """The cells that are divided in two, with the level of the cells, and whether their children are counted."""
    top = hierarchy.layers[0]
    yield from _halvings(top, np.arange(top.codes.size)[None], counted=True)
    for layer, below in pairwise(hierarchy.layers):
        for group in layer.child_groups:
            yield from _halvings(below, group.children, counted=group.measurement == "counted")


def _halvings(layer: Layer, children: NDArray[np.int64], *, counted: bool) -> Iterator[tuple[int, bool, Splits]]:
    """Halves, quarters and further parts of some cells, from their children, shape (cells, children)."""
    values = (layer.subtree_estimate, layer.subtree_variance) if counted else (layer.estimate, layer.variance)
    counts, variances = (np.where(layer.possible, each, 0.0)[children] for each in values)
    codes, levels = layer.codes[children], layer.levels[children[:, 0]]
    while counts.shape[1] > 1:
        first = counts[:, ::2]
        counts, variances = (each[:, ::2] + each[:, 1::2] for each in (counts, variances))
        codes, levels = codes[:, ::2] >> np.uint64(1), levels - 1
        for level, here in by_level(levels):
            own = (each[here].ravel() for each in (first, counts, variances))
            yield level, counted, Splits(codes[here].ravel(), *own)


def _parts(pooled: float, single: float, concentration: float, freedom: int) -> tuple[float, float]:
    """Mean squares of the shared imbalance and of each cell's own, between 0 and 1.

    Of the own imbalances of the cells of a side, the mean of their squares in
    units of the squared mean is what remains when the cells are pooled. Where few
    sides have more than one cell, all imbalance counts as shared.

    Args:
        pooled: Mean squared imbalance of the sides.
        single: Mean squared imbalance of the cells.
        concentration: Mean sum of the squared shares of the cells in their sides.
        freedom: Number of cells, less the number of sides.
    """
    enough = min(freedom / ENOUGH_SPLITS, 1.0)
    own = enough * min(max(single - pooled, 0.0) / max(1.0 - concentration, 1e-300), 1.0) if freedom else 0.0
    return min(max(pooled - concentration * own, 0.0), 1.0), own

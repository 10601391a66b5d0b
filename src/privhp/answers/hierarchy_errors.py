"""Errors of masses of leaves, from public quantities: the noise of the release and the resolution of its leaves.

The error of the mass of a region has three parts.

Noise. Given the estimate of their parent, the estimates of children have the
covariance diag(v) - v v' / sum(v), v being their variances. If the answer gives
them the weights w, they add sum(v * (w - m)^2) to its variance, where
m = sum(v * w) / sum(v) is the weight that remains for the parent. So variances
add up from the leaves to the root.

Bias. Shrinkage and projection take records from cells that are nearly empty, or
give some to them. The least-squares answer without them is unbiased. As in a
Hausman test, the difference of the two answers has as variance the difference of
their variances; what its square exceeds that is the squared bias. A small
difference may hide a bias as large as the noise that the two steps removed,
except on a line, where the variances hold the bias of sums.

Resolution (non-uniformity error). A leaf that lies partly in the region may hold
its records anywhere in it. An end of the region cuts many leaves at the same
number, and values concentrate at the ends that people ask for, so all leaves,
ends and axes err in the same direction: their deviations add up, not their variances.
What each leaf has of its own beside adds variance.

Cells outside a region have weight 0 and are left out: the cost of an answer grows with
the number of cells that its region touches. Many regions are computed at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy import Hierarchy
from privhp.answers.histogram import sum_by_index
from privhp.answers.standard_errors import LeafShares
from privhp.answers.unprojected import unproject
from privhp.core.cells import Floats

Indices = NDArray[np.int64]

SPARSE = 8
"""Keys are sorted if they reach beyond this multiple of their number; otherwise a table of all keys is faster."""

CHUNK = 2**18
"""Number of leaves of all regions that are computed at once, which bounds the memory."""


class _Step(NamedTuple):
    """Cells of one layer that regions touch, and their parents.

    Args:
        leaves: Positions of the cells that are leaves, among all leaves of the regions. They follow the other cells.
        region: Region of each cell.
        cell: Index of each cell in its layer.
        parent: Position of the parent of each cell in the step above.
    """

    leaves: Indices
    region: Indices
    cell: Indices
    parent: Indices


class _Siblings:
    """How the cells of a layer share the weight of their parents, and what they add to an answer.

    Args:
        parents: Index of the parent of each cell.
        prior: The share of each cell in the weight of its parent is in proportion to this.
        variance: Variance that a cell adds for a weight that differs from that of its parent by 1.
        difference: What such a cell adds to the difference of two answers.
    """

    def __init__(self, parents: Indices, prior: Floats, variance: Floats, difference: Floats) -> None:
        self.parents, self._values = parents, (variance, difference)
        self._shares = prior / np.maximum(np.bincount(parents, prior), 1e-300)[parents]
        self._sizes = np.bincount(parents)
        self._sums = [np.bincount(parents, values) for values in self._values]

    def parent_weights(self, step: _Step, weights: Floats, size: int) -> Floats:
        """Weight of each of some parents, from the weights of their children."""
        return sum_by_index(step.parent, weights * self._shares[step.cell], size)

    def add_up(self, step: _Step, above: _Step, weights: Floats, means: Floats) -> tuple[Floats, Floats]:
        """Variance and difference that the children of each parent add; children that no region touches have weight 0.

        Args:
            step: The children.
            above: Their parents, and leaves after them.
            weights: Weight of each child in the answer.
            means: Weight of each parent.
        """
        parents = above.cell[: means.size]
        residuals = weights - means[step.parent]
        complete = np.bincount(step.parent, minlength=means.size) == self._sizes[parents]
        added = []
        for values, sums, power in zip(self._values, self._sums, (2, 1), strict=True):
            own = values[step.cell]
            others = np.where(complete, 0.0, sums[parents] - sum_by_index(step.parent, own, means.size))
            touched = sum_by_index(step.parent, residuals**power * own, means.size)
            added.append(touched + (-means) ** power * others)
        return added[0], added[1]


class HierarchyErrors:
    """Errors of masses of leaves of a solved hierarchy."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        """Take the resolved hierarchy of the leaves."""
        self.hierarchy = hierarchy

    @cached_property
    def unprojected(self) -> HierarchyErrors:
        """Errors of the same leaves with unbiased counts, which may be negative."""
        return HierarchyErrors(unproject(self.hierarchy))

    @cached_property
    def counts(self) -> Floats:
        """Count of each leaf, in the order of the domain."""
        counts: Floats = self.hierarchy.leaf_values("estimate")[self.hierarchy.leaf_order]
        return counts

    def standard_errors(self, regions: Sequence[LeafShares]) -> Floats:
        """Standard error of the mass of each region."""
        if self.counts.sum() <= 0:
            return np.ones(len(regions))
        return np.concatenate([np.zeros(0), *map(self._standard_errors, _chunks(regions))])

    def _standard_errors(self, regions: Sequence[LeafShares]) -> Floats:
        total, size = float(self.counts.sum()), len(regions)
        region = np.repeat(np.arange(size), [own.leaves.size for own in regions])
        shares = LeafShares(*map(np.concatenate, zip(*regions, strict=True)))
        counts, steps = self.counts[shares.leaves], self._steps(region, shares.leaves, size)

        def by_region(values: Floats) -> Floats:
            return sum_by_index(region, values, size)

        # A share is a ratio of counts: by the delta method, weights count from the share itself.
        masses = by_region(shares.mean * counts) / total
        variance, _ = _climb(self._final, steps, shares.mean, masses)
        records = np.maximum(counts, 0.0)  # unbiased counts may be negative
        inside = by_region(shares.variance * records + (shares.scatter * records) ** 2)
        unbiased_variance, difference = _climb(self._unbiased, steps, shares.mean, masses)
        removed = np.maximum(unbiased_variance - variance, 0.0)
        squared_bias = np.maximum(difference**2 - removed, 0.0)
        if not self.hierarchy.trusts_sums:
            most = total * np.minimum(masses, 1.0 - masses)
            squared_bias = np.maximum(squared_bias, _hidden_bias(difference, removed, most))
        resolution = by_region(shares.deviation * records)
        errors: Floats = np.sqrt(np.maximum(variance, 0.0) + inside + squared_bias + resolution**2) / total
        return np.minimum(errors, 1.0)

    def deviation(self, weights: Floats, *, variance_inside: float = 0.0) -> float:
        """Standard deviation of a weighted sum of the counts of the leaves, in the order of the domain.

        Args:
            weights: Weight of the count of each leaf.
            variance_inside: Variance that the records inside the leaves add to the sum, beside the noise.
        """
        leaves = np.flatnonzero(weights)
        steps = self._steps(np.zeros_like(leaves), leaves, 1)
        variance, _ = _climb(self._final, steps, weights[leaves], np.zeros(1))
        return float(np.sqrt(max(float(variance[0]), 0.0) + variance_inside))

    def _steps(self, region: Indices, leaves: Indices, size: int) -> list[_Step]:
        """The ancestors of the leaves of each region, from the last layer to the top layer, and the root of each.

        Args:
            region: Region of each leaf.
            leaves: Index of each leaf.
            size: Number of regions.
        """
        layer_of_leaf, cells = (own[leaves] for own in self._leaf_cells)
        steps, above, nothing = [], (region[:0], cells[:0]), region[:0]
        for index in range(len(self._parents) - 1, -1, -1):
            own = np.flatnonzero(layer_of_leaf == index)
            regions, layer_cells = (np.concatenate(pair) for pair in zip(above, (region[own], cells[own]), strict=True))
            count = self.hierarchy.layers[index - 1].codes.size if index else 1
            keys = regions * count + self._parents[index][0][layer_cells]
            pairs, parents = _distinct(keys) if index else (np.arange(size), keys)
            above = np.divmod(pairs, count)
            steps.append(_Step(own, regions, layer_cells, parents))
        return [*steps, _Step(nothing, *above, nothing)]

    @cached_property
    def _leaf_cells(self) -> tuple[Indices, Indices]:
        """Layer of each leaf, and its index there."""
        masks, order = self.hierarchy.leaf_masks, self.hierarchy.leaf_order
        layers = np.repeat(np.arange(len(masks)), [np.count_nonzero(mask) for mask in masks])
        return layers[order], np.concatenate([np.flatnonzero(mask) for mask in masks])[order]

    @cached_property
    def _parents(self) -> list[tuple[Indices, NDArray[np.bool_]]]:
        """For each layer, the parent of each cell in the layer above, and whether a sketch measures the cell.

        A cell without a parent has the index after the last cell.
        """
        layers = self.hierarchy.layers
        found = [(np.zeros(layers[0].codes.shape, dtype=np.int64), np.zeros(layers[0].codes.shape, dtype=np.bool_))]
        for above, layer in pairwise(layers):
            parents, hashed = np.full(layer.codes.shape, above.codes.size), np.zeros(layer.codes.shape, dtype=np.bool_)
            for group in above.child_groups:
                parents[group.children] = group.parents[:, None]
                hashed[group.children] = group.measurement == "hashed"
            found.append((parents, hashed))
        return found

    @cached_property
    def _final(self) -> list[_Siblings]:
        """The layers with the variances of the estimates given those of their parents."""
        found = []
        for layer, (parents, hashed) in zip(self.hierarchy.layers, self._parents, strict=True):
            # Children estimated at 0 may still hold records of the parent: add one standard deviation, spread evenly.
            spread = np.sqrt(np.bincount(parents, layer.variance)) / np.maximum(np.bincount(parents, layer.possible), 1)
            prior = np.where(hashed, layer.estimate + spread[parents] * layer.possible, layer.variance)
            found.append(_Siblings(parents, prior, layer.variance, np.zeros(prior.shape)))
        return found

    @cached_property
    def _unbiased(self) -> list[_Siblings]:
        """The layers with the unbiased estimates less the final ones, and the variances of the former."""
        found = []
        for layer, (parents, hashed) in zip(self.hierarchy.layers, self._parents, strict=True):
            variance = np.where(layer.possible, layer.subtree_variance, 0.0)
            difference = np.where(layer.possible, layer.subtree_estimate, 0.0) - layer.estimate
            prior = np.where(hashed, layer.estimate, variance)
            found.append(_Siblings(parents, prior, np.where(hashed, 0.0, variance), np.where(hashed, 0.0, difference)))
        return found


def _distinct(keys: Indices) -> tuple[Indices, Indices]:
    """Distinct keys from 0 on in ascending order, and the place of each key among them."""
    size = int(keys.max(initial=-1)) + 1
    if size > SPARSE * keys.size:
        return np.unique(keys, return_inverse=True)
    places = np.zeros(size, dtype=np.int64)
    places[keys] = 1
    distinct = np.flatnonzero(places)
    places[distinct] = np.arange(distinct.size)
    return distinct, places[keys]


def _hidden_bias(difference: Floats, removed: Floats, most: Floats) -> Floats:
    """Posterior mean of the squared bias, from an unbiased estimate of the bias.

    The variance of the prior is that of the noise that shrinkage and projection removed: the sum of what they leave in
    empty cells is of this size. It is at most the count itself.

    Args:
        difference: The unbiased estimate.
        removed: Its variance.
        most: The lesser of the counts inside and outside the region.
    """
    return np.minimum(difference**2 / 4.0 + removed / 2.0, most**2)


def _climb(
    layers: Sequence[_Siblings], steps: Sequence[_Step], weights: Floats, root_weights: Floats
) -> tuple[Floats, Floats]:
    """Variance and difference of the weighted sum of each region.

    Args:
        layers: The siblings of each layer.
        steps: The cells, from the last layer to the root.
        weights: Weight of each leaf in the sum of its region.
        root_weights: Weight of the root in each sum.
    """
    root = steps[-1]
    variance, difference, means = np.zeros(root.cell.size), np.zeros(root.cell.size), np.zeros(0)
    for siblings, (step, above) in zip(reversed(layers), pairwise(steps), strict=True):
        own = np.concatenate([means, weights[step.leaves]])
        parents = above.cell.size - above.leaves.size
        means = root_weights if above is root else siblings.parent_weights(step, own, parents)
        added = siblings.add_up(step, above, own, means)
        for total, each in zip((variance, difference), added, strict=True):
            total += sum_by_index(above.region[:parents], each, total.size)
    return variance, difference


def _chunks(regions: Sequence[LeafShares]) -> Iterator[Sequence[LeafShares]]:
    """Consecutive regions with up to CHUNK leaves together, or one region."""
    start, leaves = 0, 0
    for index, own in enumerate(regions):
        leaves += own.leaves.size
        if index > start and leaves > CHUNK:
            yield regions[start:index]
            start, leaves = index, own.leaves.size
    if regions:
        yield regions[start:]

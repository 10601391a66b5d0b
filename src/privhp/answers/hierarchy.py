"""All measurements of a release as one tree, solved by constrained inference.

A layer holds cells; their children are in the next layer. The bottom-up pass
combines the measurement of each cell with those of its descendants by
inverse-variance weighting. A spike-and-slab posterior then shrinks the
estimates of cells that are probably empty. The top-down pass projects the estimates of children
so that they are non-negative and sum to their parent's estimate. Sketched
levels are decoded below the result, one after the other.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.answers.constrained_inference import inverse_variance_mean, project_to_simplex, spike_and_slab_posterior
from privhp.answers.sketch_decoding import decode_sketch
from privhp.core.budget import noise_variance
from privhp.core.cells import Codes, Counts, Floats, descendants, domain_order
from privhp.planning.partition import Cells, Partition
from privhp.planning.plan import Plan
from privhp.release import Release

ChildMeasurement = Literal["nested", "sequential", "hashed"]
"""How the measurements of children relate to that of their parent.

nested: Both count the same records.
sequential: The parent counts the records before its split, the children those after it.
hashed: The parent is estimated, the children come from a sketch.
"""


class ChildGroup(NamedTuple):
    """Cells of a layer with the same number of children in the next layer.

    Args:
        parents: Index in the layer of each of the m parents.
        children: Index in the next layer of their g children, shape (m, g).
        measurement: Relation of the children's measurements to that of their parent.
    """

    parents: NDArray[np.int64]
    children: NDArray[np.int64]
    measurement: ChildMeasurement


class Layer:
    """Cells at the same number of splits from the root.

    Attributes:
        codes: Code of each cell.
        levels: Level of each cell.
        possible: Cells of positive base measure. The others are structural zeros: no record can be in them.
        measured: Noisy measurement of each cell.
        measured_variance: Variance of its noise.
        subtree_estimate: Estimate from a cell and its descendants alone.
        subtree_variance: Variance of the subtree estimate.
        estimate: Consistent, non-negative estimate from all measurements.
        variance: Variance of a cell's estimate given the estimate of its parent; 0 for structural zeros.
        child_groups: The cells that have children in the next layer.
    """

    def __init__(
        self,
        codes: Codes,
        levels: NDArray[np.int64],
        possible: NDArray[np.bool_],
        measured: Floats,
        measured_variance: Floats,
    ) -> None:
        self.codes, self.levels, self.possible = codes, levels, possible
        self.measured, self.measured_variance = measured, measured_variance
        self.subtree_estimate, self.subtree_variance = measured.copy(), measured_variance.copy()
        self.estimate, self.variance = np.zeros(measured.shape), measured_variance.copy()
        self.child_groups: list[ChildGroup] = []

    def leaf_mask(self) -> NDArray[np.bool_]:
        """Cells without children."""
        childless = np.ones(self.codes.shape, dtype=np.bool_)
        for group in self.child_groups:
            childless[group.parents] = False
        return childless

    @staticmethod
    def concatenate(layers: "list[Layer]") -> "Layer":
        """One layer with the cells of several, which have no children yet."""
        names = ("codes", "levels", "possible", "measured", "measured_variance")
        return Layer(*(np.concatenate([getattr(layer, name) for layer in layers]) for name in names))


class Hierarchy:
    """The measured cells of a release with consistent, non-negative estimates of their counts."""

    def __init__(self, release: Release) -> None:
        """Run the bottom-up pass, the shrinkage and the top-down pass on a release."""
        self._release, self._plan = release, release.plan
        self.layers = [self._exact_layer(release.plan.exact_levels[0])]
        for level in release.plan.exact_levels[1:]:
            self._append_level(self._exact_layer(level))
        if release.plan.learned is not None:
            self._append_partition(release.plan)
        self._bottom_up_pass()
        self._top_down_pass()
        for level in release.plan.sketched_levels:
            self._append_sketch(level)
        for layer in self.layers:
            layer.variance = np.where(layer.possible, layer.variance, 0.0)

    @property
    def depth(self) -> int:
        """Deepest level that the plan can resolve."""
        return self._plan.depth

    @cached_property
    def leaf_masks(self) -> list[NDArray[np.bool_]]:
        """Cells of each layer that have no children."""
        return [layer.leaf_mask() for layer in self.layers]

    @cached_property
    def leaf_order(self) -> NDArray[np.int64]:
        """Permutation that sorts the leaves, listed layer by layer, into the order of the domain."""
        return domain_order(self.leaf_values("codes"), self.leaf_values("levels"), depth=self.depth)

    def leaf_values(self, name: str) -> NDArray[Any]:
        """An attribute of the layers for all leaves, layer by layer."""
        layers = zip(self.layers, self.leaf_masks, strict=True)
        return np.concatenate([getattr(layer, name)[mask] for layer, mask in layers])

    def _noise_variance(self, level: int) -> float:
        return noise_variance(float(self._plan.scale(level))) * self._release.merged

    def _layer(self, codes: Codes, level: int, counts: Counts | Floats, variance: float | Floats) -> Layer:
        possible = self._plan.domain.measure(codes, level=level) > 0
        variances = np.broadcast_to(np.float64(variance), codes.shape)
        return Layer(codes, np.full(codes.shape, level), possible, counts.astype(np.float64), variances)

    def _exact_layer(self, level: int) -> Layer:
        codes = np.arange(2**level, dtype=np.uint64)
        return self._layer(codes, level, self._release.counts[level], self._noise_variance(level))

    def _append_level(self, layer: Layer) -> None:
        """Append a layer that holds all cells of a level to one that holds all cells of a coarser level."""
        parents = np.arange(self.layers[-1].codes.size)
        children = np.arange(layer.codes.size).reshape(parents.size, -1)
        self.layers[-1].child_groups.append(ChildGroup(parents, children, "nested"))
        self.layers.append(layer)

    def _append_partition(self, plan: Plan) -> None:
        """Append the cells of the learned partition, one layer for each split on the path from its root."""
        partition = Partition(
            plan.learned_level, self._release.counts[plan.learned_level], refinements=self._release.refinements
        )
        layer, splits = self._partition_layer(partition, list(partition.roots(2**plan.learned_level)))
        self._append_level(layer)
        while splits:
            pending = [children for _, children in splits]
            layer, deeper_splits = self._partition_layer(partition, pending)
            ends = np.cumsum([children.slots.size for children in pending])
            for (parents, children), end in zip(splits, ends, strict=True):
                indices = np.arange(end - children.slots.size, end).reshape(parents.size, -1)
                self.layers[-1].child_groups.append(ChildGroup(parents, indices, "sequential"))
            self.layers.append(layer)
            splits = deeper_splits

    def _partition_layer(
        self, partition: Partition, pending: list[Cells]
    ) -> tuple[Layer, list[tuple[NDArray[np.int64], Cells]]]:
        """A layer of cells of the partition; and the indices of those that were split, with their children.

        A count has one noise term for each epoch in which its cell counted.
        """
        noise_variance = self._noise_variance(self._plan.learned_level)
        layers, splits, start = [], [], 0
        for cells in pending:
            counts = partition.slots[cells.slots].astype(np.float64)
            draws = np.full(counts.shape, partition.refinements + 1.0 - cells.first_epoch)
            _, split = partition.leaves_and_parents(cells)
            for parents in split:
                indices = np.searchsorted(cells.codes, parents.cells.codes)
                counts[indices] = partition.slots[parents.cells.slots]
                draws[indices] = parents.refinement - cells.first_epoch
                splits.append((indices + start, parents.children()))
            layers.append(self._layer(cells.codes, cells.level, counts, noise_variance * draws))
            start += counts.size
        return Layer.concatenate(layers), splits

    def _append_sketch(self, level: int) -> None:
        """Append the children of the largest cells of the last layer, decoded from the sketch of a level."""
        above, plan = self.layers[-1], self._plan
        parents = np.sort(np.argsort(-above.estimate, kind="stable")[: plan.hot_cells])
        parents = parents[above.estimate[parents] > 0]
        codes = descendants(above.codes[parents], levels=level - int(above.levels[0]))
        layer = self._layer(codes.ravel(), level, np.zeros(codes.size), self._noise_variance(level))
        children = np.arange(codes.size).reshape(codes.shape)
        coefficients, levels_below = plan.hash_coefficients(level), level - plan.hash_levels[level]
        buckets = kernels.find_buckets(coefficients, codes.ravel(), levels_below=levels_below, width=plan.sketch_width)
        buckets = buckets.reshape(plan.sketch_rows, *codes.shape)
        layer.estimate[children], layer.variance[children] = decode_sketch(
            self._release.counts[level], buckets, above.estimate[parents], layer.possible[children]
        )
        above.child_groups.append(ChildGroup(parents, children, "hashed"))
        self.layers.append(layer)

    def _bottom_up_pass(self) -> None:
        """Estimate each cell from its own measurement and the subtree estimates of its children."""
        for layer, below in reversed(list(pairwise(self.layers))):
            for group in layer.child_groups:
                total = np.where(below.possible, below.subtree_estimate, 0.0)[group.children].sum(axis=1)
                total_variance = np.where(below.possible, below.subtree_variance, 0.0)[group.children].sum(axis=1)
                estimate, variance = layer.measured[group.parents], layer.measured_variance[group.parents]
                if group.measurement == "nested":
                    estimate, variance = inverse_variance_mean(estimate, variance, total, total_variance)
                else:
                    estimate, variance = estimate + total, variance + total_variance
                layer.subtree_estimate[group.parents], layer.subtree_variance[group.parents] = estimate, variance

    def _top_down_pass(self) -> None:
        """Project the posterior means of children so that they are consistent with the estimate of their parent."""
        means = []
        for layer in self.layers:
            mean, layer.variance = spike_and_slab_posterior(
                layer.subtree_estimate, layer.subtree_variance, layer.possible
            )
            means.append(mean)
        top = self.layers[0]
        total = np.maximum(np.where(top.possible, top.subtree_estimate, 0.0).sum(keepdims=True), 0.0)
        top.estimate = project_to_simplex(total, means[0][None], top.variance[None], top.possible[None])[0]
        for (layer, below), mean in zip(pairwise(self.layers), means[1:], strict=True):
            for group in layer.child_groups:
                project = _project_nested if group.measurement == "nested" else _project_sequential
                below.estimate[group.children] = project(layer, below, group, mean[group.children])


def _project_nested(layer: Layer, below: Layer, group: ChildGroup, means: Floats) -> Floats:
    """Consistent estimates of children that count the same records as their parents."""
    variances, possible = below.variance[group.children], below.possible[group.children]
    return project_to_simplex(layer.estimate[group.parents], means, variances, possible)


def _project_sequential(layer: Layer, below: Layer, group: ChildGroup, means: Floats) -> Floats:
    """Consistent estimates of children that count the records after the split of their parents.

    The count before the split and the counts of the children are projected
    together onto the parent's estimate. The records before the split are then
    allocated to the children in proportion to the later counts, plus one
    standard deviation of their sum spread evenly: if the later counts are
    mostly noise, the allocation is even.
    """
    variances, possible = below.variance[group.children], below.possible[group.children]
    projected = project_to_simplex(
        layer.estimate[group.parents],
        np.hstack([layer.measured[group.parents][:, None], means]),
        np.hstack([layer.measured_variance[group.parents][:, None], variances]),
        np.hstack([possible.any(axis=1, keepdims=True), possible]),
    )
    earlier, later = projected[:, :1], projected[:, 1:]
    deviation = np.sqrt(np.where(possible, variances, 0.0).sum(axis=1, keepdims=True))
    weights = later + deviation * possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    allocated: Floats = later + earlier * weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    return allocated

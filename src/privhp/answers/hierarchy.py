"""All measurements of a release as one tree, solved by constrained inference.

A layer holds cells; their children are in the next layer. The bottom-up pass
combines the measurement of each cell with those of its descendants by
inverse-variance weighting. A spike-and-slab posterior then shrinks the
estimates of cells that are probably empty; the total and the coarsest cells learn
from it, as far as it shows no bias. The top-down pass projects the estimates of children
so that they are non-negative and sum to their parent's estimate; splits between
complete levels that show nothing but noise are tempered. Sketched levels are
decoded below the result, one after the other.
"""

from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.answers.constrained_inference import (
    inverse_variance_mean,
    project_to_simplex,
    spike_and_slab_posterior,
    temper_splits,
    trusted_sums,
)
from privhp.answers.sketch_decoding import decode_sketch
from privhp.core.cells import Codes, Counts, Floats, by_level, descendants, domain_order
from privhp.planning.partition import Partition
from privhp.release import Release

MAX_PRIOR_SHARE = 0.1
"""Largest share of the prior variance that a sketch may leave to the children of a cell that it resolves."""

ChildMeasurement = Literal["counted", "hashed"]
"""How children are measured: by counters of their own, or by a sketch that is decoded below their parent's estimate."""


class ChildGroup(NamedTuple):
    """Cells of a layer with the same number of children in the next layer.

    Args:
        parents: Index in the layer of each of the m parents.
        children: Index in the next layer of their g children, shape (m, g).
        measurement: How the children are measured.
    """

    parents: NDArray[np.int64]
    children: NDArray[np.int64]
    measurement: ChildMeasurement


class Layer:
    """Cells at the same number of splits from the root.

    Attributes:
        codes: Code of each cell.
        levels: Level of each cell.
        measure: Base measure of each cell.
        possible: Cells of positive base measure. The others are structural zeros: no record can be in them.
        is_level: Whether the layer holds all cells of a level.
        measured: Noisy measurement of each cell; 0 for a cell that is not measured.
        measured_variance: Variance of its noise; infinite for a cell that is not measured.
        subtree_estimate: Estimate from a cell and its descendants alone.
        subtree_variance: Variance of the subtree estimate.
        mean: Posterior mean of the subtree estimate, shrunk where the cell is probably empty.
        estimate: Consistent, non-negative estimate from all measurements.
        variance: Variance of a cell's estimate given the estimate of its parent; 0 for structural zeros.
        child_groups: The cells that have children in the next layer.
        reached: Cells that are a root or a child of the layer above.
    """

    def __init__(
        self,
        codes: Codes,
        levels: NDArray[np.int64],
        measure: Floats,
        measured: Floats,
        measured_variance: Floats,
    ) -> None:
        self.codes, self.levels, self.measure, self.possible = codes, levels, measure, measure > 0.0
        self.is_level = False
        self.measured, self.measured_variance = measured, measured_variance
        self.subtree_estimate, self.subtree_variance = measured.copy(), measured_variance.copy()
        self.mean, self.estimate = measured.copy(), np.zeros(measured.shape)
        self.variance = measured_variance.copy()
        self.child_groups: list[ChildGroup] = []
        self.reached = np.ones(codes.shape, dtype=np.bool_)

    def leaf_mask(self) -> NDArray[np.bool_]:
        """Cells without children."""
        childless = self.reached.copy()
        for group in self.child_groups:
            childless[group.parents] = False
        return childless


class Hierarchy:
    """The measured cells of a release with consistent, non-negative estimates of their counts."""

    def __init__(self, release: Release) -> None:
        """Run the bottom-up pass and the top-down pass on a release."""
        self._release, self._plan = release, release.plan
        self.layers: list[Layer] = []
        for level in release.plan.exact_levels:
            self._append_level(self._exact_layer(level))
        if release.plan.partition is not None:
            self._append_partition(release.plan.partition)
        self._bottom_up_pass()
        self._top_down_pass()
        for above, level in pairwise([release.plan.exact_depth, *release.plan.sketched_levels]):
            self._append_sketch(level, levels=level - above)
        for layer in self.layers:
            layer.variance = np.where(layer.possible, layer.variance, 0.0)

    def resolved(self) -> "Hierarchy":
        """The hierarchy without the children of cells of which a sketch says little."""
        resolved = copy(self)
        for cached in ("leaf_masks", "leaf_order"):
            resolved.__dict__.pop(cached, None)
        resolved.layers = [copy(layer) for layer in self.layers]
        for layer, below in pairwise(resolved.layers):
            layer.child_groups = [_informative(layer, below, group) for group in layer.child_groups]
            below.reached = np.zeros(below.codes.shape, dtype=np.bool_)
            for group in layer.child_groups:
                below.reached[group.children] = True
        return resolved

    @property
    def depth(self) -> int:
        """Deepest level that the plan can resolve."""
        return self._plan.depth

    @property
    def trusts_sums(self) -> bool:
        """Whether sums of shrunk estimates count as far as their bias allows; their variances hold this bias."""
        return self._plan.tuning.trusts_sums

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
        return self._plan.noise_variance(level, merged=self._release.merged)

    def _layer(
        self, codes: Codes, levels: NDArray[np.int64], counts: Counts | Floats, variance: float | Floats
    ) -> Layer:
        measure = np.empty(codes.shape)
        for level, here in by_level(levels):
            measure[here] = self._plan.domain.measure(codes[here], level=level)
        variances = np.broadcast_to(np.float64(variance), codes.shape)
        return Layer(codes, levels, measure, counts.astype(np.float64), variances)

    def _exact_layer(self, level: int) -> Layer:
        codes = np.arange(2**level, dtype=np.uint64)
        levels = np.full(codes.shape, level)
        return self._layer(codes, levels, self._release.counts[level], self._noise_variance(level))

    def _append_level(self, layer: Layer) -> None:
        """Append a layer that holds all cells of a level to one that holds all cells of a coarser level."""
        layer.is_level = True
        if self.layers:
            parents = np.arange(self.layers[-1].codes.size)
            children = np.arange(layer.codes.size).reshape(parents.size, -1)
            self.layers[-1].child_groups.append(ChildGroup(parents, children, "counted"))
        self.layers.append(layer)

    def _append_partition(self, partition: Partition) -> None:
        """Append the nodes of the partition, one layer for each split from its roots; its leaves are measured."""
        level = self._plan.learned_level
        counts, variance = self._release.counts[level].astype(np.float64), self._noise_variance(level)
        for number, nodes in enumerate(partition.layers()):
            is_leaf = nodes.leaves >= 0
            measured = np.where(is_leaf, counts[nodes.leaves], 0.0)
            layer = self._layer(nodes.codes, nodes.levels, measured, np.where(is_leaf, variance, np.inf))
            if number == 0:
                self._append_level(layer)
            else:
                self.layers.append(layer)
            layer.child_groups = [ChildGroup(*splits, "counted") for splits in nodes.splits]

    def _append_sketch(self, level: int, *, levels: int) -> None:
        """Append the descendants of the largest cells of the last layer, so many levels below it, by their sketch."""
        above, plan = self.layers[-1], self._plan
        parents = np.sort(np.argsort(-above.estimate, kind="stable")[: plan.hot_cells])
        parents = parents[above.estimate[parents] > 0]
        codes = descendants(above.codes[parents], levels=levels)
        own = np.full(codes.size, level)
        layer = self._layer(codes.ravel(), own, np.zeros(codes.size), self._noise_variance(level))
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
        """Estimate each cell from its own measurement and its children, then shrink the estimates of empty cells."""
        for layer, below in reversed(list(zip(self.layers, [*self.layers[1:], self.layers[-1]], strict=True))):
            for group in layer.child_groups:
                own = (layer.measured[group.parents], layer.measured_variance[group.parents])
                sums = _sum_children(below, group.children, below.subtree_estimate, below.subtree_variance)
                found = shrunk = inverse_variance_mean(*own, *sums)
                trusts_sums = self.trusts_sums and np.isinf(own[1]).all()
                if trusts_sums or layer is self.layers[0]:
                    means = _sum_children(below, group.children, below.mean, below.variance)
                    shrunk = trusted_sums(*own, *sums, *means)
                layer.mean[group.parents], layer.variance[group.parents] = shrunk
                layer.subtree_estimate[group.parents], layer.subtree_variance[group.parents] = (
                    shrunk if trusts_sums else found
                )
            layer.mean, layer.variance = spike_and_slab_posterior(layer.mean, layer.variance, layer.possible)

    def _top_down_pass(self) -> None:
        """Project the posterior means of children so that they are consistent with the estimate of their parent."""
        top = self.layers[0]
        roots = np.arange(top.codes.size)[None]
        sums = _sum_children(top, roots, top.subtree_estimate, top.subtree_variance)
        shrunk = _sum_children(top, roots, top.mean, top.variance)
        total, variance = trusted_sums(np.zeros(1), np.full(1, np.inf), *sums, *shrunk)
        self.total_variance = float(variance[0])
        top.estimate = _estimate_children(np.maximum(total, 0.0), top, roots)[0]
        for layer, below in pairwise(self.layers):
            for parents, children, _ in layer.child_groups:
                below.estimate[children] = _estimate_children(layer.estimate[parents], below, children)


def _estimate_children(parents: Floats, below: Layer, children: NDArray[np.int64]) -> Floats:
    """Consistent estimates of children, from the counts of their parents."""
    possible = below.possible[children]
    estimates = project_to_simplex(parents, below.mean[children], below.variance[children], possible)
    if not below.is_level:
        return estimates
    sums, variances = (
        np.where(possible, each[children], 0.0) for each in (below.subtree_estimate, below.subtree_variance)
    )
    return temper_splits(estimates, sums, variances, below.measure[children], parents)


def _informative(layer: Layer, below: Layer, group: ChildGroup) -> ChildGroup:
    """The reached cells of a group whose children are counted, or whose sketch leaves little of the prior variance."""
    chosen = layer.reached[group.parents]
    if group.measurement == "hashed":
        even = layer.estimate[group.parents] / np.maximum(below.possible[group.children].sum(axis=1), 1)
        variance = np.where(below.possible, below.variance, 0.0)[group.children].max(axis=1)
        chosen &= variance < MAX_PRIOR_SHARE * np.maximum(even, 1.0) ** 2
    return group._replace(parents=group.parents[chosen], children=group.children[chosen])


def _sum_children(
    below: Layer, children: NDArray[np.int64], estimates: Floats, variances: Floats
) -> tuple[Floats, Floats]:
    """Sums over the children of each parent; structural zeros are left out."""
    estimate, variance = (np.where(below.possible, each, 0.0)[children].sum(axis=1) for each in (estimates, variances))
    return estimate, variance

"""Standard errors of answers, from public quantities: the noise of the release and the resolution of its leaves.

An answer is the expectation of a function of the records: of the indicator of a
region, for a mass. Its variance has three parts.

Noise. Given the estimate of their parent, the estimates of children have the
covariance diag(v) - v v' / sum(v), v being their variances. If the answer gives
them the weights w, they add sum(v * (w - m)^2) to its variance, where
m = sum(v * w) / sum(v) is the weight that remains for the parent. So variances
add up from the leaves to the root.

Resolution (non-uniformity error). A leaf that lies partly in the region may hold
its records anywhere in it. The imbalance of a level is the mean squared difference between two sibling
cells, relative to their sum; the release shows it where counts are significant.
It gives the variance of the count in the covered part of the leaf.

Correlation. Records concentrate along lines and edges, so leaves on the
boundary of a region err in the same direction.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy import ChildGroup, Hierarchy, Layer
from privhp.core.cells import Floats
from privhp.errors import QueryError

MIN_CORRELATION = 0.015
"""Lower bound on the correlation of errors among boundary leaves."""

MIN_SPLITS = 8
"""Minimum number of significant splits to estimate the imbalance of a level; below it the coarser level's is used."""

IMBALANCE_WINDOW_LEVELS = 3
"""Window of levels over which the maximum imbalance is taken, since consecutive levels split different columns."""

SIGNIFICANCE = 4.0
"""Number of standard deviations that a count must exceed to contribute to the imbalance of a level."""


class LeafFunction(NamedTuple):
    """A function of the records with values in [0, 1], by its moments inside each leaf.

    For the indicator of a region, `mean` is the share of the leaf's measure in
    the region and `slack` is 0. The variance of the function inside a leaf is
    mean * (1 - mean) - slack. Both moments average linearly over the parts of a
    leaf; a variance does not.

    Args:
        mean: Mean of the function f over the base measure of each leaf.
        slack: Mean of f * (1 - f) over the base measure of each leaf.
    """

    mean: Floats
    slack: Floats

    @classmethod
    def indicator(cls, shares: Floats) -> LeafFunction:
        """The indicator of a region that covers these shares of the leaves."""
        return cls(shares, np.zeros(shares.shape))


class StandardErrors(Protocol):
    """Standard errors of the answers of a distribution."""

    def standard_error(self, function: LeafFunction) -> float:
        """Standard error of the expectation of a function on the leaves of the distribution."""
        ...


class UnavailableErrors:
    """Stands for the standard errors of a release whose inference gives no variances."""

    def standard_error(self, function: LeafFunction) -> float:
        """Raise a QueryError."""
        raise QueryError(
            "this plan uses the paper's top-down inference, which gives no standard errors; "
            'use a plan with inference="least-squares", such as Plan.auto(...)'
        )


class _LevelStatistics(NamedTuple):
    """How unevenly the cells of each level split.

    Args:
        imbalance: Mean squared relative difference of sibling cells: 0 if even, 1 if one holds all records.
        correlation: Correlation of these differences among the cells of a level.
    """

    imbalance: Floats
    correlation: Floats


class HierarchyErrors:
    """Standard errors of answers from a solved hierarchy."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        """Take the hierarchy that the leaves were built from."""
        self._hierarchy = hierarchy

    def standard_error(self, function: LeafFunction) -> float:
        """Standard error of the expectation of a function, such as the indicator of a region.

        Args:
            function: Its moments in the leaves, in the order of `Generator.leaves()`.
        """
        layers = self._hierarchy.layers
        top, total = layers[0], float(layers[0].estimate.sum())
        if total <= 0:
            return 1.0
        layer_weights, slacks = self._by_layer(function.mean), self._by_layer(function.slack)
        leaf_variances = [self._leaf_variance(*each) for each in zip(layers, layer_weights, slacks, strict=True)]
        correlation = self._level_statistics.correlation
        correlated = sum(
            np.sqrt(variance * correlation[layer.levels]).sum()
            for layer, variance in zip(layers, leaf_variances, strict=True)
        )
        weights, variances = layer_weights[-1], leaf_variances[-1]
        for index in range(len(layers) - 2, -1, -1):
            layer, below = layers[index], layers[index + 1]
            parent_weights, parent_variances = layer_weights[index], leaf_variances[index]
            for group in layer.child_groups:
                parent_weights[group.parents], parent_variances[group.parents] = _propagate(
                    below, group, weights, variances
                )
            weights, variances = parent_weights, parent_variances
        # A share is a ratio of counts: by the delta method, weights count from the share itself.
        share = float((weights * top.estimate).sum()) / total
        noise = ((weights - share) ** 2 * top.variance).sum()
        variance = float(variances.sum() + noise + correlated**2)
        return min(float(np.sqrt(variance)) / total, 1.0)

    def _by_layer(self, values: Floats) -> list[Floats]:
        """Values of the leaves in the order of the domain, split by layer; 0 for cells that have children."""
        masks = self._hierarchy.leaf_masks
        listed = np.empty(values.shape)
        listed[self._hierarchy.leaf_order] = values
        ends = np.cumsum([mask.sum() for mask in masks])
        by_layer = []
        for mask, chosen in zip(masks, np.split(listed, ends[:-1]), strict=True):
            expanded = np.zeros(mask.shape)
            expanded[mask] = chosen
            by_layer.append(expanded)
        return by_layer

    def _leaf_variance(self, layer: Layer, mean: Floats, slack: Floats) -> Floats:
        """Variance of the sum of the function over the records of each leaf, given the leaf's count.

        If the records were independent, it would be binomial. Imbalanced splits add
        a term in the square of the count. Its exponent is 2 for even splits; it
        is 1 if all records lie in one point of the leaf, and the term is then
        the variance of a single indicator.
        """
        spread = np.maximum(4.0 * mean * (1.0 - mean) - 4.0 * slack, 0.0)
        imbalance = self._level_statistics.imbalance[layer.levels]
        clustered = imbalance * spread ** (2.0 - np.log2(1.0 + imbalance))
        return (spread * layer.estimate + clustered * layer.estimate**2) / 4.0

    @cached_property
    def _level_statistics(self) -> _LevelStatistics:
        size = self._hierarchy.depth + 1
        levels, differences, noise = (np.concatenate(each) for each in zip(*self._split_differences(), strict=True))
        splits, sums, squares, excess = (
            np.bincount(levels, weights=values, minlength=size)
            for values in (
                np.ones(levels.shape),
                differences,
                differences**2,
                np.maximum(differences**2 - noise, 0.0),
            )
        )
        imbalance, correlation = np.ones(size), np.full(size, MIN_CORRELATION)
        for level in range(1, size):
            imbalance[level], correlation[level] = imbalance[level - 1], correlation[level - 1]
            if splits[level] >= MIN_SPLITS:
                # Independent differences give (sum)^2 = sum of squares on average, hence correlation 0.
                observed = (sums[level] ** 2 / max(squares[level], 1e-300) - 1.0) / splits[level]
                imbalance[level], correlation[level] = excess[level] / splits[level], max(observed, MIN_CORRELATION)
        for values in (imbalance, correlation):
            for level in range(size - 1, IMBALANCE_WINDOW_LEVELS - 1, -1):
                values[level] = values[level + 1 - IMBALANCE_WINDOW_LEVELS : level + 1].max()
        return _LevelStatistics(imbalance, correlation)

    def _split_differences(self) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
        """Level, relative difference and noise variance of the sibling pairs whose sum is significant."""
        yield np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        for layer, below in pairwise(self._hierarchy.layers):
            for group in layer.child_groups:
                counts, variances = below.estimate[group.children], below.variance[group.children]
                levels = below.levels[group.children[:, 0]]
                while counts.shape[1] > 1:
                    differences = counts[:, ::2] - counts[:, 1::2]
                    counts, variances = (each[:, ::2] + each[:, 1::2] for each in (counts, variances))
                    significant = counts > SIGNIFICANCE * np.sqrt(variances)
                    yield (
                        levels[np.nonzero(significant)[0]],
                        differences[significant] / counts[significant],
                        variances[significant] / counts[significant] ** 2,
                    )
                    levels = levels - 1


def _propagate(below: Layer, group: ChildGroup, weights: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Weight of each parent's count in the answer, and the variance that its descendants add to the answer."""
    child_weights, child_variance = weights[group.children], below.variance[group.children]
    inherited = variances[group.children].sum(axis=1)
    if group.measurement == "counted":
        weight = (child_weights * child_variance).sum(axis=1) / np.maximum(child_variance.sum(axis=1), 1e-300)
        return weight, inherited + ((child_weights - weight[:, None]) ** 2 * child_variance).sum(axis=1)
    counts, possible = below.estimate[group.children], below.possible[group.children]
    # Children estimated at 0 may still hold records of the parent: add one standard deviation, spread evenly.
    deviation = np.sqrt(child_variance.sum(axis=1, keepdims=True))
    shares = counts + deviation * possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    weight = (child_weights * shares).sum(axis=1)
    return weight, inherited + ((child_weights - weight[:, None]) ** 2 * child_variance).sum(axis=1)

"""How far an answer may be off: standard errors from public quantities.

Takes a release and the share of each leaf that counts, gives the standard
error of their sum. Noise: what a group of cells says of the answer depends on
its own noise only through how unequal their shares are, given the count of
their parent, so variances add up from the leaves to the root. Resolution: a
leaf that counts in part may hold its records anywhere, as unevenly as cells of
its size divide elsewhere in the same release, and as much to the same side.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy import Family, Hierarchy, Layer
from privhp.core.cells import Floats
from privhp.errors import QueryError

ALIKE = 0.015
"""How much leaves on the edge of a region err alike, at least: records line up, and an edge cuts many the same way."""

ENOUGH = 8
"""Cells that must be seen to divide for a level to tell how they do; else the level above does."""

COLUMNS = 3
"""Levels of which the most uneven counts: each cuts one column, and a region's edge may run along another."""


class LeafFunction(NamedTuple):
    """A function of the records with values in [0, 1], by its moments inside each leaf; an answer is its expectation.

    The indicator of a region has the share of the leaf's measure in the region
    as `mean`, and no `slack`. Its variance inside a leaf is mean * (1 - mean) - slack.

    Args:
        mean: Mean of the function f over the base measure of each leaf.
        slack: Mean of f * (1 - f) over the base measure of each leaf.
    """

    mean: Floats
    slack: Floats

    @classmethod
    def indicator(cls, shares: Floats) -> "LeafFunction":
        """The indicator of a region that holds these shares of the leaves."""
        return cls(shares, np.zeros(shares.shape))


class StandardErrors(Protocol):
    """Standard errors of the answers of a distribution."""

    def standard_error(self, function: LeafFunction) -> float:
        """Standard error of the expectation of a function, given by its moments in the leaves of the distribution."""
        ...


class UnavailableErrors:
    """Standard errors of a release whose inference gives no variances: none."""

    def standard_error(self, function: LeafFunction) -> float:
        """Refuse to give a standard error."""
        raise QueryError(
            'expected a plan with inference="least-squares", such as Plan.auto(...), for standard errors; '
            "the paper's top-down rule gives no variances"
        )


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
        layers, by_layer = self._hierarchy.layers, self._by_layer(function.mean)
        slack = self._by_layer(function.slack)
        inside = [self._inside(layer, *own) for layer, *own in zip(layers, by_layer, slack, strict=True)]
        alike = self._divisions[1]
        aligned = sum(np.sqrt(own * alike[layer.levels]).sum() for layer, own in zip(layers, inside, strict=True))
        weights, variances = by_layer[-1], inside[-1]
        for place in range(len(layers) - 2, -1, -1):
            layer, below = layers[place], layers[place + 1]
            above, spread = by_layer[place], inside[place]
            for family in layer.families:
                above[family.parents], spread[family.parents] = _upwards(layer, below, family, weights, variances)
            weights, variances = above, spread
        top = layers[0]
        total = float(top.found.sum())
        if total <= 0:
            return 1.0
        mean = float((weights * top.found).sum()) / total
        noise = ((weights - mean) ** 2 * top.doubts).sum()
        variance = float(variances.sum() + noise + aligned**2)
        return min(float(np.sqrt(variance)) / total, 1.0)

    def _by_layer(self, shares: Floats) -> list[Floats]:
        """The shares of the leaves of each layer, in its order; 0 for cells that have parts."""
        unsorted = np.empty(shares.shape)
        unsorted[self._hierarchy.leaf_order] = shares
        ends = np.cumsum([own.sum() for own in self._hierarchy.leaf_masks])
        by_layer = []
        for own, part in zip(self._hierarchy.leaf_masks, np.split(unsorted, ends[:-1]), strict=True):
            weights = np.zeros(own.shape)
            weights[own] = part
            by_layer.append(weights)
        return by_layer

    def _inside(self, layer: Layer, shares: Floats, slack: Floats) -> Floats:
        """Variance of what is in the region of a leaf that is partly in it, given its count."""
        partly = np.maximum(4.0 * shares * (1.0 - shares) - 4.0 * slack, 0.0)
        uneven = self._divisions[0][layer.levels]
        # If halves differ by sqrt(u) of their sum, and their halves again and so on, shares near 0 or 1 vary less.
        halved = uneven * partly ** (2.0 - np.log2(1.0 + uneven))
        return (partly * layer.found + halved * layer.found**2) / 4.0

    @cached_property
    def _divisions(self) -> tuple[Floats, Floats]:
        """How unevenly cells divide into halves of each level, 0 if evenly, 1 if all goes into one, and how alike."""
        size = self._hierarchy.depth + 1
        levels, skews, noise = (np.concatenate(each) for each in zip(*self._skews(), strict=True))
        clear, lean, squares, uneven = (
            np.bincount(levels, weights=of_each, minlength=size)
            for of_each in (np.ones(levels.shape), skews, skews**2, np.maximum(skews**2 - noise, 0.0))
        )
        known = np.array([[1.0], [ALIKE]]).repeat(size, axis=1)
        for level in range(1, size):
            known[:, level] = known[:, level - 1]
            if clear[level] >= ENOUGH:
                alike = (lean[level] ** 2 / max(squares[level], 1e-300) - 1.0) / clear[level]  # 0 on average by chance
                known[:, level] = uneven[level] / clear[level], max(alike, ALIKE)
        for level in range(self._hierarchy.depth, COLUMNS - 1, -1):
            known[:, level] = known[:, level + 1 - COLUMNS : level + 1].max(axis=1)
        return known[0], known[1]

    def _skews(self) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
        """Of cells that are more than noise: the level of their halves, how much more one holds, and its noise."""
        yield np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        for layer, below in pairwise(self._hierarchy.layers):
            for family in layer.families:
                found, noise = below.found[family.parts], below.doubts[family.parts]
                levels = below.levels[family.parts[:, 0]]
                while found.shape[1] > 1:
                    apart = found[:, ::2] - found[:, 1::2]
                    found, noise = (each[:, ::2] + each[:, 1::2] for each in (found, noise))
                    told = found > 4.0 * np.sqrt(noise)
                    yield levels[np.nonzero(told)[0]], apart[told] / found[told], noise[told] / found[told] ** 2
                    levels = levels - 1


def _upwards(layer: Layer, below: Layer, family: Family, weights: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Weight of the count of each parent, and the variance that its parts add to it."""
    own, doubts = weights[family.parts], below.doubts[family.parts]
    inner = variances[family.parts].sum(axis=1)
    if family.bond == "same":
        mean = (own * doubts).sum(axis=1) / np.maximum(doubts.sum(axis=1), 1e-300)
        return mean, inner + ((own - mean[:, None]) ** 2 * doubts).sum(axis=1)
    found, live = below.found[family.parts], below.live[family.parts]
    # Where nothing was found, what the parent counts is still somewhere: in any of the parts alike.
    likely = found + np.sqrt(doubts.sum(axis=1, keepdims=True)) * live / np.maximum(live.sum(axis=1, keepdims=True), 1)
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1e-300)
    mean = (own * likely).sum(axis=1)
    total = np.maximum(found.sum(axis=1), 1.0)
    earlier = np.maximum(layer.own[family.parents], 0.0) if family.bond == "after" else np.zeros(total.shape)
    later = np.maximum(total - earlier, 1.0)
    apart = (own - mean[:, None]) ** 2
    drawn = earlier * (apart * likely).sum(axis=1)
    return mean, inner + (total / later) ** 2 * (apart * doubts).sum(axis=1) + drawn

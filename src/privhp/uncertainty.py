"""How far an answer may be off: standard errors from public quantities.

Takes a release and the share of each leaf that counts, gives the standard
error of their sum. Noise: what a group of cells says of the answer depends on
its own noise only through how unequal their shares are, given the count of
their parent, so variances add up from the leaves to the root. Resolution: a
leaf that counts in part may hold its records anywhere, as unevenly as cells of
its size divide elsewhere in the same release.
"""

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Floats, in_order
from privhp.errors import QueryError
from privhp.hierarchy import Family, Hierarchy, Layer
from privhp.release import Release

ALIKE = 0.03
"""How much leaves on the edge of a region err alike: records line up, so that an edge cuts many in the same way."""

ENOUGH = 8
"""Cells that must be seen to divide for a level to tell how they do; else the level above does."""

COLUMNS = 3
"""Levels of which the most uneven counts: each cuts one column, and a region's edge may run along another."""


class Estimate(NamedTuple):
    """An answer and its standard error; the truth lies within 1.645 of them nine times in ten."""

    value: NDArray[np.float64] | float
    error: NDArray[np.float64] | float


class Uncertainty:
    """The standard errors of answers from a release."""

    def __init__(self, release: Release) -> None:
        """Solve the release once more, to know how sure each count is."""
        if release.plan.inference != "least-squares":
            raise QueryError(
                'expected a plan with inference="least-squares", such as Plan.auto(...), for standard errors; '
                "the paper's rule does not tell how sure its counts are"
            )
        self._hierarchy, self._depth = Hierarchy(release), release.plan.depth
        for layer in self._hierarchy.layers:
            layer.doubts = np.where(layer.live, layer.doubts, 0.0)
        self._leaves = [layer.leaves() for layer in self._hierarchy.layers]
        pairs = list(zip(self._hierarchy.layers, self._leaves, strict=True))
        codes = np.concatenate([layer.codes[own] for layer, own in pairs])
        levels = np.concatenate([layer.levels[own] for layer, own in pairs])
        self._places = in_order(codes, levels, depth=release.plan.depth)

    def standard_error(self, shares: Floats) -> float:
        """Standard error of the probability of a region.

        Args:
            shares: Which share of each leaf is in the region, in the order of `Generator.leaves()`.
        """
        layers, by_layer = self._hierarchy.layers, self._by_layer(shares)
        inside = [self._inside(layer, own) for layer, own in zip(layers, by_layer, strict=True)]
        aligned = float(sum(np.sqrt(variance).sum() for variance in inside))
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
        variance = float(variances.sum() + noise) + ALIKE * aligned**2
        return min(float(np.sqrt(variance)) / total, 1.0)

    def _by_layer(self, shares: Floats) -> list[Floats]:
        """The shares of the leaves of each layer, in its order; 0 for cells that have parts."""
        unsorted = np.empty(shares.shape)
        unsorted[self._places] = shares
        ends = np.cumsum([own.sum() for own in self._leaves])
        by_layer = []
        for own, part in zip(self._leaves, np.split(unsorted, ends[:-1]), strict=True):
            weights = np.zeros(own.shape)
            weights[own] = part
            by_layer.append(weights)
        return by_layer

    def _inside(self, layer: Layer, shares: Floats) -> Floats:
        """Variance of what is in the region of a leaf that is partly in it, given its count."""
        partly, uneven = 4.0 * shares * (1.0 - shares), self._unevenness[layer.levels]
        # If halves differ by sqrt(u) of their sum, and their halves again and so on, shares near 0 or 1 vary less.
        halved = uneven * partly ** (2.0 - np.log2(1.0 + uneven))
        return (partly * layer.found + halved * layer.found**2) / 4.0

    @cached_property
    def _unevenness(self) -> Floats:
        """How unevenly cells divide into halves of each level: 0 if evenly, 1 if all goes into one."""
        uneven, clear = np.zeros((2, self._depth + 1))
        for layer, below in pairwise(self._hierarchy.layers):
            for family in layer.families:
                found, noise = below.found[family.parts], below.doubts[family.parts]
                levels = below.levels[family.parts[:, 0]]
                while found.shape[1] > 1:
                    apart = (found[:, ::2] - found[:, 1::2]) ** 2
                    found, noise = (each[:, ::2] + each[:, 1::2] for each in (found, noise))
                    told = found > 4.0 * np.sqrt(noise)
                    at = np.broadcast_to(levels[:, None], told.shape)[told]
                    shares = np.maximum(apart - noise, 0.0)[told] / found[told] ** 2
                    uneven += np.bincount(at, weights=shares, minlength=self._depth + 1)
                    clear += np.bincount(at, minlength=self._depth + 1)
                    levels = levels - 1
        known = np.ones(self._depth + 1)
        for level in range(1, self._depth + 1):
            known[level] = uneven[level] / clear[level] if clear[level] >= ENOUGH else known[level - 1]
        lately = (known[max(level - COLUMNS, 0) + 1 : level + 1] for level in range(1, self._depth + 1))
        return np.array([1.0, *(levels.max() for levels in lately)])


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

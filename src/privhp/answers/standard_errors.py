"""Standard errors of answers, from public quantities: the noise of the release and the resolution of its leaves.

The error of the mass of a region has three parts.

Noise. Given the estimate of their parent, the estimates of children have the
covariance diag(v) - v v' / sum(v), v being their variances. If the answer gives
them the weights w, they add sum(v * (w - m)^2) to its variance, where
m = sum(v * w) / sum(v) is the weight that remains for the parent. So variances
add up from the leaves to the root.

Bias. Shrinkage and projection take records from cells that are nearly empty, or
give some to them. The least-squares answer without them is unbiased. As in a
Hausman test, the difference of the two answers has as variance the difference of
their variances; what its square exceeds that is the squared bias.

Resolution (non-uniformity error). A leaf that lies partly in the region may hold
its records anywhere in it. An end of the region cuts many leaves at the same
number, and values concentrate at the ends that people ask for, so all leaves,
ends and axes err in the same direction: their deviations add up, not their variances.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy import ChildGroup, Hierarchy, Layer
from privhp.answers.unprojected import unproject
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn
from privhp.errors import QueryError

if TYPE_CHECKING:
    from privhp.answers.variables import Variable


class LeafShares(NamedTuple):
    """Share of each leaf in a region.

    Args:
        mean: Share of the base measure of each leaf.
        variance: Variance of the indicator of the region for a record drawn from the base measure of the leaf.
        deviation: Standard deviation of the share of the leaf's records in the region from the mean.
    """

    mean: Floats
    variance: Floats
    deviation: Floats

    @classmethod
    def of_region(cls, mean: Floats, deviation: Floats) -> LeafShares:
        """Shares of a region."""
        return cls(mean, mean * (1.0 - mean), deviation)

    @classmethod
    def of_leaves(cls, chosen: NDArray[np.bool_]) -> LeafShares:
        """Shares of a region that consists of whole leaves, by their mask."""
        return cls.of_region(chosen.astype(np.float64), np.zeros(chosen.shape))


class CdfMasses(NamedTuple):
    """Masses at or below each of several values.

    Args:
        mass: The cumulative probability.
        resolution: Its standard error by the resolution of the leaves.
        inside: Mass of the leaves below the value.
        touched: Mass of the leaves that hold values at or below it.
    """

    mass: Floats
    resolution: Floats
    inside: Floats
    touched: Floats


class StandardErrors(Protocol):
    """Standard errors of the answers of a distribution."""

    def marginal(self, domain: Domain, columns: Collection[TableColumn]) -> StandardErrors:
        """Standard errors of the marginal over some columns of a table, which has this domain."""
        ...

    def given_value(self) -> StandardErrors:
        """Standard errors of the values of a nullable domain, given that there is a value."""
        ...

    def region_shares(self, region: Any) -> LeafShares:
        """Share of each leaf of the release in a region of the distribution."""
        ...

    def cdf_shares(self, value: Any) -> LeafShares:
        """Share of each leaf of the release at or below a value."""
        ...

    def cdf_masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value."""
        ...

    def variables(self) -> list[Variable]:
        """The numeric variable of the distribution; of a table, that of each column."""
        ...

    def mass(self, means: Floats) -> float:
        """Mass of a region that covers these shares of the leaves."""
        ...

    def standard_error(self, shares: LeafShares) -> float:
        """Standard error of the mass of a region."""
        ...


class UnavailableErrors:
    """Stands for the standard errors of a distribution that has none, for a stated reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def _keep(self, *_: Any) -> UnavailableErrors:
        return self

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise QueryError(self._reason)

    marginal = given_value = _keep
    region_shares = cdf_shares = cdf_masses = variables = mass = standard_error = _refuse


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

    def standard_error(self, shares: LeafShares) -> float:
        """Standard error of the mass of a region that covers these shares of the leaves."""
        total = float(self.hierarchy.layers[0].estimate.sum())
        if total <= 0:
            return 1.0
        resolution = float((self.counts * shares.deviation).sum())
        noise, (difference, unbiased_variance) = self._noise(shares) ** 2, self._difference(shares)
        squared_bias = max(difference**2 - max(unbiased_variance - noise, 0.0), 0.0)
        variance = noise + squared_bias + resolution**2
        return min(float(np.sqrt(variance)) / total, 1.0)

    def _noise(self, shares: LeafShares) -> float:
        """Standard deviation of the count in a region by noise, and by independent records inside leaves."""
        top = self.hierarchy.layers[0]
        weights, variance = self._propagate_to_top(shares.mean, shares.variance * self.counts)
        # A share is a ratio of counts: by the delta method, weights count from the share itself.
        share = float((weights * top.estimate).sum()) / float(top.estimate.sum())
        return float(np.sqrt(variance + ((weights - share) ** 2 * top.variance).sum()))

    def deviation(self, weights: Floats, leaf_variances: Floats) -> float:
        """Standard deviation of a weighted sum of the counts of the leaves, in the order of the domain.

        Args:
            weights: Weight of the count of each leaf.
            leaf_variances: Variance that each leaf adds to the sum, beside the noise.
        """
        at_top, variance = self._propagate_to_top(weights, leaf_variances)
        return float(np.sqrt(variance + (at_top**2 * self.hierarchy.layers[0].variance).sum()))

    def _propagate_to_top(self, weights: Floats, leaf_variances: Floats) -> tuple[Floats, float]:
        """Weights of the top layer in a weighted sum of the leaves, and the variance that the layers below it add."""
        layers = self.hierarchy.layers
        layer_weights, layer_variances = self._by_layer(weights), self._by_layer(leaf_variances)
        own, variances = layer_weights[-1], layer_variances[-1]
        for index in range(len(layers) - 2, -1, -1):
            parent_weights, parent_variances = layer_weights[index], layer_variances[index]
            for group in layers[index].child_groups:
                parent_weights[group.parents], parent_variances[group.parents] = _propagate(
                    layers[index + 1], group, own, variances
                )
            own, variances = parent_weights, parent_variances
        return own, float(variances.sum())

    @cached_property
    def _unbiased(self) -> list[tuple[Floats, Floats]]:
        """For each layer, the unbiased estimates less the final ones, and the variances of the former."""
        return [
            (
                np.where(layer.possible, layer.subtree_estimate, 0.0) - layer.estimate,
                np.where(layer.possible, layer.subtree_variance, 0.0),
            )
            for layer in self.hierarchy.layers
        ]

    def _difference(self, shares: LeafShares) -> tuple[float, float]:
        """Difference of the count in a region from its unbiased estimate, and the variance of the latter."""
        layers, by_layer = self.hierarchy.layers, self._by_layer(shares.mean)
        difference = variance = 0.0
        for index in range(len(layers) - 1, 0, -1):
            differences, variances = self._unbiased[index]
            for group in layers[index - 1].child_groups:
                weights = by_layer[index][group.children]
                counted = group.measurement == "counted"
                priors = (variances if counted else layers[index].estimate)[group.children]
                mean = (weights * priors).sum(axis=1) / np.maximum(priors.sum(axis=1), 1e-300)
                by_layer[index - 1][group.parents] = mean
                if counted:
                    residuals = weights - mean[:, None]
                    difference += float((residuals * differences[group.children]).sum())
                    variance += float((residuals**2 * priors).sum())
        differences, variances = self._unbiased[0]
        weights = by_layer[0] - float((self.counts * shares.mean).sum() / self.counts.sum())
        difference += float((weights * differences).sum())
        variance += float((weights**2 * variances).sum())
        return difference, variance

    def _by_layer(self, values: Floats) -> list[Floats]:
        """Values of the leaves in the order of the domain, split by layer; 0 for cells that have children."""
        masks = self.hierarchy.leaf_masks
        listed = np.empty(values.shape)
        listed[self.hierarchy.leaf_order] = values
        ends = np.cumsum([mask.sum() for mask in masks])
        by_layer = []
        for mask, chosen in zip(masks, np.split(listed, ends[:-1]), strict=True):
            expanded = np.zeros(mask.shape)
            expanded[mask] = chosen
            by_layer.append(expanded)
        return by_layer


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

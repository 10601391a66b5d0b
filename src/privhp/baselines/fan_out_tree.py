"""A tree over counts in order: every layer sums groups of the layer below; measured, and solved by least squares."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.constrained_inference import inverse_variance_mean
from privhp.baselines.mechanism import Mechanism
from privhp.core.budget import noise_variance
from privhp.core.cells import Counts, Floats


def tree_sizes(leaves: int, *, fan_out: int) -> list[int]:
    """Cells of each layer from the leaves up, without the root: the last layer has at most `fan_out` cells."""
    sizes = [leaves]
    while sizes[-1] > fan_out:
        sizes.append(-(-sizes[-1] // fan_out))
    return sizes


def measure_tree(leaves: Counts, mechanism: Mechanism, *, fan_out: int, epsilon: Fraction) -> tuple[Floats, Floats]:
    """Least-squares estimates of counts, and their variances, from all layers of a tree with equal budgets.

    A record changes one count of each layer by one.
    """
    layers = [leaves]
    for _ in tree_sizes(leaves.size, fan_out=fan_out)[1:]:
        layers.append(_sum_groups(layers[-1], fan_out))
    share = epsilon / len(layers)
    noisy = [mechanism.measure(layer, epsilon=share).astype(np.float64) for layer in layers]
    return solve_tree(noisy, fan_out=fan_out, variance=noise_variance(float(1 / share)))


def solve_tree(noisy: list[Floats], *, fan_out: int, variance: float) -> tuple[Floats, Floats]:
    """Least-squares estimates of the lowest layer and their variances; all measurements have the same variance.

    Bottom-up, a cell's own measurement is averaged with the sum of its children.
    Top-down, what is left between a cell and its children goes to the children in
    proportion to their variances.
    """
    subtree = [(noisy[0], np.full(noisy[0].shape, variance))]
    for own in noisy[1:]:
        below = (_sum_groups(each, fan_out) for each in subtree[-1])
        subtree.append(inverse_variance_mean(own, np.full(own.shape, variance), *below))
    estimates, variances = subtree[-1]
    for children, child_variances in reversed(subtree[:-1]):
        sums, sum_variances = (_sum_groups(each, fan_out) for each in (children, child_variances))
        groups = np.arange(children.size) // fan_out
        shares = child_variances / sum_variances[groups]
        children = children + shares * (estimates - sums)[groups]
        variances = child_variances * (1 - shares) + shares**2 * variances[groups]
        estimates = children
    return estimates, variances


def _sum_groups(values: NDArray[Any], fan_out: int) -> NDArray[Any]:
    sums: NDArray[Any] = np.add.reduceat(values, np.arange(0, values.size, fan_out))
    return sums

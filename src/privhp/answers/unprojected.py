"""Least-squares estimates before they are made non-negative.

The estimates that samples come from are shrunk and projected: the noise of
empty cells does not cancel in their sums. Without both steps the estimates are
unbiased and their variances exact, which decides whether a region holds records.
"""

from copy import copy
from itertools import pairwise

import numpy as np

from privhp.answers.constrained_inference import inverse_variance_mean
from privhp.answers.hierarchy import Hierarchy, Layer
from privhp.core.cells import Floats


def unproject(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy with unbiased estimates, which may be negative, and their variances given the parent.

    Cells that a sketch measures keep their shares of the parent.
    """
    unprojected = copy(hierarchy)
    unprojected.layers = [copy(layer) for layer in hierarchy.layers]
    estimates = _bottom_up_pass(unprojected.layers)
    unprojected.layers[0].estimate, unprojected.layers[0].variance = estimates[0]
    for index, (layer, below) in enumerate(pairwise(unprojected.layers)):
        estimate, variance = (each.copy() for each in estimates[index + 1])
        for parents, children, measurement in layer.child_groups:
            total = layer.estimate[parents][:, None]
            if measurement == "hashed":
                shares = below.estimate[children]
                estimate[children] = np.maximum(total, 0.0) * shares / np.maximum(_sums(shares), 1e-300)
                variance[children] = below.variance[children]
            else:
                own = variance[children]
                estimate[children] += own / np.maximum(_sums(own), 1e-300) * (total - _sums(estimate[children]))
        below.estimate, below.variance = estimate, variance
    return unprojected


def _bottom_up_pass(layers: list[Layer]) -> list[tuple[Floats, Floats]]:
    """Estimates of the cells of each layer from their own measurements and those below them, with variances."""
    found: list[tuple[Floats, Floats]] = []
    for layer in reversed(layers):
        estimate, variance = (np.where(layer.possible, each, 0.0) for each in (layer.measured, layer.measured_variance))
        for parents, children, measurement in layer.child_groups:
            if measurement == "counted":
                sums = (each[children].sum(axis=1) for each in found[-1])
                estimate[parents], variance[parents] = inverse_variance_mean(
                    estimate[parents], variance[parents], *sums
                )
        found.append((estimate, variance))
    return found[::-1]


def _sums(values: Floats) -> Floats:
    sums: Floats = values.sum(axis=1, keepdims=True)
    return sums

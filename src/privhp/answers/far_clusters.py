"""Clusters of records far from the core of a variable, such as a few large gifts among many small ones.

A shell of values far away has many leaves, whose noise hides a few records. In a window of neighbouring values it
does not. Windows of 1, 2, 4 ... values are searched for counts that noise explains with a small
probability, all windows together: the threshold rises with their number, and with the noise that they add to a mean.
The noise of one leaf has exponential tails, that of many leaves is normal.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Floats

MOST_CLUSTERS = 8
"""Largest number of clusters in a tail."""


def find_clusters(
    offsets: Floats,
    counts: Floats,
    variances: Floats,
    side: NDArray[np.intp],
    noise: Callable[[Floats], float],
    *,
    core_noise: float,
    least_z: float,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the leaves of a tail that lie in clusters, and of those that may.

    Noise with exponential tails explains the latter, normal noise does not.

    Args:
        offsets: Distance of each leaf from the median.
        counts: Unbiased count of each leaf; 0 outside the tail.
        variances: Variance of its noise, at least roughly; 0 outside the tail.
        side: Index of the value of each leaf.
        noise: Computes the standard deviation of a weighted sum of the counts by noise.
        core_noise: That of the sum of the offsets in the core.
        least_z: Standard deviations that the count of a cluster must exceed, were there one window.
    """
    found, possible = np.zeros((2, offsets.size), dtype=np.bool_)
    leaves = np.flatnonzero(variances > 0)
    _, first, place = np.unique(side[leaves], return_index=True, return_inverse=True)
    order = np.argsort(offsets[leaves][first], kind="stable")
    rank = np.empty(order.shape, dtype=np.intp)
    rank[order] = np.arange(order.size)
    position, distance = rank[place], offsets[leaves][first][order]
    sums, squares = (np.bincount(position, own[leaves], order.size) for own in (counts, variances))
    widths = [2**power for power in range(order.size.bit_length())]
    windows = sum(order.size - width + 1 for width in widths)
    for _ in range(MOST_CLUSTERS if order.size else 0):
        best = (0.0, 0, 0)
        for width in widths:
            total, spread = (np.convolve(own, np.ones(width), "valid") for own in (sums, squares))
            ratio = distance[width - 1 :] * np.sqrt(spread) / max(core_noise, 1e-300)
            least = 2.0 * _exponent(least_z, ratio, windows)
            excess = np.sign(total) * total**2 / np.maximum(spread, 1e-300) - least
            start = int(np.argmax(excess))
            best = max(best, (float(excess[start]), start, width))
        excess_square, start, width = best
        if excess_square <= 0:
            break
        chosen = (position >= start) & (position < start + width)
        mask = np.zeros(offsets.shape)
        mask[leaves[chosen]] = 1.0
        deviation, reach = noise(mask), float(distance[start + width - 1])
        exponent = float(_exponent(least_z, np.array([reach * deviation / max(core_noise, 1e-300)]), windows)[0])
        z, normal, exponential = (
            counts @ mask / deviation,
            math.sqrt(2.0 * exponent),
            exponent / math.sqrt(2.0 * mask.sum()),
        )
        possible |= (mask > 0) & (z > normal)
        found |= (mask > 0) & (z > max(normal, exponential))
        sums[start : start + width] = squares[start : start + width] = 0.0
    return found, possible & ~found


def _exponent(least: float, ratio: Floats, windows: int) -> Floats:
    """Logarithm of how rarely noise may exceed the threshold of a window.

    Args:
        least: Threshold of one window that adds no more noise to a mean than the core has, in standard deviations.
        ratio: The noise that each window adds, in units of that of the core.
        windows: Number of windows.
    """
    exponent: Floats = least**2 / 2.0 + np.log(np.maximum(ratio, 1.0)) + math.log(max(windows, 1))
    return exponent

"""Shares of the sides of leaves in a region, along one axis or several."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.domains.shares import MIN_SHARE, AxisShares


class SideShares(NamedTuple):
    """Shares of the distinct sides of leaves along an axis in a region.

    Args:
        side_of_leaf: Index of the side of each leaf.
        share: Share of the base measure of each side.
        deviation: Standard deviation of this share that all leaves with the side have in common.
        scatter: Standard deviation of each leaf's own.
    """

    side_of_leaf: NDArray[np.intp]
    share: Floats
    deviation: Floats
    scatter: Floats


def combine(
    shares: Sequence[Floats], deviations: Sequence[Floats], scatters: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Deviation and scatter of cells from those along each axis; each counts in the share along the other axes."""
    weights = [np.prod([*shares[:index], *shares[index + 1 :]], axis=0) for index in range(len(shares))]
    deviation, variance = np.zeros((2, *shares[0].shape))
    for weight, own, scatter in zip(weights, deviations, scatters, strict=True):
        deviation += weight * own
        variance += (weight * scatter) ** 2
    return deviation, np.sqrt(variance)


def cdf_parts(domain: Domain, values: NDArray[Any], codes: Codes, *, level: int) -> list[AxisShares]:
    """Shares of cells at or below a value, along the axis of the values; one value for all cells, or one for each."""
    cells, inner_level = domain.axis_cells(codes, level=level)[-1]
    share = cdf_share(domain.inner, np.broadcast_to(values, codes.shape), cells, level=inner_level)
    if not domain.nullable:
        return [AxisShares(0, share)]
    return [AxisShares(0, 1.0 - domain.overlap(None, codes, level=level)), AxisShares(1, share)]


def cdf_share(domain: Domain, values: NDArray[Any], cells: Codes, *, level: int) -> Floats:
    """Share of each cell of an ordered domain at or below its value."""
    below = domain.cell_cdf(values, cells, level=level)
    touched = cells == domain.encode(values, level=level)
    return np.where(touched, np.maximum(below, MIN_SHARE), below)

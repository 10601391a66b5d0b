"""Shares of a cell's measure, rounded so that 1 means the whole cell and 0 means that no value is shared."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from privhp.core.cells import Floats

ALMOST_ONE = 1.0 - 2.0**-53
"""The largest float below 1."""

MIN_SHARE = 2.0**-200
"""Share of a cell whose intersection with a region has measure 0, such as a single number."""


class AxisShares(NamedTuple):
    """Shares of cells in a region along one axis.

    Args:
        axis: Index of the axis.
        share: Share of each cell's side that lies in the region.
    """

    axis: int
    share: Floats


def share_between(first: Floats, last: Floats) -> Floats:
    """Share of a cell between two positions inside it; 1 only if they are the ends of the cell."""
    most = np.where((first <= 0) & (last >= 1), 1.0, ALMOST_ONE)
    share: Floats = np.clip(last - first, 0.0, most)
    return share


def product_share(shares: Iterable[Floats]) -> Floats:
    """Share of a cell in a region whose shares along the axes are these; 0 only if one of them is 0."""
    factors = np.stack(list(shares))
    positive = (factors > 0).all(axis=0)
    share: Floats = np.where(positive, np.maximum(factors.prod(axis=0), MIN_SHARE), 0.0)
    return share

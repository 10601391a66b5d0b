"""Shares of a cell's measure, rounded so that a share of 1 means the whole cell."""

import numpy as np

from privhp.core.cells import Floats

ALMOST_ONE = 1.0 - 2.0**-53
"""The largest float below 1."""


def share_between(first: Floats, last: Floats) -> Floats:
    """Share of a cell between two positions inside it; 1 only if they are the ends of the cell."""
    most = np.where((first <= 0) & (last >= 1), 1.0, ALMOST_ONE)
    share: Floats = np.clip(last - first, 0.0, most)
    return share

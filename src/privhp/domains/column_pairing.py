"""Pairing of the balanced values of several columns."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.core.allocation import Allocation


class ColumnPairing:
    """Pairing of the balanced values of several columns by a rank-1 lattice with a random start in each cell.

    Args:
        allocation: Number of records in each cell.
        columns: Number of columns.
        rng: Source of the random starts.
    """

    def __init__(self, allocation: Allocation, columns: int, rng: np.random.Generator) -> None:
        self._allocation = allocation
        self._starts = rng.random((columns, allocation.counts.size))
        self._steps = kernels.lattice_steps(columns) * 2.0**-64

    def pair(self, values: NDArray[Any], column: int) -> NDArray[Any]:
        """Permute a column's values within their cells, into the order of the first column's values."""
        if column == 0:
            return values
        owner = self._allocation.owner
        heights = self._starts[column][owner] + self._allocation.ranks * self._steps[column]
        heights -= np.floor(heights)  # faster than a remainder
        paired = np.empty_like(values)
        paired[np.argsort(owner + heights, kind="stable")] = values
        return paired

"""A histogram on a partition of a domain; samples and answers are computed from it."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Floats, by_level
from privhp.domains.domain import Domain

Indices = NDArray[np.int64]
"""Indices of cells of a histogram."""


class Histogram:
    """Cells of a partition, in the order of the domain, with their probabilities; inside a cell, the base measure."""

    def __init__(self, domain: Domain, codes: Codes, levels: NDArray[np.int64], probabilities: Floats) -> None:
        self.domain, self.codes, self.levels, self.probabilities = domain, codes, levels, probabilities

    @cached_property
    def depth(self) -> int:
        """Level of the deepest cell."""
        return int(self.levels.max())

    @cached_property
    def starts(self) -> Codes:
        """Code of the first descendant of each cell at the deepest level."""
        return self.codes << (self.depth - self.levels).astype(np.uint64)

    @cached_property
    def ends(self) -> Floats:
        """Cumulative probability at the end of each cell."""
        return cumulative(self.probabilities)

    def before(self, indices: Indices) -> Floats:
        """Cumulative probability before each of these cells; the index after the last cell gives 1."""
        return np.where(indices > 0, self.ends[indices - 1], 0.0)

    def by_level(self, indices: Indices | None = None) -> Iterator[tuple[int, Indices]]:
        """Each level with the positions of its cells, among all cells or in a list of indices."""
        levels = self.levels if indices is None else self.levels[indices]
        return by_level(levels)


def cumulative(probabilities: Floats) -> Floats:
    """Cumulative sums of probabilities, equal to 1 from the last positive probability on."""
    ends = np.minimum(np.cumsum(probabilities), 1.0)
    return np.where(ends >= ends[-1], 1.0, ends)


def sum_by_index(indices: Indices, amounts: Floats, size: int) -> Floats:
    """Sum of the amounts at each index below `size`."""
    sums: Floats = np.bincount(indices, amounts, size).astype(np.float64, copy=False)
    return sums

"""A domain cut into cells, with a probability for each: what samples and answers are made of."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain

Places = NDArray[np.int64]
"""Which of the cells."""


class Histogram:
    """Cells that make up a domain, in its order, and the probability of each. Inside a cell it is the base measure."""

    def __init__(self, domain: Domain, codes: Codes, levels: NDArray[np.int64], probabilities: Floats) -> None:
        self.domain, self.codes, self.levels, self.probabilities = domain, codes, levels, probabilities

    @cached_property
    def depth(self) -> int:
        """Level of the deepest cell."""
        return int(self.levels.max())

    @cached_property
    def starts(self) -> Codes:
        """First cell of the deepest level in each cell."""
        return self.codes << (self.depth - self.levels).astype(np.uint64)

    @cached_property
    def ends(self) -> Floats:
        """Cumulative probability at the end of each cell; the last cell with any ends at 1."""
        return cumulated(self.probabilities)

    def before(self, places: Places) -> Floats:
        """Cumulative probability before each of these cells; the place after the last stands for the end of all."""
        return np.where(places > 0, self.ends[places - 1], 0.0)

    def by_level(self, places: Places | None = None) -> Iterator[tuple[int, Places]]:
        """For each level, where in the cells (or in a list of their places) those of that level are."""
        levels = self.levels if places is None else self.levels[places]
        for level in np.unique(levels).tolist():
            yield level, np.flatnonzero(levels == level)


def cumulated(probabilities: Floats) -> Floats:
    """Sums up to each probability, the last with any being 1."""
    ends = np.minimum(np.cumsum(probabilities), 1.0)
    return np.where(ends >= ends[-1], 1.0, ends)


def summed(places: Places, amounts: Floats, size: int) -> Floats:
    """The sum of the amounts at each of so many places."""
    sums: Floats = np.bincount(places, amounts, size).astype(np.float64, copy=False)
    return sums

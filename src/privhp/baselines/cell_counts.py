"""Noise-free counts of cells, as the baselines measure them. Confidential."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import OUTSIDE, Codes, Counts
from privhp.domains.domain import Domain


class CellCounts:
    """Records as sorted codes of their deepest cells, which count the records of any cell.

    A record without a cell is skipped. The codes stand for repeated passes over
    the records; a method states the counters that it needs itself.
    """

    def __init__(self, domain: Domain, records: Any) -> None:
        codes = domain.encode(domain.as_batch(records), level=domain.depth)
        self.domain, self._codes = domain, np.sort(codes[codes != OUTSIDE])

    def of_level(self, level: int) -> Counts:
        """Counts of all cells of a level."""
        return self.of_cells(np.arange(2**level, dtype=np.uint64), np.full(2**level, level))

    def of_cells(self, codes: Codes, levels: NDArray[np.int64]) -> Counts:
        """Counts of cells, each of its own level."""
        below = (self.domain.depth - levels).astype(np.uint64)
        ends = [np.searchsorted(self._codes, (codes + np.uint64(step)) << below) for step in (0, 1)]
        counts: Counts = (ends[1] - ends[0]).astype(np.int64)
        return counts

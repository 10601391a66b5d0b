"""Shares of cells in the marginal distribution over all columns but time.

Streams mostly arrive in the order of time: past cells receive no more records,
and future cells have none yet. So the expected share of a cell is estimated
from the noisy counts of all times together, and spread uniformly over time.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.core.bits import BitPermutation
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.planning.partition import Cells


class TimeMarginal:
    """Expected shares of the cells of a domain, uniform over time.

    Args:
        domain: The domain of the cells.
        depth: The deepest level of the cells.
        bits: Resolution: the number of leading non-temporal bits of a code by which shares differ.
    """

    def __init__(self, domain: Domain, *, depth: int, bits: int) -> None:
        self._masks = [domain.nontemporal_mask(level) for level in range(depth + 1)]
        self._bits = bits
        self._cumulative = np.zeros(2**bits + 1, dtype=np.float32)
        self._total = 0.0

    @staticmethod
    def applies_to(domain: Domain, *, depth: int) -> bool:
        """Whether the codes of a domain have both temporal and non-temporal bits."""
        return 0 < domain.nontemporal_mask(depth) < (1 << depth) - 1

    def add(self, cells: Cells, counts: Floats) -> None:
        """Add the counts of cells, uniform inside each cell; call `finalize` after the last."""
        first, length, _ = self._intervals(cells)
        np.add.at(self._cumulative, first, counts / length)
        np.subtract.at(self._cumulative, first + length, counts / length)

    def finalize(self) -> None:
        """Turn the differences that `add` stored into non-negative cumulative counts."""
        density = self._cumulative[:-1]
        np.maximum(np.cumsum(density, out=density), 0.0, out=density)
        np.cumsum(density, out=density)
        self._cumulative[1:] = density.copy()
        self._cumulative[0] = 0.0
        self._total = float(self._cumulative[-1])

    def shares(self, cells: Cells) -> Floats:
        """Expected share of all records in each cell."""
        first, length, fraction = self._intervals(cells)
        time_fraction = 2.0 ** (self._masks[cells.level].bit_count() - cells.level)
        if not self._total > 0:
            return np.full(cells.codes.shape, 2.0**-cells.level)
        mass: Floats = (self._cumulative[first + length] - self._cumulative[first]).astype(np.float64)
        return mass * (fraction * time_fraction / self._total)

    def _intervals(self, cells: Cells) -> tuple[NDArray[np.int64], int, float]:
        """First index and length of each cell in the cumulative counts, and the fraction of that interval it covers."""
        mask = self._masks[cells.level]
        index, bits = BitPermutation.extract(mask)(cells.codes).view(np.int64), mask.bit_count()
        if bits <= self._bits:
            return index << (self._bits - bits), 1 << (self._bits - bits), 1.0
        return index >> (bits - self._bits), 1, 2.0 ** (self._bits - bits)

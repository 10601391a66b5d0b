"""How records are spread over everything but time.

Takes noisy counts of cells, gives shares of cells. Streams mostly come in the
order of time: where a cell says when, no more records may come, and wherever
later cells are, none have come yet. So the shares are those of all times
together, spread evenly over time.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.core.bits import BitPermutation
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.planning.partition import Cells


class Timeless:
    """Shares of the cells of a domain, as if all times were alike.

    Args:
        domain: Whose cells they are.
        depth: Their deepest level.
        bits: Cells that differ only beyond so many bits that are not of time have even shares.
    """

    def __init__(self, domain: Domain, *, depth: int, bits: int) -> None:
        self._masks = [domain.nontemporal_mask(level) for level in range(depth + 1)]
        self._bits = bits
        self._sums = np.zeros(2**bits + 1, dtype=np.float32)
        self._whole = 0.0

    @staticmethod
    def of_use(domain: Domain, *, depth: int) -> bool:
        """Whether cells say both when and something else."""
        return 0 < domain.nontemporal_mask(depth) < (1 << depth) - 1

    def add(self, cells: Cells, counts: Floats) -> None:
        """Count records in cells, evenly inside each; all of this comes before `settle`."""
        first, length, _ = self._stretches(cells)
        np.add.at(self._sums, first, counts / length)
        np.subtract.at(self._sums, first + length, counts / length)

    def settle(self) -> None:
        """Turn the counts into sums from the first cell on."""
        steps = self._sums[:-1]
        np.maximum(np.cumsum(steps, out=steps), 0.0, out=steps)
        np.cumsum(steps, out=steps)
        self._sums[1:] = steps.copy()
        self._sums[0] = 0.0
        self._whole = float(self._sums[-1])

    def shares(self, cells: Cells) -> Floats:
        """Which share of all records to expect in each cell."""
        first, length, part = self._stretches(cells)
        when = 2.0 ** (self._masks[cells.level].bit_count() - cells.level)
        if not self._whole > 0:
            return np.full(cells.codes.shape, 2.0**-cells.level)
        held: Floats = (self._sums[first + length] - self._sums[first]).astype(np.float64)
        return held * (part * when / self._whole)

    def _stretches(self, cells: Cells) -> tuple[NDArray[np.int64], int, float]:
        """Between which sums each cell of one level lies: from where, over how many, and what part of that it is."""
        mask = self._masks[cells.level]
        own, bits = BitPermutation.extract(mask)(cells.codes).view(np.int64), mask.bit_count()
        if bits <= self._bits:
            return own << (self._bits - bits), 1 << (self._bits - bits), 1.0
        return own >> (bits - self._bits), 1, 2.0 ** (self._bits - bits)

"""Which cells of a growing partition are cut, judged by their noisy counts.

Takes a plan and noisy counts, gives how often each cell is halved at once. It
sees nothing that is not private already, so its rules cost no privacy.

Cutting a cell promises up to its expected records in the rest of the stream
times its diameter, and costs a slot per part. The cuts that promise most are
made, as far as the slots go; parts must expect as many records as the plan says.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Counts, Floats
from privhp.partition import Cells, Partition
from privhp.plan import Plan

MOST_LEVELS = 6
"""How many levels a cell is cut by at one refinement, at most."""

SURE = 3.0
"""A cell is cut when its count is so many standard deviations of its noise, or more."""

_BINS_PER_OCTAVE, _BINS, _ZERO = 8, 920, 512  # promises between 2**-64 and 2**51, relative to the domain


class Refinement:
    """One refinement of a partition: first it weighs all cells, then it says how to cut them."""

    def __init__(self, plan: Plan, partition: Partition, *, rows: int, piece: int) -> None:
        """Find the least promise that is still cut for.

        Args:
            plan: What was fixed before the data.
            partition: The partition with its noisy counts.
            rows: Rows of the stream so far.
            piece: How many cells to look at in one go.
        """
        assert plan.growth is not None
        self._plan, self._partition, self._growth = plan, partition, plan.growth
        self._rows, self._before = rows, partition.refinements
        self._starts = (0, *plan.growth.refined_after)
        self._scale = float(plan.scale(plan.growth_level))
        whole = plan.domain.diameter(0) or 1.0
        self._diameters = np.array([plan.domain.diameter(level) / whole for level in range(plan.depth + 1)])
        self._least = self._weigh(piece)

    def _weigh(self, piece: int) -> int:
        costs = np.zeros(_BINS, dtype=np.int64)
        for cells in self._partition.counted(piece):
            for step, bins in enumerate(self._promises(cells)):
                parts = 2**step if step else 3  # two parts, and a slot for what the cell has counted so far
                np.add.at(costs, bins[bins >= 0], parts)
        affordable = np.cumsum(costs[::-1], out=costs[::-1]) <= self._room()
        return _BINS - int(affordable.sum())

    def _room(self) -> int:
        """Slots that may be used at this refinement: each may use its share, and what those before it left."""
        roots = 2**self._partition.level
        share = (self._before + 1) / len(self._growth.refined_after)
        room: int = roots + int((self._growth.slots - roots) * share) - self._partition.used
        return room

    def _promises(self, cells: Cells) -> NDArray[np.int16]:
        """What cutting each cell by one level, by a second and so on promises, as a bin; -1 if it is not worth it."""
        counts = np.maximum(self._partition.slots[cells.slots], 0).astype(np.float64)
        expected = counts * (max(self._plan.records - self._rows, 0) / (self._rows - self._starts[cells.born]))
        alive = self._before + 1 - cells.born
        sure = counts > SURE * self._scale * np.sqrt(2.0 * alive)
        bins = np.full((MOST_LEVELS, counts.size), -1, dtype=np.int16)
        for step in range(min(MOST_LEVELS, self._plan.depth - cells.level)):
            parents: Floats = expected * 2.0**-step
            worth = sure & (parents * 0.5 >= self._growth.least)
            promise = parents[worth] * self._diameters[cells.level + step]
            with np.errstate(divide="ignore"):
                octaves = np.log2(promise)
            bins[step, worth] = np.clip(octaves * _BINS_PER_OCTAVE + _ZERO, 0, _BINS - 1)
        return bins

    def levels(self, cells: Cells) -> Counts:
        """By how many levels to cut each cell; 0 for those that stay."""
        bins = self._promises(cells)
        steps: Counts = np.logical_and.accumulate((bins >= 0) & (bins >= self._least), axis=0).sum(axis=0)
        return steps

"""Which cells of a growing partition are cut, judged by their noisy counts, and what is left in them.

Takes a plan and noisy counts, gives how often each cell is halved at once, and
counts with less noise. It sees nothing that is not private already, so its rules
cost no privacy.

Cutting a cell promises up to its expected records in the rest of the stream
times its diameter, and costs a slot per part. The cuts that promise most are
made, as far as the slots go; parts must expect as many records as the plan says.

Records are expected where records came, as far as that was true before: a
stream that is sorted by place leaves the cells that were cut, and then records
are expected everywhere alike. Where cells tell times and more, records are
expected at all times alike, since streams mostly come in the order of time.

What was counted until a refinement stays in the sums that are released, with its
noise. So neighbours that differ by little more than their noise does are drawn to
their mean first, by the rule of James and Stein.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.collect.timeless import Timeless
from privhp.core.cells import Codes, Counts, Floats
from privhp.planning.partition import Cells, Partition
from privhp.planning.plan import Plan

_BINS_PER_OCTAVE, _BINS, _ZERO = 8, 920, 512  # promises between 2**-64 and 2**51, relative to the domain


class Refinement:
    """One refinement of a partition: first it weighs all cells, then it says how to cut them."""

    def __init__(self, plan: Plan, partition: Partition, *, rows: int, piece: int) -> None:
        """Weigh all cells.

        Args:
            plan: What was fixed before the data.
            partition: The partition with its noisy counts.
            rows: Rows of the stream so far.
            piece: How many cells to look at in one go.
        """
        assert plan.growth is not None
        self._plan, self._partition, self._growth = plan, partition, plan.growth
        self._tuning = plan.tuning
        self._rows, self._before = rows, partition.refinements
        self._starts = (0, *plan.growth.refined_after)
        self._scale = float(plan.scale(plan.growth_level))
        whole = plan.domain.diameter(0) or 1.0
        self._diameters = np.array([plan.domain.diameter(level) / whole for level in range(plan.depth + 1)])
        self._timeless = self._without_time(piece)
        self._trust = self._foresight(piece) if self._timeless is None else 0.0
        self._weigh(piece)

    def _without_time(self, piece: int) -> Timeless | None:
        """How records are spread over all but time, if cells tell both."""
        if not Timeless.of_use(self._plan.domain, depth=self._plan.depth):
            return None
        timeless = Timeless(self._plan.domain, depth=self._plan.depth, bits=self._bits())
        for cells in self._partition.counted(piece):
            timeless.add(cells, self._sure(cells))
        timeless.settle()
        return timeless

    def _bits(self) -> int:
        """How finely records are told apart but for time: sums that take half of what the plan leaves for the work."""
        fewest, most = self._tuning.time_marginal_bits
        if not self._plan.memory:
            return most
        sums = (self._plan.memory - self._plan.nbytes) // 8
        return min(max(sums.bit_length() - 1, fewest), most)

    def _foresight(self, piece: int) -> float:
        """Share that came of the records which the last refinement foresaw in its cuts; 1 if noise hides it."""
        foreseen, came, parts = 0.0, 0.0, 0
        start = self._starts[self._before]
        for parents in self._partition.parents(piece) if self._before else ():
            if parents.born == self._before:
                counts = self._partition.slots[parents.cells.slots].astype(np.float64)
                later = self._partition.slots[parents.parts().slots].reshape(counts.size, -1)
                # Of those that just passed, many did so by their noise.
                clear = counts > 2.0 * self._doubtful(self._before - parents.cells.born)
                share = (self._rows - start) / (start - self._starts[parents.cells.born])
                foreseen += float(counts[clear].sum()) * share
                came, parts = came + float(later[clear].sum()), parts + later[clear].size
        return min(max(came / foreseen, 0.0), 1.0) if foreseen > self._doubtful(parts) else 1.0

    def _doubtful(self, draws: int) -> float:
        """Counts with so many draws of noise in them may be noise up to this."""
        return self._tuning.split_z * self._scale * float(np.sqrt(2.0 * draws))

    def _weigh(self, piece: int) -> None:
        """Find the least promise that is still cut for, and how many of the cuts that promise just less."""
        costs = np.zeros(_BINS + 1, dtype=np.int64)
        for cells in self._partition.counted(piece):
            for step, bins in enumerate(self._promises(cells)):
                np.add.at(costs, bins[bins >= 0], _cost(step))
        room = self._room()
        np.cumsum(costs[::-1], out=costs[::-1])  # from here on of all that promise as much or more
        self._least = _BINS - int((costs[:-1] <= room).sum())
        self._left = max(room - int(costs[self._least]), 0)
        edge = int(costs[self._least - 1] - costs[self._least]) if self._least else 0
        self._rate = self._left / edge if edge else 0.0
        self._due = 0.0

    def _room(self) -> int:
        """Slots that may be used at this refinement: each may use its share, and what those before it left."""
        roots = 2**self._partition.level
        share = (self._before + 1) / len(self._growth.refined_after)
        room: int = roots + int((self._growth.slots - roots) * share) - self._partition.used
        return room

    def _expected(self, cells: Cells) -> Floats:
        """Records to expect in each cell in the rest of the stream."""
        rest = max(self._plan.expected_records - self._rows, 0)
        if self._timeless is not None:
            return rest * self._timeless.shares(cells)
        expected = self._sure(cells) * (rest / (self._rows - self._starts[cells.born]))
        return self._trust * expected + (1.0 - self._trust) * rest * 2.0**-cells.level

    def _sure(self, cells: Cells) -> Floats:
        """The counts of cells that are more than noise, 0 for the others."""
        counts = self._partition.slots[cells.slots].astype(np.float64)
        return np.where(counts > self._doubtful(self._before + 1 - cells.born), counts, 0.0)

    def _promises(self, cells: Cells) -> NDArray[np.int16]:
        """What cutting each cell by one level, by a second and so on promises, as a bin; -1 if it is not worth it."""
        expected = self._expected(cells)
        bins = np.full((self._tuning.max_split_levels + 1, expected.size), -1, dtype=np.int16)
        for step in range(min(self._tuning.max_split_levels, self._plan.depth - cells.level)):
            parents: Floats = expected * 2.0**-step
            worth = parents * 0.5 >= self._growth.least
            promise = parents[worth] * self._diameters[cells.level + step]
            with np.errstate(divide="ignore"):
                octaves = np.log2(promise)
            bins[step, worth] = np.clip(octaves * _BINS_PER_OCTAVE + _ZERO, 0, _BINS - 1)
        return bins

    def levels(self, cells: Cells) -> Counts:
        """By how many levels to cut each cell; 0 for those that stay."""
        bins = self._promises(cells)
        steps: Counts = np.logical_and.accumulate((bins >= 0) & (bins >= self._least), axis=0).sum(axis=0)
        next_bins = np.take_along_axis(bins, steps[None], axis=0)[0]
        steps[self._spread(np.flatnonzero((next_bins >= 0) & (next_bins == self._least - 1)), steps)] += 1
        return steps

    def settled(self, cells: Cells, counts: Counts) -> Counts:
        """What each cell has counted so far, less some of the noise."""
        noise = 2.0 * self._scale**2 * (self._before + 1 - cells.born)  # more than is left after an earlier refinement
        return _drawn_together(counts, cells.codes >> np.uint64(self._tuning.shrinkage_levels), noise)

    def _spread(self, edge: NDArray[np.int64], steps: Counts) -> NDArray[np.int64]:
        """Those of the cuts on the edge that are made too: as many as there are slots for, here and there alike."""
        due = self._due + self._rate * np.arange(edge.size + 1)
        self._due = float(due[-1])
        chosen: NDArray[np.int64] = edge[np.diff(np.floor(due)) > 0]
        costs = np.cumsum([_cost(step) for step in steps[chosen].tolist()])
        afforded = int((costs <= self._left).sum())
        self._left -= int(costs[afforded - 1]) if afforded else 0
        return chosen[:afforded]


def _drawn_together(counts: Counts, groups: Codes, noise: float) -> Counts:
    """Counts nearer to the mean of their group, as far as noise of this variance explains that they differ."""
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    sizes = np.diff(np.append(starts, counts.size))
    apart = counts - np.repeat(np.add.reduceat(counts, starts) / sizes, sizes)
    spread = np.add.reduceat(apart**2, starts)
    taken = np.minimum(np.maximum(sizes - 3, 0) * noise / np.maximum(spread, 1.0), 1.0)
    return np.rint(counts - np.repeat(taken, sizes) * apart).astype(np.int64)


def _cost(step: int) -> int:
    """Slots for a cut by one more level: twice the parts, and at first a slot for what the cell has counted so far."""
    return 2**step if step else 3

"""Split rule of a learned partition, and the shrinkage of its counts.

Computes from a plan and noisy counts by how many levels each cell is split,
and counts with less noise. All inputs are public or noisy, so this is
post-processing and costs no privacy budget.

The gain of splitting a cell is its expected number of future records times its
diameter; the cost is one slot per child. The splits with the largest gain are
made within the free slots. A child must expect the minimum number of
records of the plan.

The expected future records of a cell are extrapolated from its significant
count. If the cells of the last refinement received fewer records than
predicted, as in a stream sorted by value, the estimate moves towards a uniform
distribution. If a domain has temporal and other columns, the estimate comes
from the marginal distribution over all columns but time.

Counts from before a refinement stay in the released sums with their noise.
So runs of sibling cells are first shrunk towards their mean (James-Stein).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privhp.collect.time_marginal import TimeMarginal
from privhp.core.budget import noise_variance
from privhp.core.cells import Codes, Counts, Floats
from privhp.planning.partition import Cells, Partition
from privhp.planning.plan import Plan

_BINS_PER_OCTAVE, _BINS, _ZERO_BIN = 8, 920, 512  # gains between 2**-64 and 2**51, relative to the domain


@dataclass
class SplitChoice:
    """Splits that fit the free slots.

    These are all with a gain bin of at least `bin`, and a fraction of those in the
    bin below, the threshold bin.

    Gains are compared by bin, so that cells can be processed in chunks and only a
    histogram of gains is in memory.

    Args:
        bin: Lowest bin of gains whose splits are all made.
        free_slots: Slots left for splits of the threshold bin.
        rate: Fraction of the splits of the threshold bin that is made.
        carry: Accumulated fraction of splits, which spreads them evenly over the cells.
    """

    bin: int
    free_slots: int
    rate: float
    carry: float = 0.0


def choose_splits(costs: Counts, free_slots: int) -> SplitChoice:
    """Choose the splits with the largest gain whose total cost is within the free slots.

    Args:
        costs: Cost in slots of all splits by bin of their gain.
        free_slots: Number of free slots.
    """
    above = np.append(np.cumsum(costs[::-1])[::-1], 0)  # cost of all splits of this bin and higher ones
    lowest = costs.size - int((above[:-1] <= free_slots).sum())
    left = max(free_slots - int(above[lowest]), 0)
    threshold_cost = int(costs[lowest - 1]) if lowest else 0
    return SplitChoice(lowest, left, left / threshold_cost if threshold_cost else 0.0)


def split_cost(step: int) -> int:
    """Slots for splitting a cell by one more level after `step` levels: 2 children and 1 for its old count at first."""
    return 2**step if step else 3


def significance_threshold(*, z: float, scale: float, draws: int) -> float:
    """Significance threshold for a count with `draws` independent noise terms: `z` standard deviations of the noise."""
    return z * scale * float(np.sqrt(2.0 * draws))


def james_stein_shrinkage(counts: Counts, groups: Codes, *, variance: float) -> Counts:
    """Counts shrunk towards the mean of their group by the positive-part James-Stein rule.

    Args:
        counts: Noisy counts; those of one group are adjacent.
        groups: Group of each count.
        variance: Variance of the noise of one count.
    """
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    sizes = np.diff(np.append(starts, counts.size))
    deviations = counts - np.repeat(np.add.reduceat(counts, starts) / sizes, sizes)
    squares = np.add.reduceat(deviations**2, starts)
    factors = np.minimum(np.maximum(sizes - 3, 0) * variance / np.maximum(squares, 1.0), 1.0)
    return np.rint(counts - np.repeat(factors, sizes) * deviations).astype(np.int64)


class Refinement:
    """One refinement of a partition: the number of levels to split each cell by, and its shrunk count.

    Args:
        plan: The plan of the summary.
        partition: The partition with its noisy counts.
        rows: Rows of the stream so far.
        chunk: Number of cells that are processed at once.
    """

    def __init__(self, plan: Plan, partition: Partition, *, rows: int, chunk: int) -> None:
        assert plan.learned is not None
        self._plan, self._partition, self._schedule = plan, partition, plan.learned
        self._tuning = plan.tuning
        self._rows, self._refinements = rows, partition.refinements
        self._starts = (0, *plan.learned.refinement_rows)
        self._scale = float(plan.scale(plan.learned_level))
        diameter = plan.domain.diameter(0) or 1.0
        self._diameters = np.array([plan.domain.diameter(level) / diameter for level in range(plan.depth + 1)])
        self._marginal = self._time_marginal(chunk)
        self._hit_rate = self._prediction_hit_rate(chunk) if self._marginal is None else 0.0
        self._choice = choose_splits(self._costs(chunk), self._free_slots())

    def levels(self, cells: Cells) -> Counts:
        """Number of levels to split each cell by; 0 for cells that stay whole."""
        bins, choice = self._gain_bins(cells), self._choice
        steps: Counts = np.logical_and.accumulate((bins >= 0) & (bins >= choice.bin), axis=0).sum(axis=0)
        next_bins = np.take_along_axis(bins, steps[None], axis=0)[0]
        steps[self._threshold_bin_splits(np.flatnonzero((next_bins >= 0) & (next_bins == choice.bin - 1)), steps)] += 1
        return steps

    def shrink(self, cells: Cells, counts: Counts) -> Counts:
        """Counts of the cells so far, shrunk towards the mean of their group."""
        draws = self._refinements + 1 - cells.first_epoch  # an upper bound: earlier shrinkage has reduced the noise
        groups = cells.codes >> np.uint64(self._tuning.shrinkage_levels)
        return james_stein_shrinkage(counts, groups, variance=noise_variance(self._scale) * draws)

    def _time_marginal(self, chunk: int) -> TimeMarginal | None:
        """The marginal distribution over all columns but time, if the domain has both."""
        if not TimeMarginal.applies_to(self._plan.domain, depth=self._plan.depth):
            return None
        marginal = TimeMarginal(self._plan.domain, depth=self._plan.depth, bits=self._marginal_bits())
        for cells in self._partition.leaves(chunk):
            marginal.add(cells, self._significant_counts(cells))
        marginal.finalize()
        return marginal

    def _marginal_bits(self) -> int:
        """Resolution of the marginal distribution, which takes half of the scratch memory of the plan."""
        fewest, most = self._tuning.time_marginal_bits
        if not self._plan.memory:
            return most
        counters = (self._plan.memory - self._plan.nbytes) // 8
        return min(max(counters.bit_length() - 1, fewest), most)

    def _prediction_hit_rate(self, chunk: int) -> float:
        """Fraction of the records predicted at the last refinement that arrived; 1 if the noise is too large."""
        predicted, arrived, children = 0.0, 0.0, 0
        start = self._starts[self._refinements]
        for parents in self._partition.parents(chunk) if self._refinements else ():
            if parents.refinement == self._refinements:
                counts = self._partition.slots[parents.cells.slots].astype(np.float64)
                later = self._partition.slots[parents.children().slots].reshape(counts.size, -1)
                # Twice the threshold: many counts just above it are there because of their noise.
                significant = counts > 2.0 * self._threshold(self._refinements - parents.cells.first_epoch)
                ratio = (self._rows - start) / (start - self._starts[parents.cells.first_epoch])
                predicted += float(counts[significant].sum()) * ratio
                arrived, children = arrived + float(later[significant].sum()), children + later[significant].size
        return min(max(arrived / predicted, 0.0), 1.0) if predicted > self._threshold(children) else 1.0

    def _threshold(self, draws: int) -> float:
        return significance_threshold(z=self._tuning.split_z, scale=self._scale, draws=draws)

    def _significant_counts(self, cells: Cells) -> Floats:
        """The significant counts of cells, and 0 for all others."""
        counts = self._partition.slots[cells.slots].astype(np.float64)
        return np.where(counts > self._threshold(self._refinements + 1 - cells.first_epoch), counts, 0.0)

    def _expected_records(self, cells: Cells) -> Floats:
        """Expected records of each cell in the rest of the stream."""
        rest = max(self._plan.expected_records - self._rows, 0)
        if self._marginal is not None:
            return rest * self._marginal.shares(cells)
        extrapolated = self._significant_counts(cells) * (rest / (self._rows - self._starts[cells.first_epoch]))
        return self._hit_rate * extrapolated + (1.0 - self._hit_rate) * rest * 2.0**-cells.level

    def _gain_bins(self, cells: Cells) -> NDArray[np.int16]:
        """Bin of the gain of splitting each cell by one level, by a second and so on; -1 if a child expects too few."""
        expected = self._expected_records(cells)
        most = self._tuning.max_split_levels
        bins = np.full((most + 1, expected.size), -1, dtype=np.int16)
        for step in range(min(most, self._plan.depth - cells.level)):
            parents: Floats = expected * 2.0**-step
            possible = parents * 0.5 >= self._schedule.min_child_records
            gain = parents[possible] * self._diameters[cells.level + step]
            with np.errstate(divide="ignore"):
                octaves = np.log2(gain)
            bins[step, possible] = np.clip(octaves * _BINS_PER_OCTAVE + _ZERO_BIN, 0, _BINS - 1)
        return bins

    def _costs(self, chunk: int) -> Counts:
        """Cost of all possible splits by bin of their gain."""
        costs = np.zeros(_BINS, dtype=np.int64)
        for cells in self._partition.leaves(chunk):
            for step, bins in enumerate(self._gain_bins(cells)):
                np.add.at(costs, bins[bins >= 0], split_cost(step))
        return costs

    def _free_slots(self) -> int:
        """Slots for this refinement: its share of all slots, and the slots that earlier refinements left."""
        roots = 2**self._partition.level
        share = (self._refinements + 1) / len(self._schedule.refinement_rows)
        free: int = roots + int((self._schedule.slots - roots) * share) - self._partition.used
        return free

    def _threshold_bin_splits(self, candidates: NDArray[np.int64], steps: Counts) -> NDArray[np.int64]:
        """Splits of the threshold bin that fit in the remaining slots, chosen evenly across cells."""
        choice = self._choice
        due = choice.carry + choice.rate * np.arange(candidates.size + 1)
        choice.carry = float(due[-1])
        chosen: NDArray[np.int64] = candidates[np.diff(np.floor(due)) > 0]
        costs = np.cumsum([split_cost(step) for step in steps[chosen].tolist()])
        afforded = int((costs <= choice.free_slots).sum())
        choice.free_slots -= int(costs[afforded - 1]) if afforded else 0
        return chosen[:afforded]

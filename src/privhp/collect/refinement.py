"""The split rule: how a partition is refined by the noisy counts of a learning pass.

The inputs are public: a partition, the noisy counts of its leaves, the sampling
rate, the noise and the free memory. So a refinement is post-processing and costs
no privacy budget. It never sees the number of rows.

What a split shows is the difference of the two halves of a cell: its expected
square is (unevenness x records)^2 + records. A cell may be split while that is
well above the noise of the measuring pass. Splits of the largest gain, the
difference times the diameter, are made while memory lasts. The unevenness of
cells is that of the sibling pairs around them, as far as it is certain. Where
memory is short, leaves that show no record are merged again first.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts, Floats
from privhp.planning.parameter_checks import COUNTER_BYTES
from privhp.planning.partition import Partition
from privhp.planning.tuning import Tuning

_BINS_PER_OCTAVE, _BINS, _ZERO_BIN = 8, 1100, 600  # gains between 2**-75 and 2**62, relative to the domain
_CHUNK = 2**12
_LAPLACE_KURTOSIS_TERM = 3.5  # the variance of the squared difference of two Laplace draws, in (v + v)^2


@dataclass(frozen=True)
class LearningCounts:
    """What a refinement knows: the noisy counts of one learning pass.

    Args:
        counts: Noisy count of each leaf in the sample.
        rate: Sampling rate.
        variance: Variance of the noise of a count.
        measured_variance: Variance of the noise of a leaf in the measuring pass.
    """

    counts: Counts
    rate: float
    variance: float
    measured_variance: float


def refine(
    partition: Partition,
    learned: LearningCounts,
    *,
    nbytes: int,
    root_level: int,
    diameters: Floats,
    tuning: Tuning,
) -> Partition:
    """The partition with the splits of largest gain; without its empty leaves if these splits need their memory.

    Args:
        partition: The partition of the learning pass.
        learned: The noisy counts of the pass.
        nbytes: Bytes of the refined partition, at most.
        root_level: Level of the coarsest leaves.
        diameters: Diameter of a cell at each level of the domain.
        tuning: Constants of the rule.
    """
    rule, leaves = _SplitRule(partition, learned, diameters=diameters, tuning=tuning), nbytes // COUNTER_BYTES
    costs = rule.costs()
    if costs.sum() > leaves - partition.size:
        merged, left = merge_empty_leaves(partition, learned, root_level=root_level, z=tuning.merge_z)
        if merged.nbytes < partition.nbytes:
            partition, rule = merged, _SplitRule(merged, left, diameters=diameters, tuning=tuning)
            costs = rule.costs()
    while True:  # the bytes of the nodes are known when the leaves are chosen
        choice = choose_splits(costs, leaves - partition.size)
        refined = partition.split(np.concatenate([choice.steps(rule.gain_bins(chunk)) for chunk in rule.chunks]))
        if refined.nbytes <= nbytes or refined.size == partition.size:
            return refined
        leaves = refined.size - -(-(refined.nbytes - nbytes) // COUNTER_BYTES)


def merge_empty_leaves(
    partition: Partition, learned: LearningCounts, *, root_level: int, z: float
) -> tuple[Partition, LearningCounts]:
    """The partition whose empty sibling leaves are merged, pair by pair from the finest level; their counts are 0.

    A pair is empty if the sum of its counts is at most z standard deviations of the noise of this sum.

    Args:
        partition: The partition of the learning pass.
        learned: The noisy counts of the pass.
        root_level: Level of the coarsest leaves.
        z: Standard deviations of noise.
    """
    levels, codes = partition.levels.astype(np.int64), partition.codes()
    counts: Floats = learned.counts.astype(np.float64)
    draws: Floats = np.ones(counts.shape)
    for level in range(partition.max_level, root_level, -1):
        first = np.flatnonzero((levels[:-1] == level) & (levels[1:] == level) & (codes[:-1] % 2 == 0))
        sums, noises = counts[first] + counts[first + 1], draws[first] + draws[first + 1]
        empty = sums <= z * np.sqrt(noises * learned.variance)
        merged = first[empty]
        levels[merged], codes[merged] = level - 1, codes[merged] // 2
        counts[merged], draws[merged] = sums[empty], noises[empty]
        kept = np.ones(levels.shape, dtype=np.bool_)
        kept[merged + 1] = False
        levels, codes, counts, draws = levels[kept], codes[kept], counts[kept], draws[kept]
    return Partition(levels), replace(learned, counts=np.where(draws > 1.0, 0.0, counts).astype(np.int64))


class _SplitRule:
    """Gains of all splits of the leaves of a partition."""

    def __init__(self, partition: Partition, learned: LearningCounts, *, diameters: Floats, tuning: Tuning) -> None:
        self._learned, self._tuning = learned, tuning
        self._levels, self._codes = partition.levels.astype(np.int64), partition.codes()
        self._depth, self._diameters = diameters.size - 1, diameters / (diameters[0] or 1.0)
        self._zoom_records = tuning.zoom_share * max(float(learned.counts.sum()), 0.0) / learned.rate
        self.chunks = [slice(start, start + _CHUNK) for start in range(0, partition.size, _CHUNK)]

    def costs(self) -> Counts:
        """New leaves of all splits by bin of their gain."""
        costs = np.zeros(_BINS, dtype=np.int64)
        for chunk in self.chunks:
            for step, bins in enumerate(self.gain_bins(chunk)):
                np.add.at(costs, bins[bins >= 0], 1 << step)
        return costs

    def gain_bins(self, chunk: slice) -> NDArray[np.int16]:
        """Bin of the gain of splitting each leaf by one level, by a second and so on; -1 if it may not be split."""
        tuning, levels = self._tuning, self._levels[chunk]
        threshold = tuning.split_signal * self._learned.measured_variance
        records = self._records(chunk)
        squared = squared_unevenness(
            self._learned.counts[chunk] / self._learned.rate, levels, self._codes[chunk], self._learned, tuning
        )
        most = np.where(records >= self._zoom_records, tuning.zoom_levels, tuning.max_split_levels)
        bins = np.full((tuning.zoom_levels + 1, levels.size), -1, dtype=np.int16)
        for step in range(tuning.zoom_levels):
            signal = squared * records**2 + records
            possible = (signal >= threshold) & (step < np.minimum(most, self._depth - levels))
            gain = np.sqrt(signal[possible]) * self._diameters[levels[possible] + step]
            with np.errstate(divide="ignore"):
                octaves = np.log2(gain)
            bins[step, possible] = np.clip(octaves * _BINS_PER_OCTAVE + _ZERO_BIN, 0, _BINS - 1)
            records = records / 2.0
        return bins

    def _records(self, chunk: slice) -> Floats:
        """Records of each leaf, scaled up from the sample; 0 where the count is not significant."""
        counts = self._learned.counts[chunk].astype(np.float64)
        significant = counts > self._tuning.split_z * np.sqrt(self._learned.variance)
        return np.where(significant, counts / self._learned.rate, 0.0)


def squared_unevenness(
    records: Floats, levels: Counts, codes: Codes, learned: LearningCounts, tuning: Tuning
) -> Floats:
    """Squared relative difference of the halves of cells, from the sibling pairs of a level, block by block.

    The estimate is lowered by noise, by the variance of sampling and by a margin of
    `uneven_z` standard deviations, and is at least `min_unevenness` squared. Cells
    without a sibling among the leaves have that least value. With `pair_z`, a pair that
    is by itself more uneven than its block has its own estimate.

    Args:
        records: Records of each leaf, scaled up from the sample.
        levels: Level of each leaf.
        codes: Code of each leaf.
        learned: Rate and noise of the learning pass.
        tuning: Constants of the rule.
    """
    least = tuning.min_unevenness**2
    squared = np.full(records.shape, least)
    if least >= 1.0 or records.size < 2:
        return squared
    first = np.flatnonzero((levels[:-1] == levels[1:]) & (codes[:-1] % 2 == 0) & (codes[1:] == codes[:-1] + 1))
    first = first[np.argsort(levels[first], kind="stable")]
    if not first.size:
        return squared
    of_level = np.flatnonzero(np.diff(levels[first], prepend=-1))  # where the pairs of each level begin
    rank = np.arange(first.size) - np.repeat(of_level, np.diff(np.append(of_level, first.size)))
    noise = 2.0 * learned.variance / learned.rate**2  # of a difference, and of a sum
    difference, total = records[first] - records[first + 1], records[first] + records[first + 1]
    sampling = np.maximum(total, 0.0) / learned.rate

    def bound(starts: NDArray[np.intp], z: float) -> Floats:
        """Lower bound of the unevenness of each pair, from the pairs that begin at each start."""
        pairs = np.diff(np.append(starts, first.size))
        margin = np.sqrt(_LAPLACE_KURTOSIS_TERM * pairs * noise**2 + 2.0 * np.add.reduceat(sampling**2, starts))
        excess = np.add.reduceat(difference**2 - sampling, starts) - pairs * noise - z * margin
        sums = np.add.reduceat(np.maximum(total, 0.0) ** 2, starts) - pairs * noise
        return np.repeat(np.clip(excess / np.maximum(sums, 1.0), least, 1.0), pairs)

    of_pair = bound(np.flatnonzero(rank % tuning.uneven_pairs == 0), tuning.uneven_z)
    if tuning.pair_z is not None:
        of_pair = np.maximum(of_pair, bound(np.arange(first.size), tuning.pair_z))
    squared[first], squared[first + 1] = of_pair, of_pair
    return squared


@dataclass
class SplitChoice:
    """Splits within a number of new leaves.

    These are all with a gain bin of at least `bin`, and a fraction of those in the
    bin below, the threshold bin. Gains are compared by bin, so that leaves are
    processed in chunks and only a histogram of gains is in memory.

    Args:
        bin: Lowest bin of gains whose splits are all made.
        free: New leaves left for splits of the threshold bin.
        rate: Fraction of the splits of the threshold bin that is made.
        carry: Accumulated fraction of splits, which spreads them evenly over the leaves.
    """

    bin: int
    free: int
    rate: float
    carry: float = 0.0

    def steps(self, bins: NDArray[np.int16]) -> Counts:
        """Number of levels to split each leaf by, for the bins of the next leaves."""
        steps: Counts = np.logical_and.accumulate((bins >= 0) & (bins >= self.bin), axis=0).sum(axis=0)
        next_bins = np.take_along_axis(bins, steps[None], axis=0)[0]
        steps[self._threshold_splits(np.flatnonzero((next_bins >= 0) & (next_bins == self.bin - 1)), steps)] += 1
        return steps

    def _threshold_splits(self, candidates: NDArray[np.int64], steps: Counts) -> NDArray[np.int64]:
        """Splits of the threshold bin within the remaining leaves, chosen evenly across leaves."""
        due = self.carry + self.rate * np.arange(candidates.size + 1)
        self.carry = float(due[-1])
        chosen: NDArray[np.int64] = candidates[np.diff(np.floor(due)) > 0]
        costs = np.cumsum(1 << steps[chosen])
        afforded = int((costs <= self.free).sum())
        self.free -= int(costs[afforded - 1]) if afforded else 0
        return chosen[:afforded]


def choose_splits(costs: Counts, free: int) -> SplitChoice:
    """Choose the splits with the largest gain within a number of new leaves.

    Args:
        costs: New leaves of all splits by bin of their gain.
        free: Number of new leaves, at most.
    """
    above = np.append(np.cumsum(costs[::-1])[::-1], 0)  # cost of all splits of this bin and higher ones
    lowest = costs.size - int((above[:-1] <= free).sum())
    left = max(free - int(above[lowest]), 0)
    threshold_cost = int(costs[lowest - 1]) if lowest else 0
    return SplitChoice(lowest, left, left / threshold_cost if threshold_cost else 0.0)

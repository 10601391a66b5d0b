"""DAWA, of Li, Hay and Miklau, 2014: buckets of nearly equal counts, then a hierarchy over the buckets.

A quarter of the budget finds a partition of the cells of a level into buckets whose
lengths are powers of two: the one with the least noisy cost. The cost of a bucket
is the deviation of its counts from their mean, and a public penalty. The rest of
the budget measures the buckets; HB's tree stands for the authors' hierarchy for a
workload. Inside a bucket, counts follow the measure.

Only the partition is public, not the costs. A record changes the deviation of a
bucket of length 1, 2 or more by at most 0, 1 or 2. Fix all noise but that of
one bucket. A partition with this bucket is chosen if the noise of the bucket is at
most a number that a record changes by the change of this bucket and that of another. So the
scale is the bucket's largest change plus 2, over the budget. This needs noise for
single cells too, and costs that may be negative. The authors' program draws less
noise and raises negative costs to 0; we know of no proof for that.

The penalty is the expected error of a measured bucket plus a multiple of the noise
scale: without it, a partition of many small buckets with negative noise wins.
Neighbouring relation: add-remove. Memory: a counter for each cell. The costs take
many times more memory as scratch, which is not counted: generous to the baseline.
The order of cells is that of the domain; in the plane that is the Z-order.
"""

from fractions import Fraction

import numpy as np

from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.fan_out_tree import measure_tree
from privhp.baselines.hb import best_fan_out
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import finest_level
from privhp.baselines.signed_histogram import SignedHistogram
from privhp.baselines.window_deviations import WindowDeviations
from privhp.core.cells import Counts, Floats

PARTITION_SHARE = Fraction(1, 4)
"""Share of the budget for the partition, as the authors chose it."""

NOISE_PENALTY = 2
"""Penalty of a bucket in units of the largest noise scale: the best of 0 to 5 on five synthetic lines and on fares."""

Buckets = Counts
"""First cell of each bucket."""


def estimate(
    counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int, level: int | None = None
) -> SignedHistogram:
    """Find buckets of the cells of a level, by default the finest that fits, and measure them."""
    level = finest_level(memory, counts.domain.depth) if level is None else level
    cells, epsilon = counts.of_level(level), mechanism.budget * PARTITION_SHARE
    rest = mechanism.budget - epsilon
    mechanism.spend(epsilon)
    buckets = choose_buckets(cells, mechanism, epsilon=epsilon, error=1 / rest)
    sums = np.add.reduceat(cells, buckets)
    estimates, variances = measure_tree(sums, mechanism, fan_out=best_fan_out(sums.size), epsilon=rest)
    measures = counts.domain.measure(np.arange(cells.size, dtype=np.uint64), level=level)
    owner = np.repeat(np.arange(buckets.size), np.diff(buckets, append=cells.size))
    shares = _shares_of_buckets(measures, buckets, owner)
    return SignedHistogram.of_level(counts.domain, level, estimates[owner] * shares, variances[owner] * shares**2)


def choose_buckets(cells: Counts, mechanism: Mechanism, *, epsilon: Fraction, error: Fraction) -> Buckets:
    """Partition of least noisy cost; all costs are whole multiples of a public unit, so ties are exact."""
    penalty = error + NOISE_PENALTY * 4 / epsilon
    deviations = WindowDeviations(cells)
    lengths = [2**power for power in range(cells.size.bit_length()) if 2**power <= cells.size]
    costs = []
    for length in lengths:
        own = deviations.of_length(length)
        noisy = own + mechanism.draw(own.size, scale=Fraction(largest_change(length) + 2) / epsilon)
        costs.append(noisy * penalty.denominator + penalty.numerator)
    return least_cost_partition(costs, lengths)


def largest_change(length: int) -> int:
    """Largest change of a bucket's deviation, rounded down, when one record is added or removed."""
    return min(length.bit_length() - 1, 2)


def least_cost_partition(costs: list[Counts], lengths: list[int]) -> Buckets:
    """Buckets of least total cost, given the cost of each bucket by length and first cell."""
    size = costs[0].size
    best = [0] * (size + 1)
    chosen = [0] * (size + 1)
    table = [own.tolist() for own in costs]
    for end in range(1, size + 1):
        first = end - 1
        cost, choice = best[first] + table[0][first], first
        for own, length in zip(table[1:], lengths[1:], strict=True):
            first = end - length
            if first < 0:
                break
            total = best[first] + own[first]
            if total < cost:
                cost, choice = total, first
        best[end], chosen[end] = cost, choice
    starts = [size]
    while starts[-1] > 0:
        starts.append(chosen[starts[-1]])
    return np.array(starts[:0:-1])


def _shares_of_buckets(measures: Floats, buckets: Buckets, owner: Counts) -> Floats:
    """Share of each cell in the measure of its bucket; in equal parts if that is 0."""
    sums = np.add.reduceat(measures, buckets)[owner]
    sizes = np.bincount(owner)[owner]
    return np.divide(measures, sums, out=1.0 / sizes, where=sums > 0)

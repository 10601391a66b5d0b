"""PrivTree, of Zhang, Xiao and Xie, 2016: a partition by noisy comparisons whose cost does not grow with its depth.

Half the budget decides the splits. A cell of depth d is split if
max(count - d delta, threshold - delta) + noise exceeds the threshold. The noise has
the scale (2 b - 1) / ((b - 1) epsilon), b being the fan-out, and
delta >= scale ln(b). The other half measures the leaves. Only the decisions are
public, not the noisy counts. The proof holds for discrete noise and a whole delta:
among the cells that hold a record, at most one has a biased count between
threshold - delta and threshold. It costs 1 / scale, and the cells above it cost at most
1 / scale, 1 / (b scale), 1 / (b^2 scale) and so on.

Neighbouring relation: add-remove. Memory: one counter for each leaf. The threshold
is 0 without a limit on memory. Within a limit it is the number of records for
each leaf that fits, times two; a cell that would exceed the limit is not split.
All passes read all records, one pass for each level of the tree.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import COUNTER_BYTES
from privhp.baselines.signed_histogram import SignedHistogram
from privhp.core.budget import noise_variance
from privhp.core.cells import Codes, Counts, descendants, domain_order


def estimate(counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int) -> SignedHistogram:
    """Split cells by noisy comparisons, then measure the leaves."""
    domain, half = counts.domain, mechanism.budget / 2
    bits = len(domain.rectangle) if domain.rectangle else 1  # a quarter of a rectangle, a half of an interval
    most = memory // COUNTER_BYTES
    threshold = 2 * expected_records // most
    mechanism.spend(half)
    codes, levels = split_cells(counts, mechanism, bits=bits, epsilon=half, threshold=threshold, most=most)
    noisy = mechanism.measure(counts.of_cells(codes, levels), epsilon=half).astype(np.float64)
    variances = np.full(noisy.shape, noise_variance(float(1 / half)))
    return SignedHistogram(domain, codes, levels, noisy, variances)


def split_cells(
    counts: CellCounts, mechanism: Mechanism, *, bits: int, epsilon: Fraction, threshold: int, most: int
) -> tuple[Codes, NDArray[np.int64]]:
    """Leaves of the partition in the order of the domain: their codes and levels."""
    scale = noise_scale(bits, epsilon=epsilon)
    delta = decay(bits, scale=scale)
    codes, depth, finished, leaves = np.zeros(1, dtype=np.uint64), 0, 0, []
    while codes.size:
        level = depth * bits
        split = np.zeros(codes.shape, dtype=np.bool_)
        if level + bits <= counts.domain.depth:
            found = counts.of_cells(codes, np.full(codes.shape, level))
            biased = biased_counts(found, depth=depth, delta=delta, threshold=threshold)
            split = biased + mechanism.draw(codes.size, scale=scale) > threshold
        affordable = (most - finished - codes.size) // (2**bits - 1)  # a split replaces a leaf by 2**bits leaves
        split &= np.cumsum(split) <= affordable
        leaves.append((codes[~split], np.full(np.count_nonzero(~split), level)))
        finished += leaves[-1][0].size
        codes, depth = descendants(codes[split], levels=bits).ravel(), depth + 1
    all_codes, levels = (np.concatenate(each) for each in zip(*leaves, strict=True))
    order = domain_order(all_codes, levels, depth=counts.domain.depth)
    return all_codes[order], levels[order]


def noise_scale(bits: int, *, epsilon: Fraction) -> Fraction:
    """Scale of the noise of the decisions."""
    return Fraction(2 * 2**bits - 1, 2**bits - 1) / epsilon


def decay(bits: int, *, scale: Fraction) -> int:
    """Least whole number that is at least scale ln(fan-out); rounding errors of the product only raise it."""
    return math.ceil(float(scale) * bits * math.log(2) * (1 + 1e-9))


def biased_counts(counts: Counts, *, depth: int, delta: int, threshold: int) -> Counts:
    """What the noise is added to: counts less the decay of their depth, but not far below the threshold."""
    return np.maximum(counts - depth * delta, threshold - delta)

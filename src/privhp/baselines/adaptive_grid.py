"""AGrid: an adaptive grid in the plane, of Qardaji, Yang and Li, 2013, "Differentially private grids".

Half the budget measures a coarse grid. Each of its cells is divided by its noisy
count, and the other half measures the parts. A cell and its parts are combined by
least squares. Numbers of cells are rounded to levels of the domain, a factor of at
most 1.19 for each side. Neighbouring relation: add-remove. Memory: a counter for
each cell of both grids; if they do not fit, all cells are divided less.
"""

import math

import numpy as np

from privhp.answers.constrained_inference import inverse_variance_mean
from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import COUNTER_BYTES, finest_level
from privhp.baselines.signed_histogram import SignedHistogram
from privhp.core.budget import noise_variance

RECORDS_PER_CELL = 10
"""The authors' constant of the uniform grid, of which the coarse grid has a quarter of the cells per side."""

RECORDS_PER_PART = 5
"""The authors' constant for the parts of a cell: records in units of 1 / budget of the parts."""

MIN_SIDE = 10
"""Least number of cells along a side of the coarse grid."""


def estimate(counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int) -> SignedHistogram:
    """Measure the coarse grid, then the parts of its cells."""
    domain, half = counts.domain, mechanism.budget / 2
    cells = max(expected_records * float(mechanism.budget) / RECORDS_PER_CELL / 16, MIN_SIDE**2)
    level = min(round(math.log2(cells)), finest_level(memory, domain.depth) - 1)
    coarse = mechanism.measure(counts.of_level(level), epsilon=half)
    parts = np.maximum(coarse * float(half) / RECORDS_PER_PART, 1.0)
    splits = np.minimum(np.rint(np.log2(parts)).astype(np.int64), domain.depth - level)
    while splits.any() and coarse.size + (2**splits).sum() > memory // COUNTER_BYTES:
        splits = np.maximum(splits - 1, 0)
    owner = np.repeat(np.arange(coarse.size), 2**splits)
    first = np.cumsum(2**splits) - 2**splits
    codes = ((owner << splits[owner]) + np.arange(owner.size) - first[owner]).astype(np.uint64)
    levels = level + splits[owner]
    fine = mechanism.measure(counts.of_cells(codes, levels), epsilon=half).astype(np.float64)
    variance = noise_variance(float(1 / half))
    sums, sum_variances = np.add.reduceat(fine, first), variance * 2.0**splits
    totals, total_variances = inverse_variance_mean(
        coarse.astype(np.float64), np.full(coarse.shape, variance), sums, sum_variances
    )
    shares = 0.5 ** splits[owner]
    estimates = fine + shares * (totals - sums)[owner]
    variances = variance * (1 - shares) + shares**2 * total_variances[owner]
    return SignedHistogram(domain, codes, levels, estimates, variances)

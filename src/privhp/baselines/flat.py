"""Flat histogram: one level of the domain with the whole budget.

The level is a public choice. The benchmark takes the level of least error with
hindsight, which no user could, so the figures are generous to the baseline.
Neighbouring relation: add-remove. Memory: one counter for each cell.
"""

import numpy as np

from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import finest_level
from privhp.baselines.signed_histogram import SignedHistogram
from privhp.core.budget import noise_variance


def estimate(
    counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int, level: int | None = None
) -> SignedHistogram:
    """Measure the cells of a level, by default the finest that fits."""
    level = finest_level(memory, counts.domain.depth) if level is None else level
    return measure_level(counts, mechanism, level)


def measure_level(counts: CellCounts, mechanism: Mechanism, level: int) -> SignedHistogram:
    """Measure the cells of one level with the whole budget."""
    noisy = mechanism.measure(counts.of_level(level), epsilon=mechanism.budget).astype(np.float64)
    variances = np.full(noisy.shape, noise_variance(float(1 / mechanism.budget)))
    return SignedHistogram.of_level(counts.domain, level, noisy, variances)

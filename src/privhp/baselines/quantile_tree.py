"""Quantile tree in the style of Google's differential-privacy library: fan-out 16, height 4.

Every layer has an equal share of the budget. A quantile descends from the root: of
the children of a cell, those with less than 0.75% of the noisy sum are taken as
empty, and the others share the cell's mass. All quantiles together are the
distribution that this gives. Neighbouring relation: add-remove. Memory: a counter
for each cell, 559 KB for height 4; with less memory the tree is lower. The
library keeps a sparse tree, whose memory grows with the records.
"""

import numpy as np

from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import COUNTER_BYTES
from privhp.baselines.signed_histogram import SignedHistogram
from privhp.core.cells import Counts, Floats

BITS, HEIGHT = 4, 4
"""Levels of the domain for each layer of the tree, and its layers."""

NEGLIGIBLE_SHARE = 0.0075
"""Share of the sum of a cell's children below which a child is taken as empty."""


def estimate(counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int) -> SignedHistogram:
    """Measure the layers, and spread the mass of each cell over its children."""
    domain = counts.domain
    levels = [min(BITS, domain.depth)]
    while len(levels) < HEIGHT and levels[-1] + BITS <= domain.depth:
        if sum(2**level for level in (*levels, levels[-1] + BITS)) > memory // COUNTER_BYTES:
            break
        levels.append(levels[-1] + BITS)
    share = mechanism.budget / len(levels)
    mass = np.ones(1)
    for level in levels:
        noisy = mechanism.measure(counts.of_level(level), epsilon=share)
        codes = np.arange(noisy.size, dtype=np.uint64)
        if level == levels[0]:
            mass = np.maximum(noisy.sum(keepdims=True), 0).astype(np.float64)
        mass = _spread(mass, noisy, domain.measure(codes, level=level))
    return SignedHistogram(domain, codes, np.full(codes.shape, levels[-1]), mass)


def _spread(mass: Floats, noisy: Counts, measures: Floats) -> Floats:
    """Mass of the children of each cell: by their noisy counts, or by measure if all are taken as empty."""
    children = np.where(measures > 0, np.maximum(noisy, 0), 0).reshape(mass.size, -1)
    children = np.where(children < NEGLIGIBLE_SHARE * children.sum(axis=1, keepdims=True), 0, children)
    weights = np.where(children.any(axis=1, keepdims=True), children, measures.reshape(children.shape))
    sums = weights.sum(axis=1, keepdims=True)
    shares = np.divide(weights, sums, out=np.zeros(weights.shape), where=sums > 0)
    spread: Floats = (mass[:, None] * shares).ravel()
    return spread

"""HB: a hierarchical histogram, of Qardaji, Yang and Li, 2013, "Understanding hierarchical methods".

A tree over all cells of a level, in the order of the domain; every layer but the
root has an equal share of the budget; least squares. The fan-out minimises the
authors' average variance of range queries. The level is a public choice: by
default the finest whose tree fits. On a line, `monotone cdf` is the post-processing
to use; without it errors are many times larger. Neighbouring relation: add-remove.
Memory: a counter for each cell of the tree.
"""

from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.fan_out_tree import measure_tree, tree_sizes
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import COUNTER_BYTES, finest_level
from privhp.baselines.signed_histogram import SignedHistogram

MAX_FAN_OUT = 1024
"""Largest fan-out that is tried, beside a tree of one layer; the best one is below 32 for up to 2**20 cells."""


def estimate(
    counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int, level: int | None = None
) -> SignedHistogram:
    """Measure a tree over the cells of a level, by default the finest whose tree fits."""
    if level is None:
        level = finest_level(memory, counts.domain.depth)
        while level > 0 and sum(tree_sizes(2**level, fan_out=best_fan_out(2**level))) > memory // COUNTER_BYTES:
            level -= 1
    cells = counts.of_level(level)
    estimates = measure_tree(cells, mechanism, fan_out=best_fan_out(cells.size), epsilon=mechanism.budget)
    return SignedHistogram.of_level(counts.domain, level, *estimates)


def best_fan_out(cells: int) -> int:
    """Fan-out b that minimises (b - 1) h^3 - 2 (b + 1) h^2 / 3, with h layers below the root."""

    def variance(fan_out: int) -> int:
        height = len(tree_sizes(cells, fan_out=fan_out))
        return (3 * (fan_out - 1) * height - 2 * (fan_out + 1)) * height * height

    one_layer = max(cells, 2)
    best: int = min((*range(2, min(one_layer, MAX_FAN_OUT)), one_layer), key=variance)
    return best

"""Truncated trees: the complete tree with as many levels as the memory holds, by the paper's rule or least squares.

Least squares here is privhp's own inference on the same measurements, shrinkage
and projection of every level included, which is generous to the baseline.
Neighbouring relation: add-remove. Memory: two counters for each leaf.
"""

from dataclasses import replace

from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.complete_tree import measure_plan, plan_tree
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import COUNTER_BYTES
from privhp.baselines.signed_histogram import SignedHistogram
from privhp.planning.plan import Plan


def estimate(counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int) -> SignedHistogram:
    """Measure the tree, with the paper's top-down consistency."""
    return measure_plan(_plan(counts, mechanism, expected_records, memory), counts, mechanism)


def estimate_by_least_squares(
    counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int
) -> SignedHistogram:
    """Measure the same tree, with least-squares estimates."""
    plan = _plan(counts, mechanism, expected_records, memory)
    return measure_plan(replace(plan, inference="least-squares"), counts, mechanism)


def _plan(counts: CellCounts, mechanism: Mechanism, expected_records: int, memory: int) -> Plan:
    most = (memory // COUNTER_BYTES).bit_length() - 2  # all levels together have twice the cells of the last
    return plan_tree(counts.domain, epsilon=mechanism.budget, expected_records=expected_records, most=most)

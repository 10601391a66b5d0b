"""Complete tree: the private measure mechanism (PMM) of He, Vershynin and Zhu, 2023.

Every level down to log2(epsilon n) is counted and measured, with the budgets and
the top-down consistency of the paper. Neighbouring relation: add-remove.
Memory: two counters for each leaf, whatever limit the others have; the depth is
at most 22, which is 64 MiB.
"""

import math
from fractions import Fraction

from privhp.answers.hierarchy import Hierarchy
from privhp.answers.leaves import build_leaves, build_leaves_top_down
from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.signed_histogram import SignedHistogram
from privhp.domains.domain import Domain
from privhp.planning.plan import Plan
from privhp.release import Release

MAX_DEPTH = 22


def estimate(counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int) -> SignedHistogram:
    """Measure the complete tree; the limit on memory is ignored."""
    plan = plan_tree(counts.domain, epsilon=mechanism.budget, expected_records=expected_records)
    return measure_plan(plan, counts, mechanism)


def plan_tree(domain: Domain, *, epsilon: Fraction, expected_records: int, most: int = MAX_DEPTH) -> Plan:
    """Plan of a tree with the paper's budgets, of depth log2(epsilon n) and at most `most`."""
    depth = min(max(math.ceil(math.log2(epsilon * expected_records)), 1), domain.depth, most)
    return Plan.paper(domain, epsilon=epsilon, expected_records=expected_records, depth=depth, exact_depth=depth)


def measure_plan(plan: Plan, counts: CellCounts, mechanism: Mechanism) -> SignedHistogram:
    """Leaves of a plan without sketches, by the inference of the plan."""
    noisy = {level: mechanism.measure(counts.of_level(level), epsilon=budget) for level, budget in plan.budgets.items()}
    release = Release(plan, noisy)
    leaves = build_leaves_top_down(release) if plan.inference == "top-down" else build_leaves(Hierarchy(release))
    return SignedHistogram(plan.domain, leaves.codes, leaves.levels, leaves.counts)

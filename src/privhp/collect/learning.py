"""Learning: the passes that find the partition of a plan, on samples of the data.

The summary of a learning pass measures the leaves of the partition so far and
nothing else, under the budget of the pass. Its noisy counts refine the partition
and are then forgotten. After the last learning pass the plan has its partition,
and the measuring pass is a summary of that plan.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from privhp.collect.refinement import LearningCounts, refine
from privhp.planning.learning import Learning
from privhp.planning.partition import Partition, complete_nbytes
from privhp.planning.plan import Plan
from privhp.planning.plan_sizes import PlanSizes
from privhp.planning.tuning import COLUMN_PAIR_Z, Tuning
from privhp.release import Release


def first_pass(plan: Plan) -> int:
    """Number of the first pass over the data: 0, or that of the measuring pass if nothing is to be learned."""
    return 0 if plan.partition is None else plan.passes - 1


def is_learning(plan: Plan, number: int) -> bool:
    """Whether a pass is a learning pass; the last one is the measuring pass."""
    return number < plan.passes - 1


def continues(started: Plan, plan: Plan) -> bool:
    """Whether a plan is the one that was started, but for what was drawn or learned since."""
    if _without_partitions(started) != _without_partitions(plan):
        return False
    pairs = [(plan.partition, started.partition)]
    pairs += [(own.partition, started.columns[label].partition) for label, own in plan.columns.items()]
    return all(own is None or own == before for own, before in pairs)


def _without_partitions(plan: Plan) -> dict[str, Any]:
    """What a plan is before it learns and draws a seed, as a JSON object."""
    spec = plan.spec() | {"hash_seed": None, "partition": None}
    columns = {label: own | {"partition": None} for label, own in spec.get("columns", {}).items()}
    return spec | {"columns": columns}


def pass_plan(plan: Plan, number: int) -> Plan:
    """The plan of the summary of a pass: for a learning pass, the leaves of the partition so far alone."""
    if plan.learning is None or not is_learning(plan, number):
        return plan
    learned = {label: own for label, own in plan.column_plans.items() if own.learning is not None}
    return replace(
        plan,
        # The budget of a sample may exceed epsilon, its cost may not.
        epsilon=max(plan.epsilon, plan.pass_budgets[number][1]),
        columns={label: _pass_sizes(own, number) for label, own in learned.items()},
        **_pass_sizes(plan, number)._asdict(),
    )


def _pass_sizes(plan: Plan, number: int) -> PlanSizes:
    """Sizes of a learning pass: the leaves of the partition so far."""
    assert plan.learning is not None
    budgets = {plan.learned_level: plan.learning.passes[number].budget}
    return PlanSizes(budgets, 0, partition=plan.partition or Partition.complete(plan.learned_level))


def refine_plan(plan: Plan, number: int, release: Release) -> Plan:
    """The plan with the partitions that the noisy counts of a learning pass refine, of the table and of its columns.

    Args:
        plan: The plan.
        number: Number of the pass.
        release: The noisy counts of its summary.
    """
    columns = dict(plan.columns)
    for label, own in release.columns.items():
        column = plan.column_plans[label]
        refined = _refine_partition(column, number, own, column.tuning._replace(pair_z=COLUMN_PAIR_Z))
        columns[label] = columns[label]._replace(partition=refined)
    return replace(plan, partition=_refine_partition(plan, number, release, plan.tuning), columns=columns)


def _refine_partition(plan: Plan, number: int, release: Release, tuning: Tuning) -> Partition:
    assert isinstance(plan.learning, Learning)
    assert release.plan.partition is not None
    level, passes, roots = plan.learned_level, plan.learning.passes, complete_nbytes(plan.learned_level)
    learned = LearningCounts(
        counts=release.counts[level],
        rate=float(passes[number].rate),
        variance=release.plan.noise_variance(level),
        measured_variance=plan.noise_variance(level),
    )
    # The memory is shared out over the passes, so that a later one can split where an earlier one found records.
    nbytes = roots + (plan.learning.nbytes - roots) * (number + 1) // len(passes)
    diameters = np.array([plan.domain.diameter(own) for own in range(plan.domain.depth + 1)])
    return refine(release.plan.partition, learned, nbytes=nbytes, root_level=level, diameters=diameters, tuning=tuning)

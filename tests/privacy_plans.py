"""Plans of the privacy checks, and what follows from them by definition."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import Box, Integers, Interval, IPv4, Nullable, Partition, Plan, Table
from privhp.core.cells import Counts
from privhp.planning.plan_sizes import PlanSizes

TABLE = Table(a=Interval(0, 1), b=Nullable(Integers(0, 1000)), c=Integers(-3, 40))


def parts_of(plan: Plan) -> list[Plan]:
    """A plan and, under the same relation, one for each of its measured columns: a record counts in all of them."""
    domains = {column.label: column.domain for column in plan.domain.columns}
    common: dict[str, Any] = {
        "epsilon": 1000,  # the costs of all parts together are checked, not those of a column
        "inference": "least-squares",
        "neighbours": plan.neighbours,
        "max_records_per_person": plan.max_records_per_person,
        "hash_seed": plan.hash_seed,
    }
    return [plan, *(Plan(domains[label], **common, **own._asdict()) for label, own in plan.columns.items())]


def cells_by_part(plan: Plan, cells: Counts) -> list[dict[int, Counts]]:
    """Counters by level, of each part, from the array that holds all of them."""
    found = []
    for part in parts_of(plan):
        own, cells = np.split(cells, [sum(cells_of(part, level) for level in part.budgets)])
        found.append(part.unpack(own))
    assert not cells.size, "there are more counters than levels have"
    return found


def sensitivity_by_definition(plan: Plan, level: int) -> int:
    """L1 sensitivity of a level, by definition: the largest change by one person, summed over its counters."""
    changes = 2 if plan.neighbours == "replace-one" and level > 0 else 1
    return changes * rows_of(plan, level) * plan.max_records_per_person


def rows_of(plan: Plan, level: int) -> int:
    return plan.sketch_rows if level > plan.exact_depth and plan.partition is None else 1


def cells_of(plan: Plan, level: int) -> int:
    if level <= plan.exact_depth:
        return 2**level
    return plan.sketch_rows * plan.sketch_width if plan.partition is None else plan.partition.levels.size


def example_plans() -> list[Plan]:
    """Plans under both relations: with sketches, a partition or neither, gaps, a root level, several records.

    And with measured columns, which have sketches, a partition or neither.
    """
    partition: dict[str, Any] = {"partition": Partition([3, 3, *[4] * 11, *[8] * 16]), "inference": "least-squares"}
    sketch: dict[str, Any] = {"sketch_rows": 3, "sketch_width": 8, "hot_cells": 2}
    sizes = {
        "a": PlanSizes({0: "0.1", 2: "0.1", 4: "0.3"}, 2, **sketch),
        "b": PlanSizes({1: "0.2", 3: "0.3"}, 1, partition=partition["partition"]),
        "c": PlanSizes({2: "0.25", 5: "0.25"}, 5),
    }
    columns: dict[str, Any] = {"columns": sizes}
    paper: dict[str, Any] = {"epsilon": "0.7", "expected_records": 1000, "hot_cells": 2, "depth": 6, "sketch_rows": 2}
    made = []
    for neighbours, persons in itertools.product(("add-remove", "replace-one"), (1, 3)):
        relation: dict[str, Any] = {"neighbours": neighbours, "max_records_per_person": persons}
        free = {0: "0.1", 2: "0.2", 4: "0.3", 5: "0.4"}
        made += [
            Plan.paper(Interval(0, 1), **paper, exact_depth=3, **relation),
            Plan.paper(Integers(-3, 40), **paper, exact_depth=6, **relation),
            Plan(Box([(0, 1), (0, 2)]), epsilon=1, budgets=free, exact_depth=2, **sketch, **relation),
            Plan(IPv4(), epsilon=0.1, budgets={3: 0.1}, exact_depth=3, **relation),
            Plan(Interval(1, 8), epsilon=2, budgets={0: 1, 1: 1}, exact_depth=0, **sketch, **relation),
            Plan(Interval(1, 8), epsilon=2, budgets={0: "0.3", 1: "0.7", 3: 1}, exact_depth=1, **partition, **relation),
            Plan(IPv4(), epsilon=1, budgets={2: 1}, exact_depth=0, **partition, **relation),
            Plan(TABLE, epsilon="2.5", budgets={1: "0.3", 2: "0.7"}, exact_depth=1, **partition, **columns, **relation),
        ]
    return made


def example_records(plan: Plan, size: int = 40) -> NDArray[Any]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size, dtype=np.uint64)
    return plan.domain.decode(codes, level=1, rng=rng)

"""Small plans of every kind, for an audit of the installed package."""

from fractions import Fraction
from typing import Any

from privhp.core.budget import Neighbours
from privhp.domains.numbers import Integers
from privhp.domains.table import Table
from privhp.planning.learning import Learning, LearningPass
from privhp.planning.partition import Partition
from privhp.planning.plan import Plan
from privhp.planning.plan_sizes import PlanSizes

_DEPTH = 20
_ROOT = 12
"""Root level of partitions."""


def example_plans() -> dict[str, Plan]:
    """Plans under both neighbouring relations, by their descriptions."""
    return {
        f"{relation}, {name}": plan
        for relation in ("add-remove", "replace-one")
        for name, plan in _plans_of(relation).items()
    }


def _plans_of(relation: Neighbours) -> dict[str, Plan]:
    domain = Integers(0, 2**_DEPTH - 1)
    common: dict[str, Any] = {"neighbours": relation, "epsilon": 4}
    several: dict[str, Any] = {**common, "max_records_per_person": 3}
    few: dict[str, Any] = {"budgets": {0: 1, 1: 1}, "exact_depth": 1}
    sketches: dict[str, Any] = {
        "budgets": {6: 1, 10: 1, 18: 2},
        "exact_depth": 10,
        "sketch_rows": 2,
        "sketch_width": 2**13,
        "hot_cells": 16,
        "hash_seed": 3,  # privacy does not depend on it, but how many records have buckets of their own does
    }
    leaves: dict[str, Any] = {"budgets": {6: 1, _ROOT: 1}, "exact_depth": 6, "inference": "least-squares"}
    known = {**leaves, "partition": Partition([_ROOT] * 2 ** (_ROOT - 1) + [_ROOT + 1] * 2**_ROOT)}
    passes = (LearningPass(Fraction(1, 16), Fraction(2)), LearningPass(Fraction(1, 16), Fraction(2)))
    learned = {**leaves, "learning": Learning(nbytes=2**17, passes=passes)}
    quarter = Fraction(1, 4)
    table = Table(a=Integers(0, 2**10 - 1), b=Integers(0, 2**10 - 1))
    columns = {
        "a": PlanSizes({4: quarter, 9: 3 * quarter}, 4, partition=Partition.complete(9)),
        "b": PlanSizes({10: 4 * quarter}, 10),
    }
    column_passes = (LearningPass(Fraction(1, 16), Fraction(1)),) * 2
    learned_columns = {
        "a": PlanSizes({9: quarter}, 0, learning=Learning(nbytes=2**15, passes=column_passes)),
        "b": PlanSizes({10: quarter / 2}, 10),
    }
    return {
        "few counters": Plan(domain, **common, **few),
        "exact levels and sketches": Plan(domain, **common, **sketches),
        "the same, 3 records per person": Plan(domain, **several, **sketches),
        "known partition": Plan(domain, **common, **known),
        "learned partition": Plan(domain, **common, **learned),
        "pan-private, known partition": Plan(domain, **common, **known, pan_private=True),
        "pan-private, learned partition, 3 records per person": Plan(domain, **several, **learned, pan_private=True),
        "known partition, measured columns": Plan(table, **common, **known, columns=columns),
        "learned partition, measured columns": Plan(table, **common, **learned, columns=learned_columns),
    }

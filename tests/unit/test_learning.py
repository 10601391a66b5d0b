"""Learning passes, and plans that learn a partition or have one."""

import dataclasses
import json
from fractions import Fraction
from typing import Any

import pytest

from plan_settings import UNIT, copies
from privhp import Partition, Plan, PlanError
from privhp.core.budget import amplified_cost
from privhp.planning.learning import Learning, LearningPass

PASSES = (LearningPass(Fraction(1, 64), Fraction(1, 2)), LearningPass(Fraction(7, 64), Fraction(3, 4)))
LEARNING = Learning(nbytes=4000, passes=PASSES)
PARTITION = Partition([3, 4, 4, *[3] * 6])


def plan_of(**changes: Any) -> Plan:
    settings: dict[str, Any] = {
        "epsilon": 2,
        "budgets": {1: "1/2", 3: 1},
        "exact_depth": 1,
        "learning": LEARNING,
        "inference": "least-squares",
        "expected_records": 10_000,
    }
    return Plan(UNIT, **settings | changes)


# Learning passes


@pytest.mark.parametrize("rate", [0, -1, "1/512", "1/3", 1.5, "257/256", None, "x", float("nan"), True])
def test_invalid_rate(rate: Any) -> None:
    with pytest.raises(PlanError, match="rate"):
        Learning(nbytes=100, passes=(LearningPass(rate, Fraction(1)),))


@pytest.mark.parametrize("budget", [0, -1, 1001, None, "x", float("inf"), float("nan"), True])
def test_invalid_budget(budget: Any) -> None:
    with pytest.raises(PlanError, match="budget"):
        Learning(nbytes=100, passes=(LearningPass(Fraction(1, 16), budget),))


@pytest.mark.parametrize("passes", [(), None, 3, PASSES * 5, [5], [None], [(1,)], ["ab"], {}, "ab"], ids=str)
def test_invalid_passes(passes: Any) -> None:
    with pytest.raises(PlanError):
        Learning(nbytes=100, passes=passes)


@pytest.mark.parametrize("nbytes", [0, -1, 1.0, True, "100", None, 2**41])
def test_invalid_nbytes(nbytes: Any) -> None:
    with pytest.raises(PlanError, match="nbytes"):
        Learning(nbytes=nbytes, passes=PASSES)


def test_rates_and_budgets_are_exact() -> None:
    read = Learning(nbytes=4000, passes=(LearningPass("1/64", 0.5), LearningPass(0.109375, "0.75")))  # type: ignore[arg-type]  # converted
    assert read == LEARNING
    assert [own.budget for own in read.passes] == [Fraction(1, 2), Fraction(3, 4)]


def test_cost_is_the_sum_of_amplified_costs() -> None:
    assert PASSES[0].cost == amplified_cost(Fraction(1, 64), Fraction(1, 2))
    assert LEARNING.cost == PASSES[0].cost + PASSES[1].cost
    assert LEARNING.cost < Fraction(1, 64) + Fraction(1, 8)
    everything = Learning(nbytes=100, passes=(LearningPass(Fraction(1), Fraction(1, 2)),))
    assert 0 <= everything.cost - Fraction(1, 2) < Fraction(1, 10**15)


def test_spec_of_learning() -> None:
    spec = LEARNING.spec()
    assert spec == {
        "nbytes": 4000,
        "passes": [{"rate": "1/64", "budget": "1/2"}, {"rate": "7/64", "budget": "3/4"}],
    }
    assert Learning.from_spec(json.loads(json.dumps(spec))) == LEARNING


@pytest.mark.parametrize(
    "spec",
    [
        None,
        5,
        [],
        {},
        {"nbytes": 100},
        LEARNING.spec() | {"rows": 5},
        LEARNING.spec() | {"passes": None},
        LEARNING.spec() | {"passes": []},
        LEARNING.spec() | {"passes": {}},
        LEARNING.spec() | {"passes": [5]},
        LEARNING.spec() | {"passes": [{"rate": "1/64"}]},
        LEARNING.spec() | {"passes": [{"rate": "1/64", "budget": "1", "cost": "0"}]},
        LEARNING.spec() | {"passes": [{"rate": "1/65", "budget": "1"}]},
        LEARNING.spec() | {"passes": [{"rate": [1], "budget": "1"}]},
        LEARNING.spec() | {"passes": [{"rate": "1/64", "budget": "1e999999999"}]},
        LEARNING.spec() | {"nbytes": "4000"},
    ],
    ids=str,
)
def test_invalid_specs_of_learning(spec: Any) -> None:
    with pytest.raises(PlanError):
        Learning.from_spec(spec)


# Plans


@pytest.mark.parametrize(
    "plan",
    [plan_of(), plan_of(partition=PARTITION), plan_of(partition=PARTITION, learning=None)],
    ids=["to learn", "learned", "known"],
)
def test_plan_is_a_value(plan: Plan) -> None:
    for twin in copies(plan):
        assert twin == plan
        assert hash(twin) == hash(plan)
        assert twin.partition == plan.partition
        assert twin.learning == plan.learning
    for name, value in (("partition", PARTITION), ("learning", LEARNING)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(plan, name, value)


def test_plans_compare_partitions_and_learning() -> None:
    plans = [
        plan_of(),
        plan_of(learning=Learning(nbytes=4001, passes=PASSES)),
        plan_of(learning=Learning(nbytes=4000, passes=PASSES[:1])),
        plan_of(partition=PARTITION),
        plan_of(partition=PARTITION, learning=None),
        plan_of(partition=Partition([*[3] * 7, 4, 4])),
        plan_of(partition=Partition.complete(3)),
    ]
    assert len(set(plans)) == len(plans)
    assert all((one == two) == (one is two) for one in plans for two in plans)


def test_text_of_a_plan_to_learn() -> None:
    text = str(plan_of())
    assert "learning    a partition of at most 3.91 KiB from level 3\n" in text
    assert f"on samples of 1/64 and 7/64 of the rows; this costs {float(LEARNING.cost):.3g} of epsilon" in text
    assert "reads       the data 3 times, 2 of them to learn; its order does not matter" in text
    assert "leaves" not in text


def test_text_of_a_plan_with_a_partition() -> None:
    assert "partition   9 leaves of levels 3 to 4; learned" in str(plan_of(partition=PARTITION))
    assert "costs nothing" not in str(plan_of(partition=PARTITION))
    known = str(plan_of(partition=PARTITION, learning=None))
    assert "partition   9 leaves of levels 3 to 4; known before, so it costs nothing" in known
    assert "reads       the data once" in known
    assert "samples" not in known


def test_sizes() -> None:
    """Upper bounds before the partition is known, the partition's own sizes after."""
    before, after = plan_of(), plan_of(partition=PARTITION)
    assert (before.passes, after.passes, plan_of(partition=PARTITION, learning=None).passes) == (3, 3, 1)
    assert before.nbytes == 8 * 2 + LEARNING.nbytes
    assert after.nbytes == 8 * 2 + PARTITION.nbytes
    assert (after.leaves, after.counters, after.depth) == (9, 2 + 9, 4)
    assert after.shapes == {1: (2,), 3: (9,)}
    assert before.depth == UNIT.depth
    assert before.learned_level == after.learned_level == 3
    assert [after.measurement(level) for level in after.budgets] == ["exact", "learned"]


def test_epsilon_pays_for_measuring_and_learning() -> None:
    """Exactly: what is left after learning may be spent, and not a grain more."""
    left = 2 - LEARNING.cost
    full = {1: left / 3, 3: left * 2 / 3}
    assert plan_of(budgets=full).budgets == full
    assert plan_of(budgets=full, partition=PARTITION).budgets == full
    for grain in (Fraction(1, 10**6), Fraction(1, 10**40)):
        for partition in (None, PARTITION):
            with pytest.raises(PlanError, match="budgets and learning passes that cost at most epsilon, 2, got"):
                plan_of(budgets=full | {1: full[1] + grain}, partition=partition)
    assert plan_of(budgets={1: 1, 3: 1}, learning=None, partition=PARTITION).epsilon == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"partition": Partition.complete(2)}, "leaves of levels 3 to .*, got levels 2 to 2"),
        ({"partition": Partition([1, 2, 2])}, "leaves of levels 3 to"),
        ({"partition": Partition([*range(1, 64), 63])}, "leaves of levels 3 to"),
        ({"partition": "leaves"}, "expected a Partition or None"),
        ({"partition": [3] * 8}, "expected a Partition or None"),
        ({"learning": 3}, "expected a Learning or None"),
        ({"learning": LEARNING.spec()}, "expected a Learning or None"),
        ({"budgets": {1: 1}}, "exactly one level below the exact_depth"),
        ({"budgets": {1: "1/4", 3: "1/4", 4: "1/4"}}, "exactly one level below the exact_depth"),
        ({"budgets": {3: 1}, "exact_depth": 1}, "expected a budget for level 1"),
        ({"inference": "top-down"}, 'expected inference="least-squares"'),
        ({"learning": Learning(nbytes=67, passes=PASSES)}, "expected at least 68 bytes for the 8 cells of level 3"),
        (
            {"learning": Learning(nbytes=80, passes=PASSES), "partition": Partition.complete(5)},
            "expected a partition of at most 80 bytes",
        ),
        ({"sketch_rows": 2, "sketch_width": 16, "hot_cells": 2}, "expected sizes of 0"),
        ({"memory": 300}, "expected counters of at most the memory of 300 bytes"),
        ({"partition": Partition.complete(5), "memory": 256}, "expected counters of at most the memory of 256 bytes"),
        (
            {"learning": Learning(nbytes=4000, passes=(LearningPass(Fraction(1, 256), Fraction(1, 10**15)),))},
            "noise scale of at most",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_invalid_plans(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan_of(**changes)


def test_plan_of_a_partition_alone() -> None:
    """As a learning pass measures it: no exact levels."""
    plan = plan_of(budgets={3: 1}, exact_depth=0, learning=None, partition=PARTITION)
    assert plan.exact_levels == []
    assert plan.shapes == {3: (9,)}
    assert plan.nbytes == PARTITION.nbytes

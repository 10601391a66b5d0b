"""The default memory of a plan, and what more or less of it would buy."""

import math
from typing import Any

import pytest

import privhp as hp
from privhp import Box, Interval, Partition, Plan
from privhp.planning.plan_memory import MEMORIES, choose_memory, typical_error

UNIT, SQUARE = Interval(0, 1), Box([(0, 1), (0, 1)])


@pytest.mark.parametrize(
    ("errors", "chosen"),
    [([10, 9.9, 1, 1, 1], 0), ([10, 9, 8.9, 1, 1], 1), ([10, 5, 6, 1, 1], 1), ([10, 8, 6, 4, 2], 4)],
    ids=["little gain", "little further gain", "more is worse", "always a gain"],
)
def test_memory_grows_while_it_gains(errors: list[float], chosen: int) -> None:
    def least_error(memory: int, limit: float) -> float:
        error = errors[MEMORIES.index(memory)]
        return error if error < limit else math.inf

    assert choose_memory(least_error) == MEMORIES[chosen]
    for least in (MEMORIES[1] - 1, MEMORIES[1]):
        assert choose_memory(least_error, least=least) >= MEMORIES[1]


def test_default_memory_follows_the_records() -> None:
    memories = [Plan.auto(SQUARE, epsilon=1, expected_records=size, passes=3).memory for size in (1e4, 1e8)]
    assert memories[0] == MEMORIES[0] < memories[1] <= MEMORIES[-1]


def test_default_memory_holds_a_known_partition() -> None:
    partition = Partition.complete(16)
    plan = Plan.auto(UNIT, epsilon=1, expected_records=1e6, partition=partition)
    assert plan.memory == MEMORIES[2]
    assert plan.partition == partition


@pytest.mark.parametrize("passes", [1, 3])
def test_plan_says_what_memory_buys(passes: int) -> None:
    given: dict[str, Any] = {"epsilon": 1, "expected_records": 1e6, "passes": passes}
    plan, less = (Plan.auto(SQUARE, **given, memory=memory) for memory in ("256 KiB", "64 KiB"))
    lost = typical_error(less) / typical_error(plan) - 1
    assert lost > 0.2
    assert f"64 KiB would make it {lost:.0%} higher" in str(plan)
    assert "1 MiB would make the typical error" in str(plan)
    *_, last = str(plan).splitlines()
    assert last.split() == ["typical,", "the", "geometric", "mean", SQUARE.format_distance(typical_error(plan))]


def test_no_sentence_without_the_planner() -> None:
    plans = [
        Plan(UNIT, epsilon=1, budgets={4: 1}, exact_depth=4, expected_records=1000, memory=2**16),
        Plan.paper(UNIT, epsilon=1, expected_records=1000),
        Plan.auto(UNIT, epsilon=1, expected_records=1e6, partition=Partition.complete(6)),
    ]
    assert not any("would make" in str(plan) for plan in plans)


@pytest.mark.parametrize("number", [32, 45, 60])
def test_plans_of_wide_tables_of_few_values_are_printed(number: int) -> None:
    """The typical error may be 0: then memory gains nothing that a ratio could say."""
    columns = {f"q{place}": hp.Nullable(hp.Integers(1, 5)) for place in range(number)}
    plan = hp.Plan.auto(hp.Table(columns), epsilon=1, expected_records=25_000, passes=3)
    assert "column by itself" in str(plan)
    assert len(plan.columns) == number

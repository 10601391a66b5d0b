"""`Plan.auto(..., partition=)`: plans with a partition that is known before, and the memory of learned ones."""

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import privhp as hp
from cases import case_count
from privhp.collect.learning import is_learning, pass_plan, refine_plan
from privhp.release import Release
from strategies import any_domains

UNIT = hp.Interval(0, 1)
COMMON: dict[str, Any] = {"epsilon": 1, "expected_records": 100_000, "memory": "64 KiB"}
PARTITION = hp.Partition([*[4] * 12, *[6] * 16])


def release_of(plan: hp.Plan) -> hp.Generator:
    return hp.Summary(plan).release()


def test_partition_of_any_origin() -> None:
    """The partition itself, a plan that has one, and a generator of such a plan give the same plan."""
    plan = hp.Plan.auto(UNIT, **COMMON, partition=PARTITION)
    assert plan.partition == PARTITION
    assert (plan.passes, plan.learning) == (1, None)
    assert sum(plan.budgets.values()) <= 1
    assert plan.learned_level == 4
    assert hp.Plan.auto(UNIT, **COMMON, partition=plan) == plan
    assert hp.Plan.auto(UNIT, **COMMON, partition=release_of(plan)) == plan


def test_partition_of_a_learned_plan() -> None:
    """The whole budget is for measuring: the cost of learning belongs to the earlier data."""
    data = np.random.default_rng(0).random(20_000) ** 4
    learned = hp.learn(data, UNIT, **COMMON)
    assert learned.partition is not None
    assert learned.learning is not None
    for source in (learned, release_of(learned)):
        plan = hp.Plan.auto(UNIT, **COMMON, partition=source)
        assert plan.partition == learned.partition
        assert plan.learning is None
        assert sum(plan.budgets.values()) > 1 - learned.learning.cost


@pytest.mark.parametrize(
    "value",
    [
        "partition",
        [1, 1],
        np.array([1, 1]),
        5,
        {"partition": PARTITION},
        hp.Plan.auto(UNIT, **COMMON),
        PARTITION.spec(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_without_a_partition(value: Any) -> None:
    with pytest.raises(hp.PlanError, match="expected partition= as a partition, a plan that has learned one, or a gen"):
        hp.Plan.auto(UNIT, **COMMON, partition=value)


def test_leaves_of_any_release_are_a_partition() -> None:
    """Also of a plan with sketches, whose leaves follow the hot cells; leaves on a slope may have parts."""
    earlier = hp.Plan.auto(UNIT, **COMMON)
    assert earlier.sketched_levels
    summary = hp.Summary(earlier)
    summary.update(np.random.default_rng(0).random(100_000) ** 4)
    generator = summary.release()
    plan = hp.Plan.auto(UNIT, **COMMON, partition=generator)
    assert plan.partition is not None
    depth, cells, parts = generator.plan.domain.depth, plan.partition, generator.leaves()
    starts = cells.codes() << (depth - cells.levels.astype(np.int64)).astype(np.uint64)
    assert np.isin(starts, parts.codes << (depth - parts.levels).astype(np.uint64)).all()


@pytest.mark.parametrize("other", [hp.Interval(0, 2), hp.Integers(0, 1023), hp.Box([(0, 1)])], ids=repr)
def test_partition_of_another_domain(other: hp.Domain) -> None:
    plan = hp.Plan.auto(other, **COMMON, partition=PARTITION)
    for value in (plan, release_of(plan)):
        with pytest.raises(hp.PlanError, match="another domain"):
            hp.Plan.auto(UNIT, **COMMON, partition=value)


def test_partition_deeper_than_the_domain() -> None:
    with pytest.raises(hp.PlanError, match=r"leaves of levels .* to 5, got levels 4 to 6|does not fit"):
        hp.Plan.auto(hp.Integers(0, 31), **COMMON, partition=PARTITION)


@pytest.mark.parametrize("partition", [PARTITION, hp.Partition.complete(12)], ids=repr)
def test_partition_too_large_for_the_memory(partition: hp.Partition) -> None:
    """The message names the least memory that is enough, and that one is."""
    with pytest.raises(hp.PlanError, match=r"needs memory= of at least \d+ bytes, got 300") as caught:
        hp.Plan.auto(UNIT, **COMMON | {"memory": 300}, partition=partition)
    least = int(str(caught.value).split("at least ")[1].split()[0])
    assert hp.Plan.auto(UNIT, **COMMON | {"memory": least}, partition=partition).nbytes <= least
    with pytest.raises(hp.PlanError, match=f"needs memory= of at least {least} bytes, got {least - 1}"):
        hp.Plan.auto(UNIT, **COMMON | {"memory": least - 1}, partition=partition)


@pytest.mark.parametrize("levels", [[0], [1, 1], [1, 2, 2]])
def test_partition_without_room_for_an_exact_level(levels: list[int]) -> None:
    with pytest.raises(hp.PlanError, match="leaves of level 2 or deeper"):
        hp.Plan.auto(UNIT, **COMMON, partition=hp.Partition(levels))


@pytest.mark.parametrize("passes", [2, 3])
def test_partition_and_learning_passes(passes: int) -> None:
    with pytest.raises(hp.PlanError, match="and 1 with partition="):
        hp.Plan.auto(UNIT, **COMMON, passes=passes, partition=PARTITION)


def test_plan_with_a_partition_predicts_less_error_than_one_without() -> None:
    """For the data that the partition was learned for."""
    learned = hp.learn(np.random.default_rng(0).random(100_000) ** 4, UNIT, **COMMON)
    without, known = hp.Plan.auto(UNIT, **COMMON), hp.Plan.auto(UNIT, **COMMON, partition=learned)
    assert known.predictions()["uneven"].total < without.predictions()["uneven"].total


@settings(max_examples=case_count(40))
@given(
    domain=any_domains(),
    memory=st.sampled_from([512, 2048, 2**14]) | st.integers(256, 2**15),
    passes=st.sampled_from([2, 3]),
    epsilon=st.sampled_from([0.1, 1, 30]),
    seed=st.integers(0, 2**32),
)
def test_learned_plans_fit_the_memory(domain: hp.Domain, memory: int, passes: int, epsilon: float, seed: int) -> None:
    """After each refinement, whatever the counts: the summary of a pass and the plan stay within the memory."""
    rng = np.random.default_rng(seed)
    plan = hp.Plan.auto(domain, epsilon=epsilon, expected_records=10**5, memory=memory, passes=passes)
    assert plan.nbytes <= memory
    for number in range(plan.passes - 1):
        assert is_learning(plan, number)
        own = pass_plan(plan, number)
        assert own.nbytes <= memory
        counts = (rng.standard_cauchy(own.counters) * 1000).astype(np.int64)
        plan = refine_plan(plan, number, Release(own, own.unpack(counts)))
        assert plan.partition is not None
        assert plan.nbytes <= memory
    assert plan == hp.Plan.from_spec(plan.spec())
    if plan.partition is not None:
        assert replace(plan, partition=None).nbytes >= plan.nbytes

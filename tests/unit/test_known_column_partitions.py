"""Partitions of columns that an earlier release has learned."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import privhp as hp

TABLE = hp.Table(a=hp.Interval(0, 1e6), port=hp.Integers(0, 65_535), c=hp.Interval(0, 1))
PORTS = np.array([22, 80, 443, 445, 8080])
SIZE = 50_000


def records(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"a": rng.lognormal(3, 0.8, SIZE), "port": rng.choice(PORTS, SIZE), "c": rng.random(SIZE)}


@pytest.fixture(scope="module")
def earlier() -> hp.Generator:
    return hp.fit(records(0), TABLE, epsilon=5, expected_records=SIZE, memory="256 KiB")


@pytest.mark.parametrize("of_plan", [True, False])
def test_columns_have_the_partitions_of_an_earlier_release(earlier: hp.Generator, of_plan: bool) -> None:
    plan = hp.Plan.auto(
        TABLE, epsilon=5, expected_records=SIZE, partition=earlier.plan if of_plan else earlier, memory="256 KiB"
    )
    assert plan.partition == earlier.partition
    assert {label: own.partition for label, own in plan.columns.items()} == {
        label: own.partition for label, own in earlier.plan.columns.items()
    }
    assert all(own.learning is None for own in plan.columns.values())
    cost = sum(plan.budgets.values()) + sum(sum(own.budgets.values()) for own in plan.columns.values())
    assert plan.epsilon * (1 - Fraction(1, 2**40)) < cost <= plan.epsilon
    assert hp.Plan.from_spec(plan.spec()) == plan
    summary = hp.Summary(plan)
    summary.update(records(1))
    share = summary.release().mass({"port": (445, 445)})
    assert share.resolved
    assert abs(share.value - 0.2) < 0.01


def test_partitions_that_do_not_fit_are_left_out(earlier: hp.Generator) -> None:
    plan = hp.Plan.auto(TABLE, epsilon=5, expected_records=SIZE, partition=hp.Partition.complete(6), memory="64 KiB")
    assert plan.columns
    assert all(own.partition is None for own in plan.columns.values())
    largest = max(own.partition.nbytes for own in earlier.plan.columns.values() if own.partition is not None)
    small = hp.Plan.auto(
        TABLE, epsilon=5, expected_records=SIZE, partition=earlier, memory=earlier.partition.nbytes + 8 * largest
    )
    assert small.nbytes <= small.memory

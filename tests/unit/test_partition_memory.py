"""Peak memory of plans with a partition: within the plan's memory when records are counted, bounded before."""

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import privhp as hp

FIXED = 32 * 1024
"""Bytes outside the memory of a plan: Python objects."""

SETUP_BYTES = 80
"""Bytes for each leaf while a plan with a partition is set up; the docstring of `Summary` says so."""


def skewed(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.minimum(rng.lognormal(-3, 1, size), 1)


BATCHES: dict[str, tuple[hp.Domain, Callable[[np.random.Generator, int], Any]]] = {
    "interval": (hp.Interval(0, 1), skewed),
    "box": (
        hp.Box([(0, 1), (0, 1)]),
        lambda rng, size: np.stack([skewed(rng, size), rng.random(size)], axis=1),
    ),
    "ipv4": (hp.IPv4(), lambda rng, size: (skewed(rng, size) * 0.999 * 2**32).astype(np.int64)),
    "table": (
        hp.Table(a=hp.Interval(0, 1), b=hp.Nullable(hp.Integers(0, 99)), c=hp.Categories(["x", "y", "z"])),
        lambda rng, size: {
            "a": skewed(rng, size),
            "b": rng.integers(0, 99, size),
            "c": rng.choice(["x", "y", "z"], size),
        },
    ),
}


@contextmanager
def peak_memory_at_most(limit: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("memory", [2**14, 2**16, 2**18, 2**20])
@pytest.mark.parametrize("kind", BATCHES)
def test_memory_of_plan(kind: str, memory: int) -> None:
    """Peak memory of counters, nodes and batches, without the batch itself, the levels of the leaves and FIXED."""
    domain, batch_of = BATCHES[kind]
    rng = np.random.default_rng(0)
    batches = [batch_of(rng, 10_000) for _ in range(2)]
    plan = hp.learn(batches[0], domain, epsilon=30, expected_records=30_000, memory=memory)
    assert plan.partition is not None
    hp.Summary(replace(plan, partition=plan.partition)).update(batches[0])  # excludes imports and caches
    known = [plan.partition, *(own.partition for own in plan.columns.values())]
    levels = sum(own.levels.nbytes for own in known if own is not None)
    with peak_memory_at_most(memory + levels + FIXED):
        partition = hp.Partition(plan.partition.levels)
        copy = replace(plan, partition=partition)
        tracemalloc.reset_peak()  # the plan is set up, and its nodes are in memory
        summary = hp.Summary(copy)
        for batch in batches:
            summary.update(batch)
    partitions = [partition, *(own.partition for own in copy.columns.values())]
    nodes = sum(own.nodes.nbytes for own in partitions if own is not None)
    assert nodes + summary.nbytes == copy.nbytes <= memory


def every_second(level: int) -> hp.Partition:
    return hp.Partition.complete(level).split(np.tile([0, 1], 2 ** (level - 1)))


def chains(level: int) -> hp.Partition:
    """One cell of every level below each root."""
    partition = hp.Partition.complete(level)
    for _ in range(20):
        finest = np.flatnonzero(partition.levels == partition.max_level)
        steps = np.zeros(partition.size, dtype=np.int64)
        steps[finest[:: 1 if partition.max_level == level else 2]] = 1
        partition = partition.split(steps)
    return partition


@pytest.mark.parametrize(
    "partition",
    [hp.Partition.complete(14), every_second(13), chains(9)],
    ids=["complete", "every second", "chains"],
)
def test_memory_of_setting_up(partition: hp.Partition) -> None:
    plan = hp.Plan(
        hp.Interval(0, 1),
        epsilon=1,
        budgets={partition.min_level: 1},
        exact_depth=0,
        partition=partition,
        inference="least-squares",
    )
    spec = plan.spec()
    with peak_memory_at_most(SETUP_BYTES * partition.size + FIXED):
        assert hp.Plan.from_spec(spec).nbytes == partition.nbytes


def test_docstring_states_the_memory_of_setting_up() -> None:
    assert hp.Summary.__doc__ is not None
    assert f"{SETUP_BYTES} bytes for each leaf" in " ".join(hp.Summary.__doc__.split())

"""Headers of files: long partitions fit, long domains are refused with the plan, and hostile ones stay bounded."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from forgery import PLAN, forge, refusal
from privhp.core.container import MAX_HEADER, RELEASE
from privhp.planning.partition import MAX_LEAVES
from privhp.planning.plan_checks import MAX_DOMAIN_TEXT
from privhp.release import Release


@pytest.mark.parametrize("leaves", [200_000, 3_000_000])
def test_release_with_many_leaves(leaves: int, tmp_path: Path) -> None:
    partition = uneven_partition(leaves)
    level = partition.min_level
    plan = hp.Plan(
        hp.Interval(0, 1),
        epsilon=1,
        budgets={level: 1},
        exact_depth=0,
        partition=partition,
        inference="least-squares",
    )
    counts = np.arange(leaves)
    release = Release(plan, {level: counts})
    path = tmp_path / "release"
    path.write_bytes(release.to_bytes())
    read = Release.from_bytes(path.read_bytes())
    assert read.plan == plan
    assert np.array_equal(read.cells(), counts)
    assert leaves / 4 < path.stat().st_size - 8 * leaves < MAX_HEADER


def uneven_partition(leaves: int) -> hp.Partition:
    """A partition of so many leaves: cells of two levels, and one path to level 40."""
    level = (leaves - 42).bit_length()
    path = [*range(level + 1, 41), 40]
    rest = leaves - len(path)  # leaves of the two levels
    shallow = 2**level - 1 - rest
    partition = hp.Partition(np.array([level - 1] * shallow + [level] * (rest - shallow) + path))
    assert partition.size == leaves
    return partition


def wide_domain(characters: int) -> hp.Domain:
    return hp.Categories([f"{number:09}" for number in range(characters // 13)])


def test_domain_beyond_limit_is_refused_with_the_plan() -> None:
    settings: dict[str, Any] = {"epsilon": 1, "budgets": {3: 1}, "exact_depth": 3}
    assert hp.Plan(wide_domain(MAX_DOMAIN_TEXT - 200), **settings).nbytes == 64
    with pytest.raises(hp.PlanError, match="at most 1,048,576 characters, got"):
        hp.Plan(wide_domain(MAX_DOMAIN_TEXT + 200), **settings)
    with pytest.raises(hp.PlanError, match="declare fewer"):
        hp.Plan.auto(wide_domain(MAX_DOMAIN_TEXT + 200), epsilon=1, expected_records=1e6)


def test_longest_domain_and_partition_fit_a_header() -> None:
    """In JSON a text is at most twice as long as in Python, and a leaf has a third of a byte."""
    assert 2 * MAX_DOMAIN_TEXT + 2**16 < MAX_HEADER
    assert 2 * MAX_LEAVES / 6 < 8 * MAX_LEAVES / 16


@pytest.mark.parametrize("item", [b"{}", *(pytest.param(item, marks=pytest.mark.slow) for item in (b"[0]", b"[]"))])
def test_memory_for_longest_header(item: bytes) -> None:
    """A header of many small values takes at most 40 times its bytes."""
    data = forge(b'{"plan":[' + item + (b"," + item) * ((MAX_HEADER - 32) // (len(item) + 1)) + b"]}")
    assert peak_memory(data) < 40 * MAX_HEADER


@pytest.mark.parametrize("letter", ["/", "A", "V"])
def test_memory_for_hostile_partition(letter: str) -> None:
    """Bits that are all 1 split every cell; with another number of bits than nodes, no cell is made."""
    text = letter * (MAX_HEADER // 8 * 7)
    data = forge({"plan": PLAN.spec() | {"partition": text}}, body=bytes(PLAN.nbytes))
    assert peak_memory(data) < 16 * MAX_HEADER


def peak_memory(data: bytes) -> int:
    """Memory for refusing a file."""
    tracemalloc.start()
    try:
        refusal(data, RELEASE)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

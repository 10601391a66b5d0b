"""Splits and shrinkage of a refinement, for given noisy counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privhp import Interval, Plan
from privhp.collect.refinement import Refinement
from privhp.core.cells import Counts
from privhp.planning.partition import Partition
from privhp.planning.refinement_schedule import RefinementSchedule

LEVEL, ROOTS = 6, 64
FIRST, SECOND, RECORDS = 1000, 2000, 100_000


def plan_of(slots: int, *, moments: tuple[int, ...] = (FIRST,), min_child_records: int = 10) -> Plan:
    return Plan(
        Interval(0, 1),
        epsilon=2,
        budgets={2: 1, LEVEL: 1},
        exact_depth=2,
        learned=RefinementSchedule(slots=slots, refinement_rows=moments, min_child_records=min_child_records),
        inference="least-squares",
        expected_records=RECORDS,
        neighbours="zero-out",
    )


def start(plan: Plan, counts: Counts) -> Partition:
    assert plan.learned is not None
    slots = np.zeros(plan.learned.slots, dtype=np.int64)
    slots[:ROOTS] = counts
    return Partition(LEVEL, slots)


def refine(plan: Plan, partition: Partition, *, rows: int, chunk: int = 2**31) -> Counts:
    """Split as a summary does, without noise; number of levels of each split, in the order of codes."""
    refinement = Refinement(plan, partition, rows=rows, chunk=chunk)
    partition.refinements += 1
    found: dict[tuple[int, int], int] = {}
    for cells in partition.leaves(chunk):
        levels = refinement.levels(cells)
        partition.split(cells, levels)
        found |= {
            (code << (20 - cells.level), cells.level): level
            for code, level in zip(cells.codes.tolist(), levels.tolist(), strict=True)
        }
    return np.array([found[key] for key in sorted(found)])


@given(counts=st.lists(st.integers(-50, 5000), min_size=ROOTS, max_size=ROOTS), slots=st.integers(ROOTS, 600))
def test_splits_fit_the_slots(counts: list[int], slots: int) -> None:
    plan = plan_of(slots, moments=(FIRST, SECOND))
    partition = start(plan, np.array(counts))
    for rows in (FIRST, SECOND):
        refine(plan, partition, rows=rows)
        assert partition.used <= slots
        partition.slots[:ROOTS] += np.where(partition.slots[:ROOTS] < 0, 0, 7)


@pytest.mark.parametrize("chunk", [1, 16, 64, 2**31])
def test_splits_of_equal_gain_are_spread_evenly(chunk: int) -> None:
    """A split takes three slots, so 20 of 64 splits fit."""
    plan = plan_of(ROOTS + 3 * 20, min_child_records=200)
    cut = refine(plan, start(plan, np.full(ROOTS, 1000)), rows=FIRST, chunk=chunk)
    places = np.flatnonzero(cut)
    assert cut.sum() == places.size == 20
    assert set(np.diff(places).tolist()) <= {3, 4}


def partition_after_first_refinement(plan: Plan, *, came: int) -> tuple[Partition, set[int]]:
    """A partition whose first eight cells had all records and were split, with `came` records in the next epoch."""
    partition = start(plan, np.where(np.arange(ROOTS) < 8, 100, 0))
    cut = np.flatnonzero(refine(plan, partition, rows=FIRST))
    for parents in partition.parents(2**31):
        partition.slots[parents.cells.slots + 1] = came
    return partition, set(cut.tolist())


def test_empty_cells_are_not_split() -> None:
    plan = plan_of(2000, moments=(FIRST, SECOND))
    partition, first = partition_after_first_refinement(plan, came=100)
    assert first == set(range(8))
    refine(plan, partition, rows=SECOND)
    assert not np.any(partition.slots[8:ROOTS])


def test_wrong_prediction_splits_uniformly() -> None:
    plan = plan_of(2000, moments=(FIRST, SECOND))
    partition, _ = partition_after_first_refinement(plan, came=0)
    partition.slots[8:12] += 250
    refine(plan, partition, rows=SECOND)
    assert (partition.slots[8:ROOTS] < 0).all()


def test_short_epoch_does_not_change_prediction() -> None:
    plan = plan_of(2000, moments=(FIRST, FIRST + 1))
    partition, _ = partition_after_first_refinement(plan, came=0)
    refine(plan, partition, rows=FIRST + 1)
    assert not np.any(partition.slots[8:ROOTS])


def test_partition_without_free_slots_is_not_split() -> None:
    """Three quarters of the slots are used, and the share so far is half; files may contain such a partition."""
    plan = plan_of(4 * ROOTS, moments=(FIRST, SECOND, 2 * SECOND))
    partition = start(plan, np.full(ROOTS, 1000))
    partition.used = 3 * ROOTS
    assert not refine(plan, partition, rows=FIRST).any()


def shrunk(counts: list[int], *, chunk: int = 2**31) -> list[int]:
    """Shrunk counts of adjacent cells."""
    plan = plan_of(600)
    partition = start(plan, np.array(counts))
    refinement = Refinement(plan, partition, rows=FIRST, chunk=chunk)
    return [
        count
        for cells in partition.leaves(chunk)
        for count in refinement.shrink(cells, partition.slots[cells.slots]).tolist()
    ]


def test_shrinkage_of_equal_counts() -> None:
    """The noise has a standard deviation of 1.4."""
    assert shrunk([99, 101] * 32) == [100] * ROOTS


def test_shrinkage_of_different_counts() -> None:
    counts = [0, 5000] * 32
    assert shrunk(counts) == counts


def test_james_stein_factor() -> None:
    """Sum of squares 32 x 4 x 4 and variance 2: the factor is 1 - (32 - 3) x 2 / 512."""
    kept = 1 - 29 * 2 / (32 * 4**2)
    assert shrunk([96, 104] * 32) == [round(100 - 4 * kept), round(100 + 4 * kept)] * 32


@given(counts=st.lists(st.integers(-50, 5000), min_size=ROOTS, max_size=ROOTS))
def test_shrinkage_keeps_sum_and_range(counts: list[int]) -> None:
    for half in (slice(0, 32), slice(32, 64)):
        before, after = counts[half], shrunk(counts)[half]
        assert abs(sum(before) - sum(after)) <= 16
        assert min(before) <= min(after) <= max(after) <= max(before)


@given(counts=st.lists(st.integers(-50, 50), min_size=ROOTS, max_size=ROOTS))
def test_shrinkage_of_small_groups(counts: list[int]) -> None:
    """Cells are grouped within a chunk; groups of three or fewer are not shrunk."""
    assert shrunk(counts, chunk=32) == shrunk(counts)
    assert shrunk(counts, chunk=3) == counts

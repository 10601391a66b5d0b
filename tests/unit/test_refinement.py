"""Which cells a refinement cuts, by chosen noisy counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privhp import Interval, Plan
from privhp.collect.refinement import Refinement
from privhp.core.cells import Counts
from privhp.planning.growth import Growth
from privhp.planning.partition import Partition

LEVEL, ROOTS = 6, 64
FIRST, SECOND, RECORDS = 1000, 2000, 100_000


def plan_of(slots: int, *, moments: tuple[int, ...] = (FIRST,), least: int = 10) -> Plan:
    return Plan(
        Interval(0, 1),
        epsilon=2,
        budgets={2: 1, LEVEL: 1},
        exact_depth=2,
        growth=Growth(slots=slots, refined_after=moments, least=least),
        inference="least-squares",
        expected_records=RECORDS,
        neighbours="zero-out",
    )


def start(plan: Plan, counts: Counts) -> Partition:
    assert plan.growth is not None
    slots = np.zeros(plan.growth.slots, dtype=np.int64)
    slots[:ROOTS] = counts
    return Partition(LEVEL, slots)


def refine(plan: Plan, partition: Partition, *, rows: int, chunk: int = 2**31) -> Counts:
    """Cut as a summary does, without noise; by how many levels each cell was cut, in the order of codes."""
    refinement = Refinement(plan, partition, rows=rows, chunk=chunk)
    partition.refinements += 1
    found: dict[tuple[int, int], int] = {}
    for cells in partition.counted(chunk):
        levels = refinement.levels(cells)
        partition.cut(cells, levels)
        found |= {
            (code << (20 - cells.level), cells.level): level
            for code, level in zip(cells.codes.tolist(), levels.tolist(), strict=True)
        }
    return np.array([found[key] for key in sorted(found)])


@given(counts=st.lists(st.integers(-50, 5000), min_size=ROOTS, max_size=ROOTS), slots=st.integers(ROOTS, 600))
def test_cuts_take_no_more_slots_than_there_are(counts: list[int], slots: int) -> None:
    plan = plan_of(slots, moments=(FIRST, SECOND))
    partition = start(plan, np.array(counts))
    for rows in (FIRST, SECOND):
        refine(plan, partition, rows=rows)
        assert partition.used <= slots
        partition.slots[:ROOTS] += np.where(partition.slots[:ROOTS] < 0, 0, 7)


@pytest.mark.parametrize("chunk", [1, 16, 64, 2**31])
def test_of_cuts_that_promise_alike_as_many_are_made_as_fit_evenly_spread(chunk: int) -> None:
    """Two parts and a slot for what was counted: there is room for 20 such cuts among 64."""
    plan = plan_of(ROOTS + 3 * 20, least=200)
    cut = refine(plan, start(plan, np.full(ROOTS, 1000)), rows=FIRST, chunk=chunk)
    places = np.flatnonzero(cut)
    assert cut.sum() == places.size == 20
    assert set(np.diff(places).tolist()) <= {3, 4}


def after_a_first_cut(plan: Plan, *, came: int) -> tuple[Partition, set[int]]:
    """A partition whose first eight cells had all records and were cut, with what came there in the next stretch."""
    partition = start(plan, np.where(np.arange(ROOTS) < 8, 100, 0))
    cut = np.flatnonzero(refine(plan, partition, rows=FIRST))
    for parents in partition.parents(2**31):
        partition.slots[parents.cells.slots + 1] = came
    return partition, set(cut.tolist())


def test_where_records_came_as_foreseen_empty_cells_stay_whole() -> None:
    plan = plan_of(2000, moments=(FIRST, SECOND))
    partition, first = after_a_first_cut(plan, came=100)
    assert first == set(range(8))
    refine(plan, partition, rows=SECOND)
    assert not np.any(partition.slots[8:ROOTS])


def test_where_records_left_the_cells_that_were_cut_all_others_are_cut_alike() -> None:
    plan = plan_of(2000, moments=(FIRST, SECOND))
    partition, _ = after_a_first_cut(plan, came=0)
    partition.slots[8:12] += 250
    refine(plan, partition, rows=SECOND)
    assert (partition.slots[8:ROOTS] < 0).all()


def test_a_stretch_too_short_to_tell_says_nothing_against_what_was_foreseen() -> None:
    plan = plan_of(2000, moments=(FIRST, FIRST + 1))
    partition, _ = after_a_first_cut(plan, came=0)
    refine(plan, partition, rows=FIRST + 1)
    assert not np.any(partition.slots[8:ROOTS])


def test_a_partition_that_is_fuller_than_its_share_is_not_cut() -> None:
    """Files may hold such a one; three quarters of its slots are used where a half would be its share."""
    plan = plan_of(4 * ROOTS, moments=(FIRST, SECOND, 2 * SECOND))
    partition = start(plan, np.full(ROOTS, 1000))
    partition.used = 3 * ROOTS
    assert not refine(plan, partition, rows=FIRST).any()


def shrunk(counts: list[int], *, chunk: int = 2**31) -> list[int]:
    """What a refinement makes of the counts of cells that lie one after the other."""
    plan = plan_of(600)
    partition = start(plan, np.array(counts))
    refinement = Refinement(plan, partition, rows=FIRST, chunk=chunk)
    return [
        count
        for cells in partition.counted(chunk)
        for count in refinement.shrink(cells, partition.slots[cells.slots]).tolist()
    ]


def test_neighbours_that_differ_by_noise_alone_have_their_mean() -> None:
    """The noise has a standard deviation of 1.4."""
    assert shrunk([99, 101] * 32) == [100] * ROOTS


def test_neighbours_that_differ_by_far_more_than_noise_stay() -> None:
    counts = [0, 5000] * 32
    assert shrunk(counts) == counts


def test_counts_are_drawn_to_their_mean_by_the_rule_of_james_and_stein() -> None:
    """A spread of 32 x 4 x 4 and a variance of 2, of which 32 - 3 are taken off."""
    kept = 1 - 29 * 2 / (32 * 4**2)
    assert shrunk([96, 104] * 32) == [round(100 - 4 * kept), round(100 + 4 * kept)] * 32


@given(counts=st.lists(st.integers(-50, 5000), min_size=ROOTS, max_size=ROOTS))
def test_sums_of_neighbours_stay_and_no_count_leaves_their_range(counts: list[int]) -> None:
    for half in (slice(0, 32), slice(32, 64)):
        before, after = counts[half], shrunk(counts)[half]
        assert abs(sum(before) - sum(after)) <= 16
        assert min(before) <= min(after) <= max(after) <= max(before)


@given(counts=st.lists(st.integers(-50, 50), min_size=ROOTS, max_size=ROOTS))
def test_neighbours_are_those_of_one_piece(counts: list[int]) -> None:
    """Whatever the pieces: few cells are drawn to a mean of few, and three or less not at all."""
    assert shrunk(counts, chunk=32) == shrunk(counts)
    assert shrunk(counts, chunk=3) == counts

"""Tallies: counting, merging, bytes and refused operations."""

import copy
import pickle

import numpy as np
import pytest

import reference
from privhp import Box, DomainError, Integers, Interval, Plan, PlanError, RecordsError, StateError, Summary, Tally
from privhp.collect.life_cycle import State
from privhp.collect.tally import _MAX_BLOCK_ROWS


def small_plan(**changes: object) -> Plan:
    settings = {"epsilon": 1, "expected_records": 100, "hot_cells": 2, "exact_depth": 2, "depth": 4, "hash_seed": 7}
    return Plan.paper(Interval(0, 1), **{**settings, **changes})


def cells_of(tally: Tally) -> list[int]:
    return np.concatenate([counts.ravel() for counts in tally.by_level().values()]).tolist()


def test_new_tally() -> None:
    plan = small_plan()
    tally = Tally(plan)
    assert tally.counters.shape == (4,)
    assert list(tally.sketches) == [3, 4]
    assert all(table.shape == (plan.sketch_rows, plan.sketch_width) for table in tally.sketches.values())
    assert not any(cells_of(tally))


def test_increments_of_one_record() -> None:
    plan = small_plan()
    tally = Tally(plan)
    tally.add([0.3])
    bucket = reference.hash_of(plan)
    assert tally.counters.tolist() == [0, 1, 0, 0]
    for level, cell in ((3, 2), (4, 4)):
        touched = [(row, bucket(level, row, cell)) for row in range(plan.sketch_rows)]
        assert list(zip(*np.nonzero(tally.sketches[level]), strict=True)) == touched
        assert tally.sketches[level].sum() == plan.sketch_rows


def test_records_without_cell_are_skipped() -> None:
    tally = Tally(small_plan())
    tally.add([-0.1, 1.1, float("nan"), "text", None])
    assert not any(cells_of(tally))


def test_batch_longer_than_block() -> None:
    tally, twice = Tally(small_plan()), Tally(small_plan())
    batch = np.random.default_rng(0).random(2 * _MAX_BLOCK_ROWS + 3)
    tally.add(batch)
    twice.add(batch, counts=np.full(batch.size, 2))
    assert tally.counters.tolist() == np.histogram(batch, bins=4, range=(0, 1))[0].tolist()
    assert [2 * count for count in cells_of(tally)] == cells_of(twice)


@pytest.mark.parametrize(
    ("records", "counts"),
    [
        (0.5, None),
        ("0.5", None),
        (np.zeros((2, 2)), None),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), None),
        ([0.1, 0.2], [1]),
        ([0.1, 0.2], np.array([1j, 2])),
        ([0.1, 0.2], [[1, 2]]),
        ([0.1, 0.2], 3),
    ],
)
def test_refused_batch_changes_nothing(records: object, counts: object) -> None:
    tally = Tally(small_plan())
    tally.add([0.1, 0.9])
    before = cells_of(tally)
    with pytest.raises(RecordsError, match="expected"):
        tally.add(records, counts=counts)
    assert cells_of(tally) == before


def test_counters_wrap_around() -> None:
    tally = Tally(small_plan())
    for _ in range(2):
        tally.add([0.0], counts=[2**63 - 1])
    assert tally.counters[0] == -2
    other = Tally(tally.plan)
    other.add([0.0], counts=[2**63 - 1])
    tally.merge(other)
    assert tally.counters[0] == 2**63 - 3


def test_merge_adds_counts_and_ids() -> None:
    one, two = Tally(small_plan()), Tally(small_plan())
    one.add([0.1])
    two.add([0.1, 0.9])
    one.merge(two)
    assert one.counters.tolist() == [2, 0, 0, 1]
    assert one.merged_ids > two.merged_ids


def test_merged_tally_shares_no_memory() -> None:
    one, two = Tally(small_plan()), Tally(small_plan())
    one.merge(two)
    two.add([0.5])
    assert not any(cells_of(one))


@pytest.mark.parametrize(
    "plan",
    [
        small_plan(hash_seed=8),
        small_plan(epsilon=2),
        small_plan(hot_cells=3),
        small_plan(expand="all"),
        small_plan(neighbours="replace-one"),
        Plan.paper(Interval(0, 2), epsilon=1, expected_records=100, hot_cells=2, exact_depth=2, depth=4, hash_seed=7),
    ],
)
def test_other_plan_is_refused(plan: Plan) -> None:
    tally, other = Tally(small_plan()), Tally(plan)
    other.add([0.5])
    with pytest.raises(StateError, match="the plans differ"):
        tally.merge(other)
    assert not any(cells_of(tally))


def test_tally_is_merged_once() -> None:
    tally, part, whole = (Tally(small_plan()) for _ in range(3))
    part.add([0.5])
    whole.merge(part)
    tally.merge(part)
    before = cells_of(tally)
    for again in (tally, part, whole, copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        with pytest.raises(StateError, match="twice"):
            tally.merge(again)
    assert cells_of(tally) == before


def test_tally_pickles() -> None:
    tally = Tally(small_plan())
    tally.add([0.1, 0.2, 0.9])
    there = pickle.loads(pickle.dumps(tally))
    there.add([0.5])
    tally.add([0.5])
    assert there.plan == tally.plan
    assert there.merged_ids == tally.merged_ids
    assert cells_of(there) == cells_of(tally)


def test_bytes_round_trip() -> None:
    tally, absorbing = Tally(small_plan()), Summary(small_plan())
    tally.add([0.1, 0.2, 0.9])
    other = Tally.from_bytes(tally.to_bytes())
    assert other.plan == tally.plan
    assert other.merged_ids == tally.merged_ids
    assert cells_of(other) == cells_of(tally)
    assert other.to_bytes() == tally.to_bytes()
    absorbing.absorb(other)
    other.add([0.5])
    for again in (tally, other, Tally.from_bytes(tally.to_bytes())):
        with pytest.raises(StateError, match="twice"):
            absorbing.absorb(again)


def test_plan_without_its_partition_is_refused() -> None:
    plan = Plan.auto(Interval(0, 1), epsilon=1, expected_records=300_000, passes=2)
    assert plan.learning is not None
    for kind in (Tally, Summary):
        with pytest.raises(PlanError, match=r"learns its partition before .*fit.* passes=1"):
            kind(plan)


def test_bytes_of_unfinished_tally_are_refused() -> None:
    tally = Tally(small_plan())
    with pytest.raises(KeyboardInterrupt), tally.life.updating():
        raise KeyboardInterrupt
    assert tally.life.state is State.UNFINISHED
    with pytest.raises(StateError, match="part of a batch is counted"):
        tally.to_bytes()


@pytest.mark.parametrize("domain", [Integers(0, 4), Box([(0, 1), (0, 1)])])
def test_empty_batch(domain: Integers | Box) -> None:
    tally = Tally(Plan.paper(domain, epsilon=1, expected_records=100, hot_cells=2, exact_depth=2))
    tally.add([])
    assert not any(cells_of(tally))


@pytest.mark.parametrize(
    ("threads", "step"), [(1, "privhp.kernels.count_codes"), (2, "privhp.collect.tally.Tally.add_counts")]
)
def test_interrupted_batch_ends_counting(threads: int, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    half, whole, steps = Tally(small_plan()), Tally(small_plan()), iter(["done", KeyboardInterrupt])

    def second_time_unlucky(*_: object, **__: object) -> None:
        if (outcome := next(steps)) != "done":
            raise outcome

    with monkeypatch.context() as patch:
        patch.setattr(step, second_time_unlucky)
        with pytest.raises(KeyboardInterrupt):
            half.add(np.zeros(_MAX_BLOCK_ROWS + 1), threads=threads)
    for use in (
        lambda: half.add([0.5]),
        lambda: half.add(np.zeros(9), threads=2),
        lambda: whole.merge(half),
        lambda: pickle.dumps(half),
    ):
        with pytest.raises(StateError, match="part of a batch is counted"):
            use()
    assert not any(cells_of(whole))
    assert whole.merged_ids.isdisjoint(half.merged_ids)


def test_batch_within_a_batch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that holds the lock could enter again, from a signal handler for example."""
    tally = Tally(small_plan())

    def meanwhile(*_: object, **__: object) -> None:
        with pytest.raises(StateError, match="part of a batch is counted"):
            tally.add([0.5])

    with monkeypatch.context() as patch:
        patch.setattr("privhp.kernels.count_codes", meanwhile)
        tally.add([0.1])
    tally.add([0.1])
    assert tally.counters.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("codes", [np.zeros(2), np.zeros(2, dtype=np.int64), np.zeros((2, 1), dtype=np.uint64)])
def test_invalid_codes_of_domain_are_refused(codes: object, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally(small_plan())
    with monkeypatch.context() as patch:
        patch.setattr(Interval, "encode", lambda self, records, *, level: codes)
        with pytest.raises(DomainError, match="check_domain"):
            tally.add([0.1, 0.2])
    tally.add([0.1])
    assert tally.counters.tolist() == [1, 0, 0, 0]

"""Summaries: noise before records, one release, refused operations."""

import copy
import os
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import privhp
from privhp import Generator, Interval, Plan, RecordsError, StateError, Summary, Tally
from privhp.collect.noise import discrete_laplace
from privhp.collect.summary import restore_summary
from privhp.core.cells import Counts, fold

BATCH = np.linspace(0, 1, 50)


def small_plan(**changes: object) -> Plan:
    settings = {"epsilon": 1, "expected_records": 100, "hot_cells": 2, "exact_depth": 3, "depth": 5, "hash_seed": 7}
    return Plan.paper(Interval(0, 1), **{**settings, **changes})


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[Counts]:
    """All noise draws of a test, in order."""
    drawn: list[Counts] = []

    def spy(size: int, *, scale: Fraction) -> Counts:
        drawn.append(discrete_laplace(size, scale=scale))
        return drawn[-1].copy()

    monkeypatch.setattr("privhp.collect.noisy_counters.discrete_laplace", spy)
    return drawn


def test_each_level_has_independent_noise(draws: list[Counts]) -> None:
    """The noise of a coarser level is its draw, not a sum of finer noise."""
    plan = small_plan()
    summary = Summary(plan)
    assert sorted(drawn.size for drawn in draws) == sorted(int(np.prod(shape)) for shape in plan.shapes.values())
    summary.update(BATCH)
    counts = summary.release().release.counts
    tally = Tally(plan)
    tally.add(BATCH)
    exact = {level: fold(tally.counters, levels=plan.exact_depth - level) for level in plan.exact_levels}
    noise = {level: (counts[level] - true).ravel().tolist() for level, true in (exact | tally.sketches).items()}
    assert sorted(noise.values()) == sorted(drawn.tolist() for drawn in draws)
    assert all(len(noise[level]) == 2**level for level in plan.exact_levels)


def test_no_draws_after_first_record(draws: list[Counts]) -> None:
    summary = Summary(small_plan())
    before = len(draws)
    summary.update(BATCH)
    summary.release().sample(10)
    assert len(draws) == before


def test_size_of_state() -> None:
    plan = small_plan()
    summary = Summary(plan)
    cells = sum(2**level for level in range(4)) + 2 * plan.sketch_rows * plan.sketch_width
    assert summary.nbytes == plan.nbytes == 8 * cells
    assert summary.state().dtype == np.int64
    assert summary.state().size == plan.counters == cells
    assert summary.release().release.cells().size == cells


def test_state_is_copy() -> None:
    summary = Summary(small_plan())
    state = summary.state()
    summary.state()[:] = 0
    assert np.array_equal(summary.state(), state)


def test_state_round_trip() -> None:
    summary = Summary(small_plan())
    summary.update(BATCH[:20])
    twin = restore_summary(summary.plan, summary.state(), summary.merged_ids)
    for each in (summary, twin):
        each.update(BATCH[20:])
    assert twin.merged_ids == summary.merged_ids
    assert twin.nbytes == summary.nbytes
    assert np.array_equal(twin.state(), summary.state())
    assert twin.release().release == summary.release().release


@pytest.mark.parametrize(
    "use",
    [
        lambda summary, _: summary.update([0.5]),
        lambda summary, _: summary.absorb(Tally(summary.plan)),
        lambda summary, _: summary.merge(Summary(summary.plan)),
        lambda summary, _: Summary(summary.plan).merge(summary),
        lambda summary, _: summary.release(),
        lambda summary, _: summary.state(),
        lambda summary, folder: privhp.save(summary, folder / "state"),
    ],
    ids=["update", "absorb", "merge", "merged", "release", "state", "save"],
)
@pytest.mark.parametrize("end", ["released", "merged"])
def test_closed_summary_refuses(use: Callable[[Summary, Path], object], end: str, tmp_path: Path) -> None:
    summary = Summary(small_plan())
    assert not summary.closed
    if end == "released":
        summary.release()
    else:
        Summary(summary.plan).merge(summary)
    assert summary.closed
    with pytest.raises(StateError, match=r"closed.*new summary"):
        use(summary, tmp_path)
    assert not list(tmp_path.iterdir())


def test_merge_refuses_other_plan() -> None:
    summary = Summary(small_plan())
    before = summary.state()
    for plan in (small_plan(hash_seed=8), small_plan(epsilon="1/2"), small_plan(depth=4)):
        other = Summary(plan)
        with pytest.raises(StateError, match="the plans differ"):
            summary.merge(other)
        with pytest.raises(StateError, match="the plans differ"):
            summary.absorb(Tally(plan))
        assert not other.closed
    assert np.array_equal(summary.state(), before)
    assert not summary.closed


def test_merge_refuses_included_counts() -> None:
    summary, tally = Summary(small_plan()), Tally(small_plan())
    tally.add(BATCH)
    summary.absorb(tally)
    fork = restore_summary(summary.plan, summary.state(), summary.merged_ids)
    other = Summary(summary.plan)
    other.absorb(tally)
    before = summary.state()
    for part in (summary, fork, other):
        with pytest.raises(StateError, match="twice"):
            summary.merge(part)
        assert not part.closed
    with pytest.raises(StateError, match="twice"):
        summary.absorb(tally)
    assert np.array_equal(summary.state(), before)


def test_merge_refuses_other_types() -> None:
    summary = Summary(small_plan())
    with pytest.raises(StateError, match=r"expected a Tally.*merge"):
        summary.absorb(Summary(summary.plan))
    with pytest.raises(StateError, match=r"expected a Summary.*absorb"):
        summary.merge(Tally(summary.plan))


def test_merge_keeps_ids() -> None:
    one, two = Summary(small_plan()), Summary(small_plan())
    names = one.merged_ids | two.merged_ids
    one.merge(two)
    assert one.merged_ids == names
    assert len(names) == 2


@pytest.mark.parametrize("records", [0.5, "text", np.zeros((3, 2)), np.zeros(3, dtype=complex)])
def test_refused_batch_changes_nothing(records: object) -> None:
    summary = Summary(small_plan())
    before = summary.state()
    with pytest.raises(RecordsError):
        summary.update(records)
    with pytest.raises(RecordsError):
        summary.update(BATCH, counts=[1])
    assert np.array_equal(summary.state(), before)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_refused(duplicate: Callable[[Summary], object]) -> None:
    with pytest.raises(StateError, match="noise"):
        duplicate(Summary(small_plan()))


def test_counters_wrap_around() -> None:
    plan = Plan(Interval(0, 1), epsilon=1, budgets={0: "1/2", 1: "1/2"}, exact_depth=1)
    summary = Summary(plan)
    before = summary.state().tolist()
    for _ in range(2):
        summary.update([0.0], counts=[2**63 - 1])
    state = summary.state()
    assert state.tolist() == [before[0], before[1] - 2, before[2]]
    assert isinstance(summary.release(), Generator)


def test_repr_is_independent_of_records() -> None:
    summary, empty = Summary(small_plan()), Summary(small_plan())
    summary.update(BATCH)
    assert repr(summary) == repr(empty)


@pytest.mark.parametrize("look", [lambda s: s.update([0.5]), lambda s: s.release(), lambda s: s.state()])
def test_forked_process_refuses_summary(look: Callable[[Summary], object]) -> None:
    """In the child process the noise would be used a second time."""
    summary = Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=100, hot_cells=2))
    child = os.fork()
    if child == 0:
        try:
            look(summary)
        except StateError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    look(summary)

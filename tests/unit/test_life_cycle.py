"""Locks of tallies and summaries: threads wait for each other, and nothing is counted twice."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from privhp import Integers, Plan, StateError, Summary, Tally
from privhp.collect.life_cycle import LifeCycle, State

PLAN = Plan(Integers(0, 7), epsilon=1, budgets={3: 1}, exact_depth=3)
TRIALS = 2000


@pytest.fixture(autouse=True)
def no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "privhp.collect.noisy_counters.discrete_laplace", lambda size, *, scale: np.zeros(size, dtype=np.int64)
    )


@pytest.fixture
def busy_threads() -> Iterator[None]:
    """Threads that change as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*actions: Callable[[], object]) -> list[StateError]:
    """Start all actions at the same time in threads; the refusals."""
    start, refused = threading.Barrier(len(actions)), []

    def run(action: Callable[[], object]) -> None:
        start.wait()
        try:
            action()
        except StateError as error:
            refused.append(error)

    threads = [threading.Thread(target=run, args=(action,), daemon=True) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "two threads wait for each other"
    return refused


def count(summary: Summary) -> int:
    return int(summary.release().release.counts[3].sum())


def five_updates(summary: Summary) -> None:
    for _ in range(5):
        summary.update(np.arange(8))


@pytest.mark.usefixtures("busy_threads")
def test_threads_update_one_summary() -> None:
    for _ in range(100):
        summary = Summary(PLAN)
        assert not in_threads(*[partial(five_updates, summary)] * 2)
        assert count(summary) == 2 * 5 * 8


def absorbed_twice(trials: int) -> int:
    """In how many trials two threads do not absorb a tally exactly once."""
    tally, wrong = Tally(PLAN), 0
    tally.add([1, 2, 3])
    for _ in range(trials):
        summary = Summary(PLAN)
        refused = in_threads(*[partial(summary.absorb, tally)] * 2)
        wrong += len(refused) != 1 or count(summary) != 3
    return wrong


@pytest.mark.usefixtures("busy_threads")
def test_threads_absorb_one_tally_once() -> None:
    assert absorbed_twice(TRIALS) == 0


@pytest.mark.usefixtures("busy_threads")
def test_absorbing_without_a_lock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: the same trials find a life cycle whose lock is open."""

    @contextlib.contextmanager
    def unlocked(life: LifeCycle, *others: LifeCycle) -> Iterator[None]:
        yield

    monkeypatch.setattr(LifeCycle, "locked", unlocked)
    assert any(absorbed_twice(TRIALS // 10) for _ in range(50))


def release_into(released: list[int], summary: Summary) -> None:
    released.append(count(summary))


@pytest.mark.usefixtures("busy_threads")
def test_release_while_another_thread_updates() -> None:
    """An update is in the release as a whole, or refused."""
    for _ in range(300):
        summary, released = Summary(PLAN), list[int]()
        in_threads(partial(summary.update, np.arange(8)), partial(release_into, released, summary))
        assert released in ([0], [8])


@pytest.mark.usefixtures("busy_threads")
def test_two_summaries_merged_into_each_other() -> None:
    """One of the two merges is refused, and no thread waits for ever."""
    for _ in range(300):
        one, two = Summary(PLAN), Summary(PLAN)
        one.update([1])
        two.update([2])
        refused = in_threads(partial(one.merge, two), partial(two.merge, one))
        assert len(refused) == 1
        assert one.closed != two.closed
        assert count(two if one.closed else one) == 2


@pytest.mark.usefixtures("busy_threads")
def test_tallies_merged_in_a_circle() -> None:
    """Each merge happens as a whole, before or after the others; none waits for ever."""
    for _ in range(100):
        tallies = [Tally(PLAN) for _ in range(3)]
        for tally in tallies:
            tally.add([1])
        pairs = [(tallies[place], tallies[(place + 1) % 3]) for place in range(3)]
        in_threads(*[partial(one.merge, other) for one, other in pairs])
        for tally in tallies:
            assert tally.counters.sum() == len(tally.merged_ids)


def test_summary_merged_with_itself() -> None:
    summary = Summary(PLAN)
    with pytest.raises(StateError, match="twice"):
        summary.merge(summary)
    assert not summary.closed


@pytest.mark.parametrize(
    "use",
    [
        lambda summary: summary.update([1]),
        lambda summary: summary.absorb(Tally(PLAN)),
        lambda summary: summary.merge(Summary(PLAN)),
        lambda summary: Summary(PLAN).merge(summary),
        lambda summary: summary.state(),
        lambda summary: summary.release(),
        lambda summary: summary.close(),
    ],
    ids=["update", "absorb", "merge", "merged", "state", "release", "close"],
)
@pytest.mark.parametrize("step", ["privhp.kernels.count_codes", "privhp.collect.tally.Tally.add_counts"])
def test_interrupted_summary_refuses_everything(use: Any, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release would depend on the number of rows before the interruption."""
    summary = Summary(PLAN)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    count_some = partial(summary.absorb, Tally(PLAN)) if step.endswith("add_counts") else partial(summary.update, [1])
    with monkeypatch.context() as patch:
        patch.setattr(step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            count_some()
    assert summary._life.state is State.UNFINISHED
    assert not summary.closed
    with pytest.raises(StateError, match=r"part of a batch is counted.*checkpoint, or start again"):
        use(summary)


def test_interrupted_reading_leaves_the_state_open() -> None:
    """A batch that raises before it is counted has changed nothing."""
    summary = Summary(PLAN)

    def records() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        summary.update(records())
    summary.update([5])
    assert count(summary) == 1

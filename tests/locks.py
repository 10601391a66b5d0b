"""Checks of the locks of tallies and summaries that raise AssertionError."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import privhp.collect.tally
from learning_runs import no_noise
from privhp import Integers, Plan, StateError, Summary, Tally, kernels
from spies import record_draws


def threads_wait_for_each_other() -> None:
    """Of two threads that absorb one tally, one is refused; two updates of one summary happen one after the other."""
    plan = Plan(Integers(0, 7), epsilon=1, budgets={3: 1}, exact_depth=3)
    tally = Tally(plan)
    tally.add([1, 2, 3])
    with record_draws(no_noise):
        summary = Summary(plan)
    check, count = privhp.collect.tally.check_mergeable, kernels.count_codes
    meeting, inside, most = threading.Barrier(2), [0], [0]

    def meet(*tallies: Any) -> None:
        check(*tallies)
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(0.2)

    def counted(*arguments: Any, **details: Any) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(0.2)
        count(*arguments, **details)
        inside[0] -= 1

    with mock.patch.object(privhp.collect.tally, "check_mergeable", meet):
        refused = _in_two_threads(lambda: summary.absorb(tally))
    assert refused == 1, "two threads absorb one tally"
    meeting.reset()
    with mock.patch.object(kernels, "count_codes", counted):
        _in_two_threads(lambda: summary.update([5]))
    assert most[0] == 1, "two threads count in one summary at the same time"
    assert summary.close().counts[3].tolist() == [0, 1, 1, 1, 0, 2, 0, 0], "threads lose records or count them twice"


def _in_two_threads(action: Callable[[], None]) -> int:
    """Number of threads in which the action is refused."""
    refused: list[StateError] = []

    def attempt() -> None:
        try:
            action()
        except StateError as error:
            refused.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(refused)

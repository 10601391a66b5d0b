"""Micro-batches of a streaming query: each exactly once, whatever is repeated, reset or interrupted."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import privhp as hp
from learning_runs import no_noise, plan_of
from privhp.engines import PassFold
from privhp.engines.spark_stream import BatchCounter
from spies import record_draws

PLAN = hp.Plan.auto(hp.Integers(0, 9), epsilon=64, expected_records=100, memory=4096)


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with record_draws(no_noise):
        yield


def records(*values: int) -> Callable[[PassFold], list[bytes]]:
    return lambda fold: [fold.count([value]) for value in values]


def total(counter: BatchCounter) -> int:
    return round(float(counter.release().total))


def test_batches_and_repetitions(tmp_path: Path) -> None:
    path = tmp_path / "trips.state"
    for batch, repeat in itertools.product(range(3), range(2)):
        BatchCounter(path, PLAN).count("q", batch, records(1, 2, batch + repeat))
    assert total(BatchCounter(path, PLAN)) == 9


@pytest.mark.parametrize(("query", "batch"), [("q", 0), ("q", 1), ("q", 4), ("other", 0), ("other", 2), ("other", 3)])
def test_refresh_and_gap_are_refused(query: str, batch: int, tmp_path: Path) -> None:
    counter = BatchCounter(tmp_path / "trips.state", PLAN)
    for own in range(3):
        counter.count("q", own, records(1))
    before = (tmp_path / "trips.state").read_bytes()
    with pytest.raises(hp.StateError, match="counted twice"):
        counter.count(query, batch, records(1))
    assert (tmp_path / "trips.state").read_bytes() == before
    counter.count("q", 3, records(1))
    assert total(counter) == 4


def test_interrupted_batch_is_counted_once(tmp_path: Path) -> None:
    counter = BatchCounter(tmp_path / "trips.state", PLAN)

    def fail(fold: PassFold) -> Iterator[bytes]:
        yield fold.count([1])
        raise KeyboardInterrupt

    counter.count("q", 0, records(1))
    with pytest.raises(KeyboardInterrupt):
        counter.count("q", 1, fail)
    counter.count("q", 1, records(1, 1))
    assert total(counter) == 3


def test_release_begins_a_new_summary_after_the_last_batch(tmp_path: Path) -> None:
    counter = BatchCounter(tmp_path / "trips.state", PLAN)
    with pytest.raises(hp.StateError, match="no batch"):
        counter.release()
    counter.count("q", 0, records(1, 2))
    assert total(counter) == 2
    counter.count("q", 0, records(1, 2))  # repeated after the release
    counter.count("q", 1, records(1))
    assert total(counter) == 1
    with pytest.raises(hp.StateError, match="counted twice"):
        counter.count("refreshed", 0, records(1))


def test_plans(tmp_path: Path) -> None:
    path = tmp_path / "trips.state"
    with pytest.raises(hp.PlanError, match="learns its partition"):
        BatchCounter(path, plan_of())
    sketched = [hp.Plan.paper(hp.Interval(0, 1), epsilon=1, expected_records=10**6, hash_seed=seed) for seed in (1, 2)]
    BatchCounter(path, sketched[0]).count("q", 0, records(0))
    BatchCounter(path, sketched[1]).count("q", 1, records(1))  # of the same settings, drawn anew after a restart
    with pytest.raises(hp.StateError, match="another plan"):
        BatchCounter(path, PLAN).count("q", 2, records(1))
    assert total(BatchCounter(path, sketched[1])) == 2


def test_file_in_use_is_refused(tmp_path: Path) -> None:
    counter = BatchCounter(tmp_path / "trips.state", PLAN)
    counter.count("q", 0, records(1))

    def meanwhile(fold: PassFold) -> list[bytes]:
        with pytest.raises(hp.StateError, match="another process uses"):
            counter.count("q", 1, records(1))
        return [fold.count([1])]

    counter.count("q", 1, meanwhile)
    assert total(counter) == 2

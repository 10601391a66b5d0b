"""Declared sources of a summary: which numbers are counted, skipped and refused."""

import io
import json
import threading
from typing import Any

import numpy as np
import pytest

import privhp as hp
from delivery_checks import PLAN, counts_of
from learning_runs import no_noise
from privhp.collect.deliveries import MAX_SEQUENCE, MAX_SOURCES
from spies import record_draws


@pytest.fixture
def summary() -> Any:
    with record_draws(no_noise):
        return hp.Summary(PLAN, sources={"a": 3})


def test_batches_by_number(summary: hp.Summary) -> None:
    assert summary.update([1], source="a", sequence=3)
    assert not summary.update([1], source="a", sequence=3)
    assert summary.update([2], source="a", sequence=4)
    assert dict(summary.positions) == {"a": 5}
    assert counts_of(summary)[:4] == [0, 1, 1, 0]


@pytest.mark.parametrize("sequence", [5, range(4, 6), MAX_SEQUENCE - 1])
def test_gap_is_refused_without_numbers(summary: hp.Summary, sequence: Any) -> None:
    with pytest.raises(hp.StateError, match="missing before this one") as caught:
        summary.update([1, 2], source="a", sequence=sequence)
    assert not any(character.isdigit() for character in str(caught.value))
    assert dict(summary.positions) == {"a": 3}


def test_numbers_before_the_first_are_refused(summary: hp.Summary) -> None:
    with pytest.raises(hp.StateError, match="before the declared first number"):
        summary.update([1], source="a", sequence=2)


@pytest.mark.parametrize("records", [[1, 2], iter([1, 2, 3])])
def test_overlap_of_batches_that_are_not_numbered_by_record(summary: hp.Summary, records: Any) -> None:
    summary.update([9, 9], source="a", sequence=range(3, 5))
    with pytest.raises(hp.StateError, match="part of this batch"):
        summary.update([1, 2], source="a", sequence=range(4, 7))


def test_counts_and_threads_of_an_overlap(summary: hp.Summary) -> None:
    summary.update([1, 2], counts=[5, 6], source="a", sequence=range(3, 5))
    summary.update(np.array([2, 4, 5]), counts=[6, 7, 8], threads=2, source="a", sequence=range(4, 7))
    assert counts_of(summary)[:6] == [0, 5, 6, 0, 7, 8]


def test_every_batch_of_declared_sources_is_numbered(summary: hp.Summary) -> None:
    tally = hp.Tally(PLAN)
    for refused in (
        lambda: summary.update([1]),
        lambda: summary.update([1], sequence=3),
        lambda: summary.update([1], source="b", sequence=3),
        lambda: summary.absorb(tally),
        lambda: hp.Summary(PLAN).update([1], source="a", sequence=0),
        lambda: hp.Summary(PLAN).update([1], sequence=0),
    ):
        with pytest.raises(hp.StateError, match="source"):
            refused()


@pytest.mark.parametrize(
    "sequence", [None, True, -1, 1.0, "3", MAX_SEQUENCE, range(3, 9, 2), range(5, 3), range(-1, 4)]
)
def test_refused_numbers(summary: hp.Summary, sequence: Any) -> None:
    with pytest.raises(hp.StateError, match="sequence"):
        summary.update([1], source="a", sequence=sequence)


@pytest.mark.parametrize(
    "sources",
    [["a"], {"a": -1}, {"a": 1.5}, {7: 0}, {"": 0}, {"x" * 257: 0}, {str(n): 0 for n in range(MAX_SOURCES + 1)}],
)
def test_refused_sources(sources: Any) -> None:
    with pytest.raises(hp.StateError):
        hp.Summary(PLAN, sources=sources)


def test_part_of_a_tally_is_refused(summary: hp.Summary) -> None:
    summary.update([1, 2], source="a", sequence=range(3, 5))
    tally = hp.Tally(PLAN)
    tally.add([2, 3])
    with pytest.raises(hp.StateError, match="part of what this tally"):
        summary.absorb(tally, source="a", sequence=range(4, 6))


def test_file_holds_the_numbers(summary: hp.Summary) -> None:
    summary.update([1], source="a", sequence=3)
    file = io.BytesIO()
    hp.save(summary, file)
    header = file.getvalue()[16 : 16 + int.from_bytes(file.getvalue()[12:16], "little")]
    assert json.loads(header)["sources"] == {"a": [3, 4]}
    assert dict(hp.resume(io.BytesIO(file.getvalue())).positions) == {"a": 4}


def test_interrupted_batch_is_not_noted(summary: hp.Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("privhp.kernels.count_codes", interrupt)
    with pytest.raises(KeyboardInterrupt):
        summary.update([1], source="a", sequence=3)
    with pytest.raises(hp.StateError, match="interrupted"):
        hp.save(summary, io.BytesIO())


def test_threads_that_deliver_the_same_batch(summary: hp.Summary) -> None:
    workers = [
        threading.Thread(target=lambda: summary.update(np.arange(9), source="a", sequence=range(3, 12)))
        for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert counts_of(summary)[:10] == [1] * 9 + [0]

"""Batches that a queue delivers again, as named checks that raise AssertionError.

A record that counts twice costs twice its epsilon. So each number of a declared
source counts once, whatever is delivered again, late or in other batches, and
whenever the process ends.
"""

import io
from collections.abc import Iterator

import numpy as np

import privhp as hp
from learning_runs import no_noise
from privhp import Plan, StateError, Summary
from spies import record_draws

PLAN = Plan(hp.Integers(0, 63), epsilon=1, budgets={6: 1}, exact_depth=6)
RECORDS = 60
FIRST = {"a": 0, "b": 30}
"""First record of each source; both have 30."""


def counts_of(summary: Summary) -> list[int]:
    return summary.close().counts[6][:RECORDS].tolist()


def deliver(rng: np.random.Generator) -> Iterator[tuple[str, range]]:
    """Batches of two sources of 30 records, again and again, overlapping and out of order."""
    for _ in range(300):
        start = int(rng.integers(0, 30))
        numbers = range(start, min(start + int(rng.integers(1, 9)), 30))
        yield str(rng.choice(list(FIRST))), numbers


def each_number_counts_once() -> None:
    """Batches are repeated, overlap and come out of order, and the process ends between saves."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        with record_draws(no_noise):
            summary = Summary(PLAN, sources={"a": 0, "b": 0})
            saved = _save(summary)
            for source, numbers in deliver(rng):
                try:
                    summary.update(FIRST[source] + np.array(numbers), source=source, sequence=numbers)
                except StateError:
                    assert numbers.start > summary.positions[source], "a batch without a gap before it is refused"
                if rng.random() < 0.1:
                    saved = _save(summary)
                if rng.random() < 0.1:
                    summary = hp.resume(io.BytesIO(saved))
            for source, first in FIRST.items():
                summary.update(first + np.arange(30), source=source, sequence=range(30))
            assert counts_of(summary) == [1] * RECORDS, "a record is lost or counts twice"


def _save(summary: Summary) -> bytes:
    file = io.BytesIO()
    hp.save(summary, file)
    return file.getvalue()


def tallies_of_a_source_count_once() -> None:
    """A batch that another worker counts anew, in another tally, is not added again."""
    with record_draws(no_noise):
        summary = Summary(PLAN, sources={"a": 0})
        for number in (0, 0, 1, 0, 2, 2):
            tally = hp.Tally(PLAN)
            tally.add([number])
            is_new = number == summary.positions["a"]
            assert summary.absorb(tally, source="a", sequence=number) == is_new, "a tally is added again, or not at all"
        assert counts_of(summary)[:4] == [1, 1, 1, 0], "a batch of tallies counts twice"


def refused_batch_can_be_repeated() -> None:
    """A batch that is refused is not noted as counted."""
    with record_draws(no_noise):
        summary = Summary(PLAN, sources={"a": 0})
        try:
            summary.update(np.zeros((2, 2)), source="a", sequence=range(2))
            raise AssertionError("a batch of another shape is not refused")
        except hp.RecordsError:
            assert summary.update([3, 4], source="a", sequence=range(2)), "a refused batch is taken as counted"
        assert counts_of(summary)[3:5] == [1, 1]


def summaries_of_one_source_follow_each_other() -> None:
    """Two summaries that counted one source are merged only if one goes on where the other ends."""
    for first, second, merges in ((0, 5, True), (5, 0, True), (0, 4, False), (0, 6, False), (0, 0, False)):
        with record_draws(no_noise):
            one, other = Summary(PLAN, sources={"a": first}), Summary(PLAN, sources={"a": second, "b": 0})
            for summary, start in ((one, first), (other, second)):
                summary.update(np.arange(start, start + 5), source="a", sequence=range(start, start + 5))
            try:
                one.merge(other)
                assert merges, "numbers that both have counted, or a gap between them, are merged"
                assert dict(one.positions) == {"a": 10, "b": 0}, "merged summaries count a source from elsewhere"
                assert counts_of(one)[:11] == [1] * 10 + [0]
            except StateError:
                assert not merges, "summaries that follow each other are refused"
                assert not other.closed, "a refused merge closes a summary"

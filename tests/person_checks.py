"""The cap of records per person as named checks that raise AssertionError.

The guarantee covers a person, however many records that person has, by four
facts: each pass counts at most c rows of a person; which rows of a person are
counted depends on the rows of that person alone; a sample is drawn from these
rows; and a refusal says nothing about a person.
"""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learning_runs import (
    array_file,
    count_leaves,
    no_noise,
    plan_of,
    replaced_coins,
    run_resumed,
    splits_by_code,
    watched_refinements,
)
from privhp import Plan, RecordsError
from privhp.collect.ingest import Ingestion
from privhp.collect.person_cap import SortedPersonCap, keep_first
from privhp.io.sources import Persons, open_source
from spies import fixed_noise, record_draws

MOST = 3


def keep_slowly(ids: list[Any], most: int) -> list[int]:
    """Reference: the first rows of each person, one row after another."""
    seen: Counter[str] = Counter()
    kept = []
    for row, person in enumerate(ids):
        seen[str(person)] += 1
        if seen[str(person)] <= most:
            kept.append(row)
    return kept


def keep_in_batches(cap: SortedPersonCap, ids: Any, cuts: list[int]) -> list[int]:
    """Rows kept of ids that come in batches."""
    kept: list[int] = []
    for start, end in zip([0, *cuts], [*cuts, len(ids)], strict=True):
        kept += (start + cap.keep(ids[start:end])).tolist()
    return kept


def cap_keeps_the_first_rows_of_each_person() -> None:
    """In any batches, the rows kept are the first ones of each person, as a slow reference finds them."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        ids = rng.integers(0, 9, 40)
        cuts = np.sort(rng.integers(0, 41, 5)).tolist()
        expected = keep_slowly(ids.tolist(), MOST)
        assert keep_first(ids, MOST).tolist() == expected, "other rows than the first of each person"
        ids = np.sort(ids)
        for given in (ids, ids.tolist(), [f"user {person}" for person in ids]):
            kept = keep_in_batches(SortedPersonCap(MOST), given, cuts)
            assert kept == keep_slowly(ids.tolist(), MOST), "other rows than the first of each person"


def kept_rows_depend_on_their_person_alone() -> None:
    """One more person, however many rows that person has, changes no row that is kept of others."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        ids = rng.integers(0, 50, 60)
        person = int(rng.choice(ids))
        for keep, stream in (
            (lambda rows: keep_first(rows, MOST), ids),
            (lambda rows: SortedPersonCap(MOST).keep(rows), np.sort(ids)),
        ):
            others = np.flatnonzero(stream != person)
            kept = others[keep(stream[others])]
            with_person = keep(stream)
            assert set(with_person[stream[with_person] != person]) == set(kept), "a person changes the rows of another"
            assert (stream[with_person] == person).sum() <= MOST, "too many rows of a person"


def _stream(rng: np.random.Generator, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Integers with their persons, and the same without one person, sorted by person."""
    others = np.column_stack([rng.integers(-60, 1084, 60), rng.choice([0, 1, 2, 4, 5], 60)])
    person = np.column_stack([rng.integers(0, 1024, rows), np.full(rows, 3)])
    own = np.concatenate([others, person])
    return own[np.argsort(own[:, 1], kind="stable")], others[np.argsort(others[:, 1], kind="stable")]


def _levels(plan: Plan, source: Any) -> list[Any]:
    """Counts of all learning passes and of all levels of the release, under the same noise in each run."""
    with fixed_noise(), splits_by_code(), watched_refinements() as seen:
        ingestion = Ingestion(plan, source)
        assert ingestion.run()
        return [*(own.counts for own in seen), *ingestion.summary.close().counts.values()]


def person_changes_each_level_by_at_most_c_in_every_pass() -> None:
    """All records of a person, however many, change each level of each pass by at most c."""
    plan = plan_of("1", "1", max_records_per_person=MOST)
    for seed, rows in enumerate((1, 2, 3, 4, 9, 100)):
        rng = np.random.default_rng(seed)
        streams = _stream(rng, rows)
        found: list[list[Any]] = []
        for stream in streams:
            with tempfile.TemporaryDirectory() as folder, array_file(Path(folder), stream, rows=5) as data:
                source = open_source(data, domain=plan.domain, columns=["1"], persons=Persons("2"))
                found.append(_levels(plan, source))
        order = rng.permutation(len(streams[0]))
        shuffled = streams[0][order]
        for stream in (shuffled, shuffled[shuffled[:, 1] != 3]):
            frame = {"value": stream[:, 0], "user": stream[:, 1]}
            found.append(_levels(plan, open_source(frame, domain=plan.domain, persons=Persons("user"))))
        for with_person, without in (found[:2], found[2:]):
            for one, other in zip(with_person, without, strict=True):
                changed = np.abs(one - other).sum()
                assert changed == min(rows, MOST), "a person changes a level by more than c, or by less than counted"


def parties_share_the_records_of_a_person() -> None:
    """Parties whose shares add up to c change all their summaries together by at most c, whoever has the records."""
    plan = plan_of("1", "1", max_records_per_person=MOST)
    (stream, others), changed = _stream(np.random.default_rng(0), 50), []
    for most in (1, 2):
        persons = Persons("user", most=most)
        found = [
            _levels(plan, open_source({"value": own[:, 0], "user": own[:, 1]}, domain=plan.domain, persons=persons))
            for own in (stream, others)
        ]
        changed.append([np.abs(one - other).sum() for one, other in zip(*found, strict=True)])
    for of_parties in zip(*changed, strict=True):
        assert sum(of_parties) <= MOST, "parties together count more records of a person than the plan accounts for"


def sample_is_drawn_from_kept_rows() -> None:
    """A learning pass flips one coin for each of the first c rows of a person and none for the others."""
    plan, (stream, _) = plan_of(max_records_per_person=MOST), _stream(np.random.default_rng(0), 30)
    kept = stream[keep_slowly(stream[:, 1].tolist(), MOST), 0]
    with tempfile.TemporaryDirectory() as folder, array_file(Path(folder), stream, rows=5) as data:
        sorted_file = open_source(data, domain=plan.domain, columns=["1"], persons=Persons("2"))
        frame = open_source({"value": stream[:, 0], "2": stream[:, 1]}, domain=plan.domain, persons=Persons("2"))
        for source in (sorted_file, frame):
            with record_draws(no_noise), splits_by_code(), watched_refinements() as seen, replaced_coins() as coins:
                assert Ingestion(plan, source).run()
            assert len(coins.heads) == 2 * kept.size, "not one coin for each row that the cap keeps"
            for own, heads in zip(seen, np.reshape(coins.heads, (2, -1)), strict=True):
                expected = count_leaves(own.counted, kept[heads].tolist(), plan.domain.depth)
                assert own.counts.tolist() == expected, "a sample has other rows than the first of each person"


def resumed_passes_keep_the_count_of_a_person() -> None:
    """Stopped or killed after any batch, within the records of a person too, each pass counts the first c."""
    plan, (stream, _) = plan_of("1", "1", max_records_per_person=MOST), _stream(np.random.default_rng(0), 30)
    reading: dict[str, Any] = {"columns": ["1"], "persons": Persons("2")}
    with tempfile.TemporaryDirectory() as folder, array_file(Path(folder), stream, rows=7) as data, splits_by_code():
        with record_draws(no_noise), watched_refinements() as whole:
            ingestion = Ingestion(plan, open_source(data, domain=plan.domain, **reading))
            assert ingestion.run()
            expected = [*(own.counts for own in whole), *ingestion.summary.close().counts.values()]
        for batches, kill in ((1, False), (4, True)):
            with record_draws(no_noise), watched_refinements() as seen:
                state = Path(folder) / f"state{batches}"
                ingestion, runs = run_resumed(plan, data, state, batches=batches, kill=kill, **reading)
            assert runs > 3, "nothing was interrupted"
            found = [*(own.counts for own in seen), *ingestion.summary.close().counts.values()]
            for one, other in zip(found, expected, strict=True):
                assert np.array_equal(one, other), "a resumed pass counts other rows of a person"


def refusals_say_nothing_about_persons() -> None:
    """Rows that are not sorted by person, or have none, are refused in the same words, and change nothing."""
    for batches in (
        ([7, 7, 8, 7], [31, 9, 20]),
        (["b", "a"], ["zoe", "zoe", "adam", "zoe"]),
        ([None, 1], ["", "a"], [5, None], [None] * 9),
    ):
        messages = set()
        for ids in batches:
            cap = SortedPersonCap(MOST)
            cap.keep([0, 0])
            keeps = [cap.keep, lambda rows: keep_first(rows, MOST)] if {None, ""} & set(ids) else [cap.keep]
            for keep in keeps:
                try:
                    keep(ids)
                    raise AssertionError("rows are not refused")
                except RecordsError as error:
                    messages.add(str(error))
            assert cap.keep([0, 0]).tolist() == [0], "a refusal changes the count of a person"
        assert len(messages) == 1, "a message depends on the ids of persons"

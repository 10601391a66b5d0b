"""Defects: more records of a person than the plan accounts for, or records that depend on other persons."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import person_checks
import privhp.collect.person_cap
import privhp.io.sources.files
import privhp.io.sources.in_memory
from mutants.planting import caught_by
from privhp import RecordsError
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.collect.learning import is_learning
from privhp.collect.person_cap import PersonCap, SortedPersonCap
from privhp.io.sources.protocol import Cap, Sample


@caught_by(
    person_checks.cap_keeps_the_first_rows_of_each_person,
    person_checks.person_changes_each_level_by_at_most_c_in_every_pass,
)
def cap_per_batch(patch: pytest.MonkeyPatch) -> None:
    for cap in (PersonCap, SortedPersonCap):
        advance = cap._advance

        def forgetting(self: Any, *batch: Any, advance: Callable[..., None] = advance) -> None:
            advance(self, *batch)
            self._kept = {}

        patch.setattr(cap, "_advance", forgetting)


@caught_by(
    person_checks.cap_keeps_the_first_rows_of_each_person,
    person_checks.person_changes_each_level_by_at_most_c_in_every_pass,
)
def one_record_too_many(patch: pytest.MonkeyPatch) -> None:
    start = PersonCap.__init__
    patch.setattr(PersonCap, "__init__", lambda self, most, **options: start(self, most + 1, **options))


@caught_by(
    person_checks.kept_rows_depend_on_their_person_alone,
    person_checks.cap_keeps_the_first_rows_of_each_person,
)
def cap_by_hashed_ids(patch: pytest.MonkeyPatch) -> None:
    label = privhp.collect.person_cap._label

    def hashed(column: Any) -> Any:
        labels, persons = label(column)
        buckets = np.array([sum(person) % 8 for person in persons] or [0])
        return np.where(labels < 0, labels, buckets[labels]), [b"%d" % bucket for bucket in range(8)]

    patch.setattr(privhp.collect.person_cap, "_label", hashed)
    patch.setattr(privhp.collect.person_cap, "_is_sorted", lambda ids, order: True)


@caught_by(person_checks.kept_rows_depend_on_their_person_alone)
def limit_of_all_rows(patch: pytest.MonkeyPatch) -> None:
    keep = PersonCap.keep
    patch.setattr(PersonCap, "keep", lambda self, ids: keep(self, ids)[:20])


@caught_by(person_checks.person_changes_each_level_by_at_most_c_in_every_pass)
def cap_in_measuring_pass_alone(patch: pytest.MonkeyPatch) -> None:
    new_cap = Ingestion._new_cap

    def late(self: Ingestion) -> PersonCap | None:
        return None if is_learning(self.plan, self.number) else new_cap(self)

    patch.setattr(Ingestion, "_new_cap", late)


@caught_by(person_checks.parties_share_the_records_of_a_person)
def share_of_a_party_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ingestion, "_new_cap", lambda self: PersonCap(self.plan.max_records_per_person))


@caught_by(person_checks.sample_is_drawn_from_kept_rows)
def sample_before_cap(patch: pytest.MonkeyPatch) -> None:
    """A person with many rows is then nearly always in the sample."""

    def sampled_first(rows: int, persons: Any, *, sample: Sample | None, cap: Cap | None) -> NDArray[np.intp]:
        taken = np.arange(rows) if sample is None else sample(rows)
        return taken if cap is None else taken[cap(persons()[taken])]

    for module in (privhp.io.sources.files, privhp.io.sources.in_memory):
        patch.setattr(module, "choose_rows", sampled_first)


@caught_by(person_checks.resumed_passes_keep_the_count_of_a_person)
def cap_lost_on_resume(patch: pytest.MonkeyPatch) -> None:
    resume = CheckpointedIngestion._resume

    def forgetting(self: CheckpointedIngestion, *arguments: Any) -> None:
        resume(self, *arguments)
        self._person = None

    patch.setattr(CheckpointedIngestion, "_resume", forgetting)


@caught_by(person_checks.refusals_say_nothing_about_persons)
def order_unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.collect.person_cap, "_is_sorted", lambda ids, order: True)


@caught_by(person_checks.refusals_say_nothing_about_persons)
def message_quotes_person(patch: pytest.MonkeyPatch) -> None:
    advance = SortedPersonCap._advance

    def quoting(self: SortedPersonCap, labels: Any, kept: Any) -> None:
        try:
            advance(self, labels, kept)
        except RecordsError as error:
            raise RecordsError(f"{error}: {list(kept)}") from None

    patch.setattr(SortedPersonCap, "_advance", quoting)

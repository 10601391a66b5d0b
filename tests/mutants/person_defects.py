"""Defects: more records of a person than the plan accounts for, or records that depend on other persons."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import person_checks
import privhp.collect.ingest
import privhp.collect.person_cap
from mutants.planting import caught_by
from privhp import RecordsError
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.collect.learning import is_learning
from privhp.collect.person_cap import SortedPersonCap


def _change_keep(patch: pytest.MonkeyPatch, change: Callable[[Callable[[Any], Any], Any], Any]) -> None:
    """Change which rows are kept; `change` takes a function that keeps rows, and their ids."""
    first, keep = privhp.collect.person_cap.keep_first, SortedPersonCap.keep

    def keep_first(ids: Any, most: int, **options: Any) -> Any:
        return change(lambda own: first(own, most, **options), ids)

    for module in (privhp.collect.person_cap, privhp.collect.ingest, person_checks):
        patch.setattr(module, "keep_first", keep_first)
    patch.setattr(SortedPersonCap, "keep", lambda self, ids: change(lambda own: keep(self, own), ids))


@caught_by(
    person_checks.cap_keeps_the_first_rows_of_each_person,
    person_checks.person_changes_each_level_by_at_most_c_in_every_pass,
)
def cap_per_batch(patch: pytest.MonkeyPatch) -> None:
    keep = SortedPersonCap.keep

    def forgetting(self: SortedPersonCap, ids: Any) -> Any:
        kept = keep(self, ids)
        self._rows = 0
        return kept

    patch.setattr(SortedPersonCap, "keep", forgetting)


@caught_by(
    person_checks.cap_keeps_the_first_rows_of_each_person,
    person_checks.person_changes_each_level_by_at_most_c_in_every_pass,
)
def one_record_too_many(patch: pytest.MonkeyPatch) -> None:
    start = SortedPersonCap.__init__
    patch.setattr(SortedPersonCap, "__init__", lambda self, most, **options: start(self, most + 1, **options))


@caught_by(person_checks.person_changes_each_level_by_at_most_c_in_every_pass)
def frame_in_blocks(patch: pytest.MonkeyPatch) -> None:
    """The rows of a frame are bounded in each block alone."""
    _change_keep(patch, _in_blocks)


def _in_blocks(keep: Callable[[Any], Any], ids: Any) -> Any:
    blocks = [slice(start, start + 20) for start in range(0, len(ids), 20)]
    return np.concatenate([keep(ids[block]) + block.start for block in blocks])


@caught_by(person_checks.kept_rows_depend_on_their_person_alone)
def cap_by_hashed_ids(patch: pytest.MonkeyPatch) -> None:
    _change_keep(patch, lambda keep, ids: keep(np.sort(np.asarray(ids) % 8)))


@caught_by(person_checks.kept_rows_depend_on_their_person_alone)
def limit_of_all_rows(patch: pytest.MonkeyPatch) -> None:
    _change_keep(patch, lambda keep, ids: keep(ids)[:20])


@caught_by(person_checks.person_changes_each_level_by_at_most_c_in_every_pass)
def cap_in_measuring_pass_alone(patch: pytest.MonkeyPatch) -> None:
    new_cap = Ingestion._new_cap

    def late(self: Ingestion) -> Any:
        return (None, None) if is_learning(self.plan, self.number) else new_cap(self)

    patch.setattr(Ingestion, "_new_cap", late)


@caught_by(person_checks.parties_share_the_records_of_a_person)
def share_of_a_party_ignored(patch: pytest.MonkeyPatch) -> None:
    def whole(self: Ingestion) -> Any:
        return lambda ids: privhp.collect.person_cap.keep_first(ids, self.plan.max_records_per_person), None

    patch.setattr(Ingestion, "_new_cap", whole)


@caught_by(person_checks.sample_is_drawn_from_kept_rows)
def sample_before_cap(patch: pytest.MonkeyPatch) -> None:
    """A person with many rows is then nearly always in the sample."""

    def from_a_sample(keep: Callable[[Any], Any], ids: Any) -> Any:
        taken = np.flatnonzero(np.random.default_rng(0).random(len(ids)) < 0.5)
        return taken[keep(ids[taken])]

    _change_keep(patch, from_a_sample)


@caught_by(person_checks.resumed_passes_keep_the_count_of_a_person)
def cap_lost_on_resume(patch: pytest.MonkeyPatch) -> None:
    resume = CheckpointedIngestion._resume

    def forgetting(self: CheckpointedIngestion, *arguments: Any) -> None:
        resume(self, *arguments)
        self._person = None

    patch.setattr(CheckpointedIngestion, "_resume", forgetting)


@caught_by(person_checks.refusals_say_nothing_about_persons)
def order_unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.collect.person_cap, "_is_sorted", lambda *_: True)


@caught_by(person_checks.refusals_say_nothing_about_persons)
def message_quotes_person(patch: pytest.MonkeyPatch) -> None:
    def quoting(keep: Callable[[Any], Any], ids: Any) -> Any:
        try:
            return keep(ids)
        except RecordsError as error:
            raise RecordsError(f"{error}: {ids}") from None

    _change_keep(patch, quoting)

"""Defects: batches that a queue delivers again count twice, or are lost."""

from typing import Any

import pytest

import delivery_checks
from mutants.planting import caught_by
from privhp import StateError, Summary
from privhp.collect.checkpoint import _Header
from privhp.collect.deliveries import Deliveries
from privhp.collect.tally import Tally


@caught_by(delivery_checks.each_number_counts_once, delivery_checks.tallies_of_a_source_count_once)
def numbers_not_noted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Deliveries, "uncounted", lambda self, source, sequence: delivery_range(sequence))


def delivery_range(sequence: Any) -> range:
    return sequence if isinstance(sequence, range) else range(sequence, sequence + 1)


@caught_by(delivery_checks.each_number_counts_once)
def overlap_counted_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Summary, "_last_rows", lambda self, records, counts, rows, of: (records, counts))


@caught_by(delivery_checks.each_number_counts_once)
def gap_accepted(patch: pytest.MonkeyPatch) -> None:
    """What was in the gap is taken as counted when it comes."""
    uncounted = Deliveries.uncounted

    def any_number(self: Deliveries, source: str, sequence: Any) -> range:
        try:
            return uncounted(self, source, sequence)
        except StateError:
            return delivery_range(sequence)

    patch.setattr(Deliveries, "uncounted", any_number)


@caught_by(delivery_checks.each_number_counts_once)
def numbers_not_saved(patch: pytest.MonkeyPatch) -> None:
    to_json = _Header.to_json

    def at_start(self: _Header) -> dict[str, Any]:
        return to_json(self) | {"sources": {name: [0, 0] for name in self.deliveries.ranges}}

    patch.setattr(_Header, "to_json", at_start)


@caught_by(delivery_checks.refused_batch_can_be_repeated)
def number_noted_before_the_batch(patch: pytest.MonkeyPatch) -> None:
    add = Tally.add

    def early(self: Tally, records: Any, **options: Any) -> None:
        options.pop("note", lambda: None)()
        add(self, records, **options)

    patch.setattr(Tally, "add", early)


@caught_by(delivery_checks.summaries_of_one_source_follow_each_other)
def sources_ignored_by_merge(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Deliveries, "joined", lambda self, other: {**self.ranges, **other.ranges})

"""Defects: second outputs, double counting, outputs that depend on records, joined lines."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import leaks
import locks
import privacy
import privhp.collect.summary
import privhp.collect.tally
from mutants.planting import caught_by
from privhp import RecordsError, Summary
from privhp.collect.life_cycle import LifeCycle, State
from privhp.domains import conversion
from privhp.io.sources.text_records import Block, LineFeeds, RecordReader


@caught_by(privacy.summary_is_released_once)
def second_release(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LifeCycle, "close", lambda self: None)


@caught_by(privacy.summary_is_released_once)
def merged_summary_stays_open(patch: pytest.MonkeyPatch) -> None:
    merge = Summary.merge

    def lenient(self: Summary, other: Summary) -> None:
        merge(self, other)
        other._life.state = State.OPEN

    patch.setattr(Summary, "merge", lenient)


@caught_by(privacy.summary_is_released_once)
def copied_summary(patch: pytest.MonkeyPatch) -> None:
    patch.delattr(Summary, "__reduce__")


@caught_by(privacy.records_are_merged_once)
def merge_without_id_check(patch: pytest.MonkeyPatch) -> None:
    for module in (privhp.collect.tally, privhp.collect.summary):
        patch.setattr(module, "check_mergeable", lambda tally, other: None)


@caught_by(privacy.records_are_merged_once)
def absorb_without_ids(patch: pytest.MonkeyPatch) -> None:
    merge = privhp.Tally.merge

    def forgetting(self: privhp.Tally, other: privhp.Tally) -> None:
        merged_ids = self.merged_ids
        merge(self, other)
        self.merged_ids = merged_ids

    patch.setattr(privhp.Tally, "merge", forgetting)


@caught_by(privacy.records_are_merged_once)
def repeated_merge_after_interrupt(patch: pytest.MonkeyPatch) -> None:
    def late(self: privhp.Tally, other: privhp.Tally) -> None:
        privhp.collect.tally.check_mergeable(self, other)
        self.add_counts(other)
        self.merged_ids |= other.merged_ids

    patch.setattr(privhp.Tally, "merge", late)


@caught_by(privacy.records_are_merged_once)
def repeated_update_after_interrupt(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LifeCycle, "check_complete", lambda self: None)


@caught_by(privacy.record_changes_at_most_its_sensitivity, leaks.no_output_contains_records_or_counts)
def number_of_records_in_repr(patch: pytest.MonkeyPatch) -> None:
    _count_records(patch)
    patch.setattr(Summary, "__repr__", lambda self: f"Summary of {getattr(self, '_seen', 0)} records")


@caught_by(leaks.header_is_independent_of_records)
def number_of_records_in_file(patch: pytest.MonkeyPatch) -> None:
    _count_records(patch)
    release, spec = Summary.release, privhp.Plan.spec

    def telling(self: Summary) -> Any:
        generator = release(self)
        object.__setattr__(generator.plan, "seen", self._seen)
        return generator

    patch.setattr(Summary, "release", telling)
    patch.setattr(privhp.Plan, "spec", lambda plan: {**spec(plan), "seen": getattr(plan, "seen", 0)})


@caught_by(leaks.command_line_is_independent_of_records)
def number_of_records_on_command_line(patch: pytest.MonkeyPatch) -> None:
    _count_records(patch)
    release = Summary.release

    def telling(self: Summary) -> Any:
        print(f"read {self._seen} records")  # noqa: T201 - the defect is that it prints
        return release(self)

    patch.setattr(Summary, "release", telling)


@caught_by(locks.threads_wait_for_each_other)
def locks_removed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LifeCycle, "locked", lambda self, *others: contextlib.nullcontext())


def _count_records(patch: pytest.MonkeyPatch) -> None:
    update = Summary.update

    def counting(self: Summary, records: Any, **options: Any) -> None:
        update(self, records, **options)
        self._seen = getattr(self, "_seen", 0) + len(records)

    patch.setattr(Summary, "update", counting)


@caught_by(leaks.no_output_contains_records_or_counts)
def number_of_records_in_error(patch: pytest.MonkeyPatch) -> None:
    def telling(shape: tuple[int, ...], columns: int) -> None:
        if len(shape) != 1:
            raise RecordsError(f"expected another shape than {shape}")

    patch.setattr(conversion, "_check_shape", telling)


@caught_by(leaks.no_output_contains_records_or_counts)
def record_in_error(patch: pytest.MonkeyPatch) -> None:
    update = Summary.update

    def quoting(self: Summary, records: Any, *, counts: Any = None) -> None:
        try:
            update(self, records, counts=counts)
        except RecordsError:
            raise RecordsError(f"expected records, got {records}") from None

    patch.setattr(Summary, "update", quoting)


@caught_by(privacy.line_changes_at_most_its_sensitivity)
def quote_joins_lines(patch: pytest.MonkeyPatch) -> None:
    def joined(block: bytes) -> bytes:
        lines: list[bytes] = []
        for line in block.splitlines():
            if lines and lines[-1].count(b'"') % 2:
                lines[-1] += line
            else:
                lines.append(line)
        return b"\n".join(lines)

    _change_blocks(patch, joined)


@caught_by(privacy.line_changes_at_most_its_sensitivity)
def blank_line_ends_text(patch: pytest.MonkeyPatch) -> None:
    _change_blocks(patch, lambda block: block.split(b"\n\n")[0] + b"\n")


@caught_by(privacy.line_changes_at_most_its_sensitivity)
def carriage_return_splits_line(patch: pytest.MonkeyPatch) -> None:
    """One line becomes two records."""
    _change_blocks(patch, lambda block: block.replace(b"\r", b"\n"))


def _change_blocks(patch: pytest.MonkeyPatch, change: Callable[[bytes], bytes]) -> None:
    blocks = RecordReader.blocks

    def changed(self: RecordReader, **options: bool) -> Iterator[Block]:
        for block in blocks(self, **options):
            text = change(block.text)
            yield Block(text, LineFeeds().bounds(text), block.end)

    patch.setattr(RecordReader, "blocks", changed)

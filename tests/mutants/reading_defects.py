"""Defects: records that are read twice or wrongly."""

from typing import Any

import numpy as np
import pytest

import learning_checks
import reading
from mutants.planting import caught_by
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.io.sources import START, byte_streams, csv_reader, csv_records, csv_scanner, text_records
from privhp.io.sources.identity import InputFile
from privhp.io.sources.text_records import LineFeeds, Offsets


@caught_by(reading.resumed_ingestion_counts_each_record_once, learning_checks.resumed_passes_count_each_row_once)
def resume_from_start(patch: pytest.MonkeyPatch) -> None:
    resume = CheckpointedIngestion._resume

    def replaying(self: CheckpointedIngestion, *arguments: Any) -> None:
        resume(self, *arguments)
        self._position = START

    patch.setattr(CheckpointedIngestion, "_resume", replaying)


@caught_by(reading.resumed_ingestion_counts_each_record_once, learning_checks.resumed_passes_count_each_row_once)
def position_of_previous_batch(patch: pytest.MonkeyPatch) -> None:
    chunks = Checkpoint.chunks
    earlier = [0]

    def late(self: Checkpoint) -> Any:
        position = dict(self.position or {})
        place, earlier[0] = earlier[0], position["place"]
        return chunks(Checkpoint(self.summary, position | {"place": place}, plan=self.plan, number=self.number))

    patch.setattr(Checkpoint, "chunks", late)


@caught_by(reading.changed_files_are_never_counted)
def files_are_opened_by_name_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(InputFile, "check", lambda *_: None)


@caught_by(reading.interrupted_update_is_never_saved)
def position_kept_while_counting(patch: pytest.MonkeyPatch) -> None:
    """A batch that is counted when an interrupt arrives is before the position that is saved."""

    def run_pass(self: Ingestion, should_stop: Any = None) -> bool:
        for batch in self._source.batches(self._known_position()):
            self.summary.update(batch.records)
            self._position = batch.position
        return True

    patch.setattr(Ingestion, "_run_pass", run_pass)


@caught_by(reading.resumed_ingestion_counts_each_record_once)
def position_saved_before_counting(patch: pytest.MonkeyPatch) -> None:
    """Batches that are read but not yet counted are marked as counted."""

    def run_pass(self: Ingestion, should_stop: Any = None) -> bool:
        for batch in self._source.batches(self._position):
            self._position = batch.position or START
            if should_stop is not None and should_stop(batch):
                return False
            self.summary.update(batch.records)
        return True

    patch.setattr(Ingestion, "_run_pass", run_pass)


@caught_by(reading.scanner_reads_lines_independently)
def invalid_line_read_as_another(patch: pytest.MonkeyPatch) -> None:
    def read(self: Any, line: bytes) -> tuple[Any, ...]:
        return (1, 2)

    patch.setattr(csv_scanner.Scanner, "_read", read)


@caught_by(reading.scanner_reads_lines_independently)
def invalid_line_counted(patch: pytest.MonkeyPatch) -> None:
    columns = csv_scanner.Scanner.columns

    def generous(self: Any, *block: Any) -> Any:
        found, invalid = columns(self, *block)
        return found, np.zeros_like(invalid)

    patch.setattr(csv_scanner.Scanner, "columns", generous)


@caught_by(reading.csv_record_changes_its_own_row)
def quoted_line_feed_ends_record(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(csv_reader, "record_rule", lambda _: LineFeeds())


@caught_by(reading.csv_record_changes_its_own_row)
def second_of_two_quotes_opens_nothing(patch: pytest.MonkeyPatch) -> None:
    bounds = csv_records.UnquotedLineFeeds.bounds

    def undoubled(self: Any, piece: bytes) -> Offsets:
        return bounds(self, piece.replace(b'""', b'x"'))

    patch.setattr(csv_records.UnquotedLineFeeds, "bounds", undoubled)


@caught_by(reading.csv_record_changes_its_own_row)
def long_record_cut_at_its_limit(patch: pytest.MonkeyPatch) -> None:
    """What is behind the limit becomes records."""
    bounds = csv_records.UnquotedLineFeeds.bounds

    def forgetful(self: Any, piece: bytes) -> Offsets:
        found = bounds(self, piece)
        self._place = csv_records.Place.FIELD_START
        return found

    patch.setattr(csv_records.UnquotedLineFeeds, "bounds", forgetful)
    patch.setattr(text_records, "_BLOCK", text_records.MAX_RECORD // 4)


@caught_by(reading.scanner_reads_lines_independently)
def first_record_sets_number_of_fields(patch: pytest.MonkeyPatch) -> None:
    columns = csv_scanner.Scanner.columns

    def strict(self: Any, block: bytes, starts: Offsets, nexts: Offsets) -> Any:
        self._width = self._width or block[: nexts[0] - 1].count(b",") + 1
        return columns(self, block, starts, nexts)

    patch.setattr(csv_scanner.Scanner, "columns", strict)


@caught_by(reading.lines_of_dialects_are_independent)
def first_record_sets_delimiter(patch: pytest.MonkeyPatch) -> None:
    columns = csv_scanner.Scanner.columns

    def sniffing(self: Any, block: bytes, starts: Offsets, nexts: Offsets) -> Any:
        first = block[: nexts[0]]
        self._separator = max(b";", b",", b"\t", b"|", key=first.count)
        return columns(self, block, starts, nexts)

    patch.setattr(csv_scanner.Scanner, "columns", sniffing)


@caught_by(reading.lines_of_dialects_are_independent)
def invalid_code_unit_takes_the_line_feed(patch: pytest.MonkeyPatch) -> None:
    read = byte_streams.Utf8Stream.read

    def joining(self: Any, size: int) -> bytes:
        return read(self, size).replace("\xfc\n".encode(), b"")

    patch.setattr(byte_streams.Utf8Stream, "read", joining)

"""Defects: records that are read twice or wrongly."""

from typing import Any

import numpy as np
import pytest

import reading
from mutants.planting import caught_by
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.io.sources import START, csv_scanner


@caught_by(reading.resumed_ingestion_counts_each_record_once)
def resume_from_start(patch: pytest.MonkeyPatch) -> None:
    resume = CheckpointedIngestion._resume

    def replaying(self: CheckpointedIngestion, *arguments: Any) -> None:
        resume(self, *arguments)
        self._position = START

    patch.setattr(CheckpointedIngestion, "_resume", replaying)


@caught_by(reading.resumed_ingestion_counts_each_record_once)
def position_of_previous_batch(patch: pytest.MonkeyPatch) -> None:
    save = Checkpoint.save
    earlier = [0]

    def late(self: Checkpoint, path: Any) -> None:
        position = dict(self.position or {})
        save(self._replace(position=position | {"place": earlier[0]}), path)
        earlier[0] = position["place"]

    patch.setattr(Checkpoint, "save", late)


@caught_by(reading.resumed_ingestion_counts_each_record_once)
def position_saved_before_counting(patch: pytest.MonkeyPatch) -> None:
    """Batches that are read but not yet counted are marked as counted."""

    def run(self: Ingestion, should_stop: Any = None) -> bool:
        for batch in self._source.batches(self._position):
            self._position = batch.position or START
            if should_stop is not None and should_stop(batch):
                return False
            self.summary.update(batch.records)
        return True

    patch.setattr(Ingestion, "run", run)


@caught_by(reading.scanner_reads_lines_independently)
def invalid_line_read_as_another(patch: pytest.MonkeyPatch) -> None:
    def read(self: Any, line: bytes) -> tuple[Any, ...]:
        return (1, 2)

    patch.setattr(csv_scanner.Scanner, "_read", read)


@caught_by(reading.scanner_reads_lines_independently)
def invalid_line_counted(patch: pytest.MonkeyPatch) -> None:
    columns = csv_scanner.Scanner.columns

    def generous(self: Any, block: bytes) -> Any:
        found, invalid = columns(self, block)
        return found, np.zeros_like(invalid)

    patch.setattr(csv_scanner.Scanner, "columns", generous)

"""Records that are read twice, or not as they are written."""

from typing import Any

import numpy as np
import pytest

import reading
from mutants.planting import killed_by
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.io.sources import START, csv_scanner


@killed_by(reading.going_on_counts_each_record_once)
def a_resumed_run_begins_at_the_beginning(patch: pytest.MonkeyPatch) -> None:
    resume = CheckpointedIngestion._resume

    def replaying(self: CheckpointedIngestion, *arguments: Any) -> None:
        resume(self, *arguments)
        self._position = START

    patch.setattr(CheckpointedIngestion, "_resume", replaying)


@killed_by(reading.going_on_counts_each_record_once)
def the_position_is_that_of_the_batch_before(patch: pytest.MonkeyPatch) -> None:
    save = Checkpoint.save
    earlier = [0]

    def late(self: Checkpoint, path: Any) -> None:
        position = dict(self.position or {})
        save(self._replace(position=position | {"place": earlier[0]}), path)
        earlier[0] = position["place"]

    patch.setattr(Checkpoint, "save", late)


@killed_by(reading.going_on_counts_each_record_once)
def the_position_is_saved_before_the_batch_counts(patch: pytest.MonkeyPatch) -> None:
    """What is read ahead is taken for counted."""

    def run(self: Ingestion, watch: Any = None) -> bool:
        for batch in self._source.batches(self._position):
            self._position = batch.position or START
            if watch is not None and watch(batch):
                return False
            self.summary.update(batch.records)
        return True

    patch.setattr(Ingestion, "run", run)


@killed_by(reading.the_scanner_answers_for_its_own_lines)
def an_odd_line_takes_the_values_of_the_one_before(patch: pytest.MonkeyPatch) -> None:
    def read(self: Any, line: bytes) -> tuple[Any, ...]:
        return (1, 2)

    patch.setattr(csv_scanner.Scanner, "_read", read)


@killed_by(reading.the_scanner_answers_for_its_own_lines)
def a_lost_line_is_counted(patch: pytest.MonkeyPatch) -> None:
    columns = csv_scanner.Scanner.columns

    def generous(self: Any, block: bytes) -> Any:
        found, lost = columns(self, block)
        return found, np.zeros_like(lost)

    patch.setattr(csv_scanner.Scanner, "columns", generous)

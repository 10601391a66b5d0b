"""Ingestion: the passes of a plan over a source.

A learning pass counts a sample of the rows and refines the partition of the
plan. The measuring pass counts all records, each exactly once. With a
checkpoint, the counters, the pass and the position in the source are saved in
one file. So after any interruption the rows that were passed are those before
the position.

If the source declares persons, each pass counts the first c records of each
person, c being that of the plan: all other rows are left out before a sample is
drawn. The person in whose records a batch ends is part of the position.
"""

import contextlib
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from privhp.collect.checkpoint import Checkpoint
from privhp.collect.coins import poisson_sample
from privhp.collect.learning import continues, first_pass, is_learning, pass_plan, refine_plan
from privhp.collect.person_cap import SortedPersonCap, keep_first
from privhp.collect.summary import Summary
from privhp.core.container import CHECKPOINT
from privhp.errors import FileError, PlanError, RecordsError, StateError
from privhp.io.disk import OwnedFile
from privhp.io.sources import START, Batch, Cap, Position, Source
from privhp.planning.plan import Plan

READING_SCRATCH = 2**23
"""Scratch bytes of a summary that is filled from a source, if the plan leaves less; readers hold megabytes too."""


class Ingestion:
    """The passes of a plan over a source, the last of which fills a summary.

    Args:
        plan: The plan.
        source: The source of the records.

    Attributes:
        plan: The plan; with a partition, once it is learned.
        number: Number of the current pass, from 0.
        summary: The summary of the current pass.
    """

    def __init__(self, plan: Plan, source: Source) -> None:
        if is_learning(plan, first_pass(plan)) and not source.rereadable:
            raise RecordsError(
                "a plan that learns its partition needs data that can be read again, and a pipe or an iterator cannot; "
                "write the data to a file first, or use passes=1"
            )
        self.plan, self._source = plan, source
        self._check_persons()
        self._begin_pass(first_pass(plan))

    def _begin_pass(self, number: int) -> None:
        self.number = number
        self._position: Position | None = START  # None while a batch is counted, or if the source has no positions
        self._person: Mapping[str, int | str] | None = None  # state of the cap of persons at the position
        self.summary = Summary(pass_plan(self.plan, number), scratch=READING_SCRATCH)

    def learn(self, should_stop: Callable[[Batch], bool] | None = None) -> bool:
        """Complete the learning passes until `should_stop` returns true for a batch; whether all are complete."""
        while is_learning(self.plan, self.number):
            if not self._run_pass(should_stop):
                return False
            self._refine()
        return True

    def run(self, should_stop: Callable[[Batch], bool] | None = None) -> bool:
        """Complete all passes until `should_stop` returns true for a batch; whether all are complete."""
        return self.learn(should_stop) and self._run_pass(should_stop)

    def _refine(self) -> None:
        """Refine the partition by the counts of a complete learning pass, and begin the next pass."""
        self.plan = refine_plan(self.plan, self.number, self.summary.close())
        self._begin_pass(self.number + 1)

    def _run_pass(self, should_stop: Callable[[Batch], bool] | None) -> bool:
        """Count the remaining batches of the current pass; return whether it is complete."""
        start, sample = self._known_position(), None
        if self.plan.learning is not None and is_learning(self.plan, self.number):
            sample = partial(poisson_sample, rate=self.plan.learning.passes[self.number].rate)
        keep, cap = self._new_cap()
        with contextlib.closing(self._source.batches(start, sample=sample, cap=keep)) as batches:
            for batch in batches:
                self._position = None
                self.summary.update(batch.records)
                self._person = None if cap is None else cap.state
                self._position = batch.position
                if should_stop is not None and should_stop(batch):
                    return False
        return True

    def _check_persons(self) -> None:
        """Refuse more records of a person than the plan accounts for."""
        persons, limit = self._source.persons, self.plan.max_records_per_person
        if persons is not None and persons.most is not None and not 1 <= persons.most <= limit:
            raise PlanError(
                f"the plan accounts for at most {limit:,} records of a person; count as many or fewer with "
                "max_records_per_person="
            )

    def _new_cap(self) -> tuple[Cap | None, SortedPersonCap | None]:
        """Function that keeps the first rows of each declared person, and the cap of sorted rows at the position."""
        persons = self._source.persons
        if persons is None:
            return None, None
        most = self.plan.max_records_per_person if persons.most is None else persons.most
        if persons.in_memory:
            return partial(keep_first, most=most, null_person=persons.null), None
        frames_by = None if self._source.formats else persons.column
        cap = SortedPersonCap(most, null_person=persons.null, state=self._person, frames_by=frames_by)
        return cap.keep, cap

    def _known_position(self) -> Position:
        """The position after the records that are counted; an interrupted update has none."""
        if self._position is None:
            raise StateError("an update was interrupted, so the position is unknown; resume, or start again")
        return self._position


class CheckpointedIngestion(Ingestion):
    """An ingestion that periodically saves a checkpoint and can be resumed.

    The checkpoint is confidential and belongs to one process at a time. It is
    written before the first record is read and after the last one, and removed
    after the release.

    Args:
        plan: The plan of the summary.
        source: The source of the records: files, which can be read again from a position.
        path: Path of the checkpoint.
        every: Seconds between two saves.
        resume: Whether to resume an existing checkpoint, which must have the same plan and files; otherwise it is
            refused. Without one, the ingestion starts.
        clock: Returns the time in seconds.

    Attributes:
        resumed: Whether the ingestion continues an earlier one.
    """

    def __init__(
        self,
        plan: Plan,
        source: Source,
        path: Path,
        *,
        every: float = 30.0,
        resume: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if source.identity is None:
            raise FileError(
                "a checkpoint needs files, since a pipe or standard input cannot be read again from a position; "
                "write the data to a file first"
            )
        self._every, self._clock, self._identity = every, clock, source.identity
        self._file = OwnedFile(path, magic=CHECKPOINT)
        self.resumed = self._file.exists
        if self.resumed and not resume:
            self._file.close()
            raise FileError(f"the checkpoint {path} exists; continue it with resume=True, or remove it to start again")
        try:
            if self.resumed:
                self._resume(plan, source)
            else:
                super().__init__(plan, source)
                self.save()
        except BaseException:
            self._file.close()
            raise

    def _resume(self, plan: Plan, source: Source) -> None:
        try:
            with self._file.open() as file:
                checkpoint = Checkpoint.read(file)
        except FileError as error:
            raise FileError(f"the checkpoint {self._file.name}: {error}; choose another, or remove it") from None
        if not continues(checkpoint.plan, plan):
            raise StateError(
                "the checkpoint was started with another plan; use the same arguments, or remove the checkpoint to "
                "start again"
            )
        position = checkpoint.position
        if position is None or position.get("identity") != self._identity:
            raise StateError(
                "the checkpoint was started with other files, columns or options, or the files have changed, so "
                "records could be missed or counted twice; use the same ones, or remove the checkpoint to start again"
            )
        self.plan, self.number, self._source = checkpoint.plan, checkpoint.number, source
        self._check_persons()
        self.summary, self.summary.scratch = checkpoint.summary, READING_SCRATCH
        self._position = (int(position["file"]), int(position["place"]))
        person = {name: value for name, value in position.items() if name not in ("file", "identity", "place")}
        self._person = person or None

    def _run_pass(self, should_stop: Callable[[Batch], bool] | None) -> bool:
        """Count the remaining batches of the current pass and save periodically."""
        saved = self._clock()

        def save_if_due(batch: Batch) -> bool:
            nonlocal saved
            stop = should_stop is not None and should_stop(batch)
            if not stop and self._clock() - saved >= self._every:
                self.save()
                saved = self._clock()
            return stop

        done = super()._run_pass(save_if_due)
        self.save()
        return done

    def _refine(self) -> None:
        """Refine the partition, begin the next pass, and save."""
        super()._refine()
        self.save()

    def save(self) -> None:
        """Write the counters and the position of the reader to the checkpoint."""
        file, offset = self._known_position()
        position = {**(self._person or {}), "file": file, "identity": self._identity, "place": offset}
        self._file.write(Checkpoint(self.summary, position, plan=self.plan, number=self.number).chunks())

    def close(self, *, remove: bool) -> None:
        """Leave the checkpoint to other processes, or remove it."""
        try:
            if remove:
                self._file.remove()
        finally:
            self._file.close()

"""Reading a source into a summary, each record exactly once.

Takes a plan and a source, gives a summary that has counted all of it. With a
checkpoint, counters and position in the source are saved in one file, so that
whatever happens in between, what is counted is what comes before the position.
"""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from privhp.answers.generator import Generator
from privhp.collect.summary import Summary
from privhp.core.budget import Neighbours
from privhp.domains import Domain
from privhp.errors import FileError, PlanError, StateError
from privhp.files import resume_reading, save
from privhp.io.disk import open_alone
from privhp.io.sources import START, Batch, Format, Position, Source, open_source
from privhp.planning.plan import Plan

SCRATCH = 2**23
"""Bytes for the work on a batch, which the reader has read in pieces of megabytes anyway."""


def fit(
    data: Any,
    domain: Domain | None = None,
    *,
    epsilon: float | int | str | Fraction | Decimal | None = None,
    expected_records: float | None = None,
    memory: int | str = "256 KiB",
    neighbours: Neighbours | None = None,
    max_records_per_person: int = 1,
    plan: Plan | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
    format: Format | None = None,  # noqa: A002 - what callers call it
) -> Generator:
    """Read data once and return its private generator.

    The generator is epsilon-differentially private for the relation of the
    plan. Whatever the size of the data, it is read in bounded memory.

    Args:
        data: A path, a glob or "-" for standard input; a list of `Path`s; an array or a sequence of records, a
            dict of arrays, a data frame, anything with Arrow's PyCapsule interface, or an iterator of any of these.
        domain: Where the records live, unless there is a plan.
        epsilon: Total privacy budget.
        expected_records: Expected number of records: a public guess, never a count of the data.
        memory: Bytes for all counters, such as 65536 or "64 KiB"; reading a file and the work on what was read take
            some ten megabytes besides, however long it is.
        neighbours: What one person may change; see `Plan.auto`.
        max_records_per_person: How many records one person may have.
        plan: All of the above, such as `Plan.paper(...)`; by default `Plan.auto` makes it of them.
        columns: The columns that make a record, by name or, without names, by number from 1.
        header: Whether the first line of a CSV text names its columns.
        format: What a file is, where its name does not say it: "csv", "ndjson", "parquet", "arrow" or "npy".
    """
    if plan is None:
        if domain is None or epsilon is None or expected_records is None:
            raise PlanError("expected a domain, an epsilon and expected_records, or a plan, got less")
        plan = Plan.auto(
            domain,
            epsilon=epsilon,
            expected_records=expected_records,
            memory=memory,
            neighbours=neighbours,
            max_records_per_person=max_records_per_person,
        )
    elif (domain is not None and domain != plan.domain) or epsilon is not None or expected_records is not None:
        raise PlanError("expected a plan or its parameters, got both; leave out domain, epsilon and expected_records")
    source = open_source(data, domain=plan.domain, columns=columns, header=header, format=format)
    ingestion = Ingestion(plan, source)
    ingestion.run()
    return ingestion.summary.release()


class Ingestion:
    """A source on its way into a summary.

    Args:
        plan: What is fixed before the data.
        source: Where records come from.
    """

    def __init__(self, plan: Plan, source: Source) -> None:
        self.summary, self._source = Summary(plan, scratch=SCRATCH), source
        self._position: Position = START

    def run(self, watch: Callable[[Batch], bool] | None = None) -> bool:
        """Count all batches that are left, or as many until somebody who watches says to stop; whether it was all."""
        with contextlib.closing(self._source.batches(self._position)) as batches:
            for batch in batches:
                self.summary.update(batch.records)
                self._position = batch.position or START
                if watch is not None and watch(batch):
                    return False
        return True


class CheckpointedIngestion(Ingestion):
    """One that can be gone on with after a crash, from a file that it writes now and then.

    The file is confidential, and belongs to one process at a time. It is there
    before the first record is read, is saved once more after the last one, and
    `close` removes it: until then a release made from it is the same.

    Args:
        plan: What is fixed before the data.
        source: Where records come from: files, which can be read again from a position.
        path: The checkpoint.
        every: Seconds from one to the next.
        resume: Whether to go on with the one that is there, which must be of the same plan and the same files.
        clock: What tells the time.
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
                "expected files to read with a checkpoint, got a pipe or standard input, which cannot be read again "
                "from where it broke off, so that records would be lost or count twice; write the data to a file first"
            )
        self._path, self._every, self._clock = path, every, clock
        self._identity = source.identity
        self._lock = _Lock(path)
        try:
            if resume:
                self._resume(plan, source)
            else:
                self._begin(plan, source)
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, plan: Plan, source: Source) -> None:
        if self._path.exists():
            raise FileError(
                f"expected no file at {self._path}, got one; go on with it by --resume, or remove it to begin again"
            )
        super().__init__(plan, source)
        self.save()

    def _resume(self, plan: Plan, source: Source) -> None:
        if not self._path.exists():
            raise FileError(f"expected a checkpoint at {self._path}, got none; leave --resume out to begin")
        summary, place = resume_reading(self._path)
        if dataclasses.replace(plan, hash_seed=summary.plan.hash_seed) != summary.plan:
            raise StateError(
                "expected the plan of the checkpoint, got another; repeat the command that it was begun with"
            )
        if place is None or place.get("identity") != self._identity:
            raise StateError(
                "expected the files and columns that the checkpoint was begun with, unchanged, got others; "
                "records could be lost or count twice, so begin again with another checkpoint"
            )
        summary.scratch = SCRATCH
        self.summary, self._source = summary, source
        self._position = (int(place["file"]), int(place["place"]))

    def run(self, watch: Callable[[Batch], bool] | None = None) -> bool:
        """Count all batches that are left, saving now and then; see `Ingestion.run`."""
        saved = self._clock()

        def watch_and_save(batch: Batch) -> bool:
            nonlocal saved
            stop = watch is not None and watch(batch)
            if not stop and self._clock() - saved >= self._every:
                self.save()
                saved = self._clock()
            return stop

        done = super().run(watch_and_save)
        self.save()
        return done

    def save(self) -> None:
        """Write the checkpoint: counters and position, together or not at all."""
        file, place = self._position
        save(self.summary, self._path, source={"file": file, "identity": self._identity, "place": place})

    def close(self, *, released: bool) -> None:
        """Let go of the checkpoint, and remove it once the release is on the disk."""
        try:
            if released:
                self._path.unlink(missing_ok=True)
        finally:
            self._lock.release()


class _Lock:
    """What keeps a second process from the same checkpoint; it goes with the process, however that ends."""

    def __init__(self, path: Path) -> None:
        self._path = Path(f"{path}.lock")
        if not path.parent.is_dir():
            raise FileError(f"expected a folder at {path.parent} for the checkpoint, got none; make it first")
        try:
            self._file = open_alone(self._path, mode=0o600)
        except BlockingIOError:
            raise StateError(
                f"expected the checkpoint {path} for this process alone, got another that uses it; wait for that"
            ) from None

    def release(self) -> None:
        """Remove it while it is held."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)

"""Reading a source into a summary, each record exactly once.

Takes a plan and a source, gives a summary that has counted all of it. With a
checkpoint, counters and position in the source are saved in one file, so that
whatever happens in between, what is counted is what comes before the position.
"""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path

from privhp.collect.checkpoint import Checkpoint, ReaderPosition
from privhp.collect.summary import Summary
from privhp.errors import FileError, StateError
from privhp.io.disk import open_alone
from privhp.io.sources import START, Batch, Position, Source
from privhp.planning.plan import Plan

SCRATCH = 2**23
"""Bytes for the work on a batch, which the reader has read in pieces of megabytes anyway."""


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
        summary, place = Checkpoint.resume(self._path)
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
        position: ReaderPosition = {"file": file, "identity": self._identity, "place": place}
        Checkpoint(self.summary, position).save(self._path)

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

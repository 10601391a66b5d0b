"""Ingestion: count all records of a source in a summary, each exactly once.

With a checkpoint, the counters and the position in the source are saved in one
file. So after any interruption the counted records are those before the
position.
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
from privhp.io.disk import open_locked
from privhp.io.sources import START, Batch, Position, Source
from privhp.planning.plan import Plan

READING_SCRATCH = 2**23
"""Scratch bytes of a summary that is filled from a source, if the plan leaves less; readers hold megabytes too."""


class Ingestion:
    """One pass over a source that fills a summary.

    Args:
        plan: The plan of the summary.
        source: The source of the records.
    """

    def __init__(self, plan: Plan, source: Source) -> None:
        self.summary, self._source = Summary(plan, scratch=READING_SCRATCH), source
        self._position: Position = START

    def run(self, should_stop: Callable[[Batch], bool] | None = None) -> bool:
        """Count the remaining batches until `should_stop` returns true for one; return whether all were counted."""
        with contextlib.closing(self._source.batches(self._position)) as batches:
            for batch in batches:
                self.summary.update(batch.records)
                self._position = batch.position or START
                if should_stop is not None and should_stop(batch):
                    return False
        return True


class CheckpointedIngestion(Ingestion):
    """An ingestion that periodically saves a checkpoint and can be resumed.

    The checkpoint is confidential and belongs to one process at a time. It is
    written before the first record is read and after the last one, and `close`
    removes it after the release.

    Args:
        plan: The plan of the summary.
        source: The source of the records: files, which can be read again from a position.
        path: Path of the checkpoint.
        every: Seconds between two saves.
        resume: Whether to resume an existing checkpoint, which must have the same plan and files.
        clock: Returns the time in seconds.
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
                f"the checkpoint {self._path} exists; continue it with resume=True, or remove it to start again"
            )
        super().__init__(plan, source)
        self.save()

    def _resume(self, plan: Plan, source: Source) -> None:
        if not self._path.exists():
            raise FileError(f"there is no checkpoint at {self._path}; leave out resume=True to start one")
        summary, position = Checkpoint.resume(self._path)
        if dataclasses.replace(plan, hash_seed=summary.plan.hash_seed) != summary.plan:
            raise StateError(
                "the checkpoint was started with another plan; use the same arguments, or start a new checkpoint"
            )
        if position is None or position.get("identity") != self._identity:
            raise StateError(
                "the checkpoint was started with other files or columns, or the files have changed, so records could "
                "be lost or counted twice; use the same files and columns, or start a new checkpoint"
            )
        summary.scratch = READING_SCRATCH
        self.summary, self._source = summary, source
        self._position = (int(position["file"]), int(position["place"]))

    def run(self, should_stop: Callable[[Batch], bool] | None = None) -> bool:
        """Count the remaining batches and save periodically; see `Ingestion.run`."""
        saved = self._clock()

        def save_if_due(batch: Batch) -> bool:
            nonlocal saved
            stop = should_stop is not None and should_stop(batch)
            if not stop and self._clock() - saved >= self._every:
                self.save()
                saved = self._clock()
            return stop

        done = super().run(save_if_due)
        self.save()
        return done

    def save(self) -> None:
        """Write the counters and the position of the reader to the checkpoint."""
        file, offset = self._position
        position: ReaderPosition = {"file": file, "identity": self._identity, "place": offset}
        Checkpoint(self.summary, position).save(self._path)

    def close(self, *, released: bool) -> None:
        """Release the lock, and remove the checkpoint if the release is saved."""
        try:
            if released:
                self._path.unlink(missing_ok=True)
        finally:
            self._lock.release()


class _Lock:
    """Advisory lock on the checkpoint, released when the process exits."""

    def __init__(self, path: Path) -> None:
        self._path = Path(f"{path}.lock")
        if not path.parent.is_dir():
            raise FileError(f"the folder {path.parent} of the checkpoint does not exist; create it first")
        try:
            self._file = open_locked(self._path, mode=0o600)
        except BlockingIOError:
            raise StateError(f"another process uses the checkpoint {path}; wait until it ends") from None

    def release(self) -> None:
        """Remove the lock file while the lock is held."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)

"""Structured Streaming: micro-batches in a summary on disk, each exactly once.

Spark runs a micro-batch again if the driver ends before the batch is committed.
The file therefore holds the counters together with the query and the number of
the batch that they include last, and is replaced as a whole.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from privhp.answers.generator import Generator
from privhp.collect.checkpoint import Checkpoint
from privhp.collect.learning import continues
from privhp.collect.summary import Summary
from privhp.collect.tally import Tally
from privhp.core.container import CHECKPOINT
from privhp.engines.fold import PassFold
from privhp.engines.spark import check_records, count_frame, select_records
from privhp.errors import StateError, file_errors
from privhp.io.disk import OwnedFile
from privhp.planning.plan import Plan

_QUERY_ID = "sql.streaming.queryId"


class BatchCounter:
    """Counts the micro-batches of one streaming query in a summary on disk.

    A batch that Spark repeats is skipped, whatever attempt of it was counted.
    Another query on the same file is refused, and so is the same one from an
    earlier batch: a full refresh would count all records again.

    Args:
        path: File of the summary. Confidential, as every checkpoint.
        plan: A plan of one pass, or with a partition.
        columns: Columns of a record, by name.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan, *, columns: Sequence[str] | None = None) -> None:
        Tally(plan)  # refuses a plan that must learn first
        self._path, self._plan, self._columns = Path(path), plan, columns

    def writer(self, stream: Any) -> Any:
        """The `DataStreamWriter` that counts a streaming data frame; give it a checkpoint of Spark, and start it.

        The query is checked as that of `privhp.engines.spark.fit`.

        Args:
            stream: A streaming data frame of a classic session; Spark Connect does not name the query of a batch.
        """
        frame = select_records(stream, self._plan.domain, self._columns)
        check_records(frame)
        return frame.writeStream.foreachBatch(self._count_batch)

    def _count_batch(self, frame: Any, batch: int) -> None:
        query = frame.sparkSession.sparkContext.getLocalProperty(_QUERY_ID)
        self.count(query, batch, partial(count_frame, frame))

    @file_errors()
    def count(self, query: str, batch: int, run_pass: Callable[[PassFold], Iterable[bytes]]) -> None:
        """Count a batch once, and save the summary with its number.

        Args:
            query: Id of the query, which stays the same when the query restarts from its checkpoint.
            batch: Number of the batch.
            run_pass: Counts the records of the batch; see `fit_passes`.
        """
        file = OwnedFile(self._path, magic=CHECKPOINT)
        try:
            summary = self._read(file) if file.exists else Summary(self._plan, sources={query: batch})
            following = summary.positions.get(query)
            if following is None or not following - 1 <= batch <= following:
                raise StateError(
                    "the file belongs to another query, or this one does not continue after the last batch that was "
                    "counted: records could be lost or counted twice; restart the query from its own checkpoint, or "
                    "start another file for records that were never counted"
                )
            if batch == following:
                fold = PassFold(summary.plan, columns=self._columns)
                tally = Tally.from_bytes(fold.merge(run_pass(fold)))
                summary.absorb(tally, source=query, sequence=batch)
                file.write(Checkpoint(summary).chunks())
        finally:
            file.close()

    @file_errors()
    def release(self) -> Generator:
        """Return the generator of all batches since the last release, and begin a new summary after them."""
        file = OwnedFile(self._path, magic=CHECKPOINT)
        try:
            if not file.exists:
                raise StateError("no batch was counted yet; start the query first")
            summary = self._read(file)
            ((query, following),) = summary.positions.items()
            release = summary.close()
            fresh = Summary(release.plan, sources={query: following - 1})
            fresh.absorb(Tally(release.plan), source=query, sequence=following - 1)  # counted in this release
            file.write(Checkpoint(fresh).chunks())
        finally:
            file.close()
        return Generator(release)

    def _read(self, file: OwnedFile) -> Summary:
        """The summary so far."""
        with file.open() as opened:
            checkpoint = Checkpoint.read(opened)
        if not continues(checkpoint.plan, self._plan) or len(checkpoint.summary.positions) != 1:
            raise StateError("the file was started with another plan, or is not one of a query; choose another file")
        return checkpoint.summary

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
from privhp.collect.checkpoint import Checkpoint, ReaderPosition
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
            checkpoint = self._read(file)
            if _is_next(checkpoint.position, query, batch):
                summary = checkpoint.summary
                for data in run_pass(PassFold(summary.plan, columns=self._columns)):
                    summary.absorb(Tally.from_bytes(data))
                file.write(Checkpoint(summary, {"query": query, "batch": batch}).chunks())
        finally:
            file.close()

    @file_errors()
    def release(self) -> Generator:
        """Return the generator of all batches since the last release, and begin a new summary after them."""
        file = OwnedFile(self._path, magic=CHECKPOINT)
        try:
            checkpoint = self._read(file)
            if checkpoint.position is None:
                raise StateError("no batch was counted yet; start the query first")
            release = checkpoint.summary.close()
            file.write(Checkpoint(Summary(release.plan), checkpoint.position).chunks())
        finally:
            file.close()
        return Generator(release)

    def _read(self, file: OwnedFile) -> Checkpoint:
        """The summary so far, or a new one."""
        if not file.exists:
            return Checkpoint(Summary(self._plan))
        with file.open() as opened:
            checkpoint = Checkpoint.read(opened)
        if not continues(checkpoint.plan, self._plan) or checkpoint.learning:
            raise StateError("the file was started with another plan; use the same arguments, or another file")
        return checkpoint


def _is_next(position: ReaderPosition | None, query: str, batch: int) -> bool:
    """Whether a batch is to be counted; False for a repetition of the last one."""
    if position is None:
        return True
    last = position.get("batch")
    if position.get("query") != query or not isinstance(last, int) or not last <= batch <= last + 1:
        raise StateError(
            "the file belongs to another query, or this one does not continue after the last batch that was counted: "
            "records could be lost or counted twice; restart the query from its own checkpoint, or start another file "
            "for records that were never counted"
        )
    return batch == last + 1

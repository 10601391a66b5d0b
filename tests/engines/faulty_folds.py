"""A fold whose tasks fail in the middle, once for each time that they are armed."""

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import cloudpickle

from privhp.engines import PassFold


@dataclass(frozen=True)
class FaultyFold(PassFold):
    """A fold that fails after the first item of a task, in the stages that are armed.

    Args:
        folder: Folder of the files that arm a stage, and of those that note a fault.
        fault: "raise" ends the task, "kill" ends the executor, "wait" makes the task slow.
    """

    folder: str = ""
    fault: str = "raise"

    @classmethod
    def arm(cls, fold: PassFold, folder: Path, fault: str, *stages: str) -> "FaultyFold":
        """The same fold, with a fault in the next task of each stage."""
        for stage in stages:
            (folder / f"armed-{stage}").touch()
        return cls(fold.plan, fold.rate, fold.columns, str(folder), fault)

    def count(self, shard: Any) -> bytes:
        return super().count(self._interrupted(shard, "count"))

    def merge(self, tallies: Iterable[bytes]) -> bytes:
        return super().merge(self._interrupted(tallies, "merge"))

    def _interrupted(self, items: Any, stage: str) -> Iterator[Any]:
        for item in items:
            yield item
            self._strike(stage)

    def _strike(self, stage: str) -> None:
        armed = Path(self.folder) / f"armed-{stage}"
        try:
            armed.unlink()
        except FileNotFoundError:
            return
        Path(self.folder, f"struck-{stage}-{time.monotonic_ns()}").touch()
        if self.fault == "raise":
            raise RuntimeError("a planted fault")
        if self.fault == "wait":
            time.sleep(20)
        else:
            os.kill(_executor(), signal.SIGKILL)
            time.sleep(60)


def struck(folder: Path) -> int:
    """Number of faults so far."""
    return len(list(folder.glob("struck-*")))


def _executor() -> int:
    """Process of the executor: the Java process that started the parent of this worker."""
    pid = os.getppid()
    while Path(f"/proc/{pid}/comm").read_text().strip() != "java":
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    assert "CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_text()
    return pid


cloudpickle.register_pickle_by_value(sys.modules[__name__])

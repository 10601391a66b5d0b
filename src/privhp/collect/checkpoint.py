"""Checkpoints and summary files: the confidential state of a summary on disk.

A checkpoint holds the counters of a summary, the ids of all merged summaries
and tallies, the numbers that it counted of declared sources, and, while a source
is being read, the position of the reader. A summary file is a checkpoint without
a position.

One checkpoint alone is as private as a release (pan-privacy against one
intrusion) if no record decides when it is saved. `fit` saves after a number of
rows or bytes, which a record shifts. A checkpoint and a later one, or the
release, reveal the noise-free counts of the records in between.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from privhp.collect.deliveries import Deliveries
from privhp.collect.learning import is_learning, pass_plan
from privhp.collect.summary import Summary, restore_summary
from privhp.core.container import CHECKPOINT, content_errors, pack, read_number, unpack
from privhp.core.path_texts import check_path
from privhp.core.regular_files import open_regular
from privhp.errors import FileError
from privhp.io.disk import remove_partials, write_file
from privhp.planning.plan import Plan
from privhp.release import plan_header, read_merged

ReaderPosition: TypeAlias = Mapping[str, int | str]
"""Opaque position of a reader: names with strings and integers, defined by the reader."""


class Checkpoint:
    """A summary, and the pass and the position of the reader that fills it. Confidential.

    Counters and position are saved in one file, so every record before the
    position is counted once and no record after it.

    Args:
        summary: The summary of the current pass.
        position: Position of its reader; None for a summary file.
        plan: The plan of all passes; by default that of the summary.
        number: Number of the pass; by default that of the measuring pass.
    """

    def __init__(
        self,
        summary: Summary,
        position: ReaderPosition | None = None,
        *,
        plan: Plan | None = None,
        number: int | None = None,
    ) -> None:
        self.summary, self.position = summary, position
        self.plan = summary.plan if plan is None else plan
        self.number = self.plan.passes - 1 if number is None else number

    @property
    def learning(self) -> bool:
        """Whether the summary is that of a learning pass."""
        return is_learning(self.plan, self.number)

    def chunks(self) -> list[bytes | memoryview]:
        """The bytes of the file, as a list of chunks."""
        position = None if self.position is None else _check_position(self.position)
        with self.summary.locked():
            cells, ids = self.summary.state(), sorted(self.summary.merged_ids)
            header = _Header(self.plan, self.number, self.summary.merged, len(ids), position, self.summary.deliveries)
            return pack(CHECKPOINT, header, cells, ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file atomically, readable by its owner only."""
        check_path(path)
        write_file(Path(path), self.chunks(), mode=0o600)

    @classmethod
    def read(cls, file: BinaryIO) -> "Checkpoint":
        """Read a checkpoint from a seekable binary file."""
        header, cells, ids = unpack(file, CHECKPOINT, _Header)
        with content_errors():
            summary = restore_summary(
                header.pass_plan, cells, frozenset(ids), merged=header.merged, deliveries=header.deliveries
            )
        return cls(summary, header.position, plan=header.plan, number=header.number)

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> "Checkpoint":
        """Read a checkpoint and remove the partial files of crashed saves, which are confidential too."""
        with open_regular(path) as file:
            checkpoint = cls.read(file)
        remove_partials(Path(path), magic=CHECKPOINT)
        return checkpoint


@dataclass(frozen=True)
class _Header:
    """The header of a checkpoint."""

    plan: Plan
    number: int
    merged: int
    ids: int
    position: ReaderPosition | None
    deliveries: Deliveries

    @property
    def pass_plan(self) -> Plan:
        """The plan of the summary."""
        return pass_plan(self.plan, self.number)

    @property
    def cells(self) -> int:
        return self.pass_plan.counters

    def to_json(self) -> dict[str, Any]:
        header = plan_header(self.plan, merged=self.merged) | {"ids": self.ids}
        if self.position is not None:
            header["source"] = dict(self.position)
        if self.deliveries.ranges:
            header["sources"] = self.deliveries.to_json()
        return header | ({"pass": self.number} if is_learning(self.plan, self.number) else {})

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> "_Header":
        plan, position = Plan.from_spec(header["plan"]), None
        if "source" in header:
            position = _check_position(header["source"])
        ids = read_number(header, "ids", default=0, least=1)
        deliveries, number = Deliveries.from_json(header.get("sources", {})), plan.passes - 1
        return cls(plan, read_number(header, "pass", default=number), read_merged(header), ids, position, deliveries)


def _check_position(position: Any) -> ReaderPosition:
    """Refuse a position that a header cannot hold."""
    plain = isinstance(position, Mapping) and all(
        isinstance(name, str) and (isinstance(value, str) or (type(value) is int and abs(value) < 2**63))
        for name, value in position.items()
    )
    if not plain:
        raise FileError("a position must be a mapping from names to strings and 64-bit integers")
    return dict(position)

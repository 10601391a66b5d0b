"""Checkpoints and summary files: the confidential state of a summary on disk.

A checkpoint holds the counters of a summary, the ids of all merged summaries
and tallies, and, while a source is being read, the position of the reader. A
summary file is a checkpoint without a position.

One checkpoint alone is as private as a release (pan-privacy against one
intrusion). A checkpoint and a later one, or the release, reveal the noise-free
counts of the records in between.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from privhp.collect.summary import Summary
from privhp.core.container import CHECKPOINT, content_errors, pack, read_number, unpack
from privhp.errors import FileError, file_errors
from privhp.io.disk import exclusive_write_errors, partial_path, remove_unlocked, write_file
from privhp.planning.plan import Plan
from privhp.release import plan_header, read_progress

ReaderPosition: TypeAlias = Mapping[str, int | str]
"""Opaque position of a reader: names with strings and integers, defined by the reader."""


class Checkpoint(NamedTuple):
    """A summary and the position of the reader that fills it. Confidential.

    Counters and position are saved in one file, so every record before the
    position is counted once and no record after it.
    """

    summary: Summary
    position: ReaderPosition | None = None

    def chunks(self) -> list[bytes | memoryview]:
        """The bytes of the file, as a list of chunks."""
        summary, position = self
        if position is not None:
            position = _check_position(position)
        cells, ids = summary.state(), sorted(summary.merged_ids)
        header = _Header(summary.plan, summary.refinements, summary.merged, len(ids), summary.rows, position)
        return pack(CHECKPOINT, header, cells, ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file atomically, readable by its owner only."""
        write_file(Path(path), self.chunks(), mode=0o600)

    @classmethod
    def read(cls, file: BinaryIO) -> "Checkpoint":
        """Read a checkpoint from a seekable binary file."""
        header, cells, ids = unpack(file, CHECKPOINT, _Header)
        with content_errors():
            summary = Summary.from_state(
                header.plan,
                cells,
                frozenset(ids),
                rows=header.rows,
                refinements=header.refinements,
                merged=header.merged,
            )
        return cls(summary, header.position)

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> "Checkpoint":
        """Read a checkpoint and remove the partial file of an interrupted save, which is confidential too."""
        with file_errors(), Path(path).open("rb") as file:
            checkpoint = cls.read(file)
        with exclusive_write_errors(Path(path)):
            remove_unlocked(partial_path(Path(path)))
        return checkpoint


@dataclass(frozen=True)
class _Header:
    """The header of a checkpoint."""

    plan: Plan
    refinements: int
    merged: int
    ids: int
    rows: int
    position: ReaderPosition | None

    @property
    def cells(self) -> int:
        return self.plan.counters

    def to_json(self) -> dict[str, Any]:
        header = plan_header(self.plan, refinements=self.refinements, merged=self.merged) | {"lineage": self.ids}
        if self.position is not None:
            header["source"] = dict(self.position)
        return header | ({} if self.plan.learned is None else {"rows": self.rows})

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> "_Header":
        position = _check_position(header["source"]) if "source" in header else None
        ids = read_number(header, "lineage", default=0, least=1)
        rows = read_number(header, "rows", default=0)
        return cls(Plan.from_spec(header["plan"]), *read_progress(header), ids, rows, position)


def _check_position(position: Any) -> ReaderPosition:
    """Refuse a position that a header cannot hold."""
    plain = isinstance(position, Mapping) and all(
        isinstance(name, str) and (isinstance(value, str) or (type(value) is int and abs(value) < 2**63))
        for name, value in position.items()
    )
    if not plain:
        raise FileError("a position must be a mapping from names to strings and 64-bit integers")
    return dict(position)

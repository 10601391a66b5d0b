"""A release: the plan and its noisy counts, public and immutable, and the release file.

All answers are post-processing: functions of a release. Code that computes
answers imports this module and nothing that reads records.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from privhp.core.cells import Counts
from privhp.core.container import RELEASE, check_storable, content_errors, pack, read_number, unpack
from privhp.errors import PlanError
from privhp.planning.plan import Plan

_CHECKPOINT_BYTES = 2**12
"""More than the header of a checkpoint has beside the plan: the position of a reader, and numbers."""


@dataclass(frozen=True, eq=False)
class Release:
    """Noisy counts of every measured level of a plan.

    Args:
        plan: The plan of the summary.
        counts: Noisy counters by measured level: one per cell for an exact level, a table of
            rows and buckets for a sketched level, one per leaf for the root level of a partition.
        merged: Number of merged summaries, each with independent noise.
        columns: Releases of the columns that are measured by themselves, by label.
    """

    plan: Plan
    counts: Mapping[int, Counts]
    merged: int = 1
    columns: Mapping[str, "Release"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = {level: (array.shape, array.dtype) for level, array in self.counts.items()}
        if self.plan.has_partition and self.plan.partition is None:
            raise PlanError("a release needs a plan with a known partition")
        if found != {level: (shape, np.dtype(np.int64)) for level, shape in self.plan.shapes.items()}:
            raise PlanError("a release needs one int64 array of the plan's shape for each measured level")
        check_merged(self.merged)
        columns = {label: (own.plan, own.merged) for label, own in self.columns.items()}
        if columns != {label: (own, self.merged) for label, own in self.plan.column_plans.items()}:
            raise PlanError("a release needs one release of the plan's column for each measured column")
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        frozen = {level: _frozen(self.counts[level]) for level in self.plan.shapes}
        object.__setattr__(self, "counts", MappingProxyType(frozen))

    def cells(self) -> Counts:
        """All noisy counts in one array, coarsest level first, then those of each column."""
        columns = (own.cells() for own in self.columns.values())
        return np.concatenate([*(array.ravel() for array in self.counts.values()), *columns])

    def to_bytes(self) -> bytes:
        """The bytes of a release file. Public."""
        return b"".join(self.chunks())

    def chunks(self) -> list[bytes | memoryview]:
        """The bytes of a release file, as a list of chunks."""
        return pack(RELEASE, _Header(self.plan, self.merged), self.cells())

    @classmethod
    def from_bytes(cls, data: bytes) -> "Release":
        """Parse the bytes of a release file."""
        return cls.read(io.BytesIO(data))

    @classmethod
    def read(cls, file: BinaryIO) -> "Release":
        """Read a release from a seekable binary file."""
        header, cells, _ = unpack(file, RELEASE, _Header)
        with content_errors():
            return cls._of_cells(header.plan, cells, header.merged)

    @classmethod
    def _of_cells(cls, plan: Plan, cells: Counts, merged: int) -> "Release":
        """The release with all noisy counts in one array."""
        plans, parts = plan.column_plans, plan.unpack_columns(cells)
        columns = {label: cls._of_cells(own, parts[label], merged) for label, own in plans.items()}
        return cls(plan, plan.unpack(cells), merged=merged, columns=columns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as plain arrays."""
        return Release, (self.plan, dict(self.counts), self.merged, dict(self.columns))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return False
        same = (self.plan, self.merged) == (other.plan, other.merged)
        return same and np.array_equal(self.cells(), other.cells())

    def __hash__(self) -> int:
        return hash(self.plan)


@dataclass(frozen=True)
class _Header:
    """The header of a release file."""

    plan: Plan
    merged: int
    ids = 0

    @property
    def cells(self) -> int:
        return self.plan.counters

    def to_json(self) -> dict[str, Any]:
        return plan_header(self.plan, merged=self.merged)

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> "_Header":
        return cls(Plan.from_spec(header["plan"]), read_merged(header))


def check_plan_size(plan: Plan) -> None:
    """Refuse a plan that is too large for a release file or a checkpoint, before any record is read."""
    known = not plan.has_partition or plan.partition is not None
    check_storable(_Header(plan, merged=1), spare=_CHECKPOINT_BYTES, cells=plan.counters if known else 0)


def plan_header(plan: Plan, *, merged: int) -> dict[str, Any]:
    """The header keys that release files and checkpoints share; defaults are left out."""
    return {"plan": plan.spec()} | ({} if merged == 1 else {"merged": merged})


def read_merged(header: dict[str, Any]) -> int:
    """Number of merged summaries in a header."""
    return read_number(header, "merged", default=1)


def check_merged(merged: int) -> None:
    """Refuse an impossible number of merged summaries."""
    if type(merged) is not int or not 1 <= merged <= 2**62:
        raise PlanError("the number of merged summaries must be positive")


def _frozen(array: Counts) -> Counts:
    copy = array.copy()
    copy.flags.writeable = False
    return copy

"""A release: the plan and its noisy counts, public and immutable, and the release file.

All answers are post-processing: functions of a release. Code that computes
answers imports this module and nothing that reads records.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from privhp.core.cells import Counts
from privhp.core.container import RELEASE, content_errors, pack, read_number, unpack
from privhp.errors import PlanError
from privhp.planning.partition import is_sound
from privhp.planning.plan import Plan


@dataclass(frozen=True, eq=False)
class Release:
    """Noisy counts of every measured level of a plan.

    Args:
        plan: The plan of the summary.
        counts: Noisy counters by measured level: one per cell for an exact level, a table of
            rows and buckets for a sketched level, the slots of a learned partition for its first level.
        refinements: Number of refinements of a learned partition.
        merged: Number of merged summaries, each with independent noise.
    """

    plan: Plan
    counts: Mapping[int, Counts]
    refinements: int = 0
    merged: int = 1

    def __post_init__(self) -> None:
        found = {level: (array.shape, array.dtype) for level, array in self.counts.items()}
        if found != {level: (shape, np.dtype(np.int64)) for level, shape in self.plan.shapes.items()}:
            raise PlanError("a release needs one int64 array of the plan's shape for each measured level")
        check_merged(self.plan, self.merged)
        if self.plan.learned is not None:
            check_partition(self.plan, self.counts[self.plan.learned_level], self.refinements)
        frozen = {level: _frozen(self.counts[level]) for level in self.plan.shapes}
        object.__setattr__(self, "counts", MappingProxyType(frozen))

    def cells(self) -> Counts:
        """All noisy counts in one array, coarsest level first."""
        return np.concatenate([array.ravel() for array in self.counts.values()])

    def to_bytes(self) -> bytes:
        """The bytes of a release file. Public."""
        return b"".join(self.chunks())

    def chunks(self) -> list[bytes | memoryview]:
        """The bytes of a release file, as a list of chunks."""
        return pack(RELEASE, _Header(self.plan, self.refinements, self.merged), self.cells())

    @classmethod
    def from_bytes(cls, data: bytes) -> "Release":
        """Parse the bytes of a release file."""
        return cls.read(io.BytesIO(data))

    @classmethod
    def read(cls, file: BinaryIO) -> "Release":
        """Read a release from a seekable binary file."""
        header, cells, _ = unpack(file, RELEASE, _Header)
        with content_errors():
            counts = header.plan.unpack(cells)
            return cls(header.plan, counts, refinements=header.refinements, merged=header.merged)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as plain arrays."""
        return Release, (self.plan, dict(self.counts), self.refinements, self.merged)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return False
        same = (self.plan, self.refinements, self.merged) == (other.plan, other.refinements, other.merged)
        return same and np.array_equal(self.cells(), other.cells())

    def __hash__(self) -> int:
        return hash(self.plan)


@dataclass(frozen=True)
class _Header:
    """The header of a release file."""

    plan: Plan
    refinements: int
    merged: int
    ids = 0

    @property
    def cells(self) -> int:
        return self.plan.counters

    def to_json(self) -> dict[str, Any]:
        return plan_header(self.plan, refinements=self.refinements, merged=self.merged)

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> "_Header":
        return cls(Plan.from_spec(header["plan"]), *read_progress(header))


def plan_header(plan: Plan, *, refinements: int, merged: int) -> dict[str, Any]:
    """The header keys that release files and checkpoints share; defaults are left out."""
    header = {"plan": plan.spec()} | ({} if merged == 1 else {"parts": merged})
    return header | ({} if plan.learned is None else {"refinements": refinements})


def read_progress(header: dict[str, Any]) -> tuple[int, int]:
    """Number of refinements and number of merged summaries in a header."""
    return read_number(header, "refinements", default=0), read_number(header, "parts", default=1)


def check_merged(plan: Plan, merged: int) -> None:
    """Refuse a number of merged summaries that is impossible under the plan."""
    if type(merged) is not int or not 1 <= merged <= (2**62 if plan.learned is None else 1):
        raise PlanError("the number of merged summaries must be positive, and 1 for a learned partition")


def check_partition(plan: Plan, slots: Counts, refinements: int) -> None:
    """Refuse slots or a number of refinements that are impossible under the plan."""
    assert plan.learned is not None
    known = type(refinements) is int and 0 <= refinements <= len(plan.learned.refinement_rows)
    if not known or not is_sound(slots, level=plan.learned_level, depth=plan.depth, refinements=refinements):
        raise PlanError("the slots are not a valid partition with at most the refinements of the plan")


def _frozen(array: Counts) -> Counts:
    copy = array.copy()
    copy.flags.writeable = False
    return copy

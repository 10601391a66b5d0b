"""A summary: a tally born with noise.

Takes records, tallies and other summaries; gives one release, once. Every
cell has its noise before the first record, so no bare count is ever in it.
"""

import math
import os
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from privhp.answers.generator import Generator
from privhp.collect.noise import discrete_laplace
from privhp.collect.refinement import Refinement
from privhp.collect.tally import Tally, check_mergeable
from privhp.core.cells import Counts, fold
from privhp.errors import StateError
from privhp.planning.partition import Partition
from privhp.planning.plan import Plan
from privhp.release import Release, check_merged, check_partition

_CELL_BYTES = 1024
"""What drawing noise and a refinement may take for each cell in one go, up to 64 parts of it included."""


class Summary:
    """A private summary of a stream, in the memory that its plan says.

    What `release()` returns is epsilon-differentially private for the
    neighbouring relation of the plan. Any two looks at the state of one
    summary are not: a summary is released once, and checkpoints of it are
    confidential.

    The state is a bijection of the paper's: counters of the exact depth, and
    for each coarser measured level its own noise less the noise that it would
    inherit from those counters, so that a record costs one increment for all
    exact levels.

    The memory of a plan is that of all counters, and of the work on arrays,
    tables and refinements. Beyond it come the batch itself, what is made of a
    list while it is read, counters of its own for each thread, and up to 32 KiB
    of objects whatever the plan.

    Args:
        plan: What was fixed before the data.
        scratch: Bytes that the work may take where that is more than the memory of the plan leaves; it is faster in
            larger pieces, and records are counted the same.
    """

    def __init__(self, plan: Plan, *, scratch: int = 0) -> None:
        """Draw all the noise, from the entropy of the operating system."""
        self.scratch = scratch
        self._tally = Tally(plan)
        self._merged = 1
        self._closed = False
        self._process = os.getpid()
        self._add_noise(plan.exact_depth, self._tally.counters)
        self._corrections: dict[int, Counts] = {}
        for level in plan.exact_levels[:-1]:
            self._corrections[level] = -fold(self._tally.counters, levels=plan.exact_depth - level)
            self._add_noise(level, self._corrections[level])
        for level, table in self._tally.tables.items():
            self._add_noise(level, table.reshape(-1))
        if self._tally.partition is not None:
            self._add_noise(plan.growth_level, self._tally.partition.slots[: 2**plan.growth_level])

    def _noise(self, level: int, size: int) -> Counts:
        return discrete_laplace(size, scale=self.plan.scale(level))

    def _add_noise(self, level: int, counters: Counts) -> None:
        """Fresh noise for all of some counters, before they count a record."""
        for start in range(0, counters.size, self._piece):
            piece = counters[start : start + self._piece]
            piece += self._noise(level, piece.size)

    def _add_noise_at(self, slots: NDArray[np.int64]) -> None:
        """Fresh noise for cells of the partition, before they count another record."""
        partition = self._tally.partition
        assert partition is not None
        partition.slots[slots] += self._noise(self.plan.growth_level, slots.size)

    @property
    def _piece(self) -> int:
        """Cells to work on in one go, few enough for the memory that the plan leaves."""
        if not self.plan.memory:
            return 2**31
        return max(max(self.scratch, self.plan.memory - self.plan.nbytes) // _CELL_BYTES, 16)

    def _refine(self) -> None:
        """Cut the cells that promise most, and let every cell go on with fresh noise.

        Up to here the noisy counts are a release of the records so far, which
        nothing below looks behind; all later records are counted under noise of
        their own. So each record is in one of several releases of epsilon each.
        If this is interrupted no record is counted any more, so that a cell which
        got no noise of its own holds none that it would have to hide.
        """
        partition = self._tally.partition
        assert partition is not None
        refinement = Refinement(self.plan, partition, rows=self._tally.rows, piece=self._piece)
        partition.refinements += 1
        for cells in partition.counted(self._piece):
            levels = refinement.levels(cells)
            # Before the fresh noise, never after: what is taken off must be noise of stretches that have ended.
            partition.slots[cells.slots] = refinement.settled(cells, partition.slots[cells.slots])
            new = partition.cut(cells, levels)
            self._add_noise_at(cells.slots[levels == 0])
            for start in range(0, new.size, self._piece):
                self._add_noise_at(new[start : start + self._piece])

    @classmethod
    def from_state(
        cls,
        plan: Plan,
        cells: Counts,
        merged_ids: frozenset[bytes],
        *,
        rows: int = 0,
        refinements: int = 0,
        merged: int = 1,
    ) -> "Summary":
        """The summary whose state, merged_ids and progress these are, as a checkpoint holds them."""
        check_merged(plan, merged)
        if merged > len(merged_ids):
            raise StateError("expected a name for each summary that was added up, got fewer")
        summary = cls.__new__(cls)
        summary.scratch = 0
        summary._tally = Tally(plan)
        summary._tally.merged_ids = merged_ids
        summary._merged = merged
        summary._closed = False
        summary._process = os.getpid()
        summary._corrections = {level: np.zeros(2**level, dtype=np.int64) for level in plan.exact_levels[:-1]}
        for level, counters in plan.unpack(cells).items():
            summary._levels[level][...] = counters
        if plan.growth is not None:
            slots = summary._levels[plan.growth_level]
            check_partition(plan, slots, refinements)
            moments = (0, *plan.growth.refined_after, math.inf)
            if not moments[refinements] <= rows < moments[refinements + 1]:
                raise StateError("expected a partition that was refined after the rows that its plan says, got another")
            summary._tally.partition = Partition(plan.growth_level, slots, refinements=refinements)
            summary._tally.rows = rows
        return summary

    @property
    def rows(self) -> int:
        """Rows seen by a partition that grows, which are public; 0 for every other plan."""
        return self._tally.rows

    @property
    def refinements(self) -> int:
        """How often the partition of a plan that grows has been refined."""
        return 0 if self._tally.partition is None else self._tally.partition.refinements

    @property
    def _levels(self) -> dict[int, Counts]:
        """The counters of each measured level, coarsest first."""
        partition = self._tally.partition
        grown = {} if partition is None else {self.plan.growth_level: partition.slots}
        return {**self._corrections, self.plan.exact_depth: self._tally.counters, **self._tally.tables, **grown}

    @property
    def plan(self) -> Plan:
        """What was fixed before the data."""
        return self._tally.plan

    @property
    def merged_ids(self) -> frozenset[bytes]:
        """Random names of all summaries and tallies that are in this one."""
        return self._tally.merged_ids

    @property
    def merged(self) -> int:
        """How many summaries were added up in this one, itself included: how often its cells have the plan's noise."""
        return self._merged

    @property
    def closed(self) -> bool:
        """Whether the one release has been made, here or by a summary that this one was merged into."""
        return self._closed

    @property
    def nbytes(self) -> int:
        """Bytes of all counters: what the plan said."""
        return sum(array.nbytes for array in self._levels.values())

    def state(self) -> Counts:
        """A copy of all counters in the order of a checkpoint. Confidential."""
        self._check_open()
        self._tally.check_finished()
        return np.concatenate([array.ravel() for array in self._levels.values()])

    def update(self, records: Any, *, counts: Any = None, threads: int = 1) -> None:
        """Count a batch of records.

        Records that the domain has no cell for are left out in silence. A batch
        that is refused for its type or shape changes nothing. If an update is
        interrupted half-way, part of its batch may be counted, and repeating it
        would count records twice: the summary then takes and gives nothing more
        but its release. One thread at a time may call this.

        Args:
            records: An array of shape (n,) or (n, d), or a sequence of records.
            counts: How often each record occurs, for pre-aggregated batches; not where the partition grows.
            threads: How many count an array side by side, each in a tally of its own
                for the time being. The result is the same.
        """
        self._check_open()
        self._tally.add(records, counts=counts, threads=threads, scratch=self.scratch, refine=self._refine)

    def absorb(self, tally: Tally) -> None:
        """Add what a tally of the same plan has counted; each tally can be absorbed once."""
        self._check_open()
        if not isinstance(tally, Tally):
            raise StateError(f"expected a Tally to absorb, got {type(tally).__name__}; a summary is added with merge")
        self._tally.merge(tally)

    def merge(self, other: "Summary") -> None:
        """Add another summary of the same plan, its noise included; the other is closed by it.

        The result is as private as each part, and noisier than one summary of
        both streams: where all workers are trusted, let them hold tallies.
        """
        self._check_open()
        if not isinstance(other, Summary):
            raise StateError(f"expected a Summary to merge, got {type(other).__name__}; a tally is added with absorb")
        other._check_open()
        check_mergeable(self.plan, other.plan, self.merged_ids, other.merged_ids)
        self._tally.check_finished()
        other._tally.check_finished()
        # Written down first: what is interrupted may lose counts, but cannot be done again and count them twice.
        self._tally.merged_ids |= other.merged_ids
        self._merged += other._merged
        other._closed = True
        for level, counters in self._levels.items():
            counters += other._levels[level]

    def release(self) -> Generator:
        """Close the summary and return its private generator. It can be done once."""
        self._check_open()
        self._closed = True
        counters, exact_depth = self._tally.counters, self.plan.exact_depth
        exact = {
            level: fold(counters, levels=exact_depth - level) + correction
            for level, correction in self._corrections.items()
        }
        return Generator(
            Release(self.plan, {**self._levels, **exact}, refinements=self.refinements, merged=self._merged)
        )

    def _check_open(self) -> None:
        if self._closed:
            raise StateError(
                "this summary is closed: it was released or merged into another, and a second look at one state "
                "would not be private; start a new summary"
            )
        if self._process != os.getpid():
            raise StateError(
                "this summary belongs to the process that was forked, and its noise may be used once; "
                "count in a tally here and let that summary absorb it"
            )

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles: two summaries with the same noise would not be private."""
        raise StateError("a summary cannot be copied or pickled, since its noise may be used once; use privhp.save")

    def __repr__(self) -> str:
        return f"Summary({self.plan.domain!r}, epsilon={float(self.plan.epsilon):g}, {self.nbytes:,} bytes)"

"""A summary: a tally whose counters hold noise from the start.

A summary takes records, tallies and other summaries, and gives one release.
Every counter gets its noise before the first record, so no state of a summary
holds a noise-free count.
"""

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from privhp.answers.generator import Generator
from privhp.collect.life_cycle import LifeCycle, State
from privhp.collect.noise import discrete_laplace
from privhp.collect.refinement import Refinement
from privhp.collect.tally import Tally, check_mergeable
from privhp.core.cells import Counts, fold
from privhp.errors import StateError
from privhp.planning.partition import Partition
from privhp.planning.plan import Plan
from privhp.release import Release, check_merged, check_partition

_CELL_BYTES = 1024
"""Scratch bytes per cell for noise and refinements, with up to 64 children of the cell."""


class Summary:
    """A private summary of a stream, in the memory of its plan.

    The generator that `release()` returns is epsilon-differentially private
    under the neighbouring relation of the plan. Two outputs of one summary are
    not: a summary is released once, and its checkpoints are confidential.

    The counters are a bijection of the noisy counts of all measured levels. At
    the exact depth they are noisy counts. A coarser exact level holds a
    correction: its independent noise minus the noise that it would inherit from
    the exact depth. So a record increments one counter for all exact levels, and
    a release adds the corrections to the sums.

    The memory of the plan covers all counters and the scratch memory for arrays,
    tables and refinements. Not covered are the batch itself, the arrays made from
    a list, the counters of each further thread, and about 32 KiB of objects.

    Args:
        plan: The plan, fixed before the data.
        scratch: Bytes for intermediate results, if more than the plan leaves. More is faster; counts are the same.
    """

    def __init__(self, plan: Plan, *, scratch: int = 0) -> None:
        self.scratch = scratch
        self._tally = Tally(plan)
        self._merged = 1
        self._add_noise(plan.exact_depth, self._tally.counters)
        self._corrections: dict[int, Counts] = {}
        for level in plan.exact_levels[:-1]:
            self._corrections[level] = -fold(self._tally.counters, levels=plan.exact_depth - level)
            self._add_noise(level, self._corrections[level])
        for level, sketch in self._tally.sketches.items():
            self._add_noise(level, sketch.reshape(-1))
        if self._tally.partition is not None:
            self._add_noise(plan.learned_level, self._tally.partition.slots[: 2**plan.learned_level])

    def update(self, records: Any, *, counts: Any = None, threads: int = 1) -> None:
        """Count a batch of records.

        Unreadable and out-of-domain records are skipped without a message, since a
        message would depend on a record. A batch of a wrong type or shape is refused
        and changes nothing. An update that is interrupted may have counted part of
        its batch; the summary is then unfinished and can only be released. One
        thread at a time may call this method.

        Args:
            records: An array of shape (n,) or (n, d), a sequence of records, a data frame or a dict of arrays.
            counts: Number of occurrences of each record, for aggregated batches; not for learned partitions.
            threads: Number of threads that count an array, each in a separate tally. The result is the same.
        """
        self._life.check_open()
        self._tally.add(records, counts=counts, threads=threads, scratch=self.scratch, refine=self._refine)

    def absorb(self, tally: Tally) -> None:
        """Add the counts of a tally of the same plan; each tally can be absorbed once."""
        self._life.check_open()
        if not isinstance(tally, Tally):
            raise StateError(f"expected a Tally to absorb, got {type(tally).__name__}; use merge for a summary")
        self._tally.merge(tally)

    def merge(self, other: "Summary") -> None:
        """Add another summary of the same plan, with its noise, and close the other.

        If no record is in both, and no person has more than
        `max_records_per_person` records in both together, the result has the
        guarantee of each. It has more noise than one summary of both streams: where
        all workers are trusted, use tallies.
        """
        self._life.check_open()
        if not isinstance(other, Summary):
            raise StateError(f"expected a Summary to merge, got {type(other).__name__}; use absorb for a tally")
        other._life.check_open()
        check_mergeable(self.plan, other.plan, self.merged_ids, other.merged_ids)
        self._life.check_complete()
        other._life.check_complete()
        # Before the counts: an interrupted merge may lose counts, but cannot be repeated and count records twice.
        self._tally.merged_ids |= other.merged_ids
        self._merged += other._merged
        other._life.close()
        for level, counters in self._counters.items():
            counters += other._counters[level]

    def release(self) -> Generator:
        """Close the summary and return its private generator; possible once."""
        self._life.check_open()
        self._life.close()
        counters, exact_depth = self._tally.counters, self.plan.exact_depth
        exact = {
            level: fold(counters, levels=exact_depth - level) + correction
            for level, correction in self._corrections.items()
        }
        counts = {**self._counters, **exact}
        return Generator(Release(self.plan, counts, refinements=self.refinements, merged=self._merged))

    @property
    def plan(self) -> Plan:
        """The plan, fixed before the data."""
        return self._tally.plan

    @property
    def closed(self) -> bool:
        """Whether the summary was released or merged into another one."""
        return self._life.state is State.CLOSED

    @property
    def nbytes(self) -> int:
        """Bytes of all counters, as the plan predicts."""
        return sum(array.nbytes for array in self._counters.values())

    @property
    def merged(self) -> int:
        """Number of merged summaries, this one included: each adds the noise of the plan once."""
        return self._merged

    @property
    def merged_ids(self) -> frozenset[bytes]:
        """Random ids of all summaries and tallies whose counts are included."""
        return self._tally.merged_ids

    @property
    def rows(self) -> int:
        """Rows of the stream so far, skipped ones included; public. 0 for a plan without a learned partition."""
        return self._tally.rows

    @property
    def refinements(self) -> int:
        """Number of refinements of a learned partition."""
        return 0 if self._tally.partition is None else self._tally.partition.refinements

    def state(self) -> Counts:
        """A copy of all counters in the order of a checkpoint. Confidential."""
        self._life.check_open()
        self._life.check_complete()
        return np.concatenate([array.ravel() for array in self._counters.values()])

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
        """The summary with the counters, ids and progress of a checkpoint."""
        check_merged(plan, merged)
        if merged > len(merged_ids):
            raise StateError("there are fewer ids than merged summaries")
        summary = cls.__new__(cls)
        summary.scratch = 0
        summary._tally = Tally(plan)
        summary._tally.merged_ids = merged_ids
        summary._merged = merged
        summary._corrections = {level: np.zeros(2**level, dtype=np.int64) for level in plan.exact_levels[:-1]}
        for level, counters in plan.unpack(cells).items():
            summary._counters[level][...] = counters
        if plan.learned is not None:
            slots = summary._counters[plan.learned_level]
            check_partition(plan, slots, refinements)
            boundaries = (0, *plan.learned.refinement_rows, math.inf)
            if not boundaries[refinements] <= rows < boundaries[refinements + 1]:
                raise StateError("the number of rows does not fit the number of refinements of the partition")
            summary._tally.partition = Partition(plan.learned_level, slots, refinements=refinements)
            summary._tally.rows = rows
        return summary

    @property
    def _life(self) -> LifeCycle:
        return self._tally.life

    @property
    def _counters(self) -> dict[int, Counts]:
        """The counters of each measured level, coarsest first."""
        partition = self._tally.partition
        learned = {} if partition is None else {self.plan.learned_level: partition.slots}
        return {**self._corrections, self.plan.exact_depth: self._tally.counters, **self._tally.sketches, **learned}

    def _draw_noise(self, level: int, size: int) -> Counts:
        """Independent discrete Laplace draws at the noise scale of a level."""
        return discrete_laplace(size, scale=self.plan.scale(level))

    def _add_noise(self, level: int, counters: Counts) -> None:
        """Add one draw to each counter, before any record is counted."""
        for start in range(0, counters.size, self._chunk):
            chunk = counters[start : start + self._chunk]
            chunk += self._draw_noise(level, chunk.size)

    def _add_noise_at(self, slots: NDArray[np.int64]) -> None:
        """Add one draw to each of these slots of the partition, before they count another record."""
        partition = self._tally.partition
        assert partition is not None
        partition.slots[slots] += self._draw_noise(self.plan.learned_level, slots.size)

    @property
    def _chunk(self) -> int:
        """Cells processed at once, within the scratch memory."""
        if not self.plan.memory:
            return 2**31
        return max(max(self.scratch, self.plan.memory - self.plan.nbytes) // _CELL_BYTES, 16)

    def _refine(self) -> None:
        """Split the cells with the largest gain, and add fresh noise to every cell of the refined partition.

        The noisy counts of an epoch are one measurement, differentially private with
        the budget of this level. Each record is counted in one epoch, and the cells
        of an epoch depend on earlier noisy counts only (adaptive parallel
        composition). An exception in this method leaves the summary unfinished, so no
        record is counted in a cell without fresh noise.
        """
        partition = self._tally.partition
        assert partition is not None
        refinement = Refinement(self.plan, partition, rows=self._tally.rows, chunk=self._chunk)
        partition.refinements += 1
        for cells in partition.leaves(self._chunk):
            levels = refinement.levels(cells)
            # Shrinkage first, fresh noise second: shrinkage may reduce only the noise of the records before this row.
            partition.slots[cells.slots] = refinement.shrink(cells, partition.slots[cells.slots])
            new = partition.split(cells, levels)
            self._add_noise_at(cells.slots[levels == 0])
            for start in range(0, new.size, self._chunk):
                self._add_noise_at(new[start : start + self._chunk])

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles: two summaries with the same noise are not private."""
        raise StateError("a summary cannot be copied or pickled, since its noise may be used once; use privhp.save")

    def __repr__(self) -> str:
        return f"Summary({self.plan.domain!r}, epsilon={float(self.plan.epsilon):g}, {self.nbytes:,} bytes)"

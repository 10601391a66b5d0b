"""A summary: a tally whose counters hold noise from the start.

A summary takes records, tallies and other summaries, and gives one release.
Every counter gets its noise before the first record, so no state of a summary
holds a noise-free count.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from privhp.collect.deliveries import Deliveries
from privhp.collect.life_cycle import LifeCycle, State
from privhp.collect.noisy_counters import NoisyCounters
from privhp.collect.tally import Tally, check_mergeable, is_sliceable
from privhp.core.cells import Counts
from privhp.domains.conversion import as_counts
from privhp.errors import StateError
from privhp.planning.plan import Plan
from privhp.release import Release, check_merged

if TYPE_CHECKING:  # imported with the first release: a worker that counts needs no answers
    from privhp.answers.generator import Generator

_DRAW_BYTES = 256
"""Scratch bytes for each noise draw."""


class Summary:
    """A private summary of a stream, in the memory of its plan.

    The generator that `release()` returns is epsilon-differentially private
    under the neighbouring relation of the plan. Two outputs of one summary are
    not: a summary is released once, and its checkpoints are confidential.

    The memory of the plan covers all counters, the nodes of a partition, and the
    scratch memory for arrays and tables. Not covered are the batch itself, the arrays
    made from a list, the counters of each further thread, the levels of the leaves of
    a partition, a byte each, and about 32 KiB of objects. Setting up a partition takes
    up to 80 bytes for each leaf, before the first record.

    Args:
        plan: The plan, fixed before the data.
        scratch: Bytes for intermediate results, if more than the plan leaves. More is faster; counts are the same.
        sources: Names of queues that may deliver a batch again, with the number of the first batch or record of
            each. Each number is then counted once; see `update`.
    """

    def __init__(self, plan: Plan, *, scratch: int = 0, sources: Mapping[str, int] | None = None) -> None:
        self.scratch, self._deliveries = scratch, Deliveries(sources)
        self._tally = Tally(plan)
        self._merged = 1
        self._counters = NoisyCounters(self._tally, chunk=_noise_chunk(plan, scratch))
        self._counters.add_noise()

    def update(
        self,
        records: Any,
        *,
        counts: Any = None,
        threads: int = 1,
        source: str | None = None,
        sequence: int | range | None = None,
    ) -> bool:
        """Count a batch of records; return whether any of it was counted now.

        Unreadable and out-of-domain records are skipped without a message, since a
        message would depend on a record. A batch of a wrong type or shape is refused
        and changes nothing. An update that is interrupted may have counted part of
        its batch; the summary is then unfinished and refuses everything. Calls from
        several threads wait for each other.

        Args:
            records: An array of shape (n,) or (n, d), a sequence of records, a data frame or a dict of arrays.
            counts: Number of occurrences of each record, for aggregated batches.
            threads: Number of threads that count an array, each in a separate tally. The result is the same.
            source: One of the declared sources, which delivers the batch.
            sequence: Number of the batch in its source, or the range of numbers that it covers, such as those of its
                records. Numbers that were counted are skipped, and a gap is refused, so that each number counts once.
        """
        self._life.check_open()
        if source is None:
            self._deliveries.check_unnumbered(sequence)
            self._tally.add(records, counts=counts, threads=threads, scratch=self.scratch)
            return True
        with self._life.locked():
            numbers = self._deliveries.uncounted(source, sequence)
            if not numbers:
                return False
            if isinstance(sequence, range) and len(numbers) < len(sequence):
                records, counts = self._last_rows(records, counts, len(numbers), of=len(sequence))
            note = partial(self._deliveries.note, source, numbers)
            self._tally.add(records, counts=counts, threads=threads, scratch=self.scratch, note=note)
            return True

    def _last_rows(self, records: Any, counts: Any, rows: int, *, of: int) -> tuple[Any, Any]:
        """Last rows of a batch, of which the others are counted."""
        batch = self.plan.domain.as_batch(records)
        if not is_sliceable(batch) or len(batch) != of:
            raise StateError(
                "part of this batch is counted already, and its records are not numbered one by one; read its source "
                "again from summary.positions"
            )
        weights = None if counts is None else as_counts(counts, records=of)[of - rows :]
        return batch[of - rows :], weights

    def absorb(self, tally: Tally, *, source: str | None = None, sequence: int | range | None = None) -> bool:
        """Add the counts of a tally of the same plan, each tally once; return whether they were added now.

        Args:
            tally: The tally.
            source: One of the declared sources, which the tally has counted; see `update`.
            sequence: Number of the batch that the tally has counted, or the range of numbers that it covers.
        """
        self._life.check_open()
        if not isinstance(tally, Tally):
            raise StateError(f"expected a Tally to absorb, got {type(tally).__name__}; use merge for a summary")
        if source is None:
            self._deliveries.check_unnumbered(sequence)
            self._tally.merge(tally)
            return True
        with self._life.locked(tally.life):
            numbers = self._deliveries.uncounted(source, sequence)
            if isinstance(sequence, range) and 0 < len(numbers) < len(sequence):
                raise StateError("part of what this tally has counted is counted already; count the rest alone")
            if numbers:
                self._tally.merge(tally, note=partial(self._deliveries.note, source, numbers))
            return bool(numbers)

    @property
    def positions(self) -> Mapping[str, int]:
        """Number of the next batch or record of each declared source. Confidential."""
        return MappingProxyType({name: own.stop for name, own in self._deliveries.ranges.items()})

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
        with self._life.locked(other._life):
            check_mergeable(self._tally, other._tally)
            joined = self._deliveries.joined(other._deliveries)
            # Before the counts: an interrupted merge may lose counts, but cannot be repeated and count records twice.
            self._tally.merged_ids |= other.merged_ids
            self._merged += other._merged
            self._deliveries.ranges = joined
            other._life.close()
            with self._life.updating():
                for counters, others in zip(self._counters.arrays(), other._counters.arrays(), strict=True):
                    counters += others

    def release(self) -> "Generator":
        """Close the summary and return its private generator; possible once."""
        from privhp.answers.generator import Generator

        return Generator(self.close())

    def close(self) -> Release:
        """Close the summary and return its noisy counts; possible once."""
        with self._life.locked():
            self._life.close()
            return self._counters.release(merged=self._merged)

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
        return sum(array.nbytes for array in self._counters.arrays())

    @property
    def merged(self) -> int:
        """Number of merged summaries, this one included: each adds the noise of the plan once."""
        return self._merged

    @property
    def merged_ids(self) -> frozenset[bytes]:
        """Random ids of all summaries and tallies whose counts are included."""
        return self._tally.merged_ids

    def locked(self) -> AbstractContextManager[None]:
        """Keep other threads from changing the summary until the block ends."""
        return self._life.locked()

    def state(self) -> Counts:
        """A copy of all counters in the order of a checkpoint. Confidential."""
        self._life.check_open()
        with self._life.locked():
            self._life.check_complete()
            return np.concatenate([array.ravel() for array in self._counters.arrays()])

    @property
    def deliveries(self) -> Deliveries:
        """The numbers counted of each declared source. Confidential."""
        return self._deliveries

    @property
    def _life(self) -> LifeCycle:
        return self._tally.life

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles: two summaries with the same noise are not private."""
        raise StateError("a summary cannot be copied or pickled, since its noise may be used once; use privhp.save")

    def __repr__(self) -> str:
        return f"Summary({self.plan.domain!r}, epsilon={float(self.plan.epsilon):g}, {self.nbytes:,} bytes)"


def restore_summary(
    plan: Plan,
    cells: Counts,
    merged_ids: frozenset[bytes],
    *,
    merged: int = 1,
    deliveries: Deliveries | None = None,
) -> Summary:
    """The summary with the counters and ids of a checkpoint.

    Its noise is in the counters, so it is as private as the checkpoint is genuine.
    """
    check_merged(merged)
    if merged > len(merged_ids):
        raise StateError("there are fewer ids than merged summaries")
    summary = Summary.__new__(Summary)
    summary.scratch, summary._deliveries = 0, deliveries or Deliveries()
    summary._tally = Tally(plan)
    summary._tally.merged_ids = merged_ids
    summary._merged = merged
    summary._counters, start = NoisyCounters(summary._tally, chunk=_noise_chunk(plan, 0)), 0
    for counters in summary._counters.arrays():
        counters[...] = cells[start : start + counters.size].reshape(counters.shape)
        start += counters.size
    return summary


def _noise_chunk(plan: Plan, scratch: int) -> int:
    """Noise draws at once, within the scratch memory."""
    if not plan.memory:
        return 2**31
    return max(max(scratch, plan.memory - plan.nbytes) // _DRAW_BYTES, 16)

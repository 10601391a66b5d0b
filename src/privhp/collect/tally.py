"""The part of a summary that counts: exact counters, and sketches or a growing partition, under a plan.

A tally takes records and other tallies and adds them up. It holds bare counts,
so it is as secret as the data: it belongs inside one trusted job, is never
saved, and ends in a summary. It knows nothing of noise.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from privhp import kernels
from privhp.core.cells import Codes, Counts
from privhp.domains.column import Column
from privhp.domains.column_batch import ColumnBatch
from privhp.domains.conversion import as_counts
from privhp.errors import DomainError, PlanError, StateError, describe_value
from privhp.planning.partition import Partition
from privhp.planning.plan import Plan

_MOST_ROWS = (1 << 16) - 1  # encoded at once, as many as the native kernels count in 16 bits
_LEAST_ROWS = 64
_CODE = np.dtype(np.uint64)
_ROW_BYTES = 80
"""What the work on a row may take: its code, its cell, and what encoding it needs for a moment."""


class Tally:
    """Counts of the records seen, whatever their order, batches or split.

    One increment at the exact depth serves all exact levels, the coarser ones
    being its sums. Memory is 8 bytes per counter of the exact depth and per
    sketch bucket, whatever the number of records.
    """

    def __init__(self, plan: Plan) -> None:
        """Start from nothing."""
        if not isinstance(plan, Plan):
            raise PlanError(f"expected a plan, such as Plan.paper(...), got {describe_value(plan)}")
        import secrets  # takes long to import, and who only samples does not need it

        self.plan = plan
        self.merged_ids = frozenset([secrets.token_bytes(16)])
        self._unfinished = False
        self._is_share = False
        self.counters: Counts = np.zeros(2**plan.exact_depth, dtype=np.int64)
        self.tables: dict[int, Counts] = {
            level: np.zeros((plan.sketch_rows, plan.sketch_width), dtype=np.int64) for level in plan.sketched_levels
        }
        self.partition: Partition | None = None
        self.rows = 0  # only of a partition that grows, where row numbers are public
        if plan.growth is not None:
            self.partition = Partition(plan.growth_level, np.zeros(plan.growth.slots, dtype=np.int64))

    def add(
        self,
        records: Any,
        *,
        counts: Any = None,
        threads: int = 1,
        scratch: int = 0,
        refine: Callable[[], None] | None = None,
    ) -> None:
        """Count a batch of records; with `counts`, the i-th record that many times.

        A record without a cell is left out in silence. A batch that is refused
        changes nothing; after one that breaks off half-way nothing more can be
        added. With several threads each counts its share of an array in a tally
        of its own, and the counts are the same. A partition that grows is refined
        by `refine`, after the rows that the plan says; a summary knows how.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise StateError(f"expected a whole number of threads, at least 1, got {threads!r}")
        if self.plan.growth is not None:
            self._check_rows(counts, refine)
        records = self.plan.domain.as_batch(records)
        if threads > 1 and _is_cuttable(records) and not self._refines_within(len(records)):
            self._add_in_threads(records, counts, threads, scratch)
            return
        with np.errstate(all="ignore"):  # whatever the caller has set, NumPy says nothing about a record
            parts = self._encoded(records, counts, scratch)
            first = next(parts)  # what is refused is refused here
            with self._counting():
                for codes, weights in chain([first], parts):
                    self._count(codes, weights, refine)

    def _count(self, codes: Codes, weights: Counts | None, refine: Callable[[], None] | None) -> None:
        """Count one part of a batch, and refine where its rows reach the next moment to do so."""
        while refine is not None and self._refines_within(codes.size):
            now = self._next_refinement() - self.rows
            self._count(codes[:now], None if weights is None else weights[:now], None)
            refine()
            codes, weights = codes[now:], None if weights is None else weights[now:]
        slots = None if self.partition is None else self.partition.slots
        kernels.count_codes(codes, weights, **self._shape, counters=self.counters, groups=self._groups, slots=slots)
        if self.partition is not None:
            self.rows += codes.size

    def _next_refinement(self) -> int:
        """Row number after which the partition is refined next."""
        assert self.plan.growth is not None
        assert self.partition is not None
        return self.plan.growth.refined_after[self.partition.refinements]

    def _refines_within(self, rows: int) -> bool:
        """Whether the partition is to be refined before or after the last of the next rows."""
        growth, partition = self.plan.growth, self.partition
        if growth is None or partition is None or partition.refinements == len(growth.refined_after):
            return False
        return self.rows + rows >= self._next_refinement()

    def _check_rows(self, counts: Any, refine: Callable[[], None] | None) -> None:
        """Refuse what has no row numbers that stay when a record is no longer counted."""
        if refine is None and not self._is_share:
            raise StateError(
                "a partition that grows needs noise for its refinements, so its records are counted in a summary; "
                "for tallies choose a plan that does not grow, such as Plan.auto(..., mergeable=True)"
            )
        if counts is not None:
            raise StateError(
                "expected a batch without counts, since a partition grows by row numbers, which are lost where equal "
                "records share a row; repeat them, or choose a plan that does not grow, such as "
                "Plan.auto(..., mergeable=True)"
            )

    def _encoded(self, records: Any, counts: Any, scratch: int) -> Iterator[tuple[Codes, Counts | None]]:
        """Codes and weights of a batch, part by part; at least one part."""
        encode, level = self.plan.domain.encode, self.plan.depth
        for block, block_counts in _blocks(records, counts, self._block(scratch)):
            codes = encode(block, level=level)
            rows = len(block) if hasattr(block, "__len__") else codes.size
            if codes.dtype != _CODE or codes.shape != (rows,):
                raise DomainError("expected one code of uint64 per record from the domain; see privhp.check_domain")
            yield codes, None if block_counts is None else as_counts(block_counts, records=codes.size)

    def _block(self, scratch: int) -> int:
        """Rows that are encoded at once, few enough for the work allowed or for the memory that the plan leaves."""
        if not self.plan.memory:
            return _MOST_ROWS
        bytes_left = max(scratch, self.plan.memory - self.plan.nbytes)
        return min(max(bytes_left // _ROW_BYTES, _LEAST_ROWS), _MOST_ROWS)

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Mark the time in which part of a batch is counted; an exception leaves the mark."""
        self.check_finished()
        self._unfinished = True
        yield
        self._unfinished = False

    def check_finished(self) -> None:
        """Refuse to go on where part of a batch is counted: doing it again would count records twice."""
        if self._unfinished:
            raise StateError(
                "an update broke off half-way, so part of its batch is counted, or one is under way in another thread; "
                "go on from a checkpoint or release what is there, and give each thread a tally of its own"
            )

    @cached_property
    def _shape(self) -> dict[str, int]:
        """Levels of what is counted, worked out once rather than for each of many small blocks."""
        return {"depth": self.plan.depth, "exact_depth": self.plan.exact_depth, "level": self.plan.growth_level}

    @cached_property
    def _groups(self) -> list[kernels.SketchGroup]:
        """The sketches, those together whose cells are hashed at the same level."""
        groups: dict[int, kernels.SketchGroup] = {}
        for level, base in self.plan.hash_levels.items():
            group = groups.setdefault(base, kernels.SketchGroup(base, self.plan.hash_coefficients(level), []))
            group.tables.append((level, self.tables[level]))
        return list(groups.values())

    def _add_in_threads(self, records: Column | ColumnBatch, counts: Any, threads: int, scratch: int) -> None:
        from concurrent.futures import ThreadPoolExecutor  # takes longer to import than all of privhp

        ends = [len(records) * part // threads for part in range(threads + 1)]
        weights = None if counts is None else as_counts(counts, records=len(records))

        def count(part: int) -> Tally:
            own, share = self._share(), slice(ends[part], ends[part + 1])
            own.add(records[share], counts=None if weights is None else weights[share], scratch=scratch)
            return own

        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(count, range(threads)))
        with self._counting():
            for own in parts:
                self._plus(own)

    def _share(self) -> "Tally":
        """An empty tally that counts in the same cells, to be added before the next refinement."""
        share = Tally(self.plan)
        share._is_share = True
        if self.partition is not None:
            share.partition = self.partition.emptied()
        return share

    def _plus(self, other: "Tally") -> None:
        self.counters += other.counters
        if self.partition is not None and other.partition is not None:
            self.partition.plus(other.partition)
            self.rows += other.rows
        for level, table in self.tables.items():
            table += other.tables[level]

    def merge(self, other: "Tally") -> None:
        """Add what another tally of the same plan has counted; each tally can be added once."""
        check_mergeable(self.plan, other.plan, self.merged_ids, other.merged_ids)
        self.check_finished()
        other.check_finished()
        self.merged_ids |= other.merged_ids  # before the counts, so that what is interrupted cannot be done again
        self._plus(other)


def _blocks(records: Any, counts: Any, rows: int) -> Iterator[tuple[Any, Any]]:
    """An array or a table in parts that bound what counting needs beyond the batch; anything else in one."""
    if not _is_cuttable(records):
        yield records, counts
        return
    weights = None if counts is None else as_counts(counts, records=len(records))
    for start in range(0, max(len(records), 1), rows):
        block = slice(start, start + rows)
        yield records[block], None if weights is None else weights[block]


def _is_cuttable(records: Any) -> bool:
    return isinstance(records, Column | ColumnBatch) or (isinstance(records, np.ndarray) and records.ndim > 0)


def check_mergeable(plan: Plan, other: Plan, merged_ids: frozenset[bytes], others: frozenset[bytes]) -> None:
    """Refuse to add counts of another plan, or counts that are already in."""
    if plan.growth is not None:
        raise StateError(
            "a partition that grows follows one stream and cannot be added to another; "
            "for parts that are merged choose a plan that does not grow, such as Plan.auto(..., mergeable=True)"
        )
    if plan != other:
        raise StateError("expected the same plan on both sides, hash seed included; build both from one plan")
    if merged_ids & others:
        raise StateError("the two share counts already, so adding them would count records twice; merge each part once")

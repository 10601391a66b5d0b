"""A tally: noise-free counts of records under a plan.

A tally takes records and other tallies and adds up their counts. It holds no
noise, so it is as confidential as the data: it stays inside one trusted job and
ends in a summary, which adds the noise.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from privhp import kernels
from privhp.collect.life_cycle import LifeCycle
from privhp.core.cells import Codes, Counts
from privhp.core.container import TALLY, content_errors, malformed, pack, read_number, unpack
from privhp.domains.column import Column
from privhp.domains.column_batch import ColumnBatch
from privhp.domains.conversion import as_counts
from privhp.errors import DomainError, PlanError, StateError, describe_value
from privhp.planning.partition import Partition
from privhp.planning.plan import Plan

_MAX_BLOCK_ROWS = (1 << 16) - 1  # the native kernels count the rows of a block in 16 bits
_MIN_BLOCK_ROWS = 64
_CODE = np.dtype(np.uint64)
_ROW_BYTES = 80
"""Scratch bytes per row of a block: its code, its cell and the intermediate arrays of encoding."""


class Tally:
    """Noise-free counts of records, independent of their order, batches and split. Confidential.

    A record increments one counter at the exact depth, which serves all exact
    levels, and one bucket per row of each sketch. The counters take 8 bytes
    each, whatever the number of records.

    Args:
        plan: The plan of the summary that absorbs this tally.
    """

    def __init__(self, plan: Plan) -> None:
        if not isinstance(plan, Plan):
            raise PlanError(f"expected a plan, such as Plan.auto(...), got {describe_value(plan)}")
        import secrets  # slow to import, and needed for new tallies only

        self.plan = plan
        self.merged_ids = frozenset([secrets.token_bytes(16)])
        self.life = LifeCycle()
        self.counters: Counts = np.zeros(2**plan.exact_depth, dtype=np.int64)
        self.sketches: dict[int, Counts] = {
            level: np.zeros((plan.sketch_rows, plan.sketch_width), dtype=np.int64) for level in plan.sketched_levels
        }
        self.partition: Partition | None = None
        self.rows = 0
        """Rows of the stream so far, skipped ones included; 0 without a learned partition. Public."""
        self._is_worker = False
        if plan.learned is not None:
            self.partition = Partition(plan.learned_level, np.zeros(plan.learned.slots, dtype=np.int64))

    def add(
        self,
        records: Any,
        *,
        counts: Any = None,
        threads: int = 1,
        scratch: int = 0,
        refine: Callable[[], None] | None = None,
    ) -> None:
        """Count a batch of records.

        A record without a cell is skipped without a message. A batch that is
        refused changes nothing. A batch that is interrupted leaves the tally
        unfinished.

        Args:
            records: An array, a sequence of records, a data frame or a dict of arrays.
            counts: Number of occurrences of each record.
            threads: Number of threads; each counts its share of an array in a separate tally. The counts are the same.
            scratch: Bytes for intermediate results, if more than the plan leaves.
            refine: Refines a learned partition after the row numbers of the plan; only a summary has it.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise StateError(f"expected threads= as a positive integer, got {describe_value(threads)}")
        if self.plan.learned is not None:
            self._check_learned(counts, refine)
        records = self.plan.domain.as_batch(records)
        if threads > 1 and _is_sliceable(records) and not self._refines_within(len(records)):
            self._add_in_threads(records, counts, threads, scratch)
            return
        with np.errstate(all="ignore"):  # no NumPy warning may depend on a record
            blocks = self._encode_blocks(records, counts, scratch)
            first = next(blocks)  # a batch is refused here, before any of it is counted
            with self.life.updating():
                for codes, weights in chain([first], blocks):
                    self._count(codes, weights, refine)

    def merge(self, other: "Tally") -> None:
        """Add the counts of another tally of the same plan; each tally can be added once."""
        check_mergeable(self.plan, other.plan, self.merged_ids, other.merged_ids)
        self.life.check_complete()
        other.life.check_complete()
        self.merged_ids |= other.merged_ids  # before the counts: an interrupted merge cannot be repeated
        self._add_counts(other)

    def to_bytes(self) -> bytes:
        """The tally as bytes, to send it to another machine of the same trusted job.

        Confidential: the bytes hold noise-free counts. The ids of the tally are among
        them, so a summary absorbs it once, however often it is sent.
        """
        self.life.check_complete()
        if self.plan.learned is not None:
            raise StateError(_NO_TALLIES)
        cells = np.concatenate([array.ravel() for array in (self.counters, *self.sketches.values())])
        return b"".join(pack(TALLY, _Header(self.plan, len(self.merged_ids)), cells, sorted(self.merged_ids)))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Tally":
        """The tally of `to_bytes`; other or damaged bytes raise `FileError`."""
        header, cells, ids = unpack(io.BytesIO(data), TALLY, _Header)
        with content_errors():
            tally = cls(header.plan)
        tally.merged_ids = frozenset(ids)
        start = 0
        for array in (tally.counters, *tally.sketches.values()):
            array[...] = cells[start : start + array.size].reshape(array.shape)
            start += array.size
        records = tally.counters.sum()  # modulo 2**64, as all counts
        if any((sketch.sum(axis=1) != records).any() for sketch in tally.sketches.values()):
            raise malformed("its cells are not counts of records")
        return tally

    def _count(self, codes: Codes, weights: Counts | None, refine: Callable[[], None] | None) -> None:
        """Count one block, and refine a learned partition at the row numbers of the plan."""
        while refine is not None and self._refines_within(codes.size):
            rows = self._next_refinement() - self.rows
            self._count(codes[:rows], None if weights is None else weights[:rows], None)
            refine()
            codes, weights = codes[rows:], None if weights is None else weights[rows:]
        slots = None if self.partition is None else self.partition.slots
        kernels.count_codes(codes, weights, **self._levels, counters=self.counters, groups=self._groups, slots=slots)
        if self.partition is not None:
            self.rows += codes.size

    def _next_refinement(self) -> int:
        """Row number of the next refinement."""
        assert self.plan.learned is not None
        assert self.partition is not None
        return self.plan.learned.refinement_rows[self.partition.refinements]

    def _refines_within(self, rows: int) -> bool:
        """Whether a refinement is due at one of the next `rows` rows."""
        schedule, partition = self.plan.learned, self.partition
        if schedule is None or partition is None or partition.refinements == len(schedule.refinement_rows):
            return False
        return self.rows + rows >= self._next_refinement()

    def _check_learned(self, counts: Any, refine: Callable[[], None] | None) -> None:
        """Refuse batches whose row numbers depend on the records."""
        if refine is None and not self._is_worker:
            raise StateError(_NO_TALLIES)
        if counts is not None:
            raise StateError(
                "a learned partition is refined at row numbers, so counts= is not supported; repeat the records, "
                "or use a plan without a learned partition, such as Plan.auto(..., mergeable=True)"
            )

    def _encode_blocks(self, records: Any, counts: Any, scratch: int) -> Iterator[tuple[Codes, Counts | None]]:
        """Codes and weights of a batch, block by block; at least one block."""
        encode, level = self.plan.domain.encode, self.plan.depth
        for block, block_counts in _split_blocks(records, counts, self._block_rows(scratch)):
            codes = encode(block, level=level)
            rows = len(block) if hasattr(block, "__len__") else codes.size
            if codes.dtype != _CODE or codes.shape != (rows,):
                raise DomainError("the domain must return one uint64 code per record; see privhp.check_domain")
            yield codes, None if block_counts is None else as_counts(block_counts, records=codes.size)

    def _block_rows(self, scratch: int) -> int:
        """Rows per block: as many as fit in `scratch` bytes or in the memory that the plan leaves."""
        if not self.plan.memory:
            return _MAX_BLOCK_ROWS
        available = max(scratch, self.plan.memory - self.plan.nbytes)
        return min(max(available // _ROW_BYTES, _MIN_BLOCK_ROWS), _MAX_BLOCK_ROWS)

    @cached_property
    def _levels(self) -> dict[str, int]:
        """Levels that the kernel needs, computed once for all blocks."""
        return {"depth": self.plan.depth, "exact_depth": self.plan.exact_depth, "level": self.plan.learned_level}

    @cached_property
    def _groups(self) -> list[kernels.SketchGroup]:
        """The sketches, grouped by the level whose cells are hashed."""
        groups: dict[int, kernels.SketchGroup] = {}
        for level, base in self.plan.hash_levels.items():
            group = groups.setdefault(base, kernels.SketchGroup(base, self.plan.hash_coefficients(level), []))
            group.tables.append((level, self.sketches[level]))
        return list(groups.values())

    def _add_in_threads(self, records: Column | ColumnBatch, counts: Any, threads: int, scratch: int) -> None:
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        ends = [len(records) * share // threads for share in range(threads + 1)]
        weights = None if counts is None else as_counts(counts, records=len(records))

        def count(share: int) -> Tally:
            worker, rows = self._worker(), slice(ends[share], ends[share + 1])
            worker.add(records[rows], counts=None if weights is None else weights[rows], scratch=scratch)
            return worker

        with ThreadPoolExecutor(threads) as pool:
            workers = list(pool.map(count, range(threads)))
        with self.life.updating():
            for worker in workers:
                self._add_counts(worker)

    def _worker(self) -> "Tally":
        """An empty tally of the same cells for one thread, added before the next refinement."""
        worker = Tally(self.plan)
        worker._is_worker = True
        if self.partition is not None:
            worker.partition = self.partition.empty_copy()
        return worker

    def _add_counts(self, other: "Tally") -> None:
        self.counters += other.counters
        if self.partition is not None and other.partition is not None:
            self.partition.add_counts(other.partition)
            self.rows += other.rows
        for level, sketch in self.sketches.items():
            sketch += other.sketches[level]


_NO_TALLIES = (
    "a learned partition needs noise to be refined, so only a summary can count its records; "
    "for tallies use a plan without a learned partition, such as Plan.auto(..., mergeable=True)"
)


@dataclass(frozen=True)
class _Header:
    """The header of the bytes of a tally."""

    plan: Plan
    ids: int

    @property
    def cells(self) -> int:
        plan = self.plan
        cells: int = 2**plan.exact_depth + len(plan.sketched_levels) * plan.sketch_rows * plan.sketch_width
        return cells

    def to_json(self) -> dict[str, Any]:
        return {"plan": self.plan.spec(), "lineage": self.ids}

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> "_Header":
        plan = Plan.from_spec(header["plan"])
        if plan.learned is not None:
            raise malformed("a learned partition has no tallies")
        return cls(plan, read_number(header, "lineage", default=0, least=1))


def _split_blocks(records: Any, counts: Any, rows: int) -> Iterator[tuple[Any, Any]]:
    """An array or a table in blocks of at most `rows` rows; any other batch in one block."""
    if not _is_sliceable(records):
        yield records, counts
        return
    weights = None if counts is None else as_counts(counts, records=len(records))
    for start in range(0, max(len(records), 1), rows):
        block = slice(start, start + rows)
        yield records[block], None if weights is None else weights[block]


def _is_sliceable(records: Any) -> bool:
    return isinstance(records, Column | ColumnBatch) or (isinstance(records, np.ndarray) and records.ndim > 0)


def check_mergeable(plan: Plan, other: Plan, merged_ids: frozenset[bytes], others: frozenset[bytes]) -> None:
    """Refuse to add counts of another plan, or counts that are already included."""
    if plan.learned is not None:
        raise StateError(
            "a learned partition follows one stream and cannot be merged; "
            "to merge, use a plan without a learned partition, such as Plan.auto(..., mergeable=True)"
        )
    if plan != other:
        raise StateError("the plans differ; build both sides from one plan, with the same hash seed")
    if merged_ids & others:
        raise StateError("the two share counts already, and merging them would count records twice; merge each once")

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
from privhp.planning.plan import Plan, check_is_plan

_MAX_BLOCK_ROWS = (1 << 16) - 1  # the native kernels count the rows of a block in 16 bits
_MIN_BLOCK_ROWS = 64
_CODE = np.dtype(np.uint64)
_ROW_BYTES = 80 if kernels.BACKEND == "native" else 112
"""Scratch bytes per row of a block: its code, its cell and the intermediate arrays of encoding and counting."""
_COLUMN_BYTES = 16
"""The same for each column that is measured by itself: its cell, also at the depth of the table."""

_Block = tuple[Codes, dict[str, Codes], Counts | None]
"""Cells of some records, of their values in measured columns, and their numbers of occurrences."""


class Tally:
    """Noise-free counts of records, independent of their order, batches and split. Confidential.

    A record increments one counter at the exact depth, which serves all exact
    levels, and one bucket per row of each sketch or the leaf of the partition that
    holds it; and so in each column that is measured by itself. The counters take 8 bytes each, whatever the number
    of records.

    Args:
        plan: The plan of the summary that absorbs this tally.
    """

    def __init__(self, plan: Plan) -> None:
        check_is_plan(plan)
        if plan.learning is not None and plan.partition is None:
            raise PlanError(
                "this plan learns its partition before records are counted; give it to fit, with data that can be read "
                "again, or use a plan of one pass, such as Plan.auto(..., passes=1)"
            )
        import secrets  # slow to import, and needed for new tallies only

        self.plan = plan
        self.merged_ids = frozenset([secrets.token_bytes(16)])
        self.life = LifeCycle()
        self.counters: Counts = np.zeros(2**plan.exact_depth if plan.exact_levels else 0, dtype=np.int64)
        self.sketches: dict[int, Counts] = {
            level: np.zeros((plan.sketch_rows, plan.sketch_width), dtype=np.int64) for level in plan.sketched_levels
        }
        self.leaves: Counts = np.zeros(0 if plan.partition is None else plan.partition.size, dtype=np.int64)
        self.columns = {label: Tally(own) for label, own in plan.column_plans.items()}

    def add(
        self,
        records: Any,
        *,
        counts: Any = None,
        threads: int = 1,
        scratch: int = 0,
        note: Callable[[], None] = lambda: None,
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
            note: Called after the last record, before other threads may go on; an interruption leaves the tally
                unfinished.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise StateError(f"expected threads= as a positive integer, got {describe_value(threads)}")
        records = self.plan.domain.as_batch(records)
        if threads > 1 and is_sliceable(records):
            self._add_in_threads(records, counts, threads, scratch, note)
            return
        with np.errstate(all="ignore"):  # no NumPy warning may depend on a record
            blocks = self._encode_blocks(records, counts, scratch)
            first = next(blocks)  # a batch is refused here, before any of it is counted
            with self.life.updating():
                for codes, columns, weights in chain([first], blocks):
                    kernels.count_codes(codes, weights, **self._targets)
                    for label, own in columns.items():
                        kernels.count_codes(own, weights, **self.columns[label]._targets)
                note()

    def merge(self, other: "Tally", *, note: Callable[[], None] = lambda: None) -> None:
        """Add the counts of another tally of the same plan; each tally can be added once.

        Args:
            other: The other tally.
            note: Called after the counts, before other threads may go on.
        """
        with self.life.locked(other.life):
            check_mergeable(self, other)
            with self.life.updating():
                self.merged_ids |= other.merged_ids  # before the counts: an interrupted merge cannot be repeated
                self.add_counts(other)
                note()

    def to_bytes(self) -> bytes:
        """The tally as bytes, to send it to another machine of the same trusted job.

        Confidential: the bytes hold noise-free counts. The ids of the tally are among
        them, so a summary absorbs it once, however often it is sent.
        """
        with self.life.locked():
            self.life.check_complete()
            cells = np.concatenate([counts.ravel() for counts in self.arrays()])
            return b"".join(pack(TALLY, _Header(self.plan, len(self.merged_ids)), cells, sorted(self.merged_ids)))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Tally":
        """The tally of `to_bytes`; other or damaged bytes raise `FileError`."""
        header, cells, ids = unpack(io.BytesIO(data), TALLY, _Header)
        with content_errors():
            tally = cls(header.plan)
        tally.merged_ids = frozenset(ids)
        start, sums = 0, set()
        for counts in tally.arrays():
            counts[...] = cells[start : start + counts.size].reshape(counts.shape)
            start += counts.size
            sums |= set(np.atleast_1d(counts.sum(axis=-1)).tolist())  # modulo 2**64, as all counts
        if len(sums) > 1:
            raise malformed("its cells are not counts of records")
        return tally

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as bytes, for the workers of a distributed job: the lock stays behind, the ids do not."""
        return Tally.from_bytes, (self.to_bytes(),)

    def by_level(self) -> dict[int, Counts]:
        """The counters of the exact depth, of the sketched levels and of the leaves of the partition."""
        exact = {self.plan.exact_depth: self.counters} if self.counters.size else {}
        learned = {self.plan.learned_level: self.leaves} if self.leaves.size else {}
        return exact | self.sketches | learned

    def arrays(self) -> list[Counts]:
        """All counters: those of the levels, then those of each column."""
        columns = (array for own in self.columns.values() for array in own.arrays())
        return [*self.by_level().values(), *columns]

    def add_counts(self, other: "Tally") -> None:
        """Add the counters of another tally of the same plan; only for code that holds both locks."""
        for mine, others in zip(self.arrays(), other.arrays(), strict=True):
            mine += others

    def _encode_blocks(self, records: Any, counts: Any, scratch: int) -> Iterator[_Block]:
        """Codes and weights of a batch, block by block; at least one block."""
        level, columns = self.plan.depth, {label: own.depth for label, own in self.plan.column_plans.items()}
        for block, block_counts in _split_blocks(records, counts, self._block_rows(scratch)):
            codes, found = self.plan.domain.encode_columns(block, level=level, columns=columns)
            rows = len(block) if hasattr(block, "__len__") else codes.size
            if codes.dtype != _CODE or codes.shape != (rows,):
                raise DomainError("the domain must return one uint64 code per record; see privhp.check_domain")
            yield codes, found, None if block_counts is None else as_counts(block_counts, records=codes.size)

    def _block_rows(self, scratch: int) -> int:
        """Rows per block: as many as fit in `scratch` bytes or in the memory that the plan leaves."""
        if not self.plan.memory:
            return _MAX_BLOCK_ROWS
        available = max(scratch, self.plan.memory - self.plan.nbytes)
        row_bytes = _ROW_BYTES + _COLUMN_BYTES * len(self.columns)
        return min(max(available // row_bytes, _MIN_BLOCK_ROWS), _MAX_BLOCK_ROWS)

    @cached_property
    def _targets(self) -> dict[str, Any]:
        """Levels and counters of the kernel, found once for all blocks."""
        plan, groups = self.plan, dict[int, kernels.SketchGroup]()
        for level, base in plan.hash_levels.items():
            group = groups.setdefault(base, kernels.SketchGroup(base, plan.hash_coefficients(level), []))
            group.tables.append((level, self.sketches[level]))
        leaves = None
        if plan.partition is not None:
            leaves = kernels.LeafCounters(plan.partition.root_level, plan.partition.nodes, self.leaves)
        return {
            "depth": plan.depth,
            "exact_depth": plan.exact_depth,
            "counters": self.counters if self.counters.size else None,
            "groups": list(groups.values()),
            "leaves": leaves,
        }

    def _add_in_threads(
        self, records: Column | ColumnBatch, counts: Any, threads: int, scratch: int, note: Callable[[], None]
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        ends = [len(records) * share // threads for share in range(threads + 1)]
        weights = None if counts is None else as_counts(counts, records=len(records))

        def count(share: int) -> Tally:
            worker, rows = Tally(self.plan), slice(ends[share], ends[share + 1])
            worker.add(records[rows], counts=None if weights is None else weights[rows], scratch=scratch)
            return worker

        with ThreadPoolExecutor(threads) as pool:
            workers = list(pool.map(count, range(threads)))
        with self.life.updating():
            for worker in workers:
                self.add_counts(worker)
            note()


@dataclass(frozen=True)
class _Header:
    """The header of the bytes of a tally."""

    plan: Plan
    ids: int

    @property
    def cells(self) -> int:
        # The exact depth serves all exact levels.
        plans = [self.plan, *self.plan.column_plans.values()]
        return self.plan.counters - sum(1 << level for plan in plans for level in plan.exact_levels[:-1])

    def to_json(self) -> dict[str, Any]:
        return {"plan": self.plan.spec(), "ids": self.ids}

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> "_Header":
        return cls(Plan.from_spec(header["plan"]), read_number(header, "ids", default=0, least=1))


def _split_blocks(records: Any, counts: Any, rows: int) -> Iterator[tuple[Any, Any]]:
    """An array or a table in blocks of at most `rows` rows; any other batch in one block."""
    if not is_sliceable(records):
        yield records, counts
        return
    weights = None if counts is None else as_counts(counts, records=len(records))
    for start in range(0, max(len(records), 1), rows):
        block = slice(start, start + rows)
        yield records[block], None if weights is None else weights[block]


def is_sliceable(records: Any) -> bool:
    """Whether some rows of a batch are a batch."""
    return isinstance(records, Column | ColumnBatch) or (isinstance(records, np.ndarray) and records.ndim > 0)


def check_mergeable(tally: Tally, other: Tally) -> None:
    """Refuse to add counts of another plan, counts that are already included, and counts of part of a batch."""
    if tally.plan != other.plan:
        raise StateError("the plans differ; build both sides from one plan, with the same hash seed")
    if tally.merged_ids & other.merged_ids:
        raise StateError("the two share counts already, and merging them would count records twice; merge each once")
    tally.life.check_complete()
    other.life.check_complete()

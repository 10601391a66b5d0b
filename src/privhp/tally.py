"""The linear part of a summary: exact counters and sketches under a plan.

A tally takes records and other tallies and adds them up. It holds bare counts,
so it is as secret as the data: it belongs inside one trusted job, is never
saved, and ends in a summary. It knows nothing of noise.
"""

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Counts
from privhp.domains.batches import as_counts
from privhp.errors import StateError
from privhp.kernels import Group, add
from privhp.plan import Plan

_BLOCK = (1 << 16) - 1  # records counted at once; the native kernels count these in 16 bits


class Tally:
    """Counts of the records seen, whatever their order, batches or split.

    One increment at the exact depth serves all exact levels, the coarser ones
    being its sums. Memory is 8 bytes per counter of the exact depth and per
    sketch bucket, whatever the number of records.
    """

    def __init__(self, plan: Plan) -> None:
        """Start from nothing."""
        self.plan = plan
        self.lineage = frozenset([secrets.token_bytes(16)])
        self.counters: Counts = np.zeros(2**plan.exact_depth, dtype=np.int64)
        self.tables: dict[int, Counts] = {
            level: np.zeros((plan.sketch_rows, plan.sketch_width), dtype=np.int64) for level in plan.sketched_levels
        }

    def add(self, records: Any, *, counts: Any = None, threads: int = 1) -> None:
        """Count a batch of records; with `counts`, the i-th record that many times.

        A record without a cell is left out in silence. A batch that is refused
        changes nothing. With several threads each counts its share of an array
        in a tally of its own, and the counts are the same.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise StateError(f"expected a whole number of threads, at least 1, got {threads!r}")
        if threads > 1 and isinstance(records, np.ndarray) and records.ndim:
            self._add_in_threads(records, counts, threads)
            return
        groups = self._groups()
        with np.errstate(all="ignore"):  # whatever the caller has set, NumPy says nothing about a record
            for block, block_counts in _blocks(records, counts):
                codes = self.plan.domain.encode(block, level=self.plan.depth)
                weights = None if block_counts is None else as_counts(block_counts, records=codes.size)
                add(
                    codes,
                    weights,
                    depth=self.plan.depth,
                    exact_depth=self.plan.exact_depth,
                    counters=self.counters,
                    groups=groups,
                )

    def _groups(self) -> list[Group]:
        """The sketches, those together whose cells are hashed at the same level."""
        groups: dict[int, Group] = {}
        for level, base in self.plan.hash_levels.items():
            group = groups.setdefault(base, Group(base, self.plan.hash_coefficients(level), []))
            group.tables.append((level, self.tables[level]))
        return list(groups.values())

    def _add_in_threads(self, records: NDArray[Any], counts: Any, threads: int) -> None:
        from concurrent.futures import ThreadPoolExecutor  # takes longer to import than all of privhp

        ends = [len(records) * part // threads for part in range(threads + 1)]
        weights = None if counts is None else as_counts(counts, records=len(records))

        def count(part: int) -> Tally:
            own, share = Tally(self.plan), slice(ends[part], ends[part + 1])
            own.add(records[share], counts=None if weights is None else weights[share])
            return own

        with ThreadPoolExecutor(threads) as pool:
            for own in list(pool.map(count, range(threads))):
                self._plus(own)

    def _plus(self, other: "Tally") -> None:
        self.counters += other.counters
        for level, table in self.tables.items():
            table += other.tables[level]

    def merge(self, other: "Tally") -> None:
        """Add what another tally of the same plan has counted; each tally can be added once."""
        check_mergeable(self.plan, other.plan, self.lineage, other.lineage)
        self.lineage |= other.lineage  # before the counts, so that what is interrupted cannot be done again
        self._plus(other)


def _blocks(records: Any, counts: Any) -> Iterator[tuple[Any, Any]]:
    """An array in parts that bound what counting needs beyond the batch; anything else in one."""
    if not isinstance(records, np.ndarray) or records.ndim == 0:
        yield records, counts
        return
    weights = None if counts is None else as_counts(counts, records=len(records))
    for start in range(0, max(len(records), 1), _BLOCK):
        block = slice(start, start + _BLOCK)
        yield records[block], None if weights is None else weights[block]


def check_mergeable(plan: Plan, other: Plan, lineage: frozenset[bytes], others: frozenset[bytes]) -> None:
    """Refuse to add counts of another plan, or counts that are already in."""
    if plan != other:
        raise StateError("expected the same plan on both sides, hash seed included; build both from one plan")
    if lineage & others:
        raise StateError("the two share counts already, so adding them would count records twice; merge each part once")

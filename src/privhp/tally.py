"""The linear part of a summary: exact counters and sketches under a plan.

A tally takes records and other tallies and adds them up. It holds bare counts,
so it is as secret as the data: it belongs inside one trusted job, is never
saved, and ends in a summary. It knows nothing of noise.
"""

import secrets
from typing import Any

import numpy as np

from privhp.cells import Codes, Counts, ancestors
from privhp.domains.batches import as_counts
from privhp.errors import StateError
from privhp.kernels import plain
from privhp.plan import Plan

_BLOCK = 1 << 16  # records counted at once: bounds what an update needs beyond its batch


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
        self._coefficients = {level: plan.hash_coefficients(level) for level in plan.sketched_levels}

    def add(self, records: Any, *, counts: Any = None) -> None:
        """Count a batch of records; with `counts`, the i-th record that many times.

        A record without a cell is left out in silence. A batch that is refused
        changes nothing.
        """
        with np.errstate(all="ignore"):  # whatever the caller has set, NumPy says nothing about a record
            codes = self.plan.domain.encode(records, level=self.plan.depth)
        weights = None if counts is None else as_counts(counts, records=codes.size)
        for start in range(0, codes.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            inside = codes[block] < np.uint64(2**self.plan.depth)  # OUTSIDE is not, nor a slip of a user's domain
            self._count(codes[block][inside], None if weights is None else weights[block][inside])

    def _count(self, codes: Codes, weights: Counts | None) -> None:
        def cells(level: int) -> Codes:
            return ancestors(codes, levels=self.plan.depth - level)

        plain.count(self.counters, cells(self.plan.exact_depth).view(np.int64), weights)
        for level, table in self.tables.items():
            apart = level - self.plan.hash_levels[level]
            plain.sketch(table, self._coefficients[level], cells(level), weights, apart=apart)

    def merge(self, other: "Tally") -> None:
        """Add what another tally of the same plan has counted; each tally can be added once."""
        check_mergeable(self.plan, other.plan, self.lineage, other.lineage)
        self.counters += other.counters
        for level, table in self.tables.items():
            table += other.tables[level]
        self.lineage |= other.lineage


def check_mergeable(plan: Plan, other: Plan, lineage: frozenset[bytes], others: frozenset[bytes]) -> None:
    """Refuse to add counts of another plan, or counts that are already in."""
    if plan != other:
        raise StateError("expected the same plan on both sides, hash seed included; build both from one plan")
    if lineage & others:
        raise StateError("the two share counts already, so adding them would count records twice; merge each part once")

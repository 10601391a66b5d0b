"""Persons of an audit: a record for each counter of a plan, and the counters that count it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.collect.tally import Tally
from privhp.core.allocation import Allocation
from privhp.core.cells import Codes, Counts, ancestors
from privhp.planning.partition import Partition
from privhp.planning.plan import Plan

Indices = NDArray[np.int64]

MAX_PERSONS = 2**14


class Places(NamedTuple):
    """The counters of a level that have a target: a person whose record falls there.

    Args:
        targets: The persons, one for each counter.
        counters: Index of the counter of each target in each row, shape (rows, targets).
        cells: Cell of each person, if a counter may count several persons.
    """

    targets: Indices
    counters: Indices
    cells: Indices | None = None

    def excess(self, counts: Counts, records: Indices) -> Counts:
        """Noisy counts of targets without the records of all other persons, shape (rows, targets)."""
        found = np.take_along_axis(np.atleast_2d(counts), self.counters, axis=1)
        if self.cells is None:
            return found
        known = np.bincount(self.cells, weights=records, minlength=counts.size).astype(np.int64)
        return found - known[self.counters] + records[self.targets]


class Persons:
    """Persons in different cells of a plan's finest level; all records of a person are equal.

    Args:
        plan: The plan.
        rng: Source of randomness.

    Attributes:
        records: The record of each person.
    """

    def __init__(self, plan: Plan, rng: np.random.Generator) -> None:
        self._plan = plan
        codes, levels = _spread_cells(plan, rng)
        inhabited = np.zeros(codes.size, dtype=np.bool_)
        for level in np.unique(levels).tolist():
            inhabited[levels == level] = plan.domain.measure(codes[levels == level], level=level) > 0
        cells = Allocation(codes[inhabited], levels[inhabited], np.ones(np.count_nonzero(inhabited), dtype=np.int64))
        # In random order, so that some persons are the first of their cells in several columns.
        self.records: NDArray[Any] = rng.permutation(plan.domain.sample_allocation(cells, balanced=False, rng=rng))
        self._codes = plan.domain.encode(self.records, level=plan.domain.depth)

    def in_column(self, label: str, plan: Plan) -> "Persons":
        """The same persons with their values in a column that is measured by itself.

        Args:
            label: Label of the column.
            plan: Plan of the column.
        """
        persons = Persons.__new__(Persons)
        persons._plan, persons.records = plan, self.records[label]
        persons._codes = plan.domain.encode(persons.records, level=plan.domain.depth)
        return persons

    def places(self, level: int) -> Places:
        """The counters of targets in a level whose counters are known before the data."""
        if self._plan.measurement(level) == "sketched":
            return self._places_alone(level)
        if self._plan.measurement(level) == "exact":
            return _shared(ancestors(self._codes, levels=self._plan.domain.depth - level).astype(np.int64))
        assert self._plan.partition is not None
        return self.leaves(self._plan.partition)

    def leaves(self, partition: Partition) -> Places:
        """The leaves of targets."""
        below = (self._plan.domain.depth - partition.levels.astype(np.int64)).astype(np.uint64)
        return _shared(np.searchsorted(partition.codes() << below, self._codes, side="right") - 1)

    def _places_alone(self, level: int) -> Places:
        """The persons without a second one in any of their buckets, found by noise-free counts."""
        ones, names = Tally(self._plan), Tally(self._plan)
        ones.add(self.records)
        names.add(self.records, counts=np.arange(len(self.records)))
        found = np.full((self._plan.sketch_rows, len(self.records)), -1)
        for row, counts, named in zip(found, ones.sketches[level], names.sketches[level], strict=True):
            alone = np.flatnonzero(counts == 1)
            row[named[alone]] = alone
        targets = np.flatnonzero((found >= 0).all(axis=0))
        return Places(targets, found[:, targets])


def _shared(cells: Indices) -> Places:
    """The first person of each cell is its target."""
    counters, targets = np.unique(cells, return_index=True)
    return Places(targets, counters[None], cells)


def _spread_cells(plan: Plan, rng: np.random.Generator) -> tuple[Codes, Indices]:
    """Cells for persons, with their levels: leaves, roots of leaves, or cells; few enough for the sketches."""
    partition, most = plan.partition, MAX_PERSONS
    if partition is not None:
        chosen = np.sort(rng.permutation(partition.size)[:most])
        return partition.codes()[chosen], partition.levels[chosen].astype(np.int64)
    if plan.sketched_levels:
        most = min(most, max(plan.sketch_width // plan.sketch_rows, 2))
    level = max(plan.budgets)
    cells = 2**level
    codes = np.unique(rng.integers(0, cells, most, dtype=np.uint64)) if cells > most else np.arange(cells)
    return codes.astype(np.uint64), np.full(codes.size, level)

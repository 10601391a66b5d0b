"""Columns of a table that are measured by themselves, and what they cost.

Every column is split in a table, so leaves are wide along each of them, and an answer about one column
adds up the noise of many leaves. Where a table has three axes or more, each column has counters of its domain in
addition. Where the table learns a partition, so do its columns, on the same samples.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import NamedTuple

from privhp.core.budget import MAX_SCALE, amplified_cost
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn
from privhp.errors import PlanError
from privhp.planning.partition import Partition
from privhp.planning.plan_sizes import PlanSizes
from privhp.planning.planner import Planner
from privhp.planning.tuning import resolved_level
from privhp.planning.wide_tables import FEW_SPLITS

MIN_AXES = 3
"""Axes of a table from which its columns are measured; null is no axis. With two, the joint cells are fine enough."""

MIN_DEPTH = 4
"""Levels of a column that is always measured. Of a table of few columns, the leaves resolve columns of fewer values."""

COLUMN_SHARE, MAX_SHARE, MEMORY_SHARE = Fraction(1, 15), Fraction(1, 3), Fraction(1, 8)
"""Share of epsilon for a column, and shares of epsilon and of the memory for all columns, at most.

A learning pass costs more than its parts would by themselves, so the columns of a table that learns take a little more.
"""

MAX_MEMORY, MIN_MEMORY, LEAST_MEMORY = 2**16, 2**10, 2**8
"""Bytes for each column: a line gains nothing from more, and with fewer no column is measured. Few values need less."""

VALUE_BYTES = 32
"""Bytes for each cell of the finest level of a column, which hold the counters of all its levels, and scratch."""

PARTITION_SHARE = Fraction(3, 4)
"""Share of the memory of a column that a known partition may take; the rest is for levels above it, and scratch."""

MIN_RECORDS, MIN_COARSE_RECORDS = 256, 32
"""Least number of records in units of the noise of a column's whole budget; with fewer, a column shows little.

The second is for columns that the leaves of the table hardly split. On tables of 4 to 40 such columns, of five values
or of numbers, the mean error of the share of a value or a range is 2% to 6% with 32, and 7% to 11% without counters;
with 16 it is 4% to 9%. Columns with more splits gain nothing from fewer than about 100.
"""

LEAST_LEVEL = Fraction(1, 64)
"""Share of the budget of a column that each of its levels has, at least."""


class ColumnShare(NamedTuple):
    """What each of the columns that are measured by themselves has.

    Args:
        columns: The columns.
        budget: Part of epsilon of each.
        nbytes: Bytes of each.
    """

    columns: Sequence[TableColumn] = ()
    budget: Fraction = Fraction(0)
    nbytes: int = 0


class TablePlanner:
    """Plans of a domain beside the columns that are measured by themselves; a domain without columns has none.

    The columns learn partitions if the table does. A known partition comes before columns if there is memory for one
    of them only.

    Args:
        make_planner: Makes the planner of a domain for an epsilon, a memory, rates and a partition.
        domain: The domain.
        epsilon: Budget of the whole plan.
        expected_records: Expected number of records.
        sensitivity: Change of the counters of a level by one person.
        rates: Sampling rates of the learning passes.
        partition: Partition of the table that is known before.
        column_partitions: Partitions of columns that are known before, by label.
    """

    def __init__(
        self,
        make_planner: Callable[..., Planner],
        domain: Domain,
        *,
        epsilon: Fraction,
        expected_records: int,
        sensitivity: int,
        rates: tuple[Fraction, ...],
        partition: Partition | None,
        column_partitions: Mapping[str, Partition],
    ) -> None:
        self._domain, self._epsilon, self._rates = domain, epsilon, rates
        self._records, self._sensitivity = expected_records, sensitivity
        self._of_table = partial(make_planner, domain, rates=rates, partition=partition)
        self._of_column, self._known = make_planner, column_partitions

    @cached_property
    def least_memory(self) -> int:
        """Bytes in which every column that the budget allows is measured; 0 if there are none."""
        columns, _ = self._affordable
        needed = max(map(_least_nbytes, columns), default=0)
        return math.ceil(len(columns) * needed / MEMORY_SHARE)

    def least_error(self, memory: int, limit: float) -> float:
        """Least predicted error of the table in a memory, before its columns are planned; infinite from a limit on."""
        columns, budget, nbytes = self._share(memory)
        epsilon, left = self._epsilon - len(columns) * budget, memory - len(columns) * nbytes
        return self._of_table(epsilon=epsilon, memory=left).least_error(limit)

    def plan(self, memory: int) -> tuple[Mapping[str, PlanSizes], PlanSizes]:
        """Sizes and budgets of the columns, by label, and of the table."""
        share = self._share(memory)
        candidates = [self._rates, ()] if self._rates else [()]
        for rates in candidates if share.columns else []:
            sizes, cost, learning = self._plan_columns(share, rates)
            left = memory - len(sizes) * share.nbytes
            table = self._plan_table(epsilon=self._epsilon - cost, memory=left, beside=learning)
            if table is not None:
                return sizes, table.sizes()
        return {}, self._of_table(epsilon=self._epsilon, memory=memory).sizes()

    def _plan_table(self, *, epsilon: Fraction, memory: int, beside: tuple[Fraction, ...] | None) -> Planner | None:
        """Planner of the table beside its columns.

        None if too little memory is left for its known partition, or if its columns learn and it does not.
        """
        try:
            planner = self._of_table(epsilon=epsilon, memory=memory, beside=beside)
        except PlanError:
            return None
        return planner if beside is None or planner.is_adaptive else None

    def _share(self, memory: int) -> ColumnShare:
        """The measured columns: those that epsilon, the records and the memory allow."""
        columns, budget = self._affordable
        nbytes = min(int(memory * MEMORY_SHARE) // max(len(columns), 1), MAX_MEMORY)
        fitting = [column for column in columns if _least_nbytes(column) <= nbytes]
        return ColumnShare(fitting, budget, nbytes) if fitting else ColumnShare()

    @cached_property
    def _affordable(self) -> tuple[Sequence[TableColumn], Fraction]:
        """Columns that may be measured, and the budget of each; none of a table of few axes or of little data."""
        pairs = zip(self._domain.columns, self._domain.column_axes, strict=True)
        axes = sum(len(own) - column.domain.nullable for column, own in pairs)
        if len(self._domain.columns) < 2 or axes < MIN_AXES:
            return [], Fraction(0)
        resolved = min(resolved_level(self._epsilon, self._records), self._domain.depth)
        splits = self._domain.splits_by_column(resolved)
        columns = [column for column in self._domain.columns if not _is_resolved(column, splits[column.label])]
        budget = self._epsilon * min(COLUMN_SHARE, MAX_SHARE / max(len(columns), 1))
        if self._sensitivity > MAX_SCALE * LEAST_LEVEL * budget:
            return [], Fraction(0)
        records = budget * self._records / self._sensitivity
        return [column for column in columns if records >= _least_records(column, splits[column.label])], budget

    def _plan_columns(
        self, share: ColumnShare, rates: tuple[Fraction, ...]
    ) -> tuple[Mapping[str, PlanSizes], Fraction, tuple[Fraction, ...] | None]:
        """Sizes of the columns by label, their part of epsilon, and the sum of their budgets in each learning pass."""

        @cache  # columns of equal domains have equal sizes
        def sizes_of(domain: Domain, partition: Partition | None) -> PlanSizes:
            limits = {"epsilon": share.budget, "memory": share.nbytes, "rates": rates, "partition": partition}
            return self._of_column(domain, **limits, is_column=True).sizes()

        fitting = {label: own for label, own in self._known.items() if own.nbytes <= share.nbytes * PARTITION_SHARE}
        sizes = {column.label: sizes_of(column.domain, fitting.get(column.label)) for column in share.columns}
        learned = [own.learning.passes for own in sizes.values() if own.learning is not None]
        learning = tuple(sum((own.budget for own in each), Fraction(0)) for each in zip(*learned, strict=True)) or None
        cost = sum((sum(own.budgets.values(), Fraction(0)) for own in sizes.values()), Fraction(0))
        cost += sum(amplified_cost(*each) for each in zip(rates, learning or (), strict=learning is not None))
        return sizes, cost, learning


def _is_resolved(column: TableColumn, splits: int) -> bool:
    """Whether the leaves of the table resolve a column: one of few values, unless there are many columns."""
    return column.domain.depth < MIN_DEPTH and splits >= column.domain.depth


def _least_records(column: TableColumn, splits: int) -> int:
    """Records in units of the noise from which counters answer better than leaves that split the column so often."""
    return MIN_COARSE_RECORDS if splits - column.domain.nullable <= FEW_SPLITS else MIN_RECORDS


def _least_nbytes(column: TableColumn) -> int:
    """Bytes with which a column is measured: those of all its levels if they are few."""
    return max(min(VALUE_BYTES << column.domain.depth, MIN_MEMORY), LEAST_MEMORY)

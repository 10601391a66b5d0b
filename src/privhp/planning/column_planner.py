"""Columns of a table that are measured by themselves, and what they cost.

Every column is split in a table, so leaves are wide along each of them, and an answer about one column
adds up the noise of many leaves. Where a table has three axes or more, each column has counters of its domain in
addition. Where the table learns a partition, so do its columns, on the same samples.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from privhp.core.budget import MAX_SCALE, amplified_cost
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn
from privhp.errors import PlanError
from privhp.planning.partition import Partition
from privhp.planning.plan_sizes import PlanSizes
from privhp.planning.planner import Planner
from privhp.planning.tuning import resolved_level

MIN_AXES = 3
"""Axes of a table from which its columns are measured; null is no axis. With two, the joint cells are fine enough."""

MIN_DEPTH = 4
"""Levels of a column that is always measured. Of a table of few columns, the leaves resolve columns of fewer values."""

COLUMN_SHARE, MAX_SHARE, MEMORY_SHARE = Fraction(1, 15), Fraction(1, 3), Fraction(1, 8)
"""Share of epsilon for a column, and shares of epsilon and of the memory for all columns, at most.

A learning pass costs more than its parts would by themselves, so the columns of a table that learns take a little more.
"""

MAX_MEMORY, MIN_MEMORY = 2**16, 2**10
"""Bytes for each column: a line gains nothing from more, and with fewer no column is measured."""

PARTITION_SHARE = Fraction(3, 4)
"""Share of the memory of a column that a known partition may take; the rest is for levels above it, and scratch."""

MIN_RECORDS = 256
"""Least number of records in units of the noise of a column's whole budget; with fewer, a column shows little."""

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

    def least_error(self, memory: int, limit: float) -> float:
        """Least predicted error of the table in a memory, before its columns are planned; infinite from a limit on."""
        columns, budget, nbytes = self._share(memory)
        epsilon, left = self._epsilon - len(columns) * budget, memory - len(columns) * nbytes
        return self._of_table(epsilon=epsilon, memory=left).least_error(limit)

    def plan(self, memory: int) -> tuple[Mapping[str, PlanSizes], PlanSizes]:
        """Sizes and budgets of the columns, by label, and of the table."""
        share = self._share(memory)
        for rates in dict.fromkeys((self._rates, ())) if share.columns else ():
            sizes, cost, learning = self._plan_columns(share, rates)
            with contextlib.suppress(PlanError):
                left = memory - len(sizes) * share.nbytes
                planner = self._of_table(epsilon=self._epsilon - cost, memory=left, beside=learning)
                if learning is None or planner.is_adaptive:
                    return sizes, planner.sizes()
        return {}, self._of_table(epsilon=self._epsilon, memory=memory).sizes()

    def _share(self, memory: int) -> ColumnShare:
        """The measured columns; none of a table of few axes, of little data or in little memory."""
        pairs = zip(self._domain.columns, self._domain.column_axes, strict=True)
        axes = sum(len(own) - column.domain.nullable for column, own in pairs)
        columns = [column for column in self._domain.columns if not self._is_resolved(column)]
        if len(self._domain.columns) < 2 or axes < MIN_AXES or not columns:
            return ColumnShare()
        nbytes = min(int(memory * MEMORY_SHARE) // len(columns), MAX_MEMORY)
        budget = self._epsilon * min(COLUMN_SHARE, MAX_SHARE / len(columns))
        little = nbytes < MIN_MEMORY or budget * self._records < MIN_RECORDS * self._sensitivity
        too_noisy = self._sensitivity > MAX_SCALE * LEAST_LEVEL * budget
        return ColumnShare() if little or too_noisy else ColumnShare(columns, budget, nbytes)

    def _is_resolved(self, column: TableColumn) -> bool:
        """Whether the leaves of the table resolve a column: one of few values, unless there are many columns."""
        level = min(resolved_level(self._epsilon, self._records), self._domain.depth)
        splits = self._domain.splits_by_column(level)[column.label]
        return column.domain.depth < MIN_DEPTH and splits >= column.domain.depth

    def _plan_columns(
        self, share: ColumnShare, rates: tuple[Fraction, ...]
    ) -> tuple[Mapping[str, PlanSizes], Fraction, tuple[Fraction, ...] | None]:
        """Sizes of the columns by label, their part of epsilon, and the sum of their budgets in each learning pass."""
        make = partial(self._of_column, epsilon=share.budget, memory=share.nbytes, rates=rates)
        fitting = {label: own for label, own in self._known.items() if own.nbytes <= share.nbytes * PARTITION_SHARE}
        sizes = {
            column.label: make(column.domain, partition=fitting.get(column.label)).sizes() for column in share.columns
        }
        learned = [own.learning.passes for own in sizes.values() if own.learning is not None]
        learning = tuple(sum((own.budget for own in each), Fraction(0)) for each in zip(*learned, strict=True)) or None
        cost = sum((sum(own.budgets.values(), Fraction(0)) for own in sizes.values()), Fraction(0))
        cost += sum(amplified_cost(*each) for each in zip(rates, learning or (), strict=learning is not None))
        return sizes, cost, learning

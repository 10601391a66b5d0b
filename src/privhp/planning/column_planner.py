"""Columns of a table that are measured by themselves, and what they cost.

Every column is split in a table, so leaves are wide along each of them, and an answer about one column
adds up the noise of many leaves. Where a table has three axes or more, each column has counters of its domain in
addition. Where the table learns a partition, so do its columns, on the same samples.
"""

import contextlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from privhp.core.budget import MAX_SCALE, amplified_cost
from privhp.domains.domain import Domain
from privhp.errors import PlanError
from privhp.planning.partition import Partition
from privhp.planning.plan_sizes import PlanSizes
from privhp.planning.planner import Planner

MIN_AXES = 3
"""Axes of a table from which its columns are measured; null is no axis. With two, the joint cells are fine enough."""

MIN_DEPTH = 4
"""Levels of a column that is measured, at least: the leaves of a table resolve columns of eight values or fewer."""

COLUMN_SHARE, MAX_SHARE, MEMORY_SHARE = Fraction(1, 15), Fraction(1, 3), Fraction(1, 8)
"""Share of epsilon for a column, and shares of epsilon and of the memory for all columns, at most.

A learning pass costs more than its parts would by themselves, so the columns of a table that learns take a little more.
"""

MAX_MEMORY, MIN_MEMORY = 2**16, 2**10
"""Bytes for each column: a line gains nothing from more, and with fewer no column is measured."""

MIN_RECORDS = 256
"""Least number of records in units of the noise of a column's whole budget; with fewer, a column shows little."""

LEAST_LEVEL = Fraction(1, 64)
"""Share of the budget of a column that each of its levels has, at least."""


class MeasuredColumns(NamedTuple):
    """The columns of a plan that are measured by themselves.

    Args:
        sizes: Sizes and budgets by label.
        nbytes: Bytes of their counters and partitions, at most.
        cost: Part of epsilon that they take.
        learning: Sum of their budgets in each learning pass; None if they learn nothing.
    """

    sizes: Mapping[str, PlanSizes]
    nbytes: int
    cost: Fraction
    learning: tuple[Fraction, ...] | None


def plan_table(
    make_planner: Callable[..., Planner],
    domain: Domain,
    *,
    epsilon: Fraction,
    expected_records: int,
    sensitivity: int,
    memory: int,
    rates: tuple[Fraction, ...],
    partition: Partition | None,
) -> tuple[Mapping[str, PlanSizes], Planner]:
    """The columns of a table that are measured by themselves, and the planner of the table beside them.

    The columns learn partitions if the table does. A known partition comes before columns if there is memory for one
    of them only.

    Args:
        make_planner: Makes the planner of a domain for an epsilon, a memory, rates and a partition.
        domain: The domain; without columns, none is measured.
        epsilon: Budget of the whole plan.
        expected_records: Expected number of records.
        sensitivity: Change of the counters of a level by one person.
        memory: Bytes of the whole plan.
        rates: Sampling rates of the learning passes.
        partition: Partition of the table that is known before.
    """
    joint = partial(make_planner, domain, rates=rates, partition=partition)
    for own_rates in dict.fromkeys((rates, ())):
        columns = _measure(
            make_planner, domain, epsilon, expected_records, sensitivity=sensitivity, memory=memory, rates=own_rates
        )
        if not columns.sizes:
            break
        with contextlib.suppress(PlanError):
            left = memory - columns.nbytes
            planner = joint(epsilon=epsilon - columns.cost, memory=left, beside=columns.learning)
            if columns.learning is None or planner.is_adaptive:
                return columns.sizes, planner
    return {}, joint(epsilon=epsilon, memory=memory)


def _measure(
    make_planner: Callable[..., Planner],
    domain: Domain,
    epsilon: Fraction,
    expected_records: int,
    *,
    sensitivity: int,
    memory: int,
    rates: tuple[Fraction, ...],
) -> MeasuredColumns:
    """Sizes and budgets of the columns of a table; none of a table of few axes, of little data or in little memory."""
    pairs = zip(domain.columns, domain.column_axes, strict=True)
    axes = sum(len(own) - column.domain.nullable for column, own in pairs)
    columns = [column for column in domain.columns if column.domain.depth >= MIN_DEPTH]
    number = max(len(columns), 1)
    own, budget = min(int(memory * MEMORY_SHARE) // number, MAX_MEMORY), epsilon * min(COLUMN_SHARE, MAX_SHARE / number)
    few = len(domain.columns) < 2 or axes < MIN_AXES or not columns
    little = own < MIN_MEMORY or budget * expected_records < MIN_RECORDS * sensitivity
    if few or little or sensitivity > MAX_SCALE * LEAST_LEVEL * budget:
        return MeasuredColumns({}, 0, Fraction(0), None)
    make = partial(make_planner, epsilon=budget, memory=own, rates=rates, partition=None)
    sizes = {column.label: make(column.domain).sizes() for column in columns}
    learned = [own.learning.passes for own in sizes.values() if own.learning is not None]
    learning = tuple(sum((own.budget for own in each), Fraction(0)) for each in zip(*learned, strict=True)) or None
    cost = sum((sum(own.budgets.values(), Fraction(0)) for own in sizes.values()), Fraction(0))
    cost += sum(amplified_cost(*each) for each in zip(rates, learning or (), strict=learning is not None))
    return MeasuredColumns(sizes, own * number, cost, learning)

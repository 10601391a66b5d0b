"""Columns of a table that are measured by themselves, and what they cost.

Every column is split in a table, so leaves are wide along each of them, and an answer about one column
adds up the noise of many leaves. Where a table has three axes or more, each column has counters of its domain in
addition. Where the table learns a partition, so do its columns, on the same samples.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from privhp.core.budget import amplified_cost
from privhp.domains.domain import Domain
from privhp.planning.plan_sizes import PlanSizes
from privhp.planning.planner import Planner

MIN_AXES = 3
"""Axes of a table from which its columns are measured; null is no axis. With two, the joint cells are fine enough."""

MIN_DEPTH = 4
"""Levels of a column that is measured, at least: the leaves of a table resolve columns of eight values or fewer."""

COLUMN_SHARE, MAX_SHARE, MEMORY_SHARE = Fraction(1, 15), Fraction(1, 3), Fraction(1, 8)
"""Share of epsilon for a column, and shares of epsilon and of the memory for all columns together, at most."""

MAX_MEMORY, MIN_MEMORY = 2**16, 2**10
"""Bytes for each column: a line gains nothing from more, and with fewer no column is measured."""

MIN_RECORDS = 256
"""Least product of the budget of a column and the number of records; with fewer, a column shows little."""


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


def plan_columns(
    make_planner: Callable[..., Planner],
    domain: Domain,
    *,
    epsilon: Fraction,
    expected_records: int,
    memory: int,
    rates: tuple[Fraction, ...],
) -> MeasuredColumns:
    """Sizes and budgets of the columns of a table; none of a table of few axes, or in little memory.

    Args:
        make_planner: Makes the planner of a domain for an epsilon, a memory and rates.
        domain: The domain.
        epsilon: Budget of the whole plan.
        expected_records: Expected number of records.
        memory: Bytes of the whole plan.
        rates: Sampling rates of the learning passes of the table.
    """
    pairs = zip(domain.columns, domain.column_axes, strict=True)
    axes = sum(len(own) - column.domain.nullable for column, own in pairs)
    columns = [column for column in domain.columns if column.domain.depth >= MIN_DEPTH]
    number = max(len(columns), 1)
    own, share = min(int(memory * MEMORY_SHARE) // number, MAX_MEMORY), min(COLUMN_SHARE, MAX_SHARE / number)
    budget = epsilon * share
    few = len(domain.columns) < 2 or axes < MIN_AXES or not columns
    if few or own < MIN_MEMORY or budget * expected_records < MIN_RECORDS:
        return MeasuredColumns({}, 0, Fraction(0), None)
    planners = [make_planner(column.domain, epsilon=budget, memory=own, rates=rates) for column in columns]
    sizes = {column.label: planner.sizes() for column, planner in zip(columns, planners, strict=True)}
    learned = [own.learning.passes for own in sizes.values() if own.learning is not None]
    learning = tuple(sum((own.budget for own in each), Fraction(0)) for each in zip(*learned, strict=True)) or None
    cost = sum((sum(own.budgets.values(), Fraction(0)) for own in sizes.values()), Fraction(0))
    cost += sum(amplified_cost(*each) for each in zip(rates, learning or (), strict=learning is not None))
    return MeasuredColumns(sizes, own * number, cost, learning)

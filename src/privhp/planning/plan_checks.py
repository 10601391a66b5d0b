"""Checks of a plan: each field by itself, then levels, sizes and budgets against each other."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from privhp.core.budget import MAX_SCALE, check_neighbours, exact_epsilon
from privhp.errors import PlanError, describe_value
from privhp.planning.learning import Learning
from privhp.planning.parameter_checks import (
    MAX_HASH_GROUP,
    MAX_HOT_CELLS,
    MAX_MEMORY,
    MAX_RECORDS,
    MAX_RECORDS_PER_PERSON,
    MAX_ROWS,
    MAX_WIDTH,
    check_choice,
    check_integer,
    check_is_domain,
    list_parameters,
    read_budgets,
)
from privhp.planning.partition import Partition, complete_nbytes
from privhp.planning.plan_sizes import Expand, Inference, PlanSizes

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

MAX_COUNTERS = 2**31
MAX_DOMAIN_TEXT = 2**20
"""Characters of the spec of a domain; with the largest partition, it fits the header of a file."""
MIN_LEAF_LIMIT, LEAVES_PER_COUNTER = 2**22, 16
"""Limits on the leaves: 2**22, or more with more counters, so that a small file cannot expand into gigabytes."""


def read_fields(plan: "Plan") -> dict[str, Any]:
    """The fields of a plan, each checked by itself: budgets as exact rationals, sizes as integers."""
    check_is_domain(plan.domain)
    check_neighbours(plan.neighbours)
    if not isinstance(plan.pan_private, bool):
        raise PlanError(f"expected pan_private= as True or False, got {describe_value(plan.pan_private)}")
    check_choice(plan.expand, get_args(Expand), "expand")
    check_choice(plan.inference, get_args(Inference), "inference")
    ranges = {
        "exact_depth": (0, plan.domain.depth),
        "sketch_rows": (0, MAX_ROWS),
        "sketch_width": (0, MAX_WIDTH),
        "hot_cells": (0, MAX_HOT_CELLS),
        "expected_records": (0, MAX_RECORDS),
        "memory": (0, MAX_MEMORY),
        "max_records_per_person": (1, MAX_RECORDS_PER_PERSON),
        "hash_group": (0, MAX_HASH_GROUP),
    }
    if plan.hash_seed is not None:
        ranges["hash_seed"] = (0, 2**128 - 1)
    return {
        "epsilon": exact_epsilon(plan.epsilon),
        "budgets": MappingProxyType(read_budgets(plan.budgets)),
        "columns": MappingProxyType(_read_columns(plan)),
        **{name: check_integer(getattr(plan, name), name, low, high) for name, (low, high) in ranges.items()},
    }


def _read_columns(plan: "Plan") -> dict[str, PlanSizes]:
    """The sizes of measured columns in the order of the table, with budgets as exact rationals."""
    if not isinstance(plan.columns, Mapping):
        raise PlanError(f"expected columns= as a mapping, got {describe_value(plan.columns)}")
    given = dict(plan.columns)
    for label, sizes in given.items():
        if not isinstance(sizes, PlanSizes):
            raise PlanError(f"expected columns= as a mapping from labels to PlanSizes, got {describe_value(sizes)}")
        given[label] = sizes._replace(budgets=MappingProxyType(read_budgets(sizes.budgets)))
    labels = [column.label for column in plan.domain.columns]
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise PlanError(f"expected columns= of the domain, got {describe_value(unknown[0])}")
    return {label: given[label] for label in labels if label in given}


def check_plan(plan: "Plan") -> None:
    """Refuse a plan whose fields contradict each other or the guarantee."""
    check_domain_size(plan)
    check_levels(plan)
    check_partition(plan)
    check_sketches(plan)
    check_columns(plan)
    check_sizes(plan)
    check_privacy(plan)


def check_domain_size(plan: "Plan") -> None:
    """Refuse a domain that is too long for the header of a file, before any data is read."""
    length = len(ascii(plan.domain.spec()))
    if length > MAX_DOMAIN_TEXT:
        raise PlanError(
            f"expected a domain whose spec has at most {MAX_DOMAIN_TEXT:,} characters, got {length:,}; "
            "declare fewer or shorter values"
        )


def check_levels(plan: "Plan") -> None:
    """Refuse budgets for levels that the domain does not have, and an exact depth without a budget."""
    if max(plan.budgets) > plan.domain.depth:
        raise PlanError(
            f"expected budgets for levels between 0 and the domain's depth {plan.domain.depth}, "
            f"got one for level {max(plan.budgets)}"
        )
    partition_alone = plan.has_partition and plan.exact_depth == 0 and len(plan.budgets) == 1
    if plan.exact_depth not in plan.budgets and not partition_alone:
        raise PlanError(
            f"expected a budget for level {plan.exact_depth}, the exact_depth, "
            f"got budgets for levels {', '.join(map(str, plan.budgets))}"
        )


def check_partition(plan: "Plan") -> None:
    """Refuse a partition, or learning passes, that do not fit the rest of the plan."""
    for value, kind in ((plan.learning, Learning), (plan.partition, Partition)):
        if value is not None and not isinstance(value, kind):
            raise PlanError(f"expected a {kind.__name__} or None, got {describe_value(value)}")
    if not plan.has_partition:
        return
    if len([level for level in plan.budgets if level > plan.exact_depth]) != 1:
        raise PlanError(
            "expected a budget for exactly one level below the exact_depth, the root level of the partition, "
            f"got budgets for levels {', '.join(map(str, plan.budgets))} and exact_depth {plan.exact_depth}"
        )
    if plan.inference == "top-down":
        raise PlanError('expected inference="least-squares" for a plan with a partition, got "top-down"')
    level = plan.learned_level
    if plan.learning is not None and plan.learning.nbytes < complete_nbytes(level):
        raise PlanError(
            f"expected at least {complete_nbytes(level)} bytes for the {2**level} cells of level {level}, "
            f"got {plan.learning.nbytes}"
        )
    if plan.partition is None:
        return
    if not level <= plan.partition.min_level <= plan.partition.max_level <= plan.domain.depth:
        raise PlanError(
            f"expected a partition with leaves of levels {level} to {plan.domain.depth}, got levels "
            f"{plan.partition.min_level} to {plan.partition.max_level}"
        )
    if plan.learning is not None and plan.partition.nbytes > plan.learning.nbytes:
        raise PlanError(f"expected a partition of at most {plan.learning.nbytes} bytes, got {plan.partition.nbytes}")


def check_sketches(plan: "Plan") -> None:
    """Refuse sketch sizes without sketched levels, sketched levels without sizes, and widths that do not group."""
    sizes = {name: getattr(plan, name) for name in ("sketch_rows", "sketch_width", "hot_cells")}
    if plan.sketched_levels and not all(sizes.values()):
        raise PlanError(f"expected sizes above 0, since level {plan.depth} is sketched, got {list_parameters(sizes)}")
    sizes["hash_group"] = plan.hash_group
    if not plan.sketched_levels and any(sizes.values()):
        raise PlanError(
            f"expected sizes of 0, since no level below exact_depth {plan.exact_depth} is sketched, "
            f"got {list_parameters(sizes)}"
        )
    if plan.sketch_width % 2**plan.hash_group:
        raise PlanError(
            f"expected a sketch_width that is a multiple of 2**hash_group, got {plan.sketch_width} "
            f"and hash_group {plan.hash_group}"
        )


def check_columns(plan: "Plan") -> None:
    """Refuse columns whose sizes are no plan of their domain, or whose learning passes are not those of the table."""
    if plan.columns and plan.inference == "top-down":
        raise PlanError('expected inference="least-squares" for a plan that measures columns, got "top-down"')
    rates = [] if plan.learning is None else [own.rate for own in plan.learning.passes]
    for label, own in plan.column_plans.items():  # each is checked when it is made
        if own.learning is None:
            continue
        if rates != [each.rate for each in own.learning.passes]:
            raise PlanError(f"column {label!r}: expected learning passes on the samples of the table's")
        if (own.partition is None) != (plan.partition is None):
            raise PlanError(f"column {label!r}: expected a partition once the table has one, and not before")


def check_sizes(plan: "Plan") -> None:
    """Refuse plans that exceed their memory or the limits on counters and leaves."""
    if plan.memory and plan.nbytes > plan.memory:
        raise PlanError(
            f"expected counters of at most the memory of {plan.memory} bytes, got {plan.nbytes}; "
            "lower exact_depth, the sketch sizes or the partition"
        )
    if plan.counters > MAX_COUNTERS:
        raise PlanError(f"expected at most 2**31 counters, got {plan.counters}; lower exact_depth or the sketch sizes")
    if plan.leaves > max(MIN_LEAF_LIMIT, LEAVES_PER_COUNTER * plan.counters):
        raise PlanError(
            f"expected at most 2**22 leaves or {LEAVES_PER_COUNTER} for each of {plan.counters} counters, "
            f"got {plan.leaves}; lower hot_cells or measure more levels"
        )


def check_privacy(plan: "Plan") -> None:
    """Refuse budgets that, with the cost of learning, exceed epsilon, and noise that could overflow a counter."""
    columns = sum(sum(own.budgets.values()) for own in plan.columns.values())
    excess = sum(plan.budgets.values()) + columns + plan.learning_cost - plan.epsilon
    if excess > 0:
        raise PlanError(
            f"expected budgets and learning passes that cost at most epsilon, {float(plan.epsilon):g}, "
            f"got {float(excess):.3g} more"
        )
    learned = [] if plan.learning is None else [(plan.learned_level, own.budget) for own in plan.learning.passes]
    for level, budget in [*plan.budgets.items(), *learned]:
        if plan.sensitivity(level) / budget > MAX_SCALE:
            raise PlanError(
                "expected budgets with a noise scale of at most 2**40, "
                f"got {float(budget):g} for level {level}; measure fewer levels"
            )

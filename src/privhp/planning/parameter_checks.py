"""Checks and conversions of the parameters of a plan. Errors name the parameter."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from privhp.core.budget import MAX_EPSILON, exact
from privhp.core.cells import MAX_DEPTH
from privhp.domains.domain import Domain
from privhp.errors import PlanError, describe_value
from privhp.planning.partition import Partition

MAX_ROWS = 1000
MAX_WIDTH = 2**24
MAX_HOT_CELLS = 2**40
MAX_HASH_GROUP = 8
MAX_RECORDS = 10**15
MAX_RECORDS_PER_PERSON = 10**6
MAX_MEMORY = 2**40

COUNTER_BYTES = 8
"""Size of a counter, an int64."""

_UNITS = {"": 1, "B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def check_is_domain(domain: Any) -> None:
    """Refuse a value that is not a domain."""
    if not isinstance(domain, Domain):
        raise PlanError(
            f"expected a domain, such as Interval(0, 1) or Table(name=Interval(0, 1)), got {describe_value(domain)}"
        )


def check_choice(value: Any, choices: Iterable[str], name: str) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        raise PlanError(f"expected {name} to be one of {', '.join(choices)}, got {describe_value(value)}")


def check_expected_records(value: Any) -> None:
    """Refuse an expected number of records that is not a number from 1 to 1e15."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not 1 <= value <= MAX_RECORDS:
        raise PlanError(
            "expected expected_records= from 1 to 1e15, a public guess of the number of records, "
            f"got {describe_value(value)}"
        )


def check_integer(value: Any, name: str, low: int, high: int) -> int:
    """An integer between two bounds, as an `int`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        label = f"{name}=" if name.isidentifier() else name
        raise PlanError(f"expected {label} as an integer from {low} to {high}, got {describe_value(value)}")
    return int(value)


def list_parameters(values: Mapping[str, int]) -> str:
    """Names and values of parameters, for a message."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def read_budgets(budgets: Mapping[int, Any]) -> dict[int, Fraction]:
    """Budgets as exact rationals, coarsest level first."""
    if not isinstance(budgets, Mapping) or not budgets:
        raise PlanError(f"expected budgets as a mapping from level to budget, got {describe_value(budgets)}")
    read: dict[int, Fraction] = {}
    for level, budget in budgets.items():
        share = exact(budget, name=f"the budget of level {level}")
        if not 0 < share <= MAX_EPSILON:
            raise PlanError(
                f"expected budgets above 0 and at most epsilon, got {budget} for level {level}; "
                "leave out a level that is not measured"
            )
        read[check_integer(level, "the level of budgets", 0, MAX_DEPTH)] = share
    return dict(sorted(read.items()))


def read_memory(value: Any) -> int:
    """Number of bytes from an integer or a text such as "256 KiB"."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", value) if isinstance(value, str) else None
    if match is not None and match[2].upper() in _UNITS:
        value = int(float(match[1]) * _UNITS[match[2].upper()])
    if isinstance(value, str):
        raise PlanError(f'expected a memory such as "256 KiB", "1 MiB" or 65536, got {describe_value(value)}')
    return check_integer(value, "memory", 256, MAX_MEMORY)


def read_partition(value: Any, domain: Domain) -> Partition:
    """The partition of a plan or a generator of the same domain, or a partition itself."""
    if isinstance(value, Partition):
        return value
    partition = getattr(value, "partition", None)
    if not isinstance(partition, Partition):
        raise PlanError(
            "expected partition= as a partition, a plan that has learned one, or a generator, "
            f"got {describe_value(value)}"
        )
    if value.domain != domain:
        raise PlanError("the partition belongs to another domain; partition= needs a plan or release of this domain")
    return partition


def read_column_partitions(value: Any) -> dict[str, Partition]:
    """The partitions of the columns that a plan, or the plan of a generator, measures by themselves, by label."""
    columns = getattr(getattr(value, "plan", value), "columns", {})
    return {label: own.partition for label, own in columns.items() if own.partition is not None}

"""A plan as a JSON object, in plan files and release headers."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from privhp.domains.domain import Domain
from privhp.errors import PlanError
from privhp.planning.learning import Learning
from privhp.planning.partition import Partition
from privhp.planning.plan_sizes import PlanSizes

COLUMNS = "columns"
"""Key of the measured columns."""

if TYPE_CHECKING:
    from privhp.planning.plan import Plan


def write_spec(plan: "Plan") -> dict[str, Any]:
    """The JSON object of a plan."""
    spec = {item.name: getattr(plan, item.name) for item in fields(plan)}
    columns = spec.pop(COLUMNS)
    if columns:
        spec[COLUMNS] = {label: sizes._asdict() | _write_sizes(sizes) for label, sizes in columns.items()}
    return spec | {
        "domain": plan.domain.spec(),
        "epsilon": str(plan.epsilon),
        **_write_sizes(plan),
        "hash_seed": f"{plan.hash_seed:032x}",
    }


def _write_sizes(own: "Plan | PlanSizes") -> dict[str, Any]:
    """JSON values of the sizes of a plan, or of a column, that are no numbers."""
    return {
        "learning": None if own.learning is None else own.learning.spec(),
        "partition": None if own.partition is None else own.partition.spec(),
        "budgets": {str(level): str(budget) for level, budget in own.budgets.items()},
    }


def _read_sizes(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The sizes of a plan, or of a column, from their JSON values."""
    return {
        "learning": None if spec["learning"] is None else Learning.from_spec(spec["learning"]),
        "partition": None if spec["partition"] is None else Partition.from_spec(spec["partition"]),
        "budgets": {int(level): budget for level, budget in spec["budgets"].items()},
    }


def read_spec(spec: Any, *, names: Sequence[str]) -> dict[str, Any]:
    """The fields of a plan from its JSON object; only plans that measure columns have the key `columns`."""
    if not isinstance(spec, Mapping) or {*spec, COLUMNS} != set(names):
        got = "others" if isinstance(spec, Mapping) else type(spec).__name__
        needed = [name for name in sorted(names) if name != COLUMNS]
        raise PlanError(f"expected a plan with exactly the keys {', '.join(needed)}, got {got}")
    try:
        read = {
            **_read_sizes(spec),
            COLUMNS: {label: PlanSizes(**{**own, **_read_sizes(own)}) for label, own in spec.get(COLUMNS, {}).items()},
            "hash_seed": int(spec["hash_seed"], 16),
            "domain": Domain.from_spec(spec["domain"]),
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PlanError(f"the plan has an unreadable domain, partition, budget or hash_seed: {error}") from None
    return dict(spec) | read

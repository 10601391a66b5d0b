"""A plan as a JSON object, in plan files and release headers."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from privhp.domains.domain import Domain
from privhp.errors import PlanError
from privhp.planning.learning import Learning
from privhp.planning.partition import Partition

if TYPE_CHECKING:
    from privhp.planning.plan import Plan


def write_spec(plan: "Plan") -> dict[str, Any]:
    """The JSON object of a plan."""
    spec = {item.name: getattr(plan, item.name) for item in fields(plan)}
    return spec | {
        "domain": plan.domain.spec(),
        "epsilon": str(plan.epsilon),
        "learning": None if plan.learning is None else plan.learning.spec(),
        "partition": None if plan.partition is None else plan.partition.spec(),
        "budgets": {str(level): str(budget) for level, budget in plan.budgets.items()},
        "hash_seed": f"{plan.hash_seed:032x}",
    }


def read_spec(spec: Any, *, names: Sequence[str]) -> dict[str, Any]:
    """The fields of a plan from its JSON object."""
    if not isinstance(spec, Mapping) or set(spec) != set(names):
        got = "others" if isinstance(spec, Mapping) else type(spec).__name__
        raise PlanError(f"expected a plan with exactly the keys {', '.join(sorted(names))}, got {got}")
    try:
        read = {
            "budgets": {int(level): budget for level, budget in spec["budgets"].items()},
            "hash_seed": int(spec["hash_seed"], 16),
            "domain": Domain.from_spec(spec["domain"]),
            "learning": None if spec["learning"] is None else Learning.from_spec(spec["learning"]),
            "partition": None if spec["partition"] is None else Partition.from_spec(spec["partition"]),
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise PlanError(f"the plan has an unreadable domain, partition, budget or hash_seed: {error}") from None
    return dict(spec) | read

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


_KEYS = {"expected_records": "records"}
"""Keys of the fields of a plan that have another name in files."""


def spec_key(field: str) -> str:
    """Key of a field of a plan."""
    return _KEYS.get(field, field)


def write_spec(plan: "Plan") -> dict[str, Any]:
    """The JSON object of a plan."""
    spec = {spec_key(item.name): getattr(plan, item.name) for item in fields(plan)}
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
    keys = {spec_key(name) for name in names}
    if isinstance(spec, Mapping) and "growth" in spec:
        if spec["growth"] is not None:
            raise PlanError("the plan has a growing partition, which privhp 0.1 wrote; fit the data again")
        spec = {key: spec[key] for key in spec if key != "growth"} | {"learning": None, "partition": None}
    if not isinstance(spec, Mapping) or set(spec) != keys:
        got = "others" if isinstance(spec, Mapping) else type(spec).__name__
        raise PlanError(f"expected a plan with exactly the keys {', '.join(sorted(keys))}, got {got}")
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
    return {name: spec[spec_key(name)] for name in names} | read

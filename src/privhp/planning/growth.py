"""How a partition may grow while records come: how large, and when it is refined.

Public like the rest of a plan. The moments are row numbers, so they are the
same whatever the records are.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from privhp.errors import PlanError, describe_value
from privhp.planning.parameters import MAX_RECORDS, check_integer

MAX_SLOTS = 2**31
MAX_REFINEMENTS = 8


@dataclass(frozen=True)
class Growth:
    """A growing partition: fine where records come, coarse elsewhere.

    Between two refinements every record is counted in the one cell that holds
    it then, with noise of its own; a refinement looks at the noisy counts,
    cuts the cells that promise most, and counts the rest of the stream in
    their parts.

    Args:
        slots: How many counters of cells there is room for.
        refined_after: Row numbers after which the partition is refined, in order.
        least: How many records a part must expect for its cell to be cut.
    """

    _: KW_ONLY
    slots: int
    refined_after: tuple[int, ...]
    least: int

    def __post_init__(self) -> None:
        moments = self.refined_after
        if not isinstance(moments, tuple | list) or not 1 <= len(moments) <= MAX_REFINEMENTS:
            raise PlanError(
                f"expected 1 to {MAX_REFINEMENTS} row numbers for refined_after, got {describe_value(moments)}"
            )
        rows = tuple(check_integer(row, "a row number of refined_after", 1, MAX_RECORDS) for row in moments)
        if list(rows) != sorted(set(rows)):
            raise PlanError("expected the row numbers of refined_after in order, each once")
        object.__setattr__(self, "refined_after", rows)
        object.__setattr__(self, "slots", check_integer(self.slots, "slots", 1, MAX_SLOTS))
        object.__setattr__(self, "least", check_integer(self.least, "least", 1, MAX_RECORDS))

    def spec(self) -> dict[str, Any]:
        """The growth as a JSON object."""
        return {item.name: getattr(self, item.name) for item in fields(self)} | {
            "refined_after": list(self.refined_after)
        }

    @classmethod
    def from_spec(cls, spec: Any) -> "Growth":
        """The growth that a JSON object describes."""
        known = {item.name for item in fields(cls)}
        if not isinstance(spec, Mapping) or set(spec) != known:
            raise PlanError(f"expected growth with exactly the keys {', '.join(sorted(known))}")
        return cls(**spec)

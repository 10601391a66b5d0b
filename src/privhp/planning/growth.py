"""Size and refinement schedule of a learned partition.

Both are public. The partition is refined at fixed row numbers, which do not
depend on the records.
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
    """Size and schedule of a learned partition: fine where records are, coarse elsewhere.

    Between two refinements each record is counted in the leaf that holds it. A
    refinement splits the leaves with the largest gain, judged by their noisy
    counts, and the children count the rest of the stream with fresh noise.

    Args:
        slots: Number of counters.
        refined_after: Row numbers after which the partition is refined, ascending.
        least: Records that a child must expect for its parent to be split.
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
            raise PlanError("the row numbers of refined_after must be ascending and distinct")
        object.__setattr__(self, "refined_after", rows)
        object.__setattr__(self, "slots", check_integer(self.slots, "slots", 1, MAX_SLOTS))
        object.__setattr__(self, "least", check_integer(self.least, "least", 1, MAX_RECORDS))

    def spec(self) -> dict[str, Any]:
        """The schedule as a JSON object."""
        return {item.name: getattr(self, item.name) for item in fields(self)} | {
            "refined_after": list(self.refined_after)
        }

    @classmethod
    def from_spec(cls, spec: Any) -> "Growth":
        """The schedule of a JSON object."""
        known = {item.name for item in fields(cls)}
        if not isinstance(spec, Mapping) or set(spec) != known:
            raise PlanError(f"growth must have exactly the keys {', '.join(sorted(known))}")
        return cls(**spec)

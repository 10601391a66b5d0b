"""Size and refinement schedule of a learned partition.

Both are public. The partition is refined at fixed row numbers, which do not
depend on the records.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from privhp.errors import PlanError, describe_value
from privhp.planning.parameter_checks import MAX_RECORDS, check_integer

MAX_SLOTS = 2**31
MAX_REFINEMENTS = 8
_KEYS = {"slots": "slots", "refined_after": "refinement_rows", "least": "min_child_records"}
"""Fields by their keys in files."""


@dataclass(frozen=True)
class RefinementSchedule:
    """Size and schedule of a learned partition: fine where records are, coarse elsewhere.

    Between two refinements each record is counted in the leaf that holds it. A
    refinement splits the leaves with the largest gain, judged by their noisy
    counts, and the children count the rest of the stream with fresh noise.

    Args:
        slots: Number of counters.
        refinement_rows: Row numbers after which the partition is refined, ascending.
        min_child_records: Records that a child must expect for its parent to be split.
    """

    _: KW_ONLY
    slots: int
    refinement_rows: tuple[int, ...]
    min_child_records: int

    def __post_init__(self) -> None:
        rows = self.refinement_rows
        if not isinstance(rows, tuple | list) or not 1 <= len(rows) <= MAX_REFINEMENTS:
            raise PlanError(
                f"expected 1 to {MAX_REFINEMENTS} row numbers for refinement_rows, got {describe_value(rows)}"
            )
        numbers = tuple(check_integer(row, "a row number of refinement_rows", 1, MAX_RECORDS) for row in rows)
        if list(numbers) != sorted(set(numbers)):
            raise PlanError("the row numbers of refinement_rows must be ascending and distinct")
        object.__setattr__(self, "refinement_rows", numbers)
        object.__setattr__(self, "slots", check_integer(self.slots, "slots", 1, MAX_SLOTS))
        least = check_integer(self.min_child_records, "min_child_records", 1, MAX_RECORDS)
        object.__setattr__(self, "min_child_records", least)

    def spec(self) -> dict[str, Any]:
        """The schedule as a JSON object."""
        spec = {key: getattr(self, field) for key, field in _KEYS.items()}
        return spec | {"refined_after": list(self.refinement_rows)}

    @classmethod
    def from_spec(cls, spec: Any) -> "RefinementSchedule":
        """The schedule of a JSON object."""
        if not isinstance(spec, Mapping) or set(spec) != set(_KEYS):
            raise PlanError(f"growth must have exactly the keys {', '.join(sorted(_KEYS))}")
        return cls(**{field: spec[key] for key, field in _KEYS.items()})

"""A release: the noisy counts and the plan, public and frozen.

Everything after this room is a function of it alone, and none of it may
import what came before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from privhp.core.cells import Counts
from privhp.errors import PlanError
from privhp.planning.partition import is_sound
from privhp.planning.plan import Plan


@dataclass(frozen=True, eq=False)
class Release:
    """Noisy counts of every measured level of a plan.

    Args:
        plan: What was fixed before the data.
        counts: For each measured level its noisy counters: one per cell on an
            exact level, a table of rows and buckets on a sketched one, the slots of
            the partition on the level that it grows from.
        refinements: How often the partition of a plan that grows was refined.
        merged: How many summaries were added up, each with noise of its own.
    """

    plan: Plan
    counts: Mapping[int, Counts]
    refinements: int = 0
    merged: int = 1

    def __post_init__(self) -> None:
        came = {level: (array.shape, array.dtype) for level, array in self.counts.items()}
        if came != {level: (shape, np.dtype(np.int64)) for level, shape in self.plan.shapes.items()}:
            raise PlanError("expected one int64 array of noisy counts, of the plan's shape, for each measured level")
        check_merged(self.plan, self.merged)
        if self.plan.growth is not None:
            check_partition(self.plan, self.counts[self.plan.growth_level], self.refinements)
        frozen = {level: _frozen(self.counts[level]) for level in self.plan.shapes}
        object.__setattr__(self, "counts", MappingProxyType(frozen))

    def cells(self) -> Counts:
        """All noisy counts in one array, coarsest level first."""
        return np.concatenate([array.ravel() for array in self.counts.values()])

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as plain arrays."""
        return Release, (self.plan, dict(self.counts), self.refinements, self.merged)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return False
        same = (self.plan, self.refinements, self.merged) == (other.plan, other.refinements, other.merged)
        return same and np.array_equal(self.cells(), other.cells())

    def __hash__(self) -> int:
        return hash(self.plan)


def check_merged(plan: Plan, merged: int) -> None:
    """Refuse a number of merged summaries that no summary of the plan could have."""
    if type(merged) is not int or not 1 <= merged <= (2**62 if plan.growth is None else 1):
        raise PlanError("expected the number of summaries that were added up, 1 if the partition grows")


def check_partition(plan: Plan, slots: Counts, refinements: int) -> None:
    """Refuse slots or refinements that no partition of the plan could have."""
    assert plan.growth is not None
    known = type(refinements) is int and 0 <= refinements <= len(plan.growth.refined_after)
    if not known or not is_sound(slots, level=plan.growth_level, depth=plan.depth, refinements=refinements):
        raise PlanError("expected the slots of a partition, refined as often as the plan says, with sound marks")


def _frozen(array: Counts) -> Counts:
    copy = array.copy()
    copy.flags.writeable = False
    return copy

"""How much memory a plan needs: the default, and what more or less of it would buy."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from privhp.core.number_format import format_bytes
from privhp.planning.parameter_checks import MAX_MEMORY
from privhp.planning.partition import Partition
from privhp.planning.streams import STREAMS

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

MEMORIES: tuple[int, ...] = (2**18, 2**20, 2**22, 2**24, 2**26)
"""Memories of which the default is one: 256 KiB to 64 MiB."""

LEAST = 2**14
"""Least memory that a plan is compared with."""

MIN_GAIN = 0.05
"""Share of the predicted error that four times the memory must save to be the default. Measured gains are larger."""


def choose_memory(least_error: Callable[[int, float], float], *, least: int = 0) -> int:
    """The least memory from which four times as much saves little of the predicted error.

    Args:
        least_error: Least predicted error for a memory, and the error from which on it counts as infinite.
        least: Bytes that it has at least.
    """
    memories = [memory for memory in MEMORIES if memory >= least]
    error = least_error(memories[0], math.inf)
    for memory, more in pairwise(memories):
        error = least_error(more, error * (1.0 - MIN_GAIN))
        if math.isinf(error):
            return memory
    return MEMORIES[-1]


def memory_of(partition: Partition, *, least: int = 0) -> int:
    """The least default memory that holds a known partition and levels above it, and has at least some bytes."""
    return next((memory for memory in MEMORIES if max(2 * partition.nbytes, least) <= memory), MEMORIES[-1])


def typical_error(plan: "Plan") -> float:
    """Geometric mean of the predicted errors of all streams."""
    return math.prod(error.total for error in plan.predictions().values()) ** (1.0 / len(STREAMS))


def describe_memory(plan: "Plan") -> list[str]:
    """What more and less memory would buy, for a plan of the planner before anything is learned."""
    if not plan.memory or not plan.expected_records or plan.inference == "top-down" or plan.partition is not None:
        return []
    error, parts = typical_error(plan), []
    if error == 0:  # in wide tables of few values the model expects that a learned partition finds forty points
        return []
    if 4 * plan.memory <= MAX_MEMORY:
        saved = 1.0 - _error_with(plan, 4 * plan.memory) / error
        parts.append(f"{format_bytes(4 * plan.memory)} would make the typical error {_percent(saved, 'lower')}")
    if plan.memory // 4 >= LEAST:
        lost = _error_with(plan, plan.memory // 4) / error - 1.0
        parts.append(f"{format_bytes(plan.memory // 4)} would make it {_percent(lost, 'higher')}")
    return [f"            {', '.join(parts)}"]


def replan(plan: "Plan", *, memory: int, passes: int) -> "Plan":
    """The plan that the planner makes for the same guarantee with another memory, or another number of passes."""
    return type(plan).auto(
        plan.domain,
        epsilon=plan.epsilon,
        expected_records=plan.expected_records,
        memory=memory,
        passes=passes,
        neighbours=plan.neighbours,
        max_records_per_person=plan.max_records_per_person,
        pan_private=plan.pan_private,
    )


def _error_with(plan: "Plan", memory: int) -> float:
    """Typical error of the same plan with another memory."""
    return typical_error(replan(plan, memory=memory, passes=plan.passes))


def _percent(change: float, word: str) -> str:
    return f"{change:.0%} {word}" if change >= 0.01 else f"no {word}"

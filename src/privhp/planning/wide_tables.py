"""Columns of a table that a plan hardly resolves, since all columns share the splits."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from privhp.planning.error_model import leaf_level
from privhp.planning.plan_measurements import plan_measurements

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

FEW_SPLITS = 2
"""A column of a table with so few splits is hardly resolved."""

_MOST_NAMES = 12


def usual_level(plan: "Plan") -> int:
    """Level of the leaves that hold the records if they are uneven at all scales, as most are."""
    return leaf_level(plan_measurements(plan), "uneven")


def value_splits(plan: "Plan", level: int) -> dict[str, int]:
    """Number of splits of each column of a table down to a level that tell its values apart.

    The split of a nullable column that separates null does not count.
    """
    splits = plan.domain.splits_by_column(level)
    return {own.label: max(splits[own.label] - own.domain.nullable, 0) for own in plan.domain.columns}


def coarse_columns(plan: "Plan") -> list[str]:
    """Columns of a table that have few splits where most records are and could have more; none without a prediction."""
    if not plan.domain.columns or not plan.expected_records:
        return []
    splits, most = value_splits(plan, usual_level(plan)), value_splits(plan, plan.domain.depth)
    return [name for name, own in splits.items() if own <= FEW_SPLITS and own < most[name]]


def describe_coarse_columns(plan: "Plan") -> str | None:
    """Sentence on the columns whose values are hardly told apart, and what to do; None if there are none."""
    coarse = coarse_columns(plan)
    if not coarse:
        return None
    alone = [name for name in coarse if name not in plan.columns]
    where = "" if alone else "in samples and in answers about several columns "
    return (
        f"too many columns: {len(coarse)} of {len(plan.domain.columns)} are split at most {FEW_SPLITS} times, so "
        f"{where}most of their values are not told apart: {_list_names(coarse)}. {_describe_alone(alone, coarse)}"
        "Leave some columns out, raise the weight of the important ones, or give more memory; for wide tables use a "
        "tool that fits a model to noisy marginals, such as mbi (private-pgm) or dpsynth"
    )


def _describe_alone(alone: Sequence[str], coarse: Sequence[str]) -> str:
    """Sentence on coarse columns without counters of their own, if there are any."""
    if not alone:
        return ""
    which = "They" if len(alone) == len(coarse) else f"Of these, {_list_names(alone)}"
    return f"{which} have no counters of their own, so answers about one of them come from wide cells, too. "


def _list_names(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

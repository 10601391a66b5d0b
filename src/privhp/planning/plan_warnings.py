"""What makes a plan less useful than it looks: little data, and columns that are hardly resolved."""

from typing import TYPE_CHECKING

from privhp.core.number_format import format_number, round_digits
from privhp.planning.wide_tables import describe_coarse_columns

if TYPE_CHECKING:
    from privhp.planning.plan import Plan

LITTLE = 2_000
"""Epsilon times the number of records, below which the noise hides most of a distribution."""


def plan_warnings(plan: "Plan") -> dict[str, str]:
    """Sentences on a plan that says little about its data, by their subject. They depend on the plan alone."""
    found = {"Little data": describe_little_data(plan), "Coarse columns": describe_coarse_columns(plan)}
    return {subject: text for subject, text in found.items() if text is not None}


def describe_little_data(plan: "Plan") -> str | None:
    """Sentence on so few expected records that a simpler method does as well; None for more, or for no prediction."""
    if not plan.expected_records:
        return None
    signal = float(plan.epsilon) * plan.expected_records / plan.max_records_per_person
    if signal >= LITTLE:
        return None
    persons = ", divided by the number per person," if plan.max_records_per_person > 1 else ""
    return (
        f"epsilon times the expected number of records{persons} is {format_number(round_digits(signal))}, which is "
        f"little data: below {LITTLE:,}, noise hides most of a distribution, and a flat histogram with well-chosen "
        "bins does as well or better"
    )

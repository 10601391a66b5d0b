"""The measurements of a plan, as the error model takes them."""

from typing import TYPE_CHECKING

from privhp.planning.error_model import KNOWN, LearnedPartition, Measurements, Sketches
from privhp.planning.parameter_checks import check_expected_records
from privhp.planning.streams import Geometry

if TYPE_CHECKING:
    from privhp.planning.plan import Plan


def plan_measurements(plan: "Plan", expected_records: float | None = None) -> Measurements:
    """Levels, noise variances and sizes of a plan.

    Args:
        plan: The plan.
        expected_records: Number of records to predict for; by default that of the plan.
    """
    expected = plan.expected_records if expected_records is None else expected_records
    check_expected_records(expected)
    variances = {level: plan.noise_variance(level) for level in plan.budgets}
    deeper: LearnedPartition | Sketches | None = None
    if plan.has_partition:
        level = plan.learned_level
        passes = () if plan.learning is None else plan.learning.passes
        deeper = LearnedPartition(
            level=level,
            variance=variances[level],
            nbytes=plan.partition_nbytes,
            weights=tuple(float(own.rate * own.budget / plan.budgets[level]) for own in passes) or KNOWN,
        )
    elif plan.sketched_levels:
        noise = {level: variances[level] for level in plan.sketched_levels}
        deeper = Sketches(noise, plan.sketch_rows, plan.sketch_width, plan.hot_cells)
    exact = {level: variances[level] for level in plan.exact_levels}
    return Measurements(Geometry.of(plan.domain), expected, exact, deeper)

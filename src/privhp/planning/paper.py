"""The paper's sizes and budgets of a plan and the paper's bound on its error.

Both are computed from public quantities. `docs/paper.md` maps the names to the
paper's symbols.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

from privhp.core.budget import optimal_weights, split_epsilon
from privhp.domains.domain import Domain
from privhp.planning.error_model import Measurements, Prediction, Sketches
from privhp.planning.parameter_checks import (
    MAX_HOT_CELLS,
    MAX_ROWS,
    MAX_WIDTH,
    check_expected_records,
    check_integer,
    check_is_domain,
)
from privhp.planning.plan_sizes import PlanSizes


def paper_sizes(
    domain: Domain,
    *,
    epsilon: Fraction,
    expected_records: float,
    hot_cells: int = 64,
    exact_depth: int | None = None,
    depth: int | None = None,
    sketch_rows: int | None = None,
    sketch_width: int | None = None,
    hash_group: int | None = None,
) -> PlanSizes:
    """Sizes and budgets of the paper; see `Plan.paper`."""
    check_is_domain(domain)
    check_expected_records(expected_records)
    hot_cells = check_integer(hot_cells, "hot_cells", 1, MAX_HOT_CELLS)
    if depth is None:
        depth = min(max(math.ceil(math.log2(float(epsilon) * expected_records)), 1), domain.depth)
    depth = check_integer(depth, "depth", 0, domain.depth)
    rows = max(math.ceil(math.log2(expected_records)), 1)
    if sketch_rows is not None:
        rows = check_integer(sketch_rows, "sketch_rows", 1, MAX_ROWS)
    width = 2 * hot_cells
    if sketch_width is not None:
        width = check_integer(sketch_width, "sketch_width", 1, MAX_WIDTH)
    if exact_depth is None:
        exact_depth = min(math.ceil(math.log2(rows * width)), depth)
    exact_depth = check_integer(exact_depth, "exact_depth", 0, depth)
    if hash_group is None:
        hash_group = max(group for group in range(5) if width % 2**group == 0)
    costs = _noise_costs(domain, exact_depth=exact_depth, depth=depth, sketch_cost=rows * hot_cells)
    budgets = split_epsilon(epsilon, optimal_weights(costs))
    if depth == exact_depth:
        return PlanSizes(budgets, exact_depth)
    return PlanSizes(budgets, exact_depth, rows, width, hot_cells, hash_group)


def _noise_costs(domain: Domain, *, exact_depth: int, depth: int, sketch_cost: int) -> dict[int, float]:
    """Transport cost of one unit of noise at each level, from the paper's bound."""
    root = domain.diameter(0) or 1.0  # only ratios matter, and ratios of huge diameters do not overflow

    def cost(level: int) -> float:
        above = max(level - 1, 0)
        cells = 2**above if level <= exact_depth else sketch_cost
        return cells * (domain.diameter(above) / root)

    return {level: cost(level) for level in range(depth + 1)}


def paper_bound(measurements: Measurements, budgets: Mapping[int, float], *, tail: float = 1.0) -> Prediction:
    """The paper's bound on the expected distance, with the constants of its proof.

    Args:
        measurements: All levels of the plan, exact or sketched.
        budgets: Budget of each level.
        tail: Share of the records outside the hot cells at the deepest level; 1 in the worst case.
    """
    diameters, n = measurements.geometry.diameters, measurements.expected_records
    sketches = measurements.deeper if isinstance(measurements.deeper, Sketches) else None
    rows, hot = (sketches.rows, sketches.hot_cells) if sketches else (0, 0)
    exact_depth, noise, lost = max(measurements.exact), 0.0, 0.0
    for level, budget in budgets.items():
        above = diameters[max(level - 1, 0)]
        if level <= exact_depth:
            noise += 2.0 ** max(level - 1, 0) * above / budget
        else:
            noise += hot * rows * above / budget
            lost += (tail + 2.0**-rows) * above
    resolution = diameters[max(budgets)]
    return Prediction(noise / n + lost + resolution, noise / n, lost, resolution)

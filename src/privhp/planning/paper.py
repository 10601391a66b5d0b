"""How the sizes and budgets of a plan are chosen, from public quantities only.

So far one recipe, the paper's. It takes what the caller has fixed, gives the
rest, and knows nothing of records or noise.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from privhp.core.budget import exact_epsilon, optimal_weights, split
from privhp.domains.domain import Domain
from privhp.planning.parameters import (
    MAX_HOT_CELLS,
    MAX_ROWS,
    MAX_WIDTH,
    check_domain,
    check_expected_records,
    check_integer,
)


def paper_settings(
    domain: Domain,
    *,
    epsilon: float | int | str | Fraction | Decimal,
    expected_records: float,
    hot_cells: int,
    exact_depth: int | None,
    depth: int | None,
    sketch_rows: int | None,
    sketch_width: int | None,
    hash_group: int | None,
) -> dict[str, Any]:
    """Sizes and budgets after the paper; see `Plan.paper`."""
    check_domain(domain)
    exact_eps = exact_epsilon(epsilon)
    check_expected_records(expected_records)
    hot_cells = check_integer(hot_cells, "hot_cells", 1, MAX_HOT_CELLS)
    if depth is None:
        depth = min(max(math.ceil(math.log2(float(exact_eps) * expected_records)), 1), domain.depth)
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
    costs = _noise_costs(domain, exact_depth=exact_depth, depth=depth, table_cost=rows * hot_cells)
    sketches = {"sketch_rows": rows, "sketch_width": width, "hot_cells": hot_cells, "hash_group": hash_group}
    budgets = split(exact_eps, optimal_weights(costs))
    settings = {
        "epsilon": exact_eps,
        "budgets": budgets,
        "exact_depth": exact_depth,
        "expected_records": math.ceil(expected_records),
    }
    return settings | (sketches if depth > exact_depth else {})


def _noise_costs(domain: Domain, *, exact_depth: int, depth: int, table_cost: int) -> dict[int, float]:
    """What a unit of noise at each level costs in transport, after the paper's bound."""
    whole = domain.diameter(0) or 1.0  # only ratios matter, and those of huge diameters do not overflow

    def cost(level: int) -> float:
        above = max(level - 1, 0)
        cells = 2**above if level <= exact_depth else table_cost
        return cells * (domain.diameter(above) / whole)

    return {level: cost(level) for level in range(depth + 1)}

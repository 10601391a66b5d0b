"""Sizes and budgets of a plan, as the planner and the paper's rules return them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, NamedTuple

from privhp.planning.learning import Learning
from privhp.planning.partition import Partition

Expand = Literal["top", "all"]
"""Which cells of the exact depth are split further: the hot cells, or all as in the paper's Algorithm 2."""

Inference = Literal["top-down", "least-squares"]
"""Consistency from the root down, as in the paper's Algorithm 3, or a least-squares estimate from all levels."""


class PlanSizes(NamedTuple):
    """The fields of a plan that are computed, of records or of one column; see `Plan` for their meaning."""

    budgets: Mapping[int, Fraction]
    exact_depth: int
    sketch_rows: int = 0
    sketch_width: int = 0
    hot_cells: int = 0
    hash_group: int = 0
    learning: Learning | None = None
    partition: Partition | None = None

"""Hierarchical heavy hitters: cells with a large residual share (the conditioned count of the literature).

The leaves of a table may be wider than a cell of one column that others lie
inside. The base measure divides the records of such a leaf among the cells of the
marginal, which says nothing about where they are. So a part of the residual share
must be supported: it lies in leaves inside the cell.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from privhp.answers.estimate import Estimate
from privhp.answers.histogram import Histogram, sum_by_index
from privhp.answers.leaves import CountedCells
from privhp.core.cells import Codes, Floats, ancestors
from privhp.core.number_format import format_share
from privhp.errors import QueryError, describe_value

SUPPORT = 0.5
"""Least share of the threshold that lies in leaves inside a heavy hitter."""

FEW_RECORDS = 0.001
"""Share of the records in no listed value up to which they go unmentioned."""


@dataclass(frozen=True)
class HeavyHitter:
    """A cell of the domain whose residual share of the records reaches the threshold.

    Args:
        region: The cell as a region that `mass` accepts: a prefix, a pair of ends, a node, a value.
        level: Level of the cell.
        code: Code of the cell.
        mass: Share of the records in the cell.
        residual_mass: Share of the records in the cell but not in heavy hitters inside it.
        count: Estimated number of records in the cell.
        residual_count: Estimated number of records in the cell but not in heavy hitters inside it.
        estimate: The share `mass` with its standard error and intervals.
    """

    region: Any
    level: int
    code: int
    mass: float
    residual_mass: float
    count: float
    residual_count: float
    estimate: Estimate[float] = field(compare=False)

    def __repr__(self) -> str:
        shares = f"mass={self.estimate!r}, residual_mass={self.residual_mass:.4g}"
        counts = f"count={self.count:.0f}, residual_count={self.residual_count:.0f}"
        return f"HeavyHitter(region={self.region!r}, level={self.level}, code={self.code}, {shares}, {counts})"


def heavy_hitters(
    histogram: Histogram,
    counted: CountedCells,
    answer: Callable[[Any, float], Estimate[float]],
    *,
    threshold: float,
    levels: Iterable[int] | None,
) -> list[HeavyHitter]:
    """Cells whose residual share reaches the threshold, in descending order of their share of all records.

    Args:
        histogram: The distribution.
        counted: Cells that the release counts.
        answer: Computes the share of the records in a region, given that in the cells of the distribution.
        threshold: Share of all records.
        levels: Levels to report; None for those of reportable cells.
    """
    threshold = _check_threshold(threshold)
    reported = _check_levels(levels, histogram.domain.depth)
    hitters, total = [], float(counted.counts.sum())
    codes, shares = np.zeros(0, dtype=np.uint64), np.zeros((3, 0))
    for level in range(histogram.depth, 0, -1):
        leaves = np.flatnonzero((histogram.levels == level) & (histogram.probabilities > 0))
        inside = np.flatnonzero((counted.levels == level) & (counted.counts > 0))
        probabilities, supports = histogram.probabilities[leaves], counted.counts[inside] / total
        codes, shares = _merge_cells(
            np.concatenate([codes, histogram.codes[leaves], counted.codes[inside]]),
            np.concatenate([shares, np.outer([1, 1, 0], probabilities), np.outer([0, 0, 1], supports)], axis=1),
        )
        masses, residuals, supported = shares
        heavy = (residuals >= threshold) & (supported >= SUPPORT * threshold)
        if reported is not None:
            heavy &= level in reported
        elif heavy.any():
            heavy[heavy] = histogram.domain.is_reportable(codes[heavy], level=level)
        for code, mass, residual in zip(
            codes[heavy].tolist(), masses[heavy].tolist(), residuals[heavy].tolist(), strict=True
        ):
            region = histogram.domain.describe(code, level=level)
            share = answer(region, mass)
            counts = share.value * total, residual * total
            hitters.append(HeavyHitter(region, level, code, share.value, residual, *counts, share))
        shares[1:, heavy] = 0.0
        codes = ancestors(codes, levels=1)
    return sorted(hitters, key=lambda hitter: -hitter.mass)


def describe_remaining(share: float, *, least: float | None) -> str | None:
    """Sentence on the records in no listed value; None if they are few.

    Args:
        share: Share of these records.
        least: Share that a value needs to be listed; None if all are.
    """
    if share <= FEW_RECORDS:
        return None
    below = "" if least is None else f"in values below {format_share(least)} each, or "
    whose = "All" if share >= 1 else f"The remaining {format_share(share)}"
    return f"{whose} is {below}not resolved into values."


def _merge_cells(codes: Codes, shares: Floats) -> tuple[Codes, Floats]:
    """Distinct cells in order, with the sums of each row of shares."""
    cells, indices = np.unique(codes, return_inverse=True)
    return cells, np.stack([sum_by_index(indices, row, cells.size) for row in shares])


def _check_threshold(threshold: Any) -> float:
    number = isinstance(threshold, int | float | np.integer | np.floating) and not isinstance(threshold, bool)
    if not number or not 0 < threshold <= 1:
        raise QueryError(
            f"expected a threshold above 0 and up to 1, a share of all records, got {describe_value(threshold)}"
        )
    return float(threshold)


def _check_levels(levels: Any, depth: int) -> frozenset[int] | None:
    if levels is None:
        return None
    reported = frozenset(levels) if isinstance(levels, Iterable) else frozenset([levels])
    integers = all(isinstance(level, int | np.integer) and not isinstance(level, bool) for level in reported)
    if not reported or not integers or not all(1 <= level <= depth for level in reported):
        raise QueryError(f"expected levels between 1 and {depth}, such as levels=[{min(8, depth)}]; got other values")
    return frozenset(map(int, reported))

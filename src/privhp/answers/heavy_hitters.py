"""Hierarchical heavy hitters: cells that hold much besides what is in heavy cells inside them."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from privhp.answers.histogram import Histogram, summed
from privhp.core.cells import Codes, Floats, ancestors
from privhp.errors import QueryError, describe_value


@dataclass(frozen=True)
class HeavyHitter:
    """A cell of the domain that holds at least some share of the records, without those of heavier cells inside it.

    Args:
        region: The cell in the records' own terms, as `mass` takes regions: a prefix, a pair of ends, a node, a value.
        level: Its level in the domain's hierarchy.
        code: Its code there.
        mass: Share of the records in it.
        residual_mass: The same without the heavy hitters inside it.
        count: Noisy number of records in it.
        residual_count: The same without the heavy hitters inside it.
    """

    region: Any
    level: int
    code: int
    mass: float
    residual_mass: float
    count: float
    residual_count: float


def heavy_hitters(
    histogram: Histogram, total: float, *, threshold: float, levels: Iterable[int] | None
) -> list[HeavyHitter]:
    """The cells whose residual mass reaches the threshold, the largest residual first."""
    share = _share(threshold)
    asked = _levels(levels, histogram.domain.depth)
    hitters = []
    codes, masses, residuals = np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0)
    for level in range(histogram.depth, 0, -1):
        own = np.flatnonzero((histogram.levels == level) & (histogram.probabilities > 0))
        chances = histogram.probabilities[own]
        codes, masses, residuals = _merged(
            np.concatenate([codes, histogram.codes[own]]),
            np.concatenate([masses, chances]),
            np.concatenate([residuals, chances]),
        )
        heavy = residuals >= share
        if asked is not None:
            heavy &= level in asked
        elif heavy.any():
            heavy[heavy] = histogram.domain.is_reportable(codes[heavy], level=level)
        for code, mass, residual in zip(
            codes[heavy].tolist(), masses[heavy].tolist(), residuals[heavy].tolist(), strict=True
        ):
            region = histogram.domain.describe(code, level=level)
            hitters.append(HeavyHitter(region, level, code, mass, residual, mass * total, residual * total))
        residuals[heavy] = 0.0
        codes = ancestors(codes, levels=1)
    return sorted(hitters, key=lambda hitter: -hitter.residual_mass)


def _merged(codes: Codes, masses: Floats, residuals: Floats) -> tuple[Codes, Floats, Floats]:
    """Each cell once, in order, with the sums of what there is of it."""
    cells, places = np.unique(codes, return_inverse=True)
    return cells, summed(places, masses, cells.size), summed(places, residuals, cells.size)


def _share(threshold: Any) -> float:
    number = isinstance(threshold, int | float | np.integer | np.floating) and not isinstance(threshold, bool)
    if not number or not 0 < threshold <= 1:
        raise QueryError(
            f"expected a threshold above 0 and up to 1, a share of all records, got {describe_value(threshold)}"
        )
    return float(threshold)


def _levels(levels: Any, depth: int) -> frozenset[int] | None:
    if levels is None:
        return None
    asked = frozenset(levels) if isinstance(levels, Iterable) else frozenset([levels])
    whole = all(isinstance(level, int | np.integer) and not isinstance(level, bool) for level in asked)
    if not asked or not whole or not all(1 <= level <= depth for level in asked):
        raise QueryError(f"expected levels between 1 and {depth}, such as levels=[{min(8, depth)}], got something else")
    return frozenset(map(int, asked))

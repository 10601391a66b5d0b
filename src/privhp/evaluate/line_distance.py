"""Exact 1-Wasserstein distance of real numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.errors import DomainError
from privhp.evaluate.inputs import Side, common_domain, read_numbers, sorted_once
from privhp.evaluate.stair_distance import stair_distance


def wasserstein(one: Side, other: Side, *, domain: Domain | None = None) -> float:
    """Exact 1-Wasserstein distance on a linear `Interval` or of `Integers`. NOT private.

    The area between the two cdfs. That of a generator is piecewise linear, that
    of records a step function. Records out of bounds count with their distance.
    In a domain with a step, both rise at the values only, and a record counts as
    the nearest value.

    Args:
        one: A generator or real numbers.
        other: A generator or real numbers.
        domain: Domain of the numbers, if neither side is a generator.
    """
    line = common_domain(one, other, domain)
    if line.value_step:
        return stair_distance(one, other, line)
    if line.density_breaks is None:
        raise DomainError(f"expected a linear Interval or Integers, got {line!r}; tree_wasserstein takes any domain")
    sides = [
        _Leaves.of(side, line.density_breaks) if isinstance(side, Distribution) else _Steps.of(side)
        for side in (one, other)
    ]
    grid = sorted_once(*(side.points for side in sides))
    (start, end), (other_start, other_end) = (side.interval_values(grid) for side in sides)
    return float(_mean_distance(start - other_start, end - other_end) @ np.diff(grid))


class _Leaves(NamedTuple):
    """A piecewise linear cdf."""

    points: Floats
    values: Floats

    @classmethod
    def of(cls, generator: Distribution, breaks: Sequence[float]) -> "_Leaves":
        leaves = generator.leaves()
        starts = np.empty(leaves.codes.shape)
        for level in np.unique(leaves.levels).tolist():
            chosen = leaves.levels == level
            codes = leaves.codes[chosen]
            starts[chosen] = generator.domain.cell_quantile(np.zeros(codes.shape), codes, level=level)
        if len(breaks) > 2:  # the cdf bends inside leaves
            points = sorted_once(starts, np.array(breaks[1:]))
            return cls(points, generator.cdf(points).value)
        return cls(np.append(starts, breaks[-1]), np.concatenate([[0.0], np.cumsum(generator.probabilities)]))

    def interval_values(self, grid: Floats) -> tuple[Floats, Floats]:
        """Values at both ends of each interval of a grid that contains the points."""
        values = np.interp(grid, self.points, self.values)
        return values[:-1], values[1:]


class _Steps(NamedTuple):
    """The empirical cdf of sorted points."""

    points: Floats

    @classmethod
    def of(cls, records: object) -> "_Steps":
        return cls(np.sort(read_numbers(records), kind="stable"))  # fast if they are sorted already

    def interval_values(self, grid: Floats) -> tuple[Floats, Floats]:
        """Values at the start of each interval of a grid that contains the points, and just before its end."""
        values = np.searchsorted(self.points, grid[:-1], side="right") / self.points.size
        return values, values


def _mean_distance(start: Floats, end: Floats) -> Floats:
    """Mean absolute value of a linear function with the given values at its ends."""
    crossing = start * end < 0
    span = np.where(crossing, np.abs(start) + np.abs(end), 1.0)
    return np.where(crossing, (start**2 + end**2) / (2 * span), (np.abs(start) + np.abs(end)) / 2)

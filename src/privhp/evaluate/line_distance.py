"""Exact Wasserstein distance on the line."""

from typing import NamedTuple

import numpy as np

from privhp.answers.generator import Generator
from privhp.core.cells import Floats
from privhp.domains.batches import as_floats
from privhp.domains.domain import Domain
from privhp.domains.numbers import Interval
from privhp.errors import DomainError, RecordsError
from privhp.evaluate.inputs import Side, common_domain, sorted_once


def wasserstein(one: Side, other: Side, *, domain: Domain | None = None) -> float:
    """Exact 1-Wasserstein distance on a linear `Interval`: how far a record is moved on average. NOT private.

    The area between the two distribution functions: that of a generator is
    linear inside a leaf, that of records a step function. Records out of bounds
    count with their distance.

    Args:
        one: A generator or real numbers.
        other: A generator or real numbers.
        domain: Where the numbers live, if neither side is a generator.
    """
    line = common_domain(one, other, domain)
    if not isinstance(line, Interval) or line.scale != "linear":
        raise DomainError(f"expected a linear Interval, got {line!r}; tree_wasserstein takes any domain")
    sides = [_Leaves.of(side, line) if isinstance(side, Generator) else _Steps.of(side) for side in (one, other)]
    grid = sorted_once(*(side.points for side in sides))
    (start, end), (other_start, other_end) = (side.stretches(grid) for side in sides)
    return float(_mean_distance(start - other_start, end - other_end) @ np.diff(grid))


class _Leaves(NamedTuple):
    """A distribution function that is linear between some points."""

    points: Floats
    values: Floats

    @classmethod
    def of(cls, generator: Generator, domain: Interval) -> "_Leaves":
        leaves = generator.leaves()
        positions = domain.axis.low + leaves.codes * (domain.axis.width * 2.0 ** -leaves.levels.astype(np.float64))
        starts = domain.line.numbers(positions)
        if domain.cuts is not None:  # where a leaf bends
            points = sorted_once(starts, np.array([*domain.cuts, domain.high]))
            return cls(points, generator.cdf(points).value)
        return cls(np.append(starts, domain.high), np.concatenate([[0.0], np.cumsum(generator.probabilities)]))

    def stretches(self, grid: Floats) -> tuple[Floats, Floats]:
        """Values at the start and the end of each stretch of a grid that has the points."""
        values = np.interp(grid, self.points, self.values)
        return values[:-1], values[1:]


class _Steps(NamedTuple):
    """A distribution function that takes an equal step at each of its sorted points."""

    points: Floats

    @classmethod
    def of(cls, records: object) -> "_Steps":
        numbers = as_floats(records)
        if not numbers.size or not np.isfinite(numbers).all():
            raise RecordsError("expected at least one number, and finite ones only, to compare with")
        return cls(np.sort(numbers, kind="stable"))  # fast where they are in order

    def stretches(self, grid: Floats) -> tuple[Floats, Floats]:
        """Values at the start and just before the end of each stretch of a grid that has the points."""
        values = np.searchsorted(self.points, grid[:-1], side="right") / self.points.size
        return values, values


def _mean_distance(start: Floats, end: Floats) -> Floats:
    """Mean absolute value of a linear function with the given values at its ends."""
    crossing = start * end < 0
    span = np.where(crossing, np.abs(start) + np.abs(end), 1.0)
    return np.where(crossing, (start**2 + end**2) / (2 * span), (np.abs(start) + np.abs(end)) / 2)

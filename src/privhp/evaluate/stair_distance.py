"""Exact 1-Wasserstein distance of numbers with a step, such as integers and decimals."""

from typing import NamedTuple

import numpy as np

from privhp.answers.distribution import Distribution
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.evaluate.inputs import Side, read_numbers, sorted_once


def stair_distance(one: Side, other: Side, line: Domain) -> float:
    """Area between two cdfs that rise at the values of a domain with a step. Numbers count as their nearest value."""
    first = float(line.cell_quantile(np.zeros(1), np.zeros(1, dtype=np.uint64), level=0)[0])
    sides = [_Stairs.of(side, first, line.value_step) for side in (one, other)]
    grid = sorted_once(*(side.ranks + 1 for side in sides))
    start, last = (sides[0].cdf(ranks) - sides[1].cdf(ranks) for ranks in (grid[:-1], grid[1:] - 1))
    return float(_sum_of_stairs(start, last, np.diff(grid)).sum()) * line.value_step


class _Stairs(NamedTuple):
    """A cdf that is linear in the rank of a value between some ranks, or constant."""

    ranks: Floats
    """Ranks at which the slope changes, in increasing order, from the one before the first value on."""
    values: Floats
    """The cdf at these ranks."""

    @classmethod
    def of(cls, side: Side, first: float, step: float) -> "_Stairs":
        if not isinstance(side, Distribution):
            ranks, counts = np.unique(np.rint((read_numbers(side) - first) / step), return_counts=True)
            shares = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
            jumps = (np.stack([ranks - 1, ranks]), np.stack([shares[:-1], shares[1:]]))
            return cls(*(ends.T.ravel() for ends in jumps))
        leaves, domain = side.leaves(), side.domain
        lasts, holds = np.empty(leaves.codes.shape), np.empty(leaves.codes.shape, dtype=np.bool_)
        for level in np.unique(leaves.levels).tolist():
            chosen = leaves.levels == level
            codes = leaves.codes[chosen]
            lasts[chosen] = domain.cell_quantile(np.ones(codes.shape), codes, level=level)
            holds[chosen] = domain.measure(codes, level=level) > 0
        ranks = np.rint((lasts[holds] - first) / step)
        return cls(np.append(-1.0, ranks), np.append(0.0, np.cumsum(side.probabilities[holds])))

    def cdf(self, ranks: Floats) -> Floats:
        """Share of the values up to each rank."""
        return np.interp(ranks, self.ranks, self.values)


def _sum_of_stairs(start: Floats, last: Floats, counts: Floats) -> Floats:
    """Sum of the absolute values of `counts` equally spaced numbers, given the first and the last one."""
    sign = np.where(last < start, -1.0, 1.0)
    low, high = sign * start, sign * last
    rise = (high - low) / np.maximum(counts - 1, 1)
    negative = np.clip(np.ceil(np.divide(-low, rise, out=np.where(low < 0, np.inf, 0.0), where=rise > 0)), 0, counts)
    below = negative * low + rise * (negative * (negative - 1) / 2)
    total: Floats = counts * (low + high) / 2 - 2 * below
    return total

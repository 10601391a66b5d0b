"""A numeric variable on the leaves of a release: its core, and the tails that show nothing but noise.

A noisy count far from all records would move a mean by its distance. The core
is the range of values that the release shows to hold records. On each side of
the median, values are divided into shells, each twice as far away as the one
before. The core ends after the last shell whose count is significant, and a tail
begins. The more noise a shell adds to the mean, in units of the noise of the
core, the higher its threshold: noise that exceeds it is rarer by that factor.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy_errors import HierarchyErrors
from privhp.answers.leaf_numbers import LeafNumbers
from privhp.answers.standard_errors import Condition
from privhp.core.cells import Floats

MIN_Z = 3.0
"""Standard deviations that the count of a shell must exceed if the shell adds no more noise than the core has."""

MAX_SHELLS = 40
"""Largest number of shells on one side."""

LEAST_RATIO = 0.25
"""Ratio of what two neighbouring shells of a tail add to a moment, at least."""


class Tail(NamedTuple):
    """The values on one side of the core.

    Args:
        core: Mask of the leaves that are not in the tail.
        shells: Mask of the leaves in each shell of the tail, the one next to the core first.
        decay: Largest ratio of the counts of two neighbours among the last three shells of the core; of a core of one
            shell, the ratio that the first shell of the tail allows.
        is_known: Whether the core has several shells, so that it shows its decay.
    """

    core: NDArray[np.bool_]
    shells: list[NDArray[np.bool_]]
    decay: float
    is_known: bool

    def ratio(self, power: int) -> float:
        """Bound on the ratio of what two neighbouring shells of the tail add to a central moment.

        They hold fewer records, in the ratio in which the last shells of the core do, and add no more than the
        shell before, if the core shows that. Otherwise they hold at most as many.
        """
        return min(max(self.decay * 2.0**power, LEAST_RATIO), 1.0 if self.is_known else 2.0**power)


class Variable:
    """A numeric variable on the leaves of a release.

    Args:
        numbers: Values of each leaf.
        side: Index of the cell of each leaf along the line of the variable.
        deviation: Standard deviation of the mean of a leaf's records, as a share of the leaf's width.
        errors: Errors of the leaves.
        condition: The records whose variable it is.
    """

    def __init__(
        self,
        numbers: LeafNumbers,
        side: NDArray[np.int64],
        deviation: Floats,
        errors: HierarchyErrors,
        condition: Condition,
    ) -> None:
        self.numbers, self.side, self.deviation, self.errors = numbers, side, deviation, errors
        self.condition = condition

    @cached_property
    def present(self) -> Floats:
        """Share of each leaf's records that meet the condition and have a value."""
        return self.numbers.present * self.condition.share

    @cached_property
    def tails(self) -> tuple[Tail, Tail]:
        """The tails below and above the core."""
        below, median, above = self._quantiles(0.25, 0.5, 0.75)
        offsets = self.numbers.mean - median
        return self._find_tail(-offsets, median - below), self._find_tail(offsets, above - median)

    @property
    def core(self) -> Floats:
        """Share of each leaf's records that have a value in the core, whether they meet the condition or not."""
        return self.numbers.present * (self.tails[0].core & self.tails[1].core)

    def _quantiles(self, *shares: float) -> Floats:
        """Mean of the leaves that hold these quantiles."""
        order = np.argsort(self.numbers.mean, kind="stable")
        sums = np.cumsum((self.errors.counts * self.present)[order])
        held: Floats = self.numbers.mean[order[np.searchsorted(sums, np.array(shares) * sums[-1])]]
        return held

    def _find_tail(self, offsets: Floats, quartile: float) -> Tail:
        """The tail of the values with the largest offsets from the median.

        Beside a heap of a single value at the median, which has no noise of its own, the first shell ends at the next
        value.
        """
        present, reaches = self.present, np.abs(offsets) + self.numbers.width / 2.0
        beyond = offsets[(present > 0) & (offsets > 0)]
        if quartile == 0 and beyond.size and not reaches[(present > 0) & (offsets == 0)].any():
            quartile = float(beyond.min())
        ends = _shell_ends(quartile, offsets[present > 0])
        core, noise = 0, self._noise(reaches * (np.abs(offsets) <= ends[0]))
        edges = [0.0, *ends, math.inf]
        shells = [(offsets > low) & (offsets <= high) for low, high in pairwise(edges)]
        counts = [float((self.errors.unprojected.counts * present)[shell].sum()) for shell in shells]
        for number, shell in enumerate(shells[1:-1], 1):
            ratio = self._noise(reaches * shell) / max(noise, 1e-300)
            z = math.sqrt(MIN_Z**2 + 2.0 * math.log(max(ratio, 1.0)))
            if counts[number] > z * self._noise(shell.astype(np.float64)):
                core, noise = number, self._noise(reaches * ((offsets >= -ends[0]) & (offsets <= ends[number])))
        known = [counts[one] / max(counts[one - 1], 1.0) for one in range(max(core - 1, 1), core + 1)]
        allowed = max(counts[1], 0.0) + self._noise(shells[1].astype(np.float64))
        decay = max(known, default=allowed / max(counts[0], 1.0))
        return Tail(offsets <= ends[core], shells[core + 1 : -1], decay, is_known=bool(known))

    def _noise(self, weights: Floats) -> float:
        """Standard deviation of a weighted sum of the counts by noise."""
        return self.errors.unprojected.deviation(weights * self.present, np.zeros(weights.shape))


def _shell_ends(first: float, offsets: Floats) -> list[float]:
    """Distances at which the shells of one side end: halves of the largest offset, as long as they exceed the first.

    Shells without an offset are left out.
    """
    ends = [max(float(offsets.max(initial=0.0)), first)]
    while len(ends) < MAX_SHELLS and ends[-1] / 2.0 > first:
        ends.append(ends[-1] / 2.0)
    shells = np.searchsorted(ends[::-1], offsets)
    return [end for number, end in enumerate(ends[::-1]) if number == 0 or (shells == number).any()]

"""A numeric variable on the leaves of a release: its core, and the tails that show nothing but noise.

A noisy count far from all records would move a mean by its distance. The core
is the range of values that the release shows to hold records. On each side of
the median, values are divided into shells, each twice as far away as the one
before. The core ends after the last shell whose count is significant, and a tail
begins. The more noise a shell adds to the mean, in units of the noise of the
core, the higher its threshold: noise that exceeds it is rarer by that factor.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.far_clusters import find_clusters
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


class Shell(NamedTuple):
    """Values of a tail that are about as far from the core.

    Args:
        leaves: Mask of their leaves.
        is_shown: Whether there may be a cluster, or all records together show that there are some, though those of the
            condition do not.
    """

    leaves: NDArray[np.bool_]
    is_shown: bool


class Tail(NamedTuple):
    """The values on one side of the core.

    Args:
        core: Mask of the leaves that are not in the tail.
        likely: Mask of those that count as core because all records together fill them.
        shells: Shells of the tail, the one next to the core first.
        decay: Largest ratio of the counts of two neighbours among the last three shells of the core; of a core of one
            shell, the ratio that the first shell of the tail allows.
        is_known: Whether the core has several shells, so that it shows its decay, or is a heap without any.
    """

    core: NDArray[np.bool_]
    likely: NDArray[np.bool_]
    shells: list[Shell]
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
        alone: The same variable of all records by the counters of its column, if it is measured by itself.
    """

    def __init__(
        self,
        numbers: LeafNumbers,
        side: NDArray[np.int64],
        deviation: Floats,
        errors: HierarchyErrors,
        condition: Condition,
        alone: Variable | None = None,
    ) -> None:
        self.numbers, self.side, self.deviation, self.errors = numbers, side, deviation, errors
        self.condition, self._alone = condition, alone

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

    @cached_property
    def _core_of_all(self) -> NDArray[np.bool_]:
        """Mask of the leaves in the core of all records, whether they meet the condition or not."""
        share = np.ones(self.condition.share.shape)
        condition = self.condition._replace(share=share, axes=frozenset())
        core = Variable(self.numbers, self.side, self.deviation, self.errors, condition)._core_mask
        return core if self._alone is None else core | self._alone._holds(self.numbers.mean)

    @property
    def _core_mask(self) -> NDArray[np.bool_]:
        return self.tails[0].core & self.tails[1].core

    def _holds(self, values: Floats) -> NDArray[np.bool_]:
        """Whether each value is in a leaf of the core."""
        there = np.flatnonzero(self.numbers.present > 0)
        order = there[np.argsort(self.numbers.mean[there], kind="stable")]
        starts = (self.numbers.mean - self.numbers.width / 2.0)[order]
        held: NDArray[np.bool_] = self._core_mask[
            order[np.maximum(np.searchsorted(starts, values, side="right") - 1, 0)]
        ]
        return held

    @property
    def core(self) -> Floats:
        """Share of each leaf's records that have a value in the core, whether they meet the condition or not."""
        return self.numbers.present * self._core_mask

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
            is_heap = True
        else:
            is_heap = False
        ends = _shell_ends(quartile, offsets[present > 0])
        last, noise = 0, self._noise(reaches * (np.abs(offsets) <= ends[0]))
        edges = [0.0, *ends, math.inf]
        shells = [(offsets > low) & (offsets <= high) for low, high in pairwise(edges)]
        counts = [float((self.errors.unprojected.counts * present)[shell].sum()) for shell in shells]
        for number, shell in enumerate(shells[1:-1], 1):
            ratio = self._noise(reaches * shell) / max(noise, 1e-300)
            z = math.sqrt(MIN_Z**2 + 2.0 * math.log(max(ratio, 1.0)))
            if counts[number] > z * self._noise(shell.astype(np.float64)):
                last, noise = number, self._noise(reaches * ((offsets >= -ends[0]) & (offsets <= ends[number])))
        known = [counts[one] / max(counts[one - 1], 1.0) for one in range(max(last - 1, 1), last + 1)]
        allowed = max(counts[1], 0.0) + self._noise(shells[1].astype(np.float64))
        decay = 1.0 if is_heap and not known else max(known, default=allowed / max(counts[0], 1.0))
        clusters, possible = self._clusters(offsets, ends[last], noise)
        core, likely, tail = (offsets <= ends[last]) | clusters, np.zeros(offsets.shape, dtype=np.bool_), list[Shell]()
        for shell in shells[last + 1 : -1]:
            shown = shell & self._shown_by_all & ~core
            if self._is_likely(shown):
                core, likely = core | shown, likely | shown
            tail.append(Shell(shell & ~core, bool(((shown | possible) & shell & ~core).any())))
        return Tail(core, likely, tail, decay, is_known=bool(known) or is_heap)

    def _clusters(self, offsets: Floats, end: float, noise: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks of the clusters beyond an end, and of possible ones."""
        beyond = self.present * (offsets > end)
        counted = self.errors.unprojected
        variances = counted.hierarchy.leaf_values("variance")[counted.hierarchy.leaf_order]
        return find_clusters(
            offsets,
            counted.counts * beyond,
            variances * beyond**2,
            self.side,
            self._noise,
            core_noise=noise,
            least_z=MIN_Z,
        )

    @property
    def _shown_by_all(self) -> NDArray[np.bool_]:
        """Mask of the leaves in the core of all records; none if there is no condition."""
        return self._core_of_all if self.condition.axes else np.zeros(self.present.shape, dtype=np.bool_)

    def _is_likely(self, shown: NDArray[np.bool_]) -> bool:
        """Whether leaves that all records together fill hold some of the condition, rather than none.

        That is so if their count is nearer to that of a group like all records than to 0, and both exceed the noise.
        """
        counts, noise = self.errors.unprojected.counts, self._noise(shown.astype(np.float64))
        of_all, of_group = (float(self.errors.counts @ own) for own in (self.numbers.present, self.present))
        expected = float((counts * self.numbers.present)[shown].sum()) * of_group / max(of_all, 1e-300)
        return expected > noise and float((counts * self.present)[shown].sum()) > max(expected / 2.0, noise)

    def _noise(self, weights: Floats) -> float:
        """Standard deviation of a weighted sum of the counts by noise."""
        return self.errors.unprojected.deviation(weights * self.present)


def _shell_ends(first: float, offsets: Floats) -> list[float]:
    """Distances at which the shells of one side end: halves of the largest offset, as long as they exceed the first.

    Shells without an offset are left out.
    """
    ends = [max(float(offsets.max(initial=0.0)), first)]
    while len(ends) < MAX_SHELLS and ends[-1] / 2.0 > first:
        ends.append(ends[-1] / 2.0)
    shells = np.searchsorted(ends[::-1], offsets)
    return [end for number, end in enumerate(ends[::-1]) if number == 0 or (shells == number).any()]

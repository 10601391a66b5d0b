"""Standard errors of marginals and of conditional distributions, from those of the distribution they derive from.

An answer is the expectation of a function of the records. A marginal rewrites
the function on its own leaves as one on the leaves of the joint distribution;
a conditional distribution linearises the ratio of two expectations.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privhp.answers.leaves import Leaves
from privhp.answers.standard_errors import LeafFunction, StandardErrors
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain


class MarginalErrors:
    """Standard errors of a marginal.

    Each leaf of the joint distribution projects to a cell of the marginal,
    which is a union of leaves of the marginal. So the mean of a function over
    the leaf is the mean over these, weighted by their base measure.

    Args:
        joint: Standard errors of the joint distribution.
        codes: Cell of the marginal that each leaf of the joint distribution projects to.
        levels: Level of each of these cells.
        domain: Domain of the marginal.
        leaves: Leaves of the marginal.
    """

    def __init__(
        self, joint: StandardErrors, codes: Codes, levels: NDArray[np.int64], *, domain: Domain, leaves: Leaves
    ) -> None:
        self._joint, self._codes, self._levels = joint, codes, levels
        self._domain, self._leaves = domain, leaves

    def standard_error(self, function: LeafFunction) -> float:
        """Standard error of the expectation of a function on the leaves of the marginal."""
        return self._joint.standard_error(LeafFunction(*map(self._joint_means, function)))

    def _joint_means(self, means: Floats) -> Floats:
        """Mean of a function over each leaf of the joint distribution."""
        ranges, cell_of_leaf = self._ranges
        totals, sums = (
            np.add.reduceat(np.append(weights, 0.0), ranges)[::2] for weights in (self._measure, self._measure * means)
        )
        averages = np.divide(sums, totals, out=np.zeros(sums.shape), where=totals > 0)
        return np.clip(averages, 0.0, 1.0)[cell_of_leaf]

    @cached_property
    def _measure(self) -> Floats:
        """Base measure of each leaf of the marginal."""
        return self._leaves.measure(self._domain)

    @cached_property
    def _ranges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First leaf of the marginal in each cell, the leaf after its last, alternating; and the cell of each leaf."""
        keys = np.stack([self._codes, self._levels.astype(np.uint64)])
        (codes, levels), cell_of_leaf = np.unique(keys, axis=1, return_inverse=True)
        depth = np.uint64(self._leaves.levels.max())
        starts = self._leaves.codes << (depth - self._leaves.levels.astype(np.uint64))
        first_codes = codes << (depth - levels)
        last_codes = first_codes | ((np.uint64(1) << (depth - levels)) - np.uint64(1))
        first, after = np.searchsorted(starts, first_codes), np.searchsorted(starts, last_codes, side="right")
        return np.stack([first, after], axis=1).ravel(), cell_of_leaf.ravel()


class ConditionalErrors:
    """Standard errors of the values of a nullable marginal, given that there is a value.

    An answer is the ratio r = R / V of two expectations: of the function f on
    values, and of the indicator of a value. By the delta method its variance is
    that of the expectation of f - r on values and 0 on null, divided by V
    squared. Adding the constant r changes no variance, so the function is f on
    values and r on null, which has its values in [0, 1].

    Args:
        errors: Standard errors of the marginal with null.
        domain: Domain of the marginal with null.
        leaves: Leaves of the marginal with null.
    """

    def __init__(self, errors: StandardErrors, *, domain: Domain, leaves: Leaves) -> None:
        self._errors, self._domain, self._leaves = errors, domain, leaves

    def standard_error(self, function: LeafFunction) -> float:
        """Standard error of the expectation of a function on the leaves of the values."""
        values = value_shares(self._domain, self._leaves)
        there, counts = values > 0, self._leaves.counts * values
        total, valid = float(self._leaves.counts.sum()), float(counts.sum())
        if valid <= 0:
            return 1.0
        ratio = float(counts[there] @ function.mean) / valid
        mean, slack = np.full(values.shape, ratio), np.full(values.shape, ratio * (1.0 - ratio))
        for moments, of_values in ((mean, function.mean), (slack, function.slack)):
            moments[there] += values[there] * (of_values - moments[there])
        return min(self._errors.standard_error(LeafFunction(mean, slack)) * total / valid, 1.0)


def value_shares(domain: Domain, leaves: Leaves) -> Floats:
    """Share of the base measure of each leaf that is not null: 1 or 0 unless the partition is a single leaf."""
    if leaves.levels[0] == 0:
        return np.array([1.0 - domain.null_share])
    not_null: NDArray[np.bool_] = leaves.codes >> (leaves.levels - 1).astype(np.uint64) == 1
    return not_null.astype(np.float64)

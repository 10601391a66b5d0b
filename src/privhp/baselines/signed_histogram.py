"""What every baseline returns: noisy counts on a partition, and the post-processing that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.constrained_inference import project_to_simplex, spike_and_slab_posterior
from privhp.answers.distribution import Distribution
from privhp.answers.leaf_slopes import divide_along_slopes
from privhp.answers.leaves import Leaves
from privhp.answers.standard_errors import UnavailableErrors
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.errors import QueryError


@dataclass(frozen=True)
class SignedHistogram:
    """A partition of a domain with an estimated count for each leaf, which noise may have made negative.

    Args:
        domain: Domain of the records.
        codes: Code of each leaf, in the order of the domain.
        levels: Level of each leaf.
        estimates: Estimated count of each leaf.
        variances: Variance of each estimate; None if the estimates are consistent and non-negative already.
    """

    domain: Domain
    codes: Codes
    levels: NDArray[np.int64]
    estimates: Floats
    variances: Floats | None = None

    @classmethod
    def of_level(cls, domain: Domain, level: int, estimates: Floats, variances: Floats) -> SignedHistogram:
        """Histogram of all cells of a level."""
        codes = np.arange(2**level, dtype=np.uint64)
        return cls(domain, codes, np.full(codes.shape, level), estimates, variances)

    @cached_property
    def measures(self) -> Floats:
        """Base measure of each leaf."""
        return Leaves(self.codes, self.levels, self.estimates).measure(self.domain)

    @cached_property
    def counts(self) -> Floats:
        """Estimated count of each leaf; 0 for a leaf that can hold no record."""
        return np.where(self.measures > 0, self.estimates, 0.0)

    @property
    def total(self) -> float:
        """Estimated number of records, at least 1."""
        return max(float(self.counts.sum()), 1.0)

    def mass(self, region: Any) -> float:
        """Signed answer: the share of a region, without post-processing. It may be negative."""
        shares = np.empty(self.counts.shape)
        for level in np.unique(self.levels).tolist():
            chosen = self.levels == level
            shares[chosen] = self.domain.overlap(region, self.codes[chosen], level=level)
        return float(shares @ self.counts) / self.total

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the post-processing that applies."""
        noisy = self.variances is not None
        applies = {"shrinkage": noisy, "monotone cdf": noisy and self.domain.ordered, "slopes": self.domain.is_line}
        return tuple(rule for rule in POST_PROCESSING if applies.get(rule, True))

    def distribution(self, rule: str = "projection") -> Distribution:
        """A distribution that samples and answers, by one of `rules`."""
        if rule not in self.rules:
            raise QueryError(f"expected one of {', '.join(self.rules)}, got {rule!r}")
        leaves = POST_PROCESSING[rule](self)
        return Distribution(self.domain, leaves, UnavailableErrors("a baseline has no standard errors"))

    def leaves(self, counts: Floats) -> Leaves:
        """The partition with other counts."""
        return Leaves(self.codes, self.levels, counts)


def project(histogram: SignedHistogram) -> Leaves:
    """Nearest non-negative counts with the same total, or with total 0 if it is negative."""
    return _with_total(histogram, histogram.counts, np.ones(histogram.counts.shape))


def add_slopes(histogram: SignedHistogram) -> Leaves:
    """The projection, divided along the slopes that neighbours show inside each leaf."""
    return divide_along_slopes(project(histogram), histogram.domain)


def shrink(histogram: SignedHistogram) -> Leaves:
    """Posterior means of the counts under a prior with many empty leaves, then the nearest non-negative counts."""
    assert histogram.variances is not None
    return _with_total(
        histogram, *spike_and_slab_posterior(histogram.counts, histogram.variances, histogram.measures > 0)
    )


def _with_total(histogram: SignedHistogram, counts: Floats, variances: Floats) -> Leaves:
    total = np.maximum(histogram.counts.sum(keepdims=True), 0.0)
    (projected,) = project_to_simplex(total, counts[None], variances[None], histogram.measures[None] > 0)
    return histogram.leaves(projected)


def make_cdf_monotone(histogram: SignedHistogram) -> Leaves:
    """Counts of the nearest monotone cumulative counts: least squares, weighted by the measure of the leaves."""
    possible = histogram.measures > 0
    sums = np.cumsum(histogram.counts[possible])
    total = max(float(sums[-1]), 0.0)
    monotone = np.clip(isotonic_regression(sums, histogram.measures[possible]), 0.0, total)
    monotone[-1] = total
    counts = np.zeros(histogram.counts.shape)
    counts[possible] = np.diff(monotone, prepend=0.0)
    return histogram.leaves(counts)


def isotonic_regression(values: Floats, weights: Floats) -> Floats:
    """Nearest non-decreasing sequence by weighted least squares: neighbouring blocks out of order are pooled."""
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        size = 1
        while means and means[-1] >= value:
            mass = masses.pop()
            value = (means.pop() * mass + value * weight) / (mass + weight)
            weight, size = weight + mass, size + sizes.pop()
        means.append(value)
        masses.append(weight)
        sizes.append(size)
    return np.repeat(means, sizes)


POST_PROCESSING: dict[str, Callable[[SignedHistogram], Leaves]] = {
    "projection": project,
    "shrinkage": shrink,
    "monotone cdf": make_cdf_monotone,
    "slopes": add_slopes,
}
"""Rules that turn signed estimates into non-negative counts. They see no records."""

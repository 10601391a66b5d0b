"""A generator: synthetic records and answers from a release.

A pure function of the release and, for samples, of the caller's random
numbers. It can be used for ever without further cost to privacy.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.cells import Codes, Floats
from privhp.domains.base import Domain
from privhp.errors import DomainError
from privhp.plan import Plan
from privhp.release import Release
from privhp.tree import Leaves, grow

Method = Literal["balanced", "independent"]


class Generator:
    """The distribution that a release describes, to sample from and to ask.

    It is a partition of the domain with a probability for each leaf, and the
    domain's base measure inside a leaf. All it returns is post-processing of
    the release, so it is as private as the release.
    """

    def __init__(self, release: Release) -> None:
        """Grow the partition of a release."""
        self.release = release
        self._leaves = grow(release)

    @property
    def plan(self) -> Plan:
        """What was fixed before the data."""
        return self.release.plan

    @property
    def total(self) -> float:
        """Noisy number of records, never negative."""
        return float(self._leaves.counts.sum())

    def leaves(self) -> Leaves:
        """The partition: code, level and count of each leaf, in the domain's order."""
        return self._leaves

    @cached_property
    def probabilities(self) -> Floats:
        """Probability of each leaf; the base measure if the noisy count of everything is 0."""
        return self._leaves.counts / self.total if self.total > 0 else self._base

    @cached_property
    def _base(self) -> Floats:
        """Base measure of each leaf."""
        shares = np.empty(self._leaves.counts.shape)
        for level, leaves in self._by_level():
            shares[leaves] = self.plan.domain.measure(self._leaves.codes[leaves], level=level)
        return shares

    @cached_property
    def _base_ends(self) -> Floats:
        """Cumulative base measure at the end of each leaf."""
        return np.cumsum(self._base)

    @cached_property
    def _ends(self) -> Floats:
        """Cumulative probability at the end of each leaf; the last leaf with any ends at 1."""
        ends = np.cumsum(self.probabilities)
        return np.where(ends >= ends[-1], 1.0, ends)

    def _by_level(self, subset: NDArray[np.int64] | None = None) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """For each level, where in the leaves (or in a list of leaves) those of that level are."""
        levels = self._leaves.levels if subset is None else self._leaves.levels[subset]
        for level in np.unique(levels).tolist():
            yield level, np.flatnonzero(levels == level)

    def sample(
        self,
        n: int | None = None,
        *,
        method: Method = "balanced",
        rng: np.random.Generator | int | None = None,
    ) -> NDArray[Any]:
        """Synthetic records, in random order.

        Args:
            n: How many; by default the noisy number of records.
            method: "balanced" spreads the records evenly over the distribution,
                so that every cell gets its expected number to within one and
                the set is as close to the generator as n records can be.
                "independent" draws each by itself.
            rng: NumPy generator or seed of the sampling; fresh unless given.
                It has nothing to do with the privacy noise.
        """
        size = round(self.total) if n is None else n
        if size < 0 or method not in ("balanced", "independent"):
            raise DomainError(f'expected n >= 0 and method "balanced" or "independent", got {n!r} and {method!r}')
        rng = np.random.default_rng(rng)
        even = (rng.permutation(size) + rng.random()) / max(size, 1)
        points = rng.random(size) if method == "independent" else even
        leaves, shares = self._locate(points)
        like = self.plan.domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)
        records = np.empty((size, *like.shape[1:]), dtype=like.dtype)
        for level, chosen in self._by_level(leaves):
            codes, deeper = self._leaves.codes[leaves[chosen]], level
            if method == "balanced":
                codes, deeper = _stratify(self.plan.domain, codes, shares[chosen], level)
            records[chosen] = self.plan.domain.decode(codes, level=deeper, rng=rng)
        return records

    def _locate(self, points: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Leaf that holds each cumulative probability in [0, 1), and the share of the leaf before it."""
        leaves = np.searchsorted(self._ends, points, side="right")
        before = np.where(leaves > 0, self._ends[leaves - 1], 0.0)
        shares = (points - before) / np.maximum(self._ends[leaves] - before, np.finfo(float).tiny)
        return leaves, np.clip(shares, 0.0, 1.0 - 2.0**-53)

    def mass(self, region: Any) -> float:
        """Probability of a region: a pair (low, high), one pair per side of a box, or an IP prefix.

        None stands for an open end, or for a whole side of a box.
        """
        answer = 0.0
        for level, leaves in self._by_level():
            overlap = self.plan.domain.overlap(region, self._leaves.codes[leaves], level=level)
            answer += float(self.probabilities[leaves] @ overlap)
        return min(answer, 1.0)

    def cdf(self, records: ArrayLike) -> Floats:
        """Probability at or below each record. Ordered domains only."""
        domain = self.plan.domain
        points = np.atleast_1d(np.asarray(records))
        base = domain.below(points, np.zeros(points.shape, dtype=np.uint64), level=0)
        leaves = np.minimum(np.searchsorted(self._base_ends, base), self._base_ends.size - 1)
        answer = np.empty(points.shape)
        for level, chosen in self._by_level(leaves):
            places = leaves[chosen]
            share = domain.below(points[chosen], self._leaves.codes[places], level=level)
            answer[chosen] = self._ends[places] - self.probabilities[places] * (1.0 - share)
        return np.clip(answer, 0.0, 1.0).reshape(np.shape(records))

    def quantile(self, shares: ArrayLike) -> NDArray[Any]:
        """Record below which each share of the distribution lies. Ordered domains only."""
        points = np.atleast_1d(np.asarray(shares, dtype=np.float64))
        if not ((points >= 0) & (points <= 1)).all():
            raise DomainError(f"expected shares between 0 and 1, got {shares!r}")
        leaves, within = self._locate(np.minimum(points, 1.0 - 2.0**-53))
        within = np.where(points == 1.0, 1.0, within)
        answer = self.plan.domain.at(within, np.zeros(points.shape, dtype=np.uint64), level=0)
        for level, chosen in self._by_level(leaves):
            answer[chosen] = self.plan.domain.at(within[chosen], self._leaves.codes[leaves[chosen]], level=level)
        return answer.reshape(np.shape(shares))

    def __repr__(self) -> str:
        return (
            f"Generator({self.plan.domain!r}, epsilon={float(self.plan.epsilon):g}, "
            f"{self._leaves.codes.size:,} leaves, about {self.total:,.0f} records)"
        )


def _stratify(domain: Domain, codes: Codes, shares: Floats, level: int) -> tuple[Codes, int]:
    """Follow each share down inside its leaf, until no cell is likely to hold two of the records."""
    crowd = int(np.unique(codes, return_counts=True)[1].max())
    deepest = min(level + (crowd - 1).bit_length(), domain.depth)
    whole = domain.measure(codes, level=level)
    while level < deepest:
        level += 1
        codes = codes << np.uint64(1)
        left = domain.measure(codes, level=level)
        split = left / whole
        right = shares >= split
        shares = np.where(
            right, (shares - split) / np.where(right, 1.0 - split, 1.0), shares / np.where(right, 1.0, split)
        )
        codes = codes | right
        whole = np.where(right, whole - left, left)
    return codes, level

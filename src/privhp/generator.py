"""A generator: synthetic records and answers from a release.

A pure function of the release and, for samples, of the caller's random
numbers. It can be used for ever without further cost to privacy.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.cells import Counts, Floats
from privhp.domains.frames import Frame, as_frame
from privhp.domains.table import Table
from privhp.errors import QueryError, described
from privhp.kernels import AliasTable, alias_table, draw
from privhp.kernels import shuffle as shuffled
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
        if not isinstance(release, Release):
            raise QueryError(f"expected a Release, got {described(release)}; Summary.release() gives a generator")
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
        shares = self._leaves.counts / self.total if self.total > 0 else self._base_measure()
        shares.flags.writeable = False
        return shares

    def _base_measure(self) -> Floats:
        shares = np.empty(self._leaves.counts.shape)
        for level, leaves in self._by_level():
            shares[leaves] = self.plan.domain.measure(self._leaves.codes[leaves], level=level)
        return shares

    @cached_property
    def _ends(self) -> Floats:
        """Cumulative probability at the end of each leaf; the last leaf with any ends at 1."""
        ends = np.minimum(np.cumsum(self.probabilities), 1.0)
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
        shuffle: bool = True,
        rng: np.random.Generator | int | None = None,
        out: NDArray[Any] | None = None,
        frame: Frame | None = None,
    ) -> Any:
        """Synthetic records, as an array; those of a `Table` as a dict with an array for each column.

        Columns that may be null are masked arrays; in a data frame, null is null.

        Args:
            n: How many; by default the noisy number of records.
            method: "balanced" spreads the records evenly over the distribution,
                so that every cell gets its expected number to within one and
                the set is as close to the generator as n records can be.
                "independent" draws each by itself.
            shuffle: Whether they come in random order, or leaf by leaf, which is faster.
            rng: NumPy generator or seed of the sampling; fresh unless given.
                It has nothing to do with the privacy noise. The same seed gives the
                same records wherever the same kernels run.
            out: Array to fill instead of a new one, with room for n of them; n may then
                be left out. It has the type of the domain's `decode`, and comes back as it is.
            frame: "pandas", "polars" or "pyarrow", to get a table as one of theirs.
        """
        size = (round(self.total) if out is None else len(out)) if n is None else n
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise QueryError(f"expected a whole number of records to sample, 0 or more, got {n!r}")
        if method not in get_args(Method):
            raise QueryError(f'expected method="balanced" or method="independent", got {method!r}')
        if frame is not None and (out is not None or not isinstance(self.plan.domain, Table)):
            raise QueryError(
                f"expected frame= for a new sample of a Table, got it for {self.plan.domain!r} or with out="
            )
        if out is not None:
            self._check_out(out, int(size))
        rng = np.random.default_rng(rng)
        even = method == "balanced"
        if shuffle and not even:
            places = draw(self._table, int(size), rng)
            records = self.plan.domain.scatter(self._leaves.codes, self._leaves.levels, places, rng=rng, out=out)
        else:
            counts = self._even_counts(int(size), rng) if even else self._random_counts(int(size), rng)
            chosen = np.flatnonzero(counts)
            codes, levels = self._leaves.codes[chosen], self._leaves.levels[chosen]
            place = None if shuffle else out
            records = self.plan.domain.populate(codes, levels, counts[chosen], even=even, rng=rng, out=place)
            records = shuffled(records, rng, out=out) if shuffle else records
        if out is not None:
            return records
        presented = self.plan.domain.present(records)
        return presented if frame is None else as_frame(presented, frame)

    def _check_out(self, out: NDArray[Any], size: int) -> None:
        """Refuse an array that the records would not fit as they are."""
        shape = (size, *self._example.shape[1:])
        like = (out.shape, out.dtype) == (shape, self._example.dtype)
        if not like or not out.flags.c_contiguous or not out.flags.writeable:
            raise QueryError(f"expected out as a writeable, contiguous array of {self._example.dtype} of shape {shape}")

    @cached_property
    def _example(self) -> NDArray[Any]:
        """One record, for its shape and type."""
        return self.plan.domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=np.random.default_rng(0))

    def _even_counts(self, size: int, rng: np.random.Generator) -> Counts:
        """How many of evenly spaced points fall on each leaf: its expected number, to within one."""
        ends = np.floor(self._ends * size + rng.random()).astype(np.int64)
        return np.diff(np.minimum(ends, size), prepend=0)

    def _random_counts(self, size: int, rng: np.random.Generator) -> Counts:
        """How many of independent points fall on each leaf.

        Most of them as Poisson numbers, which are drawn faster than a
        multinomial: given their sum, they are how that many independent points
        fall. The others one by one.
        """
        means = self.probabilities * max(size - 2.0 * math.sqrt(size), 0.0)  # so that the sum is rarely too large
        counts = rng.poisson(means)
        while counts.sum() > size:
            counts = rng.poisson(means)
        others = draw(self._table, size - int(counts.sum()), rng)
        return counts + np.bincount(others, minlength=counts.size)

    @cached_property
    def _table(self) -> AliasTable:
        """The leaves, to draw them one at a time."""
        return alias_table(self.probabilities)

    def _before(self, leaves: NDArray[np.int64]) -> Floats:
        """Cumulative probability before each leaf."""
        return np.where(leaves > 0, self._ends[leaves - 1], 0.0)

    def _shares(self, points: Floats, leaves: NDArray[np.int64]) -> Floats:
        """Share of each leaf, one with any probability, that a cumulative probability stands for."""
        before = self._before(leaves)
        return np.clip((points - before) / (self._ends[leaves] - before), 0.0, 1.0)

    def mass(self, region: Any = None, /, **columns: Any) -> float:
        """Probability of a region: a pair (low, high), one pair per side of a box, or an IP prefix.

        None stands for an open end, or for a whole side of a box. Of a `Table`,
        `mass(fare=(0, 10), kind="a")` is the probability that all columns named
        are in their regions; so is a mapping from columns to regions. For a
        column that may be null, None is null.
        """
        if columns:
            if not isinstance(self.plan.domain, Table) or not (region is None or isinstance(region, Mapping)):
                raise QueryError(f"expected one region of {self.plan.domain!r}, got regions of {', '.join(columns)}")
            region = {**(region or {}), **columns}
        answer = 0.0
        for level, leaves in self._by_level():
            overlap = self.plan.domain.overlap(region, self._leaves.codes[leaves], level=level)
            answer += float(self.probabilities[leaves] @ overlap)
        return min(answer, 1.0)

    def cdf(self, records: ArrayLike) -> Floats:
        """Probability at or below each record. Ordered domains only."""
        domain = self.plan.domain
        points = np.ravel(records)
        if points.dtype.kind == "f" and np.isnan(points).any():
            raise QueryError("expected records to tell the probability at or below, got NaN among them")
        leaves = self._leaves_of(points)
        answer = np.empty(points.shape)
        for level, chosen in self._by_level(leaves):
            places = leaves[chosen]
            share = domain.below(points[chosen], self._leaves.codes[places], level=level)
            inside = self._before(places) + self.probabilities[places] * share
            answer[chosen] = np.where(share < 1.0, np.minimum(inside, self._ends[places]), self._ends[places])
        return answer.reshape(np.shape(records))

    def _leaves_of(self, points: NDArray[Any]) -> NDArray[np.int64]:
        """Leaf of each record, found by going right wherever the left half lies at or below it."""
        depth = self.plan.depth
        codes = np.zeros(points.shape, dtype=np.uint64)
        for level in range(1, depth + 1):
            codes = codes << np.uint64(1)
            codes = codes | (self.plan.domain.below(points, codes, level=level) >= 1.0)
        starts = self._leaves.codes << (depth - self._leaves.levels).astype(np.uint64)
        return np.searchsorted(starts, codes, side="right") - 1

    def quantile(self, shares: ArrayLike) -> NDArray[Any]:
        """Least record at or below which each share of the distribution lies. Ordered domains only.

        The share 0 gives the lower end of what can be sampled, 1 its upper end.
        """
        points = np.ravel(np.asarray(shares, dtype=np.float64))
        if not ((points >= 0) & (points <= 1)).all():
            raise QueryError("expected shares between 0 and 1; 0.5 asks for the median")
        domain = self.plan.domain
        leaves = np.searchsorted(self._ends, np.maximum(points, np.finfo(np.float64).tiny))
        within = self._shares(points, leaves)
        answer = domain.at(within, np.zeros(points.shape, dtype=np.uint64), level=0)
        for level, chosen in self._by_level(leaves):
            answer[chosen] = domain.at(within[chosen], self._leaves.codes[leaves[chosen]], level=level)
        return answer.reshape(np.shape(shares))

    def __repr__(self) -> str:
        return (
            f"Generator({self.plan.domain!r}, epsilon={float(self.plan.epsilon):g}, "
            f"{self._leaves.codes.size:,} leaves, about {self.total:,.0f} records)"
        )

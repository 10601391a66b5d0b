"""A distribution over a domain, to sample from and to ask: leaves of a partition with their noisy counts.

A pure function of what was released and, for samples, of the caller's random
numbers. It can be used for ever without further cost to privacy.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.answers import order
from privhp.answers.heavy_hitters import HeavyHitter, heavy_hitters
from privhp.answers.histogram import Histogram
from privhp.answers.leaves import Leaves
from privhp.answers.marginals import marginal
from privhp.answers.regions import mass, reach
from privhp.answers.sampling import RegionSampler, Sampler
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.domains.table import Table
from privhp.domains.table_column import Name
from privhp.errors import QueryError
from privhp.io.frames import Frame, as_frame

Method = Literal["balanced", "independent"]


class Distribution:
    """A partition of a domain with a probability for each leaf, and the domain's base measure inside a leaf.

    All it returns is post-processing of a release, so it is as private as the release.
    """

    def __init__(self, domain: Domain, leaves: Leaves) -> None:
        """Take the leaves of a partition with their counts."""
        self.domain, self._leaves = domain, leaves

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
        for level in np.unique(self._leaves.levels).tolist():
            own = self._leaves.levels == level
            shares[own] = self.domain.measure(self._leaves.codes[own], level=level)
        return shares

    @cached_property
    def _histogram(self) -> Histogram:
        return Histogram(self.domain, self._leaves.codes, self._leaves.levels, self.probabilities)

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self._histogram)

    def sample(
        self,
        n: int | None = None,
        *,
        where: Any = None,
        method: Method = "balanced",
        shuffle: bool = True,
        rng: np.random.Generator | int | None = None,
        out: NDArray[Any] | None = None,
        frame: Frame | None = None,
    ) -> Any:
        """Synthetic records, as an array; those of a `Table` as a dict with an array for each column.

        Columns that may be null are masked arrays; in a data frame, null is null.

        Args:
            n: How many; by default the noisy number of records, or of those in the region.
            where: Region that all of them lie in, as `mass` takes it; of a `Table`, a mapping from columns to
                regions. They are distributed as those of a larger sample that happen to lie there.
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
        if method not in get_args(Method):
            raise QueryError(f'expected method="balanced" or method="independent", got {method!r}')
        if frame is not None and (out is not None or not isinstance(self.domain, Table)):
            raise QueryError(f"expected frame= for a new sample of a Table, got it for {self.domain!r} or with out=")
        sampler, expected = self._sampler, self.total
        if where is not None:
            sampler = conditioned = RegionSampler(self._histogram, where)
            expected *= conditioned.mass
        size = (round(expected) if out is None else len(out)) if n is None else n
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise QueryError(f"expected a whole number of records to sample, 0 or more, got {n!r}")
        if out is not None:
            self._check_out(out, int(size))
        rng = np.random.default_rng(rng)
        records = sampler.sample(int(size), balanced=method == "balanced", shuffle=shuffle, rng=rng, out=out)
        if out is not None:
            return records
        presented = self.domain.to_output(records)
        if frame is None or not isinstance(self.domain, Table):
            return presented
        forms = dict(zip(self.domain.value_names, self.domain.output_forms(), strict=True))
        return as_frame(presented, frame, forms=forms)

    def _check_out(self, out: NDArray[Any], size: int) -> None:
        """Refuse an array that the records would not fit as they are."""
        shape = (size, *self._example.shape[1:])
        like = (out.shape, out.dtype) == (shape, self._example.dtype)
        if not like or not out.flags.c_contiguous or not out.flags.writeable:
            raise QueryError(f"expected out as a writeable, contiguous array of {self._example.dtype} of shape {shape}")

    @cached_property
    def _example(self) -> NDArray[Any]:
        """One record, for its shape and type."""
        return self.domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=np.random.default_rng(0))

    def mass(self, region: Any = None, /, **columns: Any) -> float:
        """Probability of a region: a pair (low, high), one pair per side of a box, or an IP prefix.

        None stands for an open end, or for a whole side of a box. Of a `Table`,
        `mass(fare=(0, 10), kind="a")` is the probability that all columns named
        are in their regions; so is a mapping from columns to regions. For a
        column that may be null, None is null.
        """
        return mass(self._histogram, self._region(region, columns))

    def reach(self, region: Any = None, /, **columns: Any) -> tuple[float, float]:
        """Probability of the leaves that lie wholly in a region, and of all leaves that it touches.

        Where records lie inside a leaf is not known. So where these two are far
        apart, the region is smaller than the leaves, and its mass says little.
        """
        return reach(self._histogram, self._region(region, columns))

    def _region(self, region: Any, columns: Mapping[str, Any]) -> Any:
        """A region with those of columns that are named by themselves."""
        if not columns:
            return region
        if not isinstance(self.domain, Table) or not (region is None or isinstance(region, Mapping)):
            raise QueryError(f"expected one region of {self.domain!r}, got regions of {', '.join(columns)}")
        return {**(region or {}), **columns}

    def cdf(self, records: ArrayLike) -> Floats:
        """Probability at or below each record. Ordered domains only; of a table, ask a `marginal`."""
        return order.cdf(self._histogram, records)

    def quantile(self, shares: ArrayLike) -> NDArray[Any]:
        """Least record at or below which each share of the distribution lies. Ordered domains only.

        The share 0 gives the lower end of what can be sampled, 1 its upper end.
        """
        return order.quantile(self._histogram, shares)

    def heavy_hitters(self, threshold: float = 0.01, *, levels: Iterable[int] | None = None) -> list[HeavyHitter]:
        """Prefixes, places, nodes or values with at least this share of the records, the largest first.

        From the leaves up, a cell is one if it reaches the threshold without
        the records of the heavy hitters inside it. The residuals of all of them
        sum to at most 1. What lies inside a leaf is not looked into, and the
        whole domain is none.

        Args:
            threshold: Share of all records, above 0 and up to 1.
            levels: Levels of the hierarchy that count, such as [8, 16, 24] of `IPv4`; by default those of cells
                with a name of their own: whole octets, nodes of a taxonomy, single categories; elsewhere all.
        """
        return heavy_hitters(self._histogram, self.total, threshold=threshold, levels=levels)

    def marginal(self, columns: Name | list[Name], *, null: bool = True) -> Distribution:
        """The distribution of one column of a `Table`, or of a list of columns, which is one of a table again.

        Args:
            columns: Name of a column, or a list of names.
            null: Whether null counts, if there is one column and it may be null. Without it, values that have an
                order can be asked for quantiles.
        """
        return Distribution(*marginal(self.domain, self._leaves, columns, null=null))

    def plot(self) -> Any:
        """A matplotlib figure with a picture of each column and of pairs of them. It needs matplotlib."""
        from privhp.report.plot import plot  # only who plots needs it

        return plot(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()}, about {self.total:,.0f} records)"

    def _summary(self) -> str:
        return f"{self.domain!r}, {self._leaves.codes.size:,} leaves"

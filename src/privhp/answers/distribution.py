"""A distribution over a domain: it samples records and answers queries.

A distribution is computed from the leaves of a partition with their estimated counts. It is post-processing of a
release: samples and answers incur no further privacy loss.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.answers import quantiles
from privhp.answers.axis_cells import AxisCells
from privhp.answers.estimate import Estimate, as_scalar
from privhp.answers.histogram import Histogram
from privhp.answers.leaf_numbers import LineUnit
from privhp.answers.leaves import Leaves
from privhp.answers.regions import mass, mass_bounds, masses
from privhp.answers.sampling import RegionSampler, Sampler
from privhp.answers.standard_errors import StandardErrors, UnavailableErrors
from privhp.answers.uncertainty import CdfUncertainty, MassUncertainty, QuantileUncertainty
from privhp.core.cells import Floats
from privhp.core.display import render
from privhp.domains.domain import Domain
from privhp.errors import DomainError, QueryError

if TYPE_CHECKING:  # imported when they are asked for
    from privhp.answers.heavy_hitters import HeavyHitter
    from privhp.answers.moments import Moments
    from privhp.domains.table_column import Name
    from privhp.io.frames import Frame
    from privhp.io.sample_stream import SampleStream

Method = Literal["balanced", "independent"]


class Distribution:
    """A partition of a domain with a probability for each leaf, and the domain's base measure inside a leaf.

    Everything it returns is post-processing of a release and has the guarantee of the release.

    Attributes:
        domain: Domain of the records.
        frame: Library of the data frames that `sample` returns for a `Table` by default: that of the fitted data
            frame; None for a dict of arrays.
    """

    frame: Frame | None

    def __init__(self, domain: Domain, leaves: Leaves, errors: StandardErrors) -> None:
        """Take the leaves of a partition with their counts.

        Args:
            domain: Domain of the records.
            leaves: Partition of the domain, with the count of each leaf.
            errors: Standard errors of the expectations of functions on these leaves.
        """
        self.domain, self._leaves, self._errors = domain, leaves, errors
        self.frame = None

    @property
    def total(self) -> float:
        """Estimated number of records, non-negative."""
        return float(self._leaves.counts.sum())

    def leaves(self) -> Leaves:
        """The partition: code, level and count of each leaf, in the order of the domain."""
        return self._leaves

    @cached_property
    def probabilities(self) -> Floats:
        """Probability of each leaf; its base measure if the estimated total is 0."""
        shares = self._leaves.counts / self.total if self.total > 0 else self._leaves.measure(self.domain)
        shares.flags.writeable = False
        return shares

    @cached_property
    def _histogram(self) -> Histogram:
        return Histogram(self.domain, self._leaves.codes, self._leaves.levels, self.probabilities)

    @cached_property
    def axis_cells(self) -> AxisCells:
        """Cells of the leaves along each axis of the domain."""
        return AxisCells(self.domain, self._leaves.codes, self._leaves.levels)

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
        frame: Frame | Literal["numpy"] | None = None,
    ) -> Any:
        """Sample synthetic records.

        Records of a `Table` come as the kind of data frame that was fitted, and
        as a dict of arrays after `load` or a fit of anything else; nullable
        columns of the dict are masked arrays. Other records come as an array.

        Args:
            n: Number of records; by default the estimated number of records, in the region if there is one.
            where: Region to sample in, as for `mass`; the records follow the conditional distribution given the
                region.
            method: "balanced" is systematic sampling: each cell gets its expected number of records to within
                one, so the sample is as close to the generator as n records can be. "independent" draws
                independent records.
            shuffle: Whether the records are in random order; leaf by leaf is faster.
            rng: NumPy generator or seed of the sampling, unrelated to the privacy noise; by default a fresh one.
                The same seed gives the same records with the same kernels.
            out: Array of length n to fill and return, of the type of the domain's `decode`; n is then optional.
            frame: "pandas", "polars" or "pyarrow" for a data frame of that library, "numpy" for a dict of arrays.
        """
        if method not in get_args(Method):
            raise QueryError(f'expected method="balanced" or method="independent", got {method!r}')
        of_table = bool(self.domain.columns)
        if frame not in (None, "numpy") and (out is not None or not of_table):
            raise QueryError(f"frame= needs a Table and no out=; the domain is {self.domain!r}")
        frame = self.frame if frame is None else frame
        sampler, expected = self._sampler, self.total
        if where is not None:
            sampler = conditioned = RegionSampler(self._histogram, where)
            expected *= conditioned.mass
        size = (round(expected) if out is None else len(out)) if n is None else n
        _check_rows(size)
        if out is not None:
            self._check_out(out, int(size))
        rng = np.random.default_rng(rng)
        records = sampler.sample(int(size), balanced=method == "balanced", shuffle=shuffle, rng=rng, out=out)
        if out is not None:
            return records
        output = self.domain.to_output(records)
        if frame is None or frame == "numpy" or not of_table:
            return output
        from privhp.io.frames import as_frame

        forms = dict(zip(self.domain.value_names, self.domain.output_forms(), strict=True))
        return as_frame(output, frame, forms=forms)

    def stream(
        self,
        n: int | None = None,
        *,
        where: Any = None,
        method: Method = "balanced",
        rng: np.random.Generator | int | None = None,
    ) -> SampleStream:
        """Synthetic records as an Arrow stream, which DuckDB, polars, pandas and pyarrow read directly.

        Records are sampled while they are read, a million at a time, so that n may
        exceed the memory. Each reading of the stream yields the same records, those
        of `privhp sample --seed` if `rng` is that seed. The generator itself can be
        read in the same way; it is the stream of its estimated number of records
        with the seed 0. Requires pyarrow.

        Args:
            n: Number of records; by default the estimated number of records, in the region if there is one.
            where: Region to sample in, as for `sample`.
            method: "balanced" or "independent", as for `sample`; balanced within each million records.
            rng: NumPy generator or seed of the sampling; by default a fresh one.
        """
        from privhp.io.sample_stream import SampleStream

        size = round(self.total * (1.0 if where is None else self.mass(where).value)) if n is None else n
        _check_rows(size)
        seed = rng if isinstance(rng, int) else int(np.random.default_rng(rng).integers(2**63))
        return SampleStream(self, int(size), where=where, method=method, seed=seed)

    def __arrow_c_schema__(self) -> object:
        """Arrow schema of the synthetic records, as a PyCapsule."""
        return self.stream(0, rng=0).__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow stream of as many synthetic records as the estimated number of records, as a PyCapsule."""
        return self.stream(rng=0).__arrow_c_stream__(requested_schema)

    def _check_out(self, out: NDArray[Any], size: int) -> None:
        """Raise a QueryError for an array that cannot hold the records."""
        shape, dtype = (size, *self._example.shape[1:]), self._example.dtype
        if (out.shape, out.dtype) != (shape, dtype) or not out.flags.c_contiguous or not out.flags.writeable:
            raise QueryError(f"expected out as a writeable, contiguous array of {dtype} of shape {shape}")

    @cached_property
    def _example(self) -> NDArray[Any]:
        """A record, for its shape and type."""
        return self.domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=np.random.default_rng(0))

    def mass(self, where: Any = None) -> Estimate[float]:
        """Probability of a region.

        Args:
            where: The region: a pair (low, high), one pair per side of a box, an IP prefix, a category or a node, or
                a list of those. None stands for an open end, or for a whole side of a box. The region of a `Table`
                is a mapping from columns to regions, all of which must hold; for a nullable column, None is null.
        """
        value = mass(self._histogram, where)
        return Estimate(value, MassUncertainty(value, self._errors, self._errors.region_shares, [where]))

    def masses(self, regions: Sequence[Any]) -> Estimate[Floats]:
        """Probability of each of several regions, faster than one after the other.

        Args:
            regions: Regions, each as for `mass`.
        """
        values = masses(self._histogram, self.axis_cells, regions)
        return Estimate(values, MassUncertainty(values, self._errors, self._errors.region_shares, regions))

    def mass_bounds(self, where: Any = None) -> tuple[float, float]:
        """Probability of the leaves that lie inside a region, and of all leaves that intersect it.

        The release does not resolve the positions of records inside a leaf. If the two bounds differ much, the region
        is smaller than the leaves, and its mass carries little information. Cells that a sketch hardly distinguishes
        count as one leaf.
        """
        if isinstance(self._errors, UnavailableErrors) or not self.total:
            return mass_bounds(self._histogram, where)
        value, shares = mass(self._histogram, where), self._errors.region_shares(where)
        inside, touched = (self._errors.mass(chosen) for chosen in (shares.inside, shares.touched))
        return min(inside, value), min(max(touched, value), 1.0)  # sums that round differently

    def cdf(self, x: ArrayLike) -> Estimate[Any]:
        """Probability at or below each value: a number for a scalar, an array for an array.

        Only ordered domains have it; for a column of a table, use `marginal`.

        Args:
            x: One value of the domain, or several.
        """
        values = quantiles.cdf(self._histogram, x)
        return Estimate(as_scalar(values), CdfUncertainty(values, np.asarray(x), self._errors))

    def quantile(self, q: ArrayLike) -> Estimate[Any]:
        """Quantiles: the least value at or below which each share of the distribution lies.

        The quantile of 0 is the least value that can be sampled, the quantile
        of 1 the largest. Only ordered domains have quantiles. The interval
        holds the values whose cumulative probability may be q.

        Args:
            q: One share between 0 and 1, or several.
        """
        values = quantiles.quantile(self._histogram, q)
        shares = np.asarray(q, dtype=np.float64)
        return Estimate(as_scalar(values), QuantileUncertainty(self._histogram, shares, values, self._errors))

    def mean(self) -> Estimate[Any]:
        """Mean of numbers or times, over the values that the release shows to hold records.

        Noisy counts far from all records are left out; docs/queries.md says by which rule. The
        interval includes what records there may add. For a column of a table, use `marginal`.
        """
        unit = LineUnit(self.domain)
        return self._moments.mean(unit)

    def std(self) -> Estimate[Any]:
        """Standard deviation of numbers, or of times as a duration, over the same values as `mean`."""
        unit = LineUnit(self.domain)
        return self._moments.std(unit)

    def correlation(self, first: Name, second: Name) -> Estimate[float]:
        """Pearson correlation of two columns of a `Table`, over the records in which neither is null.

        Args:
            first: Name of a column of numbers or times.
            second: Name of another one.
        """
        if first == second:
            raise QueryError(f"expected two columns, got {first!r} twice")
        return self.marginal([first, second])._moments.correlation()

    @cached_property
    def _moments(self) -> Moments:
        from privhp.answers.moments import Moments

        return Moments(self._errors.variables())

    def shares(self) -> dict[Any, Estimate[float]]:
        """Share of each value of a finite domain, in declared order; of a nullable one, also of None.

        For a column of a table, use `marginal`.
        """
        regions = self.domain.value_regions()
        if not regions:
            raise DomainError(f"{self.domain!r} has no list of values; use mass(...) or heavy_hitters(...)")
        return {region: self.mass(region) for region in regions}

    def heavy_hitters(self, threshold: float = 0.01, *, levels: Iterable[int] | None = None) -> list[HeavyHitter]:
        """Hierarchical heavy hitters: cells with at least this residual share of the records, the largest first.

        The residual share of a cell excludes the heavy hitters inside it, which
        are found first, from the leaves to the root. Residual shares sum to at
        most 1. Neither parts of leaves nor the whole domain are reported.

        Args:
            threshold: Share of all records, above 0 and at most 1.
            levels: Levels of the hierarchy to report, such as [8, 16, 24] for `IPv4`; by default the levels of
                reportable cells: whole octets, nodes of a taxonomy, single categories, and every cell elsewhere.
        """
        from privhp.answers.heavy_hitters import heavy_hitters

        return heavy_hitters(self._histogram, self.total, self._errors, threshold=threshold, levels=levels)

    def marginal(self, columns: Name | list[Name], *, null: bool = True) -> Distribution:
        """Marginal distribution of a column of a `Table`, or of the table of several columns.

        Its answers have standard errors too: those of the same regions of the
        joint distribution.

        Args:
            columns: Name of a column, or a list of names.
            null: Whether to include null. With null=False, the marginal of a nullable column is conditioned on a
                value being there; ordered values then have quantiles.
        """
        from privhp.answers.marginals import marginalize

        marginal = Distribution(*marginalize(self.domain, self._leaves, self._errors, columns, null=null))
        marginal.frame = self.frame
        return marginal

    def plot(self) -> Any:
        """A matplotlib figure with a picture of each column and of pairs of columns. Requires matplotlib.

        A notebook displays the figure as the last line of a cell.
        """
        return render("plot", self)

    def _repr_html_(self) -> str:
        return str(render("distribution card", self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()}, about {self.total:,.0f} records)"

    def _summary(self) -> str:
        return f"{self.domain.short_text}, {self._leaves.codes.size:,} leaves"


def _check_rows(size: Any) -> None:
    """Raise a QueryError for what is no number of records."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise QueryError(f"expected a non-negative integer number of records to sample, got {size!r}")

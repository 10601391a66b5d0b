"""A generator: synthetic records and answers from a release."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.answers.distribution import Distribution
from privhp.answers.leaves import grow
from privhp.answers.regions import touched
from privhp.answers.standard_errors import Estimate, Uncertainty
from privhp.core.cells import Floats
from privhp.errors import QueryError, describe_value
from privhp.planning.plan import Plan
from privhp.release import Release


class Generator(Distribution):
    """The distribution that a release describes, to sample from and to ask.

    It is a partition of the domain with a probability for each leaf, and the
    domain's base measure inside a leaf. All it returns is post-processing of
    the release, so it is as private as the release.
    """

    def __init__(self, release: Release) -> None:
        """Grow the partition of a release."""
        if not isinstance(release, Release):
            raise QueryError(f"expected a Release, got {describe_value(release)}; Summary.release() gives a generator")
        self.release = release
        super().__init__(release.plan.domain, grow(release))

    @property
    def plan(self) -> Plan:
        """What was fixed before the data."""
        return self.release.plan

    @overload
    def mass(self, region: Any = None, /, *, error: Literal[False] = False, **columns: Any) -> float: ...
    @overload
    def mass(self, region: Any = None, /, *, error: Literal[True], **columns: Any) -> Estimate: ...
    def mass(self, region: Any = None, /, *, error: bool = False, **columns: Any) -> float | Estimate:
        """Probability of a region: a pair (low, high), one pair per side of a box, or an IP prefix.

        None stands for an open end, or for a whole side of a box. Of a `Table`,
        `mass(fare=(0, 10), kind="a")` is the probability that all columns named
        are in their regions; so is a mapping from columns to regions. For a
        column that may be null, None is null.

        Args:
            region: The region, or a mapping from columns to regions.
            error: Whether the standard error comes with the answer, from public quantities: noise of the
                counts, and what leaves that lie partly in the region leave open.
            columns: Regions of columns of a `Table`.
        """
        region = self._region(region, columns)
        answer = super().mass(region)
        if not error:
            return answer
        part = touched(self._histogram, region, empty=True)  # noise may have hidden records in cells that seem empty
        shares = np.zeros(self._leaves.codes.shape)
        shares[part.whole()], shares[part.cut] = 1.0, part.shares
        return Estimate(answer, self._uncertainty.standard_error(shares))

    @overload
    def cdf(self, records: ArrayLike, *, error: Literal[False] = False) -> Floats: ...
    @overload
    def cdf(self, records: ArrayLike, *, error: Literal[True]) -> Estimate: ...
    def cdf(self, records: ArrayLike, *, error: bool = False) -> Floats | Estimate:
        """Probability at or below each record. Ordered domains only; of a table, ask a `marginal`.

        Args:
            records: The records.
            error: Whether the standard error of each comes with the answers.
        """
        answers = super().cdf(records)
        if not error:
            return answers
        return Estimate(answers, self._errors_below(answers))

    @overload
    def quantile(self, shares: ArrayLike, *, error: Literal[False] = False) -> NDArray[Any]: ...
    @overload
    def quantile(self, shares: ArrayLike, *, error: Literal[True]) -> Estimate: ...
    def quantile(self, shares: ArrayLike, *, error: bool = False) -> NDArray[Any] | Estimate:
        """Least record at or below which each share of the distribution lies. Ordered domains only.

        The share 0 gives the lower end of what can be sampled, 1 its upper end.

        Args:
            shares: Shares between 0 and 1.
            error: Whether the standard error of each comes with the answers: half of how far the quantile moves
                when its share moves by the standard error of the distribution function there.
        """
        answers = super().quantile(shares)
        if not error:
            return answers
        points = np.asarray(shares, dtype=np.float64)
        doubt = self._errors_below(points)
        upper = super().quantile(np.minimum(points + doubt, 1.0))
        lower = super().quantile(np.maximum(points - doubt, 0.0))
        return Estimate(answers, (upper - lower) / 2)

    @cached_property
    def _uncertainty(self) -> Uncertainty:
        return Uncertainty(self.release)

    def _errors_below(self, points: Floats) -> Floats:
        """Standard error of each cumulative probability."""
        errors = np.empty(points.shape)
        ends = self._histogram.ends
        for place, point in np.ndenumerate(points):
            full = np.searchsorted(ends, point, side="right")
            shares = (np.arange(ends.size) < full).astype(np.float64)
            if full < ends.size and self.probabilities[full] > 0:
                before = ends[full - 1] if full else 0.0
                shares[full] = min(max((point - before) / self.probabilities[full], 0.0), 1.0)
            errors[place] = self._uncertainty.standard_error(shares)
        return errors

    def _repr_html_(self) -> str:
        from privhp.report.notebook import generator_card  # only notebooks need it

        return generator_card(self)

    def _summary(self) -> str:
        return f"{self.domain!r}, epsilon={float(self.plan.epsilon):g}, {self._leaves.codes.size:,} leaves"

"""Cumulative distribution function and quantiles of a histogram on an ordered domain."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.answers.histogram import Histogram, Indices
from privhp.core.cells import Floats
from privhp.domains.domain import Domain
from privhp.domains.validation import quote
from privhp.errors import DomainError, QueryError, RecordsError


def upper_ends(domain: Domain, values: ArrayLike) -> NDArray[Any]:
    """Records at or below which a cdf counts."""
    with _query_errors(domain):
        return domain.upper_ends(_flat_array(values)).reshape(np.shape(values))


def cdf(histogram: Histogram, records: NDArray[Any]) -> Floats:
    """Probability at or below each record."""
    points = np.ravel(records)
    if points.dtype.kind == "f" and np.isnan(points).any():
        raise QueryError("cdf: NaN is not a value of the domain; leave it out")
    with _query_errors(histogram.domain):
        cells = _cells_of(histogram, points)
    answer = np.empty(points.shape)
    for level, chosen in histogram.by_level(cells):
        indices = cells[chosen]
        share = histogram.domain.cell_cdf(points[chosen], histogram.codes[indices], level=level)
        inside = histogram.before(indices) + histogram.probabilities[indices] * share
        ends = histogram.ends[indices]
        answer[chosen] = np.where(share < 1.0, np.minimum(inside, ends), ends)
    return answer.reshape(np.shape(records))


def _cells_of(histogram: Histogram, points: NDArray[Any]) -> Indices:
    """Index of the cell of each record, by descent from the root."""
    codes = np.zeros(points.shape, dtype=np.uint64)
    histogram.domain.cell_cdf(points, codes, level=0)  # checks the values, also for a single leaf
    for level in range(1, histogram.depth + 1):
        codes = codes << np.uint64(1)
        codes = codes | (histogram.domain.cell_cdf(points, codes, level=level) >= 1.0)
    return np.searchsorted(histogram.starts, codes, side="right") - 1


def quantile(histogram: Histogram, shares: ArrayLike) -> NDArray[Any]:
    """Quantiles: the least record at or below which each share of the distribution lies."""
    points = _flat_array(shares)
    try:
        points = np.array(points.tolist(), dtype=np.float64)
    except (TypeError, ValueError):
        points = np.array([np.nan])
    if not ((points >= 0) & (points <= 1)).all():
        raise QueryError(f"expected shares between 0 and 1, such as 0.5 for the median, got {quote(shares)}")
    cells = np.searchsorted(histogram.ends, np.maximum(points, np.finfo(np.float64).tiny))
    before = histogram.before(cells)
    within = np.clip((points - before) / (histogram.ends[cells] - before), 0.0, 1.0)
    with _query_errors(histogram.domain):
        return _within_cells(histogram, cells, within).reshape(np.shape(shares))


def _within_cells(histogram: Histogram, cells: Indices, shares: Floats) -> NDArray[Any]:
    """The record of each cell at or below which a share of the cell lies."""
    answer = histogram.domain.cell_quantile(shares, np.zeros(cells.shape, dtype=np.uint64), level=0)
    for level, chosen in histogram.by_level(cells):
        answer[chosen] = histogram.domain.cell_quantile(shares[chosen], histogram.codes[cells[chosen]], level=level)
    return answer


def leaf_ends(histogram: Histogram, shares: Floats, *, upper: bool) -> NDArray[Any]:
    """Least or largest record of the leaf that holds each quantile."""
    cells = np.searchsorted(histogram.ends, np.maximum(shares, np.finfo(np.float64).tiny))
    return _within_cells(histogram, cells, np.full(cells.shape, float(upper)))


def _flat_array(values: ArrayLike) -> NDArray[Any]:
    """Values as an array of one dimension."""
    try:
        return np.ravel(np.asarray(values))
    except ValueError:
        raise QueryError("expected one value, or an array of values; the lists have different lengths") from None


def values_query(domain: Domain) -> str:
    """The marginal of the values that are not null, as a call; the column has a name if it is one of a table."""
    name = "" if domain.declared_names is None else f"{domain.declared_names[0]!r}, "
    return f"marginal({name}null=False)"


@contextmanager
def _query_errors(domain: Domain) -> Iterator[None]:
    """Raise errors of an ordered domain as a `QueryError`; add the way to an order to those of another domain."""
    try:
        yield
    except (DomainError, RecordsError) as error:
        if domain.ordered:
            raise QueryError(str(error)) from None
        advice = ""
        if domain.columns:
            advice = "; use marginal(COLUMN)"
        elif domain.nullable and domain.inner.ordered:
            advice = f"; use {values_query(domain)}, the values that are not null"
        raise DomainError(f"{error}{advice}") from None

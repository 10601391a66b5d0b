"""The values of leaves as numbers: their mean, spread and width along the line of one variable."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.quantiles import values_query
from privhp.core.cells import Codes, Floats, by_level
from privhp.domains.domain import Domain
from privhp.errors import DomainError

NODES = 16
"""Points of the quadrature over the values of a leaf."""


class LeafNumbers(NamedTuple):
    """Values of each leaf along one line, as numbers from an origin.

    Args:
        present: Share of the leaf's records that have a value.
        mean: Mean of the base measure.
        variance: Variance of the base measure.
        width: Distance of the largest and the least value.
    """

    present: Floats
    mean: Floats
    variance: Floats
    width: Floats

    def take(self, indices: NDArray[np.int64]) -> LeafNumbers:
        """Numbers of the leaves with these indices, which may repeat."""
        return LeafNumbers(*(each[indices] for each in self))


class LineUnit:
    """Turns values of a line into numbers and back: times into ticks from the first one, other values into floats.

    Attributes:
        low: The least number of the domain.
        high: The largest number.
        zone: Time zone of times; None for UTC.
    """

    def __init__(self, domain: Domain) -> None:
        """Take the domain of the values.

        Raises:
            DomainError: The values are not on a line.
        """
        if not domain.is_line or domain.columns:
            advice = ""
            if domain.columns:
                advice = "; use marginal(COLUMN)"
            elif domain.nullable and domain.inner.is_line:
                advice = f"; use {values_query(domain)}, the values that are not null"
            elif domain.value_regions():
                advice = "; use shares(), the share of each value"
            raise DomainError(f"only numbers and times have means, deviations and correlations, got {domain!r}{advice}")
        bounds = domain.cell_quantile(np.array([0.0, 1.0]), np.zeros(2, dtype=np.uint64), level=0)
        if bounds.dtype == "datetime64[D]":
            bounds = bounds.astype("datetime64[s]")  # the mean of dates is a time
        self.zone = domain.output_forms()[0].zone
        self._origin = bounds[0] if bounds.dtype.kind == "M" else None
        self.low, self.high = self.to_numbers(bounds).tolist()

    def to_numbers(self, values: NDArray[Any]) -> Floats:
        """Numbers of values."""
        return (values if self._origin is None else values - self._origin).astype(np.float64)

    def to_value(self, number: float) -> Any:
        """The value of a number: a float, or a time."""
        return number if self._origin is None else self._origin + self.to_length(number)

    def to_length(self, number: float) -> Any:
        """Difference of two values: a float, or a duration."""
        if self._origin is None:
            return number
        return np.array(round(number)).astype(f"timedelta64[{np.datetime_data(self._origin.dtype)[0]}]")[()]


def leaf_numbers(domain: Domain, codes: Codes, levels: NDArray[np.int64]) -> LeafNumbers:
    """Values of leaves of a domain of numbers or times, which may be nullable."""
    unit = LineUnit(domain.inner)
    numbers = LeafNumbers(*np.zeros((4, codes.size)))
    for level, here in by_level(levels):
        null, cells, inner_level = domain.split_null(codes[here], level=level)
        own = here[~null]
        numbers.present[own] = 1.0 - domain.overlap(None, codes[own], level=level) if domain.nullable else 1.0
        quadrature = _quadrature(domain.inner, unit, cells, inner_level)
        numbers.mean[own], numbers.variance[own], numbers.width[own] = quadrature
    return numbers


def _quadrature(domain: Domain, unit: LineUnit, cells: Codes, level: int) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and width of the values of cells, by Gauss-Legendre quadrature of their quantiles."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    shares = np.array([0.0, *(nodes + 1.0) / 2.0, 1.0])
    quantiles = domain.cell_quantile(np.tile(shares, cells.size), np.repeat(cells, shares.size), level=level)
    numbers = unit.to_numbers(quantiles).reshape(cells.size, shares.size)
    inner = numbers[:, 1:-1]
    mean = inner @ weights / 2.0
    variance = (inner - mean[:, None]) ** 2 @ weights / 2.0
    return mean, variance, numbers[:, -1] - numbers[:, 0]

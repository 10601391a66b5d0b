"""Standard errors and confidence intervals of single answers: masses, arrays of masses, and quantiles."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.answers import quantiles
from privhp.answers.histogram import Histogram
from privhp.answers.standard_errors import LeafShares, StandardErrors
from privhp.core.cells import Floats

BOUND_SLACK = 0.01
"""Share of the distance between two bounds by which an interval may exceed them."""


EXTREME_SHARE = 1e-6
"""Quantiles of shares nearer to 0 or 1 have the noise of the quantile of this share."""

BISECTIONS = 24
"""Halvings of the range of probabilities in which the end of the interval of a quantile is searched."""


class Uncertainty(Protocol):
    """Standard error and confidence intervals of an answer, computed on demand."""

    @property
    def stderr(self) -> Any:
        """Standard error of the answer."""
        ...

    @property
    def resolved(self) -> bool:
        """Whether the release shows more than bounds of the answer."""
        ...

    def interval(self, z: float) -> tuple[Any, Any]:
        """Both ends of the interval of z standard errors around the answer."""
        ...


class MassUncertainty:
    """Uncertainty of the mass of a region.

    Args:
        value: The mass.
        errors: Standard errors of the distribution.
        shares: Computes the share of each leaf in the region.
    """

    def __init__(self, value: float, errors: StandardErrors, shares: Callable[[], LeafShares]) -> None:
        self._value, self._errors, self._compute_shares = value, errors, shares

    @cached_property
    def _shares(self) -> LeafShares:
        return self._compute_shares()

    @cached_property
    def stderr(self) -> float:
        """Standard error of the mass."""
        return self._errors.standard_error(self._shares)

    @property
    def resolved(self) -> bool:
        """Whether a leaf lies inside the region, or the interval of two standard errors excludes 0."""
        return self._bounds[0][0] > 0 or self._around_value(2.0)[0] > 0 or self.stderr == 0

    def interval(self, z: float) -> tuple[float, float]:
        """The mass plus and minus z standard errors, within z standard errors of its bounds; else these bounds.

        The bounds are the mass of the leaves inside the region and that of the leaves that it touches.
        """
        return self._around_value(z) if self.resolved else self._around_bounds(z)

    def _around_value(self, z: float) -> tuple[float, float]:
        low, high = self._around_bounds(z)
        return max(self._value - z * self.stderr, low), min(self._value + z * self.stderr, high)

    def _around_bounds(self, z: float) -> tuple[float, float]:
        (low, low_error), (high, high_error) = self._bounds
        slack = BOUND_SLACK * (high - low)
        return max(low - z * low_error - slack, 0.0), min(high + z * high_error + slack, 1.0)

    @cached_property
    def _bounds(self) -> list[tuple[float, float]]:
        """Mass and standard error of the leaves inside the region, and of those that it touches."""
        chosen = [LeafShares.of_leaves(self._shares.mean >= 1), LeafShares.of_leaves(self._shares.mean > 0)]
        return [(self._errors.mass(each.mean), self._errors.standard_error(each)) for each in chosen]


class CdfUncertainty:
    """Uncertainty of cumulative probabilities.

    Attributes:
        resolved: Always true: a cumulative probability with a standard error says more than its bounds.

    Args:
        values: The probabilities.
        points: The value that each is the probability at or below of.
        errors: Standard errors of the distribution.
    """

    resolved = True

    def __init__(self, values: Floats, points: NDArray[Any], errors: StandardErrors) -> None:
        self._shape = values.shape
        pairs = zip(values.ravel().tolist(), points.ravel(), strict=True)
        self._masses = [MassUncertainty(value, errors, partial(errors.cdf_shares, point)) for value, point in pairs]

    @cached_property
    def stderr(self) -> Any:
        """Standard error of each probability."""
        return self._reshape([mass.stderr for mass in self._masses])

    def interval(self, z: float) -> tuple[Any, Any]:
        """Both ends of each interval of z standard errors."""
        ends = [mass.interval(z) for mass in self._masses]
        return self._reshape([low for low, _ in ends]), self._reshape([high for _, high in ends])

    def _reshape(self, numbers: Sequence[float]) -> Any:
        return np.array(numbers, dtype=np.float64).reshape(self._shape)


class QuantileUncertainty:
    """Uncertainty of quantiles, by that of the cumulative probabilities around them.

    Args:
        histogram: The distribution.
        shares: The cumulative probabilities.
        values: The quantiles.
        errors: Standard errors of the distribution.
    """

    resolved = True

    def __init__(self, histogram: Histogram, shares: Floats, values: NDArray[Any], errors: StandardErrors) -> None:
        self._histogram, self._shares, self._values, self._errors = histogram, shares, values, errors

    @cached_property
    def stderr(self) -> Any:
        """Half the length of the interval of one standard error."""
        low, high = self.interval(1.0)
        return np.asarray((high - low) / 2)

    def interval(self, z: float) -> tuple[Any, Any]:
        """The values whose interval of the cumulative probability holds the given share."""
        return self._search(z, is_upper=False), self._search(z, is_upper=True)

    @cached_property
    def _noise(self) -> Floats:
        """Standard error of each cumulative probability by noise alone."""
        inner = np.clip(self._shares.ravel(), EXTREME_SHARE, 1.0 - EXTREME_SHARE)
        shares = [self._errors.cdf_shares(value) for value in quantiles.quantile(self._histogram, inner)]
        return np.array([self._errors.standard_error(own._replace(deviation=0.0 * own.deviation)) for own in shares])

    def _is_possible(self, points: NDArray[Any], z: float, *, is_upper: bool) -> NDArray[np.bool_]:
        """Whether the interval of the cumulative probability at each point reaches the share from the outer side."""
        masses, noise = self._errors.cdf_masses(points), z * self._noise
        margin = np.hypot(noise, z * masses.resolution)
        shares = self._shares.ravel()
        if is_upper:
            return np.asarray(np.maximum(masses.mass - margin, masses.inside - noise) < shares)
        return np.asarray(np.minimum(masses.mass + margin, masses.touched + noise) >= shares)

    def _search(self, z: float, *, is_upper: bool) -> NDArray[Any]:
        """The last possible value from each quantile towards the least or the largest one, by bisection.

        It is not beyond the leaf of the last value that was found possible.
        """
        inner = self._shares.ravel().astype(np.float64)
        outer = np.full(inner.shape, float(is_upper))
        for _ in range(BISECTIONS):
            middle = (inner + outer) / 2
            possible = self._is_possible(quantiles.quantile(self._histogram, middle), z, is_upper=is_upper)
            inner, outer = np.where(possible, middle, inner), np.where(possible, outer, middle)
        leaf_ends = quantiles.leaf_ends(self._histogram, inner, upper=is_upper)
        nearer = np.minimum if is_upper else np.maximum
        return np.asarray(nearer(quantiles.quantile(self._histogram, outer), leaf_ends)).reshape(self._shares.shape)

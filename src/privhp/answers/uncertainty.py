"""Standard errors and confidence intervals of single answers: masses, arrays of masses, and quantiles."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
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
        return self._bounds[0][0] > 0 or self.interval(2.0)[0] > 0 or self.stderr == 0

    def interval(self, z: float) -> tuple[float, float]:
        """The mass plus and minus z standard errors, within z standard errors of its bounds.

        The bounds are the mass of the leaves inside the region and that of the leaves that it touches.
        """
        (low, low_error), (high, high_error) = self._bounds
        slack = BOUND_SLACK * (high - low)
        return (
            max(self._value - z * self.stderr, low - z * low_error - slack, 0.0),
            min(self._value + z * self.stderr, high + z * high_error + slack, 1.0),
        )

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
        ends = np.array([self._ends(index, z) for index in range(self._shares.size)]).reshape(-1, 2)
        ends = ends.reshape(*self._shares.shape, 2)
        return ends[..., 0], ends[..., 1]

    def _ends(self, index: int, z: float) -> list[Any]:
        share, noise = float(self._shares.flat[index]), z * self._noise[index]
        return [
            self._search(share, 0.0, lambda point: self._cdf_interval(point, z, noise)[1] >= share),
            self._search(share, 1.0, lambda point: self._cdf_interval(point, z, noise)[0] < share),
        ]

    @cached_property
    def _noise(self) -> list[float]:
        """Standard error of each cumulative probability by noise alone."""
        shares = [self._errors.cdf_shares(value) for value in self._values.flat]
        return [self._errors.standard_error(own._replace(deviation=0.0 * own.deviation)) for own in shares]

    def _cdf_interval(self, point: Any, z: float, noise: float) -> tuple[float, float]:
        masses = self._errors.cdf_masses(point)
        margin = math.hypot(noise, z * masses.resolution)
        return max(masses.mass - margin, masses.inside - noise), min(masses.mass + margin, masses.touched + noise)

    def _search(self, share: float, limit: float, possible: Callable[[Any], bool]) -> Any:
        """The last possible value from a quantile towards the least or the largest one, by bisection.

        It is not beyond the leaf of the last value that was found possible.
        """
        inner, outer = share, limit
        for _ in range(BISECTIONS):
            middle = (inner + outer) / 2
            if possible(quantiles.quantile(self._histogram, middle)[()]):
                inner = middle
            else:
                outer = middle
        leaf_end = quantiles.leaf_end(self._histogram, inner, upper=limit > 0.5)
        return (min if limit > 0.5 else max)(quantiles.quantile(self._histogram, outer)[()], leaf_end)

"""Standard errors and confidence intervals of quantiles, by those of the cumulative probabilities around them."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers import quantiles
from privhp.answers.histogram import Histogram
from privhp.answers.standard_errors import CdfMasses, StandardErrors
from privhp.core.cells import Floats

EXTREME_SHARE = 1e-6
"""Quantiles of shares nearer to 0 or 1 have the noise of the quantile of this share."""

SECTIONS, SEARCHES = 16, 6
"""Parts into which the range of probabilities that holds the end of a quantile's interval is divided, and how often."""

NOISE_ROUNDS, NOISE_CHANGE = 3, 1.1
"""Searches for the ends of a quantile's interval with the noise at the last ends, while it changes by this factor."""


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
        noise = np.stack([self._noise, self._noise])
        ends = self._search(z, noise)
        changed = np.ones(noise.shape, dtype=np.bool_)
        for _ in range(NOISE_ROUNDS - 1):
            found = noise.copy()
            found[changed] = self._noise_at(ends[changed])
            changed = np.maximum(found, noise) > NOISE_CHANGE * np.minimum(found, noise)
            if not changed.any():
                break
            noise = np.where(changed, found, noise)
            ends = self._search(z, noise)
        low, high = (own.reshape(self._shares.shape) for own in ends)
        return low, high

    @cached_property
    def _noise(self) -> Floats:
        """Standard error of each cumulative probability by noise alone."""
        inner = np.clip(self._shares.ravel(), EXTREME_SHARE, 1.0 - EXTREME_SHARE)
        return self._noise_at(quantiles.quantile(self._histogram, inner))

    def _noise_at(self, values: NDArray[Any]) -> Floats:
        return self._errors.standard_errors([self._errors.cdf_shares(value).without_resolution() for value in values])

    def _are_possible(self, points: NDArray[Any], z: float, noise: Floats) -> NDArray[np.bool_]:
        """Whether the interval of the cumulative probability at each point reaches the share from the outer side.

        Args:
            points: Values below and above each quantile, shape (..., 2, quantiles).
            z: Number of standard errors.
            noise: Standard errors of the lower and of the upper end of each interval by noise alone.
        """
        masses = CdfMasses(*(own.reshape(points.shape) for own in self._errors.cdf_masses(points.ravel())))
        values = quantiles.cdf(self._histogram, points)
        noise, shares = z * noise, self._shares.ravel()
        margin = np.hypot(noise, z * masses.resolution)
        below = np.minimum(values + margin, masses.touched + noise) >= shares
        above = np.maximum(values - margin, masses.inside - noise) < shares
        return np.stack([below[..., 0, :], above[..., 1, :]], axis=-2)

    def _search(self, z: float, noise: Floats) -> NDArray[Any]:
        """The least and the largest possible value of each quantile, shape (2, quantiles).

        It is beyond the leaf of the last value that was found possible only if too little may lie at or below the end
        of this leaf: then the quantile may be the next value.
        """
        inner = np.stack([self._shares.ravel()] * 2).astype(np.float64)
        outer = np.stack([np.zeros(inner.shape[1]), np.ones(inner.shape[1])])
        parts = np.arange(1, SECTIONS)[:, None, None] / SECTIONS
        for _ in range(SEARCHES):
            points = quantiles.quantile(self._histogram, inner + (outer - inner) * parts)
            possible = np.logical_and.accumulate(self._are_possible(points, z, noise)).sum(axis=0)
            step = (outer - inner) / SECTIONS
            inner = inner + possible * step
            outer = np.where(possible < SECTIONS - 1, inner + step, outer)
        ends = quantiles.quantile(self._histogram, outer)
        leaf_ends = np.stack(
            [quantiles.leaf_ends(self._histogram, inner[upper], upper=bool(upper)) for upper in (0, 1)]
        )
        beyond = self._are_possible(leaf_ends, z, noise)[1]
        nearer = np.minimum(ends[1], leaf_ends[1])
        return np.stack([np.maximum(ends[0], leaf_ends[0]), np.where(beyond, ends[1], nearer)])

"""Standard errors and confidence intervals of masses, of arrays of masses, and of cumulative probabilities."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.answers.standard_errors import LeafShares, StandardErrors
from privhp.core.cells import Floats

BOUND_SLACK = 0.01
"""Share of the distance between two bounds by which an interval may exceed them."""

CLEAR_Z = 4.0
"""Standard errors below which inference may have taken noise for the records of a region."""


class Uncertainty(Protocol):
    """Standard error and confidence intervals of an answer, computed on demand."""

    @property
    def stderr(self) -> Any:
        """Standard error of the answer."""
        ...

    @property
    def resolved(self) -> Any:
        """Whether the release shows more than bounds of the answer; of an array, for each answer or for all."""
        ...

    def interval(self, z: float) -> tuple[Any, Any]:
        """Both ends of the interval of z standard errors around the answer."""
        ...


class MassUncertainty:
    """Uncertainty of the masses of one or several regions.

    Args:
        values: The masses, of any shape.
        errors: Standard errors of the distribution.
        shares: Computes the shares of leaves in a region.
        regions: The regions.
    """

    def __init__(
        self,
        values: float | Floats,
        errors: StandardErrors,
        shares: Callable[[Any], LeafShares],
        regions: Sequence[Any],
    ) -> None:
        self._values, self._errors = np.asarray(values), errors
        self._compute_shares, self._asked = shares, regions

    @cached_property
    def _regions(self) -> Sequence[LeafShares]:
        return [self._compute_shares(region) for region in self._asked]

    @cached_property
    def stderr(self) -> Floats:
        """Standard error of each mass."""
        return self._errors.standard_errors(self._regions).reshape(self._values.shape)

    @property
    def resolved(self) -> Any:
        """Whether the release shows more than bounds of each mass."""
        return self._resolved

    @cached_property
    def _resolved(self) -> NDArray[np.bool_]:
        """Whether a leaf lies inside the region, or the interval of two standard errors excludes 0.

        How even the records of wide cells are says nothing about single values, of which any may be frequent: where
        the release shows none, bounds are the answer.
        """
        with_leaf = np.asarray((self._bounds[0][0] > 0) | (self.stderr == 0))
        shown = np.array(with_leaf | (self._around_values(2.0)[0] > 0))
        for place in np.flatnonzero(shown & ~with_leaf).tolist():
            shown.flat[place] = not self._is_unseen(self._asked[place])
        return shown

    def _is_unseen(self, region: Any) -> bool:
        return self._errors.is_unseen(region)

    def interval(self, z: float) -> tuple[Floats, Floats]:
        """Each mass plus and minus z standard errors, within z standard errors of its bounds; else these bounds.

        The bounds are the mass of the leaves inside the region and that of the leaves that it touches.
        """
        pairs = zip(self._around_values(z), self._around_bounds(z), strict=True)
        low, high = (np.where(self._resolved, around, bound) for around, bound in pairs)
        return self._with_unbiased(low.ravel(), high.ravel(), z)

    def _with_unbiased(self, low: Floats, high: Floats, z: float) -> tuple[Floats, Floats]:
        """Intervals that reach as far as those of unbiased counts where inference may take records for noise.

        It takes leaves with few records for empty, as most such leaves are; but people ask for values that occur. So
        the interval of a single leaf ends no lower than that of its unbiased count. In an empty tail it
        takes some noise for records. So an interval begins no higher where the release hardly shows any.
        """
        leaf = np.array([own.is_leaf for own in self._regions], dtype=np.bool_)
        chosen = np.flatnonzero(leaf | (self._values < CLEAR_Z * self.stderr).ravel())
        if chosen.size:
            masses, errors = self._errors.unbiased_masses([self._regions[place] for place in chosen.tolist()])
            low[chosen] = np.clip(masses - z * errors, 0.0, low[chosen])
            high[chosen] = np.where(leaf[chosen], np.clip(masses + z * errors, high[chosen], 1.0), high[chosen])
        return low.reshape(self._values.shape), high.reshape(self._values.shape)

    def _around_values(self, z: float) -> tuple[Floats, Floats]:
        low, high = self._around_bounds(z)
        return np.maximum(self._values - z * self.stderr, low), np.minimum(self._values + z * self.stderr, high)

    def _around_bounds(self, z: float) -> tuple[Floats, Floats]:
        (low, low_error), (high, high_error) = self._bounds
        slack = BOUND_SLACK * (high - low)
        return np.maximum(low - z * low_error - slack, 0.0), np.minimum(high + z * high_error + slack, 1.0)

    @cached_property
    def _bounds(self) -> list[tuple[Floats, Floats]]:
        """Masses and standard errors of the leaves inside each region, and of those that it touches."""
        chosen = [own.inside for own in self._regions] + [own.touched for own in self._regions]
        # Regions that are smaller than leaves have the same ones, of which each set is computed once.
        keys = [own.leaves.tobytes() for own in chosen]
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        sets, index = list(dict(zip(keys, chosen, strict=True)).values()), [places[key] for key in keys]
        masses = np.array([self._errors.mass(own) for own in sets])[index]
        errors = self._errors.standard_errors(sets)[index]
        (low, high), (low_error, high_error) = (own.reshape(2, *self._values.shape) for own in (masses, errors))
        # Without a noisy record the answer is that of the base measure, and no leaf has a mass.
        return [(np.minimum(low, self._values), low_error), (np.maximum(high, self._values), high_error)]


class JoinedUncertainty:
    """Uncertainty of an array of masses, some of which are computed from other counters than others.

    Args:
        parts: Places of some masses in the array, and their uncertainty.
        size: Number of masses.
    """

    def __init__(self, parts: Sequence[tuple[Sequence[int], Uncertainty]], size: int) -> None:
        self._parts, self._size = [(list(places), own) for places, own in parts if len(places)], size

    @cached_property
    def stderr(self) -> Floats:
        """Standard error of each mass."""
        return self._join([own.stderr for _, own in self._parts])

    @property
    def resolved(self) -> Any:
        """Whether the release shows more than bounds of each mass."""
        return self._join([own.resolved for _, own in self._parts]) > 0

    def interval(self, z: float) -> tuple[Floats, Floats]:
        """Both ends of the interval of each mass."""
        low, high = zip(*(own.interval(z) for _, own in self._parts), strict=True)
        return self._join(low), self._join(high)

    def _join(self, values: Sequence[Floats]) -> Floats:
        joined = np.empty(self._size)
        for (places, _), own in zip(self._parts, values, strict=True):
            joined[places] = own
        return joined


class ChosenUncertainty:
    """Uncertainty of some answers of an array.

    Args:
        whole: Uncertainty of all answers.
        chosen: Index of the answers in the array.
    """

    def __init__(self, whole: Uncertainty, chosen: Any) -> None:
        self._whole, self._chosen = whole, chosen

    @property
    def stderr(self) -> Any:
        """Standard error of each chosen answer."""
        return np.asarray(self._whole.stderr)[self._chosen]

    @property
    def resolved(self) -> Any:
        """Whether the release shows more than bounds of each chosen answer."""
        resolved = np.asarray(self._whole.resolved)
        return resolved[self._chosen] if resolved.ndim else resolved

    def interval(self, z: float) -> tuple[Any, Any]:
        """Both ends of the interval of each chosen answer."""
        low, high = self._whole.interval(z)
        return np.asarray(low)[self._chosen], np.asarray(high)[self._chosen]


class CdfUncertainty(MassUncertainty):
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
        super().__init__(values, errors, errors.cdf_shares, list(points.ravel()))

    def _is_unseen(self, region: Any) -> bool:
        return False  # values up to a point are no single value

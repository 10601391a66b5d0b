"""An estimate: the answer to a query, with a standard error that is computed on first access."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from numbers import Number
from typing import Any, Generic, NoReturn, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from privhp.answers.regions import resolved_mass_bounds
from privhp.answers.standard_errors import StandardErrors
from privhp.answers.uncertainty import ChosenUncertainty, MassUncertainty, Uncertainty
from privhp.core.display import render
from privhp.core.number_format import format_duration, format_share
from privhp.domains.time_zones import time_texts
from privhp.errors import QueryError

T = TypeVar("T")

_ROUNDING = 1e-12
"""Relative standard errors below this are rounding errors of the computation; they print as 0."""

_MAX_DECIMALS = 12


class Estimate(Generic[T]):
    """An answer with its standard error.

    The standard error covers the noise of the release and the resolution of
    its leaves; it is computed from public quantities alone. An Estimate is not a
    number: use `float(estimate)` or `estimate.value` in arithmetic and comparisons.
    That of an array has a length, and `estimate[0]` is the Estimate of its first answer.

    Attributes:
        value: The answer: a number, a time, or an array of them.
        asked: What the answers of an array belong to, if it is known: "share" or "value", and an array of them.
        zone: Time zone in which times are printed, that of the domain; None for UTC. Values are UTC.
    """

    value: T

    def __init__(
        self,
        value: T,
        uncertainty: Uncertainty,
        mass_bounds: Callable[..., tuple[float, float]] | None = None,
        asked: tuple[str, NDArray[Any]] | None = None,
        zone: str | None = None,
    ) -> None:
        """Take the answer and what computes the rest on demand.

        Args:
            value: The answer.
            uncertainty: Computes the standard error and the intervals of each number in `value`.
            mass_bounds: Computes the bounds of the mass of a region from whole cells; for an array, given the place of
                the region.
            asked: What the answers belong to: its name, and an array in the shape of the answers.
            zone: Time zone in which times are printed; None for UTC.
        """
        self.value, self._uncertainty, self._mass_bounds = value, uncertainty, mass_bounds
        self.asked, self.zone = asked, zone

    @property
    def stderr(self) -> Any:
        """Standard error of the answer, in its unit; of a time, a `timedelta64`.

        Raises:
            QueryError: The plan uses the paper's top-down inference, which has no variances.
        """
        return as_scalar(np.asarray(self._uncertainty.stderr))

    @property
    def resolved(self) -> bool:
        """Whether the release shows more than bounds: false for a region that is finer than the leaves it touches.

        The value is then an interpolation, and `interval` gives the bounds.
        """
        return bool(np.all(self._uncertainty.resolved))

    def interval(self, level: float = 0.9) -> tuple[Any, Any]:
        """Confidence interval of the answer; docs/accuracy.md says what it covers.

        Args:
            level: Probability that the interval contains the true answer, between 0 and 1.
        """
        if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0 < level < 1:
            raise QueryError(f"expected a confidence level between 0 and 1, such as 0.9, got {level!r}")
        from statistics import NormalDist  # slow to import

        low, high = self._uncertainty.interval(NormalDist().inv_cdf(0.5 + float(level) / 2.0))
        return as_scalar(np.asarray(low)), as_scalar(np.asarray(high))

    @property
    def cell_bounds(self) -> tuple[float, float] | None:
        """What the cells of the release allow for the mass of a region, up to noise, where the interval is narrower.

        If values are heaped, such as at round numbers, and cells are wider than the heaps, the mass can be anywhere
        between the two. None if they exceed the 90% interval by no more than a standard error, and for other answers.
        Each of several masses has its own: `masses(regions)[0].cell_bounds`.
        """
        if self._mass_bounds is None or np.ndim(self.value) or not self.resolved:  # type: ignore[arg-type]  # any type T
            return None
        (low, high), (at_least, at_most) = self.interval(0.9), self._mass_bounds()
        if max(low - at_least, at_most - high) <= self.stderr:
            return None
        return min(at_least, low), max(at_most, high)  # the bounds have noise, which the interval holds

    def __eq__(self, other: object) -> bool:
        """Identity of two estimates; a number is refused, since it is compared with the value."""
        if isinstance(other, Number | np.generic | np.ndarray):
            self._refuse(other)
        return NotImplemented

    __hash__ = object.__hash__

    def _refuse(self, other: object = None) -> NoReturn:
        raise TypeError("an Estimate is not a number; compute with float(estimate) or estimate.value")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __neg__ = __abs__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _refuse

    def __getitem__(self, key: Any) -> Estimate[Any]:
        """Estimate of one answer of an array, or of several."""
        value = as_scalar(np.asarray(self._answers()[key]))
        asked = None if self.asked is None else (self.asked[0], np.asarray(self.asked[1][key]))
        bounds = None if self._mass_bounds is None or np.ndim(value) else partial(self._mass_bounds, key)
        return Estimate(value, ChosenUncertainty(self._uncertainty, key), bounds, asked, self.zone)

    def __len__(self) -> int:
        return len(self._answers())

    def __bool__(self) -> bool:
        return True  # as any object, whatever its length

    def _answers(self) -> NDArray[Any]:
        """The answers of an array."""
        if np.ndim(self.value) == 0:  # type: ignore[arg-type]  # of any type T
            raise TypeError("this Estimate is a single answer; use estimate.value and estimate.interval()")
        return np.asarray(self.value)

    def __float__(self) -> float:
        if isinstance(self.value, np.datetime64 | np.timedelta64):
            raise TypeError("this Estimate is a time or a duration, not a number; use estimate.value")
        return float(self.value)  # type: ignore[arg-type]  # arrays raise a TypeError

    def __round__(self, ndigits: SupportsIndex | None = None) -> Any:
        return round(self.value, ndigits)  # type: ignore[call-overload]  # arrays and times raise a TypeError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype, copy=copy)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def __repr__(self) -> str:
        try:
            stderr = self.stderr
        except QueryError:
            return str(self.value)
        if not self.resolved:
            ends = self.interval()
            return "between {} and {}".format(*(format_share(end) if np.ndim(end) == 0 else end for end in ends))
        error, value, *bounds = format_alike(stderr, self.value, *(self.cell_bounds or ()), zone=self.zone)
        return f"{value} +- {error}" + (", cells allow {} to {}".format(*bounds) if bounds else "")

    def _repr_html_(self) -> str:
        return str(render("estimate card", self))


def mass_estimate(
    value: float, errors: StandardErrors, region: Any, uncertainty: Uncertainty | None = None
) -> Estimate[float]:
    """Estimate of the mass of a region.

    Args:
        value: The mass.
        errors: Standard errors of the distribution.
        region: The region.
        uncertainty: Uncertainty of the mass; by default by these errors alone.
    """
    uncertainty = uncertainty or MassUncertainty(value, errors, errors.region_shares, [region])
    return Estimate(value, uncertainty, partial(resolved_mass_bounds, errors, region, value))


def format_alike(stderr: Any, *values: Any, zone: str | None = None) -> list[str]:
    """A standard error to two digits, and values with as many decimals; times with their offset in a zone.

    That of an integer is 0 if the interval of one standard error holds no other, so it is under 1.
    """
    if not isinstance(stderr, float):
        return [_text(number, zone) for number in (stderr, *values)]
    if not stderr and isinstance(values[0], int):
        return ["under 1", *map(str, values)]
    if isinstance(values[0], float) and stderr < _ROUNDING * abs(values[0]):
        stderr = 0.0
    decimals = _decimals(stderr)
    if decimals > _MAX_DECIMALS and all(isinstance(value, float) for value in values):
        return [f"{stderr:.2g}", *(f"{value:.6g}" for value in values)]
    decimals = min(decimals, _MAX_DECIMALS)
    return [f"{number:.{decimals}f}" if isinstance(number, float) else str(number) for number in (stderr, *values)]


def as_scalar(array: NDArray[Any]) -> Any:
    """The value of an array without dimensions; any other array unchanged."""
    if np.ndim(array):
        return array
    return array.item() if array.dtype.kind in "fiu" else array[()]


def _text(value: Any, zone: str | None) -> str:
    """A value for people: times with their offset in a zone, durations in their largest unit."""
    if np.asarray(value).dtype.kind not in "mM":
        return str(value)

    def format_time(time: np.datetime64) -> str:
        return str(time_texts(np.array([time]), zone)[0])

    return np.array2string(np.asarray(value), formatter={"datetime": format_time, "timedelta": format_length})


def format_length(length: np.timedelta64) -> str:
    """A duration as text; none at all in days, if it is a number of days."""
    if not length and np.datetime_data(length.dtype)[0] == "D":
        return "0 days"
    return format_duration(float(length / np.timedelta64(1, "s")))


def _decimals(stderr: float) -> int:
    """Number of decimals that shows two significant digits of a standard error."""
    if not stderr > 0 or not math.isfinite(stderr):
        return 4
    return max(1 - math.floor(math.log10(stderr)), 0)

"""An estimate: the answer to a query, with a standard error that is computed on first access."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from collections.abc import Callable
from functools import cached_property
from numbers import Number
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

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

    Attributes:
        value: The answer: a number, a time, or an array of them.
    """

    value: T

    def __init__(
        self, value: T, stderr: Callable[[], Any], *, limits: Callable[[], tuple[Any, Any]] | None = None
    ) -> None:
        """Take the answer and the functions that compute the rest on demand.

        Args:
            value: The answer.
            stderr: Computes the standard error of each number in `value`.
            limits: Computes the least and the largest possible answer; intervals are clipped to them.
        """
        self.value, self._compute_stderr, self._limits = value, stderr, limits

    @cached_property
    def stderr(self) -> Any:
        """Standard error of the answer, in its unit; of a time, a `timedelta64`.

        Raises:
            QueryError: The plan uses the paper's top-down inference, which has no variances.
        """
        return self._compute_stderr()

    def interval(self, level: float = 0.9) -> tuple[Any, Any]:
        """Confidence interval of the answer, from the normal distribution.

        Ends of integer and time answers are rounded outwards, and ends of all answers are clipped to the domain.

        Args:
            level: Probability that the interval contains the true answer, between 0 and 1.
        """
        if isinstance(level, bool) or not isinstance(level, int | float | np.number) or not 0 < level < 1:
            raise QueryError(f"expected a confidence level between 0 and 1, such as 0.9, got {level!r}")
        from statistics import NormalDist  # slow to import

        z = NormalDist().inv_cdf(0.5 + float(level) / 2.0)
        value = np.asarray(self.value)
        half_width = z * np.asarray(self.stderr)
        if value.dtype.kind == "M":
            units = value.astype(np.int64)
            margin = np.ceil(z * np.asarray(self.stderr).astype(np.int64)).astype(np.int64)
            low, high = (ends.astype(value.dtype) for ends in (units - margin, units + margin))
        elif value.dtype.kind in "iu":
            low, high = self._integer_interval(value, half_width)
        else:
            low, high = value - half_width, value + half_width
        if self._limits is not None:
            least, most = self._limits()
            low, high = np.maximum(low, least), np.minimum(high, most)
        return as_scalar(low), as_scalar(high)

    @staticmethod
    def _integer_interval(value: NDArray[Any], half_width: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both ends as integers of the same type, which saturate where they would overflow."""
        margin = np.minimum(np.ceil(half_width), float(2**62)).astype(np.int64).astype(value.dtype)
        info = np.iinfo(value.dtype)
        low = np.where(value >= info.min + margin, value - margin, info.min)
        high = np.where(value <= info.max - margin, value + margin, info.max)
        return low.astype(value.dtype), high.astype(value.dtype)

    def __eq__(self, other: object) -> bool:
        """Identity of two estimates; a number is refused, since it is compared with the value."""
        if isinstance(other, Number | np.generic | np.ndarray):
            raise self._no_comparison()
        return NotImplemented

    __hash__ = object.__hash__

    def __lt__(self, other: object) -> bool:
        raise self._no_comparison()

    __le__ = __gt__ = __ge__ = __lt__

    @staticmethod
    def _no_comparison() -> TypeError:
        return TypeError("an Estimate is not a number; compare float(estimate) or estimate.value")

    def __float__(self) -> float:
        return float(self.value)  # type: ignore[arg-type]  # arrays and times raise a TypeError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype, copy=copy)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def __repr__(self) -> str:
        try:
            stderr = self.stderr
        except QueryError:
            return str(self.value)
        if isinstance(self.value, float) and isinstance(stderr, float):
            if stderr < _ROUNDING * abs(self.value):
                stderr = 0.0
            decimals = _decimals(stderr)
            if decimals > _MAX_DECIMALS:
                return f"{self.value:.6g} +- {stderr:.2g}"
            return f"{self.value:.{decimals}f} +- {stderr:.{decimals}f}"
        if isinstance(stderr, float):
            return f"{self.value} +- {stderr:.{min(_decimals(stderr), _MAX_DECIMALS)}f}"
        return f"{self.value} +- {stderr}"


def as_scalar(array: NDArray[Any]) -> Any:
    """The value of an array without dimensions; any other array unchanged."""
    if np.ndim(array):
        return array
    return array.item() if array.dtype.kind in "fiu" else array[()]


def _decimals(stderr: float) -> int:
    """Number of decimals that shows two significant digits of a standard error."""
    if not stderr > 0 or not math.isfinite(stderr):
        return 4
    return max(1 - math.floor(math.log10(stderr)), 0)

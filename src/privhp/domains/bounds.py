"""Bounds and regions as a caller writes them, read or refused with a message that names them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from privhp.domains.domain import finite_number, quote
from privhp.errors import DomainError


def bounds(low: Any, high: Any, *, axis: str) -> tuple[float, float]:
    """Two declared bounds as floats, or an error that says what is wrong with them."""
    low = float(finite_number(low, f"the lower bound of {axis}"))
    high = float(finite_number(high, f"the upper bound of {axis}"))
    if not low < high:
        raise DomainError(f"expected the lower bound of {axis} below the upper, got {low} and {high}")
    return low, high


def cut_points(cuts: Any, low: float, high: float) -> tuple[float, ...]:
    """Declared cuts as floats, or an error that says what is wrong with them."""
    given = cuts.tolist() if isinstance(cuts, np.ndarray) else cuts
    if not isinstance(given, list | tuple) or not given:
        raise DomainError(f"expected cuts as a list of numbers between the bounds, got {quote(cuts)}")
    points = tuple(float(finite_number(cut, "a cut")) for cut in given)
    if not all(one < other for one, other in pairwise((low, *points, high))):
        raise DomainError(f"expected cuts in rising order between {low} and {high}, got {quote(given)}")
    return points


def whole_number(value: Any, name: str) -> int:
    """A declared bound as an integer, or an error that names it."""
    number = finite_number(value, name)
    if number != int(number):
        raise DomainError(f"expected a whole number for {name}, got {number}")
    return int(number)


def sample_type(dtype: Any, known: Sequence[str]) -> np.dtype[Any]:
    """The declared type of samples, by its name or as NumPy's own, or an error that says which there are."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    if dtype is None or name not in known:
        raise DomainError(f"expected dtype as one of {', '.join(known)}, got {quote(dtype)}")
    found: np.dtype[Any] = np.dtype(name)
    return found


def real_type(dtype: Any) -> np.dtype[Any]:
    """The declared type of samples that are real numbers."""
    return sample_type(dtype, ("float64", "float32"))


def whole_type(dtype: Any, low: int, high: int) -> np.dtype[Any]:
    """The declared type of samples that are whole numbers between two."""
    found = sample_type(dtype, ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"))
    if low < np.iinfo(found).min or high > np.iinfo(found).max:
        raise DomainError(f"expected a dtype that holds {low} and {high}, got {found}")
    return found


def rounded_out(low: float, high: float, dtype: np.dtype[Any]) -> tuple[float, float]:
    """The last number of a type of floats up to the lower bound and the first from the upper on."""
    with np.errstate(over="ignore"):
        first, last = (float(dtype.type(end)) for end in (low, high))
        first, last = _next(first, -np.inf, dtype, first > low), _next(last, np.inf, dtype, last < high)
    if not np.isfinite([first, last]).all():
        raise DomainError(f"expected bounds that {dtype} holds, got {low} and {high}; leave out the dtype")
    return first, last


def rounded_in(low: float, high: float, dtype: np.dtype[Any]) -> tuple[float, float]:
    """The first number of a type of floats from the lower end on and the last up to the upper, which may be before."""
    with np.errstate(over="ignore"):
        first, last = (float(dtype.type(end)) for end in (low, high))
        return _next(first, np.inf, dtype, first < low), _next(last, -np.inf, dtype, last > high)


def has_number(low: float, high: float, dtype: np.dtype[Any]) -> bool:
    """Whether there is a number of a type of floats between two ends."""
    first, last = rounded_in(low, high, dtype)
    return first <= last


def _next(number: float, towards: float, dtype: np.dtype[Any], needed: bool) -> float:
    return float(np.nextafter(dtype.type(number), dtype.type(towards))) if needed else number


def pair(value: Any, name: str) -> tuple[Any, Any]:
    """Two ends, or an error that names what they are the ends of."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise DomainError(f"expected {name} as a pair (low, high), got {quote(value)}")
    return value[0], value[1]


def region_ends(region: Any, low: int | float, high: int | float) -> tuple[int | float, int | float]:
    """The ends of a one-dimensional region, None being the end of the domain."""
    first, last = pair(region, "a region")
    if first is not None:
        first = finite_number(first, "the lower end of the region")
    if last is not None:
        last = finite_number(last, "the upper end of the region")
    if first is not None and last is not None and first > last:
        raise DomainError(f"expected a region whose lower end is not above its upper, got {first} and {last}")
    return low if first is None else first, high if last is None else last

"""Checks of bounds, numbers, types and regions that a caller passes: normalised, or refused with a message."""

import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from privhp.errors import DomainError

Outside = Literal["drop", "clamp"]
"""Treatment of records out of bounds."""

_SIGN = r"(?:[^\w.,+-]{0,3}|[A-Z]{3})"
_WRITTEN_NUMBER = re.compile(
    rf"{_SIGN}([+-]?){_SIGN}(\d+(?:[.,]\d+)?|\d{{1,3}}(?:[.,]\d{{3}})+(?:[.,]\d+)?){_SIGN}", re.ASCII
)
"""A number as people write it, such as $1,000 or 1.234,50 EUR: its sign and its digits."""


def quote(value: Any) -> str:
    """Short representation of a value on one line, for messages."""
    return " ".join(reprlib.repr(value).split())


def listed_values(region: Any) -> list[Any]:
    """Values of a region that is a collection of them, such as a list, an array or a pandas index; else the region."""
    several = isinstance(region, Iterable) and not isinstance(region, str | bytes | Mapping)
    return list(region) if several else [region]


def null_hint(value: Any) -> str:
    """End of a message on a value of a region; of None, where it is null."""
    return "; None is null by itself or in a list, of a Nullable column" if value is None else ""


def comma_advice(before: str, after: str) -> str:
    """End of a message on a number with a comma between these digits: a decimal mark, or a thousands separator."""
    thousands = f"{before}{after} without a separator or " if len(after) == 3 else ""
    return f"; write {thousands}{before}.{after}, with a decimal point"


def number_advice(text: str) -> str:
    """End of a message on a number with a currency sign, separators or a decimal comma; empty for other texts."""
    found = _WRITTEN_NUMBER.fullmatch(text)
    if found is None:
        return ""
    sign, digits = found.groups()
    before, mark, after = digits.rpartition(max(",.", key=digits.rfind))
    has_currency = digits != text.strip("+-")
    is_separator = mark in before or (mark == "," and has_currency and len(after) == 3)  # prices have no 3 decimals
    if mark == "," and before.isdigit() and not is_separator:
        return comma_advice(f"{sign}{before}", after)
    decimals = after if is_separator else f".{after}"
    return f"; write {sign}{re.sub('[.,]', '', before)}{decimals}"


def check_number(value: Any, name: str) -> int | float:
    """A finite number as int or float."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | np.integer | np.floating):
        raise DomainError(f"expected a number for {name}, got {quote(value)}; write a plain number, known beforehand")
    try:
        number = float(value) + 0.0  # -0.0 is equal to 0.0 and prints differently
    except (OverflowError, ValueError):  # of a large integer, and of a signaling NaN
        number = np.inf
    if not np.isfinite(number):
        raise DomainError(f"expected a finite number for {name}, got {number}")
    return int(value) if isinstance(value, int | np.integer) else number


def check_outside(outside: str) -> None:
    """Refuse values of `outside=` other than "drop" and "clamp"."""
    if not isinstance(outside, str) or outside not in ("drop", "clamp"):
        raise DomainError(f'expected outside="drop" or outside="clamp", got {quote(outside)}')


def outside_argument(outside: str) -> str:
    """The `outside=` argument in the representation of a domain; empty for the default."""
    return ', outside="clamp"' if outside == "clamp" else ""


def typed_arguments(parameters: Mapping[str, Any]) -> str:
    """The `step=` and `dtype=` arguments in the representation of a domain; empty for the defaults."""
    return "".join(f', {name}="{parameters[name]}"' for name in ("step", "dtype") if name in parameters)


def check_bounds(low: Any, high: Any, *, axis: str) -> tuple[float, float]:
    """Lower and upper bound as floats."""
    low = float(check_number(low, f"the lower bound of {axis}"))
    high = float(check_number(high, f"the upper bound of {axis}"))
    if not low < high:
        raise DomainError(f"expected the lower bound of {axis} below the upper, got {low} and {high}")
    return low, high


def check_integer_bound(value: Any, name: str) -> int:
    """A bound as an integer."""
    number = check_number(value, name)
    if number != int(number):
        raise DomainError(f"expected an integer for {name}, got {number}")
    return int(number)


def check_integers(region: Any) -> list[int]:
    """Distinct integers of a region that is an integer or a collection of integers."""
    refuse_pandas_interval(region)
    values = {check_integer_bound(value, "a value of the region") for value in listed_values(region)}
    if not values:
        raise DomainError("expected a region of at least one integer, got an empty collection")
    return sorted(values)


def check_cuts(cuts: Any, low: float, high: float) -> tuple[float, ...]:
    """Increasing cut points between two bounds as floats."""
    given = cuts.tolist() if isinstance(cuts, np.ndarray) else cuts
    if not isinstance(given, list | tuple) or not given:
        raise DomainError(f"expected cuts as a list of numbers between the bounds, got {quote(cuts)}")
    points = tuple(float(check_number(cut, "a cut")) for cut in given)
    if not all(one < other for one, other in pairwise((low, *points, high))):
        raise DomainError(f"expected cuts in increasing order between {low} and {high}, got {quote(given)}")
    return points


def check_dtype(dtype: Any, known: Sequence[str]) -> np.dtype[Any]:
    """The type of samples, by its name or as a NumPy dtype."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = ""
    if dtype is None or name not in known:
        raise DomainError(f"expected dtype as one of {', '.join(known)}, got {quote(dtype)}")
    found: np.dtype[Any] = np.dtype(name)
    return found


def check_float_dtype(dtype: Any) -> np.dtype[Any]:
    """The type of samples that are real numbers."""
    return check_dtype(dtype, ("float64", "float32"))


def check_integer_dtype(dtype: Any, low: int, high: int) -> np.dtype[Any]:
    """The type of samples that are integers between two bounds."""
    found = check_dtype(dtype, ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"))
    if low < np.iinfo(found).min or high > np.iinfo(found).max:
        raise DomainError(f"expected a dtype that holds {low} and {high}, got {found}")
    return found


def round_outwards(low: float, high: float, dtype: np.dtype[Any]) -> tuple[float, float]:
    """The largest float of a type up to the lower bound, and the smallest from the upper bound on."""
    with np.errstate(over="ignore"):
        first, last = (float(dtype.type(end)) for end in (low, high))
        first, last = _next(first, -np.inf, dtype, first > low), _next(last, np.inf, dtype, last < high)
    if not np.isfinite([first, last]).all():
        raise DomainError(f"the bounds {low} and {high} do not fit into {dtype}; leave out the dtype")
    return first, last


def round_inwards(low: float, high: float, dtype: np.dtype[Any]) -> tuple[float, float]:
    """The smallest float of a type from the lower end on, and the largest up to the upper end; they may cross."""
    with np.errstate(over="ignore"):
        first, last = (float(dtype.type(end)) for end in (low, high))
        return _next(first, np.inf, dtype, first < low), _next(last, -np.inf, dtype, last > high)


def contains_float(low: float, high: float, dtype: np.dtype[Any]) -> bool:
    """Whether a float of a type lies between two ends."""
    first, last = round_inwards(low, high, dtype)
    return first <= last


def _next(number: float, towards: float, dtype: np.dtype[Any], needed: bool) -> float:
    return float(np.nextafter(dtype.type(number), dtype.type(towards))) if needed else number


def check_pair(value: Any, name: str) -> tuple[Any, Any]:
    """The two ends of a pair (low, high)."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise DomainError(f"expected {name} as a pair (low, high), got {quote(value)}")
    return value[0], value[1]


def check_ends(region: Any, *, example: tuple[str, str] = ("8", "17")) -> tuple[Any, Any]:
    """The two ends of a one-dimensional region. A list is refused, since it could mean its values alone.

    Args:
        region: The region.
        example: Two values, for messages.
    """
    refuse_pandas_interval(region)
    if not isinstance(region, tuple) or len(region) != 2:
        raise DomainError(
            f"expected a region as a pair (low, high), got {quote(region)}; write a tuple of the ends, such as "
            f"({example[0]}, {example[1]}), also for one value, ({example[0]}, {example[0]}); ask for several ranges "
            "one by one"
        )
    return region


def refuse_pandas_interval(region: Any) -> None:
    """Refuse an interval of pandas, whose ends may be open, in place of a pair."""
    if all(hasattr(region, name) for name in ("left", "right", "closed_left")):
        raise DomainError(
            "expected a region as a pair (low, high), got an interval of pandas; write (interval.left, "
            "interval.right), both of which are inside"
        )


def check_range(region: Any, low: int | float, high: int | float) -> tuple[int | float, int | float]:
    """The ends of a one-dimensional region; None or infinity, an open end, stands for the bound of the domain."""
    first, last = check_ends(region)
    first = None if _is_open(first, -np.inf) else check_number(first, "the lower end of the region")
    last = None if _is_open(last, np.inf) else check_number(last, "the upper end of the region")
    if first is not None and last is not None and first > last:
        raise DomainError(f"expected a region whose lower end is not above its upper end, got {first} and {last}")
    return low if first is None else first, high if last is None else last


def _is_open(end: Any, infinity: float) -> bool:
    return end is None or (isinstance(end, float | np.floating) and end == infinity)

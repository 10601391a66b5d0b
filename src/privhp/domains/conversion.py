"""Columns as NumPy arrays of numbers.

Values of an array are converted together, other values one by one, so that a
value never affects the conversion of another. Errors may concern the type and
shape of a batch, never the value of a record.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts, Floats
from privhp.domains.column import Column, Mask, attempt, take
from privhp.domains.to_column import to_column
from privhp.errors import DomainError, RecordsError

INT64_MAX = 2**63 - 1

_ADVICE = {
    "m": "take its seconds, such as with .dt.total_seconds() or / numpy.timedelta64(1, 's')",
    "M": "declare a Time, or convert it first",
}
"""What to do about an array of another kind."""


def as_floats(records: Any) -> Floats:
    """A batch of n numbers as float64, with NaN for invalid values."""
    column = to_column(records)
    if column.dictionary is not None:
        return take(np.append(_each_float(column.dictionary), np.nan), column)
    values = values_of_kind(column)
    if not isinstance(values, np.ndarray):
        return _each_float(values)
    numbers = _float64(values)
    return numbers if column.missing is None else np.where(column.missing, np.nan, numbers)


def _each_float(values: Sequence[Any]) -> Floats:
    return np.fromiter((attempt(value, _single_number, np.nan) for value in values), dtype=np.float64)


def as_points(records: Any, *, width: int) -> Floats:
    """A batch of n points as float64 of shape (n, width), with rows of NaN for invalid points."""
    plain = records.values if type(records) is Column and records.is_plain else records
    if type(plain) is np.ndarray and plain.dtype == np.float64 and plain.shape[1:] == (width,):
        return plain  # saves a fifth of the time to encode a block of 256 rows
    column = to_column(records)
    values = column.to_list() if column.dictionary is not None else values_of_kind(column, width=width)
    if isinstance(values, np.ndarray):
        points = _float64(values).reshape(-1, width)
        return points if column.missing is None else np.where(column.missing[:, None], np.nan, points)
    nothing = (np.nan,) * width

    def point(value: Any) -> tuple[float, ...]:
        parts = value if isinstance(value, list | tuple | np.ndarray) else (value,)
        numbers = tuple(_number(part) for part in parts)
        return numbers if len(numbers) == width else nothing

    return np.array([attempt(value, point, nothing) for value in values], dtype=np.float64).reshape(-1, width)


def as_integers(records: Any, *, read: Callable[[Any], int] | None = None) -> tuple[Counts, Mask]:
    """A batch of n integers as int64, and a mask of the valid ones.

    Numbers beyond int64 become its ends, and a float is valid if it is an
    integer. Values that are not in an array of numbers are read one by one, with
    `read` if given.
    """
    column = to_column(records)
    if column.dictionary is not None:
        return read_dictionary(column, read or parse_integer)
    values = values_of_kind(column)
    if not isinstance(values, np.ndarray):
        return read_each(values, read or parse_integer)
    valid = np.ones(values.shape, dtype=np.bool_) if column.missing is None else ~column.missing
    if values.dtype.kind != "f":
        return _int64(values), valid
    numbers = _float64(values)
    floors = floor_int64(numbers)
    return floors, valid & ((floors == numbers) | (np.abs(numbers) >= 2.0**63))


def read_dictionary(column: Column, read: Callable[[Any], int]) -> tuple[Counts, Mask]:
    """Integers of a column with a dictionary, and a mask of the valid ones. Each distinct value is read once."""
    numbers, valid = read_each(column.dictionary or [], read)
    return take(np.append(numbers, 0), column), take(np.append(valid, False), column)


def values_of_kind(
    records: Any, *, width: int = 1, kinds: str = "biuf", what: str = "numbers"
) -> NDArray[Any] | list[Any]:
    """Values of a column as an array of one of these NumPy kinds, or as a list to be read one by one."""
    column = to_column(records)
    _check_kind(column.dtype, kinds, what)
    values = column.values
    if width > 1 and column.declared is not None and column.declared.kind in kinds:
        _check_shape((len(column),), width)  # its type has single values, whether null made them a list or not
    if not isinstance(values, np.ndarray) or column.dictionary is not None:
        return column.to_list()
    if values.shape == (0,):
        return []
    _check_shape(values.shape, width)
    if values.dtype.kind not in kinds:
        return column.to_list()
    return values.reshape(-1) if width == 1 else values


def read_each(values: Sequence[Any], read: Callable[[Any], int]) -> tuple[Counts, Mask]:
    """Integers that `read` returns for each value, all above the smallest int64, and a mask of the valid ones."""
    numbers = np.fromiter((attempt(value, read, -INT64_MAX - 1) for value in values), dtype=np.int64)
    return numbers, numbers != -INT64_MAX - 1


def floor_int64(array: NDArray[Any]) -> Counts:
    """Each number of an array rounded down; numbers beyond int64 become its ends, and NaN the lower end."""
    if array.dtype.kind in "biu":
        return _int64(array)
    numbers = _float64(array)
    small = np.abs(numbers) < 2.0**63
    ends = np.where(numbers > 0, INT64_MAX, -INT64_MAX)
    return np.where(small, np.floor(np.where(small, numbers, 0)).astype(np.int64), ends)


def query_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers of a query, such as the arguments of a cdf; refuses values that are not numbers, and null."""
    if values.dtype.kind in "biuf":
        return values
    numbers = np.array([attempt(value, _number, math.nan) for value in values.tolist()], dtype=np.float64)
    if values.dtype.kind not in "OUST" or np.isnan(numbers).any():
        raise DomainError("expected numbers for a cdf, got other values")
    return numbers


def as_counts(counts: Any, *, records: int) -> Counts:
    """Number of occurrences of each record of a batch as int64; 0 for negative and invalid counts."""
    values, valid = as_integers(counts)
    if values.shape != (records,):
        raise RecordsError("expected one count for each record, got another number of counts")
    return np.where(valid, np.maximum(values, 0), 0)


def _check_kind(dtype: Any, kinds: str, what: str) -> None:
    if dtype is not None and dtype.kind not in f"{kinds}USTO":
        advice = _ADVICE.get(dtype.kind, "convert it first")
        if what == "texts":
            advice = "read it as text, such as read_csv(dtype=str)"
        raise RecordsError(f"expected {what}, got an array of {type_name(dtype)}; {advice}")


def type_name(dtype: Any) -> str:
    """Name of a type, without what records may decide: the length of text, and the fill value of sparse columns."""
    if hasattr(dtype, "fill_value"):
        return f"Sparse[{type_name(dtype.subtype)}]"
    return str(dtype.type.__name__ if dtype.kind in "SUV" else dtype)


def _check_shape(shape: tuple[int, ...], width: int) -> None:
    """Refuse another shape. The message names no length, since one may be the number of records."""
    if shape[1:] != (width,) and not (width == 1 and len(shape) == 1):
        expected = "(n,)" if width == 1 else f"(n, {width})"
        found = "other columns" if len(shape) == 2 else f"{len(shape)} dimensions"
        raise RecordsError(f"expected records of shape {expected}, got an array of {found}; give each record a row")


def _float64(array: NDArray[Any]) -> Floats:
    if array.dtype == np.float64:
        return array
    with np.errstate(all="ignore"):  # an overflow is out of bounds, and a warning could reveal a record
        return array.astype(np.float64, copy=False)


def _int64(array: NDArray[Any]) -> Counts:
    if array.dtype.kind == "u":
        array = np.minimum(array.astype(np.uint64), np.uint64(INT64_MAX))
    return array.astype(np.int64, copy=False)


_NO_NUMBERS = (np.ndarray, np.complexfloating, np.datetime64, np.timedelta64)
"""Types that NumPy would convert to a number, some with a warning."""

_NO_INTEGERS = (*_NO_NUMBERS, np.inexact, np.bool_)


def _number(value: Any) -> float:
    if isinstance(value, _NO_NUMBERS) or _has_underscore(value):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _has_underscore(value: Any) -> bool:
    """Whether a text has an underscore, which Python alone accepts between digits."""
    return "_" in value if isinstance(value, str) else isinstance(value, bytes) and b"_" in value


def _single_number(value: Any) -> float:
    return _number(single_value(value))


def single_value(value: Any) -> Any:
    """The value of a sequence of one value; any other value unchanged."""
    if isinstance(value, list | tuple | np.ndarray):
        (value,) = value
    return value


def is_uuid(value: Any) -> bool:
    """Whether a value is a UUID of the standard library, which stands for its text."""
    return type(value).__module__ == "uuid" and type(value).__name__ == "UUID"  # importing it takes long


def parse_integer(value: Any) -> int:
    """Integer of one value, clipped to int64; raises if it cannot be read."""
    value = single_value(value)
    if _has_underscore(value):
        raise ValueError
    if isinstance(value, str | bytes):
        try:
            value = int(value)
        except ValueError:
            value = float(value)
    elif isinstance(value, _NO_INTEGERS):
        value = _number(value)
    if value >= 2**63:
        return INT64_MAX
    if value <= -(2**63):
        return -INT64_MAX
    number = int(value)
    if number != value:
        raise ValueError
    return number

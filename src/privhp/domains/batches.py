"""Batches of values, read one value at a time.

Takes whatever a caller calls a batch and gives plain arrays. An array of
numbers or times has a type and a shape of its own, which are facts about the
batch; its values are converted together. In any other sequence, arrays of objects
included, one value could decide the type or shape of all, so there each value
is converted by itself: what cannot be read is lost alone and in silence. The
type and shape of an array may be refused, the value of a record never.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts, Floats
from privhp.errors import RecordsError

INT64_MAX = 2**63 - 1

LOST = object()
"""What keeps the place of a value that could not be read: no domain has a cell for it, and it is not null."""


def as_floats(records: Any) -> Floats:
    """A batch of n numbers as float64, NaN for what is not a number."""
    batch = _as_batch(records, columns=1)
    if isinstance(batch, np.ndarray):
        return _float64(batch)
    return np.fromiter((attempt(value, _single, np.nan) for value in batch), dtype=np.float64)


def as_rows(records: Any, *, columns: int) -> Floats:
    """A batch of n rows as float64 of shape (n, columns), NaN throughout for what is not such a row."""
    batch = _as_batch(records, columns=columns)
    if isinstance(batch, np.ndarray):
        return _float64(batch).reshape(-1, columns)
    nothing = (np.nan,) * columns

    def row(values: Any) -> tuple[float, ...]:
        parts = values if isinstance(values, list | tuple | np.ndarray) else (values,)
        numbers = tuple(_number(part) for part in parts)
        return numbers if len(numbers) == columns else nothing

    return np.array([attempt(values, row, nothing) for values in batch], dtype=np.float64).reshape(-1, columns)


def as_integers(records: Any, *, read: Callable[[Any], int] | None = None) -> tuple[Counts, NDArray[np.bool_]]:
    """A batch of n whole numbers as int64, and which of them could be read.

    Numbers beyond int64 become its ends; a float must be whole to be read. What
    is not an array of numbers is read value by value, in another way if given.
    """
    if isinstance(records, np.ma.MaskedArray) and records.dtype.kind in "iu" and records.ndim == 1:
        return _int64(np.ma.getdata(records)), ~np.ma.getmaskarray(records)
    batch = as_column(records)
    if not isinstance(batch, np.ndarray):
        return each(batch, read or whole)
    if batch.dtype.kind == "f":
        numbers = _float64(batch)
        values = floor_int64(numbers)
        return values, (values == numbers) | (np.abs(numbers) >= 2.0**63)
    return _int64(batch), np.ones(batch.shape, dtype=np.bool_)


def as_column(records: Any, *, kinds: str = "biuf", what: str = "numbers") -> NDArray[Any] | list[Any]:
    """A batch of n values as an array of one of these kinds, or as a list to be read value by value."""
    batch = _as_batch(records, columns=1, kinds=kinds, what=what)
    is_column = not isinstance(records, np.ndarray) and len(getattr(records, "shape", "n")) == 1
    if is_column and isinstance(batch, np.ndarray) and batch.dtype.kind == "f":
        # One missing value may have made floats of a whole column, which would round the others.
        return values_of(records)
    return batch


def each(values: Sequence[Any], read: Callable[[Any], int]) -> tuple[Counts, NDArray[np.bool_]]:
    """What is read of each value by itself, as int64 above its least, and which of them could be read."""
    numbers = np.fromiter((attempt(value, read, -INT64_MAX - 1) for value in values), dtype=np.int64)
    return numbers, numbers != -INT64_MAX - 1


def floor_int64(array: NDArray[Any]) -> Counts:
    """Each number of an array rounded down; those beyond int64 become its ends, NaN the lower one."""
    if array.dtype.kind in "biu":
        return _int64(array)
    numbers = _float64(array)
    small = np.abs(numbers) < 2.0**63
    ends = np.where(numbers > 0, INT64_MAX, -INT64_MAX)
    return np.where(small, np.floor(np.where(small, numbers, 0)).astype(np.int64), ends)


def as_counts(counts: Any, *, records: int) -> Counts:
    """How often each record of a batch occurs, as int64; a negative count, or what is no whole number, is none."""
    values, readable = as_integers(counts)
    if values.shape != (records,):
        raise RecordsError("expected as many counts as records, got another number of them")
    return np.where(readable, np.maximum(values, 0), 0)


def _as_batch(records: Any, *, columns: int, kinds: str = "biuf", what: str = "numbers") -> NDArray[Any] | list[Any]:
    """An array of the right kind and shape, or a list to be read value by value."""
    if not isinstance(records, np.ndarray):
        if isinstance(records, str | bytes | dict) or not hasattr(records, "__iter__"):
            raise RecordsError(f"expected a batch of records, got {type(records).__name__}; wrap one record in a list")
        if not hasattr(records, "__array__"):
            return list(records)
        if _has_dictionary(records):
            return values_of(records)
        column, records = records, as_array(records)
        if hasattr(column, "__getitem__") and records.ndim == 1:
            _check_kind(_type_of(column), kinds, what)
        if records.dtype.kind not in f"{kinds}O" and records.ndim == 1:
            # A missing value has made floats of whole numbers, which is no reason to refuse; or there is none, and
            # polars has made an array of texts that loses zeros at their ends, as it would not with a missing one.
            return values_of(column)
    if records.dtype.kind == "O" and records.ndim > 0:
        return values_in(records)  # whatever its shape: one row of another length would have changed it
    _check_kind(records.dtype, kinds, what)
    if records.shape == (0,):
        return []
    _check_shape(records.shape, columns)
    if isinstance(records, np.ma.MaskedArray) and records.dtype.kind == "M":
        records = records.filled(np.datetime64("NaT", "s"))
    if records.dtype.kind not in kinds or isinstance(records, np.ma.MaskedArray):
        return values_in(records)
    array: NDArray[Any] = np.asarray(records)
    return array.reshape(-1) if columns == 1 else array


def _type_of(column: Any) -> Any:
    """The type that a column declares. That of its values may be another if one of them is missing."""
    declared = getattr(column, "dtype", None)
    return declared if hasattr(declared, "kind") else as_array(column[:0]).dtype


def as_array(column: Any) -> NDArray[Any]:
    """A column of another library as an array, of objects if one of its values cannot be had, which is lost alone."""
    try:
        return np.asarray(column)
    except Exception:  # noqa: BLE001 - text that is not UTF-8 raises many things, some of which quote it
        return np.fromiter(values_of(column), dtype=object, count=len(column))


def values_of(column: Any) -> list[Any]:
    """The values of a column of another library, LOST in place of those that cannot be had."""
    try:
        return list(column.to_pylist() if hasattr(column, "to_pylist") else column)
    except Exception:  # noqa: BLE001 - a value may raise anything when read, and must be lost alone
        own = getattr(column, "iloc", column)
        return [attempt(place, lambda place: _as_python(own[place]), LOST) for place in range(len(column))]


def _as_python(value: Any) -> Any:
    return value.as_py() if hasattr(value, "as_py") else value


def _check_kind(dtype: Any, kinds: str, what: str) -> None:
    if dtype.kind not in f"{kinds}USTO":
        raise RecordsError(f"expected {what}, got an array of {type_name(dtype)}; convert it first")


def type_name(dtype: Any) -> str:
    """The name of a type; not with how long its texts are, which the longest one decides."""
    return str(dtype.type.__name__ if dtype.kind in "SUV" else dtype)


def _has_dictionary(records: Any) -> bool:
    """Whether it is an Arrow column with a dictionary: in chunks, NumPy would get its last value for a missing one."""
    return hasattr(getattr(records, "type", None), "index_type")


def values_in(array: NDArray[Any]) -> list[Any]:
    """The values of an array by themselves, None for one that is masked, LOST for a text of what are no characters."""
    try:
        values: list[Any] = array.tolist()
    except Exception:  # noqa: BLE001 - a text may raise many things, and must be lost alone
        return values_of(array)
    return values


def _check_shape(shape: tuple[int, ...], columns: int) -> None:
    """Refuse another shape, without telling any of its lengths: one may be the number of records."""
    if shape[1:] != (columns,) and not (columns == 1 and len(shape) == 1):
        expected = "(n,)" if columns == 1 else f"(n, {columns})"
        came = "other columns" if len(shape) == 2 else f"{len(shape)} dimensions"
        raise RecordsError(f"expected records of shape {expected}, got an array of {came}; give each record a row")


def _float64(array: NDArray[Any]) -> Floats:
    if array.dtype == np.float64:
        return array
    with np.errstate(all="ignore"):  # a long double may overflow; it is then out of bounds, without a word
        return array.astype(np.float64, copy=False)


def _int64(array: NDArray[Any]) -> Counts:
    if array.dtype.kind == "u":
        array = np.minimum(array.astype(np.uint64), np.uint64(INT64_MAX))
    return array.astype(np.int64, copy=False)


def attempt(value: Any, convert: Callable[[Any], Any], fallback: Any) -> Any:
    """A value converted by itself, or the fallback if that raises anything."""
    try:
        return convert(value)
    except Exception:  # noqa: BLE001 - a value may raise anything when read, and must be lost alone
        return fallback


_NO_NUMBERS = (np.ndarray, np.complexfloating, np.datetime64, np.timedelta64)
"""What NumPy would make a number of, for some of them with a warning."""

_NO_INTEGERS = (*_NO_NUMBERS, np.inexact, np.bool_)


def _number(value: Any) -> float:
    if isinstance(value, _NO_NUMBERS) or _underlined(value):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _underlined(value: Any) -> bool:
    """Whether a text has an underscore, which Python takes for a separator of digits and nobody else does."""
    return "_" in value if isinstance(value, str) else isinstance(value, bytes) and b"_" in value


def _single(value: Any) -> float:
    return _number(only(value))


def only(value: Any) -> Any:
    """The number in a row of one; anything else as it is."""
    if isinstance(value, list | tuple | np.ndarray):
        (value,) = value
    return value


def whole(value: Any) -> int:
    """A value by itself as a whole number within int64; raises if it is none."""
    value = only(value)
    if _underlined(value):
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

"""Columns: the representation of the values of a batch in domains, independent of their library or file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Values = NDArray[Any] | list[Any]
Indices = NDArray[np.intp]

_FAILED = object()


class Column:
    """Values of a batch, with masks of the null and invalid ones, and optionally a dictionary.

    NumPy functions accept a column as an array, with NaN, NaT or None for null
    and invalid values.

    Args:
        values: An array with one row for each record, or a list of Python values, in which None is null. With a
            dictionary, the index of each value in it.
        null: Mask of the null values, where the values do not show it.
        invalid: Mask of the values that cannot be read.
        dictionary: The distinct values.
        declared: Type of the column in its library, with a NumPy kind, if the type of the values may differ.
        zone: Time zone of the type of the column, as a name or a tzinfo; the values are UTC.
    """

    __slots__ = ("declared", "dictionary", "invalid", "null", "values", "zone")

    def __init__(
        self,
        values: Values,
        *,
        null: Mask | None = None,
        invalid: Mask | None = None,
        dictionary: list[Any] | None = None,
        declared: Any = None,
        zone: Any = None,
    ) -> None:
        self.values, self.null, self.invalid = values, null, invalid
        self.dictionary, self.declared, self.zone = dictionary, declared, zone

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: slice | Indices) -> Column:
        null = None if self.null is None else self.null[rows]
        invalid = None if self.invalid is None else self.invalid[rows]
        if isinstance(self.values, list) and isinstance(rows, np.ndarray):
            values: Values = [self.values[row] for row in rows.tolist()]
        else:
            values = self.values[rows]
        return Column(
            values, null=null, invalid=invalid, dictionary=self.dictionary, declared=self.declared, zone=self.zone
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array, missing = self.values, self.missing
        if not isinstance(array, np.ndarray) or self.dictionary is not None:
            return np.array(self.to_list(), dtype=dtype)
        if missing is not None:
            if array.dtype.kind == "M":
                array = np.where(missing, np.array("NaT", array.dtype), array)
            elif array.dtype.kind in "biuf":
                array = array.astype(np.result_type(array.dtype, np.float64))
                array[missing] = np.nan
            else:
                array = np.array(self.to_list(), dtype=object)
        return np.array(array, dtype=dtype, copy=copy)

    @property
    def dtype(self) -> Any:
        """Type of the column; None for a dictionary and for a list of values without a type."""
        if self.dictionary is not None:
            return None
        return self.values.dtype if self.declared is None and isinstance(self.values, np.ndarray) else self.declared

    @property
    def is_plain(self) -> bool:
        """Whether the values alone are the column: no mask, no dictionary and no other declared type."""
        return self.null is None and self.invalid is None and self.dictionary is None and self.declared is None

    @property
    def missing(self) -> Mask | None:
        """Mask of the values marked as null or invalid; None if there are none."""
        if self.null is None or self.invalid is None:
            return self.null if self.invalid is None else self.invalid
        return self.null | self.invalid

    def to_list(self) -> list[Any]:
        """Values as Python objects, with None for null and invalid ones."""
        if self.dictionary is not None:
            entries = np.empty(len(self.dictionary) + 1, dtype=object)
            entries[:-1] = self.dictionary
            return list(take(entries, self))
        values = self.values
        if isinstance(values, np.ndarray):
            values = array_values(values).values
        if self.missing is None:
            return list(values)
        return [None if is_missing else value for value, is_missing in zip(values, self.missing.tolist(), strict=True)]

    def is_null(self) -> Mask:
        """Mask of the null values: None, NaN, NaT, pandas.NA or masked; of points, those with all coordinates null."""
        if self.dictionary is not None:
            null = take(np.array([*map(is_null_value, self.dictionary), False]), self)
        elif isinstance(self.values, np.ndarray):
            null = _null_in(self.values)
        else:
            null = np.fromiter(map(is_null_value, self.values), dtype=np.bool_, count=len(self))
        if self.null is not None:
            null = null | self.null
        return null if self.invalid is None else null & ~self.invalid


def take(values: NDArray[Any], column: Column) -> NDArray[Any]:
    """Value at each index of a column with a dictionary; the last value for null, invalid and out-of-range indices."""
    indices = np.asarray(column.values, dtype=np.int64)
    if column.missing is not None:
        indices = np.where(column.missing, -1, indices)
    within = np.minimum(indices.view(np.uint64), np.uint64(values.size - 1))  # negative indices become large ones
    taken: NDArray[Any] = values.take(within.view(np.int64))
    return taken


def concatenate(columns: Sequence[Column]) -> Column:
    """Concatenation of columns of one type."""
    if len(columns) == 1:
        return columns[0]
    null, invalid = (
        _concatenate_masks([getattr(own, name) for own in columns], columns) for name in ("null", "invalid")
    )
    if all(own.dictionary is not None for own in columns):
        indices, start = [], 0
        for own in columns:
            size, local = len(own.dictionary or []), np.asarray(own.values, dtype=np.int64)
            indices.append(np.where((local >= 0) & (local < size), local + start, -1))
            start += size
        dictionary = [value for own in columns for value in own.dictionary or []]
        return Column(np.concatenate(indices), null=null, invalid=invalid, dictionary=dictionary)
    if all(isinstance(own.values, np.ndarray) for own in columns):
        arrays = [own.values for own in columns]
        return Column(np.concatenate(arrays), null=null, invalid=invalid, zone=columns[0].zone)
    values = [value for own in columns for value in own.values]
    return Column(values, null=null, invalid=invalid, declared=columns[0].dtype)


def _concatenate_masks(masks: Sequence[Mask | None], columns: Sequence[Column]) -> Mask | None:
    if all(mask is None for mask in masks):
        return None
    pairs = zip(masks, columns, strict=True)
    return np.concatenate([np.zeros(len(own), dtype=np.bool_) if mask is None else mask for mask, own in pairs])


def array_values(array: NDArray[Any]) -> Column:
    """Values of an array as Python objects; text with invalid characters is invalid."""
    try:
        return Column(array.tolist())
    except Exception:  # noqa: BLE001 - reading a value may raise anything; other values are unaffected
        return each_value(len(array), array.__getitem__)


def each_value(length: int, get: Callable[[int], Any], declared: Any = None) -> Column:
    """Column of the values that `get` returns for each row; invalid where it raises."""
    values = [attempt(row, get, _FAILED) for row in range(length)]
    invalid = np.array([value is _FAILED for value in values], dtype=np.bool_)
    return Column([None if value is _FAILED else value for value in values], invalid=invalid, declared=declared)


def _null_in(array: NDArray[Any]) -> Mask:
    if array.dtype.kind in "fc":
        null = np.isnan(array)
    elif array.dtype.kind in "mM":
        null = np.isnat(array)
    else:
        return np.zeros(len(array), dtype=np.bool_)
    every: Mask = null if null.ndim == 1 else null.all(axis=tuple(range(1, null.ndim)))
    return every


def is_null_value(value: Any) -> bool:
    """Whether one Python value is null; a sequence is null if all its values are."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    try:
        if isinstance(value, list | tuple | np.ndarray):
            return len(value) > 0 and all(map(is_null_value, value))
        differs = value != value
        return isinstance(differs, bool | np.bool_) and bool(differs)
    except Exception:  # noqa: BLE001 - a comparison may raise anything, and the value is not null then
        return False


def replace_records(column: Column, dtype: np.dtype[Any], read: Callable[[NDArray[Any]], Sequence[Any]]) -> Column:
    """A column of Python values with structured NumPy records of one type replaced by their values.

    Args:
        column: The column.
        dtype: Type of the records.
        read: Values of an array of such records.
    """
    rows = [row for row, value in enumerate(column.values) if issubclass(type(value), np.void) and value.dtype == dtype]
    if not rows:
        return column
    values = list(column.values)
    for row, value in zip(rows, read(np.array([values[row] for row in rows], dtype=dtype)), strict=True):
        values[row] = value
    return Column(values, null=column.null, invalid=column.invalid, declared=column.declared)


def attempt(value: Any, convert: Callable[[Any], Any], fallback: Any) -> Any:
    """The converted value, or the fallback if the conversion raises anything."""
    try:
        return convert(value)
    except Exception:  # noqa: BLE001 - reading a value may raise anything; other values are unaffected
        return fallback

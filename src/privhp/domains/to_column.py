"""Conversion of a batch of any library to a `Column`.

An array of numbers or times has a type independent of its values, so it stays
an array. In other sequences one value could change the type of all, so the
values stay Python objects that domains read one by one. A value that cannot be
read is invalid, without effect on others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains.column import Column, Mask, array_values, attempt, concatenate, each_value, take
from privhp.errors import RecordsError


def to_column(records: Any) -> Column:
    """Values of a batch of any library as a column."""
    if isinstance(records, Column):
        return records
    if isinstance(records, np.ndarray):
        return _from_array(records)
    if isinstance(records, list):
        return Column(single_batch(records))
    if isinstance(records, str | bytes | dict) or not hasattr(records, "__iter__"):
        raise RecordsError(f"expected a batch of records, got {type(records).__name__}; wrap one record in a list")
    if is_column(records):
        return _CONVERTERS.get(_library(records), _from_array_like)(records)
    return _from_array_like(records) if hasattr(records, "__array__") else Column(single_batch(list(records)))


def single_batch(records: list[Any]) -> list[Any]:
    """The records of a list; by its type, one that begins with a batch, or with a group and its name, is refused."""
    first = records[:1]
    for part in first[0] if first and type(first[0]) is tuple else first:
        kind = type(part)
        is_stream = hasattr(kind, "__arrow_c_stream__") and not is_column(part)
        if is_stream or (hasattr(kind, "iloc") and hasattr(kind, "columns")):
            raise RecordsError(
                "expected one batch of records, got several batches or groups; update with one after the other, and "
                "with the whole frame instead of its groups"
            )
    return records


def is_column(records: Any) -> bool:
    """Whether a batch is a single column of a data frame library, by its type: it may be a record that raises."""
    kind = type(records)
    if _library(records) == "pyarrow":
        return hasattr(kind, "type")  # tables and readers have none
    known = _library(records) != "" or hasattr(kind, "__arrow_c_stream__")
    return known and hasattr(kind, "dtype")


def _library(records: Any) -> str:
    """Data frame library that defines the type of a batch; empty for any other type."""
    roots = (base.__module__.partition(".")[0] for base in type(records).__mro__)
    return next((root for root in roots if root in _CONVERTERS), "")


def _from_array(array: NDArray[Any]) -> Column:
    if array.ndim == 0:
        raise RecordsError("expected records of shape (n,), got an array of 0 dimensions; give each record a row")
    if array.dtype.kind in "OT":
        return array_values(array)
    if not isinstance(array, np.ma.MaskedArray) or array.dtype.kind == "V":
        return Column(np.asarray(array))
    mask, others = np.ma.getmaskarray(array), tuple(range(1, array.ndim))
    some, every = np.asarray(mask.any(axis=others)), np.asarray(mask.all(axis=others))
    data: NDArray[Any] = np.ma.getdata(array)
    return Column(data, null=every, invalid=some & ~every if others else None)


def _from_array_like(records: Any) -> Column:
    """A column of any library that NumPy can convert."""
    declared = _declared_type(records)
    try:
        array = np.asarray(records)
    except Exception:  # noqa: BLE001 - invalid UTF-8 raises several types, some of which quote it
        return _as_objects(records, declared)
    if array.ndim != 1 or array.dtype.kind in "OT":
        column = _from_array(array)
        column.declared = declared if array.ndim == 1 else None
        return column
    changed = array.dtype.kind == "f" if declared is None else array.dtype.kind != declared.kind
    if changed or array.dtype.kind in "US":
        # A missing value may have changed the type, and arrays of text drop trailing zero bytes.
        return _as_objects(records, declared)
    return Column(array, declared=declared)


def _declared_type(records: Any) -> Any:
    """Declared NumPy type of a column; the type of its values may differ if one of them is missing."""
    declared = getattr(records, "dtype", None)
    if hasattr(declared, "kind"):
        return declared
    return attempt(records, lambda column: np.asarray(column[:0]).dtype, None)


def _as_objects(records: Any, declared: Any = None) -> Column:
    """Column of Python objects from a column of another library."""
    try:
        return Column(list(records.to_pylist() if hasattr(records, "to_pylist") else records), declared=declared)
    except Exception:  # noqa: BLE001 - reading a value may raise anything; other values are unaffected
        rows = getattr(records, "iloc", records)
        return each_value(len(records), lambda row: _python_value(rows[row]), declared)


def _python_value(value: Any) -> Any:
    return value.as_py() if hasattr(value, "as_py") else value


def _from_pandas(series: Any) -> Column:
    dtype = series.dtype
    if str(dtype).startswith("period"):
        raise RecordsError(f"expected single values, got {dtype}; convert the column with .dt.to_timestamp()")
    values = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    if str(values).startswith("interval"):  # such as those of pandas.cut
        raise RecordsError(f"expected single values, got {values}; convert the column with .astype(str)")
    if hasattr(dtype, "categories"):
        own = getattr(series, "cat", series)
        codes = np.asarray(own.codes).astype(np.int64)
        return _with_dictionary(Column(codes, null=codes < 0), _as_objects(own.categories))
    if hasattr(dtype, "tz"):  # the values are UTC
        return Column(np.asarray(series, dtype=f"M8[{dtype.unit}]"), zone=dtype.tz)
    return _from_array_like(series)


def _from_polars(series: Any) -> Column:
    has_numbers = series.dtype.is_integer() and _declared_type(series) is not None  # NumPy has none of 128 bits
    if has_numbers and series.null_count():
        return Column(np.asarray(series.fill_null(0)), null=np.asarray(series.is_null()))
    column = _from_array_like(series)
    column.zone = getattr(series.dtype, "time_zone", None)
    return column


def _from_arrow(array: Any) -> Column:
    pa = sys.modules["pyarrow"]
    if isinstance(array, pa.ChunkedArray):
        return concatenate([_from_arrow(chunk) for chunk in array.chunks or [pa.array([], array.type)]])
    kind = array.type
    if pa.types.is_boolean(kind):
        array, kind = array.cast("uint8"), pa.uint8()
    if pa.types.is_floating(kind):
        return Column(_arrow_numbers(array.fill_null(float("nan")) if array.null_count else array))
    if pa.types.is_integer(kind):
        return Column(_arrow_numbers(array.fill_null(0) if array.null_count else array), null=_arrow_null(array))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        unit = {"date32[day]": "D", "date64[ms]": "ms"}.get(str(kind)) or kind.unit
        steps = array.cast("int32" if unit == "D" else "int64").cast("int64")
        steps = steps.fill_null(0) if array.null_count else steps
        zone = getattr(kind, "tz", None)
        return Column(_arrow_numbers(steps).view(f"M8[{unit}]"), null=_arrow_null(array), zone=zone)
    if pa.types.is_dictionary(kind) and pa.types.is_timestamp(kind.value_type):
        return _decoded(_from_arrow(array.indices), _from_arrow(array.dictionary))
    if pa.types.is_dictionary(kind):
        return _with_dictionary(_from_arrow(array.indices), _from_arrow(array.dictionary))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _from_arrow_text(array)
    if is_list(kind) and pa.types.is_dictionary(kind.value_type):
        return _from_coded_lists(array)
    return _as_objects(array, _declared_type(array))


def _arrow_numbers(array: Any) -> NDArray[Any]:
    """NumPy array of an Arrow array without null. `to_numpy` would import pandas if installed."""
    return np.from_dlpack(array)


def _arrow_null(array: Any) -> Mask | None:
    return _arrow_numbers(array.is_null().cast("uint8")).view(np.bool_) if array.null_count else None


def _from_arrow_text(array: Any) -> Column:
    try:
        return Column(array.to_pylist())
    except UnicodeDecodeError:
        texts = array.cast(sys.modules["pyarrow"].binary()).to_pylist()
        return each_value(len(texts), lambda row: None if texts[row] is None else texts[row].decode())


def _with_dictionary(indices: Column, dictionary: Column) -> Column:
    invalid = None
    if dictionary.invalid is not None:
        coded = Column(indices.values, null=indices.null, dictionary=[])
        invalid = take(np.append(dictionary.invalid, False), coded)
    return Column(indices.values, null=indices.null, invalid=invalid, dictionary=dictionary.to_list())


def is_list(kind: Any) -> bool:
    """Whether a type of Arrow is one of lists."""
    types = sys.modules["pyarrow"].types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def list_type(kind: Any, element: Any) -> Any:
    """The type of Arrow's lists of another element, stored as those of a type."""
    pa = sys.modules["pyarrow"]
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(element, kind.list_size)
    return pa.large_list(element) if pa.types.is_large_list(kind) else pa.list_(element)


def _from_coded_lists(array: Any) -> Column:
    """Lists of values of a dictionary; one with an index that is out of range, which Arrow may read, is invalid."""
    rows = array.view(list_type(array.type, array.type.value_type.index_type)).to_pylist()
    entries = _from_arrow(array.values.dictionary)
    valid = np.ones(len(entries), dtype=np.bool_) if entries.invalid is None else ~entries.invalid
    values: dict[int | None, Any] = {index: value for index, value in enumerate(entries.to_list()) if valid[index]}
    values[None] = None
    return each_value(len(rows), lambda row: rows[row] if rows[row] is None else [values[code] for code in rows[row]])


def _decoded(indices: Column, dictionary: Column) -> Column:
    """Times of a dictionary as a column without one; an index that is out of range is invalid."""
    coded, times = Column(indices.values, null=indices.null, dictionary=[]), np.asarray(dictionary.values)
    known = take(np.append(np.ones(times.size, dtype=np.bool_), False), coded)
    null = take(np.append(dictionary.is_null(), False), coded)
    null = null if indices.null is None else null | indices.null
    values = take(np.append(times, np.zeros(1, dtype=times.dtype)), coded)
    return Column(values, null=null, invalid=~(known | null), zone=dictionary.zone)


_CONVERTERS: dict[str, Callable[[Any], Column]] = {
    "pandas": _from_pandas,
    "polars": _from_polars,
    "pyarrow": _from_arrow,
}

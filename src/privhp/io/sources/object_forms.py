"""Forms of data in memory, by the types of objects alone: frames, tables, columns, queries and lists of batches.

An element of a list may be a record. No attribute of it is read before its type
is known, since a record may compute its attributes, and raise.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from privhp.domains.column import Column, attempt
from privhp.domains.column_batch import ColumnBatch, holds_values
from privhp.domains.domain import Domain
from privhp.domains.to_column import is_column
from privhp.errors import RecordsError

_OVERLAPPING = ("BaseWindow", "Rolling", "Expanding", "Resampler")
"""Names of classes of windows over the rows of a frame or a series, of which several may hold one row."""


def is_frame(data: Any) -> bool:
    """Whether data is a pandas frame."""
    return hasattr(type(data), "iloc") and hasattr(type(data), "columns")


def is_lazy(data: Any) -> bool:
    """Whether data is a polars LazyFrame."""
    return type(data).__name__ == "LazyFrame" and hasattr(type(data), "collect")


def is_stream(data: Any) -> bool:
    """Whether data is an Arrow stream. A pandas frame is sliced instead, since conversion would copy all of it."""
    return hasattr(type(data), "__arrow_c_stream__") and not is_frame(data) and not is_column(data)


def is_table(data: Any) -> bool:
    """Whether all rows of data with columns are in memory: a data frame, an Arrow table or a dict of arrays."""
    return is_frame(data) or isinstance(data, Mapping) or (is_stream(data) and row_count(data) is not None)


def row_count(data: Any) -> int | None:
    """Number of rows of a frame, an array, a dict of arrays or an Arrow table; None for other data."""
    if is_frame(data):
        return len(data)
    if isinstance(data, np.ndarray):
        return len(data) if data.ndim else None
    if isinstance(data, Mapping):
        lengths = {row_count(column) if isinstance(column, np.ndarray) else None for column in data.values()}
        return lengths.pop() if len(lengths) == 1 else None
    rows = getattr(data, "height", getattr(data, "num_rows", None))  # of polars and of pyarrow
    return rows if isinstance(rows, int) else None


def holds_batches(data: Any) -> bool:
    """Whether data is an iterator of batches, or a list of batches or an iterable of unknown length.

    The list and the iterable yield the batches anew each time. The type of the first element decides about a list, and
    the others must be batches too. The types that it takes for batches are no types of records: a frame, a table, a
    query or an array of several dimensions is invalid in a list of records.
    """
    if is_stream(data):
        return False
    if isinstance(data, list | tuple):
        if not data or not (_is_batch(data[0]) or is_stream(data[0])):
            return False
        _check_list(data)
        return True
    return _is_iterable_alone(data)


def _is_iterable_alone(data: Any) -> bool:
    """Whether data is an iterator, or an iterable of unknown length."""
    return isinstance(data, Iterator) or (isinstance(data, Iterable) and not hasattr(data, "__len__"))


def _is_batch(data: Any) -> bool:
    """Whether an element of a list is a batch that can be read again, and no record, as a column or an array may be."""
    if issubclass(type(data), np.ndarray):  # isinstance would ask the object for its class
        return bool(data.ndim > (1 if data.dtype.names is None else 0))
    return is_frame(data) or is_lazy(data) or (is_stream(data) and hasattr(type(data), "__len__"))


def _check_list(data: Sequence[Any]) -> None:
    """Refuse a list of batches with an element that is none, or that stands in it twice."""
    for batch in data:
        if not _is_batch(batch):
            raise RecordsError(
                "the list begins with a batch, so each of its elements must be a frame, a table or an array of records "
                f"that can be read again, got {type(batch).__name__}"
            )
    if len(set(map(id, data))) < len(data):
        raise RecordsError("a batch is given twice, so its records would count twice; give each batch once")


def has_column_names(data: Any) -> bool:
    """Whether data has columns to select: a data frame, a dict, an Arrow stream, a query, or batches, which may."""
    if isinstance(data, list | tuple):
        return bool(data) and (is_frame(data[0]) or is_stream(data[0]) or is_lazy(data[0]))
    named = is_stream(data) or is_frame(data) or isinstance(data, Mapping) or is_lazy(data)
    return named or _is_iterable_alone(data)


def check_records(data: Any) -> None:
    """Refuse data that holds no records, or holds them several times."""
    if data is None or isinstance(data, int | float | bool):
        raise RecordsError(f"expected a path, records, a frame or an iterator of batches, got {type(data).__name__}")
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        raise _single_record()
    if type(data).__module__ in ("_csv", "csv") or _is_cursor(data):
        records = "list(...)" if hasattr(data, "fieldnames") else "list(map(tuple, ...))"
        raise RecordsError(
            f"expected batches of records, got single rows (of a {type(data).__name__}); pass the path of the file, a "
            f"data frame, or {records} of the rows"
        )
    if isinstance(data, list | tuple) and data and _is_series(data[0]):
        raise RecordsError(
            "expected records, got a list of series; join them with pandas.concat, or pass iter(...) of it"
        )
    _check_groups(data)
    if type(data).__module__.partition(".")[0] == "pyspark":
        raise RecordsError(
            "a Spark data frame may be computed anew with its rows in another order, and each pass must count each row "
            "once; use privhp.engines.spark.fit, which checks that"
        )


def check_batch(data: Any, domain: Domain) -> None:
    """Refuse a batch that is none by its type, such as a single record, whose values would be counted as records.

    An iterator over rows, such as that of `itertuples`, `iterrows` or `zip`, yields tuples or series. An iterator over
    objects of JSON yields dicts of single values.
    """
    _check_groups(data)
    is_row = len(domain.fields()) > 1 and _is_series(data) and not _is_nested(data.dtype)
    if is_row or not _may_be_batch(data):
        raise _single_record()


def _may_be_batch(data: Any) -> bool:
    """Whether an element of an iterator is of a type of batches."""
    kind = type(data)
    if issubclass(kind, Mapping):
        return bool(attempt(data, lambda own: own and all(map(holds_values, own.values())), False))
    if issubclass(kind, np.generic) or hasattr(kind, "as_py"):  # single values
        return False
    if issubclass(kind, list | range | Column | ColumnBatch) or is_frame(data) or is_lazy(data) or is_stream(data):
        return True
    return is_column(data) or (hasattr(kind, "__array__") and attempt(data, lambda own: own.ndim, 1) != 0)


def _is_cursor(data: Any) -> bool:
    """Whether data is a cursor of a database by Python's convention (PEP 249), which yields rows."""
    return hasattr(data, "fetchmany") and hasattr(data, "description") and not is_stream(data)


def _is_series(data: Any) -> bool:
    """Whether data is a pandas series."""
    return is_column(data) and hasattr(type(data), "iloc")


def _is_nested(dtype: Any) -> bool:
    """Whether the values of a pandas column are structs or lists by their type."""
    return str(dtype).startswith(("struct", "map", "list", "large_list", "fixed_size_list"))


def _single_record() -> RecordsError:
    """The error for a single record, of which it says nothing."""
    return RecordsError(
        "expected a batch of records, got a single one (or another object); pass the data frame itself, or list(...) "
        "of records"
    )


def _check_groups(data: Any) -> None:
    """Refuse the groups or windows of a frame, of which several may hold one row."""
    name = type(data).__name__
    if any(base.__name__ in _OVERLAPPING for base in type(data).__mro__):
        raise RecordsError(
            f"expected records, got windows over them ({name}), of which several may hold one record; pass the frame "
            "or the series itself"
        )
    if name.endswith("GroupBy"):
        raise RecordsError(
            f"expected records, got the groups of a frame ({name}); pass the frame, or the rows of one group"
        )

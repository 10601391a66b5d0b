"""Batches of records with several columns, independent of their library or file.

`to_batch` takes a dict of arrays, a data frame, an Arrow table, a structured
or plain array, or a sequence of records, and selects columns by name. It
imports no data frame library. Errors may concern names and lengths, never the
value of a record.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains.column import Column, Indices, Mask
from privhp.domains.comparisons import suggest
from privhp.domains.conversion import as_floats
from privhp.domains.fields import Field, check_longitude_first
from privhp.domains.to_column import is_column, single_batch, to_column
from privhp.domains.unread_data import collect
from privhp.errors import RecordsError

_OF_RECORDS = re.compile(r"object|struct|map|array|\w*list|extension", re.IGNORECASE)
"""Types of columns that may hold records, by the beginning of their names in pandas, polars and Arrow."""


class ColumnBatch:
    """Columns of equal length, from which blocks of rows and single rows can be taken.

    Args:
        columns: The columns, each as a `Column` or as anything that `to_column` takes.
        length: Number of rows.
        invalid: Mask of the rows that are not records.
    """

    def __init__(self, columns: Sequence[Any], *, length: int, invalid: Mask | None = None) -> None:
        self.columns, self.invalid = list(map(to_column, columns)), invalid
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, rows: slice | Indices) -> ColumnBatch:
        invalid = None if self.invalid is None else self.invalid[rows]
        length = len(range(*rows.indices(self._length))) if isinstance(rows, slice) else rows.size
        return ColumnBatch([column[rows] for column in self.columns], length=length, invalid=invalid)

    def to_column(self) -> Column:
        """The rows as one column: its values if there is one column, points if there are several."""
        column = self.columns[0] if len(self.columns) == 1 else stack_points(self.columns)
        if self.invalid is None:
            return column
        invalid = self.invalid if column.invalid is None else self.invalid | column.invalid
        column = column[:]
        column.invalid = invalid
        return column


def stack_points(columns: Sequence[Column]) -> Column:
    """Columns of numbers as one column of points; null where all coordinates are null."""
    coordinates = [as_floats(column) for column in columns]
    points = np.empty((len(columns[0]), len(columns)))
    for index, numbers in enumerate(coordinates):
        points[:, index] = numbers  # ten times as fast as np.stack
    missing = np.isnan(coordinates[0])
    if not missing.any():
        return Column(points)
    # NaN stands for null and for invalid coordinates, so the columns decide which points are null.
    null = np.logical_and.reduce([column.is_null() for column in columns])
    return Column(points, invalid=missing & ~null)


def to_batch(records: Any, names: Sequence[str]) -> ColumnBatch:
    """The named columns of a batch, in this order."""
    if isinstance(records, np.ndarray) and records.ndim and records.dtype.kind != "O":
        return _from_array(records, names)
    records = collect(records)
    known = _column_names(records)
    if known is not None:
        return _from_frame(records, known, names)
    if is_column(records):
        return _from_column(records, names)
    single = isinstance(records, str | bytes | np.generic) or getattr(records, "ndim", 1) == 0
    if single or not hasattr(records, "__iter__"):
        raise RecordsError(f"expected a batch of records with columns, got {type(records).__name__}")
    return _from_sequence(records, names)


def frame_columns(records: Any, names: Sequence[str] | None, list_fields: Callable[[], Sequence[Field]]) -> Any:
    """The columns of a data frame or a query that make a record of a domain without columns; other batches unchanged.

    Args:
        records: The batch.
        names: Names of the columns; None if the frame has no others.
        list_fields: Returns the values of a record.
    """
    if isinstance(records, np.ndarray | Mapping | ColumnBatch):
        return records
    frame = collect(records)
    known = _column_names(frame)
    if known is None:
        return frame
    fields = list_fields()
    if names is None and len(known) != len(fields):
        hint = describe_columns(known, "", levels=index_levels(frame))
        raise RecordsError(f"{describe_width('a table', len(fields))}frame[{['NAME'] * len(fields)}]; {hint}")
    check_longitude_first(names or list(map(str, known)), fields)
    return to_batch(frame, names or known)


def describe_width(where: str, size: int) -> str:
    """Begin of a message on a table with another number of columns, to be continued with the way to select them."""
    return (
        f"expected {where} of {size} column{'s' * (size > 1)}, as many as the domain takes, got more or fewer; select "
        "columns with "
    )


def _from_array(array: NDArray[Any], names: Sequence[str]) -> ColumnBatch:
    """Columns of a structured array by name, of a plain array by position."""
    if array.dtype.names is not None and array.ndim == 1:
        _check_names(array.dtype.names, names)
        return ColumnBatch([array[name] for name in names], length=len(array))
    if array.shape == (0,):
        return ColumnBatch([array] * len(names), length=0)
    if array.ndim == 1 and len(names) == 1:
        return ColumnBatch([array], length=len(array))
    if array.ndim != 2 or array.shape[1] != len(names):
        found = "other columns" if array.ndim == 2 else f"{array.ndim} dimensions"
        raise RecordsError(
            f"expected an array of shape (n, {len(names)}) with the columns {', '.join(names)}, got one of {found}"
        )
    return ColumnBatch(list(array.T), length=len(array))


def _from_column(column: Any, names: Sequence[str]) -> ColumnBatch:
    """A column of records, read one by one; one whose type has single values is the column of a table that has one."""
    if _OF_RECORDS.match(str(getattr(column, "dtype", None) or column.type)):
        return _from_sequence(to_column(column).to_list(), names)
    if len(names) > 1:
        raise RecordsError(
            f"expected records with the columns {', '.join(names)}, got a single column of a type without columns; "
            "pass a data frame or a dict of arrays"
        )
    return ColumnBatch([column], length=len(column))


def _column_names(records: Any) -> list[Any] | None:
    """Names of the columns of a mapping or a data frame; None for anything else."""
    if isinstance(records, Mapping):
        return list(records)
    for attribute in ("column_names", "columns"):
        found: Any = getattr(records, attribute, None)
        if hasattr(records, "__getitem__") and hasattr(found, "__iter__"):
            return list(found)
    return None


def _from_frame(frame: Any, known: Sequence[Any], names: Sequence[str]) -> ColumnBatch:
    _check_names(known, names, levels=index_levels(frame))
    columns = [_named_column(name, frame[name]) for name in names]
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise RecordsError(f"the columns {', '.join(names)} differ in length; pass columns of equal length")
    return ColumnBatch(columns, length=lengths.pop())


def holds_values(values: Any) -> bool:
    """Whether an entry of a dict holds the values of a column, as an array or a list does, and no single one."""
    single = isinstance(values, str | bytes | Mapping | np.generic) or getattr(values, "ndim", 1) == 0
    return not single and hasattr(values, "__getitem__")


def _named_column(name: str, values: Any) -> Column:
    """The values of a column; errors name it."""
    if not holds_values(values):
        raise RecordsError(f"column {name!r}: expected an array, a list or a series, got {type(values).__name__}")
    try:
        return to_column(values)
    except RecordsError as error:
        raise RecordsError(f"column {name!r}: {error}") from None


def _check_names(known: Sequence[Any], names: Sequence[str], *, levels: Sequence[Any] = ()) -> None:
    for name in names:
        if list(known).count(name) != 1:
            found = "it twice" if name in known else "none of that name"
            hint = describe_columns(known, name, levels=levels)
            raise RecordsError(f"expected a column {name!r} in the batch, got {found}; {hint}")


def describe_columns(known: Sequence[Any], asked: str, *, levels: Sequence[Any] = ()) -> str:
    """End of a message on a column that data in memory lacks: its columns, and how to get the one asked for.

    Args:
        known: Names of the columns.
        asked: Name of the column asked for.
        levels: Names of the levels of the index of a pandas frame, None for one without a name.
    """
    if asked in levels and asked not in known:
        return f"{asked!r} is in the index of the frame; make it a column with reset_index()"
    listed = f"its columns are {reprlib.repr(list(known))}"
    if levels and not all(isinstance(name, str) for name in known):
        convert = 'map("_".join)' if all(isinstance(name, tuple) for name in known) else "astype(str)"
        return f"{listed}, which are not text; convert them with df.columns = df.columns.{convert}"
    near = "" if asked in known else suggest(asked, map(str, known))
    return f"{listed}{near}"


def index_levels(frame: Any) -> list[Any]:
    """Names of the levels of the index of a pandas frame; none for other data."""
    return list(getattr(getattr(frame, "index", None), "names", ()))


def _from_sequence(records: Any, names: Sequence[str]) -> ColumnBatch:
    """Columns of a sequence of records: mappings and named tuples by name, sequences by position.

    Other objects are not records, and neither are named tuples of other names that are not as many.
    """
    rows = [_values(record, names) for record in single_batch(list(records))]
    invalid = np.fromiter((row is None for row in rows), dtype=np.bool_, count=len(rows))
    nothing = (None,) * len(names)
    columns = [[(row or nothing)[index] for row in rows] for index in range(len(names))]
    return ColumnBatch(columns, length=len(rows), invalid=invalid)


def _values(record: Any, names: Sequence[str]) -> tuple[Any, ...] | None:
    try:
        if isinstance(record, Mapping) or (isinstance(record, np.void) and record.dtype.names):
            return tuple([record[name] for name in names])
        if set(names) <= set(getattr(record, "_fields", ())):
            return tuple([getattr(record, name) for name in names])
        if isinstance(record, list | tuple | np.ndarray) and len(record) == len(names):
            return None if getattr(record, "ndim", 1) > 1 else tuple(record)  # rows of an array are several records
    except Exception:  # noqa: BLE001 - reading a record may raise anything; other records are unaffected
        return None
    return None

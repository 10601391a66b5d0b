"""Batches of records with named columns, whoever made them.

Takes a dict of arrays, a data frame, an Arrow table, a structured or a plain
array, or a sequence of records, and gives its columns as they are. It imports
no data frame library: a frame is what has named columns that it gives by name.
Names and lengths are facts about the batch and may be refused, the value of a
record never.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains.batches import values_of
from privhp.errors import RecordsError


class Rows:
    """The columns of a batch side by side, which can be cut into blocks of rows."""

    def __init__(self, columns: Sequence[Any], *, length: int, readable: NDArray[np.bool_] | None = None) -> None:
        """Columns of one length; rows that are not readable are no records."""
        self.columns, self.readable = list(columns), readable
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> "Rows":
        readable = None if self.readable is None else self.readable[part]
        length = len(range(*part.indices(self._length)))
        return Rows([_cut(column, part) for column in self.columns], length=length, readable=readable)


def read_rows(records: Any, names: Sequence[str]) -> Rows:
    """The named columns of a batch, in this order."""
    if isinstance(records, np.ndarray) and records.ndim and records.dtype.kind != "O":
        return _rows_of_array(records, names)
    known = _columns_of(records)
    if known is not None:
        return _rows_of_frame(records, known, names)
    if is_column(records):
        return _rows_of_sequence(values_of(records), names)
    if hasattr(records, "__arrow_c_stream__"):
        return _rows_of_frame(table := _arrow_table(records), table.column_names, names)
    single = isinstance(records, str | bytes | np.generic) or getattr(records, "ndim", 1) == 0
    if single or not hasattr(records, "__iter__"):
        raise RecordsError(f"expected a batch of records with columns, got {type(records).__name__}")
    return _rows_of_sequence(records, names)


def is_column(records: Any) -> bool:
    """Whether it is one column of another library, whose values are records.

    Arrow would make a table of it, of which one value could decide the columns and types, or that it is refused.
    """
    return hasattr(records, "__arrow_c_stream__") and (hasattr(records, "dtype") or hasattr(records, "chunks"))


def _cut(column: Any, part: slice) -> Any:
    return column.iloc[part] if hasattr(column, "iloc") else column[part]


def _rows_of_array(array: NDArray[Any], names: Sequence[str]) -> Rows:
    """A structured array by names, a plain one by the order of its columns."""
    if array.dtype.names is not None and array.ndim == 1:
        _check_names(array.dtype.names, names)
        return Rows([array[name] for name in names], length=len(array))
    if array.shape == (0,):
        return Rows([array] * len(names), length=0)
    if array.ndim == 1 and len(names) == 1:
        return Rows([array], length=len(array))
    if array.ndim != 2 or array.shape[1] != len(names):
        came = "other columns" if array.ndim == 2 else f"{array.ndim} dimensions"
        raise RecordsError(
            f"expected an array of shape (n, {len(names)}), its columns being {', '.join(names)}, got one of {came}"
        )
    return Rows(list(array.T), length=len(array))


def _columns_of(records: Any) -> list[Any] | None:
    """Names of the columns of a mapping or a data frame; None for anything else."""
    if isinstance(records, Mapping):
        return list(records)
    for attribute in ("column_names", "columns"):
        found: Any = getattr(records, attribute, None)
        if hasattr(records, "__getitem__") and hasattr(found, "__iter__"):
            return list(found)
    return None


def _rows_of_frame(frame: Any, known: Sequence[Any], names: Sequence[str]) -> Rows:
    _check_names(known, names)
    columns = [frame[name] for name in names]
    for name, column in zip(names, columns, strict=True):
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__getitem__"):
            raise RecordsError(f"column {name!r}: expected an array, a list or a series, got {type(column).__name__}")
    lengths = {len(column) for column in columns}
    if len(lengths) != 1:
        raise RecordsError(f"expected columns of one length, got others among {', '.join(names)}")
    return Rows(columns, length=lengths.pop())


def _check_names(known: Sequence[Any], names: Sequence[str]) -> None:
    for name in names:
        if list(known).count(name) != 1:
            found = "it twice" if name in known else "none of that name"
            raise RecordsError(f"expected a column {name!r} in the batch, got {found}; names are matched by case")


def _arrow_table(records: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise RecordsError(
            f"expected pyarrow to be installed, to read a {type(records).__name__} as Arrow; or give a dict of arrays"
        ) from None
    return pa.table(records)


def _rows_of_sequence(records: Any, names: Sequence[str]) -> Rows:
    """Records one by one: mappings by name, sequences in the order of the columns. Anything else is no record."""
    rows = [_values(record, names) for record in records]
    readable = np.fromiter((row is not None for row in rows), dtype=np.bool_, count=len(rows))
    nothing = (None,) * len(names)
    columns = [[(row or nothing)[place] for row in rows] for place in range(len(names))]
    return Rows(columns, length=len(rows), readable=readable)


def _values(record: Any, names: Sequence[str]) -> tuple[Any, ...] | None:
    try:
        if isinstance(record, Mapping) or (isinstance(record, np.void) and record.dtype.names):
            return tuple([record[name] for name in names])
        if isinstance(record, list | tuple | np.ndarray) and len(record) == len(names):
            return tuple(record)
    except Exception:  # noqa: BLE001 - a record may raise anything when read, and must be lost alone
        return None
    return None

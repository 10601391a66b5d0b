"""Reader of NumPy's .npy files."""

import io
from collections.abc import Iterator
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from privhp.domains.column import Column, Indices
from privhp.domains.conversion import type_name
from privhp.domains.domain import ValueKind
from privhp.errors import FileError
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection

MAX_BATCH = 2**24
"""Bytes of a batch; of a single row if that has more."""
MAX_COLUMNS = 2**16
MAX_HEADER = 2**14

_HEADERS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}
"""Function that reads the header of each version; version 3 is for names, which arrays of numbers do not have."""


class _Header(NamedTuple):
    """Shape (rows, columns) and type of an array, its order, and where its values begin."""

    rows: int
    columns: int
    dtype: np.dtype[Any]
    by_column: bool
    start: int


class NpyReader:
    """Reader of an array of numbers, in batches of rows.

    All records have the type of the array, so integers in an array of integers
    stay exact. Pickled objects are refused.

    Args:
        name: Name of the file.
        file: The open file.
        selection: The columns that make a record, by number, for an array of shape (n, d); by default all.
    """

    def __init__(self, name: str, file: OpenFile, selection: Selection) -> None:
        self._file, self._selection = file, selection
        self._header = header = _read_header(file)
        self._indices = selection.indices_by_number()
        if selection.columns is None and header.columns != len(self._indices):
            raise FileError(
                f"expected an array with {len(selection.fields)} numbers per record, got another shape; "
                "select columns by number with columns=['1', ...]"
            )
        if max(self._indices) >= header.columns:
            raise FileError(f"expected an array with at least {max(self._indices) + 1} columns, got fewer")
        for index, field in zip(self._indices, selection.fields, strict=False):
            kind: ValueKind = "numbers" if header.dtype.kind == "f" else "integers"
            selection.check_type(field, str(index + 1), kind, str(header.dtype))

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        total, row_size = self._header.rows, self._header.columns * self._header.dtype.itemsize
        rows = max(1, min(self._selection.rows, MAX_BATCH // row_size))
        for first in range(start, total, rows):
            end = min(first + rows, total)
            columns = self._read_columns(first, end) if self._header.by_column else self._read_rows(first, end)
            yield FileBatch(_ArrayRows(columns, self._selection), end, end / total)

    def _read_rows(self, first: int, end: int) -> list[NDArray[Any]]:
        width = self._header.columns
        array = self._read(first * width, (end - first) * width).reshape(-1, width)
        return [array[:, index] for index in self._indices]

    def _read_columns(self, first: int, end: int) -> list[NDArray[Any]]:
        return [self._read(index * self._header.rows + first, end - first) for index in self._indices]

    def _read(self, place: int, count: int) -> NDArray[Any]:
        """Values from a place in the array on."""
        dtype = self._header.dtype
        found = self._file.read_at(self._header.start + place * dtype.itemsize, count * dtype.itemsize)
        return np.frombuffer(found, dtype=dtype)

    def close(self) -> None:
        """Do nothing: the reader has opened nothing."""


class _ArrayRows:
    """Rows of an array: the columns that make a record, and that of persons last, if there is one."""

    def __init__(self, columns: list[NDArray[Any]], selection: Selection) -> None:
        self._columns, self._selection = columns, selection

    def __len__(self) -> int:
        return len(self._columns[0])

    def records(self, taken: Indices | None = None) -> Any:
        own = self._columns[: len(self._selection.fields)]
        columns = own if taken is None else [column[taken] for column in own]
        return self._selection.to_batch(columns, len(columns[0]))

    def persons(self) -> Column:
        return Column(self._columns[-1])


def _read_header(file: OpenFile) -> _Header:
    beginning = io.BytesIO(file.read(MAX_HEADER))
    try:
        shape, by_column, dtype = _HEADERS[npy_format.read_magic(beginning)](beginning)
    except (
        KeyError,
        ValueError,
        SyntaxError,
        TypeError,
        EOFError,
        TokenError,
        RecursionError,
        MemoryError,
        OverflowError,
    ):
        raise FileError(
            "expected a .npy file of plain numbers, got one that is damaged, pickled or in another format; "
            "write it with numpy.save"
        ) from None
    if dtype.kind not in "biuf":
        raise FileError(f"expected a .npy file of numbers, got one of {type_name(dtype)}; convert it first")
    if len(shape) not in (1, 2):
        raise FileError(f"expected a .npy file of shape (n,) or (n, d), got {len(shape)} dimensions; reshape it first")
    rows, columns = (*shape, 1)[:2]
    if not 0 <= columns <= MAX_COLUMNS or rows < 0:
        raise FileError(f"expected a .npy file of at most {MAX_COLUMNS} columns, got another shape; reshape it first")
    start = beginning.tell()
    if start + rows * columns * dtype.itemsize != file.seek(0, 2):
        raise FileError(
            "expected a .npy file as long as its header declares, got one that is truncated or holds something "
            "after the array; write it with numpy.save"
        )
    return _Header(rows, columns, dtype, by_column, start)

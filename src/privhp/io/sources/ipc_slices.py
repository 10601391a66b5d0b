"""Rows of the record batches of an Arrow file, in bounded memory whatever the size of a batch."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from privhp.core.cells import Counts
from privhp.io.optional import import_pyarrow
from privhp.io.sources.arrow import even_rows, rows_within
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.ipc_messages import BatchLayout, Extent, check_size


class _Place(NamedTuple):
    """A selected column, with its type and its buffers."""

    kind: Any
    buffers: list[Extent]


class BatchSlices:
    """Slices of a record batch whose columns are stored plainly.

    Args:
        file: The open file.
        layout: Places of the batch.
        types: Types of all columns of the file.
        indices: Indices of the selected columns.
    """

    def __init__(self, file: OpenFile, layout: BatchLayout, types: Sequence[Any], indices: Sequence[int]) -> None:
        self._file, self._layout = file, layout
        places = list(_places(layout, types))
        self._columns = [places[index] for index in indices]

    @property
    def possible(self) -> bool:
        """Whether rows can be read apart: not if they are compressed, nested or stored by reference."""
        return not self._layout.compressed and all(map(_is_plain, [column.kind for column in self._columns]))

    def check_size(self) -> None:
        """Refuse a batch that can only be read as a whole and is too large for that."""
        buffers = [buffer for column in self._columns for buffer in column.buffers]
        check_size(self._layout.size_of(buffers, self._file.read_at))

    def slices(self, start: int, rows: int) -> Iterator[tuple[list[Any], int]]:
        """Columns of the rows from a row on, and the row after them; at most this many rows at a time."""
        rows = even_rows(self._layout.rows - start, rows)
        while start < self._layout.rows:
            end = min(start + rows, self._layout.rows)
            end = min([end, *(self._last_within(column, start, end) for column in self._columns)])
            yield [self._read(column, start, end) for column in self._columns], end
            start = end

    def _last_within(self, column: _Place, start: int, end: int) -> int:
        """The end, or an earlier one up to which the texts of a column are short enough together."""
        if not _is_text(column.kind):
            return end
        return start + rows_within(self._offsets(column, start, end))

    def _read(self, column: _Place, start: int, end: int) -> Any:
        """Values of some rows. The slice begins at a full byte of the bits that mark null values."""
        pa, kind, first = import_pyarrow("Arrow"), column.kind, start // 8 * 8
        rows = end - first
        valid = self._bits(column.buffers[0], first, rows) if column.buffers[0].size else None
        if _is_text(kind):
            offsets = self._offsets(column, first, end)
            data = column.buffers[2].read(self._file, int(offsets[0]), int(offsets[-1] - offsets[0]))
            values = [pa.py_buffer(offsets - offsets[0]), pa.py_buffer(data)]
        elif kind.bit_width == 1:
            values = [self._bits(column.buffers[1], first, rows)]
        else:
            width = kind.bit_width // 8
            values = [pa.py_buffer(column.buffers[1].read(self._file, first * width, rows * width))]
        return pa.Array.from_buffers(kind, rows, [valid, *values]).slice(start - first)

    def _bits(self, buffer: Extent, first: int, rows: int) -> Any:
        return import_pyarrow("Arrow").py_buffer(buffer.read(self._file, first // 8, (rows + 7) // 8))

    def _offsets(self, column: _Place, start: int, end: int) -> Counts:
        types = import_pyarrow("Arrow").types
        large = types.is_large_string(column.kind) or types.is_large_binary(column.kind)
        dtype = np.dtype("<i8" if large else "<i4")
        text = column.buffers[1].read(self._file, start * dtype.itemsize, (end - start + 1) * dtype.itemsize)
        return np.frombuffer(text, dtype=dtype)


def _places(layout: BatchLayout, types: Sequence[Any]) -> Iterator[_Place]:
    buffers, views = iter(layout.buffers), iter(layout.view_buffers)
    for kind in types:
        yield _Place(kind, [next(buffers, Extent(0, 0)) for _ in range(_count_buffers(kind, views))])


def _count_buffers(kind: Any, views: Iterator[int]) -> int:
    """Number of buffers of a type in a file."""
    types = import_pyarrow("Arrow").types
    kind = getattr(kind, "storage_type", kind)
    if types.is_null(kind) or types.is_run_end_encoded(kind):
        own = 0
    elif types.is_union(kind):
        own = kind.num_buffers - 1
    elif types.is_string_view(kind) or types.is_binary_view(kind):
        own = 2 + next(views, 0)
    else:
        own = kind.num_buffers
    return own + sum(_count_buffers(kind.field(index).type, views) for index in range(kind.num_fields))


def _is_plain(kind: Any) -> bool:
    types = import_pyarrow("Arrow").types
    return _is_text(kind) or types.is_primitive(kind) or types.is_decimal(kind) or types.is_fixed_size_binary(kind)


def _is_text(kind: Any) -> bool:
    """Whether values of a type have offsets into a buffer of bytes."""
    types = import_pyarrow("Arrow").types
    is_text = types.is_string(kind) or types.is_large_string(kind)
    return bool(is_text or types.is_binary(kind) or types.is_large_binary(kind))

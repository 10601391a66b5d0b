"""Reader of Arrow files and Arrow streams."""

from collections.abc import Iterator
from typing import Any

from privhp.io.sources.arrow import ArrowRows, arrow_errors, schema_columns, select_columns, validate
from privhp.io.sources.byte_streams import ByteStream
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.ipc_messages import MAGIC, read_blocks, read_layout
from privhp.io.sources.ipc_slices import BatchSlices, even_rows
from privhp.io.sources.optional import import_pyarrow
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection


class IpcReader:
    """Reader of an Arrow IPC file or stream.

    Args:
        name: Name of the file.
        file: The open file.
        selection: The columns that make a record.
    """

    def __init__(self, name: str, file: OpenFile, selection: Selection) -> None:
        self._ipc, self._file, self._selection = import_pyarrow("Arrow", "ipc"), file, selection
        self._bytes = ByteStream(name, file)
        self._is_file = self._bytes.file is file and file.seekable() and file.read(len(MAGIC)) == MAGIC
        try:
            self._blocks = read_blocks(file) if self._is_file else []
            if file.seekable():
                file.seek(0)
            with arrow_errors("Arrow"):
                self._reader = (self._ipc.open_file if self._is_file else self._ipc.open_stream)(self._bytes.file)
                schema = self._reader.schema
            self._names = select_columns(schema, selection, "file")
        except BaseException:
            self.close()
            raise
        self._types = [kind for _, kind in schema_columns(schema)]
        self._indices = [schema.get_field_index(name) for name in self._names]

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        with arrow_errors("Arrow"):
            for columns, row, share in self._file_slices(start) if self._is_file else self._stream_slices(start):
                batch = import_pyarrow("Arrow").RecordBatch.from_arrays(columns, names=self._names)
                validate(batch)
                yield FileBatch(ArrowRows(batch, self._names, self._selection), row, share)

    def _stream_slices(self, start: int) -> Iterator[tuple[list[Any], int, float | None]]:
        row = 0
        for batch in self._reader:
            for columns, end in self._cut(batch, start - row):
                yield columns, row + end, self._bytes.share()
            row += len(batch)

    def _file_slices(self, start: int) -> Iterator[tuple[list[Any], int, float | None]]:
        row, count = 0, len(self._blocks)
        for index, block in enumerate(self._blocks):
            layout = read_layout(self._file, block)
            batch = BatchSlices(self._file, layout, self._types, self._indices)
            first = max(start - row, 0)
            if first < layout.rows:
                for columns, end in self._slices(batch, index, first):
                    yield columns, row + end, (index + end / layout.rows) / count
            row += layout.rows

    def _slices(self, batch: BatchSlices, index: int, first: int) -> Iterator[tuple[list[Any], int]]:
        if batch.possible:
            return batch.slices(first, self._selection.rows)
        batch.check_size()
        options = self._ipc.IpcReadOptions(included_fields=self._indices)
        return self._cut(self._ipc.open_file(self._file, options=options).get_batch(index), first)

    def _cut(self, batch: Any, first: int) -> Iterator[tuple[list[Any], int]]:
        """Slices of the selected columns of a whole batch."""
        batch = batch.select(self._names)
        rows = max(even_rows(len(batch), self._selection.rows), 1)
        for start in range(max(first, 0), len(batch), rows):
            part = batch.slice(start, rows)
            yield part.columns, start + len(part)

    def close(self) -> None:
        """Close the decompressor."""
        self._bytes.close()

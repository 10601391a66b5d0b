"""Reader of Arrow files and Arrow streams."""

from collections.abc import Iterator
from typing import Any

from privhp.io.optional import import_pyarrow
from privhp.io.sources.arrow import ArrowRows, arrow_errors, schema_columns, select_columns, short_slices, validate
from privhp.io.sources.byte_streams import ByteStream
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.ipc_messages import MAGIC, Block, check_size, read_footer, read_layout
from privhp.io.sources.ipc_slices import BatchSlices
from privhp.io.sources.ipc_streams import MessageStream
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
            self._blocks = self._read_blocks() if self._is_file else []
            if file.seekable():
                file.seek(0)
            with arrow_errors("Arrow"):
                self._reader = self._open()
                schema = self._reader.schema
            self._names = select_columns(schema, selection, "file")
        except BaseException:
            self.close()
            raise
        self._types = [kind for _, kind in schema_columns(schema)]
        self._read_names = list(dict.fromkeys(self._names))
        self._indices = [schema.get_field_index(name) for name in self._read_names]

    def _read_blocks(self) -> list[Block]:
        """Record batches of a file, after a check of its dictionaries, which Arrow reads at once."""
        footer = read_footer(self._file)
        for block in footer.dictionaries:
            layout = read_layout(self._file, block)
            check_size(layout.size_of(layout.buffers, self._file.read_at))
        return footer.batches

    def _open(self) -> Any:
        if self._is_file:
            return self._ipc.open_file(self._file)
        return self._ipc.open_stream(MessageStream(self._bytes.file))

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        with arrow_errors("Arrow"):
            for columns, row, share in self._file_slices(start) if self._is_file else self._stream_slices(start):
                batch = import_pyarrow("Arrow").RecordBatch.from_arrays(columns, names=self._read_names)
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
        for part, end in short_slices(batch.select(self._read_names), max(first, 0), self._selection.rows):
            yield part.columns, end

    def close(self) -> None:
        """Close the decompressor."""
        self._bytes.close()

"""Readers of Parquet files, Arrow files and Arrow streams, and Arrow batches as columns of domains.

Only the selected columns are read. Numbers and times become NumPy arrays,
without a copy if no value is null. A null value never changes the type of a
column.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from privhp.domains.column import Column, Indices
from privhp.domains.domain import ValueKind
from privhp.domains.fields import Field, FieldKind
from privhp.domains.to_column import to_column
from privhp.errors import FileError
from privhp.io.sources.byte_streams import STANDARD_INPUT, ByteStream
from privhp.io.sources.optional import import_pyarrow
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection

_BUFFER = 2**20  # bytes of a column per read; the writer of the file chose the size of column chunks


class ParquetReader:
    """Reader of the selected columns of a Parquet file, in batches of rows.

    Args:
        name: The file.
        selection: The columns that make a record.
    """

    def __init__(self, name: str, selection: Selection) -> None:
        if name == STANDARD_INPUT:
            raise FileError(
                "Parquet is read from the end of a file and cannot come from a pipe; write it to a file first"
            )
        self._name, self._selection = name, selection
        self._file = self._open([])
        schema = self._file.schema_arrow
        self._names = select_columns(schema, selection, "file")
        dictionaries = [column for column in self._names if hasattr(schema.field(column).type, "index_type")]
        if dictionaries:  # otherwise Arrow encodes them again, and one value that is not UTF-8 fails the batch
            self._file.close()
            self._file = self._open(dictionaries)

    def _open(self, dictionaries: list[str]) -> Any:
        parquet = import_pyarrow("Parquet", "parquet")
        with arrow_errors("Parquet"), column_name_errors():
            return parquet.ParquetFile(self._name, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=dictionaries)

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        metadata = self._file.metadata
        ends = np.cumsum([metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)], dtype=int)
        first = int(np.searchsorted(ends, start, side="right"))
        row = int(ends[first - 1]) if first else 0
        with arrow_errors("Parquet"):
            for batch in self._file.iter_batches(
                self._selection.rows,
                row_groups=list(range(first, metadata.num_row_groups)),
                columns=self._names,
                use_threads=False,
            ):
                begin, row = row, row + len(batch)
                if row > start:
                    rows = ArrowRows(batch.slice(max(start - begin, 0)), self._names, self._selection)
                    yield FileBatch(rows, row, row / metadata.num_rows)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class IpcReader:
    """Reader of an Arrow IPC file or stream.

    Args:
        name: The file, or "-" for a stream from standard input.
        selection: The columns that make a record.
    """

    MAGIC = b"ARROW1"

    def __init__(self, name: str, selection: Selection) -> None:
        self._ipc, self._selection = import_pyarrow("Arrow", "ipc"), selection
        self._bytes = ByteStream(name)
        self._map: mmap.mmap | None = None
        try:
            with arrow_errors("Arrow"):
                self._reader = self._open()
                schema = self._reader.schema
            self._names = select_columns(schema, selection, "file")
        except BaseException:
            self.close()
            raise

    def _open(self) -> Any:
        file = self._bytes.file
        if self._bytes.share() is None:
            return self._ipc.open_stream(file)
        is_file = file.read(len(self.MAGIC)) == self.MAGIC
        file.seek(0)
        if not is_file:
            return self._ipc.open_stream(file)
        self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._ipc.open_file(import_pyarrow("Arrow").BufferReader(self._map))

    def _batches(self) -> Iterator[tuple[Any, float | None]]:
        if self._map is None:
            for batch in self._reader:
                yield batch, self._bytes.share()
            return
        count = self._reader.num_record_batches
        for index in range(count):
            yield self._reader.get_batch(index), (index + 1) / count

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        row = 0
        with arrow_errors("Arrow"):
            for batch, share in self._batches():
                batch = batch.select(self._names)
                _validate(batch)
                for first in range(max(start - row, 0), len(batch), self._selection.rows):
                    part = batch.slice(first, self._selection.rows)
                    yield FileBatch(ArrowRows(part, self._names, self._selection), row + first + len(part), share)
                    self._release_pages()
                row += len(batch)

    def _release_pages(self) -> None:
        """Return the pages of the memory map to the system; until then they count as memory of the process."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Close the file."""
        self._bytes.close()


@contextmanager
def arrow_errors(kind: str) -> Iterator[None]:
    """Replace errors of Arrow, which may quote values, by an error that the file is damaged."""
    pa = import_pyarrow(kind)
    try:
        yield
    except FileError:
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileError(
            f"expected a complete {kind} file, got one that is damaged, truncated or in another format"
        ) from None


def select_columns(schema: Any, selection: Selection, what: str, *, in_memory: bool = False) -> list[str]:
    """Names of the columns that make a record, after a check of their types against the domain."""
    where = f"{'a' if selection.names is None else 'the'} {what}"
    columns = schema_columns(schema)
    names = [name for name, _ in columns]
    indices = selection.indices_by_name(
        names, where=where, hint=_hint(names, selection.names or []), in_memory=in_memory
    )
    for index, field in zip(indices, selection.fields, strict=True):
        kind = _value_type(columns[index][1])
        if not import_pyarrow("Arrow").types.is_null(kind):  # a column of type null holds only null
            selection.check_type(field, names[index], _value_kind(kind), str(kind).partition("<")[0])
    return [names[index] for index in indices]


def schema_columns(schema: Any) -> list[tuple[str, Any]]:
    """Names and types of all columns of a schema."""
    with column_name_errors():
        return [(field.name, field.type) for field in schema]


@contextmanager
def column_name_errors() -> Iterator[None]:
    """Refuse column names that are not UTF-8. Only schemas are read inside this context."""
    try:
        yield
    except UnicodeDecodeError:
        raise FileError("a column name of the file is not valid UTF-8; write the file again with other names") from None


def _hint(known: list[str], asked: list[str]) -> str:
    """Suggestion for an unknown name. Names of a schema are public, unlike the first line of a text."""
    from difflib import get_close_matches  # only needed for an error

    near = [name for column in asked if column not in known for name in get_close_matches(column, known, n=1)]
    return f"did you mean {near[0]}?" if near else "names are matched by case"


def _value_type(kind: Any) -> Any:
    """Type of the values of a dictionary or extension type; any other type unchanged."""
    if import_pyarrow("Arrow").types.is_dictionary(kind):
        return kind.value_type
    return getattr(kind, "storage_type", kind)


def _value_kind(kind: Any) -> ValueKind | None:
    """Kind of the values of a type; None if no built-in domain reads it."""
    types = import_pyarrow("Arrow").types
    if types.is_integer(kind) or types.is_boolean(kind):
        return "integers"
    if types.is_floating(kind):
        return "numbers"
    if types.is_decimal(kind):
        return "decimals"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "times"
    if _is_text(kind):
        return "text"
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return "lists of text" if listed and _is_text(_value_type(kind.value_type)) else None


def _is_text(kind: Any) -> bool:
    """Whether a type holds text or bytes."""
    types = import_pyarrow("Arrow").types
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(is_text or is_bytes or types.is_fixed_size_binary(kind))


class ArrowRows:
    """Rows of an Arrow batch.

    Args:
        batch: The batch.
        names: Names of the columns that make a record.
        selection: The columns that make a record.
    """

    def __init__(self, batch: Any, names: list[str], selection: Selection) -> None:
        self._batch, self._names, self._selection = batch, names, selection

    def __len__(self) -> int:
        return len(self._batch)

    def records(self, taken: Indices | None = None) -> Any:
        """Records of the rows taken, by default of all."""
        fields = zip(self._names, self._selection.fields, strict=True)
        with arrow_errors("Arrow"):
            columns = [_column(self._batch.column(name), field, taken) for name, field in fields]
        return self._selection.to_batch(columns, len(self) if taken is None else taken.size)


def _validate(batch: Any) -> None:
    """Refuse a batch with inconsistent buffers, which Arrow would otherwise read out of bounds."""
    for column in batch.columns:
        _text_as_bytes(column).validate(full=True)


def _column(array: Any, field: Field, taken: Indices | None = None) -> Column:
    pa = import_pyarrow("Arrow")
    types = pa.types
    if taken is not None and types.is_primitive(array.type):  # NumPy is ten times as fast as Arrow
        return _column(array, field)[taken]
    if taken is not None:
        try:
            array = array.take(taken)
        except pa.ArrowNotImplementedError:  # views
            return _column(array, field)[taken]
    if types.is_decimal(array.type) and field.kind is FieldKind.REAL:
        array = array.cast("float64")
    if field.kind is not FieldKind.TEXT:
        array = _text_as_bytes(array)
    if field.repeats and types.is_binary(array.type):
        array = array.dictionary_encode()
    return to_column(array)


def _text_as_bytes(array: Any) -> Any:
    """Text as bytes, which domains decode one by one: in Arrow one value that is not UTF-8 fails the batch."""
    pa = import_pyarrow("Arrow")
    types = pa.types
    if types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _text_as_bytes(array.dictionary))
    if types.is_large_string(array.type):
        return array.cast(pa.large_binary())
    return array.cast(pa.binary()) if types.is_string(array.type) or types.is_string_view(array.type) else array

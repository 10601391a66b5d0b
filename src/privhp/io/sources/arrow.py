"""Batches of Arrow, from Parquet, IPC files and streams, as columns that domains read.

Only the columns that make a record are read. What has numbers or times becomes
a NumPy array, without a copy where nothing is null; a null is a value that is
missing, and never changes the type of the others.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from privhp.domains.column import Column
from privhp.domains.domain import ValueKind
from privhp.domains.fields import Field, FieldKind
from privhp.domains.to_column import to_column
from privhp.errors import FileError
from privhp.io.sources.byte_streams import STANDARD_INPUT, ByteStream
from privhp.io.sources.optional import arrow
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection

_BUFFER = 2**20  # read of a column at once; whole chunks would be as large as whoever wrote the file chose


class ParquetReader:
    """A Parquet file, its wanted columns read some rows at a time.

    Args:
        name: The file.
        selection: Which columns make a record.
    """

    def __init__(self, name: str, selection: Selection) -> None:
        if name == STANDARD_INPUT:
            raise FileError("expected a Parquet file, which is read from its end, got a pipe; write it to a file first")
        self._name, self._selection = name, selection
        self._file = self._open([])
        schema = self._file.schema_arrow
        self._names = names_of(schema, selection, "file")
        coded = [column for column in self._names if hasattr(schema.field(column).type, "index_type")]
        if coded:  # Arrow would code their values again, and refuse all for one that is not UTF-8
            self._file.close()
            self._file = self._open(coded)

    def _open(self, coded: list[str]) -> Any:
        parquet = arrow("Parquet", "parquet")
        with whole("Parquet"), names_in_text():
            return parquet.ParquetFile(self._name, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=coded)

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Some rows at a time; places are rows."""
        metadata = self._file.metadata
        ends = np.cumsum([metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)], dtype=int)
        first = int(np.searchsorted(ends, start, side="right"))
        row = int(ends[first - 1]) if first else 0
        with whole("Parquet"):
            for batch in self._file.iter_batches(
                self._selection.rows,
                row_groups=list(range(first, metadata.num_row_groups)),
                columns=self._names,
                use_threads=False,
            ):
                begin, row = row, row + len(batch)
                if row > start:
                    records = records_of(batch.slice(max(start - begin, 0)), self._names, self._selection)
                    yield FileBatch(records, row, row / metadata.num_rows)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class IpcReader:
    """A file or a stream of Arrow's own format.

    Args:
        name: The file, or "-" for a stream from standard input.
        selection: Which columns make a record.
    """

    MAGIC = b"ARROW1"

    def __init__(self, name: str, selection: Selection) -> None:
        self._ipc, self._selection = arrow("Arrow", "ipc"), selection
        self._bytes = ByteStream(name)
        self._map: mmap.mmap | None = None
        try:
            with whole("Arrow"):
                self._reader = self._open()
                schema = self._reader.schema
            self._names = names_of(schema, selection, "file")
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
        return self._ipc.open_file(arrow("Arrow").BufferReader(self._map))

    def _batches(self) -> Iterator[tuple[Any, float | None]]:
        if self._map is None:
            for batch in self._reader:
                yield batch, self._bytes.share()
            return
        count = self._reader.num_record_batches
        for place in range(count):
            yield self._reader.get_batch(place), (place + 1) / count

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Some rows at a time; places are rows."""
        row = 0
        with whole("Arrow"):
            for batch, share in self._batches():
                batch = batch.select(self._names)
                _check(batch)
                for first in range(max(start - row, 0), len(batch), self._selection.rows):
                    part = batch.slice(first, self._selection.rows)
                    yield FileBatch(records_of(part, self._names, self._selection), row + first + len(part), share)
                    self._forget()
                row += len(batch)

    def _forget(self) -> None:
        """Let the system have back what was read of a map, which counts as memory of this process until then."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Let go of the file."""
        self._bytes.close()


@contextmanager
def whole(kind: str) -> Iterator[None]:
    """Say of a file that it is damaged, whatever Arrow says, which may quote it."""
    pa = arrow(kind)
    try:
        yield
    except FileError:
        raise
    except (pa.ArrowException, OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileError(
            f"expected a whole {kind} file, got one that is damaged, was cut short or is of another kind"
        ) from None


def names_of(schema: Any, selection: Selection, what: str) -> list[str]:
    """Names of the columns that make a record, whose types must be such that a domain can read them."""
    where = f"{'a' if selection.asked is None else 'the'} {what}"
    known = columns_of(schema)
    names = [name for name, _ in known]
    places = selection.named(names, where=where, hint=_hint(names, selection.asked or []))
    for place, field in zip(places, selection.fields, strict=True):
        kind = _plain(known[place][1])
        if not arrow("Arrow").types.is_null(kind):  # all of it is missing, whatever was meant
            selection.check(field, names[place], _holding(kind), str(kind).partition("<")[0])
    return [names[place] for place in places]


def columns_of(schema: Any) -> list[tuple[str, Any]]:
    """Names and types of all columns."""
    with names_in_text():
        return [(field.name, field.type) for field in schema]


@contextmanager
def names_in_text() -> Iterator[None]:
    """Refuse names of columns that are no text. No value is read in here."""
    try:
        yield
    except UnicodeDecodeError:
        raise FileError(
            "expected names of columns in UTF-8, got one that is not; write the file again with other names"
        ) from None


def _hint(known: list[str], asked: list[str]) -> str:
    """What a name was meant to be. Those of a schema may be quoted: unlike a first line of text they are no record."""
    from difflib import get_close_matches  # only who is wrong needs it

    near = [name for column in asked if column not in known for name in get_close_matches(column, known, n=1)]
    return f"did you mean {near[0]}?" if near else "names are matched by case"


def _plain(kind: Any) -> Any:
    """A type without what only says how its values are stored."""
    if arrow("Arrow").types.is_dictionary(kind):
        return kind.value_type
    return getattr(kind, "storage_type", kind)


def _holding(kind: Any) -> ValueKind | None:
    """What a column of a type holds; None for what no domain of ours reads."""
    types = arrow("Arrow").types
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
    return "lists of text" if listed and _is_text(_plain(kind.value_type)) else None


def _is_text(kind: Any) -> bool:
    """Whether it is text, or bytes that may be."""
    types = arrow("Arrow").types
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(is_text or is_bytes or types.is_fixed_size_binary(kind))


def records_of(batch: Any, names: list[str], selection: Selection) -> Any:
    """The records of a batch of Arrow."""
    columns = [_column(batch.column(name), field) for name, field in zip(names, selection.fields, strict=True)]
    return selection.pack(columns, len(batch))


def _check(batch: Any) -> None:
    """Refuse a batch whose parts do not fit each other, which Arrow would follow out of its memory."""
    for column in batch.columns:
        _without_encoding(column).validate(full=True)


def _column(array: Any, field: Field) -> Column:
    types = arrow("Arrow").types
    if types.is_decimal(array.type) and field.kind is FieldKind.REAL:
        array = array.cast("float64")
    if field.kind is not FieldKind.TEXT:
        array = _without_encoding(array)
    if field.repeats and types.is_binary(array.type):
        array = array.dictionary_encode()
    return to_column(array)


def _without_encoding(array: Any) -> Any:
    """Text as bytes, which domains decode one by one: Arrow would refuse all for one that is not UTF-8."""
    pa = arrow("Arrow")
    types = pa.types
    if types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, _without_encoding(array.dictionary))
    if types.is_large_string(array.type):
        return array.cast(pa.large_binary())
    return array.cast(pa.binary()) if types.is_string(array.type) or types.is_string_view(array.type) else array

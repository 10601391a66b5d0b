"""Arrow batches as columns of domains, and checks of their types.

Numbers and times become NumPy arrays,
without a copy if no value is null. A null value never changes the type of a
column.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains.column import Column, Indices
from privhp.domains.domain import ValueKind
from privhp.domains.fields import Field, FieldKind
from privhp.domains.to_column import is_list, list_type, to_column
from privhp.errors import FileError
from privhp.io.optional import import_pyarrow
from privhp.io.sources.selection import Selection

MAX_TEXT = 2**21
"""Bytes of the texts of a column in a slice, unless it has a single row."""
MAX_WHOLE = 2**29
"""Bytes of what the writer of a file decides to be read as a whole."""


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
    """Names of the columns that make a record, after a check of their types against the domain.

    The name of the column of persons is the last one, if there is one.
    """
    where = f"{'a' if selection.names is None else 'the'} {what}"
    columns = schema_columns(schema)
    names = [name for name, _ in columns]
    indices = selection.indices_by_name(
        names, where=where, hint=_hint(names, selection.names or []), in_memory=in_memory
    )
    for index, field in zip(indices, selection.fields, strict=False):
        kind = value_type(columns[index][1])
        if not import_pyarrow("Arrow").types.is_null(kind):  # a column of type null holds only null
            selection.check_type(
                field, names[index], value_kind(kind), str(kind).partition("<")[0], in_memory=in_memory
            )
    for index in indices[len(selection.fields) :]:
        kind = columns[index][1]
        selection.check_person(names[index], value_kind(value_type(kind)), str(kind), in_memory=in_memory)
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


def value_type(kind: Any) -> Any:
    """Type of the values of a dictionary or extension type; any other type unchanged."""
    if import_pyarrow("Arrow").types.is_dictionary(kind):
        return kind.value_type
    return getattr(kind, "storage_type", kind)


def value_kind(kind: Any) -> ValueKind | None:
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
    if is_text(kind):
        return "text"
    return "lists of text" if is_list(kind) and is_text(value_type(kind.value_type)) else None


def is_text(kind: Any) -> bool:
    """Whether a type holds text or bytes."""
    types = import_pyarrow("Arrow").types
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
    return bool(is_text or is_bytes or types.is_fixed_size_binary(kind))


def text_offsets(array: Any) -> NDArray[Any] | None:
    """Offsets of the values of an array of text or bytes in its buffer; None for other types, and for views."""
    types, kind = import_pyarrow("Arrow").types, array.type
    large = types.is_large_string(kind) or types.is_large_binary(kind)
    if not (large or types.is_string(kind) or types.is_binary(kind)) or not len(array):
        return None
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int64 if large else np.int32)
    return offsets[array.offset : array.offset + len(array) + 1]


def rows_within(offsets: NDArray[Any]) -> int:
    """Number of values, from the first one on, that have at most MAX_TEXT bytes together; at least one."""
    return max(1, int(np.searchsorted(offsets, offsets[0] + MAX_TEXT, side="right")) - 1)


def short_slices(batch: Any, start: int, rows: int) -> Iterator[tuple[Any, int]]:
    """Slices of a batch from a row on, with few rows and few bytes of text, and the row after each slice."""
    rows = max(1, even_rows(len(batch) - start, rows))
    while start < len(batch):
        part = batch.slice(start, rows)
        offsets = [own for own in map(text_offsets, part.columns) if own is not None]
        part = part.slice(0, min([len(part), *map(rows_within, offsets)]))
        start += len(part)
        yield part, start


def even_rows(total: int, most: int) -> int:
    """Number of rows of slices of nearly equal size, none above the most."""
    return -(-total // max(1, -(-total // most)))


class ArrowRows:
    """Rows of an Arrow batch.

    Args:
        batch: The batch.
        names: Names of the columns that make a record, and of that of persons.
        selection: The columns that make a record.
    """

    def __init__(self, batch: Any, names: list[str], selection: Selection) -> None:
        self._batch, self._names, self._selection = batch, names, selection

    def __len__(self) -> int:
        return len(self._batch)

    def records(self, taken: Indices | None = None) -> Any:
        """Records of the rows taken, by default of all."""
        fields = zip(self._names, self._selection.fields, strict=False)
        with arrow_errors("Arrow"):
            columns = [_column(self._batch.column(name), field, taken) for name, field in fields]
        return self._selection.to_batch(columns, len(self) if taken is None else taken.size)

    def persons(self) -> Column:
        """Id of the person of each row; texts by a dictionary, since most repeat."""
        with arrow_errors("Arrow"):
            array, types = _text_as_bytes(self._batch.column(self._names[-1])), import_pyarrow("Arrow").types
            if types.is_binary(array.type) or types.is_large_binary(array.type):
                array = array.dictionary_encode()
            return to_column(array)


def validate(batch: Any) -> None:
    """Refuse a batch with inconsistent buffers, which Arrow would otherwise read out of bounds.

    No value decides: one that is not of its type, such as text that is not UTF-8, skips its own record later. An
    exception are structs, maps and unions, which no built-in domain reads.
    """
    for column in batch.columns:
        _validate_buffers(column)


def _validate_buffers(array: Any) -> None:
    array.validate()  # sizes of buffers, which a view relies on
    array.view(_storage_type(array.type)).validate(full=True)
    values = array.values if is_list(array.type) else array
    if import_pyarrow("Arrow").types.is_dictionary(values.type):
        _validate_buffers(values.dictionary)


def _storage_type(kind: Any) -> Any:
    """Type with the same buffers in which every value is valid, so that only the buffers can be refused."""
    pa = import_pyarrow("Arrow")
    types = pa.types
    if types.is_dictionary(kind):
        return kind.index_type
    if is_list(kind):
        return list_type(kind, _storage_type(kind.value_type))
    if types.is_decimal(kind):
        return pa.binary(kind.byte_width)
    if types.is_date64(kind) or types.is_time(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    texts = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return texts.get(kind, getattr(kind, "storage_type", kind))


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
        # An index that is out of range is invalid by itself.
        return pa.DictionaryArray.from_arrays(array.indices, _text_as_bytes(array.dictionary), safe=False)
    if types.is_large_string(array.type):
        return array.cast(pa.large_binary())
    return array.cast(pa.binary()) if types.is_string(array.type) or types.is_string_view(array.type) else array

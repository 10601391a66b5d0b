"""Names and types of the columns of a file, and nothing else of it: no value, and no statistics of values."""

import codecs
from typing import Any, NamedTuple

from privhp.errors import FileError
from privhp.sources.bytes_of import Bytes, whole_if_packed
from privhp.sources.extra import arrow
from privhp.sources.fields import split
from privhp.sources.files import format_of
from privhp.sources.foreign import check_text
from privhp.sources.lines import Lines


class Column(NamedTuple):
    """A column as the schema has it.

    Args:
        name: Its name.
        type: Its type in Arrow; None in text, which has names alone.
    """

    name: str
    type: Any


def read_schema(name: str) -> list[Column]:
    """The columns of a Parquet or Arrow file, or of CSV text with a header."""
    kind = format_of(name)
    if kind == "ndjson":
        raise FileError(
            "expected a file with a schema, got lines of JSON, whose names stand in the records themselves; "
            "write the domain file by hand, with a section [columns.NAME] for each name you know of"
        )
    if kind == "npy":
        raise FileError("expected a file with names of columns, got an array, which has none; use --domain instead")
    if kind == "csv":
        return [Column(column, None) for column in _header(name)]
    schema = _parquet_schema(name) if kind == "parquet" else _arrow_schema(name)
    return [Column(field.name, field.type) for field in schema]


def _parquet_schema(name: str) -> Any:
    parquet, pa = arrow("Parquet", "parquet"), arrow("Parquet")
    try:
        with open(name, "rb") as file:
            return parquet.read_schema(file)
    except pa.ArrowException:
        raise FileError("expected a Parquet file, got one that is damaged or something else") from None


def _arrow_schema(name: str) -> Any:
    ipc, pa = arrow("Arrow", "ipc"), arrow("Arrow")
    with open(name, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        try:
            return (ipc.open_file if is_file else ipc.open_stream)(file).schema
        except pa.ArrowException:
            raise FileError("expected an Arrow file, got one that is damaged or something else") from None


def _header(name: str) -> list[str]:
    """The names in the first line of a text, unless it looks like a record. No message quotes it."""
    file = Bytes(name)
    try:
        with whole_if_packed(name):
            header = Lines(file.file).header() or b""
    finally:
        file.close()
    check_text(header)
    try:
        names = [field.decode().strip() for field in split(header.removeprefix(codecs.BOM_UTF8).rstrip(b"\r"))]
    except ValueError:
        names = []
    if not names or not all(names) or len(set(names)) < len(names) or any(map(_is_number, names)):
        raise FileError(
            "expected a first line that names each column once, got an empty one, or one that looks like a record; "
            "write the domain file by hand, and use --no-header with column numbers"
        )
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Names and types of the columns of a file, and nothing else of it: no value, and no statistics of values."""

import codecs
from datetime import datetime
from ipaddress import ip_address
from typing import Any, NamedTuple

from privhp.errors import FileError
from privhp.io.sources.arrow import columns_of, names_in_text, whole
from privhp.io.sources.byte_streams import ByteStream, whole_if_packed
from privhp.io.sources.csv_fields import split
from privhp.io.sources.files import format_of
from privhp.io.sources.magic import check_text
from privhp.io.sources.optional import arrow
from privhp.io.sources.text_lines import LineReader


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
        raise FileError("an array has no column names, so there is no schema to read; write the domain file by hand")
    if kind == "csv":
        return [Column(column, None) for column in _header(name)]
    schema = _parquet_schema(name) if kind == "parquet" else _arrow_schema(name)
    return [Column(*column) for column in columns_of(schema)]


def _parquet_schema(name: str) -> Any:
    parquet = arrow("Parquet", "parquet")
    with open(name, "rb") as file, whole("Parquet"), names_in_text():
        return parquet.read_schema(file)


def _arrow_schema(name: str) -> Any:
    ipc = arrow("Arrow", "ipc")
    with open(name, "rb") as file, whole("Arrow"):
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return (ipc.open_file if is_file else ipc.open_stream)(file).schema


def _header(name: str) -> list[str]:
    """The names in the first line of a text, unless it looks like a record. No message quotes it."""
    file = ByteStream(name)
    try:
        with whole_if_packed(name):
            header = LineReader(file.file).header() or b""
    finally:
        file.close()
    check_text(header)
    try:
        names = [field.decode().strip() for field in split(header.removeprefix(codecs.BOM_UTF8).rstrip(b"\r"))]
    except ValueError:
        names = []
    if not names or not all(names) or len(set(names)) < len(names) or any(map(_is_value, names)):
        raise FileError(
            "expected a first line that names each column once, got an empty one, or one that looks like a record; "
            "write the domain file by hand, and use header=False with column numbers"
        )
    return names


def _is_value(text: str) -> bool:
    """Whether it is no name: a number, a time, or without any letter, like dates, addresses and amounts of money."""
    if not any(map(str.isalpha, text)):
        return True
    for read in (float, datetime.fromisoformat, ip_address):
        try:
            read(text)
        except ValueError:
            continue
        return True
    return False

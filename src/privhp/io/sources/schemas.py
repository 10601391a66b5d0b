"""Names and types of the columns of a file, read without any value or statistics of values."""

import codecs
from datetime import datetime
from ipaddress import ip_address
from typing import Any, NamedTuple

from privhp.errors import FileError
from privhp.io.sources.arrow import arrow_errors, column_name_errors, schema_columns
from privhp.io.sources.byte_streams import ByteStream, decompression_errors
from privhp.io.sources.csv_fields import split_line
from privhp.io.sources.files import format_of
from privhp.io.sources.optional import import_pyarrow
from privhp.io.sources.text_lines import LineReader, check_is_text


class SchemaColumn(NamedTuple):
    """A column of a schema.

    Args:
        name: Name of the column.
        type: Arrow type; None for CSV, which has names only.
    """

    name: str
    type: Any


def read_schema(name: str) -> list[SchemaColumn]:
    """Columns of a Parquet or Arrow file, or of CSV with a header."""
    kind = format_of(name)
    if kind == "ndjson":
        raise FileError(
            "NDJSON has no schema, since its column names are parts of the records; "
            "write the domain file by hand, with a section [columns.NAME] for each column"
        )
    if kind == "npy":
        raise FileError("an array has no column names, so there is no schema to read; write the domain file by hand")
    if kind == "csv":
        return [SchemaColumn(column, None) for column in _header(name)]
    schema = _parquet_schema(name) if kind == "parquet" else _arrow_schema(name)
    return [SchemaColumn(*column) for column in schema_columns(schema)]


def _parquet_schema(name: str) -> Any:
    parquet = import_pyarrow("Parquet", "parquet")
    with open(name, "rb") as file, arrow_errors("Parquet"), column_name_errors():
        return parquet.read_schema(file)


def _arrow_schema(name: str) -> Any:
    ipc = import_pyarrow("Arrow", "ipc")
    with open(name, "rb") as file, arrow_errors("Arrow"):
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return (ipc.open_file if is_file else ipc.open_stream)(file).schema


def _header(name: str) -> list[str]:
    """Column names in the first line of a text. A line that looks like a record is refused and never quoted."""
    file = ByteStream(name)
    try:
        with decompression_errors(name):
            header = LineReader(file.file).header() or b""
    finally:
        file.close()
    check_is_text(header)
    try:
        names = [field.decode().strip() for field in split_line(header.removeprefix(codecs.BOM_UTF8).rstrip(b"\r"))]
    except ValueError:
        names = []
    if not names or not all(names) or len(set(names)) < len(names) or any(map(_is_value, names)):
        raise FileError(
            "expected a first line that names each column once, got an empty line or one that looks like a record; "
            "write the domain file by hand, and use header=False with column numbers"
        )
    return names


def _is_value(text: str) -> bool:
    """Whether a text is a value and not a name: a number, a time, an address, or any text without letters."""
    if not any(map(str.isalpha, text)):
        return True
    for read in (float, datetime.fromisoformat, ip_address):
        try:
            read(text)
        except ValueError:
            continue
        return True
    return False

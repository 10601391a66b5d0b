"""Names and types of the columns of a file, read without any value or statistics of values."""

from contextlib import closing
from datetime import datetime
from ipaddress import ip_address
from typing import Any, NamedTuple

from privhp.errors import FileError
from privhp.io.optional import import_pyarrow
from privhp.io.sources.arrow import arrow_errors, column_name_errors, schema_columns
from privhp.io.sources.byte_streams import ByteStream, decompression_errors
from privhp.io.sources.csv_dialect import CsvDialect, check_byte_order, check_dialect
from privhp.io.sources.csv_header import (
    check_delimiter,
    check_encoding,
    check_line_ends,
    describe_delimiter,
    first_line,
    header_names,
)
from privhp.io.sources.files import format_of
from privhp.io.sources.identity import InputFile
from privhp.io.sources.ipc_messages import MAGIC
from privhp.io.sources.text_records import LineFeeds, RecordReader, check_is_text


class SchemaColumn(NamedTuple):
    """A column of a schema.

    Args:
        name: Name of the column.
        type: Arrow type; None for CSV, which has names only.
    """

    name: str
    type: Any


def read_schema(name: str, *, header: bool | None = None, csv: CsvDialect | None = None) -> list[SchemaColumn]:
    """Columns of a Parquet or Arrow file, or of CSV.

    Args:
        name: The file.
        header: Whether the first line of CSV names the columns, as the user confirms. Without a header the
            columns are named column1, column2, and so on, as many as the first line has fields.
        csv: Dialect of CSV.
    """
    kind = format_of(name)
    if kind == "ndjson":
        raise FileError(
            "NDJSON has no schema, since its column names are parts of the records; "
            "write the domain file by hand, with a section [columns.NAME] for each column"
        )
    if kind == "npy":
        raise FileError("an array has no column names, so there is no schema to read; write the domain file by hand")
    if kind == "csv":
        return [
            SchemaColumn(column, None) for column in _csv_names(name, check_dialect(csv).for_file(name), header=header)
        ]
    if header is not None:
        raise FileError("a Parquet or Arrow file names its columns; header= is for CSV")
    schema = _parquet_schema(name) if kind == "parquet" else _arrow_schema(name)
    return [SchemaColumn(*column) for column in schema_columns(schema)]


def _parquet_schema(name: str) -> Any:
    parquet = import_pyarrow("Parquet", "parquet")
    with InputFile(name).open() as file, arrow_errors("Parquet"), column_name_errors():
        return parquet.read_schema(file)


def _arrow_schema(name: str) -> Any:
    ipc = import_pyarrow("Arrow", "ipc")
    with InputFile(name).open() as file, arrow_errors("Arrow"):
        is_file = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        return (ipc.open_file if is_file else ipc.open_stream)(file).schema


def _csv_names(name: str, dialect: CsvDialect, *, header: bool | None) -> list[str]:
    """Column names of CSV: those in its first line if the user confirms that it is a header, else numbered ones."""
    check_byte_order(dialect, header=header is not False)
    line = _first_line(name, dialect, is_header=header is True)
    if line is None:
        raise FileError("the file is empty; expected a first line with the column names, or a record")
    if header is None:
        raise FileError(
            "CSV does not state whether its first line names the columns or is a record; look at the line, "
            "and give header=True for names or header=False for a record"
        )
    if header:
        check_encoding(first_line(line), dialect)
        check_line_ends(line, dialect)
        check_delimiter(line, dialect, fits=bool)
    names = header_names(line, dialect)
    if names in ([], [""]):
        raise FileError(
            f"expected a first line with fields, separated by {describe_delimiter(dialect)}, and quotes that are "
            "closed and doubled inside; write the domain file by hand"
        )
    if header:
        named = names if names[-1] else names[:-1]  # a delimiter at the end, as some programs write
        _check_names(named)
        return named
    return [f"column{number}" for number in range(1, len(names) + 1)]


def _first_line(name: str, dialect: CsvDialect, *, is_header: bool) -> bytes | None:
    """First line of a text; None if the text is empty."""
    with (
        InputFile(name).open() as file,
        decompression_errors(name),
        closing(ByteStream(name, file, encoding=dialect.encoding)) as stream,
    ):
        line = RecordReader(stream.file, LineFeeds(), has_header=is_header).header()
    if line is not None:
        check_is_text(line)
    return line


def _check_names(names: list[str]) -> None:
    """Refuse a header that looks like a record. It is never quoted."""
    if len(set(names)) < len(names) and not any(map(_is_value, names)):
        raise FileError(
            "expected a first line that names each column once, got a name twice; rename it, or read columns by number "
            "with header=False, where this line counts as one more record, which is skipped if it is none of the domain"
        )
    if not all(names) or any(map(_is_value, names)):
        raise FileError(
            "expected a first line that names each column once, got one that looks like a record; "
            "give header=False for a file without a header"
        )


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

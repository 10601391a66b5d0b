"""Source of any argument: a path, a glob, a pipe or data in memory."""

import io
import os
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from privhp.core.path_texts import check_path
from privhp.domains import Domain
from privhp.errors import RecordsError, file_errors
from privhp.io.sources.csv_dialect import CsvDialect
from privhp.io.sources.files import FileSource, Format
from privhp.io.sources.in_memory import InMemorySource
from privhp.io.sources.object_forms import check_records, has_column_names
from privhp.io.sources.protocol import Persons, Source
from privhp.io.sources.selection import Selection


def open_source(
    data: Any,
    *,
    domain: Domain,
    columns: Sequence[str | int] | str | int | None = None,
    header: bool = True,
    csv: CsvDialect | None = None,
    format: Format | None = None,  # noqa: A002 - public parameter name
    persons: Persons | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> Source:
    """Source of records of a domain. Only headers and schemas are read at once.

    Args:
        data: A path, a glob or "-" for standard input; a list of `Path`s; an array or a sequence of records, a
            dict of arrays, a data frame, a polars LazyFrame, anything with Arrow's PyCapsule interface, or an
            iterator of any of these. A list of frames or columns and an iterable without a length also hold batches,
            and yield them anew in each pass.
        domain: Domain of the records.
        columns: The columns that make a record, by name or, in data without names, by number from 1.
        header: Whether the first record of CSV holds the column names.
        csv: Dialect of CSV files.
        format: Format of the files, "csv", "ndjson", "parquet", "arrow" or "npy"; by default given by their suffixes.
        persons: The column of persons, whose records are to be bounded.
        warn: Called once with each message on a column that has a readable but suspicious type.
    """
    chosen = [columns] if isinstance(columns, str | int) else columns
    selection = Selection(domain, chosen, header=header, csv=csv, persons=persons, warn=warn)
    names = _file_names(data)
    if names is not None:
        with file_errors():
            return FileSource(names, selection, format=format)
    if csv is not None:
        raise RecordsError(
            "csv= is the dialect of CSV files, and the data is in memory; convert its columns first, such as "
            'pandas.to_numeric(texts.str.replace(",", "."))'
        )
    check_records(data)
    return InMemorySource(data, selection)


def check_named_columns(data: Any) -> None:
    """Refuse data without columns to select."""
    if _file_names(data) is None and not has_column_names(data):
        raise RecordsError(
            "columns= selects columns of a file, a data frame or a dict of arrays; leave it out for other records"
        )


def _file_names(data: Any) -> list[str] | None:
    """Names of files; None for other data. A list of texts holds records, a list of `Path`s files."""
    if isinstance(data, str | os.PathLike):
        check_path(data)
        return [os.fspath(data)]
    if isinstance(data, io.IOBase):
        name = getattr(data, "name", None)
        if not isinstance(name, str) or not data.seekable() or data.tell():
            advice = "pass its path" if isinstance(name, str) else "write it to a file, or pass its records"
            raise RecordsError(f"expected a path or a file that was opened by name and not yet read; {advice}")
        return [name]
    if isinstance(data, list | tuple) and data and all(issubclass(type(item), PurePath) for item in data):
        return [os.fspath(item) for item in data]
    return None

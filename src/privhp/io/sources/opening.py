"""From what a caller has to a source."""

import io
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from privhp.domains import Domain
from privhp.errors import RecordsError, file_errors
from privhp.io.sources.files import FileSource, Format
from privhp.io.sources.in_memory import InMemorySource, check_records
from privhp.io.sources.protocol import Source
from privhp.io.sources.selection import Selection


def open_source(
    data: Any,
    *,
    domain: Domain,
    columns: Sequence[str] | str | None = None,
    header: bool = True,
    format: Format | None = None,  # noqa: A002 - what callers call it
) -> Source:
    """A source of records for a domain. Nothing is read yet but headers and schemas.

    Args:
        data: A path, a glob or "-" for standard input; a list of `Path`s; an array or a sequence of records, a
            dict of arrays, a data frame, anything with Arrow's PyCapsule interface, or an iterator of any of these.
        domain: The domain that the records will be counted in.
        columns: The columns that make a record, by name or, without names, by number from 1.
        header: Whether the first line of a CSV text names its columns.
        format: What a file is, where its name does not say it: "csv", "ndjson", "parquet", "arrow" or "npy".
    """
    selection = Selection(domain, [columns] if isinstance(columns, str) else columns, header=header)
    names = _names(data)
    if names is not None:
        with file_errors():
            return FileSource(names, selection, format=format)
    check_records(data)
    return InMemorySource(data, selection)


def _names(data: Any) -> list[str] | None:
    """The names of files; None for what is no file. A list of texts may be records, so files come as paths in lists."""
    if isinstance(data, str | os.PathLike):
        return [os.fspath(data)]
    if isinstance(data, io.IOBase):
        name = getattr(data, "name", None)
        if not isinstance(name, str) or not data.seekable() or data.tell():
            raise RecordsError("expected a path or a file that was opened by name and not yet read; pass its path")
        return [name]
    if isinstance(data, list | tuple) and data and all(isinstance(item, PurePath) for item in data):
        return [os.fspath(item) for item in data]
    return None

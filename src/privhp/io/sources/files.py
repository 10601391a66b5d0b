"""Source of one or several files, which can be read from any position."""

import dataclasses
import glob
import hashlib
import json
import os
import shlex
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

from privhp.errors import FileError
from privhp.io.sources.byte_streams import COMPRESSION_BY_SUFFIX
from privhp.io.sources.identity import STANDARD_INPUT, InputFile, OpenFile
from privhp.io.sources.prefetch import prefetch
from privhp.io.sources.protocol import START, Batch, Cap, Persons, Position, Reader, Rows, Sample, choose_rows
from privhp.io.sources.selection import Selection

Format = Literal["csv", "ndjson", "parquet", "arrow", "npy"]

FORMAT_BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
}
"""Format by suffix of the file name; CSV for any other suffix."""

_SPREADSHEETS = (".xlsx", ".xls", ".ods")

_UNORDERED: tuple[Format, ...] = ("parquet", "npy")


class FileSource:
    """Source of files of records, in the given order.

    Args:
        names: Paths and globs, or "-" alone for standard input.
        selection: The columns that make a record.
        format: Format of all files; by default given by their suffixes.
    """

    def __init__(self, names: Sequence[str], selection: Selection, *, format: Format | None = None) -> None:  # noqa: A002 - public parameter name
        check_format(format)
        self._files = find_files(names)
        self._selection, self._format = selection, format
        for file in self._files:
            if file.size is None:
                self._check_pipe(file)
            else:
                with self._open(file):
                    pass

    def _check_pipe(self, file: InputFile) -> None:
        """Refuse a pipe in a format that is not read in order. It is not opened: that is possible once."""
        kind = self._format or format_of(file.name)
        if kind in _UNORDERED:
            raise FileError(
                f"{file.name}: {kind} is not read in order and cannot come from a pipe; write it to a file first"
            )

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if one is a pipe."""
        sizes = [file.size for file in self._files if file.size is not None]
        return sum(sizes) if len(sizes) == len(self._files) else None

    @property
    def identity(self) -> str | None:
        """Digest of names, sizes and times of the files and of the selection; None if one is a pipe."""
        identities = [file.identity for file in self._files if file.identity is not None]
        if len(identities) < len(self._files):
            return None
        files = [[file.name, own.size, own.modified] for file, own in zip(self._files, identities, strict=True)]
        dialect = dataclasses.asdict(self._selection.csv)
        persons = [] if self.persons is None else [self.persons.column, self.persons.null, self.persons.most]
        reading = [files, self._selection.names, self._selection.header, dialect, self._format, *persons]
        return hashlib.sha256(json.dumps(reading).encode()).hexdigest()

    @property
    def rereadable(self) -> bool:
        """Whether no file is a pipe."""
        return self.size is not None

    @property
    def formats(self) -> frozenset[str]:
        """Formats of the files."""
        return frozenset(self._format or format_of(file.name) for file in self._files)

    @property
    def declared(self) -> frozenset[str]:
        """Parameters of the reading that the caller gave."""
        return self._selection.declared

    @property
    def persons(self) -> Persons | None:
        """The declared persons."""
        return self._selection.persons

    def batches(
        self, after: Position = START, *, sample: Sample | None = None, cap: Cap | None = None
    ) -> Generator[Batch, None, None]:
        """Batches after a position, each read while the batch before is converted and counted."""
        with closing(prefetch(self._batches(after))) as batches:
            for rows, position, read in batches:
                with _prefix_errors(self._files[position[0]].name):
                    kept = None if cap is None else cap(rows.persons())
                    batch = Batch(rows.records(choose_rows(len(rows), kept, sample)), position, read)
                yield batch

    def _batches(self, after: Position) -> Generator[tuple[Rows, Position, int | None], None, None]:
        """Rows after a position. They are given out after a check that the file was as it was when they were read."""
        first, start = after
        for index in range(first, len(self._files)):
            file, before = self._files[index], sum(file.size or 0 for file in self._files[:index])
            with self._open(file) as (opened, reader):
                for rows, offset, share in reader.batches(start):
                    file.check(opened)
                    yield rows, (index, offset), None if share is None else before + round(share * (file.size or 0))
                file.check(opened)
            start = 0

    @contextmanager
    def _open(self, file: InputFile) -> Iterator[tuple[OpenFile, Reader]]:
        with _prefix_errors(file.name), file.open() as opened:
            reader = _reader(self._format or format_of(file.name), file.name, opened, self._selection)
            try:
                yield opened, reader
            finally:
                reader.close()


def check_format(format: str | None) -> None:  # noqa: A002 - public parameter name
    """Refuse an unknown format."""
    if format is not None and format not in get_args(Format):
        raise FileError(f"expected a format among {', '.join(get_args(Format))}, got {format!r}")


_READERS: dict[Format, str] = {
    "csv": "csv_reader:CsvReader",
    "ndjson": "ndjson:NdjsonReader",
    "parquet": "parquet_reader:ParquetReader",
    "arrow": "ipc_reader:IpcReader",
    "npy": "npy:NpyReader",
}
"""Module and class of the reader of each format; the module is imported when a file has the format."""


def _reader(format: Format, name: str, file: OpenFile, selection: Selection) -> Reader:  # noqa: A002 - public name
    """Reader of an open file."""
    module, _, reader = _READERS[format].partition(":")
    opened: Reader = getattr(import_module(f"privhp.io.sources.{module}"), reader)(name, file, selection)
    return opened


def format_of(name: str) -> Format:
    """Format of a file by its name."""
    path = Path(name.lower())
    suffix = Path(path.stem).suffix if path.suffix in COMPRESSION_BY_SUFFIX else path.suffix
    if suffix == ".json":
        raise FileError(
            f"{name}: a .json file is one array or object; write one object per line (NDJSON), such as with "
            'jq -c ".[]" x.json > x.ndjson or, if it is so already, choose format="ndjson"'
        )
    if suffix in _SPREADSHEETS:
        raise FileError(f"{name}: a {suffix} file is a spreadsheet; save the sheet as CSV")
    return FORMAT_BY_SUFFIX.get(suffix, "csv")


def find_files(names: Sequence[str]) -> list[InputFile]:
    """Files of paths and globs, each once. A path without a file is refused."""
    return _distinct([InputFile(name) for name in _expand(names)])


def _expand(names: Sequence[str]) -> list[str]:
    """Names of files, with globs replaced by their matches in sorted order."""
    found: list[str] = []
    for name in names:
        if Path(name).is_dir():
            raise FileError(f"{name} is a folder; give its files, such as {shlex.quote(_pattern_of(name))}")
        if name == STANDARD_INPUT or os.path.lexists(name) or not glob.has_magic(name):
            found.append(name)
            continue
        matches = sorted(_matches(name))
        if not matches:
            folder, own = os.path.split(name)
            deeper = os.path.join(folder, "**", own)  # noqa: PTH118 - takes any pattern
            advice = "check the pattern and the folder"
            if any(_matches(deeper)):
                advice = f"files in deeper folders match {shlex.quote(deeper)}"
            raise FileError(f"no file matches {name}; {advice}")
        found += matches
    if not found:
        raise FileError("expected at least one file to read, got none")
    if found == [STANDARD_INPUT]:
        if sys.stdin is None:
            raise FileError("standard input is closed; give a file, or open it")
        return found
    if STANDARD_INPUT in found:
        raise FileError("expected either files or standard input (-), got both; read standard input separately")
    return found


def _matches(pattern: str) -> Iterator[str]:
    """Files that match a glob."""
    return (match for match in glob.iglob(pattern, recursive=True) if not Path(match).is_dir())  # noqa: PTH207 - takes any pattern


def _pattern_of(folder: str) -> str:
    """Glob of the files in a folder that have the suffix of the first one of a known format, by default .csv."""
    known = (*FORMAT_BY_SUFFIX, *(own + packed for own in FORMAT_BY_SUFFIX for packed in COMPRESSION_BY_SUFFIX))
    names = (name for _, _, own in os.walk(folder) for name in sorted(own))
    suffixes = (suffix for name in names for suffix in known if name.endswith(suffix))
    return os.path.join(glob.escape(folder), "**", f"*{next(suffixes, '.csv')}")  # noqa: PTH118 - any folder


def _distinct(files: list[InputFile]) -> list[InputFile]:
    """Refuse a file that is given twice, also by two links to it."""
    known: set[tuple[int, int]] = set()
    for file in files:
        if file.place in known:
            raise FileError(f"{file.name} is given twice, so its records would count twice; give each file once")
        known.add(file.place)
    return files


@contextmanager
def _prefix_errors(name: str) -> Iterator[None]:
    """Prefix messages of errors with the name of the file."""
    try:
        yield
    except FileError as error:
        if error.filename is not None or str(error).startswith(f"{name}: "):
            raise
        raise FileError(f"{name}: {error}") from None

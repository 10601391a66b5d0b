"""Source of one or several files, which can be read from any position."""

import glob
import hashlib
import json
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

from privhp.errors import FileError
from privhp.io.sources.byte_streams import COMPRESSION_BY_SUFFIX, STANDARD_INPUT
from privhp.io.sources.prefetch import prefetch
from privhp.io.sources.protocol import START, Batch, Position, Reader, Rows, Sample
from privhp.io.sources.selection import Selection

Format = Literal["csv", "ndjson", "parquet", "arrow", "npy"]

FORMAT_BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
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


class FileSource:
    """Source of files of records, in the given order.

    Args:
        names: Paths and globs, or "-" alone for standard input.
        selection: The columns that make a record.
        format: Format of all files; by default given by their suffixes.
    """

    def __init__(self, names: Sequence[str], selection: Selection, *, format: Format | None = None) -> None:  # noqa: A002 - public parameter name
        check_format(format)
        self.names = _expand(names)
        self._selection, self._format = selection, format
        self._sizes = [_size(name) for name in self.names]
        for name, size in zip(self.names, self._sizes, strict=True):
            if size is not None:  # a pipe can only be opened once
                with self._open(name):
                    pass

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if one is a pipe."""
        sizes = [size for size in self._sizes if size is not None]
        return sum(sizes) if len(sizes) == len(self._sizes) else None

    @property
    def identity(self) -> str | None:
        """Digest of names, sizes and times of the files and of the selection; None if one is a pipe."""
        if self.size is None:
            return None
        files = [[name, (status := Path(name).stat()).st_size, status.st_mtime_ns] for name in self.names]
        reading = [files, self._selection.names, self._selection.header, self._selection.csv, self._format]
        return hashlib.sha256(json.dumps(reading).encode()).hexdigest()

    @property
    def rereadable(self) -> bool:
        """Whether no file is a pipe."""
        return self.size is not None

    def batches(self, after: Position = START, *, sample: Sample | None = None) -> Generator[Batch, None, None]:
        """Batches after a position, each read while the batch before is counted.

        A sample is drawn and converted in the calling thread: it leaves little to count there.
        """
        if sample is None:
            yield from prefetch(map(self._convert, self._batches(after)))
            return
        with closing(prefetch(self._batches(after))) as batches:
            for batch in batches:
                yield self._convert(batch, sample)

    def _convert(self, batch: tuple[Rows, Position, int | None], sample: Sample | None = None) -> Batch:
        rows, position, read = batch
        with _prefix_errors(self.names[position[0]]):
            return Batch(rows.records(None if sample is None else sample(len(rows))), position, read)

    def _batches(self, after: Position) -> Iterator[tuple[Rows, Position, int | None]]:
        first, start = after
        for index in range(first, len(self.names)):
            before, size = sum(size or 0 for size in self._sizes[:index]), self._sizes[index] or 0
            with self._open(self.names[index]) as reader, _prefix_errors(self.names[index]):
                for rows, offset, share in reader.batches(start):
                    yield rows, (index, offset), None if share is None else before + round(share * size)
            start = 0

    @contextmanager
    def _open(self, name: str) -> Iterator[Reader]:
        with _prefix_errors(name):
            reader = _reader(self._format or format_of(name), name, self._selection)
        try:
            yield reader
        finally:
            reader.close()


def check_format(format: str | None) -> None:  # noqa: A002 - public parameter name
    """Refuse an unknown format."""
    if format is not None and format not in get_args(Format):
        raise FileError(f"expected a format among {', '.join(get_args(Format))}, got {format!r}")


_READERS: dict[Format, str] = {
    "csv": "csv_reader:CsvReader",
    "ndjson": "ndjson:NdjsonReader",
    "parquet": "arrow:ParquetReader",
    "arrow": "arrow:IpcReader",
    "npy": "npy:NpyReader",
}
"""Module and class of the reader of each format; the module is imported when a file has the format."""


def _reader(format: Format, name: str, selection: Selection) -> Reader:  # noqa: A002 - public parameter name
    """Reader of a file."""
    module, _, reader = _READERS[format].partition(":")
    opened: Reader = getattr(import_module(f"privhp.io.sources.{module}"), reader)(name, selection)
    return opened


def format_of(name: str) -> Format:
    """Format of a file by its name."""
    path = Path(name.lower())
    suffix = Path(path.stem).suffix if path.suffix in COMPRESSION_BY_SUFFIX else path.suffix
    return FORMAT_BY_SUFFIX.get(suffix, "csv")


def _expand(names: Sequence[str]) -> list[str]:
    """Names of files, with globs replaced by their matches in sorted order."""
    found: list[str] = []
    for name in names:
        if name == STANDARD_INPUT or os.path.lexists(name) or not glob.has_magic(name):
            found.append(name)
            continue
        matches = sorted(match for match in glob.glob(name, recursive=True) if not Path(match).is_dir())  # noqa: PTH207 - takes any pattern
        if not matches:
            raise FileError(f"no file matches {name}; check the pattern and the folder")
        found += matches
    if not found:
        raise FileError("expected at least one file to read, got none")
    if found == [STANDARD_INPUT]:
        return found
    if STANDARD_INPUT in found:
        raise FileError("expected either files or standard input (-), got both; read standard input separately")
    known: set[tuple[int, int]] = set()
    for name in found:
        status = Path(name).stat()
        if (status.st_dev, status.st_ino) in known:
            raise FileError(f"{name} is given twice, so its records would count twice; give each file once")
        known.add((status.st_dev, status.st_ino))
    return found


def _size(name: str) -> int | None:
    """Bytes of a file; None for pipes and standard input."""
    if name == STANDARD_INPUT:
        return None
    status = Path(name).stat()
    return None if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode) else status.st_size


@contextmanager
def _prefix_errors(name: str) -> Iterator[None]:
    """Prefix messages of errors with the name of the file."""
    try:
        yield
    except FileError as error:
        if error.filename is not None or str(error).startswith(f"{name}: "):
            raise
        raise FileError(f"{name}: {error}") from None

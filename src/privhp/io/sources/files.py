"""Files one after the other as one source, which can be gone on with from any position."""

import glob
import hashlib
import json
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

from privhp.errors import FileError
from privhp.io.sources.byte_streams import COMPRESSION_SUFFIXES, STANDARD_INPUT
from privhp.io.sources.prefetch import prefetch
from privhp.io.sources.protocol import START, Batch, Position, Reader
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
"""What a file is by how its name ends; anything else is CSV text."""


class FileSource:
    """Files of records, in the order given.

    Args:
        names: The files, globs among them, or "-" alone for standard input.
        selection: Which columns make a record.
        format: What the files are, where their names do not say it.
    """

    def __init__(self, names: Sequence[str], selection: Selection, *, format: Format | None = None) -> None:  # noqa: A002 - what callers call it
        if format is not None and format not in get_args(Format):
            raise FileError(f"expected a format among {', '.join(get_args(Format))}, got {format!r}")
        self.names = _expanded(names)
        self._selection, self._format = selection, format
        self._sizes = [_size(name) for name in self.names]
        for name, size in zip(self.names, self._sizes, strict=True):
            if size is not None:  # a pipe can be opened once
                with self._open(name):
                    pass

    @property
    def size(self) -> int | None:
        """Bytes of all files; None with a pipe among them."""
        sizes = [size for size in self._sizes if size is not None]
        return sum(sizes) if len(sizes) == len(self._sizes) else None

    @property
    def identity(self) -> str | None:
        """A digest of which files, as they are now, are read and how; None with a pipe among them."""
        if self.size is None:
            return None
        files = [[name, (status := Path(name).stat()).st_size, status.st_mtime_ns] for name in self.names]
        reading = [files, self._selection.asked, self._selection.header, self._format]
        return hashlib.sha256(json.dumps(reading).encode()).hexdigest()

    def batches(self, after: Position = START) -> Generator[Batch, None, None]:
        """All batches after a position, the next one read while the last is counted."""
        return prefetch(self._batches(after))

    def _batches(self, after: Position) -> Iterator[Batch]:
        first, start = after
        for place in range(first, len(self.names)):
            before, own = sum(size or 0 for size in self._sizes[:place]), self._sizes[place]
            with self._open(self.names[place]) as reader, _naming(self.names[place]):
                for records, end, share in reader.batches(start):
                    yield Batch(records, (place, end), None if share is None else before + round(share * (own or 0)))
            start = 0

    @contextmanager
    def _open(self, name: str) -> Iterator[Reader]:
        with _naming(name):
            reader = _reader(self._format or format_of(name), name, self._selection)
        try:
            yield reader
        finally:
            reader.close()


def _reader(format: Format, name: str, selection: Selection) -> Reader:  # noqa: A002 - what callers call it
    """Open a file. What only some files need is imported when one of them is there."""
    if format == "csv":
        from privhp.io.sources.csv_reader import CsvReader

        return CsvReader(name, selection)
    if format == "npy":
        from privhp.io.sources.npy import NpyReader

        return NpyReader(name, selection)
    if format == "ndjson":
        from privhp.io.sources.ndjson import NdjsonReader

        return NdjsonReader(name, selection)
    from privhp.io.sources.arrow import IpcReader, ParquetReader

    return (ParquetReader if format == "parquet" else IpcReader)(name, selection)


def format_of(name: str) -> Format:
    """What a file is by its name."""
    path = Path(name.lower())
    ending = Path(path.stem).suffix if path.suffix in COMPRESSION_SUFFIXES else path.suffix
    return FORMAT_BY_SUFFIX.get(ending, "csv")


def _expanded(names: Sequence[str]) -> list[str]:
    """The files that names and globs stand for, those of a glob in the order of their names."""
    found: list[str] = []
    for name in names:
        if name == STANDARD_INPUT or os.path.lexists(name) or not glob.has_magic(name):
            found.append(name)
            continue
        matches = sorted(match for match in glob.glob(name, recursive=True) if not Path(match).is_dir())  # noqa: PTH207 - takes any pattern
        if not matches:
            raise FileError(f"expected files that match {name}, got none; check the pattern and the folder")
        found += matches
    if not found:
        raise FileError("expected one file or more to read, got none")
    if found == [STANDARD_INPUT]:
        return found
    if STANDARD_INPUT in found:
        raise FileError("expected files or standard input (-), got both; read it by itself")
    if len({(status.st_dev, status.st_ino) for status in map(os.stat, found)}) < len(found):
        raise FileError("expected each file once, since its records would count twice, got one again")
    return found


def _size(name: str) -> int | None:
    """Bytes of a file; None for a pipe and for standard input, which may be one."""
    if name == STANDARD_INPUT:
        return None
    status = Path(name).stat()
    return None if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode) else status.st_size


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Put the file before what an error says of it."""
    try:
        yield
    except FileError as error:
        if error.filename is not None or str(error).startswith(f"{name}: "):
            raise
        raise FileError(f"{name}: {error}") from None

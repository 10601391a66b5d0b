"""Bytes of a file, a pipe or standard input, decompressed."""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, Literal

from privhp.errors import FileError
from privhp.io.sources.optional import import_pyarrow

STANDARD_INPUT = "-"

Compression = Literal["gzip", "zstd"]

COMPRESSION_BY_SUFFIX: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
"""Compression of a text by the last suffix of its name, in lower case."""

_UNSUPPORTED_SUFFIXES = (".7z", ".br", ".bz2", ".lz4", ".lzma", ".xz", ".zip")


def compression_of(name: str) -> Compression | None:
    """Compression of a file by its name; None for a plain file."""
    suffix = PurePath(name.lower()).suffix
    if suffix in _UNSUPPORTED_SUFFIXES:
        raise FileError(
            f"{suffix} files are not supported; compress with {' or '.join(COMPRESSION_BY_SUFFIX)}, or not at all"
        )
    return COMPRESSION_BY_SUFFIX.get(suffix)


class ByteStream:
    """A file, a pipe or standard input, opened for reading.

    It is unbuffered: a thread that is stopped while it reads would leave the lock of a buffer acquired.

    Args:
        name: The file, "-" for standard input.
    """

    def __init__(self, name: str) -> None:
        compression = compression_of(name)
        pa: Any = import_pyarrow("zstd") if compression == "zstd" else None
        descriptor = sys.stdin.fileno() if name == STANDARD_INPUT else name
        self._raw = open(descriptor, "rb", buffering=0, closefd=name != STANDARD_INPUT)  # noqa: SIM115 - closed by close
        self.file: Any = self._raw
        if compression == "gzip":
            self.file = gzip.GzipFile(fileobj=self._raw)
        elif compression == "zstd":
            self.file = pa.CompressedInputStream(self._raw, "zstd")

    def share(self) -> float | None:
        """Share of the file that has been read; None for a pipe."""
        status = os.fstat(self._raw.fileno())
        return min(self._raw.tell() / max(status.st_size, 1), 1.0) if stat.S_ISREG(status.st_mode) else None

    def close(self) -> None:
        """Close the file."""
        if self.file is not self._raw:
            self.file.close()
        self._raw.close()


@contextmanager
def decompression_errors(name: str) -> Iterator[None]:
    """Replace errors of a decompressor by an error that the file is damaged."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FileError("expected a complete gzip file, got one that is damaged or truncated") from None
    except OSError as error:
        if compression_of(name) == "zstd" and error.errno is None and not isinstance(error, FileError):
            raise FileError("expected a complete zstd file, got one that is damaged or truncated") from None
        raise

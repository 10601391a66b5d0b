"""Bytes of a file, a pipe or standard input, decompressed."""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from privhp.errors import FileError
from privhp.io.sources.optional import import_pyarrow

STANDARD_INPUT = "-"
COMPRESSION_SUFFIXES = (".gz", ".zst")
"""Suffixes of compressed texts."""


class ByteStream:
    """A file, a pipe or standard input, opened for reading.

    It is unbuffered: a thread that is stopped while it reads would leave the lock of a buffer acquired.

    Args:
        name: The file, "-" for standard input.
    """

    def __init__(self, name: str) -> None:
        pa: Any = import_pyarrow("zstd") if name.endswith(".zst") else None
        descriptor = sys.stdin.fileno() if name == STANDARD_INPUT else name
        self._raw = open(descriptor, "rb", buffering=0, closefd=name != STANDARD_INPUT)  # noqa: SIM115 - closed by close
        self.file: Any = self._raw
        if name.endswith(".gz"):
            self.file = gzip.GzipFile(fileobj=self._raw)
        elif name.endswith(".zst"):
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
        if name.endswith(".zst") and error.errno is None and not isinstance(error, FileError):
            raise FileError("expected a complete zstd file, got one that is damaged or truncated") from None
        raise

"""The bytes of a text, packed or not."""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from privhp.errors import FileError
from privhp.io.sources.optional import arrow

STANDARD_INPUT = "-"
COMPRESSION_SUFFIXES = (".gz", ".zst")
"""How the names of packed texts end."""


class ByteStream:
    """A file, a pipe or standard input, opened to be read from its beginning."""

    def __init__(self, name: str) -> None:
        """Open it. No buffer and so no lock of Python's is in between, which a reading thread could leave behind."""
        pa: Any = arrow("zstd") if name.endswith(".zst") else None
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
        """Let go of it."""
        if self.file is not self._raw:
            self.file.close()
        self._raw.close()


@contextmanager
def whole_if_packed(name: str) -> Iterator[None]:
    """Say of a packed file that it is damaged, whatever its library says."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise FileError("expected a whole gzip file, got one that is damaged or was cut short") from None
    except OSError as error:
        if name.endswith(".zst") and error.errno is None and not isinstance(error, FileError):
            raise FileError("expected a whole zstd file, got one that is damaged or was cut short") from None
        raise

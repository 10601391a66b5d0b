"""Bytes of an open file, decompressed."""

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, Literal

from privhp.errors import FileError
from privhp.io.optional import import_pyarrow
from privhp.io.sources.identity import OpenFile

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
    """The bytes of an open file, decompressed.

    Args:
        name: Name of the file, which says how it is compressed.
        file: The open file. It stays open.
    """

    def __init__(self, name: str, file: OpenFile) -> None:
        compression = compression_of(name)
        self._raw = file
        self.file: Any = file
        if compression == "gzip":
            self.file = gzip.GzipFile(fileobj=file)
        elif compression == "zstd":
            pa = import_pyarrow("zstd")
            own = open(os.dup(file.fileno()), "rb", buffering=0)  # noqa: SIM115 - Arrow closes it
            self.file = pa.CompressedInputStream(own, "zstd")

    def share(self) -> float | None:
        """Share of the file that has been read; None for a pipe."""
        status = os.fstat(self._raw.fileno())
        return min(self._raw.tell() / max(status.st_size, 1), 1.0) if stat.S_ISREG(status.st_mode) else None

    def close(self) -> None:
        """Close the decompressor."""
        if self.file is not self._raw:
            self.file.close()


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

"""Bytes of an open file, decompressed."""

import codecs
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
from privhp.io.sources.identity import STANDARD_INPUT, OpenFile

Compression = Literal["gzip", "zstd"]

COMPRESSION_BY_SUFFIX: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
"""Compression of a text by the last suffix of its name, in lower case."""

_GZIP = b"\x1f\x8b"
"""First bytes of a gzip file. They are not UTF-8, so no record of a text begins with them."""

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
    """The bytes of an open file, decompressed and, if they are a text, as UTF-8.

    Args:
        name: Name of the file, which says how it is compressed.
        file: The open file. It stays open.
        encoding: Encoding of a text.
    """

    def __init__(self, name: str, file: OpenFile, *, encoding: str = "utf-8") -> None:
        compression = compression_of(name)
        self.piped = name == STANDARD_INPUT
        """Whether the bytes are those of standard input, so that no name says how they are compressed."""
        self._raw = file
        self.file: Any = file
        if compression == "gzip":
            _check_gzip(file)
            self.file = gzip.GzipFile(fileobj=file)
        elif compression == "zstd":
            pa = import_pyarrow("zstd")
            own = open(os.dup(file.fileno()), "rb", buffering=0)  # noqa: SIM115 - Arrow closes it
            self.file = pa.CompressedInputStream(own, "zstd")
        self._decompressed = self.file
        if encoding != "utf-8":
            self.file = Utf8Stream(self.file, encoding)

    def share(self) -> float | None:
        """Share of the file that has been read; None for a pipe."""
        status = os.fstat(self._raw.fileno())
        return min(self._raw.tell() / max(status.st_size, 1), 1.0) if stat.S_ISREG(status.st_mode) else None

    def close(self) -> None:
        """Close the decompressor."""
        if self._decompressed is not self._raw:
            self._decompressed.close()


def _check_gzip(file: OpenFile) -> None:
    """Refuse a file that does not begin as gzip does. Nothing of a pipe is looked at, since its bytes are read once."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return
    if os.pread(file.fileno(), len(_GZIP), 0) not in (_GZIP, b""):
        raise FileError(
            "expected a gzip file, since its name ends in .gz, got one that does not begin like one, such as plain "
            "text; give it a name without .gz, or compress it"
        )


class Utf8Stream:
    """A text of another encoding, as UTF-8.

    What is invalid in its encoding becomes bytes that are invalid in UTF-8, so that it skips its own record.

    Args:
        file: The open text.
        encoding: Encoding of the text.
    """

    def __init__(self, file: Any, encoding: str) -> None:
        errors = "surrogatepass" if encoding.startswith("utf-16") else "surrogateescape"
        self._file, self._decoder = file, codecs.getincrementaldecoder(encoding)(errors)
        self._ready = b""

    def seekable(self) -> bool:
        """No: an offset in UTF-8 is none in the file."""
        return False

    def read(self, size: int) -> bytes:
        """Bytes of this number, fewer at the end only."""
        while len(self._ready) < size:
            piece = self._file.read(size)
            try:
                text = self._decoder.decode(piece, final=not piece)
            except UnicodeDecodeError:
                raise FileError(
                    "the text ends inside a character, so it is truncated or has another encoding"
                ) from None
            except UnicodeError:  # the codec asks for the mark at the beginning of a header
                raise FileError(
                    "UTF-16 text without a byte order mark has an order that must be declared; choose "
                    'csv=CsvDialect(encoding="utf-16-le") or csv=CsvDialect(encoding="utf-16-be")'
                ) from None
            self._ready += text.encode("utf-8", "surrogatepass")
            if not piece:
                break
        found, self._ready = self._ready[:size], self._ready[size:]
        return found


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

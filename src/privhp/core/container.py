"""The container of all privhp files: magic, version, JSON header, int64 cells, ids and a SHA-256 checksum.

Packs and unpacks bytes for a header that states the number of cells and ids.
Every file is untrusted input: the checksum is verified before the content is
parsed, the header is checked before memory is allocated, and a file is
accepted only if packing its content again gives the same bytes. The format is
specified in docs/format.md.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, Self, TypeVar

import numpy as np

from privhp.core.cells import Counts
from privhp.errors import FileError, PrivhpError

RELEASE, CHECKPOINT, TALLY = b"PRIVHP-R", b"PRIVHP-C", b"PRIVHP-T"
VERSION = 2
MAX_HEADER = 2**22
"""Bytes of a header, beside a sixteenth of the bytes after it: each leaf of a partition has a cell and two bits."""
MAX_IDS = 2**20
MAX_NUMBER = 2**62

_PREFIX = struct.Struct("<8sII")  # magic, version, length of the header
_ID_BYTES = 16
_DIGEST_BYTES = 32
_CHUNK = 1 << 20
_ADVICE = {
    RELEASE: "this is a release, which cannot be updated or merged; open it with privhp.load",
    CHECKPOINT: "this is a checkpoint or summary file, which is confidential; open it with privhp.resume",
    TALLY: "this is a tally, which is confidential and holds noise-free counts; read it with privhp.Tally.from_bytes",
}


class Header(Protocol):
    """The JSON header of one kind of container."""

    @property
    def cells(self) -> int:
        """Number of int64 cells after the header."""

    @property
    def ids(self) -> int:
        """Number of ids after the cells."""

    def to_json(self) -> dict[str, Any]:
        """The header as a JSON object."""

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> Self:
        """Parse a JSON object; any exception refuses the file."""


AnyHeader = TypeVar("AnyHeader", bound=Header)


def pack(magic: bytes, header: Header, cells: Counts, ids: Sequence[bytes] = ()) -> list[bytes | memoryview]:
    """The bytes of a container, as a list of chunks."""
    text = _json_bytes(header)
    if len(ids) > MAX_IDS:
        raise FileError(f"a file holds the ids of at most {MAX_IDS} merged summaries; merge tallies instead")
    _check_length(text, cells.nbytes)
    chunks = [_PREFIX.pack(magic, VERSION, len(text)), text, cells.astype("<i8", copy=False).data, *ids]
    digest = _sha256()
    for chunk in chunks:
        digest.update(chunk)
    return [*chunks, digest.digest()]


def check_storable(header: Header, *, spare: int, cells: int) -> None:
    """Refuse a header that a file cannot hold, with some bytes to spare, before this many cells."""
    _check_length(_json_bytes(header) + bytes(spare), 8 * cells)


def unpack(file: BinaryIO, magic: bytes, kind: type[AnyHeader]) -> tuple[AnyHeader, Counts, list[bytes]]:
    """Header, cells and ids of a container in a seekable file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    prefix = file.read(_PREFIX.size)
    _check_magic(prefix[: len(magic)], magic)
    if size < _PREFIX.size + _DIGEST_BYTES:
        raise _damaged()
    _, version, length = _PREFIX.unpack(prefix)
    if version != VERSION:
        advice = "fit the data again" if version < VERSION else "a newer privhp may read this file"
        raise FileError(f"expected format version {VERSION}, got {version}; {advice}")
    _check_digest(file, size)
    if length > _max_header(size - _PREFIX.size - length - _DIGEST_BYTES):
        raise malformed("its header is too long")
    file.seek(_PREFIX.size)
    header = _parse_header(file.read(length), kind)
    if header.ids > MAX_IDS:
        raise malformed("it has too many ids")
    if size != _PREFIX.size + length + 8 * header.cells + _ID_BYTES * header.ids + _DIGEST_BYTES:
        raise malformed("its size does not fit its plan")
    content = file.read(8 * header.cells)
    ids = [file.read(_ID_BYTES) for _ in range(header.ids)]
    if len(content) < 8 * header.cells or any(len(own) < _ID_BYTES for own in ids):
        raise _damaged()  # it was cut after its checksum was read
    cells = np.frombuffer(content, dtype="<i8").astype(np.int64, copy=False)
    if ids != sorted(set(ids)):
        raise malformed("its ids are not in order, each once")
    return header, cells, ids


def read_number(header: dict[str, Any], key: str, *, default: int, least: int = 0) -> int:
    """An integer of a header, within limits."""
    number = header.get(key, default)
    if type(number) is not int or not least <= number < MAX_NUMBER:
        raise malformed("a number in its header is out of range")
    return number


@contextmanager
def content_errors() -> Iterator[None]:
    """Raise errors of a plan or its cells as errors of the file that holds them."""
    try:
        yield
    except FileError:
        raise
    except PrivhpError as error:
        raise FileError(f"the plan in this file is invalid: {str(error)[:500]}") from None


def malformed(reason: str) -> FileError:
    """The error for a file with a correct checksum that `save` cannot have written."""
    return FileError(f"this file was not written by privhp.save: {reason}; create the file again")


def _max_header(rest: int) -> int:
    """Bytes of a header before this many bytes; a small file cannot hold a large partition."""
    return MAX_HEADER + max(rest, 0) // 16


def _check_length(text: bytes, rest: int) -> None:
    if len(text) > _max_header(rest):
        raise FileError(
            f"a file holds a header of at most {_max_header(rest):,} bytes, and that of this plan takes {len(text):,}; "
            "declare fewer or shorter values in the domain, or shorten the position"
        )


def _json_bytes(header: Header) -> bytes:
    import json  # slow to import, and needed for files only

    return json.dumps(header.to_json(), sort_keys=True, separators=(",", ":")).encode()


def _parse_header(text: bytes, kind: type[AnyHeader]) -> AnyHeader:
    """Parse a header and check that it packs to the same bytes."""
    import json  # slow to import, and needed for files only

    with content_errors():
        try:
            header = kind.from_json(json.loads(text))
            canonical = _json_bytes(header)
        except PrivhpError:
            raise
        except Exception as error:  # the spec of a custom domain may raise any exception
            raise malformed("its header is not valid") from error
    if canonical != text:
        raise malformed("its header is not in canonical form")
    return header


def _sha256() -> Any:
    from hashlib import sha256  # slow to import, and needed for files only

    return sha256()


def _check_digest(file: BinaryIO, size: int) -> None:
    """Compare the checksum with the bytes before it, in bounded memory."""
    digest = _sha256()
    file.seek(0)
    end = size - _DIGEST_BYTES
    for start in range(0, end, _CHUNK):
        digest.update(file.read(min(_CHUNK, end - start)))
    if digest.digest() != file.read():
        raise _damaged()


def _check_magic(found: bytes, expected: bytes) -> None:
    if found != expected:
        raise FileError(_ADVICE.get(found, "this is not a privhp file; privhp.save writes one"))


def _damaged() -> FileError:
    return FileError("this file is damaged or was cut short; restore it from a copy")

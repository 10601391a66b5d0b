"""Messages of Arrow's IPC format: where the buffers of a record batch are in a file.

Arrow reads a record batch as a whole. With the places of its buffers, a part of
its rows can be read. Metadata are flatbuffers, of which only a few fields are needed.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from privhp.errors import FileError
from privhp.io.sources.identity import OpenFile

MAGIC = b"ARROW1"
MAX_METADATA = 2**26
"""Bytes of the footer of a file or the metadata of a batch."""

_CONTINUATION = b"\xff\xff\xff\xff"
_RECORD_BATCH = 3  # type of the header of a message


class Extent(NamedTuple):
    """A part of a file."""

    offset: int
    size: int

    def read(self, file: OpenFile, start: int, size: int) -> bytes:
        """Bytes of a part of this part."""
        if start < 0 or size < 0 or start + size > self.size:
            raise _damaged()
        return file.read_at(self.offset + start, size)


class BatchLayout(NamedTuple):
    """Places of a record batch.

    Args:
        rows: Number of its rows.
        buffers: Its buffers, in the order of the columns.
        view_buffers: For each column of views, in their order, the number of buffers that hold long values.
        compressed: Whether the buffers are compressed.
    """

    rows: int
    buffers: list[Extent]
    view_buffers: list[int]
    compressed: bool


class Block(NamedTuple):
    """A record batch: its metadata and, after that, its buffers."""

    offset: int
    metadata_size: int
    body_size: int


def read_blocks(file: OpenFile) -> list[Block]:
    """All record batches of an Arrow file, from its footer."""
    end = file.seek(0, 2) - len(MAGIC) - 4
    with _damages():
        (length,) = struct.unpack("<i", file.read_at(max(end, 0), 4))
        if not 0 <= length <= min(end, MAX_METADATA):
            raise _damaged()
        footer = _root(file.read_at(end - length, length))
        if footer.table(1).integer(0, "<h") != 0:
            raise FileError("expected an Arrow file of little-endian numbers, got big-endian ones; write it again")
        return [Block(*own) for own in footer.structs(3, "<qi4xq")]


def read_layout(file: OpenFile, block: Block) -> BatchLayout:
    """Layout of a record batch."""
    offset, metadata_size, body_size = block
    if min(block) < 0 or metadata_size > MAX_METADATA:
        raise _damaged()
    with _damages():
        metadata = file.read_at(offset, metadata_size)
        return _parse_layout(metadata, Extent(offset + metadata_size, body_size))


def _parse_layout(metadata: bytes, body: Extent) -> BatchLayout:
    message = _root(metadata[8:] if metadata.startswith(_CONTINUATION) else metadata[4:])
    if message.integer(1, "<B") != _RECORD_BATCH:
        raise _damaged()
    batch = message.table(2)
    rows = batch.integer(0, "<q")
    buffers = [Extent(body.offset + start, size) for start, size in batch.structs(2, "<qq")]
    outside = any(not 0 <= size <= body.size - (offset - body.offset) for offset, size in buffers)
    if rows < 0 or outside or any(offset < body.offset for offset, _ in buffers):
        raise _damaged()
    return BatchLayout(rows, buffers, [own for (own,) in batch.structs(4, "<q")], batch.has(3))


class _Table:
    """A table of a flatbuffer: numbered fields, each of which may be absent."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place

    def _unpack(self, format: str, place: int) -> tuple[int, ...]:  # noqa: A002 - the word of struct
        if place < 0:
            raise _damaged()
        return struct.unpack_from(format, self._data, place)

    def _find(self, field: int) -> int | None:
        """Place of a field; None if it is absent."""
        names = self._place - self._unpack("<i", self._place)[0]
        entry = 4 + 2 * field
        offset = self._unpack("<H", names + entry)[0] if entry < self._unpack("<H", names)[0] else 0
        return self._place + offset if offset else None

    def has(self, field: int) -> bool:
        return self._find(field) is not None

    def integer(self, field: int, format: str) -> int:  # noqa: A002 - the word of struct
        place = self._find(field)
        return 0 if place is None else self._unpack(format, place)[0]

    def _follow(self, field: int) -> int | None:
        place = self._find(field)
        return None if place is None else place + self._unpack("<I", place)[0]

    def table(self, field: int) -> "_Table":
        place = self._follow(field)
        if place is None:
            raise _damaged()
        return _Table(self._data, place)

    def structs(self, field: int, format: str) -> Iterator[tuple[int, ...]]:  # noqa: A002 - the word of struct
        """Elements of a vector; none if it is absent."""
        place = self._follow(field)
        if place is None:
            return
        (count,), size = self._unpack("<I", place), struct.calcsize(format)
        if place + 4 + count * size > len(self._data):
            raise _damaged()
        yield from struct.iter_unpack(format, self._data[place + 4 : place + 4 + count * size])


def _root(data: bytes) -> _Table:
    return _Table(data, struct.unpack_from("<I", data)[0])


@contextmanager
def _damages() -> Iterator[None]:
    try:
        yield
    except struct.error:
        raise _damaged() from None


def _damaged() -> FileError:
    return FileError("expected a complete Arrow file, got one that is damaged, truncated or in another format")

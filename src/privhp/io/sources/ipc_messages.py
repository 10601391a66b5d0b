"""Messages of Arrow's IPC format: where the buffers of a record batch are in a file.

Arrow reads a record batch as a whole. With the places of its buffers, a part of
its rows can be read. Metadata are flatbuffers, of which only a few fields are needed.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from privhp.errors import FileError
from privhp.io.sources.arrow import MAX_WHOLE
from privhp.io.sources.identity import OpenFile

MAGIC = b"ARROW1"
MAX_METADATA = 2**26
"""Bytes of the footer of a file or the metadata of a batch."""

CONTINUATION = b"\xff\xff\xff\xff"
_DICTIONARY, _RECORD_BATCH = 2, 3  # types of the header of a message


class Extent(NamedTuple):
    """A part of a file."""

    offset: int
    size: int

    def read(self, file: OpenFile, start: int, size: int) -> bytes:
        """Bytes of a part of this part."""
        if start < 0 or size < 0 or start + size > self.size:
            raise damaged()
        return file.read_at(self.offset + start, size)


class BatchLayout(NamedTuple):
    """Places of a record batch, or of a dictionary.

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

    def size_of(self, buffers: Sequence[Extent], read: Callable[[int, int], bytes]) -> int:
        """Bytes of some of its buffers, decompressed.

        Args:
            buffers: The buffers.
            read: Reads a number of bytes at an offset. A compressed buffer begins with the size it had before.
        """
        if not self.compressed:
            return sum(size for _, size in buffers)
        return sum(
            max(size, int.from_bytes(read(offset, min(size, 8)), "little", signed=True)) for offset, size in buffers
        )


def check_size(size: int) -> None:
    """Refuse a part of the data that is too large to be read as a whole."""
    if size > MAX_WHOLE:
        raise FileError(
            f"expected record batches of at most {MAX_WHOLE >> 20} MiB, since compressed, nested or streamed ones are "
            "read as a whole; write the data again with fewer rows per batch"
        )


class Block(NamedTuple):
    """A record batch: its metadata and, after that, its buffers."""

    offset: int
    metadata_size: int
    body_size: int


class Footer(NamedTuple):
    """Record batches and dictionaries of an Arrow file."""

    batches: list[Block]
    dictionaries: list[Block]


def read_footer(file: OpenFile) -> Footer:
    """Places of all record batches and dictionaries of an Arrow file."""
    end = file.seek(0, 2) - len(MAGIC) - 4
    with _damages():
        (length,) = struct.unpack("<i", file.read_at(max(end, 0), 4))
        if not 0 <= length <= min(end, MAX_METADATA):
            raise damaged()
        footer = _root(file.read_at(end - length, length))
        if footer.table(1).integer(0, "<h") != 0:
            raise FileError("expected an Arrow file of little-endian numbers, got big-endian ones; write it again")
        batches, dictionaries = ([Block(*own) for own in footer.structs(field, "<qi4xq")] for field in (3, 2))
    return Footer(batches, dictionaries)


def read_layout(file: OpenFile, block: Block) -> BatchLayout:
    """Layout of a record batch or a dictionary."""
    offset, size, body_size = block
    if min(block) < 0 or size > MAX_METADATA:
        raise damaged()
    message = parse_message(file.read_at(offset, size), offset + size)
    if message.layout is None or message.body_size != body_size:
        raise damaged()
    return message.layout


class Message(NamedTuple):
    """Metadata of a message: the size of its body, and the layout of a record batch or a dictionary in it."""

    body_size: int
    layout: BatchLayout | None


def parse_message(metadata: bytes, body_offset: int) -> Message:
    """Read the metadata of a message, with its length before it, whose body is at an offset."""
    with _damages():
        message = _root(metadata[8:] if metadata.startswith(CONTINUATION) else metadata[4:])
        kind, body = message.integer(1, "<B"), Extent(body_offset, message.integer(3, "<q"))
        if kind not in (_DICTIONARY, _RECORD_BATCH):
            return Message(body.size, None)
        batch = message.table(2).table(1) if kind == _DICTIONARY else message.table(2)
        rows, places = batch.integer(0, "<q"), list(batch.structs(2, "<qq"))
        if rows < 0 or any(start < 0 or not 0 <= size <= body.size - start for start, size in places):
            raise damaged()
        buffers = [Extent(body.offset + start, size) for start, size in places]
        return Message(body.size, BatchLayout(rows, buffers, [own for (own,) in batch.structs(4, "<q")], batch.has(3)))


class _Table:
    """A table of a flatbuffer: numbered fields, each of which may be absent."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data, self._place = data, place

    def _unpack(self, format: str, place: int) -> tuple[int, ...]:  # noqa: A002 - the word of struct
        if place < 0:
            raise damaged()
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
            raise damaged()
        return _Table(self._data, place)

    def structs(self, field: int, format: str) -> Iterator[tuple[int, ...]]:  # noqa: A002 - the word of struct
        """Elements of a vector; none if it is absent."""
        place = self._follow(field)
        if place is None:
            return
        (count,), size = self._unpack("<I", place), struct.calcsize(format)
        if place + 4 + count * size > len(self._data):
            raise damaged()
        yield from struct.iter_unpack(format, self._data[place + 4 : place + 4 + count * size])


def _root(data: bytes) -> _Table:
    return _Table(data, struct.unpack_from("<I", data)[0])


@contextmanager
def _damages() -> Iterator[None]:
    try:
        yield
    except struct.error:
        raise damaged() from None


def damaged() -> FileError:
    """The error for a file that Arrow cannot have written."""
    return FileError("expected a complete Arrow file, got one that is damaged, truncated or in another format")

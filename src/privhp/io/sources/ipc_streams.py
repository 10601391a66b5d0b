"""Arrow streams, whose messages are checked before Arrow reads them."""

import io
from collections.abc import Iterator
from typing import Any

from privhp.errors import FileError
from privhp.io.sources.ipc_messages import CONTINUATION, MAX_METADATA, check_size, damaged, parse_message

_PREFIX = 8
_END_MARKS = (CONTINUATION + bytes(4), bytes(4))
"""Ends of a stream: now, and before version 0.15 of Arrow, whose prefixes had 4 bytes."""


class MessageStream:
    """A stream of messages, none of which takes much memory.

    Args:
        file: The open stream, decompressed.
    """

    closed = False

    def __init__(self, file: Any) -> None:
        self._file, self._pieces, self._piece = file, self._read_pieces(), io.BytesIO()

    def read(self, size: int) -> bytes:
        """Bytes of this number, fewer at the end only."""
        found = self._piece.read(size)
        while len(found) < size and (piece := next(self._pieces, b"")):
            self._piece = io.BytesIO(piece)
            found += self._piece.read(size - len(found))
        return found

    def _read_pieces(self) -> Iterator[bytes]:
        """Metadata and body of each message, then the mark of the end, without which the stream may be cut short."""
        while (prefix := self._file.read(_PREFIX)) not in _END_MARKS:
            if not prefix:
                raise FileError(
                    "expected a mark at the end of the Arrow stream, got none: the stream is cut short, or its writer "
                    "was not closed"
                )
            now = prefix.startswith(CONTINUATION)
            size = int.from_bytes(prefix[4:] if now else prefix[:4], "little")
            if len(prefix) < _PREFIX or not 0 < size <= MAX_METADATA:
                raise damaged()
            metadata = prefix + self._file.read(size if now else max(size - 4, 0))
            yield metadata
            if body := self._read_body(metadata):
                yield body
        if self._file.read(1):
            raise FileError("expected nothing after the end of the Arrow stream; write all data as one stream")
        yield prefix

    def _read_body(self, metadata: bytes) -> bytes:
        size, layout = parse_message(metadata, 0)
        check_size(size)
        body: bytes = self._file.read(max(size, 0))
        if layout is not None:
            check_size(layout.size_of(layout.buffers, lambda start, count: body[start : start + count]))
        return body

    def close(self) -> None:
        """Do nothing: the stream stays open."""

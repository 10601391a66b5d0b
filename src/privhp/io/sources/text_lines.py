"""Bytes cut into lines, in bounded memory.

A line ends at a newline byte and nowhere else: no quote, no escape and no
other byte can join two lines or cut one.
"""

from collections.abc import Iterator
from typing import Any

MAX_LINE = 2**20
"""Longest line that is read; a longer one is a lost record."""

_BLOCK = 2**20


class LineReader:
    """The lines of a text, in blocks of whole lines.

    A line beyond MAX_LINE may come shortened, but never to MAX_LINE or less,
    so its length still tells that it is too long.
    """

    def __init__(self, file: Any) -> None:
        """Take anything that can be read."""
        self._file = file
        self._rest = self._ready = b""
        self.read = 0
        """Bytes read so far."""

    def header(self) -> bytes | None:
        """The first line, without its newline; None if there is none."""
        for block, _ in self.blocks():
            line, _, self._ready = block.partition(b"\n")
            return line
        return None

    def skip_to(self, place: int) -> None:
        """Begin at a place that a block ended at, before anything is read."""
        if self._file.seekable():
            self._file.seek(place)
            self.read = place
        while self.read < place and (piece := self._file.read(min(place - self.read, _BLOCK))):
            self.read += len(piece)

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Whole lines, and the place after the last of them."""
        if self._ready:
            ready, self._ready = self._ready, b""
            yield ready, self.read - len(self._rest)
        while block := self._fill():
            end = block.rfind(b"\n") + 1
            if not end:
                self._rest = (self._rest + block)[: MAX_LINE + 1]
                continue
            whole, self._rest = b"".join((self._rest, memoryview(block)[:end])), block[end:]
            yield whole, self.read - len(self._rest)
        if self._rest:
            whole, self._rest = self._rest, b""
            yield whole, self.read

    def _fill(self) -> bytes:
        """A block, even of a pipe that gives less at once."""
        block: bytes = self._file.read(_BLOCK)
        while 0 < len(block) < _BLOCK and (more := self._file.read(_BLOCK - len(block))):
            block += more
        self.read += len(block)
        return block

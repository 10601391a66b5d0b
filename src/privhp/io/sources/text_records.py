"""Records of a text, in bounded memory.

A record ends at a line feed. A rule says which line feeds end one.
"""

import codecs
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.errors import FileError
from privhp.kernels import native

Offsets = NDArray[np.int64]

MAX_RECORD = 2**20
"""Length of the longest valid record; a longer one is invalid."""

_BLOCK = 2**20

_FORMATS = {
    b"\x1f\x8b\x08": "a gzip file; give it a name that ends in .gz, or pipe it through zcat",
    b"\x93NUMPY": "a NumPy array; give it a name that ends in .npy",
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or save the sheet as CSV",
    b"PAR1\x15": 'a Parquet file; give it a name that ends in .parquet, or choose format="parquet"',
    b"ARROW1\x00\x00": 'an Arrow file; give it a name that ends in .arrow, or choose format="arrow"',
    b"\x28\xb5\x2f\xfd": "a zstd file; give it a name that ends in .zst, or pipe it through zstdcat",
    b"\xfd7zXZ\x00": "an xz file; unpack it, or pipe it through xzcat",
    codecs.BOM_UTF16_LE: 'UTF-16 text; choose csv=CsvDialect(encoding="utf-16")',
    codecs.BOM_UTF16_BE: 'UTF-16 text; choose csv=CsvDialect(encoding="utf-16")',
    b"PRIVHP-R": "a release of privhp; load it with privhp.load",
    b"PRIVHP-C": "a checkpoint of privhp, which is confidential; open it with privhp.resume",
}
"""Other formats by their first bytes."""

_COMPRESSED = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00")
"""First bytes of gzip, zstd and xz. They are not UTF-8, so no record of a text begins with them."""


def check_is_text(header: bytes, expected: str = "comma-separated text") -> None:
    """Refuse a header that begins like another format. A line that may be a record must not be passed."""
    for beginning, kind in _FORMATS.items():
        if header.startswith(beginning):
            raise FileError(f"expected {expected}, got {kind}")


class Rule(Protocol):
    """Rule that finds the records of a text, which it is given piece by piece."""

    def bounds(self, piece: bytes) -> Offsets:
        """Bounds of the next piece: 0, and the offset after each line feed that ends a record."""

    def finish(self) -> None:
        """Refuse a text that ends where no record can end."""


class LineFeeds:
    """Rule that a record is a line. It has no state, so no line affects another."""

    def bounds(self, piece: bytes) -> Offsets:
        """0, and the offset after each line feed."""
        if native is None:
            feeds = np.flatnonzero(np.frombuffer(piece, dtype=np.uint8) == ord("\n"))
            return np.concatenate([[0], feeds + 1])
        bounds = np.empty(native.count_line_feeds(piece) + 1, dtype=np.int64)
        native.line_bounds(piece, bounds)
        return bounds

    def finish(self) -> None:
        """A line may end with the text."""


class Block(NamedTuple):
    """Complete records of a text.

    Args:
        text: Bytes of the records.
        bounds: Start of each record in the block, and where the next record would start.
        end: Offset of the end of the block in the file.
    """

    text: bytes
    bounds: Offsets
    end: int


def short_blocks(block: Block, rows: int) -> Iterator[Block]:
    """A block in parts of at most this many records, since each record takes memory for all its columns."""
    text, bounds, end = block
    for first in range(0, bounds.size - 1, rows):
        own = bounds[first : first + rows + 1]
        start, stop = int(own[0]), min(int(own[-1]), len(text))
        yield Block(text[start:stop], own - start, end - (len(text) - stop))


class RecordReader:
    """Reader of a text in blocks of complete records.

    A record beyond MAX_RECORD may be truncated, but stays longer than MAX_RECORD,
    so it is still recognised as invalid. A byte order mark before a header is left out. Before a record it is a part
    of this record: left out, it would be read in another way if the record before it were gone.

    Args:
        file: An open binary file.
        rule: Rule that finds the records.
        has_header: Whether the first record is a header.
        piped: Whether the text has no file name, which would say how it is compressed; compressed text is refused.
    """

    def __init__(self, file: Any, rule: Rule, *, has_header: bool = False, piped: bool = False) -> None:
        self._file, self._rule, self._has_header, self._piped = file, rule, has_header, piped
        self._rest = b""
        self._ready: Block | None = None
        self.read = 0
        """Bytes read so far."""

    def header(self) -> bytes | None:
        """First record without its line break, of limited length; None if the text is empty."""
        for text, bounds, end in self.blocks(endless=False):
            start = int(bounds[1])
            if start < len(text):
                self._ready = Block(text[start:], bounds[1:] - start, end)
            # Carriage returns belong to a line break if a line feed follows.
            return text[: start - 1].rstrip(b"\r") if start <= len(text) else text
        return None

    def skip_to(self, offset: int) -> None:
        """Move to the end of an earlier block, before anything is read."""
        if self._file.seekable():
            self._file.seek(offset)
            self.read = offset
        while self.read < offset and (piece := self._file.read(min(offset - self.read, _BLOCK))):
            self.read += len(piece)

    def blocks(self, *, endless: bool = True) -> Iterator[Block]:
        """Blocks of complete records.

        Args:
            endless: Whether a record may go on beyond MAX_RECORD, as an invalid one.
        """
        if self._ready is not None:
            ready, self._ready = self._ready, None
            yield ready
        while piece := self._next_piece():
            bounds = self._rule.bounds(piece)
            if bounds.size == 1:
                self._rest = (self._rest + piece)[: MAX_RECORD + 1]
                if not endless and len(self._rest) > MAX_RECORD:
                    raise FileError("the first line has more than 1 MiB, so this is not CSV with a header")
                continue
            end = int(bounds[-1])
            before, self._rest = self._rest, piece[end:]
            bounds[1:] += len(before)
            yield Block(b"".join((before, memoryview(piece)[:end])), bounds, self.read - len(self._rest))
        self._rule.finish()
        if self._rest:
            text, self._rest = self._rest, b""
            yield Block(text, np.array([0, len(text) + 1]), self.read)

    def _next_piece(self) -> bytes:
        """The next piece; of a pipe, from as many reads as needed."""
        piece: bytes = self._file.read(_BLOCK)
        while 0 < len(piece) < _BLOCK and (more := self._file.read(_BLOCK - len(piece))):
            piece += more
        is_first = self.read == 0
        self.read += len(piece)
        if is_first and self._piped and piece.startswith(_COMPRESSED):
            check_is_text(piece, "text")
        return piece.removeprefix(codecs.BOM_UTF8) if is_first and self._has_header else piece

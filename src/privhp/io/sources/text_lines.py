"""Lines of a text, in bounded memory.

A line ends at a newline byte only. Quotes and escapes neither join nor end
lines.
"""

from collections.abc import Iterator
from typing import Any

from privhp.errors import FileError

MAX_LINE = 2**20
"""Length of the longest valid line; a longer one is an invalid record."""

_BLOCK = 2**20

_FORMATS = {
    b"\x1f\x8b\x08": "a gzip file; give it a name that ends in .gz, or pipe it through zcat",
    b"\x93NUMPY": "a NumPy array; give it a name that ends in .npy",
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or save the sheet as CSV",
    b"PAR1\x15": 'a Parquet file; give it a name that ends in .parquet, or choose format="parquet"',
    b"ARROW1\x00\x00": 'an Arrow file; give it a name that ends in .arrow, or choose format="arrow"',
    b"\x28\xb5\x2f\xfd": "a zstd file; give it a name that ends in .zst, or pipe it through zstdcat",
    b"PRIVHP-R": "a release of privhp; load it with privhp.load",
    b"PRIVHP-C": "a checkpoint of privhp, which is confidential; open it with privhp.resume",
}
"""Other formats by their first bytes."""


def check_is_text(header: bytes) -> None:
    """Refuse a header that begins like another format. A line that may be a record must not be passed."""
    for beginning, kind in _FORMATS.items():
        if header.startswith(beginning):
            raise FileError(f"expected comma-separated text, got {kind}")


class LineReader:
    """Reader of a text in blocks of complete lines.

    A line beyond MAX_LINE may be truncated, but stays longer than MAX_LINE, so
    it is still recognised as invalid.

    Args:
        file: An open binary file.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._rest = self._ready = b""
        self.read = 0
        """Bytes read so far."""

    def header(self) -> bytes | None:
        """First line without its newline; None if the text is empty."""
        for block, _ in self.blocks():
            line, _, self._ready = block.partition(b"\n")
            return line
        return None

    def skip_to(self, offset: int) -> None:
        """Move to the end of an earlier block, before anything is read."""
        if self._file.seekable():
            self._file.seek(offset)
            self.read = offset
        while self.read < offset and (piece := self._file.read(min(offset - self.read, _BLOCK))):
            self.read += len(piece)

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Blocks of complete lines, each with the offset of its end."""
        if self._ready:
            ready, self._ready = self._ready, b""
            yield ready, self.read - len(self._rest)
        while block := self._next_block():
            end = block.rfind(b"\n") + 1
            if not end:
                self._rest = (self._rest + block)[: MAX_LINE + 1]
                continue
            lines, self._rest = b"".join((self._rest, memoryview(block)[:end])), block[end:]
            yield lines, self.read - len(self._rest)
        if self._rest:
            lines, self._rest = self._rest, b""
            yield lines, self.read

    def _next_block(self) -> bytes:
        """The next block; of a pipe, from as many reads as needed."""
        block: bytes = self._file.read(_BLOCK)
        while 0 < len(block) < _BLOCK and (more := self._file.read(_BLOCK - len(block))):
            block += more
        self.read += len(block)
        return block

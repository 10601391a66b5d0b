"""Reader of CSV."""

import codecs
from collections.abc import Iterator
from typing import Any

from privhp.domains.column import Indices
from privhp.errors import FileError
from privhp.io.sources.byte_streams import ByteStream, decompression_errors
from privhp.io.sources.csv_fields import split_line
from privhp.io.sources.csv_scanner import Scanner, take_lines
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection
from privhp.io.sources.text_lines import LineReader, check_is_text


class CsvReader:
    """Reader of comma-separated values, one record per line.

    A record with an invalid or missing field, or a line beyond 1 MiB, is skipped
    and keeps its row number. A quoted field ends within its line. The reading of
    a line never depends on another line.

    Args:
        name: The file, "-" for standard input.
        selection: The columns that make a record.
    """

    def __init__(self, name: str, selection: Selection) -> None:
        self._name, self._selection = name, selection
        self._bytes = ByteStream(name)
        try:
            with decompression_errors(name):
                self._lines = LineReader(self._bytes.file)
                indices = self._header_indices() if selection.header else selection.indices_by_number()
        except BaseException:
            self.close()
            raise
        self._scanner = Scanner(selection.fields, indices)

    def _header_indices(self) -> list[int]:
        """Indices of the selected columns in the header."""
        header = self._lines.header()
        if not header:
            raise FileError("the file is empty; expected a first line with the column names")
        check_is_text(header)
        try:
            fields = split_line(header.removeprefix(codecs.BOM_UTF8).rstrip(b"\r"))
            names = [field.decode("utf-8", "replace").strip() for field in fields]
        except ValueError:
            names = []
        return self._selection.indices_by_name(
            names,
            where="a header" if self._selection.names is None else "the first line",
            hint="names are separated by commas and matched by case; "
            "for a file without a header, use header=False and column numbers",
        )

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of lines; offsets are bytes of the decompressed text."""
        with decompression_errors(self._name):
            if start:
                self._reopen_at(start)
            for block, end in self._lines.blocks():
                yield FileBatch(_CsvLines(block, self._scanner, self._selection), end, self._bytes.share())

    def _reopen_at(self, start: int) -> None:
        """Open the file again at the offset of a line."""
        self._bytes.close()
        self._bytes = ByteStream(self._name)
        self._lines = LineReader(self._bytes.file)
        self._lines.skip_to(start)

    def close(self) -> None:
        """Close the file."""
        self._bytes.close()


class _CsvLines:
    """Lines of comma-separated values."""

    def __init__(self, block: bytes, scanner: Scanner, selection: Selection) -> None:
        self._block, self._scanner, self._selection = block, scanner, selection

    def __len__(self) -> int:
        return self._block.count(b"\n") + (not self._block.endswith(b"\n"))

    def records(self, taken: Indices | None = None) -> Any:
        block = self._block if taken is None else b"".join(line + b"\n" for line in take_lines(self._block, taken))
        columns, invalid = self._scanner.columns(block)
        return self._selection.to_batch(columns, invalid.size, invalid)

"""CSV text as a source."""

import codecs
from collections.abc import Iterator

from privhp.errors import FileError
from privhp.io.sources.byte_streams import ByteStream, whole_if_packed
from privhp.io.sources.csv_fields import split
from privhp.io.sources.csv_scanner import Scanner
from privhp.io.sources.magic import check_text
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection
from privhp.io.sources.text_lines import LineReader


class CsvReader:
    """Lines of comma-separated values, one record each.

    A field that cannot be read, a missing field, a line beyond 1 MiB: that
    record alone is lost, though its place is kept. A field may be quoted, within
    its line. No line is remembered while another is read.

    Args:
        name: Where the text is, "-" for standard input.
        selection: Which columns make a record.
    """

    def __init__(self, name: str, selection: Selection) -> None:
        self._name, self._selection = name, selection
        self._bytes = ByteStream(name)
        try:
            with whole_if_packed(name):
                self._lines = LineReader(self._bytes.file)
                places = self._named() if selection.header else selection.numbered()
        except BaseException:
            self.close()
            raise
        self._scanner = Scanner(selection.fields, places)

    def _named(self) -> list[int]:
        """Read the header and find the columns in it."""
        header = self._lines.header()
        if not header:
            raise FileError("expected a first line that names the columns, got an empty file")
        check_text(header)
        try:
            fields = split(header.removeprefix(codecs.BOM_UTF8).rstrip(b"\r"))
            names = [field.decode("utf-8", "replace").strip() for field in fields]
        except ValueError:
            names = []
        return self._selection.named(
            names,
            where="a header" if self._selection.asked is None else "the first line",
            hint="names are split at commas and matched by case; "
            "if the file has no header, choose header=False and give column numbers",
        )

    def batches(self, start: int) -> Iterator[FileBatch]:
        """A block of lines at a time; places are bytes of the text."""
        with whole_if_packed(self._name):
            if start:
                self._begin_at(start)
            for block, end in self._lines.blocks():
                columns, lost = self._scanner.columns(block)
                yield FileBatch(self._selection.pack(columns, lost.size, lost), end, self._bytes.share())

    def _begin_at(self, start: int) -> None:
        """Open the text again, at a place where a line begins."""
        self._bytes.close()
        self._bytes = ByteStream(self._name)
        self._lines = LineReader(self._bytes.file)
        self._lines.skip_to(start)

    def close(self) -> None:
        """Let go of the file."""
        self._bytes.close()

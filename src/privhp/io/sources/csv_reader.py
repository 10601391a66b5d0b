"""Reader of CSV."""

from collections.abc import Iterator
from typing import Any

from privhp.domains.column import Column, Indices
from privhp.domains.fields import Field, FieldKind
from privhp.errors import FileError
from privhp.io.sources.byte_streams import ByteStream, decompression_errors
from privhp.io.sources.csv_header import (
    check_delimiter,
    check_encoding,
    check_json,
    check_line_ends,
    check_log,
    describe_delimiter,
    first_line,
    header_names,
)
from privhp.io.sources.csv_records import record_rule
from privhp.io.sources.csv_scanner import Scanner
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection
from privhp.io.sources.text_records import Block, RecordReader, check_is_text, short_blocks

_PERSON = Field("person", FieldKind.DICTIONARY, nullable=True)


class CsvReader:
    """Reader of delimited values.

    A record with an invalid or missing field, with another number of fields than
    the header, or beyond 1 MiB is skipped and keeps its row number. The declared
    dialect says what a record is: in "lines" and "unquoted" the reading of a record never
    depends on another one, in "rfc4180" it does not if the quotes of all records are balanced.

    Args:
        name: Name of the file.
        file: The open file.
        selection: The columns that make a record.
    """

    def __init__(self, name: str, file: OpenFile, selection: Selection) -> None:
        self._name, self._file, self._selection = name, file, selection
        self._dialect = selection.csv.for_file(name)
        self._bytes = self._new_bytes()
        try:
            self._records = self._new_records()
            self._scanner, self._person_scanner = self._new_scanners()
        except BaseException:
            self.close()
            raise

    def _new_bytes(self) -> ByteStream:
        return ByteStream(self._name, self._file, encoding=self._dialect.encoding)

    def _new_records(self) -> RecordReader:
        has_header = self._selection.header
        return RecordReader(
            self._bytes.file, record_rule(self._dialect), has_header=has_header, piped=self._bytes.piped
        )

    def _new_scanners(self) -> tuple[Scanner, Scanner]:
        """Scanners of the selected columns and of that of persons, if there is one.

        Without a header no number of fields is public, so none is required.
        """
        width, indices = 0, list[int]()
        if self._selection.header:
            with decompression_errors(self._name):
                names = self._header()
            width, indices = len(names), self._indices(names)
        else:
            indices = self._selection.indices_by_number()
        size = len(self._selection.fields)
        persons = [_PERSON] * len(indices[size:])
        return (
            Scanner(self._selection.fields, indices[:size], width=width, dialect=self._dialect),
            Scanner(persons, indices[size:], width=width, dialect=self._dialect),
        )

    def _header(self) -> list[str]:
        """Names of the columns; none if the header cannot be read."""
        header = self._records.header()
        if not header:
            raise FileError("the file is empty; expected a first line with the column names")
        line = first_line(header)
        check_is_text(line)
        check_encoding(line, self._dialect)
        check_line_ends(header, self._dialect)
        names = header_names(header, self._dialect)
        if self._selection.names is None or not self._selection.finds(names):
            check_json(header)
        check_log(header, self._dialect, self._selection.finds)
        check_delimiter(header, self._dialect, self._selection.finds)
        return names

    def _indices(self, names: list[str]) -> list[int]:
        """Indices of the selected columns in the header."""
        return self._selection.indices_by_name(
            names,
            where="a header" if self._selection.names is None else "the first line",
            hint=f"names are separated by {describe_delimiter(self._dialect)} and matched by case; "
            "for a file without a header, use header=False and column numbers from 1",
        )

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of records; offsets are bytes of the decompressed text."""
        with decompression_errors(self._name):
            if start:
                self._skip_to(start)
            for blocks in self._records.blocks():
                for block in short_blocks(blocks, self._selection.rows):
                    rows = _CsvRows(block, self._scanner, self._person_scanner, self._selection)
                    yield FileBatch(rows, block.end, self._bytes.share())

    def _skip_to(self, start: int) -> None:
        """Go on at the offset of a record."""
        self._bytes.close()
        self._file.seek(0)
        self._bytes = self._new_bytes()
        self._records = self._new_records()
        self._records.skip_to(start)

    def close(self) -> None:
        """Close the decompressor."""
        self._bytes.close()


class _CsvRows:
    """Records of delimited values."""

    def __init__(self, block: Block, scanner: Scanner, person_scanner: Scanner, selection: Selection) -> None:
        self._block, self._scanner, self._person_scanner = block, scanner, person_scanner
        self._selection = selection

    def __len__(self) -> int:
        return self._block.bounds.size - 1

    def records(self, taken: Indices | None = None) -> Any:
        text, bounds, _ = self._block
        rows = slice(None) if taken is None else taken
        columns, invalid = self._scanner.columns(text, bounds[:-1][rows], bounds[1:][rows])
        return self._selection.to_batch(columns, invalid.size, invalid)

    def persons(self) -> Column:
        text, bounds, _ = self._block
        (ids,), invalid = self._person_scanner.columns(text, bounds[:-1], bounds[1:])
        return Column(ids.values, invalid=invalid, dictionary=ids.dictionary)

"""CSV text as a source."""

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from privhp.domains import Domain, Table
from privhp.errors import FileError
from privhp.sources.columns import BATCH, column_numbers, dimensions
from privhp.sources.fields import converters, lost, real, split
from privhp.sources.foreign import check_text
from privhp.sources.lines import lines_by_block


class TextSource:
    """Lines of comma-separated values, one record each.

    A field that cannot be read, a missing field, a line beyond 1 MiB: that
    record alone is lost, though its place is kept. A field may be quoted, within
    its line. No line is remembered while another is read.

    Args:
        file: Where the lines come from.
        raw: The file on disk or the pipe beneath, whose position tells how much has been read.
        domain: Which kind of values to read, and how many a record has.
        columns: Names of columns in the header or, without one, their numbers
            from 1; by default a table's own names, or all that the header names,
            or the first ones.
        header: Whether the first line names the columns. If not, it is a record.
    """

    def __init__(
        self, file: BinaryIO, *, raw: BinaryIO, domain: Domain, columns: Sequence[str] | None, header: bool
    ) -> None:
        self._raw = raw
        self._blocks: Iterator[list[bytes]] = filter(None, lines_by_block(file))
        self._names = domain.names if isinstance(domain, Table) else None
        self._size = dimensions(domain)
        places = self._named(columns or self._names) if header else column_numbers(columns, self._size)
        self._fields = list(zip(converters(domain), places, strict=True))
        self._lost = tuple(lost(convert) for convert, _ in self._fields)

    def _named(self, columns: Sequence[str] | None) -> list[int]:
        """Read the header and find the columns in it. No message quotes it: it may be a record after all."""
        lines = next(self._blocks, [])
        if not lines:
            raise FileError("expected a first line that names the columns, got an empty file")
        check_text(lines[0])
        try:
            fields = split(lines[0].removeprefix(codecs.BOM_UTF8).rstrip(b"\r"))
            names = [field.decode("utf-8", "replace").strip() for field in fields]
        except ValueError:
            names = []
        self._blocks = chain([lines[1:]], self._blocks)
        if columns is None and len(names) == self._size:
            return list(range(self._size))
        if columns is None:
            chosen = ",".join(["NAME"] * self._size)
            raise FileError(
                f"expected a header of {self._size} column{'s' * (self._size > 1)}, as many as the domain takes, "
                f"got more or fewer; choose with --columns {chosen}"
            )
        for column in columns:
            if names.count(column) != 1:
                found = "it twice" if column in names else "no such name"
                raise FileError(
                    f"expected the first line to name a column {column!r}, got {found}; "
                    "names are split at commas and matched by case; "
                    "if the file has no header, add --no-header and give column numbers"
                )
        return [names.index(column) for column in columns]

    def batches(self) -> Iterator[Any]:
        """Arrays of shape (n,) or (n, d), lists where whole numbers must stay exact, or a dict of columns."""
        batch: list[Any] = []
        for lines in self._blocks:
            batch += map(self._read, lines)
            if len(batch) >= BATCH:
                yield self._pack(batch)
                batch = []
        yield self._pack(batch)

    def _read(self, line: bytes) -> tuple[Any, ...]:
        """The values of one line, whatever its bytes."""
        try:
            fields = split(line)
            return tuple([convert(fields[place]) for convert, place in self._fields])
        except (ValueError, IndexError):
            return self._lost

    def _pack(self, batch: list[tuple[Any, ...]]) -> Any:
        """Records as a domain takes them. An array of floats is read as a whole, anything else value by value."""
        if self._names is None and all(convert is real for convert, _ in self._fields):
            return np.array(batch, dtype=np.float64).reshape((-1,) if self._size == 1 else (-1, self._size))
        if self._names is None:
            return [values[0] for values in batch] if self._size == 1 else batch
        columns = zip(*batch, strict=True) if batch else [()] * self._size
        return {
            name: np.array(column, dtype=np.float64) if convert is real else list(column)
            for name, column, (convert, _) in zip(self._names, columns, self._fields, strict=True)
        }

    def share_read(self) -> float | None:
        """Share of the file's bytes that has been read; None for a pipe."""
        status = os.fstat(self._raw.fileno())
        return min(self._raw.tell() / max(status.st_size, 1), 1.0) if stat.S_ISREG(status.st_mode) else None

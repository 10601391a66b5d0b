"""Reader of NDJSON: one JSON object per line, one record each."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from privhp.domains.column import Column, Indices
from privhp.errors import FileError
from privhp.io.sources.byte_streams import ByteStream, decompression_errors
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection
from privhp.io.sources.text_records import MAX_RECORD, LineFeeds, RecordReader, short_blocks


class NdjsonReader:
    """Reader of JSON objects, one per line, whose keys are the columns.

    A line that is not an object, or is beyond 1 MiB, is skipped and keeps its
    row number. A missing key is null.

    Args:
        name: Name of the file.
        file: The open file.
        selection: The keys that make a record.
    """

    def __init__(self, name: str, file: OpenFile, selection: Selection) -> None:
        if selection.names is None:
            size = len(selection.fields)
            raise FileError(
                f"NDJSON needs the names of the keys that make a record; give them with columns={['NAME'] * size}"
            )
        self._name, self._selection, self._keys = name, selection, selection.names
        self._bytes = ByteStream(name, file)

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of lines; offsets are bytes of the decompressed text."""
        with decompression_errors(self._name):
            lines = RecordReader(self._bytes.file, LineFeeds(), piped=self._bytes.piped)
            if start:
                lines.skip_to(start)
            for block in lines.blocks():
                for text, _, end in short_blocks(block, self._selection.rows):
                    rows = _ObjectLines(text.removesuffix(b"\n").split(b"\n"), self._keys, self._selection)
                    yield FileBatch(rows, end, self._bytes.share())

    def close(self) -> None:
        """Close the decompressor."""
        self._bytes.close()


class _ObjectLines:
    """Lines of JSON objects, of which some keys make a record."""

    def __init__(self, lines: list[bytes], keys: list[str], selection: Selection) -> None:
        self._lines, self._keys, self._selection = lines, keys, selection
        self._person = "" if selection.persons is None else selection.persons.column

    def __len__(self) -> int:
        return len(self._lines)

    def records(self, taken: Indices | None = None) -> Any:
        lines = self._lines if taken is None else [self._lines[line] for line in taken.tolist()]
        rows = [_parse_object(line) for line in lines]
        invalid = np.array([row is None for row in rows], dtype=np.bool_)
        values = [[(row or {}).get(key) for row in rows] for key in self._keys]
        return self._selection.to_batch(values, len(rows), invalid)

    def persons(self) -> Column:
        rows = [_parse_object(line) for line in self._lines]
        invalid = np.array([row is None for row in rows], dtype=np.bool_)
        return Column([(row or {}).get(self._person) for row in rows], invalid=invalid)


def _parse_object(line: bytes) -> dict[str, Any] | None:
    """Object of one line; None if the line is not an object. `json` leaves out a byte order mark before any line."""
    if len(line) > MAX_RECORD:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

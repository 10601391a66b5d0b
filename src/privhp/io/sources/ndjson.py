"""Lines of JSON as a source: one object a line, one record each."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from privhp.errors import FileError
from privhp.io.sources.byte_streams import ByteStream, whole_if_packed
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection
from privhp.io.sources.text_lines import MAX_LINE, LineReader


class NdjsonReader:
    """Objects of JSON, one a line, whose keys are the columns.

    A line that is no object, or is beyond 1 MiB, is lost alone, and its place
    is kept. A key that is missing is null, and so is null.

    Args:
        name: Where the text is, "-" for standard input.
        selection: Which keys make a record.
    """

    def __init__(self, name: str, selection: Selection) -> None:
        if selection.asked is None:
            size = len(selection.fields)
            raise FileError(
                f"expected names of the keys that make a record, got none; choose with columns={['NAME'] * size}"
            )
        self._name, self._selection, self._keys = name, selection, selection.asked
        self._bytes = ByteStream(name)

    def batches(self, start: int) -> Iterator[FileBatch]:
        """A block of lines at a time; places are bytes of the text."""
        with whole_if_packed(self._name):
            lines = LineReader(self._bytes.file)
            if start:
                lines.skip_to(start)
            for block, end in lines.blocks():
                yield FileBatch(self._records(block.removesuffix(b"\n").split(b"\n")), end, self._bytes.share())

    def _records(self, lines: list[bytes]) -> Any:
        rows = [_object(line) for line in lines]
        lost = np.array([row is None for row in rows], dtype=np.bool_)
        values = [[(row or {}).get(key) for row in rows] for key in self._keys]
        return self._selection.pack(values, len(rows), lost)

    def close(self) -> None:
        """Let go of the file."""
        self._bytes.close()


def _object(line: bytes) -> dict[str, Any] | None:
    """The object of one line, whatever its bytes; None if there is none."""
    if len(line) > MAX_LINE:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

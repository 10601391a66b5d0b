"""What a program holds already, as a source: arrays, data frames, Arrow streams, iterators of batches."""

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from privhp.domains.column_batch import to_batch
from privhp.domains.to_column import is_column
from privhp.errors import RecordsError
from privhp.io.sources.optional import arrow
from privhp.io.sources.protocol import START, Batch, Position
from privhp.io.sources.selection import Selection


class InMemorySource:
    """Batches that cannot be gone back to.

    Args:
        data: An array or a sequence of records, a dict of arrays, a data frame, anything with
            Arrow's PyCapsule interface, or an iterator of any of these.
        selection: Which columns make a record.
    """

    size: int | None = None
    identity: str | None = None

    def __init__(self, data: Any, selection: Selection) -> None:
        self._data, self._selection = data, selection

    def batches(self, after: Position = START) -> Generator[Batch, None, None]:
        """All batches, once, in the thread that asks: whoever makes them may belong to it."""
        parts = self._data if isinstance(self._data, Iterator) and not _is_stream(self._data) else [self._data]
        for part in parts:
            for records in self._records(part):
                yield Batch(records)

    def _records(self, data: Any) -> Iterator[Any]:
        if _is_stream(data):
            yield from self._of_stream(data)
        elif _is_frame(data):
            for start in range(0, len(data), self._selection.rows):
                yield self._of_frame(data.iloc[start : start + self._selection.rows])
        elif isinstance(data, Mapping):
            yield self._of_frame(data)
        else:
            yield data

    def _of_stream(self, data: Any) -> Iterator[Any]:
        """Batches of Arrow, cut so that what domains make of them is small."""
        from privhp.io.sources.arrow import names_of, records_of

        pa = arrow("Arrow streams")
        try:
            reader = pa.RecordBatchReader.from_stream(data)
        except pa.ArrowException:  # a single column has no names, and domains take it as it is
            yield data
            return
        names = names_of(reader.schema, self._selection, "table")
        for batch in reader:
            for start in range(0, len(batch), self._selection.rows):
                yield records_of(batch.slice(start, self._selection.rows), names, self._selection)

    def _of_frame(self, frame: Any) -> Any:
        """The columns of a dict or a frame, which a table finds by itself."""
        known = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
        if self._selection.domain.reads_by_name and self._selection.columns is None:
            return frame
        places = self._selection.named(known, where="a table" if self._selection.asked is None else "the table")
        rows = to_batch(frame, [known[place] for place in places])
        return self._selection.pack(rows.columns, len(rows))


def _is_stream(data: Any) -> bool:
    """Whether it gives batches of Arrow; frames of pandas would be copied whole for that, so they are cut first."""
    return hasattr(data, "__arrow_c_stream__") and not _is_frame(data) and not is_column(data)


def _is_frame(data: Any) -> bool:
    """Whether it is a frame of pandas."""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def check_records(data: Any) -> None:
    """Refuse what can hold no records."""
    if data is None or isinstance(data, int | float | bool):
        raise RecordsError(f"expected a path, records, a frame or an iterator of batches, got {type(data).__name__}")

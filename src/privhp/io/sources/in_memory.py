"""Source of objects in memory: arrays, data frames, Arrow streams and iterables of batches."""

from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from privhp.domains.column import Column, Mask, concatenate
from privhp.domains.column_batch import ColumnBatch, index_levels, to_batch
from privhp.domains.to_column import is_column
from privhp.domains.unread_data import execution_errors, run
from privhp.errors import RecordsError
from privhp.io.optional import import_pyarrow
from privhp.io.sources.column_types import check_no_objects, column_type
from privhp.io.sources.object_forms import check_batch, holds_batches, is_frame, is_lazy, is_stream, is_table, row_count
from privhp.io.sources.protocol import START, Batch, Cap, Persons, Position, Sample, choose_rows
from privhp.io.sources.selection import Selection


class InMemorySource:
    """Source of an object in memory.

    Args:
        data: An array or a sequence of records, a dict of arrays, a data frame, a polars LazyFrame, anything with
            Arrow's PyCapsule interface, or an iterator of any of these. A list of frames and an iterable
            without a length also hold batches, and yield them anew in each pass.
        selection: The columns that make a record.
    """

    identity: str | None = None
    formats = frozenset[str]()

    def __init__(self, data: Any, selection: Selection) -> None:
        self._data, self._selection = LazyBatches(data) if is_lazy(data) else data, selection
        self._in_batches = holds_batches(self._data)

    @property
    def size(self) -> int | None:
        """Number of rows; None if the object does not tell it without being read."""
        return row_count(self._data)

    @property
    def rereadable(self) -> bool:
        """Whether the data is neither an iterator nor a stream; an Arrow stream without a length may be read once."""
        if is_stream(self._data):
            return hasattr(self._data, "__len__")
        return not isinstance(self._data, Iterator)

    @property
    def declared(self) -> frozenset[str]:
        """Parameters of the reading that the caller gave."""
        return self._selection.declared

    @property
    def persons(self) -> Persons | None:
        """The declared persons. All rows of a frame, a table or a dict are in memory, those of batches are not."""
        declared = self._selection.persons
        return None if declared is None else declared._replace(in_memory=is_table(self._data))

    def batches(
        self, after: Position = START, *, sample: Sample | None = None, cap: Cap | None = None
    ) -> Generator[Batch, None, None]:
        """All batches, read in the calling thread, since an iterator may depend on it."""
        read, known, whole, row = 0, self.size is not None, None, 0
        if cap is not None and is_table(self._data):
            whole = _mask_kept(cap, concatenate([part.persons() for part in self._parts(self._data)] or [Column([])]))
        for data in self._wholes():
            self._note_types(data)
            for part in self._parts(data):
                records, kept = part.records(), None
                read += part.rows
                if sample is None and cap is None:
                    yield Batch(records, read=read if known else None)
                    continue
                batch = self._as_sliceable(records)
                if cap is not None:
                    kept = _mask_kept(cap, part.persons()) if whole is None else whole[row : row + len(batch)]
                row += len(batch)
                for block in self._take(batch, kept, sample):
                    yield Batch(block, read=read if known else None)

    def _wholes(self) -> Iterator[Any]:
        """The data itself, or its batches one by one."""
        if not self._in_batches:
            yield self._data
            return
        for data in self._data:
            check_batch(data, self._selection.domain)
            yield from LazyBatches(data) if is_lazy(data) else [data]

    def _as_sliceable(self, records: Any) -> Any:
        batch = self._selection.domain.as_batch(records)
        return batch if isinstance(batch, Column | ColumnBatch | np.ndarray) else Column(list(batch))

    def _take(self, batch: Any, kept: Mask | None, sample: Sample | None) -> Iterator[Any]:
        """Rows taken of a batch, in blocks that bound the memory of a sample."""
        if kept is not None and kept.size != len(batch):
            raise RecordsError("the column of persons and the records differ in length; pass columns of equal length")
        for start in range(0, len(batch), self._selection.rows):
            rows = slice(start, start + self._selection.rows)
            block = batch[rows]
            yield block[choose_rows(len(block), None if kept is None else np.flatnonzero(kept[rows]), sample)]

    def _parts(self, data: Any) -> Iterator["_Part"]:
        """Data in parts that bound the memory of their conversion, where the number of rows is known."""
        size, rows = row_count(data), self._selection.rows
        if is_stream(data):
            yield from self._from_stream(data)
        elif size is not None:
            for start in range(0, max(size, 1), rows):
                yield self._part(_slice(data, start, start + rows), min(rows, size - start))
        else:
            yield self._part(data, 0)

    def _part(self, data: Any, rows: int) -> "_Part":
        if is_frame(data) or isinstance(data, Mapping):
            return _Part(partial(self._records, data), partial(self._persons, data), rows)
        return _Part(lambda: data, _refuse_persons, rows)

    def _note_types(self, data: Any) -> None:
        """Warn of columns of a suspicious type, in an array, a dict or a frame."""
        fields, names, domain = self._selection.fields, self._selection.names, self._selection.domain
        columns = list[tuple[Any, Any]]()
        if len(fields) == 1 or (isinstance(data, np.ndarray) and data.shape[1:] == (len(fields),)):
            columns = [(name, data) for name in names or (None,) * len(fields)]
        # The name of a series among batches may be the label of a row, which is data.
        name = getattr(data, "name", None) if is_column(data) and not self._in_batches else None
        if len(fields) == 1 and isinstance(name, str) and name:  # a series of polars has at least an empty one
            columns = [(name, data)]
        single = len(fields) == 1 and not domain.reads_by_name  # a table takes an array of objects for records
        if is_frame(data) or isinstance(data, Mapping):
            persons = None if self._selection.persons is None else self._selection.persons.column
            known = names or [name for name in data if str(name) != persons]
            if len(known) != len(fields) or not all(name in data for name in known):
                return  # the reading of the records refuses the data
            hidden = names is None and self._names_may_be_records(data)
            columns, single = [(None if hidden else name, data[name]) for name in known], True
        for (name, column), field in zip(columns, fields, strict=False):
            kind, type_name = column_type(column)
            plain_times = kind == "times" and isinstance(column, np.ndarray)  # NumPy's have no zone, as its users know
            if kind is not None and not plain_times and (single or kind != "objects"):
                label = "the data" if name is None else f"column {name!r}"
                self._selection.note_type(field, label, kind, type_name)

    def _from_stream(self, data: Any) -> Iterator["_Part"]:
        """Batches of an Arrow stream, sliced to the maximum number of rows."""
        from privhp.io.sources.arrow import ArrowRows, select_columns

        check_no_objects(data, self._selection.all_names)
        pa = import_pyarrow("Arrow streams")
        with execution_errors():
            try:
                reader = pa.RecordBatchReader.from_stream(data)
            except pa.ArrowException:  # a single column, which domains read directly
                reader = None
        if reader is None:
            yield self._part(data, 0)
            return
        names = select_columns(reader.schema, self._selection, "table", in_memory=True)
        for batch in run(reader):
            for start in range(0, len(batch), self._selection.rows):
                rows = ArrowRows(batch.slice(start, self._selection.rows), names, self._selection)
                yield _Part(rows.records, rows.persons, len(rows))

    def _names_may_be_records(self, data: Any) -> bool:
        """Whether data is a dict of an iterator, which may be a record of JSON: then no message quotes its names."""
        return self._in_batches and isinstance(data, Mapping)

    def _records(self, frame: Any) -> Any:
        """Selected columns of a dict or a frame; a table selects its columns itself."""
        domain, hidden = self._selection.domain, self._names_may_be_records(frame)
        if domain.reads_by_name and self._selection.columns is None and not hidden:
            return frame
        known = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
        indices = self._selection.indices_by_name(
            known,
            where="a table" if self._selection.names is None else "the table",
            in_memory=True,
            hidden=hidden,
            levels=index_levels(frame),
        )
        names = [known[index] for index in indices[: len(self._selection.fields)]]
        if hidden:
            own = self._selection.names or list(domain.value_names)
            frame, names = dict(zip(own, [frame[name] for name in names], strict=True)), own
        batch = to_batch(frame, names)
        return self._selection.to_batch(batch.columns, len(batch))

    def _persons(self, frame: Any) -> Column:
        """The column of persons of a dict or a frame."""
        declared = self._selection.persons
        return _refuse_persons() if declared is None else to_batch(frame, [declared.column]).columns[0]


class _Part(NamedTuple):
    """Part of the data: its records and the ids of their persons, each converted when it is called.

    Args:
        records: Returns the records.
        persons: Returns the id of the person of each record.
        rows: Number of rows; 0 if unknown.
    """

    records: Callable[[], Any]
    persons: Callable[[], Column]
    rows: int


def _refuse_persons() -> Column:
    raise RecordsError(
        "person= names a column of a file, a data frame or a dict of arrays; for other records, pass a dict of arrays "
        "with the ids of persons in one of them"
    )


def _mask_kept(cap: Cap, persons: Column) -> Mask:
    """Mask of the rows that a cap keeps."""
    kept = np.zeros(len(persons), dtype=np.bool_)
    kept[cap(persons)] = True
    return kept


class LazyBatches:
    """Result of a polars LazyFrame in batches; each iteration runs the query anew.

    Args:
        query: The LazyFrame.
    """

    def __init__(self, query: Any) -> None:
        self._query = query

    def __iter__(self) -> Iterator[Any]:
        with execution_errors():
            lazy = hasattr(self._query, "collect_batches")  # polars before 1.34 has none
            yield from self._query.collect_batches() if lazy else [self._query.collect()]


def _slice(data: Any, start: int, stop: int) -> Any:
    """Some rows of a frame, an array or a dict of arrays."""
    if isinstance(data, Mapping):
        return {name: column[start:stop] for name, column in data.items()}
    return data.iloc[start:stop] if is_frame(data) else data[start:stop]

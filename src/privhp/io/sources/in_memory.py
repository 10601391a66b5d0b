"""Source of objects in memory: arrays, data frames, Arrow streams and iterables of batches."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from privhp.domains.column import Column, Mask, concatenate
from privhp.domains.column_batch import ColumnBatch, index_levels, to_batch
from privhp.domains.conversion import type_name
from privhp.domains.domain import ValueKind
from privhp.domains.to_column import is_column
from privhp.errors import RecordsError
from privhp.io.optional import import_pyarrow
from privhp.io.sources.protocol import START, Batch, Cap, Persons, Position, Sample, choose_rows
from privhp.io.sources.selection import Selection


class InMemorySource:
    """Source of an object in memory.

    Args:
        data: An array or a sequence of records, a dict of arrays, a data frame, a polars LazyFrame, anything with
            Arrow's PyCapsule interface, or an iterator of any of these. An iterable without a length also holds
            batches, and yields them anew in each pass.
        selection: The columns that make a record.
    """

    identity: str | None = None
    formats = frozenset[str]()

    def __init__(self, data: Any, selection: Selection) -> None:
        self._data, self._selection = LazyBatches(data) if _is_lazy(data) else data, selection

    @property
    def size(self) -> int | None:
        """Number of rows; None if the object does not tell it without being read."""
        return _row_count(self._data)

    @property
    def rereadable(self) -> bool:
        """Whether the data is neither an iterator nor a stream; an Arrow stream without a length may be read once."""
        if _is_stream(self._data):
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
        return None if declared is None else declared._replace(in_memory=_is_table(self._data))

    def batches(
        self, after: Position = START, *, sample: Sample | None = None, cap: Cap | None = None
    ) -> Generator[Batch, None, None]:
        """All batches, read in the calling thread, since an iterator may depend on it."""
        read, known, whole, row = 0, self.size is not None, None, 0
        if cap is not None and _is_table(self._data):
            whole = _mask_kept(cap, concatenate([part.persons() for part in self._parts(self._data)] or [Column([])]))
        for data in self._data if _yields_batches(self._data) else [self._data]:
            _check_batch(data)
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
        size, rows = _row_count(data), self._selection.rows
        if _is_stream(data):
            yield from self._from_stream(data)
        elif size is not None:
            for start in range(0, max(size, 1), rows):
                yield self._part(_slice(data, start, start + rows), min(rows, size - start))
        else:
            yield self._part(data, 0)

    def _part(self, data: Any, rows: int) -> "_Part":
        if _is_frame(data) or isinstance(data, Mapping):
            return _Part(partial(self._records, data), partial(self._persons, data), rows)
        return _Part(lambda: data, _refuse_persons, rows)

    def _note_types(self, data: Any) -> None:
        """Warn of columns of a suspicious type, in an array, a dict or a frame."""
        fields, names, domain = self._selection.fields, self._selection.names, self._selection.domain
        columns: list[tuple[Any, Any]] = [(name, data) for name in names or (None,) * len(fields)]
        if len(fields) == 1 and is_column(data) and isinstance(getattr(data, "name", None), str):
            columns = [(data.name, data)]
        single = len(fields) == 1 and not domain.reads_by_name  # a table takes an array of objects for records
        if _is_frame(data) or isinstance(data, Mapping):
            persons = None if self._selection.persons is None else self._selection.persons.column
            known = names or [name for name in data if str(name) != persons]
            columns, single = [(name, data[name]) for name in known if name in data], True
        for (name, column), field in zip(columns, fields, strict=False):
            dtype = _value_type(column)
            kind = _kind_of(dtype)
            plain_times = kind == "times" and isinstance(column, np.ndarray)  # NumPy's have no zone, as its users know
            if kind is not None and not plain_times and (single or kind != "objects"):
                label = "the data" if name is None else f"column {name!r}"
                self._selection.note_type(field, label, kind, type_name(dtype))

    def _from_stream(self, data: Any) -> Iterator["_Part"]:
        """Batches of an Arrow stream, sliced to the maximum number of rows."""
        from privhp.io.sources.arrow import ArrowRows, select_columns

        pa = import_pyarrow("Arrow streams")
        try:
            reader = pa.RecordBatchReader.from_stream(data)
        except pa.ArrowException:  # a single column, which domains read directly
            yield self._part(data, 0)
            return
        names = select_columns(reader.schema, self._selection, "table", in_memory=True)
        for batch in reader:
            for start in range(0, len(batch), self._selection.rows):
                rows = ArrowRows(batch.slice(start, self._selection.rows), names, self._selection)
                yield _Part(rows.records, rows.persons, len(rows))

    def _records(self, frame: Any) -> Any:
        """Selected columns of a dict or a frame; a table selects its columns itself."""
        if self._selection.domain.reads_by_name and self._selection.columns is None:
            return frame
        known = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
        indices = self._selection.indices_by_name(
            known,
            where="a table" if self._selection.names is None else "the table",
            in_memory=True,
            levels=index_levels(frame),
        )
        batch = to_batch(frame, [known[index] for index in indices[: len(self._selection.fields)]])
        return self._selection.to_batch(batch.columns, len(batch))

    def _persons(self, frame: Any) -> Column:
        """The column of persons of a dict or a frame."""
        declared = self._selection.persons
        return _refuse_persons() if declared is None else to_batch(frame, [declared.column]).columns[0]


def _value_type(column: Any) -> Any:
    """Type of the values of a column, if it has one; of a categorical column, that of its categories."""
    dtype = getattr(column, "dtype", None)
    return getattr(getattr(dtype, "categories", None), "dtype", dtype)


def _kind_of(dtype: Any) -> ValueKind | Literal["objects"] | None:
    """Kind of the values of a type; None if the type does not determine it."""
    if dtype == np.dtype(object):
        return "objects"
    if issubclass(getattr(dtype, "type", object), str):
        return "text"
    kinds: dict[str, ValueKind] = {"b": "integers", "i": "integers", "u": "integers", "f": "numbers", "M": "times"}
    return kinds.get(getattr(dtype, "kind", ""))


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
        if hasattr(self._query, "collect_batches"):
            return iter(self._query.collect_batches())
        return iter([self._query.collect()])  # polars before 1.34


def _check_batch(data: Any) -> None:
    """Refuse a single record of the type of those of `itertuples`, whose values would be counted as records."""
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        raise RecordsError(
            "expected a batch of records, got a single one (a named tuple); pass the data frame itself, or a list of "
            "records"
        )


def _is_lazy(data: Any) -> bool:
    """Whether data is a polars LazyFrame."""
    return type(data).__name__ == "LazyFrame" and hasattr(data, "collect")


def _yields_batches(data: Any) -> bool:
    """Whether data is an iterator of batches, or an iterable of unknown length, which yields them anew each time."""
    if _is_stream(data):
        return False
    return isinstance(data, Iterator) or (isinstance(data, Iterable) and not hasattr(data, "__len__"))


def _is_stream(data: Any) -> bool:
    """Whether data is an Arrow stream. A pandas frame is sliced instead, since conversion would copy all of it."""
    return hasattr(data, "__arrow_c_stream__") and not _is_frame(data) and not is_column(data)


def _is_table(data: Any) -> bool:
    """Whether all rows of data with columns are in memory: a data frame, an Arrow table or a dict of arrays."""
    return _is_frame(data) or isinstance(data, Mapping) or (_is_stream(data) and _row_count(data) is not None)


def _is_frame(data: Any) -> bool:
    """Whether data is a pandas frame."""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _row_count(data: Any) -> int | None:
    """Number of rows of a frame, an array, a dict of arrays or an Arrow table; None for other data."""
    if _is_frame(data):
        return len(data)
    if isinstance(data, np.ndarray):
        return len(data) if data.ndim else None
    if isinstance(data, Mapping):
        lengths = {_row_count(column) if isinstance(column, np.ndarray) else None for column in data.values()}
        return lengths.pop() if len(lengths) == 1 else None
    rows = getattr(data, "height", getattr(data, "num_rows", None))  # of polars and of pyarrow
    return rows if isinstance(rows, int) else None


def _slice(data: Any, start: int, stop: int) -> Any:
    """Some rows of a frame, an array or a dict of arrays."""
    if isinstance(data, Mapping):
        return {name: column[start:stop] for name, column in data.items()}
    return data.iloc[start:stop] if _is_frame(data) else data[start:stop]


def has_column_names(data: Any) -> bool:
    """Whether data has columns to select: a data frame, a dict, an Arrow stream, a query, or batches, which may."""
    return _is_stream(data) or _is_frame(data) or isinstance(data, Mapping) or _is_lazy(data) or _yields_batches(data)


def check_records(data: Any) -> None:
    """Refuse data that holds no records."""
    if data is None or isinstance(data, int | float | bool):
        raise RecordsError(f"expected a path, records, a frame or an iterator of batches, got {type(data).__name__}")
    if type(data).__name__.endswith("GroupBy"):
        raise RecordsError(
            f"expected records, got the groups of a frame ({type(data).__name__}); pass the frame, or the rows of one "
            "group"
        )
    if type(data).__module__.partition(".")[0] == "pyspark":
        raise RecordsError(
            "a Spark data frame may be computed anew with its rows in another order, and each pass must count each row "
            "once; use privhp.engines.spark.fit, which checks that"
        )

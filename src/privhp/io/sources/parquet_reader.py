"""Reader of Parquet files."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from privhp.errors import FileError
from privhp.io.optional import import_pyarrow
from privhp.io.sources.arrow import (
    MAX_TEXT,
    MAX_WHOLE,
    ArrowRows,
    arrow_errors,
    column_name_errors,
    is_text,
    select_columns,
    short_slices,
    text_offsets,
)
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection

_BUFFER = 2**20  # bytes of a column per read; the writer of the file chose the size of column chunks


class ParquetReader:
    """Reader of the selected columns of a Parquet file, in batches of rows.

    A file stores a text that repeats once, in the dictionary of a row group. If a dictionary holds a long text, its
    texts are not copied into the rows.

    Args:
        name: Name of the file.
        file: The open file.
        selection: The columns that make a record.
    """

    def __init__(self, name: str, file: OpenFile, selection: Selection) -> None:
        self._opened, self._selection = file, selection
        self._file = self._open([])
        schema = self._file.schema_arrow
        self._names = select_columns(schema, selection, "file")
        self._texts = [column for column in self._names if is_text(schema.field(column).type)]
        kinds = [schema.field(column).type for column in self._texts]
        # Values of a fixed width are never in a dictionary: each row has its bytes.
        self._width = max((kind.byte_width for kind in kinds if _has_width(kind)), default=0)
        dictionaries = [column for column in self._names if hasattr(schema.field(column).type, "index_type")]
        if dictionaries:  # otherwise Arrow encodes them again, and one value that is not UTF-8 fails the batch
            self._file = self._open(dictionaries)
        if max(map(self._text_size, range(self._file.metadata.num_row_groups)), default=0) > MAX_WHOLE:
            raise FileError(
                f"expected row groups with at most {MAX_WHOLE >> 20} MiB of text in a column; write the file again "
                "with fewer rows per group"
            )

    @cached_property
    def _with_dictionaries(self) -> Any:
        """The file, with all texts in dictionaries."""
        return self._open(self._names)

    def _open(self, dictionaries: list[str]) -> Any:
        parquet = import_pyarrow("Parquet", "parquet")
        with arrow_errors("Parquet"), column_name_errors():
            return parquet.ParquetFile(
                self._opened, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=dictionaries
            )

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        row, metadata = 0, self._file.metadata
        with arrow_errors("Parquet"):
            for group in range(metadata.num_row_groups):
                end = row + metadata.row_group(group).num_rows
                if end > start:
                    for batch in self._group_batches(group):
                        for part, last in short_slices(batch, min(max(start - row, 0), len(batch)), len(batch)):
                            rows = ArrowRows(part, self._names, self._selection)
                            yield FileBatch(rows, row + last, (row + last) / metadata.num_rows)
                        row += len(batch)
                    if row != end:
                        raise FileError("expected as many rows as the file declares, got another number")
                row = end

    def _group_batches(self, group: int) -> Iterator[Any]:
        average = self._text_size(group) // max(self._file.metadata.row_group(group).num_rows, 1)
        rows = max(1, min(self._selection.rows, MAX_TEXT // max(average, self._width, 1)))
        file = self._file if self._longest_entry(group) * rows <= MAX_TEXT else self._with_dictionaries
        yield from file.iter_batches(rows, row_groups=[group], columns=self._names, use_threads=False)

    def _text_size(self, group: int) -> int:
        """Bytes of the largest selected column of text in a row group, without its repetitions."""
        metadata = self._file.metadata.row_group(group)
        columns = (metadata.column(index) for index in range(metadata.num_columns))
        sizes = (own.total_uncompressed_size for own in columns if own.path_in_schema in self._texts)
        return max(sizes, default=0)

    def _longest_entry(self, group: int) -> int:
        """Bytes of the longest text in the dictionaries of a row group."""
        if not self._texts:
            return 0
        first = next(
            self._with_dictionaries.iter_batches(1, row_groups=[group], columns=self._texts, use_threads=False), None
        )
        columns = [] if first is None else first.columns
        dictionaries = [column.dictionary for column in columns if not _has_width(column.type)]
        offsets = [own for own in map(text_offsets, dictionaries) if own is not None]
        return max((int(np.diff(own).max()) for own in offsets), default=0)

    def close(self) -> None:
        """Do nothing: Arrow opened nothing."""


def _has_width(kind: Any) -> bool:
    """Whether a type is one of bytes of a fixed width."""
    return bool(import_pyarrow("Parquet").types.is_fixed_size_binary(kind))

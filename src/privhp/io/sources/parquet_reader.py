"""Reader of Parquet files."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from privhp.errors import FileError
from privhp.io.sources.arrow import ArrowRows, arrow_errors, column_name_errors, select_columns
from privhp.io.sources.identity import OpenFile
from privhp.io.sources.optional import import_pyarrow
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection

_BUFFER = 2**20  # bytes of a column per read; the writer of the file chose the size of column chunks


class ParquetReader:
    """Reader of the selected columns of a Parquet file, in batches of rows.

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
        dictionaries = [column for column in self._names if hasattr(schema.field(column).type, "index_type")]
        if dictionaries:  # otherwise Arrow encodes them again, and one value that is not UTF-8 fails the batch
            self._file.close()
            self._file = self._open(dictionaries)

    def _open(self, dictionaries: list[str]) -> Any:
        parquet = import_pyarrow("Parquet", "parquet")
        with arrow_errors("Parquet"), column_name_errors():
            return parquet.ParquetFile(
                self._opened, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=dictionaries
            )

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        metadata = self._file.metadata
        ends = np.cumsum([metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)], dtype=int)
        first = int(np.searchsorted(ends, start, side="right"))
        row = int(ends[first - 1]) if first else 0
        with arrow_errors("Parquet"):
            for batch in self._file.iter_batches(
                self._selection.rows,
                row_groups=list(range(first, metadata.num_row_groups)),
                columns=self._names,
                use_threads=False,
            ):
                begin, row = row, row + len(batch)
                if row > start:
                    rows = ArrowRows(batch.slice(max(start - begin, 0)), self._names, self._selection)
                    yield FileBatch(rows, row, row / metadata.num_rows)
        if row != metadata.num_rows:
            raise FileError("expected as many rows as the file declares, got another number; write the file again")

    def close(self) -> None:
        """Close what Arrow opened."""
        self._file.close()

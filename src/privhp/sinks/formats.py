"""One class for each format that synthetic records are written in."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain
from privhp.domains.frames import arrow_array, form_of
from privhp.errors import FileError
from privhp.sinks.values import as_written, with_dotted_addresses
from privhp.sources.extra import arrow

Columns = Sequence[tuple[Domain, NDArray[Any]]]
"""Each column of some rows, with the domain that it belongs to."""

_TRUTH = {False: "false", True: "true"}
_LINES = 2**16  # rows turned into text at once


class Sink(Protocol):
    """Somewhere to put rows."""

    def write(self, columns: Columns) -> None:
        """Put some rows after those before."""

    def close(self) -> None:
        """Write what ends the file."""


class _Text:
    """Rows as lines of text."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        self._file, self._names = file, list(names)

    def write(self, columns: Columns) -> None:
        """Turn some rows into text at a time."""
        for start in range(0, len(columns[0][1]), _LINES):
            part = slice(start, start + _LINES)
            self._write_rows([as_written(own, values[part]) for own, values in columns])

    def _write_rows(self, columns: Sequence[Sequence[Any]]) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing ends a text."""


class Csv(_Text):
    """Comma-separated text with a header."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        """Write the header."""
        super().__init__(file, names)
        self._write_rows([[name] for name in names])

    def _write_rows(self, columns: Sequence[Sequence[Any]]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(zip(*map(self._values, columns), strict=True))
        self._file.write(text.getvalue().encode())

    def _values(self, column: Sequence[Any]) -> Sequence[Any]:
        """Truth values in the words that all readers know."""
        if not any(isinstance(value, bool) for value in column):
            return column
        return [_TRUTH.get(value) for value in column]


class Ndjson(_Text):
    """One object of JSON a line."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        """Prepare what is the same in every line."""
        super().__init__(file, names)
        self._encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
        keys = [self._encode(name).replace("%", "%%") for name in names]
        self._line = "{" + ",".join(f"{key}:%s" for key in keys) + "}\n"

    def _write_rows(self, columns: Sequence[Sequence[Any]]) -> None:
        values = map(self._values, columns)
        self._file.write("".join(map(self._line.__mod__, zip(*values, strict=True))).encode())

    def _values(self, column: Sequence[Any]) -> list[str]:
        """Each value as JSON; numbers and null, which have no commas in them, all at once."""
        if any(isinstance(value, str) for value in column):
            return list(map(self._encode, column))
        return self._encode(column)[1:-1].split(",")


class Npy:
    """A NumPy array of plain numbers or times."""

    def __init__(self, file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Write the header, which has to know the number of rows."""
        self._file = file
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

    def write(self, columns: Columns) -> None:
        """Put the columns side by side."""
        arrays = [values for _, values in columns]
        self._file.write(np.stack(arrays, axis=1).data if len(arrays) > 1 else np.ascontiguousarray(arrays[0]).data)

    def close(self) -> None:
        """Nothing ends an array."""


class _Arrow:
    """Batches of Arrow, whose types are those of the domains; null is null."""

    def __init__(self, file: BinaryIO, names: Sequence[str], like: Columns) -> None:
        self._names = list(names)
        self._pa = arrow(f"writing {type(self).__name__}")
        self._schema = self._batch(like).schema
        self._writer = self._open(file)

    def _open(self, file: BinaryIO) -> Any:
        raise NotImplementedError

    def write(self, columns: Columns) -> None:
        """Write a batch."""
        self._writer.write_batch(self._batch(columns))

    def _batch(self, columns: Columns) -> Any:
        arrays = [self._array(domain, with_dotted_addresses(domain, values)) for domain, values in columns]
        fields = [self._pa.field(name, array.type) for name, array in zip(self._names, arrays, strict=True)]
        return self._pa.RecordBatch.from_arrays(arrays, schema=self._pa.schema(fields))

    def _array(self, domain: Domain, values: NDArray[Any]) -> Any:
        if values.dtype.kind == "O":  # long texts, and whole numbers that no type of Arrow holds
            values = values.astype(np.str_)
        return arrow_array(self._pa, values, form_of(domain))

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()


class Parquet(_Arrow):
    """A Parquet file with a row group for each chunk."""

    def _open(self, file: BinaryIO) -> Any:
        return arrow("writing Parquet", "parquet").ParquetWriter(file, self._schema)


class Ipc(_Arrow):
    """A file of Arrow's own format."""

    def _open(self, file: BinaryIO) -> Any:
        return arrow("writing Arrow", "ipc").new_file(file, self._schema)


def check_plain(like: Any, name: str) -> None:
    """Refuse what a .npy file cannot hold as it is."""
    plain = isinstance(like, np.ndarray) and not isinstance(like, np.ma.MaskedArray) and like.dtype.kind != "O"
    if not plain:
        raise FileError(f"expected an output that ends in .csv or .parquet for what is no array of numbers, got {name}")

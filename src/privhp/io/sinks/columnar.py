"""One class for each format of arrays and columns that synthetic records are written in."""

from collections.abc import Sequence
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from privhp.domains.fields import OutputForm
from privhp.errors import FileError
from privhp.io.frames import arrow_array
from privhp.io.sinks.text_values import with_text_form
from privhp.io.sinks.text_writer import Columns
from privhp.io.sources.optional import arrow


class Sink(Protocol):
    """Somewhere to put rows."""

    def write(self, columns: Columns) -> None:
        """Put some rows after those before."""

    def close(self) -> None:
        """Write what ends the file."""


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
        arrays = [self._array(form, with_text_form(form, values)) for form, values in columns]
        fields = [self._pa.field(name, array.type) for name, array in zip(self._names, arrays, strict=True)]
        return self._pa.RecordBatch.from_arrays(arrays, schema=self._pa.schema(fields))

    def _array(self, form: OutputForm, values: NDArray[Any]) -> Any:
        if values.dtype.kind == "O":  # long texts, and whole numbers that no type of Arrow holds
            values = values.astype(np.str_)
        return arrow_array(self._pa, values, form)

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


class IpcStream(_Arrow):
    """Arrow's own format for pipes."""

    def _open(self, file: BinaryIO) -> Any:
        return arrow("writing Arrow", "ipc").new_stream(file, self._schema)


def check_plain(like: Any) -> None:
    """Refuse what a .npy file cannot hold as it is."""
    plain = isinstance(like, np.ndarray) and not isinstance(like, np.ma.MaskedArray) and like.dtype.kind != "O"
    if not plain:
        raise FileError("expected an output that ends in .csv or .parquet for what is no array of numbers, got .npy")

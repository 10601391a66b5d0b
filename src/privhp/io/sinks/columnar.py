"""Writers of arrays and columns: NumPy, Parquet and Arrow, one class per format."""

from collections.abc import Sequence
from typing import Any, BinaryIO, Protocol

import numpy as np

from privhp.errors import FileError
from privhp.io.frames import arrow_batch
from privhp.io.optional import import_pyarrow
from privhp.io.sample_chunks import Columns


class Sink(Protocol):
    """Writer of rows in one format."""

    def write(self, columns: Columns) -> None:
        """Append rows."""

    def close(self) -> None:
        """Complete the file."""


class Npy:
    """Writer of a NumPy array of numbers or times.

    Args:
        file: An open binary file.
        shape: Shape of the whole array, which the header states.
        dtype: Type of the array.
    """

    def __init__(self, file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._file = file
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

    def write(self, columns: Columns) -> None:
        """Append rows."""
        arrays = [values for _, values in columns]
        self._file.write(np.stack(arrays, axis=1).data if len(arrays) > 1 else np.ascontiguousarray(arrays[0]).data)

    def close(self) -> None:
        """Do nothing: an array has no footer."""


class _Arrow:
    """Writer of Arrow batches with the types of the domains.

    Args:
        file: An open binary file.
        names: Names of the columns.
        example: Columns without rows, for their types.
    """

    def __init__(self, file: BinaryIO, names: Sequence[str], example: Columns) -> None:
        self._names = list(names)
        self._pa = import_pyarrow(f"writing {type(self).__name__}")
        self._schema = self._batch(example).schema
        self._writer = self._open(file)

    def _open(self, file: BinaryIO) -> Any:
        raise NotImplementedError

    def write(self, columns: Columns) -> None:
        """Append a batch of rows."""
        self._writer.write_batch(self._batch(columns))

    def _batch(self, columns: Columns) -> Any:
        return arrow_batch(self._pa, self._names, columns)

    def close(self) -> None:
        """Write the footer."""
        self._writer.close()


class Parquet(_Arrow):
    """Writer of a Parquet file with one row group per chunk."""

    def _open(self, file: BinaryIO) -> Any:
        return import_pyarrow("writing Parquet", "parquet").ParquetWriter(file, self._schema)


class Ipc(_Arrow):
    """Writer of an Arrow IPC file."""

    def _open(self, file: BinaryIO) -> Any:
        return import_pyarrow("writing Arrow", "ipc").new_file(file, self._schema)


class IpcStream(_Arrow):
    """Writer of an Arrow IPC stream, for pipes."""

    def _open(self, file: BinaryIO) -> Any:
        return import_pyarrow("writing Arrow", "ipc").new_stream(file, self._schema)


def check_npy(example: Any) -> None:
    """Refuse samples that a .npy file cannot hold."""
    plain = isinstance(example, np.ndarray) and not isinstance(example, np.ma.MaskedArray)
    if not plain or example.dtype.kind == "O":
        raise FileError(
            "a .npy file holds one array without null, and samples of this domain are not one; write .csv or .parquet"
        )

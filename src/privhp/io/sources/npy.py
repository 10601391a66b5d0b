"""Reader of NumPy's .npy files."""

import mmap
from collections.abc import Iterator
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains.column import Indices
from privhp.domains.conversion import type_name
from privhp.domains.domain import ValueKind
from privhp.errors import FileError
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection


class NpyReader:
    """Reader of an array of numbers, in batches of rows of a memory map.

    All records have the type of the array, so integers in an array of integers
    stay exact. Pickled objects are refused.

    Args:
        name: The file.
        selection: The columns that make a record, by number, for an array of shape (n, d); by default all.
    """

    def __init__(self, name: str, selection: Selection) -> None:
        self._selection = selection
        array = _open(name)
        self._map: Any = array.base
        self._rows = array.reshape(-1, 1) if array.ndim == 1 else array
        width = self._rows.shape[1]
        if selection.columns is None and width != len(selection.fields):
            raise FileError(
                f"expected an array with {len(selection.fields)} numbers per record, got another shape; "
                "select columns by number with columns=['1', ...]"
            )
        self._indices = selection.indices_by_number()
        if max(self._indices) >= width:
            raise FileError(f"expected an array with at least {max(self._indices) + 1} columns, got fewer")
        for index, field in zip(self._indices, selection.fields, strict=True):
            kind: ValueKind = "numbers" if array.dtype.kind == "f" else "integers"
            selection.check_type(field, str(index + 1), kind, str(array.dtype))

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Batches of rows; offsets are row numbers."""
        rows = len(self._rows)
        for first in range(start, rows, self._selection.rows):
            batch = np.array(self._rows[first : first + self._selection.rows])
            if isinstance(self._map, mmap.mmap):
                self._map.madvise(mmap.MADV_DONTNEED)  # otherwise all pages that were read stay in memory
            end = first + len(batch)
            yield FileBatch(_ArrayRows(batch, self._indices, self._selection), end, end / rows)

    def close(self) -> None:
        """Do nothing: the memory map is closed with the array."""


class _ArrayRows:
    """Rows of an array, of which some columns make a record."""

    def __init__(self, array: NDArray[Any], indices: list[int], selection: Selection) -> None:
        self._array, self._indices, self._selection = array, indices, selection

    def __len__(self) -> int:
        return len(self._array)

    def records(self, taken: Indices | None = None) -> Any:
        rows = self._array if taken is None else self._array[taken]
        return self._selection.to_batch([rows[:, index] for index in self._indices], len(rows))


def _open(name: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.lib.format.open_memmap(name, mode="r")
    except (ValueError, SyntaxError, TypeError, EOFError, TokenError):
        raise FileError(
            "expected a .npy file of plain numbers, got one that is damaged, pickled or in another format; "
            "write it with numpy.save"
        ) from None
    if array.dtype.kind not in "biuf":
        raise FileError(f"expected a .npy file of numbers, got one of {type_name(array.dtype)}; convert it first")
    if array.ndim not in (1, 2):
        raise FileError(f"expected a .npy file of shape (n,) or (n, d), got {array.ndim} dimensions; reshape it first")
    return array

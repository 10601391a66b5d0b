"""NumPy's .npy files as a source."""

import mmap
from collections.abc import Iterator
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains.conversion import type_name
from privhp.domains.domain import ValueKind
from privhp.errors import FileError
from privhp.io.sources.protocol import FileBatch
from privhp.io.sources.selection import Selection


class NpyReader:
    """An array of numbers on disk, read a batch at a time through a memory map.

    The type of the array holds for all its records, so whole numbers stay
    exact in an array of integers. Pickled objects are refused.

    Args:
        name: The file.
        selection: Which columns make a record, by number, for an array of shape (n, d); by default all.
    """

    def __init__(self, name: str, selection: Selection) -> None:
        self._selection = selection
        array = _open(name)
        self._map: Any = array.base
        self._rows = array.reshape(-1, 1) if array.ndim == 1 else array
        width = self._rows.shape[1]
        if selection.columns is None and width != len(selection.fields):
            raise FileError(
                f"expected an array with {len(selection.fields)} numbers a record, got another shape; "
                "choose columns by number with columns=['1', ...]"
            )
        self._places = selection.numbered()
        if max(self._places) >= width:
            raise FileError(f"expected an array with at least {max(self._places) + 1} columns, got fewer")
        for place, field in zip(self._places, selection.fields, strict=True):
            holds: ValueKind = "numbers" if array.dtype.kind == "f" else "integers"
            selection.check(field, str(place + 1), holds, str(array.dtype))

    def batches(self, start: int) -> Iterator[FileBatch]:
        """Some rows at a time; places are rows."""
        rows = len(self._rows)
        for first in range(start, rows, self._selection.rows):
            batch = np.array(self._rows[first : first + self._selection.rows])
            if isinstance(self._map, mmap.mmap):
                self._map.madvise(mmap.MADV_DONTNEED)  # else all that was read stays in memory
            end = first + len(batch)
            columns = [batch[:, place] for place in self._places]
            yield FileBatch(self._selection.pack(columns, len(batch)), end, end / rows)

    def close(self) -> None:
        """Nothing: the memory map goes with the array."""


def _open(name: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.lib.format.open_memmap(name, mode="r")
    except (ValueError, SyntaxError, TypeError, EOFError, TokenError):
        raise FileError(
            "expected a .npy file of plain numbers, got one that is damaged, pickled or of another kind; "
            "write it with numpy.save"
        ) from None
    if array.dtype.kind not in "biuf":
        raise FileError(f"expected a .npy file of numbers, got one of {type_name(array.dtype)}; convert it first")
    if array.ndim not in (1, 2):
        raise FileError(f"expected a .npy file of shape (n,) or (n, d), got {array.ndim} dimensions; reshape it first")
    return array

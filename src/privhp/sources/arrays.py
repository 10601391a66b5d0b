"""NumPy's .npy files as a source."""

from collections.abc import Iterator, Sequence
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.domains import Domain
from privhp.errors import FileError
from privhp.sources.columns import BATCH, column_numbers, dimensions


class ArraySource:
    """An array of numbers on disk, read a batch at a time through a memory map.

    The type of the array holds for all its records, so whole numbers stay
    exact in an array of integers. Pickled objects are refused.

    Args:
        path: The file.
        domain: How many numbers a record has.
        columns: Numbers of columns from 1, for an array of shape (n, d); by default all.
    """

    def __init__(self, path: str, *, domain: Domain, columns: Sequence[str] | None) -> None:
        self._array = _open(path)
        size = dimensions(domain)
        width = 1 if self._array.ndim == 1 else self._array.shape[1]
        if columns is None and width != size:
            raise FileError(
                f"expected an array with {size} numbers a record, got another shape; "
                "choose columns by number with --columns"
            )
        self._places = column_numbers(columns, size)
        if max(self._places) >= width:
            raise FileError(f"expected an array with at least {max(self._places) + 1} columns, got fewer")
        self._done = 0

    def batches(self) -> Iterator[NDArray[Any]]:
        """Arrays of shape (n,) or (n, d)."""
        rows = self._array.reshape(-1, 1) if self._array.ndim == 1 else self._array
        for start in range(0, len(rows), BATCH):
            batch = np.asarray(rows[start : start + BATCH])[:, self._places]
            yield batch[:, 0] if len(self._places) == 1 else batch
            self._done = start + BATCH

    def share_read(self) -> float:
        """Share of the file that has been read."""
        return min(self._done / max(len(self._array), 1), 1.0)


def _open(path: str) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, SyntaxError, TypeError, EOFError, TokenError):
        raise FileError(
            "expected a .npy file of plain numbers, got one that is damaged, pickled or of another kind; "
            "write it with numpy.save"
        ) from None
    if array.dtype.kind not in "biuf":
        raise FileError(f"expected a .npy file of numbers, got one of {array.dtype}; convert it first")
    if array.ndim not in (1, 2):
        raise FileError(f"expected a .npy file of shape (n,) or (n, d), got {array.ndim} dimensions; reshape it first")
    return array

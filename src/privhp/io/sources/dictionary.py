"""A column of few distinct values, each kept once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts


class Dictionary:
    """The distinct values, and the type of their places, by the names that Arrow has for them."""

    index_type = np.int64

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)

    def to_pylist(self) -> list[Any]:
        """The values."""
        return self._values


class Coded:
    """Values by their place in a list, which domains read as a column of Arrow with a dictionary.

    Args:
        indices: The place of each value.
        values: The list; None in it is null.
    """

    def __init__(self, indices: Counts, values: Sequence[Any]) -> None:
        self.indices = indices
        self.dictionary = self.type = Dictionary(values)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, part: slice) -> "Coded":
        return Coded(self.indices[part], self.dictionary.to_pylist())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_pylist())

    def to_pylist(self) -> list[Any]:
        """Every value."""
        values = self.dictionary.to_pylist()
        return [values[place] for place in self.indices.tolist()]

    def is_null(self) -> NDArray[np.bool_]:
        """Which of them are null."""
        null = np.array([value is None for value in self.dictionary.to_pylist()], dtype=np.bool_)
        return null[self.indices]

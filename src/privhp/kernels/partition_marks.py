"""Marks in the counters of a learned partition.

A counter holds the count of a cell, or, once the cell is split, a mark: the
index of the first child's counter, the number of levels of the split and the
refinement that made it. The counting loops follow marks; `planning.partition`
writes them.
"""

import numpy as np
from numpy.typing import NDArray

MARK_LIMIT = -(2**62)
"""Values below this are marks; counts and noise never come near it."""


def split_mark(first: NDArray[np.int64], levels: int, refinement: int) -> NDArray[np.int64]:
    """Marks of cells that one refinement splits by `levels`, from the index of each cell's first child."""
    mark: NDArray[np.int64] = (first << 16 | levels << 8 | refinement) + np.iinfo(np.int64).min
    return mark


def read_split_mark(marks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Index of the first child, number of levels and refinement of each mark."""
    fields = marks - np.iinfo(np.int64).min
    return fields >> 16, fields >> 8 & 0xFF, fields & 0xFF

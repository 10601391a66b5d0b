"""A cell is an integer.

The hierarchy of a domain is a binary tree. The cell reached from the root by a
path of `level` left-or-right steps is the number whose binary digits are that
path, so its parent is one right shift away and its children are neighbours.
This room knows nothing of records, counts or noise.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.uint64]
Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

MAX_DEPTH = 63
"""Deepest level any domain may have, so that every cell fits a uint64 with room for OUTSIDE."""

OUTSIDE = np.uint64(2**64 - 1)
"""What `Domain.encode` returns for a record that has no cell."""


def ancestors(codes: Codes, *, levels: int) -> Codes:
    """Cells that lie `levels` steps above the given ones."""
    return codes >> np.uint64(levels)


def descendants(codes: Codes, *, levels: int) -> Codes:
    """All cells `levels` steps below each given cell, one row per cell, in order."""
    return (codes << np.uint64(levels))[:, None] | np.arange(2**levels, dtype=np.uint64)


def domain_order(codes: Codes, levels: NDArray[np.int64], *, depth: int) -> NDArray[np.int64]:
    """Where the cells of a partition are, in the order of the domain."""
    return np.argsort(codes << (depth - levels).astype(np.uint64), kind="stable")


def fold(counts: NDArray[Any], *, levels: int) -> NDArray[Any]:
    """Counts of a whole level summed up to the level `levels` steps above."""
    folded: NDArray[Any] = counts.reshape(-1, 2**levels).sum(axis=1)
    return folded

"""Codes of the cells of a binary partition.

The partition of a domain is a binary tree. The code of a cell is the integer
whose binary digits are the path from the root, one digit per level. The parent
of a cell is a right shift, and its children are consecutive.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.uint64]
Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

MAX_DEPTH = 63
"""Deepest level of a domain: codes fit a uint64 and differ from OUTSIDE."""

OUTSIDE = np.uint64(2**64 - 1)
"""Code of a record without a cell, as `Domain.encode` returns it."""


def ancestors(codes: Codes, *, levels: int) -> Codes:
    """Ancestors of cells, `levels` above them."""
    return codes >> np.uint64(levels)


def by_level(levels: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each level of some cells, the smallest first, with the indices of its cells in increasing order."""
    for level in np.unique(levels).tolist():
        yield level, np.flatnonzero(levels == level)


def coarsen(codes: Codes, *, levels: int) -> Codes:
    """Ancestors of the cells of records, `levels` above them; a record that is OUTSIDE stays so."""
    return np.where(codes == OUTSIDE, OUTSIDE, ancestors(codes, levels=levels)) if levels else codes


def descendants(codes: Codes, *, levels: int) -> Codes:
    """Descendants of each cell, `levels` below it: one row per cell, in order."""
    return (codes << np.uint64(levels))[:, None] | np.arange(2**levels, dtype=np.uint64)


def domain_order(codes: Codes, levels: NDArray[np.int64], *, depth: int) -> NDArray[np.int64]:
    """Indices that sort the cells of a partition into the order of the domain."""
    return np.argsort(codes << (depth - levels).astype(np.uint64), kind="stable")


def fold(counts: NDArray[Any], *, levels: int) -> NDArray[Any]:
    """Counts of a complete level, summed to the level `levels` above."""
    folded: NDArray[Any] = counts.reshape(-1, 2**levels).sum(axis=1)
    return folded

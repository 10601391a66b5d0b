"""A cell is an integer.

The hierarchy of a domain is a binary tree. The cell reached from the root by a
path of `level` left-or-right steps is the number whose binary digits are that
path, so its parent is one right shift away and its children are neighbours.
This room knows nothing of records, counts or noise.
"""

from collections.abc import Mapping
from functools import lru_cache
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

CUT = -(2**62)
"""A slot of a partition below this holds no count, but a mark that says where the parts of its cell are."""


def cut_mark(first: NDArray[np.int64], levels: int, born: int) -> NDArray[np.int64]:
    """The mark of cells cut by some levels at a refinement, given the slot of the first part of each."""
    mark: NDArray[np.int64] = (first << 16 | levels << 8 | born) + np.iinfo(np.int64).min
    return mark


def read_mark(marks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Slot of the first part, levels and refinement of each mark."""
    fields = marks - np.iinfo(np.int64).min
    return fields >> 16, fields >> 8 & 0xFF, fields & 0xFF


def ancestors(codes: Codes, *, levels: int) -> Codes:
    """Cells that lie `levels` steps above the given ones."""
    return codes >> np.uint64(levels)


def descendants(codes: Codes, *, levels: int) -> Codes:
    """All cells `levels` steps below each given cell, one row per cell, in order."""
    return (codes << np.uint64(levels))[:, None] | np.arange(2**levels, dtype=np.uint64)


def in_order(codes: Codes, levels: NDArray[np.int64], *, depth: int) -> NDArray[np.int64]:
    """Where the cells of a partition are, in the order of the domain."""
    return np.argsort(codes << (depth - levels).astype(np.uint64), kind="stable")


def fold(counts: NDArray[Any], *, levels: int) -> NDArray[Any]:
    """Counts of a whole level summed up to the level `levels` steps above."""
    folded: NDArray[Any] = counts.reshape(-1, 2**levels).sum(axis=1)
    return folded


class BitMap:
    """A fixed rearrangement of the bits of an integer, applied to whole arrays.

    Interleaving the axes of a box and taking them apart again are both such
    rearrangements. Bits without a target are dropped.
    """

    CHUNK = 11  # bits per look-up: 2048 entries of 8 bytes stay in the first-level cache

    def __init__(self, targets: Mapping[int, int]) -> None:
        """Send each source bit (key) to its target bit (value); bit 0 is the lowest."""
        self._tables: list[tuple[np.uint64, Codes]] = []
        width = max(targets, default=-1) + 1
        for shift in range(0, width, self.CHUNK):
            bits = range(shift, min(shift + self.CHUNK, width))
            table = np.zeros(2 ** len(bits), dtype=np.uint64)
            index = np.arange(table.size, dtype=np.uint64)
            for position, bit in enumerate(bits):
                if bit in targets:
                    table |= ((index >> np.uint64(position)) & np.uint64(1)) << np.uint64(targets[bit])
            self._tables.append((np.uint64(shift), table))

    @staticmethod
    @lru_cache(maxsize=1024)
    def spreading(mask: int) -> "BitMap":
        """Moves the low bits of a value to the set bits of a mask, lowest first."""
        return BitMap(dict(enumerate(bit for bit in range(mask.bit_length()) if mask >> bit & 1)))

    @staticmethod
    @lru_cache(maxsize=1024)
    def gathering(mask: int) -> "BitMap":
        """Moves the bits at the set bits of a mask to the low bits: the inverse of spreading."""
        return BitMap({bit: own for own, bit in enumerate(bit for bit in range(mask.bit_length()) if mask >> bit & 1)})

    def __call__(self, values: Codes) -> Codes:
        """The values with their bits rearranged."""
        result: Codes | None = None
        for shift, table in self._tables:
            moved = table[((values >> shift) & np.uint64(table.size - 1)).view(np.int64)]
            result = moved if result is None else np.bitwise_or(result, moved, out=result)
        return np.zeros(values.shape, dtype=np.uint64) if result is None else result

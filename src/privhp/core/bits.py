"""Permutations of the bits of integers, applied to whole arrays.

Interleaving the coordinates of a box into cell codes deposits bits; separating
them again extracts bits.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from privhp.core.cells import Codes


class BitPermutation:
    """A fixed permutation of the bits of an integer. Bits without a target are dropped."""

    CHUNK = 11  # bits per table look-up: 2048 entries of 8 bytes fit the first-level cache

    def __init__(self, targets: Mapping[int, int]) -> None:
        """Build the look-up tables.

        Args:
            targets: Target bit of each source bit; bit 0 is the lowest.
        """
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
    def deposit(mask: int) -> "BitPermutation":
        """Permutation that moves the low bits of a value to the set bits of a mask, lowest first."""
        return BitPermutation(dict(enumerate(_set_bits(mask))))

    @staticmethod
    @lru_cache(maxsize=1024)
    def extract(mask: int) -> "BitPermutation":
        """Permutation that moves the bits under a mask to the low bits: the inverse of `deposit`."""
        return BitPermutation({bit: target for target, bit in enumerate(_set_bits(mask))})

    def __call__(self, values: Codes) -> Codes:
        """Permute the bits of each value."""
        result: Codes | None = None
        for shift, table in self._tables:
            moved = table[((values >> shift) & np.uint64(table.size - 1)).view(np.int64)]
            result = moved if result is None else np.bitwise_or(result, moved, out=result)
        return np.zeros(values.shape, dtype=np.uint64) if result is None else result


def _set_bits(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def shift_left(codes: Codes, bits: int) -> Codes:
    """Codes shifted to the left, or to the right by a negative number of bits."""
    return codes << np.uint64(bits) if bits >= 0 else codes >> np.uint64(-bits)

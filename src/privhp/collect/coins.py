"""Poisson samples: each row is taken by its own coin.

A sample makes learning cheap in epsilon only if the coins are secret and
independent of each other and of the records. So every row of every pass has
fresh random bits of its own, which nothing stores; there is no seed.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privhp.collect.entropy import random_bytes
from privhp.domains.column import Indices
from privhp.errors import PlanError

_BLOCK = 1 << 16  # coins per block: bounds memory, and small arrays stay in the cache


def poisson_sample(rows: int, rate: Fraction) -> Indices:
    """Indices of the rows taken, in order, each independently with probability `rate`. Confidential.

    Args:
        rows: Number of rows, skipped ones included.
        rate: Sampling rate, a multiple of 1/256 above 0 and at most 1.
    """
    heads, outcomes = (rate.numerator, rate.denominator) if isinstance(rate, Fraction | int) else (0, 0)
    if not 0 < heads <= outcomes or 256 % outcomes:
        raise PlanError(f"expected a sampling rate above 0 and at most 1, a Fraction k/256, got {rate!r}")
    blocks = range(0, rows, _BLOCK)
    taken = [np.flatnonzero(_flip_coins(min(rows - start, _BLOCK), heads, outcomes)) + start for start in blocks]
    return np.concatenate(taken) if taken else np.zeros(0, dtype=np.intp)


def _flip_coins(size: int, heads: int, outcomes: int) -> NDArray[np.bool_]:
    """Coins that show heads with probability heads / outcomes = k / 2**m, each from m random bits of its own.

    Each binary digit d of k, the last one first, turns a coin of probability p
    and a fresh bit into a coin of probability (d + p) / 2: heads if the bit or
    the coin shows 1 for d = 1, if both do for d = 0.
    """
    digits, octets = outcomes.bit_length() - 1, -(-size // 8)
    bits = random_bytes(digits * octets).reshape(digits, octets)  # eight coins in a byte
    coins = np.full(octets, 255 if heads == outcomes else 0, dtype=np.uint8)
    for digit in range(digits):
        coins = bits[digit] | coins if heads >> digit & 1 else bits[digit] & coins
    return np.unpackbits(coins, count=size).view(np.bool_)

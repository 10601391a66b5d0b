"""Discrete Laplace (two-sided geometric) noise from the entropy of the operating system.

The only module that draws noise. It draws integers X with P(X = x)
proportional to exp(-|x| / t) for a rational scale t, without rounding: every
Bernoulli draw compares random bits with the binary expansion of its probability
and takes more bits while they are equal.

With q = exp(-1/t), X is 0 with probability (1 - q) / (1 + q) and otherwise
has a random sign and magnitude 1 + G, where G is geometric: P(G = g) is
(1 - q) q**g. The binary digits of G are independent, digit i being 1 with
probability 1 / (1 + exp(2**i / t)). The number above the lowest d digits is
geometric with q**(2**d), and independent of them. So d digits are drawn for all
values at once, and the number above them, rarely positive, by counting successes.
"""

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np
from numpy.typing import NDArray

from privhp.collect.entropy import random_bytes
from privhp.core.budget import MAX_SCALE
from privhp.core.cells import Counts
from privhp.errors import PlanError

_BLOCK = 1 << 16  # draws per block: bounds memory, and small arrays stay in the cache
_CARRY_RATE = 4  # digits are drawn until exp(-2**d / t) is at most exp(-4)


def discrete_laplace(size: int, *, scale: Fraction) -> Counts:
    """Independent draws of the discrete Laplace distribution, each from fresh OS entropy.

    Args:
        size: Number of draws.
        scale: The scale t, any positive rational up to 2**40; the variance is about 2 t**2.
    """
    if not (isinstance(scale, Fraction | int) and 0 < scale <= MAX_SCALE):
        raise PlanError(f"expected a noise scale above 0 and at most 2**40, a Fraction, got {scale!r}")
    drawn = np.empty(size, dtype=np.int64)
    for start in range(0, size, _BLOCK):
        block = drawn[start : start + _BLOCK]
        block[:] = _laplace_block(block.size, 1 / Fraction(scale))
    return drawn


def _laplace_block(size: int, rate: Fraction) -> Counts:
    magnitude = _geometric(size, rate)
    magnitude += 1
    magnitude[_bernoulli(size, Probability("zero", rate))] = 0
    negative = np.unpackbits(random_bytes(-(-size // 8)), count=size).view(np.bool_)
    return np.negative(magnitude, out=magnitude, where=negative)


def _geometric(size: int, rate: Fraction) -> Counts:
    """Draws of G with P(G >= g) = exp(-g rate): low digits independently, the rest by counting."""
    digits = 0
    while 2**digits * rate < _CARRY_RATE:
        digits += 1
    value = np.zeros(size, dtype=np.int64)
    for first in range(0, digits, 8):
        byte = np.zeros(size, dtype=np.uint8)
        for digit in range(first, min(first + 8, digits)):
            byte |= _bernoulli(size, Probability("digit", 2**digit * rate)).view(np.uint8) << np.uint8(digit - first)
        value += byte.astype(np.int64) << first
    above = Probability("exceed", 2**digits * rate)
    alive = np.flatnonzero(_bernoulli(size, above))
    while alive.size:
        value[alive] += 2**digits
        alive = alive[_bernoulli(alive.size, above)]
    return value


@dataclass(frozen=True)
class Probability:
    """A probability known to any number of binary digits, as a function of a rational rate r.

    "zero" is (1 - e**-r) / (1 + e**-r), "digit" is 1 / (1 + e**r), "exceed" is
    e**-r. All three are irrational for r > 0, so ties always end.
    """

    form: str
    rate: Fraction

    def digits(self, bits: int) -> int:
        """The first `bits` binary digits after the point, as one integer."""
        return _expansion(self.form, self.rate, bits)


@lru_cache(maxsize=4096)
def _expansion(form: str, rate: Fraction, bits: int) -> int:
    """Floor of the probability times 2**bits, found by raising the precision until it is certain."""
    precision = 40 + bits // 3
    while True:
        low, high = _bounds(form, rate, bits, precision)
        first, last = max(floor(low), 0), min(floor(high), 2**bits - 1)  # no probability is 0 or 1
        if first == last:
            return first
        precision *= 2


def _bounds(form: str, rate: Fraction, bits: int, precision: int) -> tuple[Decimal, Decimal]:
    """Numbers below and above the probability times 2**bits: every step is rounded away from the truth."""
    down, up = (
        Context(precision, mode, Emin=MIN_EMIN, Emax=MAX_EMAX, capitals=1, clamp=0, flags=[], traps=[InvalidOperation])
        for mode in (ROUND_FLOOR, ROUND_CEILING)
    )
    minus_rate = Decimal(-rate.numerator), Decimal(rate.denominator)
    # In any rounding mode exp gives the nearest number, so the next one lies beyond the truth.
    least = down.next_minus(down.exp(down.divide(*minus_rate)))
    most = up.next_plus(up.exp(up.divide(*minus_rate)))
    if form == "zero":
        low = down.divide(down.subtract(1, most), up.add(1, most))
        high = up.divide(up.subtract(1, least), down.add(1, least))
    elif form == "digit":
        low = down.divide(least, up.add(1, least))
        high = up.divide(most, down.add(1, most))
    else:
        low, high = least, most
    return down.multiply(low, 2**bits), up.multiply(high, 2**bits)


def _bernoulli(size: int, probability: Probability) -> NDArray[np.bool_]:
    """Independent Bernoulli draws without rounding: a random byte against the expansion, more on a tie."""
    first = probability.digits(8)
    drawn = random_bytes(size)
    result = drawn < first
    tied = np.flatnonzero(drawn == first)
    depth = 8
    while tied.size:
        depth += 8
        drawn = random_bytes(tied.size)
        digit = probability.digits(depth) & 0xFF
        result[tied] = drawn < digit
        tied = tied[drawn == digit]
    return result

"""Poisson samples: the coin of each row."""

import ast
import os
from fractions import Fraction
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privhp import PlanError
from privhp.collect import coins
from privhp.collect.coins import poisson_sample

RATES = [Fraction(k, 256) for k in range(1, 257)]


def feed(patch: pytest.MonkeyPatch, drawn: bytes) -> list[int]:
    """Replace the entropy of the operating system by a sequence of bytes; return the sizes of the draws."""
    sizes, rest = [], [drawn]

    def urandom(size: int) -> bytes:
        sizes.append(size)
        found, rest[0] = rest[0][:size], rest[0][size:]
        assert len(found) == size
        return found

    patch.setattr(os, "urandom", urandom)
    return sizes


def digits_of(rate: Fraction) -> int:
    """Number of random bits of a coin."""
    return rate.denominator.bit_length() - 1


def coins_of(numbers: NDArray[np.int64], rate: Fraction) -> NDArray[np.bool_]:
    """Coins of rows whose random bits are the binary digits of these numbers."""
    digits = digits_of(rate)
    bits = (numbers >> np.arange(digits)[:, None]) & 1
    with pytest.MonkeyPatch.context() as patch:
        sizes = feed(patch, np.packbits(bits.astype(np.uint8), axis=1).tobytes())
        taken = poisson_sample(numbers.size, rate)
    assert sum(sizes) == digits * -(-numbers.size // 8)
    heads = np.zeros(numbers.size, dtype=np.bool_)
    heads[taken] = True
    return heads


def test_probability_over_all_bits() -> None:
    for rate in RATES:
        every = np.arange(2 ** digits_of(rate))
        assert Fraction(int(coins_of(every, rate).sum()), every.size) == rate


def test_coin_of_a_row_depends_on_its_own_bits() -> None:
    """A row is taken or not by its own number, whatever the numbers of the others."""
    rng = np.random.default_rng(0)
    for rate in (Fraction(1, 2), Fraction(1, 16), Fraction(7, 64), Fraction(3, 256), Fraction(255, 256)):
        outcome = coins_of(np.arange(2 ** digits_of(rate)), rate)
        for rows in (1, 2, 7, 8, 9, 1000):
            numbers = rng.integers(0, outcome.size, rows)
            assert np.array_equal(coins_of(numbers, rate), outcome[numbers])


def test_blocks_draw_fresh_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coins, "_BLOCK", 8)
    sizes = feed(monkeypatch, bytes([0b10000001, 0, 0b01000000, 0b00000010, 0b11111111]))
    assert poisson_sample(37, Fraction(1, 2)).tolist() == [0, 7, 17, 30, 32, 33, 34, 35, 36]
    assert sizes == [1] * 5


def test_type_and_range_of_indices() -> None:
    for rows in (0, 1, 2**16, 2**16 + 1):
        every = poisson_sample(rows, Fraction(1))
        assert every.dtype == np.intp
        assert np.array_equal(every, np.arange(rows))
        some = poisson_sample(rows, Fraction(1, 2))
        assert (np.diff(some) > 0).all()
        assert np.isin(some, every).all()


def test_memory_of_draws_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    draw = coins.random_bytes
    monkeypatch.setattr(coins, "random_bytes", lambda size: sizes.append(size) or draw(size))
    poisson_sample(10**6, Fraction(1, 256))
    assert max(sizes) <= 2**16


@pytest.mark.parametrize(
    "rate",
    [
        *(0, -1, 2, Fraction(-1, 16), Fraction(257, 256), Fraction(1, 257), Fraction(1, 512), Fraction(1, 3)),
        *(0.0625, nan, "1/16", None, np.float64(0.5)),
    ],
)
def test_invalid_rates_are_refused(rate: Any) -> None:
    for rows in (0, 10):
        with pytest.raises(PlanError, match="sampling rate above 0 and at most 1") as caught:
            poisson_sample(rows, rate)
        assert repr(rate) in str(caught.value)


def test_coins_are_not_printed_or_stored() -> None:
    """The module has no state, and nothing in it writes."""
    nodes = list(ast.walk(ast.parse(Path(coins.__file__).read_text())))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    assert not names & {"print", "open", "logging", "warnings", "global", "cache", "lru_cache"}
    assert not [node for node in nodes if isinstance(node, ast.Global | ast.Nonlocal)]

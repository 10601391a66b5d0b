"""The noise is exactly discrete Laplace: each Bernoulli draw, their composition, and the bytes used.

Probabilities are computed here a second time, as rational intervals from
Taylor's series, without a look at how the sampler finds its own.
"""

import decimal
import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import ceil, floor, inf, nan
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from privhp import PlanError
from privhp.collect import noise
from privhp.collect.noise import Probability, discrete_laplace

FORMS = ["zero", "digit", "exceed"]
RATES = [
    *(Fraction(1, n) for n in (2**40, 10**6, 12345, 600, 10, 3, 2)),
    *(Fraction(n, 7) for n in (1, 5, 7, 22, 50)),
    *(Fraction(n) for n in (2, 4, 8, 100, 1000)),
]
SCALES = st.one_of(
    st.fractions(Fraction(1, 1000), 2000, max_denominator=1000),
    st.sampled_from([Fraction(1, 1000), Fraction(1, 2), Fraction(12345, 7), Fraction(2**40)]),
)


def exp_interval(rate: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals around exp(-rate), at most 2**-bits apart: the Taylor series of a fraction of the rate, squared."""
    halvings = ceil(rate).bit_length()
    part, unit = rate / 2**halvings, 2 ** (bits + halvings + 8)
    term = total = Fraction(1)
    for order in itertools.count(1):
        term *= -part / order
        before, total = total, total + term
        if abs(term) * unit < 1:
            break
    low, high = sorted([before, total])  # the terms alternate and shrink
    for _ in range(halvings):
        low, high = Fraction(floor(low**2 * unit), unit), Fraction(ceil(high**2 * unit), unit)
    assert high - low < Fraction(1, 2**bits)
    return low, high


def probability_interval(form: str, rate: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    low, high = exp_interval(rate, bits + 2)
    if form == "zero":
        return (1 - high) / (1 + high), (1 - low) / (1 + low)
    if form == "digit":
        return low / (1 + low), high / (1 + high)
    return low, high


@cache
def binary_digits(form: str, rate: Fraction, bits: int) -> int:
    closeness = bits + 64
    while True:
        first, last = (floor(end * 2**bits) for end in probability_interval(form, rate, closeness))
        if first == last:
            return first
        closeness *= 2


# Every decision.


def bernoulli_of_all_byte_pairs(chance: Probability, *, undecided: int) -> NDArray[np.bool_]:
    """Outcome for each of the 65,536 pairs of first bytes, if all later bytes are `undecided`."""
    decisions = []
    for first in range(256):
        script = iter([np.full(256, first, dtype=np.uint8), np.arange(256, dtype=np.uint8)])

        def feed(size: int, script: Iterator[NDArray[np.uint8]] = script) -> NDArray[np.uint8]:
            drawn = next(script, None)
            drawn = np.full(1, undecided, dtype=np.uint8) if drawn is None else drawn
            assert drawn.size == size
            return drawn

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(noise, "random_bytes", feed)
            decisions.append(noise._bernoulli(256, chance))
    return np.concatenate(decisions)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_byte_pairs_bracket_probability(form: str, rate: Fraction) -> None:
    at_least = bernoulli_of_all_byte_pairs(Probability(form, rate), undecided=255)
    at_most = bernoulli_of_all_byte_pairs(Probability(form, rate), undecided=0)
    successes = int(at_least.sum())
    assert at_least[:successes].all(), "the successes are not the lowest strings"
    assert at_most[: successes + 1].all()
    assert at_most.sum() == successes + 1, "more than one string leaves the decision open"
    low, high = probability_interval(form, rate, 64)
    assert Fraction(successes, 2**16) <= low
    assert high <= Fraction(successes + 1, 2**16)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_number_of_second_bytes(form: str, rate: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def feed(size: int) -> NDArray[np.uint8]:
        calls.append(size)
        return (
            np.arange(256, dtype=np.uint8) if len(calls) == 1 else np.full(size, len(calls) * 53 % 256, dtype=np.uint8)
        )

    monkeypatch.setattr(noise, "random_bytes", feed)
    noise._bernoulli(256, Probability(form, rate))
    assert calls[:2] == [256, 1]


@given(
    form=st.sampled_from(FORMS),
    rate=st.fractions(Fraction(1, 2**42), 1000, max_denominator=2**42).filter(bool),
    bits=st.integers(1, 300),
)
def test_binary_digits(form: str, rate: Fraction, bits: int) -> None:
    digits = Probability(form, rate).digits(bits)
    low, high = probability_interval(form, rate, bits + 64)
    assert digits <= high * 2**bits
    assert low * 2**bits < digits + 1


def test_digits_next_to_dyadic_probability() -> None:
    almost_never = Fraction(1, 2**400)
    assert Probability("digit", almost_never).digits(8) == 127  # a half less 2**-402
    assert Probability("digit", almost_never).digits(500) == binary_digits("digit", almost_never, 500)
    assert Probability("zero", almost_never).digits(401) == 0
    assert Probability("exceed", almost_never).digits(400) == 2**400 - 1


@pytest.mark.parametrize("rate", [10**5, 10**9, 10**30])
def test_digits_next_to_0_and_1(rate: int) -> None:
    assert Probability("zero", Fraction(rate)).digits(64) == 2**64 - 1
    assert Probability("digit", Fraction(rate)).digits(64) == 0
    assert Probability("exceed", Fraction(rate)).digits(64) == 0


@pytest.mark.parametrize("form", FORMS)
def test_digits_in_other_decimal_context(form: str) -> None:
    rate = Fraction(5, 7)
    strict = decimal.Context(prec=1, rounding=decimal.ROUND_UP, Emin=-1, Emax=1)
    strict.traps = dict.fromkeys(strict.traps, True)
    noise._expansion.cache_clear()
    with decimal.localcontext(strict):
        assert Probability(form, rate).digits(64) == binary_digits(form, rate, 64)


# Their composition.


def probability(chance: Probability) -> Decimal:
    low, high = probability_interval(chance.form, chance.rate, 500)
    middle = (low + high) / 2
    return Decimal(middle.numerator) / Decimal(middle.denominator)


class OutcomeEnumeration:
    """Runs the sampler for one draw over all outcomes of its Bernoulli draws.

    Ways of a probability below 1e-75 are left out; `left_out` is their sum.
    """

    LEAST = Decimal("1e-75")

    def __init__(self, rate: Fraction, patch: pytest.MonkeyPatch) -> None:
        self.rate = rate
        self.left_out = Decimal(0)
        self.pending: list[tuple[bool, ...]] = [()]
        self.chances: dict[Probability, Decimal] = {}
        patch.setattr(noise, "_bernoulli", self.bernoulli)
        patch.setattr(noise, "random_bytes", self.fair_byte)

    def law(self) -> dict[int, Decimal]:
        law: defaultdict[int, Decimal] = defaultdict(Decimal)
        while self.pending:
            self.script = self.pending.pop()
            self.path: list[bool] = []
            self.weight = Decimal(1)
            (value,) = noise._laplace_block(1, self.rate).tolist()
            law[value] += self.weight
        return law

    def decide(self, chance: Decimal) -> bool:
        step = len(self.path)
        if step < len(self.script):
            outcome = self.script[step]
        else:
            outcome = False
            if self.weight * chance < self.LEAST:
                self.left_out += self.weight * chance
            else:
                self.pending.append((*self.path, True))
        self.path.append(outcome)
        self.weight *= chance if outcome else 1 - chance
        return outcome

    def bernoulli(self, size: int, chance: Probability) -> NDArray[np.bool_]:
        assert size == 1
        if chance not in self.chances:
            self.chances[chance] = probability(chance)
        return np.array([self.decide(self.chances[chance])])

    def fair_byte(self, size: int) -> NDArray[np.uint8]:
        assert size == 1
        return np.array([0x80 if self.decide(Decimal("0.5")) else 0x7F], dtype=np.uint8)


@pytest.mark.parametrize(
    "scale", [Fraction(3, 100), Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(10)], ids=str
)
def test_distribution_of_sampler(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    with decimal.localcontext(decimal.Context(prec=100)):
        outcomes = OutcomeEnumeration(1 / scale, monkeypatch)
        law = outcomes.law()
        ratio = probability(Probability("exceed", 1 / scale))
        for value in range(-40, 41):
            expected = (1 - ratio) / (1 + ratio) * ratio ** abs(value)
            assert abs(law[value] - expected) < Decimal("1e-30") * max(expected, Decimal("1e-40"))
        assert outcomes.left_out < Decimal("1e-70")
        assert abs(sum(law.values()) + outcomes.left_out - 1) < Decimal("1e-90")


# The bytes that are spent.


def scalar_reference(read: Callable[[], int], size: int, scale: Fraction, block: int) -> list[int]:
    """Reference sampler: the same draws from the same bytes, one number at a time."""
    values: list[int] = []
    while len(values) < size:
        values += scalar_block(read, min(block, size - len(values)), 1 / scale)
    return values


def scalar_block(read: Callable[[], int], size: int, rate: Fraction) -> list[int]:
    def flip(coins: list[int], form: str, rate: Fraction) -> set[int]:
        """Successes of the coins: each reads a byte, and another one on a tie."""
        succeeded, bits = set(), 0
        while coins:
            bits += 8
            digit = binary_digits(form, rate, bits) % 256
            bytes_shown = {coin: read() for coin in coins}
            succeeded |= {coin for coin in coins if bytes_shown[coin] < digit}
            coins = [coin for coin in coins if bytes_shown[coin] == digit]
        return succeeded

    everyone = list(range(size))
    magnitude = [1] * size
    place = 1
    while place * rate < 4:
        for index in flip(everyone, "digit", place * rate):
            magnitude[index] += place
        place *= 2
    counting = everyone
    while counting:
        succeeded = flip(counting, "exceed", place * rate)
        counting = [index for index in counting if index in succeeded]
        for index in counting:
            magnitude[index] += place
    for index in flip(everyone, "zero", rate):
        magnitude[index] = 0
    signs = "".join(f"{read():08b}" for _ in range(ceil(size / 8)))
    return [-value if sign == "1" else value for value, sign in zip(magnitude, signs, strict=False)]


class Bytes:
    """A stream of bytes: the given bytes, then a hash of them."""

    def __init__(self, start: bytes) -> None:
        self.stream = start + hashlib.shake_256(start).digest(200_000)
        self.spent = 0

    def take(self, size: int) -> NDArray[np.uint8]:
        self.spent += size
        return np.frombuffer(self.stream[self.spent - size : self.spent], dtype=np.uint8)

    def one(self) -> int:
        return int(self.take(1)[0])


@given(scale=SCALES, size=st.integers(1, 200), start=st.binary(max_size=300), block=st.sampled_from([7, 64, 2**16]))
def test_draws_equal_scalar_reference(scale: Fraction, size: int, start: bytes, block: int) -> None:
    ours, theirs = Bytes(start), Bytes(start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "random_bytes", ours.take)
        patch.setattr(noise, "_BLOCK", block)
        drawn = discrete_laplace(size, scale=scale)
    assert drawn.tolist() == scalar_reference(theirs.one, size, scale, block)
    assert ours.spent == theirs.spent


# Arguments.


def test_type_and_size_of_draws() -> None:
    for size in (0, 1, 7, 2**16, 2**16 + 1):
        drawn = discrete_laplace(size, scale=Fraction(10))
        assert drawn.dtype == np.int64
        assert drawn.shape == (size,)


@pytest.mark.parametrize(
    "scale", [0, -1, Fraction(-1, 3), 2**40 + 1, Fraction(2**40 + 1), 10**400, 10.0, nan, inf, "10", None, np.int64(10)]
)
def test_invalid_scales_are_refused(scale: Any) -> None:
    with pytest.raises(PlanError, match="noise scale above 0 and at most") as caught:
        discrete_laplace(3, scale=scale)
    assert repr(scale) in str(caught.value)

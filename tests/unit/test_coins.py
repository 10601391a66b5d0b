"""Poisson samples: the coin of each row, and the rows of a batch that are taken."""

import ast
import itertools
import os
from collections.abc import Callable
from fractions import Fraction
from math import nan
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from numpy.typing import NDArray

from privhp import Box, Categories, Domain, Integers, Interval, Nullable, PlanError, Table
from privhp.collect import coins
from privhp.collect.coins import poisson_sample, sample_batch
from strategies import any_domains, untidy_batches

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


def take(patch: pytest.MonkeyPatch, rows: list[int], length: int) -> None:
    """Let the coins take some of `length` rows, at any rate below 1."""
    drawn = np.full(length, 255, dtype=np.uint8)
    drawn[rows] = 0
    feed(patch, drawn.tobytes())


def test_probability_over_all_bytes() -> None:
    for rate in RATES:
        with pytest.MonkeyPatch.context() as patch:
            feed(patch, bytes(range(256)))
            assert Fraction(poisson_sample(256, rate).size, 256) == rate


def test_pairs_of_rows_are_independent() -> None:
    """Over all pairs of bytes, both rows are taken with the square of the rate."""
    every = bytes(itertools.chain.from_iterable(itertools.product(range(256), repeat=2)))
    for rate in (Fraction(1, 256), Fraction(1, 16), Fraction(7, 64), Fraction(255, 256)):
        with pytest.MonkeyPatch.context() as patch:
            feed(patch, every)
            taken = np.zeros(2**17, dtype=bool)
            taken[poisson_sample(2**17, rate)] = True
        first, second = taken.reshape(-1, 2).T
        assert Fraction(int((first & second).sum()), 2**16) == rate**2
        assert Fraction(int((first & ~second).sum()), 2**16) == rate * (1 - rate)


@pytest.mark.parametrize("block", [1, 7, 256, 1000])
def test_each_row_has_its_own_byte(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = np.random.default_rng(0).integers(0, 256, 1000, dtype=np.uint8)
    sizes = feed(monkeypatch, drawn.tobytes())
    monkeypatch.setattr(coins, "_BLOCK", block)
    assert poisson_sample(1000, Fraction(3, 64)).tolist() == [row for row, byte in enumerate(drawn) if byte < 12]
    assert sum(sizes) == 1000
    assert max(sizes) <= block


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


ROWS = 6
TAKEN = [1, 3, 4]
NUMBERS = [0.5, 1.5, nan, 3.5, None, 5.5]
COLUMNS = {"x": NUMBERS, "kind": ["a", "b", None, "a", "c", "b"]}
TABLE = Table(x=Nullable(Interval(0, 10)), kind=Nullable(Categories(["a", "b"])))

BATCHES: dict[str, tuple[Domain, Callable[[], Any]]] = {
    "array": (Interval(0, 10), lambda: np.array(NUMBERS, dtype=float)),
    "masked array": (Nullable(Interval(0, 10)), lambda: np.ma.masked_invalid(np.array(NUMBERS, dtype=float))),
    "points": (Box([(0, 10), (0, 10)]), lambda: np.arange(12.0).reshape(6, 2)),
    "list": (Nullable(Interval(0, 10)), lambda: NUMBERS),
    "list of points": (Box([(0, 10), (0, 10)]), lambda: [(1, 2), (3, 4), "x", (5, 6), None, (7, 8)]),
    "series": (Nullable(Integers(0, 10)), lambda: pd.Series([0, 1, None, 3, 4, 5], dtype="Int64")),
    "categories": (Categories(["a", "b", "c"]), lambda: pd.Series(COLUMNS["kind"], dtype="category")),
    "Arrow array": (Nullable(Interval(0, 10)), lambda: pa.array(NUMBERS)),
    "Arrow dictionary": (Categories(["a", "b", "c"]), lambda: pa.array(COLUMNS["kind"]).dictionary_encode()),
    "dict": (TABLE, lambda: COLUMNS),
    "list of dicts": (TABLE, lambda: [*pl.DataFrame(COLUMNS, strict=False).to_dicts()[:5], "not a record"]),
    "pandas": (TABLE, lambda: pd.DataFrame(COLUMNS)),
    "polars": (TABLE, lambda: pl.DataFrame(COLUMNS, strict=False)),
    "Arrow table": (TABLE, lambda: pa.table(COLUMNS)),
}


@pytest.mark.parametrize("name", BATCHES)
def test_rows_taken_of_any_batch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    domain, make = BATCHES[name]
    every = domain.encode(domain.as_batch(make()), level=domain.depth)
    take(monkeypatch, TAKEN, ROWS)
    sample = sample_batch(domain, make(), Fraction(1, 16))
    assert domain.encode(domain.as_batch(sample), level=domain.depth).tolist() == every[TAKEN].tolist()


@given(data=st.data())
def test_rows_taken_of_any_domain(data: st.DataObject) -> None:
    domain = data.draw(any_domains())
    batch = data.draw(untidy_batches(domain))
    rows = sorted(data.draw(st.sets(st.integers(0, max(len(batch) - 1, 0)), max_size=len(batch))))
    every = domain.encode(domain.as_batch(batch), level=domain.depth)
    with pytest.MonkeyPatch.context() as patch:
        take(patch, rows, len(batch))
        sample = sample_batch(domain, batch, Fraction(1, 16))
    assert domain.encode(domain.as_batch(sample), level=domain.depth).tolist() == every[rows].tolist()


class Words(Domain):
    """A custom domain whose batches are tuples."""

    kind, depth = "words of a test", 1

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def as_batch(self, records: Any) -> Any:
        return tuple(records)

    def encode(self, records: Any, *, level: int) -> NDArray[np.uint64]:
        self.seen += records
        return np.array([word > "m" for word in records], dtype=np.uint64)

    def decode(self, codes: NDArray[np.uint64], *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.array(["a", "z"])[codes.astype(int)]

    def diameter(self, level: int) -> float:
        return 1.0

    def parameters(self) -> dict[str, Any]:
        return {}


def test_rows_taken_of_a_custom_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = Words()
    take(monkeypatch, TAKEN, ROWS)
    sample = sample_batch(domain, iter("azbycx"), Fraction(1, 16))
    assert domain.encode(domain.as_batch(sample), level=1).tolist() == [1, 1, 0]
    assert domain.seen == ["z", "y", "c"], "a row that was not taken is encoded"

"""Domains of integer ranges: balanced samples are exact for ranges of any start and length."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privhp import Categories, Domain, Integers, IPv4, Taxonomy, Time
from privhp.core.allocation import Allocation

DOMAINS: list[Domain] = [
    Integers(-3, 9),
    Time("2020-02-27", "2020-03-09", unit="D"),
    IPv4("10.0.0.0/28"),
    Categories(["a", "b", "c", "d", "e"]),
    Taxonomy({"x": ["a", "b", "c"], "y": ["d"], "z": ["e", "f"]}),
]


def cells_of(domain: Domain, level: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    codes = np.arange(2**level, dtype=np.uint64)
    return codes[domain.measure(codes, level=level) > 0]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@given(data=st.data())
def test_balanced_frequencies(domain: Domain, data: st.DataObject) -> None:
    level = data.draw(st.integers(0, domain.depth))
    codes = cells_of(domain, level)
    counts = np.array(data.draw(st.lists(st.integers(0, 40), min_size=codes.size, max_size=codes.size)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    records = domain.sample_allocation(Allocation(codes, np.full(codes.size, level), counts), balanced=True, rng=rng)
    assert np.array_equal(domain.encode(records, level=level), np.repeat(codes, counts))
    for code, count, part in zip(codes, counts, np.split(records, np.cumsum(counts)[:-1]), strict=True):
        size = round(
            domain.measure(np.array([code]), level=level)[0]
            / domain.measure(cells_of(domain, domain.depth), level=domain.depth)[0]
        )
        often = Counter(part.tolist()).values()
        assert max(often, default=0) <= -(-count // size)
        assert count < size or (len(often) == size and min(often) >= count // size)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 11, 26])
@pytest.mark.parametrize("high", [1, 4, 10, 15])
def test_uniform_over_random_starts(count: int, high: int) -> None:
    root = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([count]))
    found: Counter[int] = Counter()
    for start in range(high + 1):
        rng: Any = SimpleNamespace(integers=lambda low, highs, start=start: np.full(highs.shape, start))
        found.update(Integers(0, high).sample_allocation(Allocation(*root), balanced=True, rng=rng).tolist())
    assert found == dict.fromkeys(range(high + 1), count)


def test_longest_range_without_overflow() -> None:
    domain, count = Integers(-(2**61), 2**61 - 1), 100_003
    root = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([count]))
    numbers = domain.sample_allocation(Allocation(*root), balanced=True, rng=np.random.default_rng(0))
    assert set(np.diff(numbers).tolist()) == {2**62 // count, 2**62 // count + 1}
    assert domain.low <= numbers[0] <= numbers[-1] <= domain.high


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("balanced", [True, False])
def test_output_array(domain: Domain, balanced: bool) -> None:
    codes = cells_of(domain, 1)
    cells = (codes, np.ones(codes.size, dtype=np.int64), np.full(codes.size, 5))
    expected = domain.sample_allocation(Allocation(*cells), balanced=balanced, rng=np.random.default_rng(1))
    out = np.empty_like(expected)
    assert domain.sample_allocation(Allocation(*cells), balanced=balanced, rng=np.random.default_rng(1), out=out) is out
    assert np.array_equal(out, expected)

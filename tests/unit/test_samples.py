"""Sizes, types, order and seeds of a generator's samples."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from datasets import gaussian_mixture, lognormal
from privhp import (
    Box,
    Categories,
    Domain,
    Generator,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Plan,
    QueryError,
    Summary,
    Taxonomy,
    Time,
    wasserstein,
)
from releases import histogram, leaf_indices, release_of
from strategies import generators

METHODS = pytest.mark.parametrize("method", ["balanced", "independent"])
KINDS: list[tuple[Domain, Any, tuple[int, ...]]] = [
    (Interval(0, 1), np.float64, ()),
    (Interval(1, 1e6, scale="log"), np.float64, ()),
    (Integers(-3, 96), np.int64, ()),
    (IPv4(), np.uint32, ()),
    (IPv6("2001:db8::/32"), "U39", ()),
    (Time("2020-01-01", "2021-01-01", unit="ms"), "M8[ms]", ()),
    (Categories([f"c{place}" for place in range(100)]), "U3", ()),
    (Categories([2**70 + place for place in range(100)]), object, ()),
    (Taxonomy({f"g{group}": [f"l{group}.{leaf}" for leaf in range(9)] for group in range(9)}), "U4", ()),
    (Interval(0, 100, cuts=[1, 5]), np.float64, ()),
    (Box([(0, 1), (-2, 2)]), np.float64, (2,)),
    (Box([(0, 1)]), np.float64, (1,)),
]


def skewed_generator(domain: Domain) -> Generator:
    """Generator with most of its mass in the first cells."""
    plan = Plan.paper(domain, epsilon=2, expected_records=500, hot_cells=4, exact_depth=3, sketch_rows=2, hash_seed=2)
    codes = (lognormal(500) * 2**plan.depth * 0.7).astype(np.uint64)
    return Generator(release_of(plan, domain.decode(codes, level=plan.depth, rng=np.random.default_rng(1))))


@METHODS
@pytest.mark.parametrize("size", [0, 1, 2, 1000])
@pytest.mark.parametrize(("domain", "dtype", "columns"), KINDS)
def test_sample_shape_and_type(domain: Domain, dtype: Any, columns: tuple[int, ...], size: int, method: Any) -> None:
    records = skewed_generator(domain).sample(size, method=method)
    assert records.shape == (size, *columns)
    assert records.dtype == dtype


@METHODS
@given(generator=generators(), seed=st.integers(0, 99))
def test_samples_in_leaves_with_mass(method: Any, generator: Generator, seed: int) -> None:
    indices = leaf_indices(generator, generator.sample(30, method=method, rng=seed))
    assert (generator.probabilities[indices] > 0).all()


def test_default_sample_size() -> None:
    assert histogram(Interval(0, 1), 1, [3, 4]).sample().shape == (7,)
    assert histogram(Interval(0, 1), 1, [-3, -4]).sample().shape == (0,)


@pytest.mark.parametrize("n", [1000, 1e3, np.int64(1000), np.float64(1000), np.float32(1000)])
def test_sample_size_is_a_whole_number_of_any_type(n: Any) -> None:
    generator = histogram(Interval(0, 1), 1, [3, 4])
    assert generator.sample(n).shape == (1000,)
    assert pa.table(generator.stream(n)).num_rows == 1000


@pytest.mark.parametrize("n", [-1, -2.0, 2.5, float("nan"), float("inf"), "3", True, [3], np.float64(2.5), np.bool_(1)])
def test_invalid_sample_size(n: Any) -> None:
    for sample in (histogram(Interval(0, 1), 1, [3, 4]).sample, histogram(Interval(0, 1), 1, [3, 4]).stream):
        with pytest.raises(QueryError, match="expected a whole, non-negative number of records to sample"):
            sample(n)


@pytest.mark.parametrize("method", ["Balanced", "", None, 3])
def test_invalid_method(method: Any) -> None:
    with pytest.raises(QueryError, match=r"balanced.*independent"):
        histogram(Interval(0, 1), 1, [3, 4]).sample(3, method=method)


@METHODS
@pytest.mark.parametrize("domain", [domain for domain, _, _ in KINDS], ids=repr)
def test_seeded_samples(domain: Domain, method: Any) -> None:
    generator = skewed_generator(domain)
    once, again = (generator.sample(50, method=method, rng=7) for _ in range(2))
    same = generator.sample(50, method=method, rng=np.random.default_rng(7))
    assert np.array_equal(once, again)
    assert np.array_equal(once, same)
    assert not np.array_equal(once, generator.sample(50, method=method, rng=8))
    assert not np.array_equal(*(generator.sample(50, method=method) for _ in range(2)))


@given(generator=generators(), size=st.integers(0, 300), seed=st.integers(0, 99))
def test_balanced_leaf_counts(generator: Generator, size: int, seed: int) -> None:
    indices = leaf_indices(generator, generator.sample(size, rng=seed))
    counts = np.bincount(indices, minlength=generator.probabilities.size)
    assert (np.abs(counts - size * generator.probabilities) < 1 + 1e-9).all()


@pytest.mark.parametrize(
    "domain", [Interval(0, 1), Integers(0, 10**6), IPv4(), Time("2020-01-01", "2021-01-01")], ids=repr
)
def test_balanced_cdf(domain: Domain) -> None:
    """The count at or below any value is within two records of the cdf: one for the leaves, one inside a leaf."""
    generator = skewed_generator(domain)
    records = np.sort(generator.sample(10_000, rng=3))
    at_or_below = np.searchsorted(records, records, side="right")
    assert np.abs(at_or_below - 10_000 * generator.cdf(records).value).max() <= 2


def test_balanced_w1_to_generator() -> None:
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=10_000, hot_cells=16, hash_seed=1)
    generator = Generator(release_of(plan, gaussian_mixture(10_000)))
    balanced = wasserstein(generator, generator.sample(100_000, rng=5))
    independent = wasserstein(generator, generator.sample(100_000, method="independent", rng=5))
    assert balanced <= independent / 20


@METHODS
@given(generator=generators(), seed=st.integers(0, 99))
def test_unshuffled_order(method: Any, generator: Generator, seed: int) -> None:
    indices = leaf_indices(generator, generator.sample(30, method=method, shuffle=False, rng=seed))
    assert (np.diff(indices) >= 0).all()


class Extreme(np.random.Generator):
    """Random generator with the largest possible draws."""

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return np.full(() if size is None else size, 1 - 2.0**-53)

    def integers(self, low: Any, high: Any, size: Any = None, dtype: Any = np.int64) -> Any:
        return np.full(np.shape(high) if size is None else size, high - 1, dtype=dtype)


@METHODS
@pytest.mark.parametrize("domain", [Interval(0, 1), Integers(0, 4), Integers(0, 10**18), Box([(0, 1)] * 2)], ids=repr)
def test_extreme_draws(domain: Domain, method: Any) -> None:
    generator = histogram(domain, 2, [5, 3, 1, 0])
    records = generator.sample(1000, method=method, rng=Extreme(np.random.PCG64(1)))
    assert leaf_indices(generator, records).max() <= 2


class TooMany(np.random.Generator):
    """Random generator whose first Poisson counts are far too large."""

    calls = 0

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        self.calls += 1
        return super().poisson(lam, size) + (1000 if self.calls == 1 else 0)


def test_unshuffled_independent_sample_size() -> None:
    generator, rng = histogram(Interval(0, 1), 2, [5, 3, 1, 0]), TooMany(np.random.PCG64(1))
    assert generator.sample(1000, method="independent", shuffle=False, rng=rng).size == 1000
    assert rng.calls == 2


@pytest.mark.parametrize(
    "domain",
    [
        Interval(0, 1),
        Interval(1, 100, scale="log"),
        Interval(0, 9, cuts=[1]),
        Integers(0, 9),
        IPv4(),
        Time("2020-01-01", "2020-12-31", unit="D"),
        Categories(["a", "b", "c"]),
        Box([(0, 1), (0, 2)]),
    ],
)
@pytest.mark.parametrize("method", ["balanced", "independent"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_out_array(domain: Domain, method: Any, shuffle: bool) -> None:
    summary = Summary(Plan.paper(domain, epsilon=1, expected_records=100, hot_cells=2))
    generator = summary.release()
    made = generator.sample(500, method=method, shuffle=shuffle, rng=3)
    out = np.zeros_like(made)
    assert generator.sample(method=method, shuffle=shuffle, rng=3, out=out) is out
    assert np.array_equal(out, made)


@pytest.mark.parametrize(
    "out", [np.empty(9), np.empty((10, 1)), np.empty(10, dtype=np.float32), np.empty(20)[::2], np.broadcast_to(0.0, 10)]
)
def test_invalid_out_array(out: Any) -> None:
    generator = Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=100, hot_cells=2)).release()
    with pytest.raises(QueryError, match=r"contiguous array of float64 of shape \(10,\)"):
        generator.sample(10, out=out)

"""Masses at or below many values, compared with the shares of all leaves; intervals of many quantiles."""

import math
from typing import Any

import numpy as np
import pytest

from privhp import Domain, Generator, Integers, Interval, Nullable, Plan, Summary, Table, Time
from privhp.answers.distribution import Distribution
from privhp.release import Release

RNG = np.random.default_rng(0)
SIZE = 3000
NUMBERS = np.where(RNG.random(SIZE) < 0.3, 40, RNG.gamma(2, 10, SIZE).round().clip(0, 99))


def release(domain: Any, records: Any, **sizes: Any) -> Generator:
    plan = Plan.auto(domain, epsilon=1, expected_records=SIZE, passes=1, memory="16 KiB")
    summary = Summary(plan)
    summary.update(records)
    return summary.release()


def lines() -> dict[str, Distribution]:
    """Distributions on a line: of a release, of columns of tables, and of values that may be null."""
    masked = np.ma.MaskedArray(NUMBERS.astype(np.int64), mask=RNG.random(SIZE) < 0.4)
    table = release(
        Table(a=Interval(0, 100), b=Nullable(Integers(0, 99)), c=Interval(-1, 1)),
        {"a": NUMBERS, "b": masked, "c": RNG.uniform(-1, 1, SIZE)},
    )
    times = np.datetime64("2024-01-01") + NUMBERS.astype("m8[h]")
    return {
        "interval": release(Interval(0, 100), NUMBERS),
        "integers": release(Integers(0, 99), NUMBERS.astype(np.int64)),
        "time": release(Time("2024-01-01", "2024-01-10"), times),
        "column": table.marginal("a"),
        "nullable column": table.marginal("b", null=False),
    }


@pytest.mark.parametrize(("name", "line"), lines().items())
def test_cdf_masses_equal_shares_of_all_leaves(name: str, line: Distribution) -> None:
    values = line.quantile(np.linspace(0, 1, 30)).value
    errors: Any = line._errors
    found = errors.cdf_masses(values)
    counts, valid = _leaves(errors)
    for index, value in enumerate(values):
        shares = errors.cdf_shares(value)
        own = counts[shares.leaves]
        resolution = math.hypot((own * shares.deviation).sum(), *(own * shares.scatter))
        expected = (resolution, own[shares.mean >= 1].sum(), own[shares.mean > 0].sum())
        masses = [each[index] for each in found]
        assert masses == pytest.approx([each / valid for each in expected], rel=1e-9, abs=1e-12), name


def _leaves(errors: Any) -> tuple[Any, float]:
    """Counts of the leaves, and the number of values among them."""
    inner = getattr(errors, "_errors", errors)
    counts = inner.leaves.release.counts
    return counts, float(counts.sum()) * (1.0 if inner is errors else errors._given)


@pytest.mark.parametrize(("name", "line"), lines().items())
def test_intervals_of_many_quantiles_are_those_of_each(name: str, line: Distribution) -> None:
    shares = np.array([[0.01, 0.25], [0.5, 0.99]])
    low, high = line.quantile(shares).interval(0.9)
    assert low.shape == high.shape == shares.shape
    for place in np.ndindex(shares.shape):
        alone = line.quantile(float(shares[place])).interval(0.9)
        assert (low[place], high[place]) == alone, name
        assert low[place] <= line.quantile(float(shares[place])).value <= high[place]


def exact_counts(domain: Domain, counts: Any, level: int) -> Generator:
    """Generator of counts of the cells of a level."""
    plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level, inference="least-squares")
    return Generator(Release(plan, {level: np.asarray(counts)}))


def test_interval_holds_the_first_value_of_a_leaf() -> None:
    """All records may lie at the least number of their leaf."""
    generator = exact_counts(Interval(0, 64), np.where(np.arange(16) == 10, 10**6, 0), 4)
    low, high = generator.quantile(0.5).interval(0.9)
    assert low == 40.0
    assert 40.0 < high <= 44.0


def test_interval_holds_the_next_number() -> None:
    """Slightly more than half of the records are at or below 7; by the noise it may be less than half."""
    counts = np.full(16, 10**6)
    counts[7] += 1
    quantile = exact_counts(Integers(0, 15), counts, 4).quantile(0.5)
    assert quantile.value == 7
    assert quantile.interval(0.9) == (7, 8)

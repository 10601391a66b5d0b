"""Conditional samples follow the distribution in their region; distributions that differ by 10% are rejected."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from privhp import Box, Categories, Generator, Geo, Integers, Interval, IPv4, Nullable, Table, Taxonomy, Time
from privhp.domains.unions import share_inside
from releases import histogram

ALPHA = 1e-9
SAMPLES = 100_000
RECORDS = 10  # of each small balanced sample
DEEP = 7  # level of the cells that are counted

COUNTS = [1, 5, 2, 0, 3, 8, 4, 7]
CASES: dict[str, tuple[Generator, Any]] = {
    "interval": (histogram(Interval(0, 1), 3, COUNTS), (0.06, 0.71)),
    "log interval": (histogram(Interval(1, 1000, scale="log"), 3, COUNTS), (3, 200)),
    "declared quantiles": (histogram(Interval(0, 1, cuts=[0.1, 0.2, 0.7]), 3, COUNTS), (0.05, 0.65)),
    "integers": (histogram(Integers(0, 103), 3, COUNTS), (5, 70)),
    "times": (histogram(Time("2020-01-01", "2020-03-10", unit="D"), 3, COUNTS), ("2020-01-05", "2020-02-27")),
    "addresses": (histogram(IPv4(), 3, COUNTS), "192.0.0.0/2"),
    "part of a leaf": (histogram(IPv4(), 3, COUNTS), "160.0.0.0/4"),
    "categories": (histogram(Categories(range(100)), 3, COUNTS), [*range(9), *range(40, 77, 3)]),
    "taxonomy": (histogram(Taxonomy({"a": list("bcdefg"), "h": list("ijk"), "l": None}), 3, COUNTS), ["a/c", "h", "l"]),
    "box": (histogram(Box([(0, 1), (0, 3)]), 3, COUNTS), ((0.3, None), (0.4, 2.2))),
    "places": (histogram(Geo(), 3, COUNTS), (100, -50, -100, 80)),
    "null or not": (histogram(Nullable(Interval(0, 1), share=0.3), 0, [9]), (0.1, 0.4)),
    "null and values": (histogram(Nullable(Interval(0, 1), share=0.3), 0, [9]), [(0.1, 0.4), None]),
    "table": (
        histogram(Table(a=Interval(0, 1), b=Nullable(Integers(0, 9))), 3, COUNTS),
        {"a": (0.2, 0.9), "b": (2, 7)},
    ),
}
NAMES = pytest.mark.parametrize("name", CASES)


def expected(generator: Generator, region: Any) -> NDArray[np.float64]:
    """Probability of every deep cell given the region: the mass of its leaf times its measure and overlap."""
    domain, leaf = generator.domain, generator.plan.depth
    level = min(DEEP, domain.depth)
    cells = np.arange(2**level, dtype=np.uint64)
    above = cells >> np.uint64(level - leaf)
    whole = domain.measure(above, level=leaf)
    share = domain.measure(cells, level=level) / np.where(whole > 0, whole, 1.0)
    share = share * share_inside(domain, region, cells, level=level)
    probabilities = generator.probabilities[above.astype(np.int64)] * share
    return probabilities / probabilities.sum()


def significance(found: NDArray[np.int64], probabilities: NDArray[np.float64], by: float = 0.0) -> float:
    """P-value of counts, with every second probability changed by a share."""
    possible = probabilities > 1e-12
    assert not found[~possible].any()
    changed = probabilities[possible] * np.where(np.arange(possible.sum()) % 2, 1 + by, 1.0)
    return float(stats.chisquare(found[possible], changed / changed.sum() * found.sum()).pvalue)


def counted(generator: Generator, sample: Any) -> NDArray[np.int64]:
    level = min(DEEP, generator.domain.depth)
    cells = generator.domain.encode(sample, level=level)
    return np.bincount(cells.astype(np.int64), minlength=2**level)


@cache
def balanced(name: str) -> NDArray[np.int64]:
    """Cells of the records of many small balanced samples."""
    (generator, region), rng = CASES[name], np.random.default_rng(16)
    sets = (generator.sample(RECORDS, where=region, rng=rng) for _ in range(SAMPLES // RECORDS // 5))
    return np.sum([counted(generator, some) for some in sets], axis=0)


@NAMES
@pytest.mark.parametrize("shuffle", [True, False])
def test_independent_samples_of_a_region(name: str, shuffle: bool) -> None:
    generator, region = CASES[name]
    sample = generator.sample(SAMPLES, where=region, method="independent", shuffle=shuffle, rng=15)
    found, probabilities = counted(generator, sample), expected(generator, region)
    assert significance(found, probabilities) > ALPHA
    assert significance(found, probabilities, -0.1) < ALPHA
    assert significance(found, probabilities, 0.1) < ALPHA


@NAMES
def test_balanced_samples_of_a_region(name: str) -> None:
    """Counts of balanced samples vary less than independent ones, so the test is conservative."""
    generator, region = CASES[name]
    sample = generator.sample(SAMPLES, where=region, rng=17)
    found, probabilities = counted(generator, sample), expected(generator, region)
    assert significance(found, probabilities) > ALPHA
    assert significance(found, probabilities, -0.1) < ALPHA
    assert significance(found, probabilities, 0.1) < ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("name", ["interval", "places", "table"])
def test_small_balanced_samples_of_region(name: str) -> None:
    found, probabilities = balanced(name), expected(*CASES[name])
    assert significance(found, probabilities) > ALPHA
    assert significance(found, probabilities, -0.2) < ALPHA
    assert significance(found, probabilities, 0.2) < ALPHA

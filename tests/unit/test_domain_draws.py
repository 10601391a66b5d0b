"""Records drawn from a cell."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from example_domains import log2_by_octave, sides_of
from privhp import Box, Domain, Integers, Interval, IPv4
from privhp.core.allocation import Allocation

ALPHA = 1e-9
SAMPLES = 100_000


def uniformity(shares: NDArray[np.float64]) -> float:
    """p-value of a chi-squared test of uniformity on [0, 1) with 100 bins."""
    return float(stats.chisquare(np.bincount((shares * 100).astype(np.int64), minlength=100)).pvalue)


def independence(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """p-value of a chi-squared test of uniformity on [0, 1)**2 with 10 x 10 bins."""
    return uniformity((np.floor(one * 10) + np.clip(other, 0, 0.999)) / 10)


def draw_records(domain: Domain, level: int, cell: int, rng: np.random.Generator) -> NDArray[Any]:
    return domain.decode(np.full(SAMPLES, cell, dtype=np.uint64), level=level, rng=rng)


def draw_balanced(domain: Domain, level: int, cell: int, rng: np.random.Generator) -> NDArray[Any]:
    """Balanced samples of four records; each record alone is uniform in its cell."""
    times = SAMPLES // 4
    cells, levels, counts = np.full(times, cell, dtype=np.uint64), np.full(times, level), np.full(times, 4)
    return domain.sample_allocation(Allocation(cells, levels, counts), balanced=True, rng=rng)


def shares_of(domain: Any, level: int, cell: int, draw: Callable[..., NDArray[Any]]) -> list[NDArray[np.float64]]:
    """Relative position of drawn records in their cell, one array per coordinate."""
    rng = np.random.default_rng(20)
    records = draw(domain, level, cell, rng)
    if isinstance(domain, Interval):
        line = np.vectorize(lambda number: float(log2_by_octave(number))) if domain.scale == "log" else np.asarray
        low, width = line(domain.low), (line(domain.high) - line(domain.low)) / 2**level
        return [(line(records) - low) / width - cell]
    if isinstance(domain, Box):
        sides = sides_of(domain, cell, level)
        return [(column - low) / (high - low) for column, (low, high) in zip(records.T, sides, strict=True)]
    low, high = (0, 2**32 - 1) if isinstance(domain, IPv4) else (domain.low, domain.high)
    run = 2 ** (domain.depth - level)
    first = low + cell * run
    return [(records.astype(np.int64) - first + rng.random(SAMPLES)) / min(run, high + 1 - first)]


DRAWN = [
    (Interval(-3, 5), 0, 0),
    (Interval(0.1, 0.7), 3, 5),
    (Interval(0.5, 100, scale="log"), 2, 2),
    (Integers(0, 1023), 3, 4),
    (Integers(0, 999), 3, 7),
    (Integers(0, 12), 1, 1),
    (IPv4(), 4, 9),
    (Box([(0, 1), (0, 4), (-1, 0)]), 4, 11),
]


@pytest.mark.parametrize("draw", [draw_records, draw_balanced])
@pytest.mark.parametrize(("domain", "level", "cell"), DRAWN, ids=repr)
def test_uniform_draws(domain: Domain, level: int, cell: int, draw: Callable[..., NDArray[Any]]) -> None:
    coordinates = shares_of(domain, level, cell, draw)
    for shares in coordinates:
        assert uniformity(shares) > ALPHA
        assert uniformity(shares**0.9) < ALPHA
        assert uniformity(shares**1.1) < ALPHA


def test_independent_coordinates() -> None:
    some = np.random.default_rng(0).random(SAMPLES) < 0.1
    for one, other in itertools.combinations(shares_of(Box([(0, 1), (0, 4), (-1, 0)]), 4, 11, draw_records), 2):
        assert independence(one, other) > ALPHA
        assert independence(one, np.where(some, one, other)) < ALPHA
        assert independence(one, np.where(some, 1 - one, other)) < ALPHA

"""Coins of rows compared with independent coins of the declared rate.

The arms that must fail are samples of other kinds. A p-value below ALPHA is a
failure; nothing is tried twice.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from privhp.collect.coins import poisson_sample

Sampler = Callable[[int, Fraction], NDArray[np.intp]]

ALPHA = 1e-9
ROWS, PASSES = 2**17, 16
BATCH = 2**10
LAGS = [1, 2, 8, 16, 64, 256, BATCH]


def least_p_value(sample: Sampler, rate: Fraction) -> float:
    """Least p-value of all checks: rates, counts of batches, pairs of rows in a pass, pairs of passes."""
    taken = np.zeros((PASSES, ROWS), dtype=np.bool_)
    for number in range(PASSES):
        taken[number, sample(ROWS, rate)] = True
    values = [stats.binomtest(int(taken.sum()), taken.size, float(rate)).pvalue]
    values += [counts_of_batches(taken, rate), rates_of_residues(taken, rate)]
    values += [independence(taken[:, :-lag], taken[:, lag:], rate) for lag in LAGS]
    values += [independence(taken[:-1], taken[1:], rate), independence(taken[0], taken[PASSES // 2], rate)]
    return float(min(values))


def counts_of_batches(taken: NDArray[np.bool_], rate: Fraction) -> float:
    """Chi-square p-value of the numbers of rows taken in batches against the binomial distribution."""
    counts = taken.reshape(-1, BATCH).sum(axis=1)
    ends = np.unique(stats.binom.ppf(np.arange(1, 20) / 20, BATCH, float(rate)))
    expected = np.diff([0.0, *stats.binom.cdf(ends, BATCH, float(rate)), 1.0]) * counts.size
    found = np.bincount(np.searchsorted(ends, counts), minlength=ends.size + 1)
    return float(stats.chisquare(found, expected).pvalue)


def rates_of_residues(taken: NDArray[np.bool_], rate: Fraction) -> float:
    """Chi-square p-value that each residue of the row number modulo 256 is taken at the rate."""
    found = taken.reshape(-1, 256).sum(axis=0)
    rows = taken.size // 256
    deviations = (found - rows * float(rate)) / np.sqrt(rows * float(rate * (1 - rate)))
    return float(stats.chi2.sf((deviations**2).sum(), df=256))


def independence(first: NDArray[np.bool_], second: NDArray[np.bool_], rate: Fraction) -> float:
    """P-value that pairs of coins are both heads with the square of the rate."""
    return float(stats.binomtest(int((first & second).sum()), first.size, float(rate**2)).pvalue)


@pytest.mark.parametrize(
    "rate", [Fraction(1, 256), Fraction(1, 16), Fraction(7, 64), Fraction(1, 4), Fraction(1, 2)], ids=str
)
def test_coins_are_independent_with_their_rate(rate: Fraction) -> None:
    assert least_p_value(poisson_sample, rate) > ALPHA


def every_nth_row(rows: int, rate: Fraction) -> NDArray[np.intp]:
    step = int(1 / rate)
    return np.arange(int(np.random.default_rng().integers(step)), rows, step)


def coin_per_batch(rows: int, rate: Fraction) -> NDArray[np.intp]:
    return np.flatnonzero(np.repeat(np.random.default_rng().random(rows // BATCH) < float(rate), BATCH))


def coin_per_pair(rows: int, rate: Fraction) -> NDArray[np.intp]:
    return np.flatnonzero(np.repeat(np.random.default_rng().random(rows // 2) < float(rate), 2))


def seeded_sample(rows: int, rate: Fraction) -> NDArray[np.intp]:
    return np.flatnonzero(np.random.default_rng(0).random(rows) < float(rate))


def fixed_size_sample(rows: int, rate: Fraction) -> NDArray[np.intp]:
    ranks = np.argsort(np.random.default_rng().random((rows // BATCH, BATCH)), axis=1)
    return np.flatnonzero(ranks < BATCH * float(rate))


def coins_used_again(rows: int, rate: Fraction) -> NDArray[np.intp]:
    return np.flatnonzero(np.tile(np.random.default_rng().random(256) < float(rate), rows // 256))


def other_rate(factor: float) -> Sampler:
    return lambda rows, rate: np.flatnonzero(np.random.default_rng().random(rows) < factor * float(rate))


@pytest.mark.parametrize(
    "sample",
    [
        *(every_nth_row, coin_per_batch, coin_per_pair, seeded_sample, fixed_size_sample, coins_used_again),
        *(other_rate(0.95), other_rate(1.05)),
    ],
)
def test_checks_reject_other_samples(sample: Sampler) -> None:
    assert least_p_value(sample, Fraction(1, 16)) < ALPHA

"""Noise draws compared with their distribution, with OpenDP, and with each other.

Every test has arms that must fail: noise 10% too small or too large, copied,
one-sided. A p-value below ALPHA is a failure; nothing is tried twice.
"""

import math
import os
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from numpy.typing import NDArray
from scipy import stats

from privhp import Interval, Plan, Summary
from privhp.collect.noise import discrete_laplace
from privhp.core.cells import Counts

ALPHA = 1e-9
SAMPLES = 100_000
TAIL_SAMPLES = 5_000_000

SCALES = [Fraction(1, 2), Fraction(1), Fraction(10), Fraction(600), Fraction(12345, 7), Fraction(2**39)]
WRONG = [Fraction(9, 10), Fraction(11, 10)]


def at_most(value: float, scale: float) -> float:
    """P(X <= value) for an integer value."""
    ratio = math.exp(-1 / scale)
    return 1 - ratio ** (value + 1) / (1 + ratio) if value >= 0 else ratio**-value / (1 + ratio)


def bin_ends(scale: float) -> NDArray[np.int64]:
    """Last values of up to 40 bins of about equal probability; each tail is one more bin."""
    shares = np.arange(1, 40) / 40
    ends = np.where(shares < 0.5, np.log(2 * shares), -np.log(2 * (1 - shares))) * scale
    return np.unique(np.rint(ends).astype(np.int64))


def counts_in_bins(drawn: Counts, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(np.searchsorted(ends, drawn), minlength=ends.size + 1)


def fit(drawn: Counts, scale: Fraction) -> float:
    """Chi-square p-value of the draws against the exact distribution."""
    ends = bin_ends(float(scale))
    expected = np.diff([0.0, *(at_most(int(end), float(scale)) for end in ends), 1.0]) * drawn.size
    assert expected.min() >= 5
    return float(stats.chisquare(counts_in_bins(drawn, ends), expected).pvalue)


def same_distribution(first: Counts, second: Counts, scale: float) -> float:
    """Chi-square p-value of two samples for the same distribution."""
    ends = bin_ends(scale)
    table = np.stack([counts_in_bins(sample, ends) for sample in (first, second)])
    return float(stats.chi2_contingency(table[:, table.any(axis=0)]).pvalue)


def independence(first: Counts, second: Counts) -> float:
    """Chi-square p-value of the joint distribution of pairs against the product of its margins."""
    codes = [np.searchsorted(np.quantile(values, [0.1, 0.4, 0.6, 0.9]), values) for values in (first, second)]
    joint = np.zeros((5, 5))
    np.add.at(joint, tuple(codes), 1)
    return float(stats.chi2_contingency(joint).pvalue)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_draws_distribution(scale: Fraction) -> None:
    assert fit(discrete_laplace(SAMPLES, scale=scale), scale) > ALPHA


@pytest.mark.parametrize("factor", WRONG, ids=str)
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_distribution_check_rejects_other_scale(scale: Fraction, factor: Fraction) -> None:
    assert fit(discrete_laplace(SAMPLES, scale=scale * factor), scale) < ALPHA


def tail_fits(batches: Iterable[Counts], scale: Fraction) -> list[float]:
    """Binomial p-values of the numbers of draws beyond 3, 6 and 10 scales."""
    ends = [math.floor(scales * scale) for scales in (3, 6, 10)]
    size, beyond = 0, np.zeros(3, dtype=np.int64)
    for drawn in batches:
        size += drawn.size
        beyond += [np.count_nonzero(np.abs(drawn) > end) for end in ends]
    chances = [2 * at_most(-end - 1, float(scale)) for end in ends]
    return [float(stats.binomtest(int(k), size, chance).pvalue) for k, chance in zip(beyond, chances, strict=True)]


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(12345, 7)], ids=str)
def test_tails(scale: Fraction, offline: bool) -> None:
    def batches(true_scale: Fraction) -> Iterator[Counts]:
        for _ in range(20 if offline else 1):
            yield discrete_laplace(TAIL_SAMPLES, scale=true_scale)

    assert min(tail_fits(batches(scale), scale)) > ALPHA
    for factor in WRONG:
        assert max(tail_fits(batches(scale * factor), scale)) < ALPHA


def test_tail_check_rejects_clipped_noise() -> None:
    clipped = np.clip(discrete_laplace(TAIL_SAMPLES, scale=Fraction(10)), -100, 100)
    assert min(tail_fits([clipped], Fraction(10))) < ALPHA


def test_noise_of_tiny_scale() -> None:
    assert not discrete_laplace(SAMPLES, scale=Fraction(1, 1000)).any()


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_signs(scale: Fraction) -> None:
    drawn = discrete_laplace(SAMPLES, scale=scale)
    drawn = drawn[drawn != 0]
    assert stats.binomtest(int((drawn < 0).sum()), drawn.size, 0.5).pvalue > ALPHA
    assert same_distribution(drawn[drawn > 0], -drawn[drawn < 0], float(scale)) > ALPHA


def test_sign_check_rejects_bias() -> None:
    drawn = discrete_laplace(SAMPLES, scale=Fraction(10))
    positive, negative = drawn[drawn > 0], -drawn[drawn < 0]
    assert stats.binomtest(round(0.45 * drawn.size), drawn.size, 0.5).pvalue < ALPHA
    assert same_distribution(positive, negative[negative < 30], 10.0) < ALPHA


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(12345, 7)], ids=str)
@pytest.mark.parametrize("lag", [1, 2, 7, 8, 9, 64])
def test_serial_independence(scale: Fraction, lag: int) -> None:
    drawn = discrete_laplace(SAMPLES, scale=scale)
    assert independence(drawn[lag:], drawn[:-lag]) > ALPHA
    assert independence(np.abs(drawn[lag:]), np.abs(drawn[:-lag])) > ALPHA


def test_independence_of_calls() -> None:
    first, second = (discrete_laplace(SAMPLES, scale=Fraction(600)) for _ in range(2))
    assert independence(first, second) > ALPHA


def test_independence_check_rejects_copies() -> None:
    drawn = discrete_laplace(SAMPLES, scale=Fraction(10))
    one_in_twenty_copied = np.where(np.arange(SAMPLES) % 20 == 0, np.roll(drawn, 1), drawn)
    assert independence(one_in_twenty_copied[1:], one_in_twenty_copied[:-1]) < ALPHA


@pytest.fixture(scope="module")
def opendp_draws() -> dict[Fraction, Counts]:
    dp.enable_features("contrib")
    space: Any = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    return {
        scale: np.array(dp.m.make_laplace(*space, scale=float(scale))([0] * SAMPLES))
        for scale in (Fraction(10), Fraction(600))
    }


@pytest.mark.parametrize("scale", [Fraction(10), Fraction(600)], ids=str)
def test_same_distribution_as_opendp(scale: Fraction, opendp_draws: dict[Fraction, Counts]) -> None:
    assert same_distribution(discrete_laplace(SAMPLES, scale=scale), opendp_draws[scale], float(scale)) > ALPHA


@pytest.mark.parametrize("factor", WRONG, ids=str)
@pytest.mark.parametrize("scale", [Fraction(10), Fraction(600)], ids=str)
def test_opendp_check_rejects_other_scale(
    scale: Fraction, factor: Fraction, opendp_draws: dict[Fraction, Counts]
) -> None:
    assert same_distribution(discrete_laplace(SAMPLES, scale=scale * factor), opendp_draws[scale], float(scale)) < ALPHA


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_noise_of_forks() -> None:
    scale = Fraction(2**40)
    discrete_laplace(1000, scale=scale)  # fills any state that a process could keep
    drawn = [discrete_laplace(20, scale=scale).tobytes()]
    for _ in range(2):
        source, sink = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(sink, discrete_laplace(20, scale=scale).tobytes())
            os._exit(0)
        os.close(sink)
        with open(source, "rb") as pipe:
            drawn.append(pipe.read())
        assert os.waitpid(child, 0)[1] == 0
    arrays = [np.frombuffer(each, dtype=np.int64) for each in drawn]
    assert [array.size for array in arrays] == [20, 20, 20]
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        assert not np.isin(arrays[first], arrays[second]).any()


@pytest.fixture(scope="module")
def initial_noise() -> dict[int, Counts]:
    """Noise of every level of 64 empty summaries, at scales where equal draws are improbable."""
    plan = Plan(
        Interval(0, 1),
        epsilon=Fraction(1, 10**6),
        budgets={0: "1e-7", 2: "1e-7", 3: "1e-7", 4: "2e-7", 6: "2e-7"},
        exact_depth=3,
        sketch_rows=2,
        sketch_width=8,
        hot_cells=2,
        max_records_per_person=10**5,
    )
    assert all(Fraction(2**39) < plan.scale(level) <= 2**40 for level in plan.budgets)
    releases = [Summary(plan).release().release for _ in range(64)]
    return {level: np.stack([release.counts[level].ravel() for release in releases]) for level in plan.budgets}


def test_noise_of_new_summaries_is_independent(initial_noise: dict[int, Counts]) -> None:
    for states in initial_noise.values():
        assert np.unique(states, axis=0).shape[0] == 64


def test_noise_of_cells_is_distinct(initial_noise: dict[int, Counts]) -> None:
    columns = np.concatenate([states.T for states in initial_noise.values()])
    assert (columns.min(axis=1) < columns.max(axis=1)).all()
    assert np.unique(columns, axis=0).shape == columns.shape


def test_noise_of_states() -> None:
    plan = Plan.paper(Interval(0, 1), epsilon="0.001", expected_records=1000, hot_cells=2)
    states = np.stack([Summary(plan).state() for _ in range(64)])
    assert (states.min(axis=0) < states.max(axis=0)).all()
    assert np.unique(states, axis=0).shape == states.shape

"""Samples follow the generator's distribution; distributions that differ by 10% are rejected."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from privhp import Box, Generator, Geo, Integers, Interval
from releases import histogram, leaf_indices

ALPHA = 1e-9
SAMPLES = 100_000
RECORDS = 10  # of each small balanced sample

COUNTS = [1, 5, 2, 0, 3, 8, 4, 7]
GENERATORS = {
    "interval": histogram(Interval(0, 1), 3, COUNTS),
    "log interval": histogram(Interval(1, 1000, scale="log"), 3, COUNTS),
    "integers": histogram(Integers(0, 103), 3, COUNTS),
    "box": histogram(Box([(0, 1), (0, 3)]), 3, COUNTS),
    "places": histogram(Geo(), 3, COUNTS),
}
CASES = pytest.mark.parametrize("name", GENERATORS)
ORDERS = pytest.mark.parametrize("shuffle", [True, False])


def skewed(probabilities: NDArray[np.float64], by: float) -> NDArray[np.float64]:
    """Probabilities with every second one changed by a share, normalised."""
    changed = probabilities * np.where(np.arange(probabilities.size) % 2, 1 + by, 1.0)
    return changed / changed.sum()


def chi_square(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """P-value of counts of independent draws; cells of probability 0 must be empty."""
    possible = probabilities > 0
    assert not counts[~possible].any()
    return float(stats.chisquare(counts[possible], probabilities[possible] * counts.sum()).pvalue)


def finer_cells(generator: Generator) -> NDArray[np.float64]:
    """Probability of every cell two levels below the leaves."""
    domain, level = generator.plan.domain, generator.plan.depth
    cells = np.arange(2 ** (level + 2), dtype=np.uint64)
    leaves = (cells >> np.uint64(2)).astype(np.int64)
    whole = domain.measure(np.arange(2**level, dtype=np.uint64), level=level)[leaves]
    share = domain.measure(cells, level=level + 2) / np.where(whole > 0, whole, 1.0)
    return generator.probabilities[leaves] * share


@CASES
@ORDERS
def test_independent_samples_over_leaves(name: str, shuffle: bool) -> None:
    generator = GENERATORS[name]
    records = generator.sample(SAMPLES, method="independent", shuffle=shuffle, rng=11)
    counts = np.bincount(leaf_indices(generator, records), minlength=8)
    assert chi_square(counts, generator.probabilities) > ALPHA
    assert chi_square(counts, skewed(generator.probabilities, -0.1)) < ALPHA
    assert chi_square(counts, skewed(generator.probabilities, 0.1)) < ALPHA


@CASES
@ORDERS
def test_independent_samples_inside_leaves(name: str, shuffle: bool) -> None:
    generator = GENERATORS[name]
    records = generator.sample(SAMPLES, method="independent", shuffle=shuffle, rng=12)
    counts = np.bincount(generator.plan.domain.encode(records, level=5).view(np.int64), minlength=32)
    cells = finer_cells(generator)
    assert chi_square(counts, cells) > ALPHA
    assert chi_square(counts, skewed(cells, -0.1)) < ALPHA
    assert chi_square(counts, skewed(cells, 0.1)) < ALPHA


@CASES
def test_samples_are_independent(name: str) -> None:
    """Pairs of successive samples, over pairs of leaves."""
    generator = GENERATORS[name]
    places = leaf_indices(generator, generator.sample(2 * SAMPLES, method="independent", rng=13))
    pairs = np.bincount(places[::2] * 8 + places[1::2], minlength=64)
    assert chi_square(pairs, np.outer(generator.probabilities, generator.probabilities).ravel()) > ALPHA


@ORDERS
def test_leaf_counts_are_binomial(shuffle: bool) -> None:
    """Counts in the last three leaves of samples of 100; their variance would be larger if the sizes varied."""
    generator, rng = GENERATORS["interval"], np.random.default_rng(15)
    sets = [generator.sample(100, method="independent", shuffle=shuffle, rng=rng) for _ in range(SAMPLES // 100)]
    found = np.bincount((np.array(sets) >= 5 / 8).sum(axis=1), minlength=101)
    chance = generator.probabilities[5:].sum()
    numbers = np.arange(101)

    def significance(expected: NDArray[np.float64]) -> float:
        common = expected > 0.005
        parts = [np.append(counts[common], counts[~common].sum()) for counts in (found, expected / expected.sum())]
        return float(stats.chisquare(parts[0], parts[1] * len(sets)).pvalue)

    assert significance(stats.binom.pmf(numbers, 100, chance)) > ALPHA
    assert significance(stats.binom.pmf(numbers, 100, chance * 0.9)) < ALPHA
    assert significance(stats.binom.pmf(numbers, 100, chance * 1.1)) < ALPHA
    assert significance(stats.poisson.pmf(numbers, 100 * chance)) < ALPHA


@cache
def small_balanced_samples(name: str) -> NDArray[np.int64]:
    """Cell of each record, two levels below the leaves: one row per balanced sample."""
    generator, rng = GENERATORS[name], np.random.default_rng(14)
    sets = [generator.sample(RECORDS, rng=rng) for _ in range(SAMPLES // RECORDS)]
    cells = generator.plan.domain.encode(np.concatenate(sets), level=generator.plan.depth + 2)
    return cells.view(np.int64).reshape(-1, RECORDS)


@CASES
def test_balanced_samples_are_unbiased_over_leaves(name: str) -> None:
    """The count of a leaf is its expected number rounded down or up, with the probability that makes it unbiased."""
    leaves = small_balanced_samples(name) >> 2
    rejected = {-0.1: 0, 0.0: 0, 0.1: 0}
    for leaf, expected in enumerate(GENERATORS[name].probabilities * RECORDS):
        upper = int(((leaves == leaf).sum(axis=1) - int(expected)).sum())
        for change in rejected:
            chance = (expected - int(expected)) * (1 + change)
            rejected[change] += stats.binomtest(upper, len(leaves), min(chance, 1.0)).pvalue < ALPHA
    assert rejected[0.0] == 0
    assert rejected[-0.1] > 0
    assert rejected[0.1] > 0


@CASES
def test_balanced_samples_are_unbiased_inside_leaves(name: str) -> None:
    """Counts of balanced samples vary less than independent ones, so the test is conservative."""
    counts = np.bincount(small_balanced_samples(name).ravel(), minlength=32)
    cells = finer_cells(GENERATORS[name])
    assert chi_square(counts, cells) > ALPHA
    assert chi_square(counts, skewed(cells, -0.1)) < ALPHA
    assert chi_square(counts, skewed(cells, 0.1)) < ALPHA


@CASES
def test_balanced_samples_order(name: str) -> None:
    """The first record of each sample follows the whole distribution, the smallest does not."""
    sets = small_balanced_samples(name) >> 2
    chances = GENERATORS[name].probabilities
    for place in (0, RECORDS // 2, RECORDS - 1):
        assert chi_square(np.bincount(sets[:, place], minlength=8), chances) > ALPHA
    assert chi_square(np.bincount(sets.min(axis=1), minlength=8), chances) < ALPHA

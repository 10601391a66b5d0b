"""Samples follow the generator's distribution: the right one passes, 10% less or more is rejected."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from privhp import Box, Generator, Geo, Integers, Interval
from releases import histogram, leaf_places

ALPHA = 1e-9
SAMPLES = 100_000
RECORDS = 10  # in each of many small balanced sets

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
    """Every second probability changed by that share, and all of them scaled to 1 again."""
    changed = probabilities * np.where(np.arange(probabilities.size) % 2, 1 + by, 1.0)
    return changed / changed.sum()


def chi_square(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Significance of counts of independent draws; where nothing can be, there must be nothing."""
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
    counts = np.bincount(leaf_places(generator, records), minlength=8)
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
def test_independent_samples_do_not_know_of_each_other(name: str) -> None:
    """Pairs of neighbours, over pairs of leaves."""
    generator = GENERATORS[name]
    places = leaf_places(generator, generator.sample(2 * SAMPLES, method="independent", rng=13))
    pairs = np.bincount(places[::2] * 8 + places[1::2], minlength=64)
    assert chi_square(pairs, np.outer(generator.probabilities, generator.probabilities).ravel()) > ALPHA


@ORDERS
def test_numbers_of_independent_samples_are_binomial(shuffle: bool) -> None:
    """Those in the last three leaves of sets of 100, whose variance would be larger if the sets' sizes varied."""
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
def small_balanced_sets(name: str) -> NDArray[np.int64]:
    """Cell, two levels below the leaves, of each record of many balanced sets: one row per set."""
    generator, rng = GENERATORS[name], np.random.default_rng(14)
    sets = [generator.sample(RECORDS, rng=rng) for _ in range(SAMPLES // RECORDS)]
    cells = generator.plan.domain.encode(np.concatenate(sets), level=generator.plan.depth + 2)
    return cells.view(np.int64).reshape(-1, RECORDS)


@CASES
def test_balanced_samples_are_unbiased_in_every_leaf(name: str) -> None:
    """A leaf gets one of the two whole numbers next to its expected number, the upper one as often as it must."""
    leaves = small_balanced_sets(name) >> 2
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
    """Their counts vary less than those of independent draws, so that the right distribution passes all the more."""
    counts = np.bincount(small_balanced_sets(name).ravel(), minlength=32)
    cells = finer_cells(GENERATORS[name])
    assert chi_square(counts, cells) > ALPHA
    assert chi_square(counts, skewed(cells, -0.1)) < ALPHA
    assert chi_square(counts, skewed(cells, 0.1)) < ALPHA


@CASES
def test_balanced_samples_come_in_random_order(name: str) -> None:
    """The first of each set is a draw of the whole distribution, which the least of each set is not."""
    sets = small_balanced_sets(name) >> 2
    chances = GENERATORS[name].probabilities
    for place in (0, RECORDS // 2, RECORDS - 1):
        assert chi_square(np.bincount(sets[:, place], minlength=8), chances) > ALPHA
    assert chi_square(np.bincount(sets.min(axis=1), minlength=8), chances) < ALPHA

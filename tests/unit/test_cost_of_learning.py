"""The cost of two learning passes and the measuring pass, over all outcomes of small cases.

Records are values 0 to 3, or skipped. The first pass counts in two cells, each later pass in the partition that
the noisy counts before it chose. Counts are clipped so that outcomes are finitely many. Clipped counts lose
nothing: beyond the largest count the ratio of two probabilities no longer changes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations_with_replacement, product
from math import exp, log

import numpy as np
import pytest
from numpy.typing import NDArray

from privhp.core.budget import amplified_cost

Values = tuple[int, ...]
Cells = tuple[Values, ...]
Array = NDArray[np.float64]
Samples = Callable[[Values, tuple[Fraction, Fraction]], Iterator[tuple[float, Values, Values]]]
"""Pairs of samples, one for each learning pass, with their probability."""

SKIPPED = -1
VALUES = (0, 1, 2, 3, SKIPPED)
OTHERS: tuple[Values, ...] = ((), (0,), (1, 3))
CLIP = 4  # no case has more records

COARSE: Cells = ((0, 1), (2, 3))
LEFT_SPLIT: Cells = ((0,), (1,), (2, 3))
RIGHT_SPLIT: Cells = ((0, 1), (2,), (3,))
ALL_SPLIT: Cells = ((0,), (1,), (2,), (3,))

BUDGETS = [Fraction("0.01"), Fraction("0.306"), Fraction(1), Fraction(4)]
LEVEL_BUDGET = Fraction("0.2")


def outcomes(cells: Cells) -> list[Values]:
    return list(product(range(CLIP + 1), repeat=len(cells)))


def after_first_pass(counts: Values) -> Cells:
    return LEFT_SPLIT if counts[0] >= counts[1] else RIGHT_SPLIT


def after_second_pass(cells: Cells, counts: Values) -> Cells:
    unsplit = next(count for cell, count in zip(cells, counts, strict=True) if len(cell) == 2)
    return ALL_SPLIT if unsplit >= 2 else cells


def fresh_coins(records: Values, rates: tuple[Fraction, Fraction]) -> Iterator[tuple[float, Values, Values]]:
    """Each record in each pass by its own coin."""
    yield from (
        (first_chance * second_chance, first, second)
        for first_chance, first in subsets(records, rates[0])
        for second_chance, second in subsets(records, rates[1])
    )


def subsets(records: Values, rate: Fraction) -> Iterator[tuple[float, Values]]:
    for coins in product((False, True), repeat=len(records)):
        taken = tuple(record for record, coin in zip(records, coins, strict=True) if coin)
        yield float(rate ** len(taken) * (1 - rate) ** (len(records) - len(taken))), taken


def same_sample_twice(records: Values, rates: tuple[Fraction, Fraction]) -> Iterator[tuple[float, Values, Values]]:
    return ((chance, sample, sample) for chance, sample in subsets(records, rates[0]))


def one_coin_for_all(records: Values, rates: tuple[Fraction, Fraction]) -> Iterator[tuple[float, Values, Values]]:
    for first, second in product((False, True), repeat=2):
        chances = [rate if coin else 1 - rate for rate, coin in zip(rates, (first, second), strict=True)]
        yield float(chances[0] * chances[1]), records if first else (), records if second else ()


@dataclass(frozen=True)
class Method:
    """Budgets and rates of the passes; noise of all passes multiplied by `scale`."""

    budget: Fraction
    rates: tuple[Fraction, Fraction] = (Fraction(1, 16), Fraction(1, 16))
    scale: int = 1
    samples: Samples = fresh_coins

    @property
    def cost(self) -> Fraction:
        return LEVEL_BUDGET + self.budget + sum(amplified_cost(rate, self.budget) for rate in self.rates)


@cache
def noisy(cells: Cells, records: Values, scale: Fraction) -> Array:
    """Probabilities of the outcomes of counting under discrete Laplace noise, clipped."""
    q = exp(-1 / scale)
    y = np.arange(CLIP + 1)
    mass = np.where((y == 0) | (y == CLIP), 1, 1 - q) / (1 + q)
    each = (mass * q ** np.abs(y - sum(record in cell for record in records)) for cell in cells)
    return reduce(np.multiply.outer, each).ravel()


@cache
def learned(method: Method, records: Values) -> Array:
    """Probabilities of the noisy counts of both learning passes, one row per outcome of the first."""
    scale = method.scale / method.budget
    split_right = np.array([after_first_pass(counts) is RIGHT_SPLIT for counts in outcomes(COARSE)], int)
    total = np.zeros((len(split_right), (CLIP + 1) ** 3))
    for chance, first, second in method.samples(records, method.rates):
        given = np.stack([noisy(cells, second, scale) for cells in (LEFT_SPLIT, RIGHT_SPLIT)])
        total += chance * noisy(COARSE, first, scale)[:, None] * given[split_right]
    return total


def measured(method: Method, cells: Cells, records: Values) -> Array:
    """Probabilities of the noisy counts of the measuring pass: an exact level, and the leaves."""
    level = noisy(COARSE, records, method.scale / LEVEL_BUDGET)
    return np.multiply.outer(level, noisy(cells, records, method.scale / method.budget))


FINAL = (LEFT_SPLIT, RIGHT_SPLIT, ALL_SPLIT)
FINAL_OF = np.array(
    [
        [FINAL.index(after_second_pass(cells, counts)) for counts in outcomes(cells)]
        for cells in map(after_first_pass, outcomes(COARSE))
    ]
)
"""Which partition the measuring pass has, for each outcome of the learning passes."""


def loss_of_all_counts(method: Method, one: Values, other: Values) -> float:
    """Largest log ratio of the probabilities of all noisy counts, of the three passes."""
    learning = np.log(learned(method, one) / learned(method, other))
    return float(np.max(learning + _measuring_losses(method, one, other)[FINAL_OF]))


def loss_of_release(method: Method, one: Values, other: Values) -> float:
    """Largest log ratio of the probabilities of the partition and the noisy counts of the measuring pass."""
    chances = [np.bincount(FINAL_OF.ravel(), learned(method, records).ravel()) for records in (one, other)]
    return float(np.max(np.log(chances[0] / chances[1]) + _measuring_losses(method, one, other)))


def _measuring_losses(method: Method, one: Values, other: Values) -> Array:
    return np.array([np.max(np.log(measured(method, cells, one) / measured(method, cells, other))) for cells in FINAL])


def largest(
    loss: Callable[[Method, Values, Values], float], method: Method, pairs: list[tuple[Values, Values]]
) -> float:
    return max(max(loss(method, one, other), loss(method, other, one)) for one, other in pairs)


def added(count: int) -> list[tuple[Values, Values]]:
    """Data sets without and with `count` records of a person."""
    return [(others, others + own) for others in OTHERS for own in combinations_with_replacement(VALUES, count)]


def replaced(count: int) -> list[tuple[Values, Values]]:
    owns = list(combinations_with_replacement(VALUES, count))
    return [(others + old, others + new) for others in OTHERS for old in owns for new in owns if old < new]


def test_probabilities_sum_to_one() -> None:
    method = Method(Fraction(1), scale=2)
    assert learned(method, (0, 3, 1, SKIPPED)).sum() == pytest.approx(1)
    assert measured(method, ALL_SPLIT, (0, 3, 1, SKIPPED)).sum() == pytest.approx(1)


@pytest.mark.parametrize("rates", [(Fraction(1, 16), Fraction(1, 16)), (Fraction(1, 64), Fraction(7, 64))])
@pytest.mark.parametrize("budget", BUDGETS)
def test_added_record_costs_exactly_the_plan(budget: Fraction, rates: tuple[Fraction, Fraction]) -> None:
    method = Method(budget, rates)
    assert largest(loss_of_all_counts, method, added(1)) == pytest.approx(float(method.cost), rel=1e-9)
    assert largest(loss_of_release, method, added(1)) < method.cost


@pytest.mark.parametrize("budget", BUDGETS)
def test_two_records_of_a_person_under_doubled_noise(budget: Fraction) -> None:
    method = Method(budget, scale=2)
    attained = budget + LEVEL_BUDGET + sum(2 * log(1 - p + p * exp(budget / 2)) for p in method.rates)
    assert largest(loss_of_all_counts, method, added(2)) == pytest.approx(attained, rel=1e-9)
    assert attained < method.cost


@pytest.mark.parametrize("budget", BUDGETS)
def test_replaced_record_under_doubled_noise(budget: Fraction) -> None:
    method = Method(budget, scale=2)
    learning = [log((1 - p + p * exp(budget / 2)) / (1 - p + p * exp(-budget / 2))) for p in method.rates]
    attained = budget + LEVEL_BUDGET + sum(learning)
    assert largest(loss_of_all_counts, method, replaced(1)) == pytest.approx(attained, rel=1e-9)
    assert attained < method.cost


def test_two_replaced_records_under_fourfold_noise() -> None:
    method = Method(Fraction(1), scale=4)
    assert 0.9 * float(method.cost) < largest(loss_of_all_counts, method, replaced(2)) < method.cost


def test_skipped_record_costs_nothing() -> None:
    assert loss_of_all_counts(Method(Fraction(1)), (0, 3), (0, 3, SKIPPED)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("method", "pairs"),
    [
        (Method(Fraction(1)), added(2)),
        (Method(Fraction(1)), replaced(1)),
        (Method(Fraction(1), scale=2), replaced(2)),
        (Method(Fraction(1), samples=same_sample_twice), added(1)),
        (Method(Fraction(1), samples=one_coin_for_all), added(1)),
    ],
    ids=["two records", "replaced record", "two replaced records", "same sample twice", "one coin for all"],
)
def test_defects_cost_more_than_the_plan(method: Method, pairs: list[tuple[Values, Values]]) -> None:
    assert largest(loss_of_all_counts, method, pairs) > 1.02 * float(method.cost)


@pytest.mark.parametrize("budget", BUDGETS)
def test_rate_times_budget_is_too_little(budget: Fraction) -> None:
    method = Method(budget)
    too_little = LEVEL_BUDGET + budget + sum(rate * budget for rate in method.rates)
    assert largest(loss_of_all_counts, method, added(1)) > too_little

"""Budgets: exact rationals that never sum to more than epsilon."""

import decimal
from decimal import Decimal
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from privhp import PlanError
from privhp.core.budget import (
    MAX_EPSILON,
    MIN_EPSILON,
    Neighbours,
    check_neighbours,
    exact,
    exact_epsilon,
    optimal_weights,
    sensitivity,
    split_epsilon,
)
from privhp.errors import describe_value

EPSILONS = st.fractions(MIN_EPSILON, MAX_EPSILON)
POSITIVE = st.floats(1e-300, 1e300)
WEIGHTS = st.dictionaries(st.integers(0, 63), POSITIVE, min_size=1)


@given(epsilon=EPSILONS, weights=WEIGHTS)
def test_shares_sum_to_epsilon_rounded_down(epsilon: Fraction, weights: dict[int, float]) -> None:
    shares = split_epsilon(epsilon, weights)
    assert shares.keys() == weights.keys()
    assert epsilon * (1 - Fraction(1, 2**40)) < sum(shares.values()) <= epsilon


@given(epsilon=EPSILONS, weights=WEIGHTS)
def test_share_is_at_most_its_weight(epsilon: Fraction, weights: dict[int, float]) -> None:
    total = sum(map(Fraction, weights.values()))
    for level, share in split_epsilon(epsilon, weights).items():
        due = epsilon * Fraction(weights[level]) / total
        assert due - epsilon / 2**48 < share <= due


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), float("nan")])
def test_invalid_weights_are_refused(weight: float) -> None:
    with pytest.raises(PlanError, match="weight above 0 and below infinity for every level, got"):
        split_epsilon(Fraction(1), {0: 1.0, 1: weight})


@given(
    costs=st.dictionaries(st.integers(0, 20), st.floats(1e-6, 1e6), min_size=2),
    data=st.data(),
)
def test_optimal_split_has_least_cost(costs: dict[int, float], data: st.DataObject) -> None:
    """The cost is the sum over the levels of cost / share."""
    best = split_epsilon(Fraction(1), optimal_weights(costs))
    nudge = st.floats(0.5, 2)
    other = split_epsilon(Fraction(1), {level: float(share) * data.draw(nudge) for level, share in best.items()})

    def price(shares: dict[int, Fraction]) -> Fraction:
        return sum(Fraction(cost) / shares[level] for level, cost in costs.items())

    assert price(best) <= price(other) * (1 + Fraction(1, 10**9))


def test_optimal_split_by_hand() -> None:
    costs = {0: 1.0, 1: 4.0}
    assert split_epsilon(Fraction(3), optimal_weights(costs)) == {0: pytest.approx(1), 1: pytest.approx(2)}


@pytest.mark.parametrize(
    "tenth", [0.1, "0.1", ".1", "1e-1", "1/10", Decimal("0.1"), Fraction(1, 10), np.float64(0.1), np.float32(0.1)]
)
def test_exact_epsilon_of_a_tenth(tenth: Any) -> None:
    assert exact_epsilon(tenth) == Fraction(1, 10)


@pytest.mark.parametrize("three", [3, 3.0, "3", "6/2", Decimal(3), Fraction(3), np.int64(3), np.uint8(3)])
def test_exact_epsilon_of_integers(three: Any) -> None:
    assert exact_epsilon(three) == 3


def test_numpy_integers_become_python_integers() -> None:
    """Products of NumPy integers overflow without an error."""
    for value in (np.int64(3), Fraction(np.int64(3))):
        number = exact(value, name="epsilon")
        assert type(number.numerator) is int
        assert type(number.denominator) is int
    shares = split_epsilon(exact_epsilon(np.int64(3)), {0: 1.0, 1: 3.0**0.5})
    assert 3 * (1 - Fraction(1, 2**40)) < sum(shares.values()) <= 3


@given(st.floats(1e-6, 1000))
def test_exact_epsilon_of_floats(value: float) -> None:
    assert exact_epsilon(value) == Fraction(repr(value))
    assert float(exact_epsilon(value)) == value


def test_range_of_epsilon_includes_its_ends() -> None:
    assert exact_epsilon("1e-6") == MIN_EPSILON
    assert exact_epsilon(1e-6) == MIN_EPSILON
    assert exact_epsilon(1000) == MAX_EPSILON


@pytest.mark.parametrize("value", [0, -1, 1001, "1000.0000001", 9.999e-7, "1e300", Fraction(-1, 2), 10**400, "-0.1"])
def test_epsilon_out_of_range_is_refused(value: Any) -> None:
    with pytest.raises(PlanError, match="expected epsilon= between 1e-6 and 1000, got") as caught:
        exact_epsilon(value)
    assert str(value) in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        *(float("nan"), float("inf"), -float("inf"), Decimal("nan"), Decimal("inf"), "nan", "inf"),
        *("", "one", "1/0", "1,5", "0x10", "1e999999999", "1e-999999999", Decimal("1e999999"), "1/1e9"),
        *(True, False, np.bool_(True), None, [1], b"1", 1j, np.array(1.0)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_non_numbers_are_refused(value: Any) -> None:
    with pytest.raises(PlanError, match=r"expected epsilon= as a number such as 0\.5") as caught:
        exact_epsilon(value)
    assert describe_value(value) in str(caught.value)


def test_exact_epsilon_ignores_the_decimal_context() -> None:
    strict = decimal.Context(prec=1, rounding=decimal.ROUND_UP, Emin=-1, Emax=1)
    strict.traps = dict.fromkeys(strict.traps, True)
    with decimal.localcontext(strict):
        assert exact_epsilon("0.123456") == Fraction(123456, 10**6)
        assert exact_epsilon(Decimal("0.123456")) == Fraction(123456, 10**6)


@pytest.mark.parametrize(
    ("neighbours", "level", "rows", "persons", "expected"),
    [
        ("add-remove", 0, 1, 1, 1),
        ("add-remove", 5, 1, 1, 1),
        ("add-remove", 5, 20, 1, 20),
        ("add-remove", 5, 20, 3, 60),
        ("replace-one", 0, 1, 1, 1),
        ("replace-one", 5, 1, 1, 2),
        ("replace-one", 5, 20, 1, 40),
        ("replace-one", 5, 20, 3, 120),
        ("replace-one", 0, 1, 7, 7),
    ],
)
def test_sensitivity(neighbours: Neighbours, level: int, rows: int, persons: int, expected: int) -> None:
    assert sensitivity(neighbours, level=level, rows=rows, max_records_per_person=persons) == expected


@pytest.mark.parametrize("value", ["add", "", None, "ADD-REMOVE", ["add-remove"]])
def test_unknown_neighbours_are_refused(value: Any) -> None:
    with pytest.raises(PlanError, match="expected neighbours to be one of add-remove, replace-one, got"):
        check_neighbours(value)

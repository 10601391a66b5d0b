"""Costs of passes over samples, against exponentials bounded in exact fractions."""

import decimal
import math
from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import assume, example, given

from privhp import PlanError
from privhp.core.budget import MAX_EPSILON, MIN_EPSILON, amplified_budget, amplified_cost

RATES = st.integers(1, 256).map(lambda k: Fraction(k, 256))
BUDGETS = st.builds(
    lambda digits, exponent: min(Fraction(digits) * Fraction(10) ** exponent, MAX_EPSILON),
    st.fractions(1, 10),
    st.integers(-9, 2),
)
SHARES = st.fractions(Fraction(1, 64), 1)
LITTLE = Fraction(1, 10**15)


def exp_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    """Lower and upper bound of exp(x): 50 terms of the series at x / 2**k <= 1/2, then k squares."""
    halvings = max(0, math.ceil(x).bit_length() + 1)
    y = x / 2**halvings
    term = low = Fraction(1)
    for i in range(1, 50):
        term = term * y / i
        low += term
    low, high = rounded_down(low), rounded_up(low + 2 * term * y / 50)
    for _ in range(halvings):
        low, high = rounded_down(low**2), rounded_up(high**2)
    return low, high


def rounded_down(x: Fraction) -> Fraction:
    return Fraction(math.floor(x * 2**256), 2**256)


def rounded_up(x: Fraction) -> Fraction:
    return Fraction(math.ceil(x * 2**256), 2**256)


def pays(cost: Fraction, rate: Fraction, budget: Fraction) -> bool:
    """Whether cost >= ln(1 + rate (exp(budget) - 1)); nearer than the bounds are, no answer is an error."""
    low, high = (1 + rate * (bound - 1) for bound in exp_bounds(budget))
    paid_low, paid_high = exp_bounds(cost)
    assert paid_low >= high or paid_high < low
    return paid_low >= high


def test_bounds_of_the_exponential() -> None:
    for x in (Fraction(1, 10**9), Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(700)):
        low, high = exp_bounds(x)
        assert low < high < low * (1 + Fraction(1, 10**60))
        assert float(low) == pytest.approx(math.exp(x), rel=1e-12)


@given(rate=RATES, budget=BUDGETS)
@example(rate=Fraction(1), budget=Fraction(1000))
@example(rate=Fraction(1, 256), budget=Fraction(1000))
@example(rate=Fraction(1, 256), budget=Fraction(1, 10**9))
@example(rate=Fraction(1, 3), budget=Fraction(1, 7))
def test_cost_is_a_tight_upper_bound(rate: Fraction, budget: Fraction) -> None:
    cost = amplified_cost(rate, budget)
    assert pays(cost, rate, budget)
    assert not pays(cost * (1 - LITTLE), rate, budget)


@given(budget=BUDGETS)
def test_cost_of_all_records_is_the_budget(budget: Fraction) -> None:
    assert budget <= amplified_cost(Fraction(1), budget) <= budget * (1 + LITTLE)


@pytest.mark.parametrize("rate", [Fraction(1, 16), Fraction(7, 64), Fraction(255, 256)])
def test_other_formulas_are_told_apart(rate: Fraction) -> None:
    """The rate times the budget is too little, a cost without the logarithm too much; floats fall on both sides."""
    budget = Fraction(3, 10)
    assert not pays(rate * budget, rate, budget)
    assert amplified_cost(rate, budget) < rate * (exp_bounds(budget)[0] - 1)
    floats = [Fraction(math.log1p(rate * math.expm1(k / 100))) for k in range(1, 100)]
    assert {pays(cost, rate, Fraction(k, 100)) for k, cost in enumerate(floats, 1)} == {False, True}


@given(rates=st.lists(RATES, max_size=4), total=st.fractions(MIN_EPSILON, MAX_EPSILON), share=SHARES)
@example(rates=[Fraction(1, 4), Fraction(1, 4)], total=MAX_EPSILON, share=Fraction(1, 4))
@example(rates=[Fraction(1, 64), Fraction(7, 64)], total=MIN_EPSILON, share=Fraction(1))
def test_budget_is_the_largest_that_the_total_pays(rates: list[Fraction], total: Fraction, share: Fraction) -> None:
    budget = amplified_budget(rates, total, share=share)
    assert (budget / total * 2**48).denominator == 1
    assert budget + sum(amplified_cost(rate, share * budget) for rate in rates) <= total
    more = budget + total / 2**48
    assert more > total or more + sum(amplified_cost(rate, share * more) for rate in rates) > total


def test_budget_of_known_plans() -> None:
    sixteenths = [Fraction(1, 16), Fraction(1, 16)]
    assert float(amplified_budget(sixteenths, Fraction("0.35"))) == pytest.approx(0.305781700434)
    assert amplified_budget([], Fraction("0.35")) == Fraction("0.35")
    assert float(amplified_budget([Fraction(1)], Fraction(1))) == pytest.approx(0.5)
    quarters = [Fraction(1, 4), Fraction(1, 4)]
    assert float(amplified_budget(quarters, Fraction("0.35"), share=Fraction(1, 4))) == pytest.approx(0.310096571059)


@given(rate=RATES, budget=BUDGETS, factor=st.integers(2, 16))
def test_larger_sample_with_a_smaller_budget_costs_less(rate: Fraction, budget: Fraction, factor: int) -> None:
    """Counts as certain as those of a small sample cost less: ln(1 + k p (exp(a / k) - 1)) falls with k."""
    assume(factor * rate <= 1)
    cost = amplified_cost(rate, budget)
    assert amplified_cost(factor * rate, budget / factor) <= cost * (1 + LITTLE)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1, 16), Fraction(257, 256)])
def test_rate_outside_its_range_is_refused(rate: Fraction) -> None:
    with pytest.raises(PlanError, match=f"sampling rate above 0 and at most 1, got {rate}"):
        amplified_cost(rate, Fraction(1))
    with pytest.raises(PlanError, match="sampling rate"):
        amplified_budget([Fraction(1, 16), rate], Fraction(1))


@pytest.mark.parametrize("budget", [Fraction(0), Fraction(-1), Fraction(1001), Fraction(10**400)])
def test_budget_outside_its_range_is_refused(budget: Fraction) -> None:
    with pytest.raises(PlanError, match="budget above 0 and at most 1000, got"):
        amplified_cost(Fraction(1, 16), budget)


def test_cost_ignores_the_decimal_context() -> None:
    expected = amplified_cost(Fraction(1, 16), Fraction(1))
    strict = decimal.Context(prec=1, rounding=decimal.ROUND_DOWN, Emin=-1, Emax=1)
    strict.traps = dict.fromkeys(strict.traps, True)
    with decimal.localcontext(strict):
        assert amplified_cost(Fraction(1, 16), Fraction(1)) == expected


def slow_budget(rates: list[Fraction], total: Fraction, share: Fraction, beside: list[Fraction]) -> Fraction:
    """The largest multiple of total / 2**48 whose costs sum to at most the total, by halving all of them."""
    known = sum(amplified_cost(rate, other) if other else 0 for rate, other in zip(rates, beside, strict=True))
    low, high = 0, 2**48 + 1
    while high - low > 1:
        middle = (low + high) // 2
        budget = total * Fraction(middle, 2**48)
        passes = zip(rates, beside, strict=True)
        cost = sum(amplified_cost(rate, share * budget + other) for rate, other in passes)
        low, high = (middle, high) if budget + cost - known <= total else (low, middle)
    return total * Fraction(low, 2**48)


@given(
    passes=st.lists(st.tuples(RATES, BUDGETS.filter(lambda own: own <= 100) | st.just(Fraction(0))), max_size=3),
    total=BUDGETS.filter(lambda own: own <= 900),
    share=SHARES,
)
@example(
    passes=[(Fraction(1, 16), Fraction(0)), (Fraction(1, 16), Fraction(0))], total=Fraction(900), share=Fraction(1)
)
@example(passes=[(Fraction(1, 4), Fraction(9)), (Fraction(1, 2), Fraction(9))], total=Fraction(4), share=Fraction(1, 4))
@example(
    passes=[(Fraction(1, 256), Fraction(100)), (Fraction(1), Fraction(1, 10**9))],
    total=Fraction(1, 10**9),
    share=Fraction(1),
)
def test_budget_equals_slow_search(passes: list[tuple[Fraction, Fraction]], total: Fraction, share: Fraction) -> None:
    rates, beside = [rate for rate, _ in passes], [other for _, other in passes]
    assert amplified_budget(rates, total, share=share, beside=beside) == slow_budget(rates, total, share, beside)

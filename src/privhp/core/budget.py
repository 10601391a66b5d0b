"""Privacy budgets as exact rationals, neighbouring relations and sensitivity.

Epsilon is split over levels in proportion to weights. Each share is rounded
down, so the shares sum to at most epsilon. The cost of a pass over a sample is
rounded up.
"""

from collections.abc import Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import expm1, inf, log, log1p
from numbers import Rational, Real
from typing import Any, Literal, get_args

from privhp.errors import PlanError, describe_value

Neighbours = Literal["add-remove", "replace-one"]
"""Neighbouring relations.

add-remove: a record is added or removed. replace-one: it is replaced by another record.
"""

MIN_EPSILON, MAX_EPSILON = Fraction(1, 10**6), Fraction(1000)
MAX_SCALE = 2**40
"""Largest noise scale; much larger noise could overflow a 64-bit counter."""

_GRAIN = 2**48  # shares are multiples of epsilon / 2**48
_COST_DIGITS, _WORKING_DIGITS = 20, 40
_MAX_EXPONENT = 400  # the digits of a longer number, such as 1e999999999, would fill the memory
_MAX_FLOAT_EXPONENT, _FLOAT_BITS = 700.0, 53  # exp of more overflows; a float has no more bits


def exact(value: int | float | str | Fraction | Decimal, *, name: str) -> Fraction:
    """A number as an exact rational: 0.1 is one tenth, not the nearest float."""
    try:
        return _rational(value)
    except (ValueError, TypeError, ArithmeticError):
        raise PlanError(f'expected {name} as a number such as 0.5 or "1/3", got {describe_value(value)}') from None


def _rational(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal | str):
        raise TypeError
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))  # sums of NumPy integers would overflow
    text = str(value)
    if "/" not in text and abs(Decimal(text).adjusted()) > _MAX_EXPONENT:
        raise ValueError
    return Fraction(text)


def exact_epsilon(value: int | float | str | Fraction | Decimal) -> Fraction:
    """An epsilon as an exact rational, between 1e-6 and 1000."""
    epsilon = exact(value, name="epsilon=")
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise PlanError(f"expected epsilon= between 1e-6 and 1000, got {value}")
    return epsilon


def split_epsilon(epsilon: Fraction, weights: Mapping[int, float]) -> dict[int, Fraction]:
    """Shares of epsilon in proportion to the weights of the levels, each rounded down."""
    if not all(0 < weight < inf for weight in weights.values()):
        raise PlanError(f"expected a weight above 0 and below infinity for every level, got {dict(weights)}")
    total = sum(map(Fraction, weights.values()), Fraction(0))
    return {level: Fraction(int(Fraction(w) / total * _GRAIN), _GRAIN) * epsilon for level, w in weights.items()}


def amplified_cost(rate: Fraction, budget: Fraction) -> Fraction:
    """Upper bound of ln(1 + rate (exp(budget) - 1)): the cost of a pass over a sample.

    The noise of the pass has the given budget, and each record is in the sample with
    probability `rate`, by a coin of its own. Every step increases with its input and is
    rounded up; exp and ln round to the nearest number, so the next larger one is a bound.
    """
    if not 0 < rate <= 1:
        raise PlanError(f"expected a sampling rate above 0 and at most 1, got {rate}")
    if not 0 < budget <= MAX_EPSILON:
        raise PlanError(f"expected a budget above 0 and at most 1000, got {budget}")
    up = _rounding_up(_WORKING_DIGITS)
    exponential = up.next_plus(up.exp(up.divide(Decimal(budget.numerator), Decimal(budget.denominator))))
    gain = up.multiply(up.subtract(exponential, Decimal(1)), Decimal(rate.numerator))
    factor = up.add(Decimal(1), up.divide(gain, Decimal(rate.denominator)))
    return Fraction(_rounding_up(_COST_DIGITS).plus(up.next_plus(up.ln(factor))))


def _rounding_up(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def amplified_budget(
    rates: Sequence[Fraction],
    total: Fraction,
    *,
    share: Fraction = Fraction(1),
    beside: Sequence[Fraction] | None = None,
) -> Fraction:
    """Largest budget for a pass over all records, next to passes over samples, each with a share of this budget.

    The budget and the amplified costs of these shares sum to at most `total`. It is a multiple of total / 2**48.

    Args:
        rates: Sampling rate of each sample.
        total: What the passes may cost.
        share: Budget of a sample, as a share of that of the pass over all records.
        beside: Budget that each sample is counted with beside, whose amplified cost is not part of the total.
    """
    others = beside or [Fraction(0)] * len(rates)
    samples = [
        (rate, other, amplified_cost(rate, other) if other else Fraction(0))
        for rate, other in zip(rates, others, strict=True)
    ]

    def fits(multiple: int) -> bool:
        budget = total * Fraction(multiple, _GRAIN)
        passes = (amplified_cost(rate, share * budget + other) - cost for rate, other, cost in samples)
        return budget + sum(passes) <= total

    # The cost is exact, and grows with the budget. Floats only say where to look for the largest one that fits.
    near, reach = _near_budget(rates, total, float(share), others), 1
    while not (near <= reach or fits(near - reach)) or (near + reach <= _GRAIN and fits(near + reach)):
        reach *= 16
    most, too_much = max(near - reach, 0), min(near + reach, _GRAIN + 1)
    while too_much - most > 1:
        middle = (most + too_much) // 2
        most, too_much = (middle, too_much) if fits(middle) else (most, middle)
    return total * Fraction(most, _GRAIN)


def _near_budget(rates: Sequence[Fraction], total: Fraction, share: float, beside: Sequence[Fraction]) -> int:
    """About the multiple of total / 2**48 that is the amplified budget, by floats."""
    whole, samples = float(total), [(float(rate), float(other)) for rate, other in zip(rates, beside, strict=True)]

    def cost(rate: float, budget: float) -> float:
        return log1p(rate * expm1(budget)) if budget < _MAX_FLOAT_EXPONENT else budget + log(rate)

    known, low, high = sum(cost(*own) for own in samples), 0.0, 1.0
    for _ in range(_FLOAT_BITS):
        middle = (low + high) / 2.0
        budget = whole * middle
        passes = sum(cost(rate, share * budget + other) for rate, other in samples)
        low, high = (middle, high) if budget + passes - known <= whole else (low, middle)
    return int(low * _GRAIN)


def optimal_weights(costs: Mapping[int, float]) -> dict[int, float]:
    """Weights that minimise the sum of cost / share for a fixed sum of shares: square roots of the costs."""
    return {level: cost**0.5 for level, cost in costs.items()}


def sensitivity(neighbours: Neighbours, *, level: int, rows: int, max_records_per_person: int) -> int:
    """L1 sensitivity of a level: the sum of the absolute changes of its counters by one person.

    A record adds one to each row. Replacing a record changes two counters of a
    row, except at the root, which has one cell: there the worst case replaces a
    record by one that is skipped.
    """
    changes = 2 if neighbours == "replace-one" and level > 0 else 1
    return changes * rows * max_records_per_person


def noise_variance(scale: float) -> float:
    """Variance of Laplace noise; the discrete noise has at most this variance."""
    return 2.0 * scale**2


def check_neighbours(value: str) -> None:
    """Refuse a value that is not a neighbouring relation."""
    if value not in get_args(Neighbours):
        raise PlanError(
            f"expected neighbours to be one of {', '.join(get_args(Neighbours))}, got {describe_value(value)}"
        )

"""Privacy budgets as exact rationals.

Takes an epsilon and how much each level matters, gives every level a share
that is rounded down, so that the shares provably sum to at most epsilon. This
room knows nothing of domains, sketches or noise.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import inf
from numbers import Rational, Real
from typing import Any, Literal, get_args

from privhp.errors import PlanError, describe_value

Neighbours = Literal["add-remove", "zero-out", "replace-one"]
"""What one person may change: a record comes or goes; its row stays but counts nowhere; it becomes another record."""

MIN_EPSILON, MAX_EPSILON = Fraction(1, 10**6), Fraction(1000)
MAX_SCALE = 2**40
"""Largest noise scale: noise far beyond it could wrap around in a 64-bit counter."""

_GRAIN = 2**48  # shares are multiples of epsilon / 2**48
_MAX_EXPONENT = 400  # a longer number, such as 1e999999999, would fill the memory with its digits


def exact(value: int | float | str | Fraction | Decimal, *, name: str) -> Fraction:
    """A number as the exact rational that is written: 0.1 is one tenth, not its nearest float."""
    try:
        return _rational(value)
    except (ValueError, TypeError, ArithmeticError):
        raise PlanError(f'expected a number for {name}, such as 0.5 or "1/3", got {describe_value(value)}') from None


def _rational(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal | str):
        raise TypeError
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))  # in NumPy's integers sums would overflow
    text = str(value)
    if "/" not in text and abs(Decimal(text).adjusted()) > _MAX_EXPONENT:
        raise ValueError
    return Fraction(text)


def exact_epsilon(value: int | float | str | Fraction | Decimal) -> Fraction:
    """An epsilon as an exact rational, between 1e-6 and 1000."""
    epsilon = exact(value, name="epsilon")
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise PlanError(f"expected an epsilon between 1e-6 and 1000, got {value}")
    return epsilon


def split(epsilon: Fraction, weights: Mapping[int, float]) -> dict[int, Fraction]:
    """Share epsilon over levels in proportion to their weights, each share rounded down."""
    if not all(0 < weight < inf for weight in weights.values()):
        raise PlanError(f"expected a weight above 0 and below infinity for every level, got {dict(weights)}")
    total = sum(map(Fraction, weights.values()), Fraction(0))
    return {level: Fraction(int(Fraction(w) / total * _GRAIN), _GRAIN) * epsilon for level, w in weights.items()}


def optimal_weights(costs: Mapping[int, float]) -> dict[int, float]:
    """Weights that minimise the sum of cost / share under a fixed sum of shares: the square roots."""
    return {level: cost**0.5 for level, cost in costs.items()}


def sensitivity(neighbours: Neighbours, *, level: int, rows: int, max_records_per_person: int) -> int:
    """How far one person can move a level, in the sum of absolute changes of its cells.

    A record is counted once in each row. Replacing it takes one count away and
    adds another, except at the root, which has one cell; there the worst is a
    record replaced by one that is dropped.
    """
    changes = 2 if neighbours == "replace-one" and level > 0 else 1
    return changes * rows * max_records_per_person


def check_neighbours(value: str) -> None:
    """Refuse anything but the two neighbouring relations."""
    if value not in get_args(Neighbours):
        raise PlanError(
            f"expected neighbours to be one of {', '.join(get_args(Neighbours))}, got {describe_value(value)}"
        )

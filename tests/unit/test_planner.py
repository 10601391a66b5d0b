"""The search for a plan leaves out shapes without a change of its result."""

import math
from fractions import Fraction
from unittest import mock

import pytest

from privhp import Box, Domain, Integers, Interval, Table
from privhp.planning.planner import Planner, learning_rates

UNIT, SQUARE = Interval(0, 1), Box([(0, 1), (0, 1)])
TABLE = Table(fare=Interval(0, 100), hour=Integers(0, 23))


def make_planner(domain: Domain, *, passes: int, records: int = 100_000) -> Planner:
    return Planner(
        domain,
        epsilon=Fraction(1),
        expected_records=records,
        memory=2**18,
        neighbours="add-remove",
        max_records_per_person=1,
        rates=learning_rates(domain, passes - 1, known=False),
        partition=None,
        pan_private=False,
    )


@pytest.mark.parametrize("domain", [UNIT, SQUARE, TABLE, Integers(0, 3)], ids=["line", "plane", "table", "four values"])
@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("records", [1000, 100_000])
def test_search_equals_the_one_without_bounds(domain: Domain, passes: int, records: int) -> None:
    """Without bounds, the error of each shape is computed as a whole, and the best ones are those of all shapes."""
    planner, slow = (make_planner(domain, passes=passes, records=records) for _ in range(2))
    with mock.patch.object(Planner, "_least_errors", return_value=(0.0,) * 4):
        shapes = [shape for shape in slow._shapes if shape.root is not None or not slow._shapes.learns]
        errors = sorted(slow._error(shape, slow._initial_shares(shape)) for shape in shapes)
        expected = slow.sizes()
    assert [error for error, _ in planner._finalists] == errors[: len(planner._finalists)]
    assert planner.sizes() == expected
    assert planner.least_error() == errors[0] ** 0.25


@pytest.mark.parametrize("domain", [UNIT, SQUARE, TABLE], ids=["line", "plane", "table"])
@pytest.mark.parametrize("passes", [1, 2, 3])
def test_no_error_is_below_its_bound(domain: Domain, passes: int) -> None:
    planner = make_planner(domain, passes=passes)
    bounds = [
        (planner._error(own, planner._initial_shares(own)), planner._least_errors(own)) for own in planner._shapes
    ]
    assert all(error >= math.prod(least) for error, least in bounds)
    assert sum(math.prod(least) > error / 100 for error, least in bounds) > len(bounds) / 20  # the bounds say something


def test_errors_from_the_limit_on_are_infinite() -> None:
    planner = make_planner(SQUARE, passes=1)
    least = planner.least_error()
    assert planner.least_error(least * 1.001) == least
    assert planner.least_error(least * 0.999) == math.inf

"""Consistency of children with their parent."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import reference
from privhp import Generator, Interval, Plan
from privhp.answers.constrained_inference import enforce_consistency
from privhp.release import Release

COUNTS = st.integers(-20, 40)
HALVES = st.integers(0, 80).map(lambda count: Fraction(count, 2))


def consistent(parent: float, estimates: list[float], possible: list[bool] | None = None) -> NDArray[np.float64]:
    alive = np.array([[True] * len(estimates) if possible is None else possible])
    return enforce_consistency(np.array([float(parent)]), np.array([estimates], dtype=np.float64), alive)[0]


def test_worked_example_of_paper() -> None:
    """Parent 4.6 and children 3.5 and 3.7 become children 2.2 and 2.4 with a consistency error of 0.6."""
    true, before = (Fraction(3), Fraction(2)), (Fraction("3.5"), Fraction("3.7"))
    parent = Fraction("4.6")
    after = reference.enforce(parent, *before)
    assert after == (Fraction("2.2"), Fraction("2.4"))
    inherited = (parent - sum(true)) / 2
    assert [count - exact - inherited for count, exact in zip(after, true, strict=True)] == [
        Fraction("-0.6"),
        Fraction("0.6"),
    ]
    assert consistent(4.6, [3.5, 3.7]) == pytest.approx([2.2, 2.4], rel=1e-15)


def test_worked_example_of_paper_through_release() -> None:
    plan = Plan(Interval(0, 1), epsilon=1, budgets={0: "1/2", 1: "1/2"}, exact_depth=1)
    generator = Generator(Release(plan, {0: np.array([46]), 1: np.array([35, 37])}))
    assert generator.leaves().counts.tolist() == [22, 24]


@pytest.mark.parametrize(
    ("parent", "estimates", "expected"),
    [
        (10, [4, 6], [4, 6]),
        (10, [2, 4], [4, 6]),
        (10, [8, 6], [6, 4]),
        (10, [-7, 4], [3, 7]),
        (10, [20, 3], [10, 0]),
        (10, [0, 0], [5, 5]),
        (10, [-3, -3], [5, 5]),
        (0, [5, 3], [0, 0]),
        (12, [1, 2, 3, 2], [2, 3, 4, 3]),
        (6, [9, 8, 1, 0], [3.5, 2.5, 0, 0]),
    ],
)
def test_consistency_of_known_cases(parent: float, estimates: list[float], expected: list[float]) -> None:
    assert consistent(parent, estimates).tolist() == expected


@given(parent=HALVES, left=COUNTS, right=COUNTS)
def test_two_children_equal_algorithm_3(parent: Fraction, left: int, right: int) -> None:
    expected = reference.enforce(parent, Fraction(left), Fraction(right))
    assert consistent(float(parent), [left, right]).tolist() == [float(count) for count in expected]


@given(parent=HALVES, left=COUNTS, right=COUNTS)
def test_group_rule_of_two_children(parent: Fraction, left: int, right: int) -> None:
    group = reference.enforce_group(parent, {0: Fraction(left), 1: Fraction(right)})
    assert (group[0], group[1]) == reference.enforce(parent, Fraction(left), Fraction(right))


@given(parent=HALVES, estimates=st.lists(COUNTS, min_size=1, max_size=9))
def test_groups_equal_reference(parent: Fraction, estimates: list[int]) -> None:
    expected = reference.enforce_group(parent, dict(enumerate(map(Fraction, estimates))))
    found = consistent(float(parent), [float(estimate) for estimate in estimates])
    np.testing.assert_allclose(found, [float(count) for count in expected.values()], rtol=1e-12, atol=1e-12)


@given(
    parent=st.floats(0, 1e15),
    children=st.lists(st.tuples(st.integers(-(2**45), 2**45), st.booleans()), min_size=1, max_size=16),
)
def test_children_are_non_negative_and_consistent(parent: float, children: list[tuple[int, bool]]) -> None:
    estimates, possible = [float(value) for value, _ in children], [alive for _, alive in children]
    possible[0] = True
    found = consistent(parent, estimates, possible)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(parent, rel=1e-14, abs=1e-300)
    assert not found[~np.array(possible)].any()


def test_small_parent_of_large_estimates() -> None:
    assert consistent(0.5, [2.0**52, 2.0**52]).tolist() == [0.25, 0.25]


def test_empty_parent_without_live_children() -> None:
    assert consistent(0, [3, 4], [False, False]).tolist() == [0, 0]

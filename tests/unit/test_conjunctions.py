"""Intervals of conditions on several columns, by what the release shows of each column."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import case_count
from dependent_table import KINDS, fitted
from privhp.answers.conjunctions import ConjunctionUncertainty


class Given:
    """Uncertainty with fixed intervals."""

    resolved, stderr = True, np.array(0.1)

    def __init__(self, low: Any, high: Any) -> None:
        self._ends = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)

    def interval(self, z: float) -> tuple[Any, Any]:
        assert z == 2.0
        return self._ends


@pytest.mark.parametrize(
    ("lows", "highs", "expected"),
    [
        ((0.1, 0.2), (0.3, 0.25), (0.0, 0.25)),
        ((0.8, 0.9), (0.9, 1.0), (0.2, 0.5)),
        ((0.6, 0.7), (0.9, 0.9), (0.2, 0.5)),
        ((0.1, 0.1), (0.15, 0.3), (0.0, 0.2)),
    ],
    ids=["most", "least", "at least none", "holds the value"],
)
def test_bounds_of_two_conditions(lows: Any, highs: Any, expected: tuple[float, float]) -> None:
    """At most the least of both, and at least their sum less 1; the value stays inside."""
    asked: list[Any] = []

    def ask(regions: list[Any]) -> tuple[Any, Given]:
        asked.extend(regions)
        return (np.array(lows) + highs) / 2, Given(lows, highs)

    own = ConjunctionUncertainty(Given(0.0, 0.5), 0.2, [{"a": 1, "b": (2, 3)}], ask)
    assert own.resolved
    assert own.stderr == 0.1
    assert np.allclose(own.interval(2.0), expected)
    assert asked == [{"a": 1}, {"b": (2, 3)}]


def test_mass_errs_by_the_factors_of_its_conditions() -> None:
    """Conditions that may err down to 1/2 and up to 3/2 of their values; one without mass says nothing."""

    def ask(_: list[Any]) -> tuple[Any, Given]:
        return np.array([0.4, 0.6, 0.0]), Given([0.2, 0.5, 0.0], [0.5, 0.9, 0.9])

    own = ConjunctionUncertainty(Given([0.19], [0.21]), np.array([0.2]), [{"a": 1, "b": 2, "c": 3}], ask)
    assert np.allclose(own.interval(2.0), [[0.1], [0.3]])


def test_other_regions_keep_their_intervals() -> None:
    def ask(_: list[Any]) -> tuple[Any, Given]:
        raise AssertionError("no column is asked")

    own = ConjunctionUncertainty(Given([0.0, 0.1], [0.5, 0.9]), np.array([0.2, 0.3]), [{"a": 1}, None], ask)
    assert np.array_equal(own.interval(2.0), [[0.0, 0.1], [0.5, 0.9]])


@settings(max_examples=case_count(25))
@given(st.integers(0, 63), st.integers(0, 63), st.lists(st.sampled_from(KINDS), unique=True, min_size=1))
def test_intervals_are_within_those_of_the_columns(first: int, last: int, kinds: list[str]) -> None:
    generator = fitted()
    visits = min(first, last), max(first, last)
    both, *alone = [{"visits": visits, "kind": kinds}, {"visits": visits}, {"kind": kinds}]
    estimate, columns = generator.mass(both), [generator.mass(own) for own in alone]
    low, high = estimate.interval()
    assert low <= estimate.value <= high
    assert high <= max(min(own.interval()[1] for own in columns), estimate.value) + 1e-12
    assert low >= min(sum(own.interval()[0] for own in columns) - 1, estimate.value) - 1e-12
    several = generator.masses([both, *alone])
    assert np.allclose(several.interval(), np.transpose([own.interval() for own in (estimate, *columns)]))

"""One record changes each level by at most its sensitivity: 500 cases, 100,000 offline."""

import math

import numpy as np
import pyarrow as pa
import pytest

import privacy
from privhp import Integers, Plan, Tally


def test_record_changes_at_most_its_sensitivity(offline: bool) -> None:
    privacy.record_changes_at_most_its_sensitivity(examples=100_000 if offline else 500)


def test_line_changes_at_most_its_sensitivity(offline: bool) -> None:
    privacy.line_changes_at_most_its_sensitivity(examples=100_000 if offline else 200)


def test_missing_value_in_arrow_column() -> None:
    plan = Plan(Integers(0, 2**20 - 1), epsilon=1, budgets={20: 1}, exact_depth=20)
    wide = Integers(0, 2**60 - 1)
    large = [2**53 + 1, 2**55 + 1]
    for missing in ([], [None], [None, None]):
        codes = wide.encode(pa.array([*large, *missing], type=pa.int64()), level=wide.depth)
        assert codes[:2].tolist() == large
        tally = Tally(plan)
        tally.add(pa.chunked_array([[1, 2], missing], type=pa.int64()))
        assert tally.counters.sum() == 2


@pytest.mark.parametrize("outside", ["drop", "clamp"])
def test_numbers_in_arrays_of_any_type(outside: str) -> None:
    """A parser may convert a column to objects or text because of one invalid value."""
    domain = Integers(-3, 40, outside=outside)
    numbers = [0.0, 7.0, 40.0, 41.0, 1e300, 2.5, math.inf, -math.inf, math.nan]
    floats = domain.encode(np.array(numbers), level=domain.depth)
    assert np.array_equal(domain.encode(numbers, level=domain.depth), floats)
    assert np.array_equal(domain.encode(np.array(numbers, dtype=object), level=domain.depth), floats)
    assert np.array_equal(domain.encode([repr(number) for number in numbers], level=domain.depth), floats)

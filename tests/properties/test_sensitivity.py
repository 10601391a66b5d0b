"""One record, whatever it is, moves each level by its share and nothing else: 500 cases, 100,000 offline."""

import math

import numpy as np
import pyarrow as pa
import pytest

import privacy
from privhp import Integers, Plan, Tally


def test_one_record_moves_its_share(offline: bool) -> None:
    privacy.one_record_moves_its_share(examples=100_000 if offline else 500)


def test_one_line_of_a_text_moves_its_share(offline: bool) -> None:
    privacy.one_line_moves_its_share(examples=100_000 if offline else 200)


def test_a_missing_value_in_an_arrow_column_leaves_the_others_exact() -> None:
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
def test_the_type_of_an_array_does_not_change_what_becomes_of_a_number(outside: str) -> None:
    """So that a parser which turns a column into objects or text for one bad value moves no other record."""
    domain = Integers(-3, 40, outside=outside)
    numbers = [0.0, 7.0, 40.0, 41.0, 1e300, 2.5, math.inf, -math.inf, math.nan]
    floats = domain.encode(np.array(numbers), level=domain.depth)
    assert np.array_equal(domain.encode(numbers, level=domain.depth), floats)
    assert np.array_equal(domain.encode(np.array(numbers, dtype=object), level=domain.depth), floats)
    assert np.array_equal(domain.encode([repr(number) for number in numbers], level=domain.depth), floats)

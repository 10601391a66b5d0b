"""Conditions against a direct evaluation of each comparison."""

import datetime as dt
import operator
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import assume, example, given
from hypothesis.strategies import DataObject

from privhp import Domain, DomainError, Integers, Interval, Nullable, Table, Time
from privhp.domains.conditions import format_condition, read_condition
from privhp.domains.unions import share_inside
from strategies import any_domains

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne}
COMPARISONS = st.lists(st.tuples(st.sampled_from(sorted(SIGNS)), st.integers(-8, 40)), min_size=1, max_size=3)


def shares(domain: Domain, region: Any, records: Any) -> list[float]:
    """Share of the deepest cell of each record in a region."""
    return share_inside(domain, region, domain.encode(records, level=domain.depth), level=domain.depth).tolist()


def meets(record: Fraction, comparisons: list[tuple[str, Fraction]]) -> bool:
    return all(SIGNS[sign](record, value) for sign, value in comparisons)


@given(COMPARISONS, st.sampled_from([1, 2, 4]))
@example([("<", 10)], 4)
@example([(">=", 10)], 4)
def test_conditions_on_integers(comparisons: list[tuple[str, int]], denominator: int) -> None:
    domain, numbers = Integers(-3, 12), list(range(-3, 13))
    conditions = [(sign, Fraction(value, denominator)) for sign, value in comparisons]
    text = " and ".join(f"value {sign} {float(value)}" for sign, value in conditions)
    expected = [meets(Fraction(number), conditions) for number in numbers]
    try:
        region = read_condition(text, domain)
    except DomainError:  # nothing can meet it, wherever the bounds are
        assert not any(meets(Fraction(number), conditions) for number in range(-100, 100))
        return
    assert shares(domain, region, numbers) == expected


@given(st.lists(COMPARISONS, min_size=2, max_size=3))
def test_alternatives_on_integers(alternatives: list[list[tuple[str, int]]]) -> None:
    domain, numbers = Nullable(Integers(-3, 12)), list(range(-3, 13))
    text = " or ".join(" and ".join(f"value {sign} {value}" for sign, value in own) for own in alternatives)
    expected = [any(meets(Fraction(number), own) for own in alternatives) for number in numbers]
    try:
        region = read_condition(f"{text} or value is null", domain)
    except DomainError:  # nothing can meet one of them
        assert not all(any(meets(Fraction(n), own) for n in range(-100, 100)) for own in alternatives)
        return
    assert shares(domain, region, [*numbers, None]) == [*expected, True]


@given(COMPARISONS, st.sampled_from([1, 2, 4]), st.sampled_from(["D", "s"]))
def test_conditions_on_times(comparisons: list[tuple[str, int]], denominator: int, unit: str) -> None:
    start, step = dt.datetime(2020, 2, 20), {"D": dt.timedelta(days=1), "s": dt.timedelta(seconds=1)}[unit]
    domain = Time(start, start + 15 * step, unit=unit)
    conditions = [(sign, Fraction(value, denominator)) for sign, value in comparisons]
    text = " and ".join(f"value {sign} {(start + step * float(value)).isoformat()}" for sign, value in conditions)
    expected = [meets(Fraction(tick), conditions) for tick in range(16)]
    try:
        region = read_condition(text, domain)
    except DomainError:  # nothing within the bounds can meet it
        assert not any(expected)
        return
    assert shares(domain, region, [start + tick * step for tick in range(16)]) == expected


@given(st.floats(-10, 60), st.floats(0, 50))
def test_strict_comparisons_of_real_numbers(value: float, other: float) -> None:
    domain = Interval(0, 50)
    cells = domain.encode([other], level=20)
    for loose, strict in (("<=", "<"), (">=", ">")):
        one, two = (read_condition(f"value {sign} {value!r}", domain) for sign in (loose, strict))
        assert domain.overlap(one, cells, level=20) == domain.overlap(two, cells, level=20)


@given(any_domains(), st.data())
def test_round_trip_of_cells(domain: Domain, data: DataObject) -> None:
    level = data.draw(st.integers(1, domain.depth))
    codes = np.array([data.draw(st.integers(0, 2**level - 1))], dtype=np.uint64)
    assume(domain.measure(codes, level=level)[0] > 0)
    region = domain.describe(int(codes[0]), level=level)
    text = format_condition(region, domain)
    again = read_condition(text, domain)
    near = np.unique(np.clip(codes.astype(np.int64) + np.arange(-2, 3), 0, 2**level - 1)).astype(np.uint64)
    assert domain.overlap(again, near, level=level).tolist() == domain.overlap(region, near, level=level).tolist(), text


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3, unique=True))
@example(["and"])
@example(["a b", "it's", 'say "so"'])
@example(["null", "in", "IS"])
@example(["a&&b", "||"])
@example(["(a", "not(b", "or(c"])
def test_round_trip_of_names(names: list[str]) -> None:
    table = Table({name: Interval(0, 1) for name in names})
    region = dict.fromkeys(names, (0.25, 0.5))
    assert read_condition(format_condition(region, table), table) == region


WORDS = ["n", "is", "not", "(n", "null", "<", "=", "in", "[", "]", ",", "and", "5", "'"]


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_arbitrary_text(text: str) -> None:
    try:
        result = str(read_condition(text, Table(n=Integers(0, 9))))
    except DomainError as error:
        result = str(error)
    assert "\n" not in result
    assert result.startswith(("{'n': ", "AnyOf(", "expected ", "column ", "not is not read before a condition"))

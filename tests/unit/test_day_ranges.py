"""Cells of times: whole days and binary parts of a day, against a definition in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privhp as hp
from privhp.domains.day_ranges import DayRanges

DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


class Reference:
    """The definition: the smallest range of 2**k days, or 2**-k of a day, with both ends, is halved at each level."""

    def __init__(self, first: int, last: int, *, day: int, midnight: int) -> None:
        self.first, self.last = first, last
        self.start = first - (first - midnight) % day
        self.day, self.width = day, Fraction(1)
        while self.cell(last) != 0:
            self.width *= 2
        while self.width <= 1 and self.cell(first, halvings=1) == self.cell(last, halvings=1) and last > first:
            self.start += self.cell(first, halvings=1) * self.width * day / 2
            self.width /= 2

    def cell(self, tick: int, *, halvings: int = 0) -> int:
        return int((tick - self.start) / (self.width * self.day) * 2**halvings // 1)


@st.composite
def ranges(draw: st.DrawFn, days: st.SearchStrategy[int], most: int) -> dict[str, int]:
    first = draw(st.integers(-(10**5), 10**5))
    last = first + draw(st.integers(1, most))
    return {"first": first, "last": last, "day": draw(days), "midnight": draw(st.integers(-300, 300))}


@given(ranges(st.integers(1, 100), 300), st.data())
def test_definition(given_range: dict[str, int], data: st.DataObject) -> None:
    own, reference = DayRanges(**given_range), Reference(**given_range)
    level = data.draw(st.integers(0, own.depth))
    numbers = np.arange(own.size)
    codes = own.encode(given_range["first"] + numbers, level=level, clamp=False)
    assert codes.tolist() == [reference.cell(given_range["first"] + n, halvings=level) for n in numbers.tolist()]
    starts, lengths = own.ranges(np.arange(2**level, dtype=np.uint64), level)
    assert lengths.sum() == own.size
    assert lengths.tolist() == np.bincount(codes.astype(np.int64), minlength=2**level).tolist()
    assert np.array_equal(starts, np.append(0, np.cumsum(lengths)[:-1]))
    assert lengths.max() <= own.largest(level)
    assert level < own.depth or own.largest(level) == 1


@given(st.sampled_from([*DAY]), st.integers(-(2**61), 2**61), st.integers(1, 2**62 - 1), st.data())
def test_wide_ranges(unit: str, first: int, width: int, data: st.DataObject) -> None:
    """In all units, up to the widest range that a `Time` may have."""
    given_range = {"first": first, "last": first + width, "day": DAY[unit], "midnight": -3600}
    own, reference = DayRanges(**given_range), Reference(**given_range)
    assert own.depth <= 63
    level = data.draw(st.integers(0, own.depth))
    numbers = np.array([0, width, data.draw(st.integers(0, width)), data.draw(st.integers(0, width))])
    codes = own.encode(given_range["first"] + numbers, level=level, clamp=False)
    assert codes.tolist() == [reference.cell(first + n, halvings=level) for n in numbers.tolist()]
    starts, lengths = own.ranges(codes, level)
    assert ((starts <= numbers) & (numbers < starts + lengths)).all()
    assert (lengths <= own.largest(level)).all()


@pytest.mark.parametrize("unit", [*DAY])
def test_cells_begin_at_midnight_and_noon(unit: str) -> None:
    domain = hp.Time("2024-03-01T17:00", "2025-04-30T09:30", unit=unit)  # type: ignore[arg-type]
    begins = {
        domain.describe(int(code), level=level)[0].astype("M8[s]").item().time().isoformat()
        for level in (9, 10, 11)
        for code in np.flatnonzero(domain.measure(np.arange(2**level, dtype=np.uint64), level=level))[1:]
    }
    assert begins == {"00:00:00", "12:00:00", "06:00:00", "18:00:00"}


@pytest.mark.parametrize(("low", "at_utc"), [("2024-01-15", "23:00:00"), ("2024-07-15", "22:00:00")])
def test_days_begin_at_midnight_of_the_zone(low: str, at_utc: str) -> None:
    """By the offset at the lower bound, in winter or in summer."""
    domain = hp.Time(low, "2024-08-31", zone="Europe/Berlin")
    level = next(level for level in range(domain.depth) if domain.diameter(level) == 86_399)
    begins = {str(domain.describe(code, level=level)[0])[-8:] for code in range(1, 30)}
    assert begins == {at_utc}


def test_a_range_within_a_day() -> None:
    morning = hp.Time("2024-01-01T07:00", "2024-01-01T11:59:59")
    assert [str(morning.describe(code, level=1)[0])[11:] for code in (0, 1)] == ["07:00:00", "09:00:00"]

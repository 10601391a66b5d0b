import math
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from cases import case_count
from privhp import Box, Domain, DomainError, Integers, Interval, Table, Time, check_domain
from privhp.core.cells import OUTSIDE, Codes
from strategies import OUTSIDE_RULES, any_domains, junk, ordered_domains, records, tables

finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def bounds(draw: st.DrawFn, *, positive: bool = False) -> tuple[float, float]:
    """Bounds that are huge, tiny, far from zero, close together, or in the wrong order."""
    low = draw(st.floats(5e-324, 1.7e308) if positive else finite)
    steps = draw(st.integers(1, 2**12))
    high = draw(st.one_of(finite, st.sampled_from([low + steps * math.ulp(low), low * 2, low + 1, -low, 1.0])))
    return (low, high) if draw(st.integers(0, 9)) else (high, low)


def built(build: Callable[[], Domain]) -> Domain | None:
    """The domain; None if its parameters are refused."""
    try:
        return build()
    except DomainError:
        return None


def can_be_split(low: float, high: float) -> bool:
    """Whether bounds are at least 64 floats apart, with a width and a rate that floats can hold."""
    return low < high and 2.0**-900 < high - low < math.inf and high - low >= 64 * math.ulp(max(abs(low), abs(high)))


@given(bounds(), OUTSIDE_RULES)
def test_laws_of_intervals(ends: tuple[float, float], outside: Any) -> None:
    domain = built(lambda: Interval(*ends, outside=outside))
    assert domain is not None or not can_be_split(*ends)
    if domain is not None:
        check_domain(domain, cells=10)


@given(bounds(positive=True), OUTSIDE_RULES)
def test_laws_of_log_intervals(ends: tuple[float, float], outside: Any) -> None:
    domain = built(lambda: Interval(*ends, scale="log", outside=outside))
    assert domain is not None or not (ends[0] > 0 and can_be_split(*ends))
    if domain is not None:
        check_domain(domain, cells=10)


@given(st.integers(-(2**62), 2**62), st.one_of(st.integers(-2, 70), st.integers(1, 2**62)), OUTSIDE_RULES)
def test_laws_of_integers(low: int, size: int, outside: Any) -> None:
    domain = built(lambda: Integers(low, low + size - 1, outside=outside))
    assert (domain is not None) == (size > 1 and low >= -(2**61) and low + size <= 2**61)
    if domain is not None:
        check_domain(domain, cells=10)


@given(st.lists(bounds(), min_size=1, max_size=5), OUTSIDE_RULES)
@settings(max_examples=case_count(50))
def test_laws_of_boxes(sides: list[tuple[float, float]], outside: Any) -> None:
    domain = built(lambda: Box(sides, outside=outside))
    assert domain is not None or not all(can_be_split(*side) for side in sides)
    if domain is not None:
        check_domain(domain, cells=5)


@given(tables())
@settings(max_examples=case_count(25))
def test_laws_of_tables(table: Table) -> None:
    check_domain(table, cells=5)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6)), min_size=1, max_size=5))
def test_split_axes_of_boxes(sides: list[tuple[float, float]]) -> None:
    domain = Box([(low, low + width) for low, width in sides])
    lengths = [Fraction(own.width) for own in domain.axes]
    left = [axis.depth for axis in domain.axes]
    for axis in domain.split_axes:
        longest = max(length for length, bits in zip(lengths, left, strict=True) if bits > 0)
        assert axis == next(i for i, length in enumerate(lengths) if length == longest and left[i] > 0)
        lengths[axis] /= 2
        left[axis] -= 1
    assert sum(left) == 0 or len(domain.split_axes) == 63


# A record's cell


class Refuses:
    """A value whose conversions raise."""

    def __float__(self) -> float:
        raise RuntimeError

    __int__ = __ge__ = __eq__ = __hash__ = __float__


ODD: list[Any] = [
    np.float16(0.5),
    np.float32(1.5),
    np.longdouble("1e4000"),
    np.longdouble(3),
    np.uint64(2**63 + 5),
    np.int8(3),
    np.bool_(True),
    np.str_("0.5"),
    np.datetime64("2020-01-01", "ns"),
    np.timedelta64(3, "ns"),
    np.complex128(0.5),
    np.ma.masked,
    np.ma.array([0.5, 0.5], mask=[True, False]),
    np.array([0.5, 0.5]),
    np.array([0.5]),
    np.array(0.5),
    1j,
    10**400,
    -(10**5000),
    Fraction(1, 3),
    Fraction(10**400),
    Decimal("0.5"),
    Decimal("sNaN"),
    "0.5",
    "1e999",
    "9" * 5000,
    b"3",
    [0.5],
    (0.5,),
    [0.5, 0.5],
    [0.5, None, "x"],
    [[0.5], [0.5]],
    Refuses(),
]


def batch_with_odd_values(domain: Domain) -> st.SearchStrategy[list[Any]]:
    odd = st.integers(0, len(ODD) - 1).map(lambda index: ODD[index])
    return st.lists(st.one_of(records(domain), junk(), odd), max_size=12)


def as_objects(batch: list[Any]) -> Any:
    array = np.empty(len(batch), dtype=object)
    for index, record in enumerate(batch):
        array[index] = record
    return array


def encode_without_warning(domain: Domain, batch: Any, level: int) -> list[int]:
    """Codes; a warning is an error, even if it is caught."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        codes = domain.encode(batch, level=level)
    assert not caught
    assert codes.dtype == np.uint64
    assert codes.shape == (len(batch),)
    inside = codes[codes != OUTSIDE]
    assert (inside < 2**level).all()
    return codes.tolist()


@given(st.data(), any_domains())
def test_encoding_is_independent_of_batch(data: st.DataObject, domain: Domain) -> None:
    batch = data.draw(batch_with_odd_values(domain))
    level = data.draw(st.integers(0, domain.depth))
    alone = [encode_without_warning(domain, [record], level)[0] for record in batch]
    assert encode_without_warning(domain, batch, level) == alone
    assert encode_without_warning(domain, tuple(batch), level) == alone
    assert encode_without_warning(domain, as_objects(batch), level) == alone
    assert encode_without_warning(domain, batch[::-1], level) == alone[::-1]


@given(st.data(), any_domains())
def test_nesting(data: st.DataObject, domain: Domain) -> None:
    batch = data.draw(batch_with_odd_values(domain))
    deep = domain.encode(batch, level=domain.depth)
    for level in range(domain.depth + 1):
        above = np.where(deep == OUTSIDE, OUTSIDE, deep >> np.uint64(domain.depth - level))
        assert np.array_equal(domain.encode(batch, level=level), above)


@st.composite
def near_edges(draw: st.DrawFn, domain: Any) -> list[Any]:
    """Records of an ordered domain at the edges of cells and a few steps from them."""
    level = draw(st.integers(0, domain.depth))
    cells = draw(st.lists(st.integers(0, 2**level - 1), min_size=1, max_size=10))
    edges = domain.cell_quantile(np.zeros(len(cells)), np.array(cells, dtype=np.uint64), level=level)
    steps = draw(st.lists(st.integers(-20, 20), min_size=len(cells), max_size=len(cells)))
    if isinstance(domain, Interval):
        return [edge + step * math.ulp(edge) for edge, step in zip(edges.tolist(), steps, strict=True)]
    if isinstance(domain, Time):
        return list(edges + np.array(steps).astype(f"m8[{domain.unit}]"))
    return [edge + step for edge, step in zip(edges.tolist(), steps, strict=True)]


@given(st.data(), ordered_domains())
def test_encoding_is_monotone(data: st.DataObject, domain: Domain) -> None:
    numbers = sorted(data.draw(near_edges(domain)) + data.draw(near_edges(domain)))
    level = data.draw(st.integers(0, domain.depth))
    codes = domain.encode(numbers, level=level)
    inside = codes[codes != OUTSIDE]
    assert (inside[1:] >= inside[:-1]).all()


@given(st.data(), bounds())
def test_accuracy_of_encoding(data: st.DataObject, ends: tuple[float, float]) -> None:
    domain = built(lambda: Interval(*ends))
    if not isinstance(domain, Interval):
        return
    low, width = Fraction(domain.low), Fraction(domain.high) - Fraction(domain.low)
    slack = 5 * Fraction(math.ulp(max(abs(domain.low), abs(domain.high))))
    level = data.draw(st.integers(0, domain.depth))
    numbers = [*data.draw(near_edges(domain)), data.draw(st.floats(domain.low, domain.high))]
    for number, cell in zip(numbers, domain.encode(numbers, level=level).tolist(), strict=True):
        if cell != OUTSIDE:
            assert low + cell * width / 2**level - slack <= Fraction(number)
            assert Fraction(number) <= low + (cell + 1) * width / 2**level + slack


def log2_by_octave(number: float) -> Fraction:
    """Logarithm to base 2, interpolated linearly within each octave."""
    fraction, exponent = math.frexp(number)
    return exponent + 2 * Fraction(fraction) - 2


@given(st.data(), st.floats(2.0**-1022, 1e308), st.floats(1.001, 1e300))
def test_accuracy_of_encoding_on_log_scale(data: st.DataObject, low: float, ratio: float) -> None:
    domain = Interval(low, min(low * ratio, 1.7e308), scale="log")
    start, width = log2_by_octave(domain.low), log2_by_octave(domain.high) - log2_by_octave(domain.low)
    slack = 5 * max(Fraction(1, 2**52), Fraction(math.ulp(float(width))))
    level = data.draw(st.integers(0, domain.depth))
    numbers = [*data.draw(near_edges(domain)), data.draw(st.floats(domain.low, domain.high))]
    for number, cell in zip(numbers, domain.encode(numbers, level=level).tolist(), strict=True):
        if cell != OUTSIDE:
            assert start + cell * width / 2**level - slack <= log2_by_octave(number)
            assert log2_by_octave(number) <= start + (cell + 1) * width / 2**level + slack


# Shares of cells


def some_cells(domain: Domain, level: int) -> st.SearchStrategy[Codes]:
    """Cells of a level with a positive measure."""
    cells = st.lists(st.integers(0, 2**level - 1), min_size=1, max_size=8)
    codes = cells.map(lambda cells: np.array([0, *cells], dtype=np.uint64))
    return codes.map(lambda codes: codes[domain.measure(codes, level=level) > 0])


@given(st.data(), ordered_domains())
def test_cell_cdf_and_quantile_are_monotone(data: st.DataObject, domain: Domain) -> None:
    level = data.draw(st.integers(0, domain.depth))
    cells = data.draw(some_cells(domain, level))
    shares = np.sort(data.draw(st.lists(st.floats(0, 1), min_size=2, max_size=10)))
    for cell in cells:
        here = np.full(shares.shape, cell)
        found = domain.cell_quantile(shares, here, level=level)
        assert (found[1:] >= found[:-1]).all()
        below = domain.cell_cdf(found, here, level=level)
        assert (below[1:] >= below[:-1]).all()
        assert ((below >= 0) & (below <= 1)).all()


@given(st.data(), ordered_domains())
def test_overlaps_of_adjoining_regions(data: st.DataObject, domain: Any) -> None:
    if not isinstance(domain, Interval | Integers):
        return
    level = data.draw(st.integers(0, domain.depth))
    cells = data.draw(some_cells(domain, level))
    end = data.draw(records(domain).filter(math.isfinite))
    after = math.floor(end) + 1 if isinstance(domain, Integers) else end
    if isinstance(domain, Interval) and domain.step is not None:
        code = int(domain.encode([min(max(end, domain.low), domain.high)], level=domain.depth)[0])
        end = domain.describe(code, level=domain.depth)[0]
        after = end + float(domain.step) / 2
    left = domain.overlap((None, end), cells, level=level)
    right = domain.overlap((after, None), cells, level=level)
    assert np.allclose(left + right, 1, rtol=0, atol=1e-12)


@given(st.data(), st.integers(-(2**61), 2**61 - 70), st.integers(2, 69))
def test_overlaps_of_integers(data: st.DataObject, low: int, size: int) -> None:
    domain = Integers(low, low + size - 1)
    level = data.draw(st.integers(0, domain.depth))
    cell = data.draw(some_cells(domain, level))[:1]
    run = [n for n in range(low, low + size) if domain.encode([n], level=level)[0] == cell[0]]
    first = data.draw(st.integers(low - 3, low + size + 3))
    last = data.draw(st.integers(first, low + size + 3))
    count = sum(first <= number <= last for number in run)
    assert abs(domain.overlap((first, last), cell, level=level)[0] - count / len(run)) < 1e-12
    assert domain.cell_cdf(np.array([last]), cell, level=level)[0] == sum(n <= last for n in run) / len(run)
    for number in run:
        assert (
            domain.cell_quantile(domain.cell_cdf(np.array([number]), cell, level=level), cell, level=level)[0] == number
        )

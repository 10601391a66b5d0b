"""Domains with a step: decimals go in and out exactly, against exact arithmetic."""

import math
from decimal import Decimal
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given, settings

from cases import case_count
from privhp import Box, Interval, check_domain
from privhp.core.cells import OUTSIDE
from strategies import OUTSIDE_RULES


@st.composite
def lattices(draw: st.DrawFn, *, digits: int = 15) -> tuple[int, int, int, int]:
    """First value, step and last value in units of 10**-d, and d. Values have at most so many digits."""
    most = 10**digits
    stride = draw(st.one_of(st.sampled_from([1, 2, 5, 25]), st.integers(1, most // 8)))
    first = draw(st.one_of(st.integers(-most // 2, most // 2 - stride), st.integers(-20, 20)))
    count = draw(st.one_of(st.integers(1, 40), st.integers(1, max(1, (most - first) // stride))))
    last = first + min(count, (most - max(first, 0)) // stride) * stride
    return first, stride, last, draw(st.integers(0, 20))


def built(first: int, stride: int, last: int, digits: int, **options: object) -> Interval:
    low, high, step = (Decimal(own).scaleb(-digits) for own in (first, last, stride))
    return Interval(float(low), float(high), step=str(step), **options)  # type: ignore[arg-type]  # any option


def nearest(domain: Interval, number: float) -> Fraction:
    """Position of a number between the values, in steps from the first."""
    return (Fraction(number) - Fraction(Decimal(repr(domain.low)))) / Fraction(domain.step or 0)


@given(lattices(), OUTSIDE_RULES)
@settings(max_examples=case_count(50))
@example((0, 1, 10**15, 2), "drop")
@example((-(10**15), 1, 0, 15), "clamp")
@example((1, 10**6, 1 + 10**9, 0), "drop")
def test_laws(own: tuple[int, int, int, int], outside: str) -> None:
    check_domain(built(*own, outside=outside), cells=10)


@given(lattices(digits=6))
@settings(max_examples=case_count(25))
def test_laws_in_single_precision(own: tuple[int, int, int, int]) -> None:
    domain = built(*own, dtype="float32")
    check_domain(domain, cells=10)
    codes = np.array([0, (own[2] - own[0]) // own[1]], dtype=np.uint64)
    values = domain.to_output(domain.decode(codes, level=domain.depth, rng=np.random.default_rng(0)))
    assert domain.encode(values, level=domain.depth).tolist() == codes.tolist()


@given(st.data(), lattices())
@example(None, (0, 1, 10**15, 2))
@example(None, (-(5 * 10**14), 4, 5 * 10**14, 15))
def test_decimals_in_and_out(data: st.DataObject | None, own: tuple[int, int, int, int]) -> None:
    domain, (first, stride, last, digits) = built(*own), own
    size = (last - first) // stride + 1
    offsets = [0, 1, size - 1] if data is None else data.draw(st.lists(st.integers(0, size - 1), min_size=1))
    decimals = [Decimal(first + offset * stride).scaleb(-digits) for offset in offsets]
    codes = np.array(offsets, dtype=np.uint64)
    for batch in (
        decimals,
        [float(own) for own in decimals],
        np.array(decimals, dtype=float),
        list(map(str, decimals)),
    ):
        assert domain.encode(batch, level=domain.depth).tolist() == offsets
    drawn = domain.decode(codes, level=domain.depth, rng=np.random.default_rng(0))
    assert drawn.tolist() == [float(own) for own in decimals]
    assert [Decimal(repr(value)) for value in drawn.tolist()] == decimals
    assert [domain.describe(offset, level=domain.depth) for offset in offsets] == [(own, own) for own in drawn.tolist()]
    assert (domain.cell_cdf(drawn, codes, level=domain.depth) == 1).all()
    for value, code in zip(drawn.tolist(), codes, strict=True):
        assert domain.overlap((value, value), np.array([code]), level=domain.depth) == 1
        assert domain.overlap((None, value), np.array([0], dtype=np.uint64), level=0)[0] > 0


@pytest.mark.parametrize("digits", range(21))
@pytest.mark.parametrize("stride", [1, 2, 3, 7])
@pytest.mark.parametrize("first", [0, -(10**15), -(5 * 10**14), 10**14])
def test_largest_values_have_their_own_cells(first: int, stride: int, digits: int) -> None:
    """Near 15 digits the rounding errors of the encoder are largest."""
    size = (10**15 - max(first, 0)) // stride
    domain = built(first, stride, first + (size - 1) * stride, digits)
    assert domain.axis.rate * 2.0**domain.depth == float(Fraction(10**digits, stride))  # rounded once
    middle = 2**49 // stride
    offsets = [*range(500), *range(size // 2, size // 2 + 500), *range(middle, middle + 500), *range(size - 500, size)]
    numbers = [float(Decimal(first + offset * stride).scaleb(-digits)) for offset in offsets]
    assert domain.encode(numbers, level=domain.depth).tolist() == offsets


@given(st.data(), lattices(), st.integers(-3, 3))
def test_numbers_go_to_the_nearest_value(data: st.DataObject, own: tuple[int, int, int, int], floats: int) -> None:
    domain, size = built(*own), (own[2] - own[0]) // own[1] + 1
    offset = data.draw(st.integers(-1, size))
    share = data.draw(st.one_of(st.floats(-0.5, 0.5), st.sampled_from([0.0, 0.5])))
    number = float(Fraction(Decimal(repr(domain.low))) + (offset + Fraction(share)) * Fraction(domain.step or 0))
    number += floats * math.ulp(number)
    position = nearest(domain, number)
    # The sum of the rounding errors of the encoder, in steps.
    slack = Fraction(6 * math.ulp(max(abs(domain.low), abs(domain.high), abs(number)))) / Fraction(domain.step or 0)
    code = int(domain.encode([number], level=domain.depth)[0])
    inside = -Fraction(1, 2) <= position <= size - Fraction(1, 2)
    if code == OUTSIDE:
        assert not inside or min(position + Fraction(1, 2), size - Fraction(1, 2) - position) <= slack
    else:
        assert abs(position - code) <= Fraction(1, 2) + slack


@given(st.data(), lattices(digits=9))
def test_closed_ranges(data: st.DataObject, own: tuple[int, int, int, int]) -> None:
    first, stride, _, digits = own
    size = data.draw(st.integers(2, 50))
    domain = built(first, stride, first + (size - 1) * stride, digits)
    values = [Fraction(first + offset * stride, 10**digits) for offset in range(size)]
    numbers = st.one_of(
        st.integers(-1, size).map(lambda offset: float(Fraction(first + offset * stride, 10**digits))),
        st.floats(-1, size).map(lambda position: float(values[0] + Fraction(position) * (values[1] - values[0]))),
    )
    low, high = sorted([data.draw(numbers), data.draw(numbers)])
    inside = [offset for offset in range(size) if low <= float(values[offset]) <= high]
    level = data.draw(st.integers(0, domain.depth))
    codes = np.unique(domain.encode([float(value) for value in values], level=level))
    for code in codes:
        run = [k for k in range(size) if k >> (domain.depth - level) == code]
        share = domain.overlap((low, high), np.array([code]), level=level)[0]
        assert abs(share - len(set(run) & set(inside)) / len(run)) < 1e-12
        below = sum(float(values[k]) <= high for k in run)
        assert domain.cell_cdf(np.array([high]), np.array([code]), level=level)[0] == below / len(run)
        if share:
            drawn = domain.decode_within((low, high), np.full(20, code), level=level, rng=np.random.default_rng(0))
            assert {float(values[k]) for k in set(run) & set(inside)} >= set(drawn.tolist())


@given(st.integers(2, 300), st.integers(2, 300), st.integers(0, 2**32))
@settings(max_examples=case_count(25))
def test_samples_of_boxes_are_values(width: int, height: int, seed: int) -> None:
    domain = Box([(0, (width - 1) / 4), (-1, (height - 1) / 4 - 1)], step="0.25")
    rng = np.random.default_rng(seed)
    codes = np.zeros(500, dtype=np.uint64)
    points = domain.decode(codes, level=0, rng=rng) * 4
    assert (points == np.rint(points)).all()
    assert (points.min(axis=0) >= [0, -4]).all()
    assert (points.max(axis=0) <= [width - 1, height - 5]).all()

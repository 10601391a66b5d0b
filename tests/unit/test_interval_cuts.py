"""Intervals with declared quantiles."""

import itertools
import math
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from cases import case_count
from privhp import Domain, DomainError, Generator, Interval, Plan, check_domain, wasserstein
from privhp.core.cells import OUTSIDE, Codes
from privhp.release import Release

ALPHA = 1e-9
SAMPLES = 100_000
DECILES = [3, 5, 7, 9, 12, 15, 20, 30, 60]
DOMAINS = [
    Interval(0, 100, cuts=[10]),
    Interval(0, 1000, cuts=[5, 10, 50]),
    Interval(0, 1000, cuts=DECILES, outside="clamp"),
    Interval(-1e6, 1e6, cuts=[-1, 0, 1e-3, 2]),
    Interval(-5, 5, cuts=list(np.linspace(-4, 4, 99)), outside="clamp"),
    Interval(0, 1, cuts=[1e-12]),
    Interval(1e15, 1e15 + 1000, cuts=[1e15 + 100, 1e15 + 110]),
    Interval(0, 1.7e308, cuts=[1.0]),
    Interval(5e-324, 1, cuts=[1e-300, 1e-10]),
]


def all_cells(level: int) -> Codes:
    return np.arange(2**level, dtype=np.uint64)


def share_below(domain: Interval, number: float) -> Fraction:
    """Base measure below a number, by definition: equal mass between two cuts, uniform there."""
    assert domain.cuts is not None
    knots = [Fraction(knot) for knot in (domain.low, *domain.cuts, domain.high)]
    shares = [(min(max(Fraction(number), a), b) - a) / (b - a) for a, b in itertools.pairwise(knots)]
    return sum(shares, Fraction(0)) / len(shares)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:50])
def test_laws(domain: Interval) -> None:
    check_domain(domain, awkward=["10", [5.0], np.float16(7), *(domain.cuts or ())])


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:50])
def test_repr(domain: Interval) -> None:
    assert eval(repr(domain), {"Interval": Interval}).depth == domain.depth


def test_splits_at_three_cuts() -> None:
    domain = Interval(0, 1000, cuts=[5, 10, 50])
    numbers = [0, 4.999, 5, 9.999, 10, 49.999, 50, 1000]
    assert domain.encode(numbers, level=2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert domain.encode([2.4, 2.5, 7.4, 7.5, 29.9, 30, 524, 525], level=3).tolist() == list(range(8))


def test_cells_of_equal_measure() -> None:
    domain = Interval(0, 1000, cuts=DECILES)
    edges = domain.cell_quantile(np.zeros(4), all_cells(2), level=2)
    assert edges.tolist() == pytest.approx([0, 6, 12, 25])
    assert (domain.measure(all_cells(5), level=5) == 1 / 32).all()


def test_bounds() -> None:
    for domain in DOMAINS:
        beyond = [math.nextafter(domain.low, -math.inf), math.nextafter(domain.high, math.inf), -math.inf, math.inf]
        for level in (0, 1, domain.depth):
            last = 2**level - 1
            ends = [domain.low, math.nextafter(domain.high, domain.low), domain.high]
            assert domain.encode(ends, level=level).tolist() == [0, last, last]
            clamped = [0, last, 0, last]
            expected = clamped if domain.outside == "clamp" else [OUTSIDE] * 4
            assert domain.encode(beyond, level=level).tolist() == expected
            assert domain.encode([math.nan, None, "x"], level=level).tolist() == [OUTSIDE] * 3


@st.composite
def cut_intervals(draw: st.DrawFn) -> Interval | None:
    """Random bounds and cuts; None if they are refused."""
    numbers = st.floats(-1e300, 1e300)
    knots = sorted(draw(st.sets(st.one_of(numbers, st.integers(-50, 50).map(float)), min_size=3, max_size=12)))
    try:
        return Interval(knots[0], knots[-1], cuts=knots[1:-1], outside=draw(st.sampled_from(["drop", "clamp"])))
    except DomainError:
        widths = [(b - a) / math.ulp(max(abs(a), abs(b))) for a, b in itertools.pairwise(knots)]
        assert min(widths) < 64 or knots[-1] - knots[0] == math.inf
        return None


@given(cut_intervals())
@settings(max_examples=case_count(50))
def test_laws_of_random_cuts(domain: Interval | None) -> None:
    if domain is not None:
        check_domain(domain, cells=10)


@given(st.data(), cut_intervals())
def test_encoding_is_monotone_and_accurate(data: st.DataObject, domain: Interval | None) -> None:
    if domain is None or domain.cuts is None:
        return
    level = data.draw(st.integers(0, domain.depth))
    inner = st.one_of(st.floats(domain.low, domain.high), st.sampled_from(domain.cuts))
    steps = st.integers(-3, 3)
    numbers = sorted(
        number + step * math.ulp(number) for number, step in data.draw(st.lists(st.tuples(inner, steps), min_size=2))
    )
    numbers = [min(max(number, domain.low), domain.high) for number in numbers]
    codes = domain.encode(numbers, level=level)
    assert (codes[1:] >= codes[:-1]).all()
    slack = Fraction(5, 2**48) if domain.depth >= 48 else Fraction(5, 2 ** (domain.depth + 4))
    for number, cell in zip(numbers, codes.tolist(), strict=True):
        share = share_below(domain, number)
        assert Fraction(cell, 2**level) - slack <= share <= Fraction(cell + 1, 2**level) + slack


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:50])
def test_diameter(domain: Interval) -> None:
    for level in range(min(domain.depth, 9) + 1):
        starts = domain.cell_quantile(np.zeros(2**level), all_cells(level), level=level)
        widths = np.diff([*starts, domain.high])
        assert domain.diameter(level) == pytest.approx(widths.max(), rel=1e-9)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:50])
def test_cell_cdf(domain: Interval) -> None:
    numbers = np.random.default_rng(0).choice([domain.low, *(domain.cuts or ()), domain.high], 20)
    numbers = np.clip(numbers * np.random.default_rng(1).uniform(0.9, 1.1, 20), domain.low, domain.high)
    root = np.zeros(20, dtype=np.uint64)
    shares = [float(share_below(domain, number)) for number in numbers.tolist()]
    assert domain.cell_cdf(numbers, root, level=0) == pytest.approx(shares, abs=2.0 ** (-domain.depth))
    for level, number in itertools.product((1, 3), numbers.tolist()):
        below = domain.overlap((None, number), all_cells(level), level=level)
        expected = np.clip(float(share_below(domain, number)) * 2**level - np.arange(2**level), 0, 1)
        assert below == pytest.approx(expected, abs=2.0 ** (level - domain.depth))


def test_quantile_inverts_cdf() -> None:
    rng = np.random.default_rng(0)
    for domain in DOMAINS:
        for level in (0, 1, 3):
            shares, cells = rng.random(500), rng.integers(0, 2**level, 500, dtype=np.uint64)
            found = domain.cell_cdf(domain.cell_quantile(shares, cells, level=level), cells, level=level)
            assert np.abs(found - shares).max() < 2.0 ** (level - domain.depth + 1)
        assert domain.cell_quantile(np.array([0.0, 1.0]), np.zeros(2, dtype=np.uint64), level=0).tolist() == [
            domain.low,
            domain.high,
        ]


@pytest.mark.parametrize(("level", "cell"), [(0, 0), (2, 1), (3, 7)])
def test_distribution_of_draws(level: int, cell: int) -> None:
    domain = Interval(0, 1000, cuts=DECILES)
    knots = [0, *DECILES, 1000]
    rng = np.random.default_rng(level)
    records = domain.decode(np.full(SAMPLES, cell, dtype=np.uint64), level=level, rng=rng)
    shares = np.interp(records, knots, np.linspace(0, 1, 11)) * 2**level - cell

    def evenness(shares: Any) -> float:
        return float(stats.chisquare(np.bincount((shares * 100).astype(np.int64), minlength=100)).pvalue)

    assert evenness(shares) > ALPHA
    assert evenness(shares**0.9) < ALPHA
    assert evenness(shares**1.1) < ALPHA


BAD_CUTS: list[tuple[dict[str, Any], str]] = [
    ({"cuts": []}, "cuts as a list of numbers between the bounds, got []"),
    ({"cuts": 3}, "cuts as a list of numbers between the bounds, got 3"),
    ({"cuts": "5"}, "cuts as a list of numbers between the bounds, got '5'"),
    ({"cuts": ["5"]}, "a number for a cut, got '5'"),
    ({"cuts": [True]}, "a number for a cut, got True"),
    ({"cuts": [None]}, "a number for a cut, got None"),
    ({"cuts": [math.nan]}, "a finite number for a cut"),
    ({"cuts": [math.inf]}, "a finite number for a cut"),
    ({"cuts": [0]}, "cuts in increasing order between 0.0 and 10.0"),
    ({"cuts": [5, 10]}, "cuts in increasing order between 0.0 and 10.0"),
    ({"cuts": [5, 4]}, "cuts in increasing order between 0.0 and 10.0"),
    ({"cuts": [5, 5]}, "cuts in increasing order between 0.0 and 10.0"),
    ({"cuts": np.ones((2, 2))}, "a number for a cut"),
    ({"cuts": [5, math.nextafter(5, 6)]}, "too close or too far apart for floating point"),
    ({"low": 1, "cuts": [5], "scale": "log"}, 'cuts or scale="log", got both'),
]


@pytest.mark.parametrize(("spec", "hint"), BAD_CUTS, ids=[hint for _, hint in BAD_CUTS])
def test_wrong_cuts(spec: dict[str, Any], hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec({"kind": "interval", "low": 0, "high": 10, **spec})
    assert hint in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_spec_without_cuts() -> None:
    assert Interval(0, 1).spec() == {"kind": "interval", "low": 0.0, "high": 1.0, "scale": "linear", "outside": "drop"}
    assert Interval(0, 9, cuts=np.array([1, 5])) == Interval(0, 9, cuts=(1.0, 5.0)) != Interval(0, 9)


def test_distance_with_cut_inside_leaf() -> None:
    """A generator without counts follows the base measure: half below 1, half from 1 to 9."""
    domain = Interval(0, 9, cuts=[1])
    generator = Generator(Release(Plan(domain, epsilon=1, budgets={0: 1}, exact_depth=0), {0: np.array([100])}))
    assert generator.cdf([0.5, 1, 5]).value.tolist() == pytest.approx([0.25, 0.5, 0.75])
    assert wasserstein(generator, [0.0]) == pytest.approx(0.5 * 0.5 + 0.5 * 5)

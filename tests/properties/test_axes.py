"""Laws of the axes of every domain, and the unevenness that is learned along them."""

import math
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import DataObject

from privhp import Box, Domain, Generator, Integers, Interval, Plan, Table
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.share_deviations import heap_deviation, slope_deviation
from privhp.answers.unevenness import FINER_CUTS, _extend, _Measured, _smooth, learn_unevenness
from privhp.release import Release
from regions import regions
from strategies import any_domains, generators, ordered_domains


def some_cells(data: DataObject, domain: Domain) -> tuple[Any, int]:
    level = data.draw(st.integers(0, domain.depth))
    codes = data.draw(st.lists(st.integers(0, 2**level - 1), min_size=1, max_size=8))
    return np.array(codes, dtype=np.uint64), level


@given(data=st.data(), domain=any_domains())
def test_shares_along_axes_multiply_to_the_overlap(data: DataObject, domain: Domain) -> None:
    codes, level = some_cells(data, domain)
    region = data.draw(regions(domain))
    parts = domain.axis_shares(region, codes, level=level)
    product = np.prod([part.share for part in parts], axis=0) if parts else 1.0
    possible = domain.measure(codes, level=level) > 0
    overlap = domain.overlap(region, codes, level=level)
    assert np.where(possible, product, 0) == pytest.approx(np.where(possible, overlap, 0), abs=1e-12)
    axes = len(domain.axis_cells(codes, level=level))
    for part in parts:
        assert 0 <= part.axis < axes
        assert ((part.share >= 0) & (part.share <= 1)).all()


@given(data=st.data(), domain=any_domains())
def test_each_level_cuts_one_axis(data: DataObject, domain: Domain) -> None:
    codes, level = some_cells(data, domain)
    if level == 0:
        assert all(bits == 0 for _, bits in domain.axis_cells(codes, level=0))
        return
    above = domain.axis_cells(codes >> np.uint64(1), level=level - 1)
    below = domain.axis_cells(codes, level=level)
    cuts = [own[1] - coarser[1] for own, coarser in zip(below, above, strict=True)]
    assert sorted(cuts) == [0] * (len(cuts) - 1) + [1]
    last = cuts.index(1)
    assert np.array_equal(below[last][0] & np.uint64(1), codes & np.uint64(1))


def exact(domain: Domain, counts: Any, level: int) -> Hierarchy:
    plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level, inference="least-squares")
    return Hierarchy(Release(plan, {level: np.asarray(counts)}))


def test_unevenness_of_one_axis() -> None:
    """Along one axis all records are in first halves from the second cut on; along the other they are even."""
    domain = Box([(0, 1), (0, 1)])
    codes = np.arange(2**8, dtype=np.uint64)
    (across, _), _ = domain.axis_cells(codes, level=8)
    counts = np.where(across % 8 == 0, 10**7, 0)
    one, other = (own.by_cuts for own in learn_unevenness(exact(domain, counts, 8), domain))
    assert one[1:4] == pytest.approx(1, abs=0.01)
    assert other[2:4] == pytest.approx(0, abs=0.01)


def test_axis_without_counts_is_uneven() -> None:
    hierarchy = exact(Interval(0, 1), np.zeros(16, dtype=np.int64), 4)
    (own,) = learn_unevenness(hierarchy, Interval(0, 1))
    assert (own.by_cuts == 1).all()


@pytest.mark.parametrize("high", [49, 50])
def test_intervals_hold_a_heap_at_the_end(high: float) -> None:
    """Thirty percent of the records at 50 of 0 to 100, the rest on whole numbers; leaves are wider than a unit."""
    values = np.concatenate([np.full(30_000, 50.0), np.repeat(np.arange(100.0), 700)])
    truth = float((values <= high).mean()) - float((values < 20).mean())
    other = np.tile(np.arange(100.0), 1000)
    line, table = Interval(0, 100), Table(one=Interval(0, 100), other=Interval(0, 100))
    for domain, records, level in ((line, values, 8), (table, {"one": values, "other": other}, 14)):
        plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level, inference="least-squares")
        found = np.bincount(domain.encode(records, level=level).astype(np.int64), minlength=2**level)
        generator = Generator(Release(plan, {level: found * 10**4}))
        region: Any = (20, high) if domain is line else {"one": (20, high)}
        low, most = generator.mass(region).interval(0.9)
        assert low <= truth <= most
        assert most - low < 0.8


def test_intervals_hold_a_heap_just_beyond_the_end() -> None:
    """Half of the records at 9, 19, 29 ..., the others even; leaves hold four of the whole numbers."""
    domain, level = Integers(0, 255), 6
    counts = np.full(256, 50) + np.where(np.arange(256) % 10 == 9, 500, 0)
    plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level, inference="least-squares")
    generator = Generator(Release(plan, {level: counts.reshape(-1, 4).sum(axis=1) * 10**4}))
    ends = np.arange(8, 255)
    low, high = generator.masses([(0, int(end)) for end in ends]).interval(0.9)
    below = np.cumsum(counts)[ends] / counts.sum()
    assert ((low <= below) & (below <= high)).all()
    assert (high - low).max() < 0.06


def heap_error(share: float, cuts: int, *, inside: bool) -> float:
    """Error of a share of a leaf if all records of the cell with its end, after some cuts, are on one side of the end.

    They are inside if they are at the end, and outside if they are just beyond it. All other records are even.
    """
    position = share * 2**cuts
    before = math.ceil(position) - 1 if inside else math.floor(position)  # cells between the leaf's start and this one
    return (before + inside) / 2**cuts - share


@given(
    share=st.one_of(st.floats(0.001, 0.999), st.integers(1, 31).map(lambda number: number / 32)),
    heaped=st.lists(st.floats(0, 1), min_size=5, max_size=5).map(sorted),
)
def test_deviation_is_that_of_one_heap(share: float, heaped: list[float]) -> None:
    """The heap holds all records of a cell after 0, 1, 2 ... cuts, with these probabilities in total."""
    shares = [below - above for above, below in pairwise([0.0, *heaped])]
    errors = [
        sum(own * heap_error(share, cuts, inside=inside) ** 2 for cuts, own in enumerate(shares)) ** 0.5
        for inside in (False, True)
    ]
    assert heap_deviation(np.array([share]), np.array(heaped)) == pytest.approx(max(errors), abs=1e-7)


@given(share=st.floats(0, 1))
def test_deviation_of_heaps(share: float) -> None:
    """All records of a leaf at one number, at which the region ends: they are all inside or all outside."""
    wanted = max(share, 1 - share) if 0 < share < 1 else 0
    assert heap_deviation(np.array([share]), np.ones(FINER_CUTS)) == pytest.approx(wanted)


def test_deviation_of_even_leaves() -> None:
    shares = np.array([0, 0.125, 0.3, 0.5, 0.999, 1])
    assert not heap_deviation(shares, np.zeros(FINER_CUTS)).any()
    assert not slope_deviation(shares, np.zeros((FINER_CUTS, 1))).any()


@given(data=st.data(), generator=generators(any_domains()))
def test_interval_holds_the_answer(data: DataObject, generator: Generator) -> None:
    """Intervals of every domain and plan hold the answer, widen with the level, and stay within [0, 1]."""
    if generator.plan.inference == "top-down":
        return
    estimate = generator.mass(data.draw(regions(generator.domain)))
    narrow, wide = estimate.interval(0.5), estimate.interval(0.99)
    assert 0 <= wide[0] <= narrow[0] <= estimate.value + 1e-9
    assert estimate.value - 1e-9 <= narrow[1] <= wide[1] <= 1
    assert 0 <= estimate.stderr <= 1


@given(generator=generators(ordered_domains()), share=st.floats(0, 1))
def test_interval_holds_the_quantile(generator: Generator, share: float) -> None:
    if generator.plan.inference == "top-down" or not generator.domain.is_line:
        return
    estimate = generator.quantile(share)
    low, high = estimate.interval(0.9)
    assert low <= estimate.value <= high


def test_sketches_show_more_unevenness_never_less() -> None:
    """Levels with a share of 0 are sketched: they may raise the unevenness and its growth, not end them."""

    def smooth(*levels: tuple[float, float]) -> list[float]:
        """Unevenness of cells with these mean squares and shares; all cells are cut again."""
        measured = [_Measured(splits=100, share=share) for _, share in levels]
        before = [0.0, *(unevenness for unevenness, _ in levels)]
        pairs = [(unevenness, above) for (unevenness, _), above in zip(levels, before, strict=False)]
        return _extend(_smooth(measured, pairs, {}, otherwise=1.0), measured, {})[0][: len(levels)].tolist()

    counted = [(0.04, 1.0), (0.02, 1.0)]
    assert smooth(*counted, (0.0, 0.0)) == pytest.approx([0.04, 0.02, 0.015])  # slopes 0.02 / 3, heaps 0.04 / 3
    assert smooth(*counted, (0.04, 0.0), (0.0, 0.0)) == pytest.approx([0.04, 0.02, 0.04, 0.08])
    assert smooth(*counted, (0.0, 1.0)) == pytest.approx([0.04, 0.02, 0.0])

"""Regions are closed: every cell that holds a record of a region is touched by it."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import DataObject

from privhp import OUTSIDE, Box, Domain, Generator, Geo, Integers, Interval, Plan, Table
from privhp.release import Release
from strategies import boxes, cut_intervals, geos, linear_intervals, log_intervals


def corners(data: DataObject, domain: Domain) -> list[Any]:
    """Two corners of cells, such as ends of an interval's cells, in no order."""
    found = []
    for _ in range(2):
        level = data.draw(st.integers(0, min(domain.depth, 12)))
        region = domain.describe(data.draw(st.integers(0, 2**level - 1)), level=level)
        pairs = [(region[0], region[2]), (region[1], region[3])] if isinstance(domain, Geo) else region
        pairs = pairs if isinstance(domain, Box | Geo) else [pairs]
        found.append([data.draw(st.sampled_from(pair)) for pair in pairs])
    return found


@given(data=st.data(), domain=st.one_of(linear_intervals(), log_intervals(), cut_intervals(), boxes(), geos()))
def test_records_at_ends(data: DataObject, domain: Domain) -> None:
    """A region that ends at corners of cells touches the cells of the records there, on every level."""
    first, last = np.array(corners(data, domain))
    low, high = np.minimum(first, last), np.maximum(first, last)
    if isinstance(domain, Geo):
        (west, south), (east, north) = (first[0], low[1]), (last[0], high[1])
        region: Any = (west, south, east, north)
        points = np.array([[west, south], [east, south], [west, north], [east, north]])
    else:
        ends = list(zip(low.tolist(), high.tolist(), strict=True))
        region, points = (ends if isinstance(domain, Box) else ends[0]), np.stack([low, high])
    records = points if isinstance(domain, Box | Geo) else points[:, 0]
    for level in range(min(domain.depth, 14)):
        codes = domain.encode(records, level=level)
        codes = codes[codes != OUTSIDE]  # the last cells of a lattice may end beyond it
        assert (domain.overlap(region, codes, level=level) > 0).all(), (region, level)


def exact_generator(domain: Domain, records: Any, *, level: int) -> Generator:
    """Generator from counts without noise, so large that no cell is taken for empty."""
    plan = Plan(domain, epsilon=1, budgets={level: 1}, exact_depth=level, inference="least-squares")
    counts = np.bincount(domain.encode(records, level=level).astype(np.int64), minlength=2**level)
    return Generator(Release(plan, {level: counts * 10**6}))


@pytest.mark.parametrize("domain", [Interval(0, 100), Interval(1, 100, scale="log"), Integers(0, 100)])
@pytest.mark.parametrize("heap", [25, 50, 100])
def test_bounds_hold_a_heap_at_an_end(domain: Domain, heap: int) -> None:
    """Without noise, the true mass of a region that ends at a heap is between its bounds."""
    rng = np.random.default_rng(0)
    records = np.where(rng.random(4000) < 0.3, heap, rng.integers(1, 101, 4000))
    table = Table({"one": domain, "other": Interval(0, 100)})
    line = exact_generator(domain, records, level=5)
    joint = exact_generator(table, {"one": records, "other": rng.integers(1, 101, 4000)}, level=8)
    for region in ((heap, heap), (10, heap), (heap, 100), (None, heap)):
        low, high = (1 if region[0] is None else region[0]), region[1]
        truth = ((records >= low) & (records <= high)).mean()
        for inside, touched in (line.mass_bounds(region), joint.mass_bounds({"one": region})):
            assert inside - 1e-4 <= truth <= touched + 1e-4


def test_samples_of_a_single_number() -> None:
    generator = exact_generator(Interval(0, 100), np.arange(100.0), level=4)
    assert generator.sample(3, where=(50, 50)).tolist() == [50, 50, 50]

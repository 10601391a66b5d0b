"""Diameters, measures and shares of cells, against brute force."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from example_domains import DOMAINS, ORDERED, all_cells, cells_of, log2_by_octave, sides_of
from privhp import Box, Domain, Integers, Interval, IPv4
from privhp.core.cells import Codes


def first_differing_bit(one: int, other: int) -> float:
    return 2.0 ** -(32 - (one ^ other).bit_length()) if one != other else 0.0


def test_diameter_of_integers() -> None:
    for size in range(2, 70):
        domain = Integers(-5, size - 6)
        for level in range(domain.depth + 1):
            cells: dict[int, list[int]] = {}
            for number, cell in zip(range(-5, size - 5), domain.encode(range(-5, size - 5), level=level), strict=True):
                cells.setdefault(int(cell), []).append(number)
            assert domain.diameter(level) == max(max(run) - min(run) for run in cells.values())


DISTANCES: list[tuple[Domain, Callable[[Any, Any], float]]] = [
    (Interval(-3, 5), lambda one, other: abs(one - other)),
    (Interval(0.5, 100, scale="log"), lambda one, other: abs(float(log2_by_octave(one) - log2_by_octave(other)))),
    (Box([(0, 1), (0, 4), (-1, 0)]), lambda one, other: float(np.abs(one - other).max())),
    (IPv4(), lambda one, other: first_differing_bit(int(one), int(other))),
]


@pytest.mark.parametrize(("domain", "distance"), DISTANCES, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("level", [0, 1, 2, 3, 5])
def test_diameter(domain: Domain, distance: Callable[[Any, Any], float], level: int) -> None:
    rng = np.random.default_rng(level)
    cells = all_cells(level)
    if isinstance(domain, Box):  # the corners of a cell, each a hair inside it
        corners = itertools.product([1e-9, 1 - 1e-9], repeat=3)
        records = [_at_corner(domain, cells, level, np.array(corner)) for corner in corners]
    else:
        records = [domain.cell_quantile(np.full(cells.shape, share), cells, level=level) for share in (1e-9, 1 - 1e-9)]
    records += [domain.decode(cells, level=level, rng=rng) for _ in range(5)]
    for batch in records:
        assert np.array_equal(domain.encode(batch, level=level), cells)
    largest = max(distance(a[i], b[i]) for a, b in itertools.combinations(records, 2) for i in range(len(cells)))
    assert largest <= domain.diameter(level)
    assert largest == pytest.approx(domain.diameter(level), rel=1e-6)


@pytest.mark.parametrize("level", [30, 31, 32])
def test_diameter_of_longest_prefixes(level: int) -> None:
    addresses = range(2 ** (32 - level))
    assert cells_of(IPv4(), addresses, level) == [0] * len(addresses)
    assert IPv4().diameter(level) == max(first_differing_bit(*pair) for pair in itertools.product(addresses, repeat=2))


def _at_corner(domain: Box, cells: Codes, level: int, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array(
        [
            [low + share * (high - low) for share, (low, high) in zip(shares, sides, strict=True)]
            for sides in (sides_of(domain, int(cell), level) for cell in cells)
        ]
    )


@pytest.mark.parametrize(
    "sides",
    [
        [(0, 1)],
        [(0, 1), (0, 1)],
        [(0, 1), (0, 1), (0, 1)],
        [(0, 1), (0, 4)],
        [(0, 3), (0, 1), (0, 2)],
        [(0, 1e-6), (0, 1e6), (-5, 5)],
        [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16)],
        [(-1, 1), (5, 5.25), (1e3, 1e4), (0, 0.7), (0, 1)],
    ],
    ids=str,
)
def test_splits_of_box(sides: list[tuple[float, float]]) -> None:
    domain = Box(sides)
    level = min(domain.depth, 20)
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 2**level, size=50, dtype=np.uint64)
    points = domain.decode(cells, level=level, rng=rng)
    for cell, point in zip(cells.tolist(), points.tolist(), strict=True):
        for coordinate, (low, high) in zip(point, sides_of(domain, cell, level), strict=True):
            assert low <= coordinate <= high


def test_splits_of_cube() -> None:
    assert Box([(0, 1)] * 3).split_axes[:7] == (0, 1, 2, 0, 1, 2, 0)
    assert cells_of(Box([(0, 1)] * 3), [(0.75, 0, 0), (0, 0.75, 0), (0, 0, 0.75)], 3) == [4, 2, 1]


def test_depth_of_side_near_float_spacing() -> None:
    domain = Box([(1e15, 1e15 + 1000), (0, 1e-3)])
    assert domain.split_axes.count(0) == Interval(1e15, 1e15 + 1000).depth == 8
    assert domain.split_axes.count(1) == Interval(0, 1e-3).depth
    assert Box([(0, 1)] * 2).depth == 63


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("level", [0, 1, 3, 10])
def test_sum_of_measures(domain: Domain, level: int) -> None:
    measure = domain.measure(all_cells(min(level, domain.depth)), level=min(level, domain.depth))
    assert measure.sum() == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("size", range(2, 40))
def test_measure_of_integers(size: int) -> None:
    domain = Integers(3, size + 2)
    for level in range(domain.depth + 1):
        cells = domain.encode(range(3, size + 3), level=level)
        counts = np.bincount(cells.astype(np.int64), minlength=2**level)
        measure = domain.measure(all_cells(level), level=level)
        assert measure.tolist() == pytest.approx((counts / size).tolist(), rel=1e-15)
        assert np.array_equal(measure == 0, counts == 0)


def test_measure_of_empty_cells() -> None:
    domain = Integers(0, 2**60)
    for level in (1, 20, 61):
        last_live = 2**60 >> (domain.depth - level)
        cells = np.array([last_live, last_live + 1, 2**level - 1], dtype=np.uint64)
        assert (domain.measure(cells, level=level) > 0).tolist() == [True, False, level == 1]


# Shares of a cell, the one way and the other


def test_cell_cdf_and_quantile_of_integers() -> None:
    """cell_cdf(x) is the share of integers <= x; cell_quantile(p) is the smallest x with cell_cdf(x) >= p."""
    for size in (2, 3, 8, 13, 49):
        domain = Integers(-4, size - 5)
        for level in range(domain.depth + 1):
            cells = domain.encode(range(-4, size - 4), level=level)
            for cell in np.unique(cells):
                run = np.arange(-4, size - 4)[cells == cell]
                here = np.array([cell])
                for asked in (-5, *run - 1, *run, *run + 0.5, size + 9):
                    assert domain.cell_cdf(np.array([asked]), here, level=level) == (run <= asked).mean()
                for steps in range(4 * len(run) + 1):
                    share = steps / (4 * len(run))
                    least = next(number for number in run if (run <= number).mean() >= share)
                    assert domain.cell_quantile(np.array([share]), here, level=level) == least


@pytest.mark.parametrize("domain", [Integers(0, size - 1) for size in (49, 997, 10**6 + 3)] + [IPv4()], ids=repr)
def test_quantile_inverts_cdf_of_integers(domain: Domain) -> None:
    rng = np.random.default_rng(0)
    for level in {0, 3, domain.depth}:
        numbers = domain.decode(np.zeros(2000, dtype=np.uint64), level=0, rng=rng)
        cells = domain.encode(numbers, level=level)
        assert np.array_equal(
            domain.cell_quantile(domain.cell_cdf(numbers, cells, level=level), cells, level=level), numbers
        )


@pytest.mark.parametrize("domain", [domain for domain in ORDERED if isinstance(domain, Interval)], ids=repr)
def test_quantile_inverts_cdf_of_interval(domain: Interval) -> None:
    rng = np.random.default_rng(0)
    for level in {0, 1, domain.depth // 2}:
        shares = rng.random(1000)
        cells = rng.integers(0, 2**level, size=1000, dtype=np.uint64)
        found = domain.cell_cdf(domain.cell_quantile(shares, cells, level=level), cells, level=level)
        assert np.abs(found - shares).max() < 2.0 ** (level - domain.depth)


@pytest.mark.parametrize("domain", ORDERED, ids=repr)
def test_quantiles_0_and_1(domain: Any) -> None:
    low, high = (0, 2**32 - 1) if isinstance(domain, IPv4) else (domain.low, domain.high)
    root = np.zeros(2, dtype=np.uint64)
    assert domain.cell_quantile(np.array([0.0, 1.0]), root, level=0).tolist() == [low, high]
    level = domain.depth
    ends = domain.encode([low, high], level=level)
    assert domain.cell_cdf(np.array([high, high]), ends, level=level).tolist() == [1, 1]
    assert high == domain.cell_quantile(np.array([0.0, 1.0]), ends, level=level)[1]

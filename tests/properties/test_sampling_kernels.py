"""Sampling kernels: points in cells, alias tables and shuffles."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from backends import both, needs_native
from privhp import Box, kernels
from privhp.core.allocation import Allocation, CellDraws
from privhp.kernels import AliasTable
from strategies import box_sides

ALPHA = 1e-9


@both
@given(data=st.data(), bounds=box_sides(), balanced=st.booleans(), seed=st.integers(0, 2**32))
def test_allocated_points_in_cells(
    data: st.DataObject, bounds: list[tuple[float, float]], balanced: bool, seed: int, native: bool
) -> None:
    box, rng = Box(bounds), np.random.default_rng(seed)
    levels = np.array(data.draw(st.lists(st.integers(0, box.depth), min_size=1, max_size=5)))
    codes = np.array([rng.integers(0, 2**level, dtype=np.uint64) for level in levels.tolist()])
    counts = np.array(data.draw(st.lists(st.integers(0, 30), min_size=levels.size, max_size=levels.size)))
    points = box.sample_allocation(Allocation(codes, levels, counts), balanced=balanced, rng=rng)
    groups = np.split(points, np.cumsum(counts)[:-1])
    for code, level, inside in zip(codes, levels.tolist(), groups, strict=True):
        assert (box.encode(inside, level=level) == code).all()


@needs_native
@pytest.mark.parametrize(
    ("levels", "counts"),
    [([0, 0], [-1, 2]), ([-1, 0], [1, 1]), ([0, 0], [2**62, -(2**62)]), ([0], [1, 1]), ([0, 0], [2])],
)
def test_invalid_allocation(levels: list[int], counts: list[int]) -> None:
    codes, rng = np.zeros(2, dtype=np.uint64), np.random.default_rng(6)
    with pytest.raises(ValueError, match="expected"):
        Box([(0, 1)]).sample_allocation(Allocation(codes, np.array(levels), np.array(counts)), balanced=True, rng=rng)


@both
@given(data=st.data(), bounds=box_sides(), seed=st.integers(0, 2**32))
def test_drawn_points_in_cells(data: st.DataObject, bounds: list[tuple[float, float]], seed: int, native: bool) -> None:
    box, rng = Box(bounds), np.random.default_rng(seed)
    levels = np.array(data.draw(st.lists(st.integers(0, box.depth), min_size=1, max_size=5)))
    codes = np.array([rng.integers(0, 2**level, dtype=np.uint64) for level in levels.tolist()])
    indices = rng.integers(0, levels.size, size=data.draw(st.integers(0, 30)))
    points = box.sample_cells(CellDraws(codes, levels, indices), rng=rng)
    assert points.shape == (indices.size, len(bounds))
    for point, index in zip(points, indices, strict=True):
        assert box.encode(point[None], level=int(levels[index])) == codes[index]


@needs_native
@pytest.mark.parametrize(("levels", "indices"), [([0, 0], [0, 2]), ([0, 0], [0, -1]), ([0, -1], [0, 1]), ([0], [0, 1])])
def test_invalid_cell_draws(levels: list[int], indices: list[int]) -> None:
    codes, grid = np.zeros(2, dtype=np.uint64), (np.zeros((1, 1), dtype=np.uint64), *np.zeros((3, 1)))
    with pytest.raises(ValueError, match="expected"):
        kernels.sample_grid_cells(
            CellDraws(codes, np.array(levels), np.array(indices)),
            kernels.CellSides(*grid),
            rng=np.random.default_rng(6),
        )


@both
@pytest.mark.parametrize("sides", [1, 2, 3])
def test_drawn_points_are_uniform_and_independent(sides: int, native: bool) -> None:
    """Positions in four cells, and pairs of successive points on the last and the first side."""
    codes, levels, indices = np.arange(4, dtype=np.uint64), np.full(4, 2), np.arange(100_000) % 4
    draws = CellDraws(codes, levels, indices)
    points = Box([(0, 1)] * sides).sample_cells(draws, rng=np.random.default_rng(8))
    cell = np.histogramdd(points, bins=4, range=[(0, 1)] * sides)[0].ravel()
    assert stats.chisquare(cell).pvalue > ALPHA
    inside = points * 4 % 1
    neighbours = np.histogram2d(inside[:-1, -1], inside[1:, 0], bins=8, range=[(0, 1)] * 2)[0].ravel()
    assert stats.chisquare(neighbours).pvalue > ALPHA
    same_twice = np.histogram2d(inside[:, -1], inside[:, -1], bins=8, range=[(0, 1)] * 2)[0].ravel()
    assert stats.chisquare(same_twice).pvalue < ALPHA


def table_probabilities(table: AliasTable) -> list[Fraction]:
    """Exact probability of each entry of an alias table."""
    given = [Fraction(0)] * table.aliases.size
    for index, (threshold, other) in enumerate(zip(*(column.tolist() for column in table), strict=True)):
        stays = Fraction(threshold, 2**64)
        given[index] += stays / len(given)
        given[other] += (1 - stays) / len(given)
    return given


WEIGHTS = st.lists(st.floats(0, 1) | st.floats(0, 1e-9) | st.sampled_from([0.0, 1.0, 1e9]), min_size=1, max_size=40)


@given(weights=WEIGHTS.filter(any))
def test_alias_table_probabilities(weights: list[float]) -> None:
    shares = np.array(weights) / np.sum(weights)
    given = table_probabilities(kernels.build_alias_table(shares))
    assert sum(given) == 1
    assert all(abs(found - Fraction(share)) < 2.0**-50 for found, share in zip(given, shares.tolist(), strict=True))
    assert all(found == 0 for found, share in zip(given, shares.tolist(), strict=True) if share == 0)


@pytest.mark.parametrize("size", [1, 2, 3, 1024])
def test_alias_table_of_equal_probabilities(size: int) -> None:
    assert np.array_equal(kernels.build_alias_table(np.full(size, 1 / size)).aliases, np.arange(size))


def test_alias_table_of_a_million_entries() -> None:
    shares = np.random.default_rng(9).pareto(1.0, size=1_000_000)
    shares /= shares.sum()
    table = kernels.build_alias_table(shares)
    stays = table.thresholds * 2.0**-64
    given = (stays + np.bincount(table.aliases, weights=1.0 - stays, minlength=shares.size)) / shares.size
    assert np.allclose(given, shares, rtol=1e-9, atol=1e-18)


@both
def test_alias_draws_distribution(native: bool) -> None:
    shares = np.array([0.3, 0.02, 0.18, 0.4, 0.1])
    table = kernels.build_alias_table(shares)

    def significance(table: AliasTable, by: float = 0.0) -> float:
        drawn = np.bincount(kernels.draw_indices(table, 100_000, np.random.default_rng(10)), minlength=5)
        changed = shares * (1.0 + by * np.array([0, 1, 0, 1, 0]))
        return float(stats.chisquare(drawn, changed / changed.sum() * 100_000).pvalue)

    assert significance(table) > ALPHA
    assert significance(table, -0.1) < ALPHA
    assert significance(table, 0.1) < ALPHA
    assert significance(table._replace(aliases=np.roll(table.aliases, 1))) < ALPHA
    assert significance(table._replace(thresholds=table.thresholds // np.uint64(10) * np.uint64(9))) < ALPHA
    assert significance(kernels.build_alias_table(shares[::-1])) < ALPHA


@both
def test_alias_draws_are_independent(native: bool) -> None:
    """Pairs of successive draws, and of draws a block of random words of the compiled kernel apart."""
    shares = np.array([0.3, 0.02, 0.18, 0.4, 0.1])
    drawn = kernels.draw_indices(kernels.build_alias_table(shares), 204_800, np.random.default_rng(11))
    expected = np.outer(shares, shares).ravel()
    for one, other in ((drawn[::2], drawn[1::2]), drawn.reshape(-1, 2, 1024).transpose(1, 0, 2).reshape(2, -1)):
        pairs = np.bincount(one * 5 + other, minlength=25)
        assert stats.chisquare(pairs, expected * one.size).pvalue > ALPHA
    assert stats.chisquare(np.bincount(drawn * 6, minlength=25) + 1, expected * drawn.size + 1).pvalue < ALPHA


@both
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize(("sides", "bins"), [(1, 512), (2, 22), (3, 8)])
def test_allocated_points_are_uniform(sides: int, bins: int, balanced: bool, count: int, native: bool) -> None:
    cells = 200_000 // count
    box, rng = Box([(0, 1)] * sides), np.random.default_rng(count)
    codes, levels = np.full(cells, 2**sides - 3 if sides > 1 else 1, dtype=np.uint64), np.full(cells, sides)
    allocation = Allocation(codes, levels, np.full(cells, count))
    points = box.sample_allocation(allocation, balanced=balanced, rng=rng) * 2 % 1
    chosen = np.arange(cells) % count + np.arange(cells) * count  # one point per cell, so that they are independent
    bin_indices = (points[chosen] * bins).astype(int)
    observed = np.bincount(np.ravel_multi_index(tuple(bin_indices.T), (bins,) * sides), minlength=bins**sides)
    assert stats.chisquare(observed).pvalue > ALPHA
    skewed = observed + np.where(np.arange(bins**sides) % 2, 1, -1) * observed.mean() * 0.35
    assert stats.chisquare(skewed).pvalue < ALPHA


@both
@pytest.mark.parametrize("sides", [1, 2, 3, 5])
def test_balanced_points_form_lattice(sides: int, native: bool) -> None:
    count, tiny = 5000, 1e-9
    one = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([count]))
    points = Box([(0, 1)] * sides).sample_allocation(Allocation(*one), balanced=True, rng=np.random.default_rng(7))
    ranks = np.arange(count)
    assert np.abs(points[:, 0] * count - ranks - 0.5).max() <= 0.5 + tiny * count
    for side, step in enumerate(kernels.lattice_steps(sides).tolist()[1:], start=1):
        starts = (points[:, side] - ranks * (step / 2.0**64)) % 1.0
        around = (starts - starts[0] + 0.5) % 1.0  # all within one jitter of the first start
        assert np.ptp(around) <= count ** (-1.0 / sides) + tiny


@both
@pytest.mark.parametrize("sides", [1, 2, 3])
def test_independent_points_are_uniform(sides: int, native: bool) -> None:
    one = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([100_000]))
    points = Box([(0, 1)] * sides).sample_allocation(Allocation(*one), balanced=False, rng=np.random.default_rng(8))
    observed = np.histogramdd(points, bins=4, range=[(0, 1)] * sides)[0].ravel()
    assert stats.chisquare(observed).pvalue > ALPHA
    neighbours = np.histogram2d(points[:-1, -1], points[1:, 0], bins=8, range=[(0, 1)] * 2)[0].ravel()
    assert stats.chisquare(neighbours).pvalue > ALPHA


@both
def test_balanced_points_variance(native: bool) -> None:
    """Counts on a 16 x 16 grid of 4,096 points in one cell: at most an eighth of the variance of independent points."""
    box, rng = Box([(0, 1), (0, 1)]), np.random.default_rng(1)
    one = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([4096]))

    def variance(balanced: bool) -> float:
        indices = (box.sample_allocation(Allocation(*one), balanced=balanced, rng=rng) * 16).astype(int)
        return float(np.var(np.bincount(indices @ [16, 1], minlength=256)))

    assert np.mean([variance(True) for _ in range(20)]) < np.mean([variance(False) for _ in range(20)]) / 8


@both
def test_shuffle_permutation_probabilities(native: bool) -> None:
    rng = np.random.default_rng(2)
    records = np.arange(4.0)
    orders = [tuple(kernels.shuffle(records, rng)) for _ in range(24_000)]
    observed = np.unique(orders, axis=0, return_counts=True)[1]
    assert observed.size == 24
    assert stats.chisquare(observed).pvalue > ALPHA
    stuck = np.where(np.arange(24) < 6, observed * 1.3, observed * 0.9)
    assert stats.chisquare(stuck * observed.sum() / stuck.sum()).pvalue < ALPHA


@both
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_shuffle_of_many_records(columns: int, native: bool) -> None:
    """More records than the buffer of random words holds, also in each bucket of the compiled kernel."""
    size, parts = 300_000, 16
    records = np.arange(size * columns).reshape(size, columns)
    found = kernels.shuffle(records, np.random.default_rng(9))[:, 0] // columns
    assert np.array_equal(np.sort(found), np.arange(size))

    def moves(order: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.histogram2d(order, np.arange(size), bins=parts)[0]

    assert stats.chisquare(moves(found).ravel()).pvalue > ALPHA
    inside = found[size // 2 : size // 2 + 1000]  # within one bucket, ascents and descents are equally likely
    assert stats.binomtest(int((np.diff(inside) > 0).sum()), 999).pvalue > ALPHA
    sticky = np.where(np.arange(size) % 10 == 0, np.arange(size), found)
    assert stats.chisquare(moves(sticky).ravel()).pvalue < ALPHA


@both
@given(size=st.integers(0, 2000), columns=st.integers(1, 3), seed=st.integers(0, 2**32))
def test_shuffle_keeps_records(size: int, columns: int, seed: int, native: bool) -> None:
    records = np.arange(float(size * columns)).reshape(size, columns)
    found = kernels.shuffle(records, np.random.default_rng(seed))
    assert np.array_equal(np.sort(found, axis=0), records)
    assert (np.diff(found, axis=1) == 1).all()

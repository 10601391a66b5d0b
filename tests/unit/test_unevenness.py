"""Unevenness of the sides of leaves, against a slow search and against what it was drawn with."""

import math

import numpy as np
import pytest

from privhp.answers.hierarchy_errors import _hidden_bias
from privhp.answers.share_deviations import heap_deviation, slope_deviation
from privhp.answers.side_splits import SideSplits, Splits, pool_all_splits, pool_splits
from privhp.answers.unevenness import FINER_CUTS, AxisUnevenness, _extend, _measure, _Measured, _smooth
from privhp.domains.box import Box

PLANE = Box([(0, 1), (0, 1)])


def slow_slopes(measured: list[_Measured], cell: int, cuts: int) -> list[float]:
    """Squared imbalances of a side after each further cut, on the slope of the smallest measured side around it."""
    for above in range(min(cuts, len(measured) - 1), -1, -1):
        shown = dict(zip(measured[above].cells.tolist(), measured[above].slopes.tolist(), strict=True))
        if cell >> (cuts - above) in shown:
            slope, at_end = shown[cell >> (cuts - above)], cell in (0, 2**cuts - 1)
            squares = []
            for further in range(FINER_CUTS):
                own = slope
                for _ in range(0 if at_end else cuts - above + further):
                    own = own / (1 + math.sqrt(1 - own**2))  # tanh(x / 2) of tanh(x)
                squares.append(own**2)
            return squares
    return [0.0] * FINER_CUTS


@pytest.mark.parametrize("seed", range(4))
def test_a_side_lies_on_the_slope_of_the_smallest_measured_side_around_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    measured = []
    for cuts in range(8):
        cells = np.flatnonzero(rng.random(2**cuts) < 0.4).astype(np.uint64)
        measured.append(_Measured(rng.random() * 0.3, 0.1, cells.size, 0.5, cells, rng.random(cells.size)))
    axis = AxisUnevenness(measured, {})
    for cuts in (0, 3, 7, 8):
        cells = np.arange(2**cuts, dtype=np.uint64)
        steepness = rng.random(cells.size)
        found = axis.further(cells, cuts, steepness)
        assert found.shape == (FINER_CUTS, cells.size)
        for cell in {*range(0, cells.size, 5), cells.size - 1}:
            neighbours = [math.tanh(steepness[cell] / 2**further) ** 2 for further in range(FINER_CUTS)]
            slopes = np.maximum(slow_slopes(measured, cell, cuts), neighbours)
            assert found[:, cell] == pytest.approx(np.maximum(axis.by_cuts[cuts : cuts + FINER_CUTS], slopes))


def drawn_splits(rng: np.random.Generator, shared: float, own: float) -> Splits:
    """All cells of 64 sides along the first axis of a plane, with imbalances of these two variances, without noise."""
    codes = np.arange(2**12, dtype=np.uint64)
    sides, _ = PLANE.axis_cells(codes, level=12)[0]
    imbalance = rng.normal(0, math.sqrt(shared), 64)[sides.astype(np.int64)] + rng.normal(0, math.sqrt(own), codes.size)
    counts = rng.uniform(1e6, 1e7, codes.size)
    return Splits(codes, counts * (1 + imbalance) / 2, counts, np.zeros(codes.size))


def pool(splits: Splits) -> SideSplits:
    pooled = pool_splits(PLANE, 0, 12, splits)
    assert pooled is not None
    return pooled


@pytest.mark.parametrize(("shared", "own"), [(0.02, 0.0), (0.0, 0.05), (0.01, 0.04)])
def test_shared_and_own_unevenness_are_told_apart(shared: float, own: float) -> None:
    rng = np.random.default_rng(3)
    pooled = [pool(drawn_splits(rng, shared, own)) for _ in range(20)]
    found = np.mean([(each.shared, each.own) for each in pooled], axis=0)
    assert found == pytest.approx([shared, own], rel=0.1, abs=2e-4)


def test_without_sides_of_several_cells_all_unevenness_is_shared() -> None:
    splits = drawn_splits(np.random.default_rng(5), 0.0, 0.05)
    sides, _ = PLANE.axis_cells(splits.codes, level=12)[0]
    chosen = np.unique(sides, return_index=True)[1]
    one_of_each = Splits(*(each[chosen] for each in splits))
    pooled = pool(one_of_each)
    assert pooled.own == 0
    assert pooled.shared == pytest.approx(0.05, rel=0.5)


def test_cells_that_are_not_significant_count_in_the_imbalance_of_their_side() -> None:
    """Of each side, four cells hold 3,000 records in the first half, and sixty cells 30 in the second."""
    rng = np.random.default_rng(6)
    codes = np.arange(2**12, dtype=np.uint64)
    sides, _ = PLANE.axis_cells(codes, level=12)[0]
    others, _ = PLANE.axis_cells(codes, level=12)[1]
    counts, first = np.where(others < 4, 3_000.0, 30.0), np.where(others < 4, 3_000.0, 0.0)
    noise = rng.normal(0, 10, (2, codes.size))
    splits = Splits(codes, first + noise[0], counts + noise.sum(axis=0), np.full(codes.size, 200.0))
    found, clear = pool_all_splits(PLANE, 0, 12, splits), pool_splits(PLANE, 0, 12, splits.significant)
    assert found is not None
    assert clear is not None
    for side, imbalance in zip(found.sides.tolist(), found.imbalances.tolist(), strict=True):
        own = sides == side
        assert imbalance == pytest.approx(2 * splits.first[own].sum() / splits.counts[own].sum() - 1, rel=1e-9)
    assert found.imbalances == pytest.approx(np.full(64, 2 * 12_000 / 13_800 - 1), abs=0.03)
    assert clear.imbalances.mean() > 0.95  # the few cells alone
    assert found.imbalances.mean() < 0.75
    assert (found.variances > clear.variances).all()


def a_level(splits: int, share: float) -> _Measured:
    return _Measured(splits=splits, share=share)


def test_cells_that_are_not_cut_change_as_those_that_are() -> None:
    """The few cells cut again are four times as uneven as all were, and half as uneven as they were before."""
    levels = [a_level(100, 1.0), a_level(100, 1.0), a_level(100, 1e-9)]
    found = _smooth(levels, [(0.1, 0.0), (0.05, 0.1), (0.2, 0.4)], {}, otherwise=1.0)
    assert found[:3] == pytest.approx([0.1, 0.05, 0.025])
    lattice = _smooth(levels, [(0.1, 0.0), (0.05, 0.1), (1.0, 0.05)], {}, otherwise=1.0)
    assert lattice[2] == pytest.approx(1.0)
    shown = _smooth([*levels[:2], a_level(100, 1.0)], [(0.1, 0.0), (0.05, 0.1), (0.2, 0.4)], {}, otherwise=1.0)
    assert shown[2] == pytest.approx(0.2)


@pytest.mark.parametrize("unevenness", [0.0, 1e-12, 0.5])
def test_unevenness_comes_back_after_a_cut_that_shows_none(unevenness: float) -> None:
    levels = [a_level(100, 1.0), a_level(100, 1.0), a_level(100, 0.001)]
    found = _smooth(levels, [(0.1, 0.0), (unevenness, 0.1), (1.0, unevenness)], {}, otherwise=1.0)
    assert found[2] > 0.99


def told(*noises: float, cuts: int) -> list[_Measured]:
    """Levels of an axis, of which the first have unevenness of this noise."""
    return [_Measured(noise=noise) for noise in noises] + [_Measured()] * (cuts - len(noises))


def test_what_falls_as_a_slope_is_no_heap() -> None:
    total, heaped = _extend(np.array([0.4, 0.1, 0.025]), told(0, 0, 0, cuts=5), {})
    assert total[:5] == pytest.approx(0.4 * 0.25 ** np.arange(5))
    assert heaped[:5] == pytest.approx(np.zeros(5))
    assert heaped[5:].tolist() == [1.0] * FINER_CUTS


def test_what_does_not_fall_as_a_slope_is_heaps() -> None:
    """Slopes 0.4, 0.1, 0.025 and heaps that explain 0.08."""
    total, heaped = _extend(np.array([0.48, 0.18, 0.105]), told(0, 0, 0, cuts=5), {})
    assert heaped[:5] == pytest.approx(np.full(5, 0.08))
    assert total[:5] == pytest.approx(0.4 * 0.25 ** np.arange(5) + 0.08)


def test_heaps_grow_as_the_unevenness_did() -> None:
    total, heaped = _extend(np.array([0.1, 0.05, 0.1]), told(0, 0, 0, cuts=8), {})
    assert total[3:8] == pytest.approx([0.2, 0.4, 0.8, 1, 1])
    assert heaped[2:8] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1, 1])
    assert heaped[0] == heaped[1] == pytest.approx(0.1 / 3)  # as few as at the cut with the fewest


def test_noise_is_no_heap() -> None:
    _, heaped = _extend(np.array([0.1, 0.05]), told(0, 0.04, cuts=2), {})
    assert heaped[1] == 0
    _, clear = _extend(np.array([0.1, 0.05]), told(0, 0.01, cuts=2), {})
    assert clear[1] == pytest.approx(0.1 / 3 - 0.01)


@pytest.mark.parametrize("cells", [16, 256])
def test_noise_of_unevenness_that_is_not_there(cells: int) -> None:
    rng, found = np.random.default_rng(7), []
    for _ in range(300):
        counts, variance = np.full(cells, 1e4), np.full(cells, 1e6)
        first = rng.normal(counts / 2, np.sqrt(variance / 4))
        splits = Splits(np.arange(cells, dtype=np.uint64) << np.uint64(4), first, counts, variance)
        found.append(_measure(pool(splits), total=1e10))
    shown = np.array([own.shared for own in found])
    assert np.sqrt(np.mean(shown**2) * 2) == pytest.approx(found[0].noise, rel=0.25)  # negative ones count as 0


def test_slope_deviation_is_that_of_random_halves() -> None:
    """Cells whose halves get the share (1 + D) / 2 of the records, with a D of either sign."""
    rng = np.random.default_rng(9)
    unevenness = np.array([0.3, 0.1, 0.5, 0.0, 0.2, 0.4, 0.1, 0.0, 0.0, 0.0])
    masses = np.ones((20_000, 1))
    for own in unevenness:
        first = (1 + rng.choice([-1, 1], masses.shape) * math.sqrt(own)) / 2
        masses = np.stack([masses * first, masses * (1 - first)], axis=2).reshape(masses.shape[0], -1)
    for share in (0.125, 0.5, 0.7):
        exact = np.std(masses[:, : round(share * 1024)].sum(axis=1))
        assert slope_deviation(np.array([share]), unevenness[:, None])[0] == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_whole_cells_have_no_deviation(share: float) -> None:
    unevenness = np.full((FINER_CUTS, 1), 0.5)
    assert slope_deviation(np.array([share]), unevenness)[0] == 0
    assert heap_deviation(np.array([share]), unevenness[:, 0])[0] == 0


def test_hidden_bias() -> None:
    """Half of the removed noise and of the difference, at most the count; none where no noise was removed."""
    found = _hidden_bias(np.array([2.0, 0.0, 0.0, 0.0]), np.array([4.0, 4.0, 4.0, 0.0]), np.array([9.0, 9.0, 1.0, 9.0]))
    assert found.tolist() == [3.0, 2.0, 1.0, 0.0]


def test_rhythms_count_where_the_release_shows_nothing() -> None:
    total, heaped = _extend(np.array([0.4, 0.1]), told(0, 0, cuts=5), {0: 1.0, 3: 0.8})
    assert total[:5] == pytest.approx([0.4, 0.1, 0.025, 0.8, 0.2])
    assert not heaped[:5].any()


def test_a_rhythm_counts_for_the_cells_that_are_not_cut() -> None:
    levels = [a_level(100, 1.0), a_level(100, 0.1)]
    assert _smooth(levels, [(0.1, 0.0), (0.0, 0.1)], {1: 1.0}, otherwise=1.0)[1] == pytest.approx(0.9)
    assert _smooth([levels[0]] * 2, [(0.1, 0.0), (0.0, 0.1)], {1: 1.0}, otherwise=1.0)[1] == 0.0

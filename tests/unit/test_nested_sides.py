"""What finer sides show of coarser ones, side by side."""

import numpy as np
import pytest

from privhp.answers.nested_sides import NestedSides

LOW, HIGH = 0.23, 0.61


def some_sides(seed: int) -> tuple[NestedSides, list[tuple[int, int]], np.ndarray]:
    """Sides of 0 to 6 cuts of [0, 1), their codes and cuts, and their masses."""
    rng = np.random.default_rng(seed)
    every = [(code, cuts) for cuts in range(7) for code in range(2**cuts)]
    sides = [every[0], *(every[index] for index in 1 + rng.choice(len(every) - 1, 39, replace=False))]
    masses = rng.random(40) * (rng.random(40) < 0.8)
    codes, cuts = np.array(sides).T
    return NestedSides(codes.astype(np.uint64), cuts, masses), sides, masses


def share(side: tuple[int, int], low: float, high: float) -> float:
    code, cuts = side
    return float(np.clip(high * 2**cuts - code, 0, 1) - np.clip(low * 2**cuts - code, 0, 1))


def slow_error(sides: list[tuple[int, int]], masses: np.ndarray, shares: np.ndarray, index: int) -> float:
    """The share in the sides inside a side, less its own, in their share of its mass."""
    code, cuts = sides[index]
    inside = [own for own, (other, more) in enumerate(sides) if more > cuts and other >> (more - cuts) == code]
    total = masses[inside].sum()
    if total == 0:
        return 0.0
    expected = (masses[inside] * shares[inside]).sum() / total
    return abs(expected - shares[index]) * total / (total + masses[index])


@pytest.mark.parametrize("seed", range(6))
def test_errors_are_those_of_the_sides_inside(seed: int) -> None:
    nested, sides, masses = some_sides(seed)
    shares = np.array([share(side, LOW, HIGH) for side in sides])
    expected = [slow_error(sides, masses, shares, index) for index in range(len(sides))]
    assert max(expected) > 0.01
    assert nested.errors(shares) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_errors_below_an_end(seed: int) -> None:
    nested, sides, masses = some_sides(seed)
    shares = np.array([share(side, 0, HIGH) for side in sides])
    finest = max(cuts for _, cuts in sides)
    above = 0.0
    holding = [index for index, (code, cuts) in enumerate(sides) if int(HIGH * 2**cuts) == code]
    for index in sorted(holding, key=lambda own: -sides[own][1]):
        ends = np.array([int(HIGH * 2**finest)], dtype=np.uint64)
        found = nested.errors_below(np.array([index]), ends, shares[[index]], np.array([above]))
        assert found[0] == pytest.approx(slow_error(sides, masses, shares, index), abs=1e-12)
        above += masses[index] * (1 - shares[index])


@pytest.mark.parametrize("seed", range(6))
def test_counts_and_excess_are_those_of_even_sides(seed: int) -> None:
    nested, sides, masses = some_sides(seed)

    def slow_count(code: int, cuts: int) -> float:
        low, high = code / 2**cuts, (code + 1) / 2**cuts
        return float(sum(mass * share(side, low, high) for side, mass in zip(sides, masses, strict=True)))

    for cuts in (0, 3, 6):
        codes = np.arange(2**cuts, dtype=np.uint64)
        counts = np.array([slow_count(code, cuts) for code in range(-1, 2**cuts + 1)])
        assert nested.counts(codes, cuts) == pytest.approx(counts[1:-1], abs=1e-12)
        others = (counts[:-2] + counts[2:]) / 2, np.minimum(counts[:-2], counts[2:])
        for found, other in zip(nested.excess(codes, cuts), others, strict=True):
            expected = np.clip(1 - other / np.maximum(counts[1:-1], 1e-300), 0, 1)
            assert found == pytest.approx(expected, abs=1e-9)
            assert expected.max() > 0.1


def test_steepness_of_an_exponential_density() -> None:
    """Cells on the slope have its imbalance; one that is smaller than both neighbours has none."""
    edges = np.exp(np.linspace(0, 6, 9))
    counts = np.append(np.diff(edges), np.zeros(8)) * 1000
    sides = NestedSides(np.arange(16, dtype=np.uint64), np.full(16, 4), counts)
    found = np.tanh(sides.steepness(np.arange(16, dtype=np.uint64), 4))
    middle = np.exp(np.linspace(0, 6, 17))[1::2]
    halves = (edges[1:] - middle) / np.diff(edges)
    assert found[:7] == pytest.approx(2 * halves[:7] - 1)
    assert found[7] > 0.98  # at the edge of a gap
    assert not found[8:].any()
    assert sides.steepness(np.zeros(1, dtype=np.uint64), 0).tolist() == [0]


def test_sides_without_records_after_uneven_ones_have_no_error() -> None:
    """Sums over the sides before them are rounded, which is an error of no records."""
    rng = np.random.default_rng(0)
    cells = np.concatenate([np.arange(2**cuts, dtype=np.uint64) for cuts in range(9)])
    cuts = np.repeat(np.arange(9), 2 ** np.arange(9))
    masses = np.where(cells < 2 ** np.maximum(cuts - 1, 0), rng.random(cells.size) ** 20 * 1e9, 0.0)
    nested, shares = NestedSides(cells, cuts, masses), rng.random(cells.size)
    inside = np.flatnonzero(masses == 0)
    ends = (cells[inside] + np.uint64(1)) << (8 - cuts[inside]).astype(np.uint64)
    below = nested.errors_below(inside, ends - np.uint64(1), shares[inside], rng.random(inside.size))
    for errors in (nested.errors(shares)[inside], below):
        assert not errors.any()

"""Laws of the W1 distances, and comparison with POT on small cases."""

from typing import Any

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import case_count
from privhp import (
    Box,
    Domain,
    Generator,
    Geo,
    Integers,
    Interval,
    IPv4,
    Nullable,
    grid_wasserstein,
    tree_wasserstein,
    wasserstein,
)
from privhp.evaluate import grid_masses
from strategies import generators

LINES = [Interval(0, 1), Interval(-1e6, 3e9), Interval(0, 1000, cuts=[5, 10, 40])]
PLANES = [Box([(0, 1), (0, 1)]), Box([(0, 700), (-1000, 300)])]
SPACES = [
    *LINES,
    *PLANES,
    Integers(-3, 8),
    IPv4(),
    Interval(1, 1024, scale="log"),
    Box([(0, 1), (0, 4), (2, 3)]),
    Geo(),
    Nullable(Integers(0, 9), share=0.3),
]
MOVES = st.integers(0, 2**32 - 1)


@st.composite
def real_records(draw: st.DrawFn, domain: Domain) -> NDArray[Any]:
    """A few records, some close together, some equal."""
    level = min(domain.depth, 8)
    codes = np.array(draw(st.lists(st.integers(0, 2**level - 1), min_size=1, max_size=12)), dtype=np.uint64)
    live = codes[domain.measure(codes, level=level) > 0]
    chosen = live if live.size else np.zeros(1, dtype=np.uint64)
    return domain.decode(chosen, level=level, rng=np.random.default_rng(draw(MOVES)))


def sides(domain: Domain) -> st.SearchStrategy[Any]:
    return st.one_of(real_records(domain), generators(st.just(domain)))


@st.composite
def triples(draw: st.DrawFn, spaces: list[Domain]) -> tuple[Domain, Any, Any, Any]:
    domain = draw(st.sampled_from(spaces))
    return domain, *(draw(sides(domain)) for _ in range(3))


def check_metric(distance: Any, triple: tuple[Domain, Any, Any, Any], *, scale: float) -> None:
    domain, one, two, three = triple
    there, back = distance(one, two, domain=domain), distance(two, one, domain=domain)
    assert distance(one, one, domain=domain) == pytest.approx(0, abs=1e-9 * scale)
    assert 0 <= there <= scale * (1 + 1e-9)
    assert there == pytest.approx(back, abs=1e-9 * scale)
    detour = distance(one, three, domain=domain) + distance(three, two, domain=domain)
    assert there <= detour + 1e-9 * scale


@given(triple=triples(LINES))
def test_line_distance_is_a_metric(triple: tuple[Domain, Any, Any, Any]) -> None:
    check_metric(wasserstein, triple, scale=triple[0].diameter(0))


@given(triple=triples(SPACES))
def test_tree_distance_is_a_metric(triple: tuple[Domain, Any, Any, Any]) -> None:
    check_metric(tree_wasserstein, triple, scale=triple[0].diameter(0))


@settings(max_examples=case_count(30))
@given(triple=triples(PLANES))
def test_plane_distance_is_a_metric(triple: tuple[Domain, Any, Any, Any]) -> None:
    def coarse(*two: Any, domain: Domain) -> float:
        return grid_wasserstein(*two, domain=domain, cells=7)

    check_metric(coarse, triple, scale=1.0)


@given(triple=triples(LINES), depth=st.integers(0, 12))
def test_tree_distance_bounds_line_distance(triple: tuple[Domain, Any, Any, Any], depth: int) -> None:
    """Up to distances below the resolution of the tree."""
    domain, one, two, _ = triple
    least = wasserstein(one, two, domain=domain) - domain.diameter(depth)
    assert tree_wasserstein(one, two, domain=domain, depth=depth) >= least - 1e-9 * domain.diameter(0)


def cell_masses(side: Any, domain: Domain, level: int) -> NDArray[np.float64]:
    """Mass of every cell of a level, summed over leaves."""
    masses = np.zeros(2**level)
    if not isinstance(side, Generator):
        np.add.at(masses, domain.encode(side, level=level).view(np.int64), 1 / len(side))
        return masses
    leaves = side.leaves()
    for code, leaf_level, mass in zip(leaves.codes, leaves.levels.tolist(), side.probabilities, strict=True):
        if leaf_level >= level:
            masses[int(code) >> (leaf_level - level)] += mass
            continue
        cells = (int(code) << (level - leaf_level)) + np.arange(2 ** (level - leaf_level))
        measures = domain.measure(cells.astype(np.uint64), level=level)
        if measures.sum() > 0:
            masses[cells] += mass * measures / measures.sum()
    return masses


def tree_distances(domain: Domain, level: int) -> NDArray[np.float64]:
    """Diameter of the smallest common cell of each two cells of a level."""
    cells = range(2**level)
    apart = [[(one ^ other).bit_length() for other in cells] for one in cells]
    return np.array([[domain.diameter(level - bits) if bits else 0.0 for bits in row] for row in apart])


@given(triple=triples(SPACES), depth=st.integers(1, 5))
def test_tree_distance_equals_pot(triple: tuple[Domain, Any, Any, Any], depth: int) -> None:
    domain, one, two, _ = triple
    depth = min(depth, domain.depth)
    costs = tree_distances(domain, depth)
    expected = ot.emd2(cell_masses(one, domain, depth), cell_masses(two, domain, depth), costs)
    found = tree_wasserstein(one, two, domain=domain, depth=depth)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9 * domain.diameter(0))


@settings(max_examples=case_count(30))
@given(triple=triples(PLANES), cells=st.integers(2, 7))
def test_plane_distance_equals_pot(triple: tuple[Domain, Any, Any, Any], cells: int) -> None:
    domain, one, two, _ = triple
    cells_of_grid = np.stack(np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"), axis=-1).reshape(-1, 2)
    costs = np.abs(cells_of_grid[:, None] - cells_of_grid).max(axis=-1) / cells
    masses = [grid_masses(side, domain=domain, cells=cells).ravel() for side in (one, two)]
    found = grid_wasserstein(one, two, domain=domain, cells=cells)
    assert found == pytest.approx(ot.emd2(*masses, costs), rel=1e-6, abs=1e-9)


@given(domain=st.sampled_from(LINES), data=st.data())
def test_line_distance_equals_pot(domain: Domain, data: st.DataObject) -> None:
    one, two = data.draw(real_records(domain)), data.draw(real_records(domain))
    expected = ot.emd2_1d(one, two, metric="euclidean")
    assert wasserstein(one, two, domain=domain) == pytest.approx(expected, abs=1e-9 * domain.diameter(0))


@settings(max_examples=case_count(30))
@given(domain=st.sampled_from(PLANES), data=st.data(), cells=st.integers(2, 9))
def test_grid_masses_equal_generator(domain: Box, data: st.DataObject, cells: int) -> None:
    generator = data.draw(generators(st.just(domain)))
    edges = [axis.low + axis.width * np.arange(cells + 1) / cells for axis in domain.axes]
    expected = [
        [generator.mass([(left, right), (low, high)]).value for low, high in zip(edges[1], edges[1][1:], strict=False)]
        for left, right in zip(edges[0], edges[0][1:], strict=False)
    ]
    assert np.allclose(grid_masses(generator, cells=cells), expected, rtol=0, atol=1e-9)

"""Tree distance, plane distance and errors of range queries, against closed forms; refused arguments."""

import sys
from typing import Any

import numpy as np
import pytest

from privhp import (
    Box,
    Domain,
    DomainError,
    Integers,
    Interval,
    IPv4,
    QueryError,
    RecordsError,
    grid_wasserstein,
    range_errors,
    tree_wasserstein,
    wasserstein,
)
from privhp.evaluate import grid_masses, random_regions
from releases import histogram

SQUARE = Box([(0, 1), (0, 1)])
LONG = Box([(0, 700), (-1000, 300)])


@pytest.mark.parametrize("depth", [1, 2, 10, 24, 40])
def test_tree_distance_uniform_to_point(depth: int) -> None:
    """A share 2**-(l+1) of the mass is at distance 2**-l, for each level l of the tree."""
    expected = 2 / 3 * (1 - 4.0**-depth)
    assert tree_wasserstein(histogram(Interval(0, 1), 0, [5]), [0.3], depth=depth) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("domain", "one", "other", "expected"),
    [
        (Interval(0, 8), [0.1], [7.9], 8),
        (Interval(0, 8), [3.9], [4.1], 8),
        (Interval(0, 8), [4.1], [6.1], 4),
        (Interval(0, 8), [4.1, 0.5], [6.1, 0.5], 2),
        (Interval(0, 8), [1.0], [1.0 + 2**-23], 0),
        (Integers(0, 7), [6], [7], 1),
        (IPv4(), ["10.0.0.0"], ["10.255.0.0"], 2**-8),
        (SQUARE, [(0.1, 0.1)], [(0.1, 0.9)], 1),
        (SQUARE, [(0.1, 0.1)], [(0.1, 0.4)], 0.5),
    ],
)
def test_tree_distance_of_records(domain: Domain, one: Any, other: Any, expected: float) -> None:
    assert tree_wasserstein(one, other, domain=domain) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_tree_distance_of_generators() -> None:
    """A quarter of the mass moves within the second half, a cell of half the domain's width."""
    uniform, skewed = histogram(Interval(0, 1), 0, [1]), histogram(Interval(0, 1), 2, [1, 1, 2, 0])
    assert tree_wasserstein(uniform, skewed) == pytest.approx(0.25 * 0.5, rel=1e-12)


def test_tree_distance_of_limited_depth() -> None:
    low, high = histogram(Interval(0, 1), 3, [1] + [0] * 7), histogram(Interval(0, 1), 3, [0, 1] + [0] * 6)
    assert tree_wasserstein(low, high, depth=2) == 0
    assert tree_wasserstein(low, high, depth=3) == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize("domain", [SQUARE, LONG], ids=repr)
@pytest.mark.parametrize(("move", "expected"), [((30, 0), 30), ((0, 7), 7), ((30, 7), 30), ((5, 41), 41)])
def test_plane_distance_of_points(domain: Box, move: tuple[int, int], expected: int) -> None:
    low, width = np.array([(axis.low, axis.width) for axis in domain.axes]).T
    one, other = (low + (np.array([point]) + 0.5) / 97 * width for point in ((50, 50), (50 + move[0], 50 + move[1])))
    assert grid_wasserstein(one, other, domain=domain) == pytest.approx(expected / 97, rel=1e-6)


def test_plane_distance_of_halves() -> None:
    left, right = histogram(SQUARE, 1, [1, 0]), histogram(SQUARE, 1, [0, 1])
    assert grid_wasserstein(left, right, cells=16) == pytest.approx(0.5, rel=1e-6)


def test_leaf_on_grid() -> None:
    masses = grid_masses(histogram(SQUARE, 1, [3, 1]), cells=3)
    assert masses == pytest.approx(np.array([[0.5] * 3, [1 / 3] * 3, [1 / 6] * 3]) / 3, rel=1e-12)


def test_points_on_upper_edge() -> None:
    assert grid_masses([(1.0, 1.0)], domain=SQUARE, cells=4)[3, 3] == 1


def test_relative_errors() -> None:
    generator = histogram(Interval(0, 1), 1, [3, 1])
    records = np.concatenate([np.full(999, 0.25), [0.75]])
    errors = range_errors(generator, records, [(0, 0.5), (0.5, 1), (0.9, 1)])
    assert errors == pytest.approx([0.249 / 0.999, 0.249 / 0.001, 0.05 / 0.001], rel=1e-9)


@pytest.mark.parametrize(
    ("domain", "records", "region", "share"),
    [
        (Integers(0, 9), [1, 2, 3, 4], (2, 3), 0.5),
        (IPv4(), [1, 2**31, 2**31 + 5, 2**32 - 1], "128.0.0.0/2", 0.5),
        (LONG, [(1, 0), (1, 200), (600, 0), (600, 299)], [(0, 350), None], 0.5),
    ],
)
def test_share_of_records_in_region(domain: Domain, records: Any, region: Any, share: float) -> None:
    real = np.asarray(records)
    everything = {Integers: (0, 9), IPv4: "0.0.0.0/0", Box: [None, None]}[type(domain)]
    errors = range_errors(real, real, [region, everything], domain=domain)
    assert errors.tolist() == [0, 0]
    flat = histogram(domain, 0, [1])
    assert range_errors(flat, real, [region])[0] == pytest.approx(
        abs(flat.mass(region).value - share) / share, rel=1e-9
    )


@pytest.mark.parametrize(
    "domain", [Interval(2, 5), Interval(1, 1024, scale="log"), Integers(-9, 90), IPv4(), SQUARE, LONG], ids=repr
)
def test_random_regions(domain: Domain) -> None:
    flat = histogram(domain, 0, [1])
    regions = random_regions(domain, 200, rng=3)
    masses = np.array([flat.mass(region).value for region in regions])
    assert (masses >= 0).all()
    assert (masses <= 1).all()
    assert np.unique(masses).size > 10
    assert random_regions(domain, 200, rng=3) == regions


class Unordered(Interval):
    kind = "unordered"
    ordered = False


def test_random_regions_of_unordered_domain() -> None:
    with pytest.raises(DomainError, match="ordered domain"):
        random_regions(Unordered(0, 1), 3)


@pytest.mark.parametrize("distance", [wasserstein, tree_wasserstein, grid_wasserstein])
def test_records_without_domain(distance: Any) -> None:
    with pytest.raises(QueryError, match="domain="):
        distance([1.0], [2.0])


@pytest.mark.parametrize("distance", [wasserstein, tree_wasserstein])
def test_different_domains(distance: Any) -> None:
    one, other = histogram(Interval(0, 1), 0, [1]), histogram(Interval(0, 2), 0, [1])
    with pytest.raises(DomainError, match="one domain"):
        distance(one, other)
    with pytest.raises(DomainError, match="one domain"):
        distance(one, [0.5], domain=Interval(0, 2))


@pytest.mark.parametrize("records", [[], [3.0], [float("nan")]])
def test_tree_distance_of_records_out_of_domain(records: Any) -> None:
    with pytest.raises(RecordsError, match="every record inside the domain"):
        tree_wasserstein(histogram(Interval(0, 1), 0, [1]), records)


@pytest.mark.parametrize("depth", [-1, 1000, 2.0, True])
def test_wrong_depth(depth: Any) -> None:
    with pytest.raises(QueryError, match="depth between"):
        tree_wasserstein([0.1], [0.2], domain=Interval(0, 1), depth=depth)


@pytest.mark.parametrize("domain", [Interval(0, 1), Box([(0, 1)] * 3)], ids=repr)
def test_grid_of_other_domains(domain: Domain) -> None:
    with pytest.raises(DomainError, match="two sides"):
        grid_wasserstein(histogram(domain, 0, [1]), histogram(domain, 0, [1]))


@pytest.mark.parametrize("cells", [1, 2000, 9.0, True])
def test_wrong_grid(cells: Any) -> None:
    with pytest.raises(QueryError, match="cells along a side"):
        grid_wasserstein([(0, 0)], [(1, 1)], domain=SQUARE, cells=cells)


def test_missing_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(QueryError, match=r"privhp\[metrics\]"):
        grid_wasserstein([(0, 0)], [(1, 1)], domain=SQUARE)

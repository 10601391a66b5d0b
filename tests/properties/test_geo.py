import math

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from numpy.typing import NDArray

from privhp import DomainError, Geo, check_domain
from privhp.core.allocation import Allocation

RADIUS = 6371.0088


@st.composite
def sides(draw: st.DrawFn, limit: int) -> tuple[float, float]:
    """Two bounds: random, extreme, or close together."""
    one = draw(st.one_of(st.floats(-limit, limit), st.sampled_from([-limit, 0, limit, math.nextafter(limit, 0)])))
    steps = draw(st.integers(-(2**12), 2**12))
    other = draw(st.one_of(st.floats(-limit, limit), st.sampled_from([-limit, limit, one + steps * math.ulp(one)])))
    return one, min(max(other, -limit), limit)


@st.composite
def geos(draw: st.DrawFn) -> Geo | None:
    """Random bounds, some across the antimeridian; None if they are refused."""
    (west, east), (south, north) = draw(sides(180)), sorted(draw(sides(90)))
    try:
        return Geo(west, south, east, north)
    except DomainError:
        apart = (east - west) % 360 > 1e-11 and (west - east) % 360 > 1e-11
        assert not apart or north - south < 1e-11
        return None


@given(geos())
def test_laws(domain: Geo | None) -> None:
    if domain is not None:
        check_domain(domain, cells=5, awkward=[(domain.west, domain.south), (domain.east, domain.north)])


@given(st.data(), geos())
def test_diameter(data: st.DataObject, domain: Geo | None) -> None:
    if domain is None:
        return
    level = data.draw(st.integers(0, min(domain.depth, 40)))
    seed = data.draw(st.integers(0, 2**32))
    code = data.draw(st.integers(0, 2**level - 1))
    one = np.array([code], dtype=np.uint64), np.array([level]), np.array([40])
    points = domain.sample_allocation(Allocation(*one), balanced=True, rng=np.random.default_rng(seed))
    assert distances(points).max() <= domain.diameter(level) * (1 + 1e-6) + 1e-9


def distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance between each two points, by the haversine formula."""
    lon, lat = np.radians(points.T)
    across = np.cos(lat)[:, None] * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    haversine = np.sin((lat[:, None] - lat) / 2) ** 2 + across
    angles: NDArray[np.float64] = 2 * RADIUS * np.arcsin(np.sqrt(np.minimum(haversine, 1)))
    return angles


@given(st.data(), geos(), sides(180), sides(90))
def test_overlaps_of_partition_of_globe(
    data: st.DataObject, domain: Geo | None, meridians: tuple[float, float], parallels: tuple[float, float]
) -> None:
    if domain is None or meridians[0] % 360 == meridians[1] % 360:
        return
    level = data.draw(st.integers(0, min(domain.depth, 20)))
    codes = np.array(data.draw(st.lists(st.integers(0, 2**level - 1), min_size=1, max_size=5)), dtype=np.uint64)
    west, east = meridians
    south, north = sorted(parallels)
    total = np.zeros(codes.shape)
    for across in ((west, east), (east, west)):
        for up in ((None, south), (south, north), (north, None)):
            share = domain.overlap((across[0], up[0], across[1], up[1]), codes, level=level)
            assert (share >= 0).all()
            total += share
    assert np.allclose(total, 1, rtol=0, atol=1e-6)

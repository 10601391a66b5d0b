"""`Geo` with a step, against a list of all its points."""

from decimal import Decimal
from itertools import product
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings
from numpy.typing import NDArray

from privhp import Geo, check_domain
from privhp.core.allocation import Allocation
from privhp.core.cells import OUTSIDE

RADIUS = 6371.0088


@st.composite
def small_geos(draw: st.DrawFn) -> tuple[Geo, list[Decimal], list[Decimal]]:
    """A domain of up to 20 longitudes, some across the antimeridian, and up to 20 latitudes, some to the poles."""
    step = draw(st.sampled_from([Decimal("0.1"), Decimal("0.0001"), Decimal("2.5"), Decimal(7)]))
    width, height = draw(st.integers(1, 19)), draw(st.integers(1, 19))
    west = draw(st.sampled_from([Decimal(-180), Decimal("-0.03"), Decimal("170.5"), Decimal(180) - step]))
    south = draw(st.sampled_from([Decimal(-90), Decimal("0.05"), 90 - height * step, -3 * step]))
    if south + height * step > 90:
        south = 90 - height * step
    longitudes = [west + k * step for k in range(width + 1)]
    longitudes = [own - 360 if own > 180 or (own == 180 and k < width) else own for k, own in enumerate(longitudes)]
    latitudes = [south + k * step for k in range(height + 1)]
    ends = map(float, (longitudes[0], latitudes[0], longitudes[-1], latitudes[-1]))
    return Geo(*ends, step=str(step)), longitudes, latitudes


def weights(latitudes: list[Decimal]) -> NDArray[np.float64]:
    """Share of the area of each value's part of the latitudes."""
    half = (latitudes[1] - latitudes[0]) / 2
    south, north = max(latitudes[0] - half, Decimal(-90)), min(latitudes[-1] + half, Decimal(90))
    height = (north - south) / len(latitudes)
    middles = [south + (k + Decimal("0.5")) * height for k in range(len(latitudes))]
    areas = np.sin(np.radians([float(90 - abs(middle)) for middle in middles]))  # times the same factor
    return areas / areas.sum()


def points_of(longitudes: list[Decimal], latitudes: list[Decimal]) -> NDArray[np.float64]:
    return np.array([(float(lon), float(lat)) for lon, lat in product(longitudes, latitudes)])


@given(small_geos())
@settings(max_examples=30)
def test_laws(own: tuple[Geo, Any, Any]) -> None:
    check_domain(own[0], cells=10)


@given(st.data(), small_geos())
def test_every_point_has_its_own_cell(data: st.DataObject, own: tuple[Geo, list[Decimal], list[Decimal]]) -> None:
    domain, longitudes, latitudes = own
    points = points_of(longitudes, latitudes)
    codes = domain.encode(points, level=domain.depth)
    assert len(set(codes.tolist()) - {OUTSIDE}) == len(points)
    drawn = domain.decode(codes, level=domain.depth, rng=np.random.default_rng(0))
    turned = np.where(points >= [180, 91], points - [360, 0], points)
    assert drawn.tolist() == turned.tolist()
    step = float(domain.step or 0)
    moved = points + (np.array(data.draw(st.tuples(st.floats(-0.49, 0.49), st.floats(-0.49, 0.49)))) * step)
    assert (domain.encode(moved, level=domain.depth) == codes).all()
    moved[:, 0] += np.where(points[:, 0] > 0, -360, 360)
    assert (domain.encode(moved, level=domain.depth) == codes).all()


@given(st.data(), small_geos())
def test_measure_and_overlap(data: st.DataObject, own: tuple[Geo, list[Decimal], list[Decimal]]) -> None:
    domain, longitudes, latitudes = own
    level = data.draw(st.integers(0, domain.depth))
    points = points_of(longitudes, latitudes)
    mass = np.tile(weights(latitudes) / len(longitudes), len(longitudes))
    codes = domain.encode(points, level=level)
    first, last = sorted([data.draw(st.integers(0, len(latitudes) - 1)), data.draw(st.integers(0, len(latitudes) - 1))])
    begin, end = data.draw(st.integers(0, len(longitudes) - 1)), data.draw(st.integers(0, len(longitudes) - 1))
    begin, end = min(begin, end), max(begin, end)
    region = tuple(map(float, (longitudes[begin], latitudes[first], longitudes[end], latitudes[last])))
    column, row = np.divmod(np.arange(len(points)), len(latitudes))
    inside = (column >= begin) & (column <= end) & (row >= first) & (row <= last)
    for code in np.unique(codes):
        here = np.array([code])
        measure = mass[codes == code].sum()
        assert np.isclose(domain.measure(here, level=level)[0], measure, rtol=1e-6, atol=1e-12)
        share = mass[(codes == code) & inside].sum() / measure
        assert np.isclose(domain.overlap(region, here, level=level)[0], share, rtol=1e-6, atol=1e-9)
        if share:
            drawn = domain.decode_within(region, np.repeat(here, 10), level=level, rng=np.random.default_rng(0))
            found = domain.encode(drawn, level=domain.depth)
            assert np.isin(found, domain.encode(points[(codes == code) & inside], level=domain.depth)).all()


def test_samples_follow_the_area() -> None:
    latitudes = [Decimal(10 * k) for k in range(-9, 7)]
    domain = Geo(0, -90, 30, 60, step="10")
    root = Allocation(np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([200_000]))
    for balanced in (True, False):
        points = domain.sample_allocation(root, balanced=balanced, rng=np.random.default_rng(1))
        shares = [np.mean(points[:, 1] == float(latitude)) for latitude in latitudes]
        assert np.abs(shares / weights(latitudes) - 1).max() < 0.05
        assert np.allclose(np.unique(points[:, 0], return_counts=True)[1] / len(points), 0.25, atol=0.005)


@given(st.data(), small_geos())
def test_diameter(data: st.DataObject, own: tuple[Geo, list[Decimal], list[Decimal]]) -> None:
    domain, longitudes, latitudes = own
    level = data.draw(st.integers(0, domain.depth))
    points = points_of(longitudes, latitudes)
    codes = domain.encode(points, level=level)
    widest = max(largest_distance(points[codes == code]) for code in np.unique(codes))
    assert widest <= domain.diameter(level) * (1 + 1e-9) + 1e-9
    assert widest >= 0.9 * domain.diameter(level) - 1e-9


def largest_distance(points: NDArray[np.float64]) -> float:
    """Largest distance of two points in kilometres, from the chords."""
    lon, lat = np.radians(points.T)
    places = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    chords = np.linalg.norm(places[:, None] - places[None], axis=2)
    return float(2 * RADIUS * np.arcsin(np.minimum(chords.max() / 2, 1)))

"""Geo: cells, areas and distances against direct computations, the antimeridian and the poles."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from geo_domains import DOMAINS, FIJI, UK, all_cells
from privhp import Domain, DomainError, Geo, RecordsError, check_domain
from privhp.core.allocation import Allocation
from privhp.core.cells import OUTSIDE
from silent import assert_silent
from strange_values import SIGNALLING_NAN

ALPHA = 1e-9
SAMPLES = 100_000
RADIUS = 6371.0088


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_laws(domain: Geo) -> None:
    corners = itertools.product((domain.west, domain.east, 180.0, 190.0, -540.0), (domain.south, domain.north, 90.0))
    check_domain(domain, awkward=[*corners, (0, 0), (0, None), ("0", "0"), (math.nan, 0), (math.inf, -math.inf), (0,)])


BAD_SPECS: list[tuple[dict[str, Any], str]] = [
    ({"west": "9 W"}, "a number for west"),
    ({"south": None}, "a number for south"),
    ({"east": True}, "a number for east"),
    ({"north": [90]}, "a number for north"),
    ({"west": math.nan}, "a finite number for west"),
    ({"north": math.inf}, "a finite number for north"),
    ({"west": -181}, "west between -180 and 180 degrees, got -181.0"),
    ({"east": 190}, "east between -180 and 180 degrees, got 190.0"),
    ({"south": -90.5}, "south between -90 and 90 degrees, got -90.5"),
    ({"north": 180}, "north between -90 and 90 degrees, got 180.0"),
    ({"south": 5, "north": 5}, "south below north, got 5.0 and 5.0"),
    ({"south": 61, "north": 49.8}, "south below north, got 61.0 and 49.8"),
    ({"west": 3, "east": 3}, "west and east to differ, got 3.0 and 3.0"),
    ({"west": 180, "east": -180}, "west and east to differ"),
    ({"west": 1, "east": 1 + 2**-50}, "the longitudes, 1.0 and 1.0000000000000009, are too close"),
    ({"south": 1, "north": 1 + 2**-50}, "the latitudes, 1.0 and 1.0000000000000009, are too close"),
    ({"lat": 3}, "'lat' unknown"),
]


@pytest.mark.parametrize(("parameters", "hint"), BAD_SPECS, ids=[hint for _, hint in BAD_SPECS])
def test_wrong_bounds(parameters: dict[str, Any], hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec({"kind": "geo", **parameters})
    message = str(refusal.value)
    assert hint in message
    assert len(message.splitlines()) == 1
    assert len(message) < 200


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_json_and_repr(domain: Geo) -> None:
    assert Domain.from_spec(json.loads(json.dumps(domain.spec()))) == domain
    assert eval(repr(domain), {"Geo": Geo}) == domain


# Places and their cells


def cells_of(domain: Geo, records: Any, level: int = 12) -> list[int | None]:
    return [None if code == OUTSIDE else int(code) for code in domain.encode(records, level=level)]


@pytest.mark.parametrize("domain", [domain for domain in DOMAINS if domain.diameter(0) > 1], ids=repr)
def test_equivalent_longitudes(domain: Geo) -> None:
    points = domain.decode(np.zeros(200, dtype=np.uint64), level=0, rng=np.random.default_rng(1))
    eastward = points + np.where(points < 0, [360.0, 0.0], 0.0)
    mixed = np.where(np.arange(200)[:, None] % 2, points, eastward)
    expected = domain.encode(points, level=40)
    assert OUTSIDE not in expected
    for batch in (eastward, mixed, mixed.tolist()):
        assert np.array_equal(domain.encode(batch, level=40), expected)


def test_antimeridian() -> None:
    for domain in (Geo(), FIJI, Geo(150, -50, 180, -30), Geo(-180, -50, -150, -30)):
        east, west = cells_of(domain, [(180.0, -40.0), (-180.0, -40.0)], 30)
        assert east is not None
        assert east == west
    assert cells_of(FIJI, [(170, -40), (190, -40), (-170, -40), (-170.0 + 1e-9, -40), (169.999, -40), (0, -40)], 2) == [
        2,
        3,
        3,
        None,
        None,
        None,
    ]


def test_points_out_of_bounds() -> None:
    nowhere = [
        (0, 90.0000001),
        (0, -91),
        (541, 0),
        (-541, 0),
        (9999, 0),
        (math.inf, 0),
        (0, -math.inf),
        (math.nan, 0),
        (0, math.nan),
        (0,),
        (0, 0, 0),
        None,
        "0 0",
    ]
    assert cells_of(Geo(), nowhere) == [None] * len(nowhere)
    assert cells_of(UK, [(2.0000001, 55), (-9.0000001, 55), (0, 49.7999999), (0, 61.0000001), (0, 90)]) == [None] * 5


def test_arbitrary_floats() -> None:
    odd = np.array([SIGNALLING_NAN, np.nan, np.inf, -np.inf, 5e-324, -0.0, 1.7e308, 0.5])
    float16 = np.arange(2**16, dtype=np.uint16).view(np.float16).reshape(-1, 2)
    huge = np.full((2, 2), np.longdouble("1e4000"))
    for domain, batch in itertools.product(DOMAINS, (np.stack([odd, np.roll(odd, 1)], axis=1), float16, huge)):
        with assert_silent():
            codes = domain.encode(batch, level=9)
        assert ((codes < 2**9) | (codes == OUTSIDE)).all()


@pytest.mark.parametrize("level", [0, 1, 2, 7, 63])
def test_cells_of_bounds_and_poles(level: int) -> None:
    last = 2**level - 1
    assert cells_of(UK, [(-9, 49.8), (2, 61), (2 - 1e-15, 61 - 1e-14)], level) == [0, last, last]
    assert cells_of(Geo(), [(-180, -90), (math.nextafter(180, 0), 90)], level) == [0, last]
    assert None not in cells_of(Geo(), [(lon, lat) for lon in (-180, -77.3, 0, 180, 360) for lat in (-90, 90)], level)


def test_forms_of_records() -> None:
    lon, lat = np.array([-0.1, 1.25, -8.0]), np.array([51.5, 52.0, 60.0])
    expected = UK.encode(np.stack([lon, lat], axis=1), level=30).tolist()
    assert OUTSIDE not in expected
    assert UK.encode(list(zip(lon, lat, strict=True)), level=30).tolist() == expected
    singles = np.stack([lon, lat], axis=1).astype(np.float32)
    assert np.array_equal(UK.encode(singles, level=30), UK.encode(singles.astype(np.float64), level=30))
    for wrong in (np.zeros(9), np.zeros((9, 3)), np.zeros((9, 2), dtype=complex), (1.0, 2.0)[0]):
        with pytest.raises(RecordsError):
            UK.encode(wrong, level=3)


def rectangle(domain: Geo, level: int, code: int) -> tuple[float, float, float, float]:
    """A cell as (west, south, east, north), computed by repeated splits; east is above 180 beyond the antimeridian."""
    west, south, north = domain.west, domain.south, domain.north
    east = domain.east if domain.east > west else domain.east + 360
    mean = integrate.quad(lambda lat: math.cos(math.radians(lat)), south, north)[0] / (north - south)
    for step in f"{code:0{level}b}"[:level]:
        if (east - west) * mean > north - south:
            west, east = ((west + east) / 2, east) if step == "1" else (west, (west + east) / 2)
        else:
            south, north = ((south + north) / 2, north) if step == "1" else (south, (south + north) / 2)
    return west, south, east, north


@pytest.mark.parametrize("domain", DOMAINS[:5] + DOMAINS[9:10], ids=repr)
def test_split_of_longer_side(domain: Geo) -> None:
    level, rng = 9, np.random.default_rng(0)
    points = domain.decode(all_cells(level), level=level, rng=rng)
    for code, (lon, lat) in enumerate(points.tolist()):
        west, south, east, north = rectangle(domain, level, code)
        assert west <= lon <= east or west <= lon + 360 <= east
        assert south <= lat <= north


@pytest.mark.parametrize(
    ("domain", "squareness"),
    [(UK, 2.11), (Geo(-74.3, 40.4, -73.6, 41), 2.0), (FIJI, 2.0), (Geo(-125, 24, -66, 50), 2.5)],
)
def test_squareness_of_cells(domain: Geo, squareness: float) -> None:
    """Ratio of the longer to the shorter side; splitting squares gives 2."""
    for level in range(4, 14):
        for code in (0, 2**level // 3, 2**level - 1):
            west, south, east, north = rectangle(domain, level, code)
            ratio = (east - west) * math.cos(math.radians((south + north) / 2)) / (north - south)
            assert 1 / squareness < ratio < squareness


# Areas


@pytest.mark.parametrize("domain", DOMAINS[:5], ids=repr)
@pytest.mark.parametrize("level", [0, 1, 4, 7])
def test_measure_is_area(domain: Geo, level: int) -> None:
    def area(west: float, south: float, east: float, north: float) -> float:
        over_latitudes = integrate.quad(lambda colatitude: math.sin(math.radians(colatitude)), 90 - north, 90 - south)
        return (east - west) * over_latitudes[0]

    total = area(*rectangle(domain, 0, 0))
    expected = [area(*rectangle(domain, level, code)) / total for code in range(2**level)]
    assert domain.measure(all_cells(level), level=level) == pytest.approx(expected, rel=1e-7)


def test_measure_at_poles() -> None:
    """The cap within an angle a of a pole has the share 2 sin(a/2)**2 of the hemisphere; a goes down to 8 mm."""
    for level in (20, 40, 62):
        bits = level // 2
        angle = math.pi / 2**bits
        expected = math.sin(angle / 2) ** 2 / 2**bits
        ends = Geo().encode([(-180, -90), (-180, 90)], level=level)
        assert Geo().measure(ends, level=level) == pytest.approx([expected] * 2, rel=1e-12)


def test_measure_of_small_cap() -> None:
    """Near the pole areas are those of a flat disc: sectors and rings."""
    cap = Geo(-180, -90, 180, -89.999999)
    inner, outer = cap.encode([(-180, -90), (-180, -89.999999)], level=5)
    assert cap.measure(np.array([inner, outer]), level=5) == pytest.approx([1 / 128, 7 / 128], rel=1e-9)


def area_shares(domain: Geo, level: int, code: int, points: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Relative position of points in their cell from west to east, and share of its area to the south."""
    west, south, east, north = rectangle(domain, level, code)
    heights = [1 - np.sin(np.radians(lat)) for lat in (south, points[:, 1], north)]
    return [(points[:, 0] - west) % 360 / (east - west), (heights[0] - heights[1]) / (heights[0] - heights[2])]


def uniformity(shares: NDArray[np.float64]) -> float:
    """p-value of a chi-squared test of uniformity on [0, 1) with 100 bins."""
    return float(stats.chisquare(np.bincount(np.minimum(shares * 100, 99).astype(np.int64), minlength=100)).pvalue)


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize(
    ("domain", "level", "code"),
    [(Geo(), 0, 0), (Geo(), 5, 31), (Geo(), 4, 0), (UK, 1, 1), (FIJI, 3, 6), (Geo(-180, 60, 180, 90), 3, 1)],
    ids=repr,
)
def test_uniform_draws(domain: Geo, level: int, code: int, times: int) -> None:
    cells, counts = np.full(SAMPLES // times, code, dtype=np.uint64), np.full(SAMPLES // times, times)
    levels, rng = np.full(cells.shape, level), np.random.default_rng(5)
    records = domain.sample_allocation(Allocation(cells, levels, counts), balanced=times > 1, rng=rng)
    for shares in area_shares(domain, level, code, records):
        assert uniformity(shares) > ALPHA
        assert uniformity(shares**0.9) < ALPHA
        assert uniformity(shares**1.1) < ALPHA


def test_uniform_draws_at_pole() -> None:
    """Draws in the polar cells of level 40, which are 19 m high."""
    code = Geo().encode([(-180, 90)], level=40)[0]
    points = Geo().decode(np.full(SAMPLES, code), level=40, rng=np.random.default_rng(3))
    shares = ((90 - points[:, 1]) / (180 / 2**20)) ** 2  # a flat disc
    assert uniformity(shares) > ALPHA
    assert uniformity(shares**0.9) < ALPHA
    assert uniformity(shares**1.1) < ALPHA


@pytest.mark.parametrize("domain", [Geo(), UK, FIJI], ids=repr)
def test_balanced_sample(domain: Geo) -> None:
    one = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([1000])
    points = domain.sample_allocation(Allocation(*one), balanced=True, rng=np.random.default_rng(1))
    for shares, slack in zip(area_shares(domain, 0, 0, points), (1, 25), strict=True):
        tenths = np.bincount(np.minimum(shares * 10, 9).astype(np.int64), minlength=10)
        assert np.abs(tenths - 100).max() <= slack


# Distances


def angles(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angle between each two points, from their chord."""
    lon, lat = np.radians(points.T)
    points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    chords = np.linalg.norm(points[:, None] - points[None], axis=2)
    return 2 * np.arcsin(np.minimum(chords / 2, 1))


@pytest.mark.parametrize("domain", [*DOMAINS[:5], Geo(-30, -80, 100, 85), Geo(0, 30, 170, 80)], ids=repr)
@pytest.mark.parametrize("level", [0, 1, 2, 3, 4, 6, 8])
def test_diameter(domain: Geo, level: int) -> None:
    largest = 0.0
    for code in range(2**level):
        west, south, east, north = rectangle(domain, level, code)
        steps = np.linspace(0, 1, 9 if level > 4 else 33)
        lon, lat = np.meshgrid(west + steps * (east - west), south + steps * (north - south))
        border = (np.minimum(lon - west, east - lon) < 1e-9) | (np.minimum(lat - south, north - lat) < 1e-9)
        largest = max(largest, angles(np.stack([lon[border], lat[border]], axis=1)).max() * RADIUS)
    assert largest <= domain.diameter(level) * (1 + 1e-9)
    assert largest >= domain.diameter(level) * 0.995


def test_known_distances() -> None:
    assert Geo().diameter(0) == pytest.approx(math.pi * RADIUS)
    assert Geo(0, 0, 1e-6, 1e-6).diameter(0) == pytest.approx(math.sqrt(2) * 1e-6 * math.pi / 180 * RADIUS)
    assert Geo(-180, 89, 180, 90).diameter(0) == pytest.approx(2 * math.pi / 180 * RADIUS)  # over the pole
    assert Geo(179, 0, -179, 1e-9).diameter(0) == pytest.approx(2 * math.pi / 180 * RADIUS)

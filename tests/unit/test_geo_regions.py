"""Geo: shares of regions, and generators of places."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import privhp
from geo_domains import DOMAINS, FIJI, UK, all_cells
from privhp import DomainError, Geo, Plan, QueryError, Summary
from privhp.core.allocation import Allocation
from real_data import generate_crimes, read_columns
from releases import histogram

CRIMES = "geo_uk_street_crime_2018_10_to_2019_02.parquet"


def test_overlap_is_share_of_area() -> None:
    rng = np.random.default_rng(2)
    for domain in (Geo(), UK, FIJI, Geo(10, 0, -10, 80)):
        for region in [
            (-20, -45, 30, 55),
            (175, -40, -178, 60),
            (-5, 51, 1, None),
            (100, None, -100, None),
            (0, 0, 0, 9),
        ]:
            codes, levels = all_cells(5), np.full(32, 5)
            allocation = Allocation(codes, levels, np.full(32, 4000))
            points = domain.sample_allocation(allocation, balanced=True, rng=rng).reshape(32, 4000, 2)
            west, south, east, north = region
            across = (points[..., 0] - west) % 360 <= (east - west) % 360
            inside = across & (points[..., 1] >= (south or -90)) & (points[..., 1] <= (north or 90))
            assert np.abs(domain.overlap(region, codes, level=5) - inside.mean(axis=1)).max() < 0.03


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_overlaps_of_adjoining_regions(domain: Geo) -> None:
    for level in (0, 3, 9, domain.depth):
        codes = all_cells(level) if level < 10 else np.array([0, 2**level // 3, 2**level - 1], dtype=np.uint64)
        points = domain.decode(np.zeros(9, dtype=np.uint64), level=0, rng=np.random.default_rng(0))
        for region in [(None,) * 4, (-180, -90, 180, 90), (domain.west, domain.south, domain.east, domain.north)]:
            assert np.array_equal(domain.overlap(region, codes, level=level), np.ones(codes.shape))
        for lon, lat in points.tolist():
            opposite = lon + 180 if lon < 0 else lon - 180
            across = (lon, None, opposite, None), (opposite, None, lon, None)
            for one, other in (across, ((None, None, None, lat), (None, lat, None, None))):
                both = domain.overlap(one, codes, level=level) + domain.overlap(other, codes, level=level)
                assert np.allclose(both, 1, rtol=0, atol=1e-9)


def test_region_outside_domain() -> None:
    for region in [(3, 50, 8, 55), (170, 0, -170, 90), (-9, 0, 2, 49), (3, None, -10, None), (-9, 62, 2, None)]:
        assert UK.overlap(region, all_cells(3), level=3).tolist() == [0] * 8


@pytest.mark.parametrize(
    "region",
    [
        (1, 2, 3),
        None,
        "uk",
        (0, 5, 1, 4),
        (0, 0, 200, 1),
        (0, -91, 1, 1),
        ("a", 0, 1, 1),
        (math.nan, 0, 1, 1),
        (None, 0, 1, 1),
        (0, 0, None, 1),
    ],
)
def test_wrong_region(region: Any) -> None:
    with pytest.raises(DomainError):
        UK.overlap(region, all_cells(0), level=0)


def test_mass_across_antimeridian() -> None:
    generator = histogram(Geo(), 2, [1, 0, 3, 0])  # four quarters: south-west, north-west, south-east, north-east
    assert generator.mass((-180, -90, 0, 90)).value == pytest.approx(0.25)
    assert generator.mass((90, -90, -90, 90)).value == pytest.approx(0.5)
    assert generator.mass((170, -90, -170, 0)).value == pytest.approx(3 / 4 / 18 + 1 / 4 / 18)
    assert generator.mass((None, -30, None, 90)).value == pytest.approx(
        0.5
    )  # half of a hemisphere lies below 30 degrees
    with pytest.raises(DomainError, match="has no order"):
        generator.cdf([0.0])


def test_saved_generator(tmp_path: Path) -> None:
    summary = Summary(Plan.paper(FIJI, epsilon=100, expected_records=1000, hot_cells=4))
    summary.update(np.tile([[179.5, -40.0], [-179.5, -40.0]], (500, 1)))
    privhp.save(summary.release(), tmp_path / "points.privhp")
    generator = privhp.load(tmp_path / "points.privhp")
    assert generator.plan.domain == FIJI
    points = generator.sample(1000, rng=0)
    assert points.shape == (1000, 2)
    assert points.dtype == np.float64
    near = np.abs(np.abs(points[:, 0]) - 179.5) < 0.5
    assert near.mean() > 0.9
    assert (points[:, 0] < 0).mean() == pytest.approx(0.5, abs=0.05)
    with pytest.raises(QueryError):
        generator.sample(10, out=np.empty(10))


@pytest.mark.parametrize("source", ["generated", "real"])
def test_street_crime_in_britain(source: str) -> None:
    table = generate_crimes() if source == "generated" else read_columns(CRIMES, ["lon", "lat"])
    points = np.stack([table["lon"].to_numpy(), table["lat"].to_numpy()], axis=1)
    domain = Geo(-8.7, 49.8, 2, 55.9)
    summary = Summary(Plan.paper(domain, epsilon=1, expected_records=len(points), hot_cells=256))
    summary.update(points)
    generator = summary.release()
    synthetic = generator.sample(len(points), rng=0)
    for region in [(-0.5, 51.3, 0.3, 51.7), (-2.4, 53.3, -2.0, 53.6), (-8.7, 49.8, -4, 52), (-1.7, 54.8, -1.4, 55.1)]:
        west, south, east, north = region

        def share(of: NDArray[np.float64]) -> float:
            return float(((of >= (west, south)) & (of <= (east, north))).all(axis=1).mean())  # noqa: B023 - called before the loop goes on

        assert generator.mass(region).value == pytest.approx(share(points), abs=0.01)
        assert share(synthetic) == pytest.approx(generator.mass(region).value, abs=0.001)

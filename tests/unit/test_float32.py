"""Numbers and points that are declared as float32."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from privhp import (
    Box,
    Domain,
    Generator,
    Geo,
    Integers,
    Interval,
    Plan,
    QueryError,
    Table,
    check_domain,
)
from privhp.core.allocation import Allocation
from privhp.core.cells import OUTSIDE
from privhp.io.sinks import write_sample
from privhp.release import Release

FLOATS32 = [
    Interval(0, 1, dtype="float32"),
    Interval(-9.1, 2.3, dtype="float32"),
    Interval(49.8, 61, dtype="float32", outside="clamp"),
    Interval(-3e38, 3e38, dtype="float32"),
    Interval(-1e-44, 1, dtype="float32"),
    Interval(0.1, 0.7, scale="log", dtype="float32"),
    Interval(2e-38, 3e38, scale="log", dtype="float32"),
    Interval(0, 1000, cuts=[6, 8, 11, 14, 18.1, 25, 40], dtype="float32"),
    Interval(-1e6, 1e6, cuts=[-10, 0, 0.1, 100], dtype="float32", outside="clamp"),
]


@pytest.mark.parametrize("domain", FLOATS32, ids=repr)
def test_cells_of_float32_numbers(domain):
    check_domain(domain)
    rng = np.random.default_rng(0)
    for level in range(domain.depth + 1):
        codes = np.concatenate([rng.integers(0, 2**level, 2000, dtype=np.uint64), [0, 2**level - 1]]).astype(np.uint64)
        for records in (
            domain.decode(codes, level=level, rng=rng),
            domain.sample_allocation(Allocation.one_each(codes, np.full(codes.shape, level)), balanced=True, rng=rng),
            domain.decode_within((None, None), codes, level=level, rng=rng),
        ):
            numbers = domain.to_output(records)
            assert numbers.dtype == np.float32
            assert np.array_equal(domain.encode(numbers, level=level), codes)


@given(low=st.floats(-1e3, 1e3), width=st.floats(0.1, 1e6), end=st.booleans())
def test_float32_bounds(low, width, end):
    domain = Interval(low, low + width, dtype="float32")
    bound = low + width if end else low
    assert OUTSIDE not in domain.encode([bound, float(np.float32(bound))], level=1)
    assert (
        domain.encode([np.nextafter(domain.high, np.inf), np.nextafter(domain.low, -np.inf)], level=1).tolist()
        == [OUTSIDE] * 2
    )


@given(low=st.floats(0, 0.99), width=st.floats(1e-6, 0.5), seed=st.integers(0, 99))
def test_float32_samples_of_region(low, width, seed):
    domain = Interval(0, 1, dtype="float32")
    plan = Plan.paper(domain, epsilon=1, expected_records=1e4, hot_cells=8)
    generator = Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))
    high = min(low + width, 1.0)
    numbers = generator.sample(200, where=(low, high), rng=seed)
    assert numbers.dtype == np.float32
    assert numbers.astype(float).min() >= low
    assert numbers.astype(float).max() <= high


def test_region_between_float32_numbers():
    domain = Interval(0, 1, dtype="float32")
    plan = Plan.paper(domain, epsilon=1, expected_records=1e4, hot_cells=8)
    generator = Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))
    region = (0.5 + 1e-9, 0.5 + 2e-9)
    assert generator.mass(region).value == 0
    with pytest.raises(QueryError, match="the region has mass 0"):
        generator.sample(10, where=region)


PLACES32 = [
    Box([(0, 1), (-5.1, 5.3)], dtype="float32"),
    Box([(1e6, 1e6 + 1e4)], dtype=np.float32, outside="clamp"),
    Geo(dtype="float32"),
    Geo(-9, 49.8, 2, 61, dtype="float32"),
    Geo(170.1, -20.3, -170.2, 10, dtype="float32"),  # across the antimeridian
    Geo(20, -90, 10, 90, dtype="float32"),
]


@pytest.mark.parametrize("domain", PLACES32, ids=repr)
def test_cells_of_float32_points(domain):
    check_domain(domain)
    assert Domain.from_spec(json.loads(json.dumps(domain.spec()))) == domain
    rng = np.random.default_rng(0)
    for level in range(domain.depth + 1):
        codes = np.concatenate([rng.integers(0, 2**level, 1000, dtype=np.uint64), [0, 2**level - 1]]).astype(np.uint64)
        points = domain.to_output(domain.decode(codes, level=level, rng=rng))
        assert points.dtype == np.float32
        assert np.array_equal(domain.encode(points, level=level), codes)
        if isinstance(domain, Geo):
            assert points[:, 0].min() >= -180
            assert points[:, 0].max() < 180


@given(corner=st.tuples(st.floats(-179, 178), st.floats(-89, 88)), size=st.floats(1e-4, 1), seed=st.integers(0, 99))
def test_float32_points_of_region(corner, size, seed):
    west, south = corner
    east, north = west + size, south + size
    for domain, region in (
        (Geo(dtype="float32"), (west, south, east, north)),
        (Box([(-180, 180), (-90, 90)], dtype="float32"), ((west, east), (south, north))),
    ):
        codes = np.zeros(100, dtype=np.uint64)
        points = domain.to_output(domain.decode_within(region, codes, level=0, rng=np.random.default_rng(seed)))
        lowest, highest = points.astype(float).min(axis=0), points.astype(float).max(axis=0)
        assert (lowest >= (west, south)).all()
        assert (highest <= (east, north)).all()


def test_float32_points_of_table(tmp_path):
    domain = Table({("lon", "lat"): Geo(-9, 49.8, 2, 61, dtype="float32"), "n": Integers(0, 9, dtype="int8")})
    plan = Plan.paper(domain, epsilon=1, expected_records=1e4, hot_cells=8)
    generator = Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))
    write_sample(generator, tmp_path / "a.parquet", rows=50)
    for table in (parquet.read_table(tmp_path / "a.parquet"), generator.sample(50, frame="pyarrow")):
        assert (table.schema.names, table.schema.types) == (
            ["lon", "lat", "n"],
            [pa.float32(), pa.float32(), pa.int8()],
        )

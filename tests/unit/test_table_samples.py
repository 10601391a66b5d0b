"""Samples and queries of tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp
from privhp import (
    Categories,
    DomainError,
    Generator,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Plan,
    QueryError,
    Summary,
    Table,
    Time,
)
from privhp.core.cells import OUTSIDE

SIZE = 20_000
DOMAIN = Table(
    {
        "trip distance": Interval(0, 200),
        ("lon", "lat"): Geo(-9, 49.8, 2, 61),
        "pickup": Time("2018-01-01", "2020-12-31"),
        "day": Nullable(Time("2018-01-01", "2020-12-31", unit="D")),
        "kind": Categories(["bus", "tram", "taxi"]),
        "delay": Nullable(Integers(-120, 1440)),
        "source": IPv4("10.0.0.0/8"),
        "target": Nullable(IPv6("2001:db8::/32")),
    },
    weights={"kind": 2, "delay": 2},
)
TYPES = {
    "trip distance": "f",
    "lon": "f",
    "lat": "f",
    "pickup": "M",
    "day": "M",
    "kind": "U",
    "delay": "i",
    "source": "u",
    "target": "U",
}


def example_records(size: int = SIZE) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "trip distance": rng.exponential(10, size),
        "lon": rng.uniform(-1, 1, size),
        "lat": rng.uniform(50, 52, size),
        "pickup": np.datetime64("2019-03-01", "s") + rng.integers(0, 86_400 * 300, size),
        "day": np.datetime64("2019-03-01", "D") + rng.integers(0, 300, size),
        "kind": np.array(["bus", "tram", "taxi"])[rng.choice(3, size, p=[0.6, 0.3, 0.1])],
        "delay": np.ma.MaskedArray(rng.integers(-20, 100, size), mask=rng.random(size) < 0.3),
        "source": rng.integers(10 << 24, 11 << 24, size),
        "target": ["2001:db8::1"] * size,
    }


@pytest.fixture(scope="module")
def generator() -> Generator:
    summary = Summary(Plan.paper(DOMAIN, epsilon=4, expected_records=SIZE, hot_cells=64))
    summary.update(example_records())
    return summary.release()


@pytest.mark.parametrize("method", ["balanced", "independent"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_columns_of_sample(generator: Generator, method: Any, shuffle: bool) -> None:
    columns = generator.sample(500, method=method, shuffle=shuffle, rng=1)
    assert {name: column.dtype.kind for name, column in columns.items()} == TYPES
    assert all(column.shape == (500,) for column in columns.values())
    masked = {name for name, column in columns.items() if isinstance(column, np.ma.MaskedArray)}
    assert masked == {"day", "delay", "target"}
    again = generator.sample(500, method=method, shuffle=shuffle, rng=1)
    assert all(np.array_equal(columns[name], again[name]) for name in columns)


@pytest.mark.parametrize("method", ["balanced", "independent"])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_records_are_in_leaves(generator: Generator, method: Any, size: int) -> None:
    columns = generator.sample(size, method=method, rng=2)
    leaves, depth = generator.leaves(), generator.plan.depth
    codes = DOMAIN.encode(columns, level=depth)
    assert not (codes == OUTSIDE).any()
    starts = leaves.codes << (depth - leaves.levels).astype(np.uint64)
    found = np.searchsorted(starts, codes, side="right") - 1
    assert (generator.probabilities[found] > 0).all()
    if method == "balanced":
        counts = np.bincount(found, minlength=leaves.codes.size)
        assert np.abs(counts - generator.probabilities * size).max() < 1 + 1e-6


def test_shuffled_records() -> None:
    """Both columns hold the half of the record, so a mixed record would show."""
    summary = Summary(Plan(Table(a=Integers(0, 1), b=Integers(0, 1)), epsilon=50, budgets={2: 50}, exact_depth=2))
    summary.update({"a": [0, 1] * 500, "b": [0, 1] * 500})
    columns = summary.release().sample(1000, rng=1)
    assert np.array_equal(columns["a"], columns["b"])
    assert 400 < columns["a"].sum() < 600
    assert 300 < (columns["a"][1:] != columns["a"][:-1]).sum() < 700


@pytest.mark.parametrize(
    ("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_round_trip_of_frame(generator: Generator, library: Any, kind: type) -> None:
    columns, frame = generator.sample(300, rng=5), generator.sample(300, rng=5, frame=library)
    assert isinstance(frame, kind)
    names = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert names == list(columns) == list(DOMAIN.names)
    depth = DOMAIN.depth
    assert np.array_equal(DOMAIN.encode(frame, level=depth), DOMAIN.encode(columns, level=depth))
    assert kind is pa.Table or str(frame["delay"].dtype) == "Int64"


def test_output_array(generator: Generator) -> None:
    out = np.zeros(100, dtype=DOMAIN.dtype)
    assert generator.sample(rng=4, out=out) is out
    columns = generator.sample(100, rng=4)
    assert all(np.array_equal(column, columns[name]) for name, column in DOMAIN.to_output(out).items())


def test_mass_of_columns(generator: Generator) -> None:
    assert generator.mass({}).value == pytest.approx(1)
    assert generator.mass({"kind": "bus"}).value == pytest.approx(0.6, abs=0.03)
    assert generator.mass({"kind": ["bus", "tram"]}).value == pytest.approx(0.9, abs=0.03)
    assert generator.mass({"delay": None}).value == pytest.approx(0.3, abs=0.03)
    assert generator.mass({"delay": (None, None), "kind": "bus"}).value == pytest.approx(0.7 * 0.6, abs=0.03)
    both = generator.mass({"trip distance": (0, 100), "kind": "tram"}).value
    assert both == generator.mass({"trip distance": (0, 100), "kind": "tram"}).value
    assert generator.mass({("lon", "lat"): (-9, 49.8, 2, 61)}).value == pytest.approx(1)
    masses = [
        generator.mass({"kind": kind, "delay": delay}).value
        for kind in ("bus", "tram", "taxi")
        for delay in (None, (None, None))
    ]
    assert sum(masses) == pytest.approx(1)


def test_wrong_query(generator: Generator) -> None:
    with pytest.raises(DomainError, match=r"expected a region of 'trip distance', .* got one of 'colour'"):
        generator.mass({"colour": "red"})
    with pytest.raises(QueryError, match='expected frame="pandas", "polars" or "pyarrow"'):
        generator.sample(3, frame="excel")  # type: ignore[arg-type]  # a wrong type is the test
    with pytest.raises(QueryError, match="frame= makes a new data frame and out= fills an array; leave out one"):
        generator.sample(frame="pandas", out=np.zeros(3, dtype=DOMAIN.dtype))
    plain = Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=100, hot_cells=2)).release()
    with pytest.raises(DomainError):
        plain.mass({"fare": (0, 1)})


def test_saved_release(generator: Generator, tmp_path: Path) -> None:
    privhp.save(generator, tmp_path / "trips.privhp")
    again = privhp.load(tmp_path / "trips.privhp")
    assert again.plan == generator.plan
    one, other = generator.sample(50, rng=1), again.sample(50, rng=1)
    assert all(np.array_equal(one[name], other[name]) for name in DOMAIN.names)

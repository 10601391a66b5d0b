"""Real data sets that are not part of the repository, and generated data of the same kind.

The folder is `shared/data` beside the repository, or PRIVHP_DATA. A test on a real data set is skipped if the file is
absent, and fails if PRIVHP_REQUIRE_DATA=1 is set. Each such test also runs on generated data, on every machine.
"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

DATA = Path(os.environ.get("PRIVHP_DATA", Path(__file__).parents[2] / "shared" / "data"))


def require_data(is_available: bool, name: str) -> None:
    """Skip the test without the data set, or fail it if the data is required."""
    if is_available:
        return
    if os.environ.get("PRIVHP_REQUIRE_DATA") == "1":
        pytest.fail(f"{name} is not in {DATA}, and PRIVHP_REQUIRE_DATA is set")
    pytest.skip(f"{name} is not in {DATA}; the same test runs on generated data")


def read_columns(name: str, columns: list[str]) -> pa.Table:
    """Columns of a Parquet file of the data folder."""
    require_data((DATA / name).exists(), name)
    return parquet.read_table(DATA / name, columns=columns)


def generate_trips(size: int = 200_000) -> pa.Table:
    """Taxi trips: times of three years, fares and distances that are skewed and correlated, zones; some are invalid."""
    rng = np.random.default_rng(1)
    distance = rng.lognormal(0.6, 0.9, size)
    fare = np.round(2.5 + 2.6 * distance + rng.exponential(2.0, size), 2)
    fare[rng.random(size) < 0.001] *= -1
    seconds = rng.integers(0, 3 * 365 * 86_400, size)
    return pa.table(
        {
            "pickup_time": np.datetime64("2018-01-01", "s") + seconds.astype("timedelta64[s]"),
            "fare_amount": fare,
            "trip_distance": distance,
            "pu_zone": np.minimum(1 + rng.geometric(0.01, size), 270),
        }
    )


def generate_flights(size: int = 200_000) -> pa.Table:
    """Flights of a year: dates, skewed delays in minutes, and distances of a few hundred routes."""
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "date": np.datetime64("2013-01-01", "D") + rng.integers(0, 365, size),
            "arr_delay": np.clip(np.round(rng.gamma(1.2, 35, size) - 45), -100, 1400).astype(np.int64),
            "distance": rng.integers(80, 2600, 300)[rng.integers(0, 300, size)],
        }
    )


def generate_crimes(size: int = 400_000) -> pa.Table:
    """Locations in Britain: cities of different size, and a background."""
    rng = np.random.default_rng(3)
    cities = np.array([(-0.1, 51.5), (-2.2, 53.45), (-1.55, 54.95), (-1.9, 52.5), (-4.1, 50.4)])
    city = rng.choice(len(cities), size, p=[0.4, 0.2, 0.1, 0.2, 0.1])
    points = rng.normal(cities[city], (0.15, 0.1))
    rural = rng.random(size) < 0.2
    points[rural] = rng.uniform((-5, 50), (1.5, 55.5), (rural.sum(), 2))
    return pa.table({"lon": points[:, 0], "lat": points[:, 1]})

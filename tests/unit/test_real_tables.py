"""Types and marginals of tables: taxi trips and flights, generated and real."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privhp import Integers, Interval, Nullable, Plan, Summary, Table, Time
from real_data import generate_flights, generate_trips, read_columns

SOURCES = pytest.mark.parametrize("source", ["generated", "real"])
TRIPS, FLIGHTS = "num_nyc_yellow_taxi_2018_2020.parquet", "table_nycflights13.parquet"


@SOURCES
def test_types_and_marginals_of_taxi_trips(source: str) -> None:
    columns = ["pickup_time", "fare_amount", "trip_distance", "pu_zone"]
    trips = generate_trips() if source == "generated" else read_columns(TRIPS, columns)
    table = Table(
        pickup_time=Time("2018-01-01", "2021-01-01"),
        fare_amount=Interval(0.5, 1000, scale="log"),
        trip_distance=Interval(0, 200),
        pu_zone=Integers(1, 265),
    )
    summary = Summary(Plan.paper(table, epsilon=1, expected_records=400_000, hot_cells=128))
    summary.update(trips, threads=2)
    generator = summary.release()
    made, real = generator.sample(50_000, rng=1, frame="pandas"), trips.to_pandas()
    assert list(made.columns) == list(real.columns)
    assert [kind.kind for kind in made.dtypes] == ["M", "f", "f", "i"]
    real = real[real.fare_amount.between(0.5, 1000) & real.trip_distance.between(0, 200) & real.pu_zone.between(1, 265)]
    assert abs(generator.total / len(real) - 1) < 0.01
    middle = pd.Timestamp("2018-01-01") + pd.Timedelta(seconds=2**26 - 1)  # the end of the first cell of level 1
    assert abs((made.pickup_time <= middle).mean() - (real.pickup_time <= middle).mean()) < 0.01
    assert abs((made.trip_distance < 25).mean() - (real.trip_distance < 25).mean()) < 0.01
    assert abs(generator.mass({"pu_zone": (1, 128)}).value - real.pu_zone.between(1, 128).mean()) < 0.01


@SOURCES
def test_dates_integers_and_nulls_of_flights(source: str) -> None:
    flights = generate_flights() if source == "generated" else read_columns(FLIGHTS, ["date", "arr_delay", "distance"])
    delays = flights["arr_delay"].to_numpy()
    unknown = flights["distance"].to_numpy() % 7 == 0
    flights = flights.set_column(1, "arr_delay", pa.array(delays, mask=unknown))
    table = Table(
        date=Time("2013-01-01", "2013-12-31", unit="D"),
        arr_delay=Nullable(Integers(-120, 1440)),
        distance=Integers(0, 5000),
        weights={"arr_delay": 4},
    )
    summary = Summary(Plan.paper(table, epsilon=1, expected_records=300_000, hot_cells=128))
    summary.update(flights)
    generator = summary.release()
    made = generator.sample(50_000, rng=1, frame="pyarrow")
    assert [str(field.type) for field in made.schema] == ["date32[day]", "int64", "int64"]
    assert abs(made["arr_delay"].null_count / made.num_rows - unknown.mean()) < 0.01
    assert abs(generator.mass({"arr_delay": None}).value - unknown.mean()) < 0.01
    early = ~unknown & (delays <= 7)  # the ends of cells: -120 + 128 - 1
    assert abs(generator.mass({"arr_delay": (None, 7)}).value - early.mean()) < 0.02
    first_half = flights["date"].to_numpy() <= np.datetime64("2013-09-13")  # 256 days
    assert abs(generator.mass({"date": (None, "2013-09-13")}).value - first_half.mean()) < 0.02

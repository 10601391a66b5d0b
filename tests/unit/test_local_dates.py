"""Times with a zone where days are counted: each is on the date that a clock beside it shows."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from privhp.core.cells import OUTSIDE
from privhp.domains.time_zones import local_times
from releases import exact_generator

DAYS = hp.Time("1899-12-01", "2030-12-31", unit="D")
FORMAT = "%Y-%m-%dT%H:%M:%S%z"
ZONES = ["America/New_York", "Pacific/Kiritimati", "Asia/Kathmandu", "America/Havana", "UTC"]


def times_in(zone: str) -> list[dt.datetime]:
    """Times of two years at odd hours, some near changes of the clock, and some before there were time zones."""
    own = ZoneInfo(zone)
    hours = [dt.datetime(2023, 11, 1, 0, 7, tzinfo=dt.UTC) + dt.timedelta(hours=7 * step) for step in range(2600)]
    early = [dt.datetime(1900, 1, 1, tzinfo=dt.UTC) + dt.timedelta(minutes=11 * step) for step in range(300)]
    return [time.astimezone(own) for time in hours + early]


def pandas_series(times: list[dt.datetime]) -> pd.Series:
    return pd.Series(pd.to_datetime([time.astimezone(dt.UTC) for time in times])).dt.tz_convert(times[0].tzinfo)


def arrow_array(times: list[dt.datetime]) -> pa.Array:
    return pa.array(times, pa.timestamp("us", tz=str(times[0].tzinfo)))


COLUMNS: dict[str, Callable[[list[dt.datetime]], Any]] = {
    "datetimes": list,
    "timestamps": lambda times: [pd.Timestamp(time) for time in times],
    "texts": lambda times: [time.isoformat() for time in times],
    "pandas": pandas_series,
    "nanoseconds": lambda times: pandas_series(times).astype(f"datetime64[ns, {times[0].tzinfo}]"),
    "index": lambda times: pd.DatetimeIndex(pandas_series(times)),
    "categorical": lambda times: pandas_series(times).astype("category"),
    "pandas of Arrow": lambda times: pandas_series(times).astype(pd.ArrowDtype(arrow_array(times).type)),
    "polars": lambda times: pl.from_arrow(arrow_array(times)),
    "Arrow": arrow_array,
    "chunks": lambda times: pa.chunked_array([arrow_array(times[:9]), arrow_array(times[9:])]),
    "dictionary": lambda times: arrow_array(times).dictionary_encode(),
    "clock": lambda times: np.array([time.replace(tzinfo=None) for time in times], dtype="M8[us]"),
}


def dates(codes: Any) -> list[dt.date]:
    return [dt.date(1899, 12, 1) + dt.timedelta(int(code)) for code in codes]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_date_is_local(column: Callable[[list[dt.datetime]], Any], zone: str) -> None:
    times = times_in(zone)
    expected = [time.date() for time in times]
    values = column(times)
    assert dates(DAYS.encode(values, level=DAYS.depth)) == expected
    nullable = hp.Table(x=hp.Nullable(DAYS)).encode({"x": values}, level=DAYS.depth + 1)
    assert dates(nullable - np.uint64(2**DAYS.depth)) == expected
    assert dates(DAYS.encode(DAYS.as_batch(values)[3:9], level=DAYS.depth)) == expected[3:9]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_formats_with_an_offset(zone: str) -> None:
    times = times_in(zone)[:600]
    for text in (FORMAT, "%d/%m/%Y %H:%M:%S %z", "%d %B %Y %H:%M %z", "%A %d %m %Y %z"):  # the last has no width
        domain = hp.Time("1899-12-01", "2030-12-31", unit="D", format=text)
        assert dates(domain.encode([time.strftime(text) for time in times], level=DAYS.depth)) == [
            time.date() for time in times
        ]


@pytest.mark.parametrize("kind", ["csv", "ndjson", "parquet"])
def test_files(kind: str, tmp_path: Path) -> None:
    times = times_in("America/New_York")[:800]
    path = tmp_path / f"seen.{kind}"
    if kind == "parquet":
        parquet.write_table(pa.table({"seen": arrow_array(times)}), path)
    elif kind == "csv":
        path.write_text("seen\n" + "\n".join(time.isoformat() for time in times))
    else:
        path.write_text("\n".join(json.dumps({"seen": time.isoformat()}) for time in times))
    generator = hp.fit(path, hp.Table(seen=DAYS), epsilon=1000, expected_records=800)
    for day in (dt.date(2023, 11, 5), dt.date(2024, 3, 10)):
        found = generator.mass({"seen": (day, day)}).value * generator.total
        assert found == pytest.approx(sum(time.date() == day for time in times), abs=0.5)


def test_ends_of_regions_are_local_dates() -> None:
    generator = exact_generator(hp.Time("2024-01-01", "2024-01-08", unit="D"), ["2024-01-03"] * 10)
    evening = dt.datetime(2024, 1, 3, 23, tzinfo=ZoneInfo("America/New_York"))
    assert generator.mass((evening, evening)).value == pytest.approx(1)
    assert generator.mass((evening.isoformat(), None)).value == pytest.approx(1)


def test_missing_and_far_times() -> None:
    values = np.array(["NaT", "-200000-01-01", "2024-01-01T03:00", "200000-01-01"], dtype="M8[s]")
    array = pa.array(values.view(np.int64), pa.int64()).view(pa.timestamp("s", tz="America/New_York"))
    codes = DAYS.encode(array, level=DAYS.depth)
    assert codes[[0, 1, 3]].tolist() == [int(OUTSIDE)] * 3
    assert dates(codes[2:3]) == [dt.date(2023, 12, 31)]
    ends = local_times(np.array([-(2**63), 2**63 - 1]).view("M8[s]"), "+02:00").astype("M8[Y]")
    assert ends[0] < np.datetime64("1900") < ends[1]


@pytest.mark.parametrize("index", [2, 127, -1, -128])
def test_dictionary_index_out_of_range(index: int) -> None:
    """Skips its own record, also where null is a value; no message names the index."""
    times = pa.array([0, 86_400], pa.timestamp("s", tz="America/New_York"))
    indices = pa.array([1, index, None, 0], pa.int8())
    damaged = pa.DictionaryArray.from_arrays(indices, times, safe=False)
    for domain, null in ((DAYS, int(OUTSIDE)), (hp.Nullable(DAYS), 0)):
        valid = domain.encode([dt.date(1970, 1, 1), dt.date(1969, 12, 31)], level=domain.depth).tolist()
        expected = [valid[0], int(OUTSIDE), null, valid[1]]
        assert domain.encode(damaged, level=domain.depth).tolist() == expected


def test_null_in_a_dictionary() -> None:
    times = pa.array([None, 86_400], pa.timestamp("s", tz="America/New_York"))
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), times)
    assert hp.Nullable(DAYS).encode(column, level=1).tolist() == [1, 0, 0]


def test_instants_are_unchanged() -> None:
    seconds = hp.Time("2023-11-01", "2026-12-31", zone="Europe/Berlin")
    times = times_in("America/New_York")[:500]
    expected = seconds.encode([time.astimezone(dt.UTC) for time in times], level=seconds.depth)
    for column in ("datetimes", "texts", "pandas", "polars", "Arrow", "dictionary"):
        assert np.array_equal(seconds.encode(COLUMNS[column](times), level=seconds.depth), expected)

"""Declared types of samples: widths of numbers, units and zones of times, booleans, categoricals."""

import datetime as dt
import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import ipc, parquet

from privhp import (
    Categories,
    Generator,
    Integers,
    Interval,
    IPv4,
    Nullable,
    Plan,
    Summary,
    Table,
    Time,
)
from privhp.core.cells import OUTSIDE
from privhp.domains.short_forms import parse_columns
from privhp.domains.specs import read_domain
from privhp.domains.time_zones import zoned_texts
from privhp.io.sinks import write_sample
from privhp.io.sources import open_source
from privhp.release import Release

BERLIN = ZoneInfo("Europe/Berlin")
TABLE = Table(
    when=Time("2020-01-01", "2020-12-31", zone="Europe/Berlin", dtype="datetime64[us]"),
    seen=Nullable(Time("2020-01-01", "2020-12-31", unit="us", zone="UTC")),
    day=Time("2020-01-01", "2020-12-31", unit="D"),
    delay=Nullable(Integers(-120, 1440, dtype="int16")),
    zone=Integers(1, 265, dtype="int32"),
    age=Integers(0, 120, dtype=np.uint8),
    fare=Interval(0, 100, dtype="float32"),
    tip=Interval(0, 100),
    kind=Categories([4, 7, 9], dtype="int8"),
    ip=IPv4("10.0.0.0/8", dtype="uint32"),
    host=IPv4("10.0.0.0/8", dtype="str"),
    word=Nullable(Categories(["tram", "bus", "a"], dtype="category")),
    short=Nullable(Categories(["tram", "bus", "a"], dtype="category[int8]")),
    rank=Nullable(Categories(["low", "mid", "high"], dtype="ordered category[uint8]")),
    note=Nullable(Categories(["low", "mid", "high"], dtype="large_string")),
    sent=Time("2020-01-01", "2020-12-31", unit="ms", zone="+02:00"),
    held=Nullable(Time("2020-01-01", "2020-12-31", zone="-05:30", dtype="datetime64[us]")),
    paid=Categories([False, True]),
    late=Nullable(Categories([True, False])),
)
ARROW = {
    "when": pa.timestamp("us", tz="Europe/Berlin"),
    "seen": pa.timestamp("us", tz="UTC"),
    "day": pa.date32(),
    "delay": pa.int16(),
    "zone": pa.int32(),
    "age": pa.uint8(),
    "fare": pa.float32(),
    "tip": pa.float64(),
    "kind": pa.int8(),
    "ip": pa.uint32(),
    "host": pa.string(),
    "word": pa.dictionary(pa.int32(), pa.string()),
    "short": pa.dictionary(pa.int8(), pa.string()),
    "rank": pa.dictionary(pa.uint8(), pa.string(), ordered=True),
    "note": pa.large_string(),
    "sent": pa.timestamp("ms", tz="+02:00"),
    "held": pa.timestamp("us", tz="-05:30"),
    "paid": pa.bool_(),
    "late": pa.bool_(),
}
POLARS = {
    "when": pl.Datetime("us", "Europe/Berlin"),
    "seen": pl.Datetime("us", "UTC"),
    "day": pl.Date(),
    "delay": pl.Int16(),
    "zone": pl.Int32(),
    "age": pl.UInt8(),
    "fare": pl.Float32(),
    "tip": pl.Float64(),
    "kind": pl.Int8(),
    "ip": pl.UInt32(),
    "host": pl.String(),
    "word": pl.Categorical(),
    "short": pl.Categorical(),
    "rank": pl.Enum(["low", "mid", "high"]),
    "note": pl.String(),
    "sent": pl.Datetime("ms", "Etc/GMT-2"),  # which is what polars makes of +02:00
    "held": pl.Datetime("us", "UTC"),  # polars has no offsets but whole hours
    "paid": pl.Boolean(),
    "late": pl.Boolean(),
}
PANDAS_TEXT = str(pd.Series(["a"]).dtype)  # "str" from pandas 3 on, "object" before
PANDAS = {
    "when": "datetime64[us, Europe/Berlin]",
    "seen": "datetime64[us, UTC]",
    "day": "datetime64[s]",  # pandas has no dates
    "delay": "Int16",
    "zone": "int32",
    "age": "uint8",
    "fare": "float32",
    "tip": "float64",
    "kind": "int8",
    "ip": "uint32",
    "host": PANDAS_TEXT,
    "word": "category",
    "short": "category",
    "rank": "category",
    "note": PANDAS_TEXT,
    "sent": "datetime64[ms, UTC+02:00]",
    "held": "datetime64[us, UTC-05:30]",
    "paid": "bool",
    "late": "boolean",
}


@pytest.fixture(scope="module")
def generator() -> Generator:
    """A generator of the base measure, without counts and noise."""
    plan = Plan.paper(TABLE, epsilon=1, expected_records=1e4, hot_cells=8)
    return Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))


def types_of(frame: Any) -> dict[str, Any]:
    if isinstance(frame, pa.Table):
        return dict(zip(frame.schema.names, frame.schema.types, strict=True))
    return dict(frame.schema) if isinstance(frame, pl.DataFrame) else frame.dtypes.astype(str).to_dict()


@pytest.mark.parametrize(("library", "types"), [("pyarrow", ARROW), ("polars", POLARS), ("pandas", PANDAS)])
@pytest.mark.parametrize("size", [0, 500])
def test_frame_types_round_trip(generator, library, types, size):
    frame = generator.sample(size, rng=1, frame=library)
    assert types_of(frame) == types
    assert not (TABLE.encode(frame, level=TABLE.depth) == OUTSIDE).any()
    summary = Summary(generator.plan)
    summary.update(frame)
    assert types_of(summary.release().sample(10, frame=library)) == types


def test_array_types(generator):
    sample, frame = generator.sample(500, rng=1), generator.sample(500, rng=1, frame="pyarrow")
    types = {name: str(values.dtype) for name, values in sample.items()}
    assert types == {
        "when": "datetime64[us]",
        "seen": "datetime64[us]",
        "day": "datetime64[D]",
        "delay": "int16",
        "zone": "int32",
        "age": "uint8",
        "fare": "float32",
        "tip": "float64",
        "kind": "int8",
        "ip": "uint32",
        "host": "<U15",
        "word": "<U4",
        "short": "<U4",
        "rank": "<U4",
        "note": "<U4",
        "sent": "datetime64[ms]",
        "held": "datetime64[us]",
        "paid": "bool",
        "late": "bool",
    }
    assert [time.astimezone(dt.UTC).replace(tzinfo=None) for time in frame["when"].to_pylist()] == list(
        sample["when"].tolist()
    )
    assert not np.any(sample["when"].view(np.int64) % 10**6), "seconds, the unit"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_instants_in_zone(generator, library):
    sample, frame = generator.sample(300, rng=1), generator.sample(300, rng=1, frame=library)
    for name in ("when", "seen", "sent", "held"):
        column = frame[name].to_pylist() if library == "pyarrow" else list(frame[name])
        for value, true in zip(column, sample[name], strict=True):
            missing = value is None or value is pd.NaT
            assert missing == (true is np.ma.masked)
            if not missing:
                assert pd.Timestamp(value).tz_convert("UTC").tz_localize(None) == pd.Timestamp(true)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_categorical_values(generator, library):
    sample, frame = generator.sample(300, rng=1), generator.sample(300, rng=1, frame=library)
    column = frame["word"].to_pylist() if library == "pyarrow" else list(frame["word"])
    assert [None if pd.isna(word) else word for word in column] == sample["word"].tolist()
    if library == "pandas":
        assert list(frame["word"].cat.categories) == ["tram", "bus", "a"]
        assert frame["rank"].cat.ordered
        assert not frame["word"].cat.ordered


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_file_types(generator, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    write_sample(generator, path, rows=300, seed=1)
    table = parquet.read_table(path) if ending == "parquet" else ipc.open_file(path).read_all()
    assert types_of(table) == ARROW


@pytest.mark.parametrize("ending", ["csv", "ndjson", "parquet", "arrow"])
def test_cells_of_written_records(generator, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    write_sample(generator, path, rows=1000, seed=5)
    expected = TABLE.encode(generator.sample(1000, rng=5), level=TABLE.depth)
    read = np.concatenate(
        [TABLE.encode(batch.records, level=TABLE.depth) for batch in open_source(path, domain=TABLE).batches()]
    )
    assert np.array_equal(read, expected)
    assert not (expected == OUTSIDE).any()


def test_offset_in_text(tmp_path):
    """The offset distinguishes the two occurrences of a repeated hour."""
    domain = Time("2020-10-24", "2020-10-26", zone="Europe/Berlin")
    plan = Plan.paper(domain, epsilon=1, expected_records=1e4, hot_cells=8)
    generator = Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))
    write_sample(generator, tmp_path / "a.ndjson", rows=1000, seed=1)
    texts = [json.loads(line)["value"] for line in (tmp_path / "a.ndjson").read_text().splitlines()]
    expected = [
        time.replace(tzinfo=dt.UTC).astimezone(BERLIN).isoformat() for time in generator.sample(1000, rng=1).tolist()
    ]
    assert texts == expected
    assert {text[-6:] for text in texts} == {"+01:00", "+02:00"}


@given(
    zone=st.sampled_from(
        ["Europe/Berlin", "UTC", "America/St_Johns", "Asia/Kolkata", "Pacific/Apia", "Africa/Monrovia"]
    ),
    times=st.lists(st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 29)), max_size=20),
)
@example(zone="Europe/Berlin", times=[dt.datetime(2020, 3, 29, 0, 59, 59), dt.datetime(2020, 3, 29, 1)])
@example(zone="Europe/Berlin", times=[dt.datetime(1, 1, 3), dt.datetime(9998, 7, 1), dt.datetime(9999, 7, 1)])
@example(zone="Pacific/Apia", times=[dt.datetime(2011, 12, 30, 9, 59, 59), dt.datetime(2011, 12, 30, 10)])
def test_text_in_zone_equals_datetime(zone, times):
    texts = zoned_texts(np.array(times, dtype="M8[us]"), zone).tolist()
    for text, time in zip(texts, times, strict=True):
        local = time.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone))
        assert dt.datetime.fromisoformat(text) == local
        if not local.utcoffset() % dt.timedelta(minutes=1):  # offsets of old had seconds, which ISO text has not
            assert text == local.isoformat(timespec="microseconds")


def test_dtype_in_file_and_short_form(tmp_path):
    (tmp_path / "a.toml").write_text(
        '[columns.when]\nkind = "time"\nlow = 2020-01-01\nhigh = 2020-12-31\nzone = "Europe/Berlin"\n'
        'dtype = "datetime64[us]"\n[columns.age]\nkind = "integers"\nlow = 0\nhigh = 120\ndtype = "uint8"\n'
    )
    expected = Table({column.name: column.domain for column in TABLE.columns if column.name in ("when", "age")})
    short = [
        "when=time:2020-01-01:2020-12-31:zone=Europe/Berlin:dtype=datetime64[us]",
        "age=integers:0:120:dtype=uint8",
    ]
    assert read_domain(tmp_path / "a.toml") == parse_columns(short) == expected


def test_text_of_booleans(generator, tmp_path):
    write_sample(generator, tmp_path / "a.csv", rows=300, seed=1)
    write_sample(generator, tmp_path / "a.ndjson", rows=300, seed=1)
    sample = generator.sample(300, rng=1)
    expected = [{True: "true", False: "false", None: None}[value] for value in sample["late"].tolist()]
    texts = pd.read_csv(tmp_path / "a.csv", dtype=str)["late"]
    assert [None if pd.isna(text) else text for text in texts] == expected
    assert pl.read_csv(tmp_path / "a.csv").schema["late"] == pl.Boolean
    rows = [json.loads(line) for line in (tmp_path / "a.ndjson").read_text().splitlines()]
    assert [row["late"] for row in rows] == sample["late"].tolist()


def test_text_of_float32(generator, tmp_path: Path):
    write_sample(generator, tmp_path / "a.csv", rows=300, seed=1)
    texts = pd.read_csv(tmp_path / "a.csv", dtype=str)["fare"]
    assert texts.str.len().max() <= len("0.12345679") + 1
    assert np.array_equal(texts.astype(np.float32), generator.sample(300, rng=1)["fare"])

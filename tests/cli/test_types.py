"""Names and types of columns are the same in the real and the synthetic file."""

import json
import re
import tomllib

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

COLUMNS = {
    "pickup": (
        "time:2020-01-01:2020-12-31:zone=America/New_York:dtype=datetime64[us]",
        pa.timestamp("us", tz="America/New_York"),
    ),
    "seen": ("time:2020-01-01:2020-12-31:unit=ns:zone=UTC", pa.timestamp("ns", tz="UTC")),
    "naive": ("time:2020-01-01:2020-12-31:unit=ms", pa.timestamp("ms")),
    "day": ("time:2020-01-01:2020-12-31:unit=D:nullable", pa.date32()),
    "delay": ("integers:-120:1440:dtype=int16:nullable", pa.int16()),
    "zone": ("integers:1:265:dtype=int32", pa.int32()),
    "trips": ("integers:0:1000000", pa.int64()),
    "share": ("interval:0:1:dtype=float32", pa.float32()),
    "fare": ("interval:0:100", pa.float64()),
    "kind": ("categories:bus,tram", pa.string()),
    "source": ("ipv4:dtype=uint32", pa.uint32()),
    "host": ("ipv4", pa.string()),
    "sent": ("time:2020-01-01:2020-12-31:unit=us:zone=-05:30:nullable", pa.timestamp("us", tz="-05:30")),
    "paid": ("categories:false,true", pa.bool_()),
    "late": ("categories:false,true:nullable", pa.bool_()),
    "line": ("categories:bus,tram:dtype=category[int16]", pa.dictionary(pa.int16(), pa.string())),
    "rank": ("categories:bus,tram:dtype=ordered category", pa.dictionary(pa.int32(), pa.string(), ordered=True)),
    "note": ("categories:bus,tram:dtype=large_string", pa.large_string()),
}
PLAN = ["--epsilon", "1000", "--expected-records", "1000", "--method", "paper", "--hot-cells", "8", "-o", "out.privhp"]


def real_table() -> pa.Table:
    rng = np.random.default_rng(0)
    seconds = np.datetime64("2020-06-01", "s") + rng.integers(0, 86_400 * 30, 1000)
    values = {
        "pickup": seconds,
        "seen": seconds,
        "naive": seconds,
        "day": seconds.astype("M8[D]"),
        "delay": rng.integers(-10, 60, 1000),
        "zone": rng.integers(1, 266, 1000),
        "trips": rng.integers(0, 1000, 1000),
        "share": rng.random(1000),
        "fare": rng.gamma(2, 8, 1000).clip(0, 100),
        "kind": rng.choice(["bus", "tram"], 1000),
        "source": rng.integers(0, 2**32, 1000),
        "host": np.full(1000, "10.0.0.1"),
        "sent": seconds,
        "paid": rng.random(1000) < 0.5,
        "late": rng.random(1000) < 0.5,
        "line": rng.choice(["bus", "tram"], 1000),
        "rank": pa.array(rng.choice(["bus", "tram"], 1000)).dictionary_encode(),
        "note": rng.choice(["bus", "tram"], 1000),
    }
    missing = rng.random(1000) < 0.2
    return pa.table(
        {
            name: pa.array(values[name], mask=missing if "nullable" in form else None).cast(kind)
            for name, (form, kind) in COLUMNS.items()
        }
    )


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_schema_of_synthetic_file(run, tmp_path, ending):
    real = real_table()
    if ending == "parquet":
        parquet.write_table(real, tmp_path / "real.parquet")
    else:
        with ipc.new_file(tmp_path / "real.arrow", real.schema) as writer:
            writer.write_table(real)
    columns = [part for name, (form, _) in COLUMNS.items() for part in ("--domain", f"{name}={form}")]
    assert run("fit", f"real.{ending}", *columns, *PLAN).code == 0
    assert run("sample", "out.privhp", "-n", "1000", "--seed", "1", "-o", f"made.{ending}").code == 0
    path = tmp_path / f"made.{ending}"
    made = parquet.read_table(path) if ending == "parquet" else ipc.open_file(path).read_all()
    assert made.schema.equals(real.schema)
    assert made.num_rows == 1000
    assert 100 < made["delay"].null_count < 300, "a fifth of the records"


FILLED = {
    "delay": {"low": -120, "high": 1440, "nullable": True},
    "zone": {"low": 1, "high": 265},
    "trips": {"low": 0, "high": 10**6},
    "share": {"low": 0, "high": 1},
    "fare": {"low": 0, "high": 100},
    "kind": {"values": ["bus", "tram"]},
    "source": {"low": 0, "high": 2**32 - 1},
    "host": {"values": ["10.0.0.1", "10.0.0.2"]},
    "paid": {},
    "late": {"nullable": True},
    "line": {"values": ["bus", "tram"]},
    "rank": {"values": ["bus", "tram"]},
    "note": {"values": ["bus", "tram"]},
}


def test_schema_from_domain_file(run, tmp_path):
    real = real_table()
    parquet.write_table(real, tmp_path / "real.parquet")
    assert run("init", "real.parquet", "-o", "draft.toml").code == 0
    columns = tomllib.loads((tmp_path / "draft.toml").read_text())["columns"]
    lines = []
    for name, column in columns.items():
        year = {"low": "2020-01-01", "high": "2020-12-31", "nullable": True}
        lines += [f"[columns.{name}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in (column | FILLED.get(name, year)).items()]
    (tmp_path / "domain.toml").write_text("\n".join(lines))
    assert run("fit", "real.parquet", "--domain", "domain.toml", *PLAN).code == 0
    assert run("sample", "out.privhp", "-n", "100", "-o", "made.parquet").code == 0
    assert parquet.read_schema(tmp_path / "made.parquet").equals(real.schema)


def test_utc_offset_in_csv(run, tmp_path):
    times = "2020-07-01T12:00:00-04:00\n2020-12-01T12:00:00-05:00\n" * 500
    (tmp_path / "real.csv").write_text("pickup\n" + times)
    form = "pickup=time:2020-01-01:2020-12-31:zone=America/New_York"
    assert run("fit", "real.csv", "--domain", form, *PLAN).code == 0
    assert run("sample", "out.privhp", "-n", "1000", "--seed", "1", "-o", "made.csv").code == 0
    header, *lines = (tmp_path / "made.csv").read_text().splitlines()
    assert header == "pickup"
    assert {line[-6:] for line in lines} == {"-04:00", "-05:00"}
    summer = np.mean([line < "2020-11-01" for line in lines])
    assert abs(summer - 0.5) < 0.1


def test_booleans_declared_as_texts(run, refused, tmp_path):
    parquet.write_table(pa.table({"paid": [True, False] * 100}), tmp_path / "real.parquet")
    error = refused("fit", "real.parquet", "--domain", "paid=categories:True,False", *PLAN)
    advice = re.search("declare it as categories of true and false, as in (.*?), ", error)
    assert advice is not None
    assert run("fit", "real.parquet", "--domain", f"paid={advice[1]}", *PLAN).code == 0

"""Tables in text files: fit, sample and errors."""

import csv
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import privhp
from privhp import Tally
from privhp.io.sources import open_source
from texts import LINES

COLUMNS = [
    "--domain",
    "pickup=time:2018-01-01:2020-12-31",
    "--domain",
    "fare=interval:0:100:weight=2",
    "--domain",
    "delay=integers:-120:1440:nullable",
    "--domain",
    "lon,lat=box:-9:2,49:61",
    "--domain",
    "kind=categories:bus,tram,taxi",
    "--domain",
    "source=ipv4:10.0.0.0/8",
]
PLAN = ["--epsilon", "100", "--expected-records", "1e4", "--method", "paper", "--hot-cells", "16", "--depth", "14"]
HEADER = "more,kind,fare,pickup,delay,lat,lon,source"
LINE = 'x,"tram",12.5,2019-07-04T12:30:00,{delay},51.5,-0.1,10.1.2.3\r'


@pytest.fixture
def data(tmp_path: Path) -> str:
    lines = [LINE.format(delay="" if place % 4 == 0 else place % 60) for place in range(4000)]
    (tmp_path / "trips.csv").write_text("\n".join([HEADER, *lines, ""]), newline="")
    return str(tmp_path / "trips.csv")


def rows(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_fit_and_sample(run, data):
    assert run("fit", data, *COLUMNS, *PLAN, "-o", "trips.privhp").code == 0
    generator = privhp.load("trips.privhp")
    assert abs(generator.total - 4000) < 200
    assert generator.mass({"kind": "tram", "fare": (0, 50)}).value > 0.9
    assert abs(generator.mass({"delay": None}).value - 0.25) < 0.05
    assert run("sample", "trips.privhp", "-n", "1000", "--seed", "1", "-o", "out.csv").code == 0
    made = rows("out.csv")
    assert len(made) == 1000
    assert list(made[0]) == ["pickup", "fare", "delay", "lon", "lat", "kind", "source"]
    assert {row["kind"] for row in made} <= {"bus", "tram", "taxi"}
    assert all(row["source"].startswith("10.") for row in made)
    assert all(datetime.fromisoformat(row["pickup"]).tzinfo is not None for row in made)
    assert abs(sum(row["delay"] == "" for row in made) - 250) < 60
    assert all(-120 <= int(row["delay"]) <= 1440 for row in made if row["delay"])
    assert all(0 <= float(row["fare"]) <= 100 for row in made)


def test_synthetic_file_round_trip(run, data):
    assert run("fit", data, *COLUMNS, *PLAN, "-o", "trips.privhp").code == 0
    assert run("sample", "trips.privhp", "-n", "500", "--seed", "1", "-o", "out.csv").code == 0
    plan = privhp.load("trips.privhp").plan
    read, direct = Tally(plan), Tally(plan)
    for batch in open_source("out.csv", domain=plan.domain).batches():
        read.add(batch.records)
    direct.add(privhp.load("trips.privhp").sample(500, rng=1))
    assert read.counters.sum() == 500
    assert np.array_equal(read.counters, direct.counters)


def test_line_with_invalid_field(run, tmp_path):
    plan = privhp.Plan.paper(
        privhp.Table(a=privhp.Interval(0, 1), b=privhp.Nullable(privhp.Categories(["x", "y"], other="z"))),
        epsilon=1,
        expected_records=100,
        hot_cells=2,
    )
    good = b"0.5,x\n0.25,\n0.5,what\n"
    for bad in (b"", b"0.5", b"z,x", b'0.5,"x', b"0.5,\xff", b",x", b"nan,x", b"0.5" * 2**19 + b",x", b"2,x"):
        counters = []
        for text in (good, good + bad + b"\n" + good):
            (tmp_path / "data.csv").write_bytes(b"a,b\n" + text)
            tally, lines = Tally(plan), 0
            for batch in open_source(tmp_path / "data.csv", domain=plan.domain, csv=LINES).batches():
                tally.add(batch.records)
                lines += len(plan.domain.as_batch(batch.records))
            assert lines == text.count(b"\n"), "a skipped line counts as a row"
            counters.append(tally.counters)
        assert np.array_equal(2 * counters[0], counters[1])
        assert counters[0].sum() == 3


def test_domain_file(run, tmp_path, data):
    (tmp_path / "trips.toml").write_text(
        '[columns.fare]\nkind = "interval"\nlow = 0\nhigh = 100\n\n'
        '[columns.delay]\nkind = "integers"\nlow = -120\nhigh = 1440\nnullable = true\n'
    )
    assert run("fit", data, "--domain", "trips.toml", *PLAN, "-o", "trips.privhp").code == 0
    domain = privhp.load("trips.privhp").plan.domain
    assert domain == privhp.read_domain("trips.toml")
    assert domain.names == ("fare", "delay")


def test_columns_by_other_names_and_numbers(run, tmp_path):
    (tmp_path / "a.csv").write_text("amount,late\n" + "5,3\n" * 2000)
    (tmp_path / "b.csv").write_text("3,5\n" * 2000)
    columns = ["--domain", "fare=interval:0:10", "--domain", "delay=integers:0:9"]
    assert run("fit", "a.csv", *columns, "--columns", "amount,late", *PLAN, "-o", "a").code == 0
    assert run("fit", "b.csv", *columns, "--no-header", "--columns", "2,1", *PLAN, "-o", "b").code == 0
    assert run("fit", "b.csv", *columns, "--no-header", *PLAN, "-o", "c").code == 0
    assert privhp.load("a").mass({"delay": (3, 3)}).value > 0.9
    assert privhp.load("b").mass({"delay": (3, 3)}).value > 0.9
    assert privhp.load("c").mass({"delay": (5, 5)}).value > 0.9


def test_npy(run, tmp_path):
    np.save(tmp_path / "a.npy", np.full((2000, 2), [5.0, 3.0]))
    columns = ["--domain", "fare=interval:0:10", "--domain", "delay=integers:0:9"]
    assert run("fit", "a.npy", *columns, *PLAN, "-o", "a").code == 0
    assert privhp.load("a").mass({"delay": (3, 3)}).value > 0.9


def test_column_errors(refused, data):
    assert "a column 'fee'" in refused("fit", data, "--domain", "fee=interval:0:100", *PLAN, "-o", "a")
    assert "column 'fare': expected interval:LOW:HIGH" in refused("plan", "--domain", "fare=interval:0", *PLAN)
    both = ["--domain", "ipv4", "--domain", "fare=interval:0:1"]
    assert "write NAME=DOMAIN for each column" in refused("plan", *both, *PLAN)


def test_npy_output(run, refused, data):
    assert run("fit", data, *COLUMNS, *PLAN, "-o", "trips.privhp").code == 0
    assert "write .csv or .parquet" in refused("sample", "trips.privhp", "-n", "3", "-o", "out.npy")
    assert not Path("out.npy").exists()


def test_inspect(run, data):
    assert run("fit", data, *COLUMNS, *PLAN, "-o", "trips.privhp").code == 0
    code, out, err = run("inspect", "trips.privhp")
    assert (code, err) == (0, "")
    assert "Table(" in out


def test_conditions_with_values_outside_the_domain_are_all_named(run, refused, data):
    assert run("fit", data, *COLUMNS, *PLAN, "-o", "out").code == 0
    bad = ["source = 10.1", "lon,lat in 5:3,0:1", "kind = tran", "fare > 5 or source in [10.0.0.0/8]"]
    line = refused("query", "out", *(word for text in bad for word in ("--where", text)))
    assert all(f"--where {text!r}: " in line for text in bad)
    asked = ["source in [10.0.0.0/9, 10.128.0.0/9]", "source != 10.1.2.3 or source = 10.1.2.3", "source in 10.0.0.0/8"]
    out = run("query", "out", *(word for text in asked for word in ("--where", text))).out
    assert {row.split()[0] for row in out.splitlines()[1:]} == {"100.000%"}


def test_a_nullable_domain_needs_its_column(run, refused, tmp_path):
    (tmp_path / "log.csv").write_text("source\n" + "10.0.0.1\n\n" * 100)
    fit = ["fit", "log.csv", "--columns", "source", "--epsilon", "50", "--expected-records", "200", "-o", "log.privhp"]
    error = refused(*fit, "--domain", "ipv4:nullable")
    assert error.endswith("write --domain source=ipv4:nullable\n")
    assert run(*fit, "--domain", "source=ipv4:nullable").code == 0

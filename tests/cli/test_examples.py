"""Examples of the help texts, bundled data and the demo."""

import csv
import gzip
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import privhp
from commands import install_commands, run_command
from pages import coarse_pictures
from privhp.cli.commands import COMMANDS, demo

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_examples_of_help(run, tmp_path, monkeypatch):
    """In the order of the commands, on shared files."""
    install_commands(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    rng = np.random.default_rng(0)
    (tmp_path / "trips.csv").write_text("id,fare,tip,paid\n" + "".join(f"{i},{i % 90}.5,1,cash\n" for i in range(1000)))
    places = "".join(f"{lon},{lat}\n" for lon, lat in rng.uniform((-9, 50), (2, 60), size=(1000, 2)))
    (tmp_path / "gb.csv.gz").write_bytes(gzip.compress(b"lon,lat\n" + places.encode()))
    (tmp_path / "log.gz").write_bytes(gzip.compress(b"10.0.0.1,GET,/\n10.0.0.2,GET,/\n" * 500))
    (tmp_path / "next.csv.gz").write_bytes(gzip.compress(b"fare,tip,paid\n" + b"7,1,cash\n8,2,card\n" * 500))
    (tmp_path / "trips").mkdir()
    for part in range(2):
        trips = {"fare": np.arange(500.0), "tip": np.arange(500.0) / 10, "paid": ["cash", "card"] * 250}
        parquet.write_table(pa.table(trips), tmp_path / "trips" / f"{part}.parquet")
    fare = '[columns.fare]\nkind = "interval"\nlow = 0\nhigh = 1000\n'
    tip = '[columns.tip]\nkind = "interval"\nlow = 0\nhigh = 100\n'
    paid = '[columns.paid]\nkind = "categories"\nvalues = ["cash", "card"]\n'
    (tmp_path / "t.toml").write_text(fare + tip + paid)
    (tmp_path / "rides.toml").write_text(f"[plan]\nepsilon = 2\nexpected_records = 1000\n{fare}")
    texts = [run(command.__name__.rpartition(".")[2], "--help").out for command in COMMANDS]
    commands = re.findall(r"^  ((?:zcat .*)?privhp .*)$", "\n".join(texts), flags=re.MULTILINE)
    commands = [command for command in commands if not command.startswith("privhp demo")]  # tested below
    commands = [command for command in commands if not re.match("privhp audit($| --deep)", command)]  # long
    assert len(commands) == 45
    with coarse_pictures():
        for command in commands:
            run_command(re.sub(r"--expected-records \S+", "--expected-records 1e4", command))  # small plans, for speed
    assert len((tmp_path / "synthetic.csv").read_text().splitlines()) == 100_001
    assert parquet.read_table(tmp_path / "synthetic.parquet").shape == (1_000_000, 2)
    assert not (tmp_path / "t.state").exists()
    assert isinstance(privhp.load(tmp_path / "log.privhp").plan.domain, privhp.IPv4)


def test_bundled_flights():
    page = (EXAMPLES / "README.md").read_text()
    packed = (EXAMPLES / "flights13.csv.gz").read_bytes()
    header, *rows = csv.reader(gzip.decompress(packed).decode().splitlines())
    flights = np.array(rows, dtype=np.int64)
    bounds = {name: (int(low), int(high)) for name, low, high in re.findall(r"`(\w+)` .*\| (-?\d+) to (\d+) \|", page)}
    assert list(bounds) == header
    assert f"{len(flights):,} flights" in page
    for (low, high), column in zip(bounds.values(), flights.T, strict=True):
        assert low <= column.min() <= column.max() <= high
    assert len(packed) < 2_000_000
    assert packed[4:8] == bytes(4)  # no timestamp


def test_demo(run, few_flights, tmp_path):
    code, out, err = run("demo")
    folder = tmp_path / "privhp-demo"
    assert (code, err) == (0, "")
    shown = re.findall(r"^\$ privhp (\w+) ", out, flags=re.MULTILINE)
    assert shown == ["plan", "fit", "sample", "query", "fit", "sample", "query", "report", "compare", "report"]
    assert out.count("wrote ") == 6
    assert "NOT PRIVATE: computed from records" in out
    page = (folder / "report.html").read_text()
    assert "sched_dep_min and arr_delay" in page
    assert "NOT PRIVATE" not in page
    assert "NOT PRIVATE" in (folder / "NOT-PRIVATE.html").read_text()
    synthetic = np.loadtxt(folder / "synthetic.csv", skiprows=1)
    assert len(synthetic) == round(privhp.load(folder / "arr_delay.privhp").total)
    median = re.search(r"^ +0\.5 +(-?\d+)", out, flags=re.MULTILINE)
    real = np.loadtxt(folder / "flights13.csv.gz", delimiter=",", skiprows=1)
    assert abs(int(median[1]) - np.median(real[:, 2])) <= 5
    assert Path.cwd() == tmp_path


def test_demo_force_and_quiet(run, refused, few_flights, tmp_path, monkeypatch):
    first = next(demo._steps())
    monkeypatch.setattr(demo, "_steps", lambda: [first])  # for speed
    (tmp_path / "mine").mkdir()
    assert "or replace its files with --force" in refused("demo", "mine")
    assert list((tmp_path / "mine").iterdir()) == []
    assert run("demo", "mine", "--force", "--quiet") == (0, "", "")
    assert (tmp_path / "mine" / "flights13.csv.gz").exists()


def test_demo_failure(run, few_flights, tmp_path):
    """The command has printed the reason in one line."""
    (tmp_path / "mine" / "synthetic.csv").mkdir(parents=True)
    code, _, err = run("demo", "mine", "--force")
    assert code == 2
    assert err.startswith("privhp: error: synthetic.csv exists and is not a file")
    assert err.count("\n") == 1


def test_demo_data(refused, monkeypatch):
    assert demo.FLIGHTS.read_bytes() == (EXAMPLES / "flights13.csv.gz").read_bytes()
    monkeypatch.setattr("privhp.cli.commands.demo.FLIGHTS", Path("none.csv.gz"))
    assert "reinstall privhp" in refused("demo", "new")

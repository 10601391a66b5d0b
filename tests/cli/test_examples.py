"""What the documentation shows, run as it stands."""

import csv
import gzip
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    """The demo as a module."""
    spec = importlib.util.spec_from_file_location("demo", EXAMPLES / "demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(shutil.which("zcat") is None, reason="the examples need zcat")
def test_the_examples_in_the_help_texts_run(run, tmp_path):
    """In the order in which a newcomer would read them, from the same few files."""
    rng = np.random.default_rng(0)
    (tmp_path / "trips.csv").write_text("id,fare\n" + "".join(f"{i},{i % 90}.5\n" for i in range(1000)))
    places = "".join(f"{lon},{lat}\n" for lon, lat in rng.uniform((-9, 50), (2, 60), size=(1000, 2)))
    (tmp_path / "gb.csv.gz").write_bytes(gzip.compress(b"lon,lat\n" + places.encode()))
    (tmp_path / "log.gz").write_bytes(gzip.compress(b"GET,/,10.0.0.1\nGET,/,10.0.0.2\n" * 500))
    (tmp_path / "trips").mkdir()
    for part in range(2):
        parquet.write_table(pa.table({"fare": np.arange(500.0)}), tmp_path / "trips" / f"{part}.parquet")
    (tmp_path / "t.toml").write_text('[columns.fare]\nkind = "interval"\nlow = 0\nhigh = 1000\n')
    texts = [run(command, "--help").out for command in ("plan", "fit", "sample", "inspect", "report")]
    commands = re.findall(r"^  ((?:zcat .*)?privhp .*)$", "\n".join(texts), flags=re.MULTILINE)
    assert len(commands) == 11
    for command in commands:
        line = command.replace("privhp ", f"{sys.executable} -m privhp ", 1)
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert len((tmp_path / "synthetic.csv").read_text().splitlines()) == 100_001
    assert parquet.read_table(tmp_path / "synthetic.parquet").shape == (1_000_000, 2)
    assert not (tmp_path / "t.state").exists()
    assert isinstance(privhp.load(tmp_path / "log.privhp").plan.domain, privhp.IPv4)


def test_the_bundled_flights_are_what_their_page_says():
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
    assert packed[4:8] == bytes(4)  # no time of making


def test_the_demo_tells_its_story(demo, tmp_path, monkeypatch, capfd):
    """On every sixteenth flight, to be quick."""
    header, *rows = gzip.decompress((EXAMPLES / "flights13.csv.gz").read_bytes()).splitlines(keepends=True)
    (tmp_path / "some.csv.gz").write_bytes(gzip.compress(b"".join([header, *rows[::16]])))
    monkeypatch.setattr(demo, "FLIGHTS", tmp_path / "some.csv.gz")
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "synthetic.csv").write_text("from an earlier run")
    demo.main(tmp_path / "demo")
    out, err = capfd.readouterr()
    assert err == ""
    written = re.findall(rf"^{re.escape(str(tmp_path))}/demo/(\S+)  ", out.split("# Done.")[1], flags=re.MULTILINE)
    assert sorted(written) == sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert "fractional minutes" in out
    assert len(re.findall(r"^\$ .*-m privhp (?:plan|fit|sample) ", out, flags=re.MULTILINE)) == 5
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "sched_dep_min and arr_delay" in page
    assert "NOT PRIVATE" not in page
    assert "NOT PRIVATE" in (tmp_path / "demo" / "NOT-PRIVATE.html").read_text()
    report = (tmp_path / "demo" / "comparison.md").read_text()
    assert "1-differentially private" in report
    assert "**This comparison is not private**" in report
    assert "guarantee   1-differential privacy" in report
    synthetic = demo.read(tmp_path / "demo" / "synthetic.csv", ["arr_delay"])
    assert len(synthetic) == round(privhp.load(tmp_path / "demo" / "arr_delay.privhp").total)
    median = re.search(r"^\| +50% \| +(-?\d+) \| +(-?\d+) \|$", report, flags=re.MULTILINE)
    assert abs(int(median[1]) - int(median[2])) <= 5


def test_the_demo_compares_like_with_like(demo):
    real = np.array([[400.0, 0.0], [400.0, 31.0], [700.0, 30.0], [900.0, 90.0], [1100.0, -5.0]])
    assert demo.compare_lateness(real, real[1:]) == [
        ("06:00 to 10:00", "50.0%", "100.0%"),
        ("10:00 to 14:00", "0.0%", "0.0%"),
        ("14:00 to 18:00", "100.0%", "100.0%"),
        ("18:00 to 22:00", "0.0%", "0.0%"),
    ]
    numbers = np.arange(101.0)
    assert demo.compare_quantiles(numbers, numbers + 1)[3] == ("50%", "50", "51")


def test_the_demo_is_fair_to_fractional_minutes(demo):
    """Whole minutes, and the same spread over half a minute to either side, are as late as each other."""
    punctual = [(minute, delay) for minute in (360, 599) for delay in (29, 30, 31)]
    late = [(minute, 31) for minute in (359, 600, 840, 1080)]
    whole = np.array(punctual + late, dtype=float)
    spread = np.concatenate([whole - 0.49, whole + 0.49])
    shares = [(real, synthetic) for _, real, synthetic in demo.compare_lateness(whole, spread)]
    assert shares == [("33.3%", "33.3%")] + [("100.0%", "100.0%")] * 3


def test_tables_of_the_demo_line_up(demo):
    assert demo.as_markdown(["a", "real", "b"], [("50%", "1", "-22")]) == (
        "|   a | real |   b |\n| --: | ---: | --: |\n| 50% |    1 | -22 |"
    )

"""`privhp sample`: formats, chunks, seeds and failures."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import privhp
from privhp.io import sample_chunks
from privhp.io.sinks import text_writer


def numbers(path: str) -> list[list[float]]:
    with open(path, newline="") as file:
        return [[float(value) for value in row] for row in list(csv.reader(file))[1:]]


@pytest.fixture
def pairs(run, tmp_path):
    """A release of points near the middle of a box."""
    (tmp_path / "pairs.csv").write_text("x,y\n" + "5,-5\n" * 5000)
    assert (
        run(
            "fit", "pairs.csv", "--domain", "box:0:10,-10:0", "--epsilon", "1", "--expected-records", "1e3", "-o", "p"
        ).code
        == 0
    )
    return "p"


def test_csv(run, release):
    assert run("sample", release, "-n", "25", "-o", "out.csv") == (0, "wrote out.csv: 25 synthetic records\n", "")
    lines = Path("out.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == ("value", 26)
    assert all(0 <= row[0] <= 1000 for row in numbers("out.csv"))


def test_column_names(run, refused, pairs):
    assert run("sample", pairs, "-n", "3", "-o", "a.csv").code == 0
    assert Path("a.csv").read_text().splitlines()[0] == "x1,x2"
    assert run("sample", pairs, "-n", "3", "-o", "b.csv", "--columns", 'lon, the "lat"').code == 0
    assert Path("b.csv").read_text().splitlines()[0] == 'lon,"the ""lat"""'
    assert "expected 2 column names" in refused("sample", pairs, "-n", "3", "-o", "c.csv", "--columns", "lon")


def test_default_number_of_rows(run, release):
    assert run("sample", release, "-o", "out.npy").code == 0
    assert len(np.load("out.npy")) == round(privhp.load(release).total)


@pytest.mark.parametrize("rows", ["0", "1", "1000", "1e3"])
def test_formats(run, release, rows):
    for name in ("out.csv", "out.npy"):
        assert run("sample", release, "-n", rows, "--seed", "7", "-o", name, "--quiet") == (0, "", "")
    array = np.load("out.npy")
    assert array.shape == (int(float(rows)),)
    assert [row[0] for row in numbers("out.csv")] == array.tolist()


def test_seed_and_method(run, release):
    def rows(*options: str) -> list[float]:
        assert run("sample", release, "-n", "500", "-o", "out.npy", "--force", *options).code == 0
        values: list[float] = np.load("out.npy").tolist()
        return values

    assert rows("--seed", "1") == rows("--seed", "1")
    assert rows("--seed", "1") != rows("--seed", "2")
    assert rows() != rows()
    generator = privhp.load(release)
    assert rows("--seed", "1") == generator.sample(500, rng=1).tolist()
    assert rows("--seed", "1", "--independent") == generator.sample(500, rng=1, method="independent").tolist()


@pytest.mark.parametrize("name", ["out.csv", "out.npy"])
def test_chunks(run, pairs, monkeypatch, name):
    monkeypatch.setattr(sample_chunks, "CHUNK", 100)
    monkeypatch.setattr(text_writer, "_ROWS", 30)
    assert run("sample", pairs, "-n", "250", "--seed", "3", "-o", name).code == 0
    generator, rng = privhp.load(pairs), np.random.default_rng(3)
    expected = np.concatenate([generator.sample(size, rng=rng) for size in (100, 100, 50)])
    rows = numbers(name) if name.endswith(".csv") else np.load(name).tolist()
    assert rows == expected.tolist()


def test_integers_and_addresses(run, tmp_path):
    (tmp_path / "data.csv").write_text("1\n2\n")
    options = ["--no-header", "--epsilon", "1", "--expected-records", "1e3"]
    assert run("fit", "data.csv", "--domain", f"integers:{2**60}:{2**60 + 9}", *options, "-o", "whole").code == 0
    assert run("fit", "data.csv", "--domain", "ipv4", *options, "-o", "ip").code == 0
    assert run("sample", "whole", "-n", "20", "-o", "whole.csv").code == 0
    assert all(2**60 <= int(line) <= 2**60 + 9 for line in Path("whole.csv").read_text().splitlines()[1:])
    assert run("sample", "ip", "-n", "20", "-o", "ip.csv", "--seed", "1").code == 0
    assert run("sample", "ip", "-n", "20", "-o", "ip.npy", "--seed", "1").code == 0
    dotted = Path("ip.csv").read_text().splitlines()[1:]
    assert all(line.count(".") == 3 for line in dotted)
    assert [
        sum(int(part) << shift for part, shift in zip(line.split("."), (24, 16, 8, 0), strict=True)) for line in dotted
    ] == np.load("ip.npy").tolist()


def test_errors(refused, release, tmp_path):
    (tmp_path / "text.privhp").write_text("hello")
    privhp.save(privhp.Summary(privhp.load(release).plan), "checkpoint")
    assert "text.privhp: this is not a privhp file" in refused("sample", "text.privhp", "-o", "out.csv")
    assert "checkpoint: this is a checkpoint or summary file, which is confidential" in refused(
        "sample", "checkpoint", "-o", "out.csv"
    )
    assert "cannot use no.privhp: No such file" in refused("sample", "no.privhp", "-o", "out.csv")
    assert "ends in .csv, .tsv, .tab, .ndjson" in refused("sample", release, "-o", "out.xlsx")
    assert "--force" in refused("sample", release, "-o", "data.csv")
    assert "at least 0" in refused("sample", release, "-n", "-5", "-o", "out.csv")
    assert "at least 0" in refused("sample", release, "--seed", "-5", "-o", "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", ["out.csv", "out.npy", "out.parquet", "out.arrow"])
@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (KeyboardInterrupt, 130, ""),
        (
            OSError(28, "No space left on device"),
            1,
            "privhp: error: cannot use {}: No space left on device; fix this",
        ),
        (MemoryError, 1, "privhp: error: not enough memory"),
    ],
)
def test_failure_while_writing(run, release, tmp_path, monkeypatch, name, error, code, says):
    monkeypatch.setattr(sample_chunks, "CHUNK", 10)
    draw = privhp.Generator.sample

    def fail_later(self, n, **options):
        if n == 5:
            raise error
        return draw(self, n, **options)

    monkeypatch.setattr(privhp.Generator, "sample", fail_later)
    before = sorted(tmp_path.iterdir())
    outcome = run("sample", release, "-n", "25", "-o", name)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err.startswith(says.format(name))
    assert sorted(tmp_path.iterdir()) == before
    assert run("sample", release, "-n", "20", "-o", name).code == 0


def test_standard_output(run, release):
    for form in ("csv", "ndjson"):
        assert run("sample", release, "-n", "25", "--seed", "1", "-o", f"out.{form}").code == 0
        piped = run("sample", release, "-n", "25", "--seed", "1", "--format", form, "-o", "-")
        assert piped == (0, Path(f"out.{form}").read_text(), "")
    assert run("sample", release, "-n", "25", "--seed", "1", "-o", "-").out == Path("out.csv").read_text()


@pytest.mark.parametrize("form", ["csv", "ndjson", "arrow", "npy"])
def test_closed_pipe(release, tmp_path, form):
    command = [sys.executable, "-m", "privhp", "sample", release, "-n", "1e9", "--format", form, "-o", "-"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_failure_keeps_existing_file(run, release, tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("precious")

    def fail(self, n, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(privhp.Generator, "sample", fail)
    assert run("sample", release, "-n", "25", "-o", "out.csv", "--force").code == 130
    assert (tmp_path / "out.csv").read_text() == "precious"

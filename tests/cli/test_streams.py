"""Standard streams that are closed, full, or unable to show a file name."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

import privhp as hp
from cli.running import PLAN, spawn

CLOSED = [
    pytest.param(closed, id=" ".join(closed), marks=[pytest.mark.slow] * (size == 2))
    for size in range(4)
    for closed in itertools.combinations(("<", ">", "2>"), size)
]
"""All eight ways of closing descriptors 0 to 2; pairs only with --slow."""


@pytest.fixture(autouse=True)
def data(tmp_path):
    (tmp_path / "data.csv").write_text("fare\n" + "".join(f"{value}\n" for value in range(1000)))


def spawn_closed(closed, *arguments, folder, **options):
    """Run a command with closed descriptors."""
    script = f'exec "$@" {" ".join(f"{end}&-" for end in closed)}'
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "privhp", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60, **options)


@pytest.mark.parametrize("closed", CLOSED)
def test_closed_descriptors(tmp_path, closed):
    fit = spawn_closed(closed, "fit", "data.csv", *PLAN, "-o", "out.privhp", folder=tmp_path)
    assert (fit.returncode, fit.stderr) == (0, b"")
    assert fit.stdout.startswith(b"" if ">" in closed else b"wrote out.privhp")
    assert hp.load(tmp_path / "out.privhp").total > 0

    sample = spawn_closed(closed, "sample", "out.privhp", "-n", "9", "-o", "-", folder=tmp_path)
    if ">" in closed:
        assert sample.returncode == 2
        assert sample.stderr.startswith(b"" if "2>" in closed else b"privhp: error: standard output is closed")
    else:
        assert (sample.returncode, sample.stdout.count(b"\n"), sample.stderr) == (0, 10, b"")

    refused = spawn_closed(closed, "fit", "no.csv", *PLAN, "-o", "no.privhp", folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr.startswith(b"" if "2>" in closed else b"privhp: error: cannot use no.csv")

    piped = spawn_closed(
        closed, "fit", "-", *PLAN, "-o", "in.privhp", "--quiet", folder=tmp_path, input=b"fare\n" + b"1\n" * 1000
    )
    if "<" in closed:
        assert piped.returncode == 2
        assert piped.stderr.startswith(b"" if "2>" in closed else b"privhp: error: standard input is closed")
    else:
        assert (piped.returncode, piped.stderr) == (0, b"")
    left = {"data.csv", "out.privhp"} | ({"in.privhp"} if piped.returncode == 0 else set())
    assert {path.name for path in tmp_path.iterdir()} == left


ENVIRONMENTS = [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "ascii:strict"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
NAMES = ["é.privhp", "\udcff.privhp", "名.privhp"]


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        pytest.param(environment, name, marks=[pytest.mark.slow] * (row != column))
        for row, environment in enumerate(ENVIRONMENTS)
        for column, name in enumerate(NAMES)
    ],
)
def test_names_that_a_terminal_cannot_show(tmp_path, environment, name):
    done = spawn("fit", "data.csv", *PLAN, "-o", name, folder=tmp_path, env=os.environ | environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"wrote ")
    assert (tmp_path / name).exists()
    again = spawn("fit", "data.csv", *PLAN, "-o", name, folder=tmp_path, env=os.environ | environment)
    assert again.returncode == 2
    assert b"exists; choose another name" in again.stderr
    assert again.stderr.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_standard_streams(tmp_path, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "privhp", "fit", "data.csv", *PLAN, "-o", "a.privhp"]
        done = subprocess.run(command, cwd=tmp_path, check=False, timeout=60, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert done.stderr == (
            b"privhp: error: cannot print to standard output: No space left on device; output files are complete\n"
        )
        done = subprocess.run(command, cwd=tmp_path, check=False, timeout=60, stdout=subprocess.PIPE, stderr=full)
        assert (done.returncode, done.stdout) == (2, b"")
        command = [sys.executable, "-m", "privhp", "sample", "a.privhp", "-n", "10", "-o", "-"]
        done = subprocess.run(command, cwd=tmp_path, check=False, timeout=60, stdout=full, stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert hp.load(tmp_path / "a.privhp").total > 0

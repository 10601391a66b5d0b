"""`privhp fit --checkpoint`: each record is counted exactly once, after any interruption."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from cli.running import spawn

PLAN = [
    "--domain",
    "integers:0:255",
    "--epsilon",
    "1",
    "--expected-records",
    "6e4",
    "--depth",
    "8",
    "--exact-depth",
    "8",
]
PLAN += ["--method", "paper", "--hot-cells", "64"]
CHECKPOINT = ["--checkpoint", "state", "--every", "0s"]
ROWS = 60_000

# Without noise, so that the release shows the noise-free counts; small blocks and a pause after each.
WORKER = """
import sys, time
from unittest import mock
import numpy as np
import privhp.collect.noisy_counters, privhp.collect.summary
import privhp.io.sources.text_records, privhp.io.sources.selection
from privhp.cli import main
from privhp.planning.plan import Plan

privhp.io.sources.text_records._BLOCK = 4000
privhp.io.sources.selection.MAX_ROWS = privhp.io.sources.selection.MIN_ROWS = 1000
update = privhp.collect.summary.Summary.update

def slow(self, records, **options):
    update(self, records, **options)
    time.sleep(float(sys.argv[1]))

privhp.collect.summary.Summary.update = slow
sampler = "privhp.collect.noisy_counters.discrete_laplace"
with mock.patch(sampler, lambda size, *, scale: np.zeros(size, dtype=np.int64)):
    sys.exit(main(sys.argv[2:]))
"""


def write_files(folder: Path, kind: str) -> np.ndarray:
    """Write three files; returns the frequency of each number."""
    values = np.random.default_rng(0).integers(0, 256, ROWS)
    for place, part in enumerate(np.array_split(values, 3)):
        if kind == "csv":
            (folder / f"{place}.csv").write_text("n\n" + "".join(f"{value}\n" for value in part))
        else:
            parquet.write_table(pa.table({"n": part}), folder / f"{place}.parquet", row_group_size=7000)
    return np.bincount(values, minlength=256)


def start(folder: Path, kind: str, *options: str, pause: float = 0.0) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-c", WORKER, str(pause), "fit", f"*.{kind}", *PLAN, "-o", "out.privhp", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def released(folder: Path) -> np.ndarray:
    return hp.load(folder / "out.privhp").release.counts[8]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_resume_after_kill(tmp_path, kind, offline):
    expected = write_files(tmp_path, kind)
    rng = np.random.default_rng()
    for _ in range(50 if offline else 1):
        kills = 0
        while (tmp_path / "state").exists() or not (tmp_path / "out.privhp").exists():
            process = start(tmp_path, kind, *CHECKPOINT, "--resume", pause=0.005)
            try:
                process.communicate(timeout=0.25 + 0.3 * rng.random() if kills < 4 else 60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
                continue
            if process.returncode != 0:
                raise AssertionError(process.returncode)
        assert np.array_equal(released(tmp_path), expected)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
            [*(f"{part}.{kind}" for part in range(3)), "out.privhp"]
        )
        (tmp_path / "out.privhp").unlink()


def test_uninterrupted_run(tmp_path):
    expected = write_files(tmp_path, "csv")
    process = start(tmp_path, "csv", *CHECKPOINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert np.array_equal(released(tmp_path), expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.csv", "1.csv", "2.csv", "out.privhp"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt(tmp_path, number):
    expected = write_files(tmp_path, "csv")
    process = start(tmp_path, "csv", "--checkpoint", "state", "--every", "1h", pause=0.02)
    while not (tmp_path / "state").exists():
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode() == (
        "stopped; state holds the state and is confidential; continue with the same command and --resume\n"
    )
    summary = hp.resume(tmp_path / "state")
    assert 0 < summary.state()[-256:].sum() < ROWS
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600
    out, err = start(tmp_path, "csv", "--checkpoint", "state", "--resume").communicate(timeout=60)
    assert err == b""
    assert np.array_equal(released(tmp_path), expected)


def test_crash_after_release(run, tmp_path, monkeypatch):
    """The checkpoint exists until the release is written, so a second release has the same noise."""
    write_files(tmp_path, "csv")
    unlink = Path.unlink

    def fails(path, **options):
        if path.name == "state":
            raise OSError(5, "Input/output error")
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", fails)
        assert run("fit", "*.csv", *PLAN, "-o", "out.privhp", *CHECKPOINT).code == 1
    first = (tmp_path / "out.privhp").read_bytes()
    assert run("fit", "*.csv", *PLAN, "-o", "out.privhp", *CHECKPOINT, "--resume", "--force").code == 0
    assert (tmp_path / "out.privhp").read_bytes() == first
    assert not (tmp_path / "state").exists()


@pytest.fixture
def stopped_fit(tmp_path, monkeypatch):
    """A checkpoint of three files, after the first few batches."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, "csv")
    process = start(tmp_path, "csv", *CHECKPOINT, pause=0.02)
    while not (tmp_path / "state").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    return ["fit", "*.csv", *PLAN, "-o", "out.privhp", *CHECKPOINT]


def test_resume_with_other_arguments(refused, stopped_fit, tmp_path):
    state = (tmp_path / "state").read_bytes()
    assert "continue it with --resume, or remove it" in refused(*stopped_fit)
    assert "started with another plan" in refused(*stopped_fit, "--resume", "--max-records-per-person", "2")
    assert "other files, columns or options" in refused("fit", "0.csv", *stopped_fit[2:], "--resume")
    assert "started with another plan" in refused(*stopped_fit, "--resume", "--columns", "n")
    content = (tmp_path / "2.csv").read_bytes()
    (tmp_path / "2.csv").write_bytes(content + b"5\n")
    assert "other files, columns or options" in refused(*stopped_fit, "--resume")
    assert (tmp_path / "state").read_bytes() == state
    (tmp_path / "state").write_bytes(state[:-1] + bytes([state[-1] ^ 1]))
    assert "damaged" in refused(*stopped_fit, "--resume")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.csv", "1.csv", "2.csv", "state"]


def test_second_fit_with_the_same_checkpoint(tmp_path):
    expected = write_files(tmp_path, "csv")
    first = start(tmp_path, "csv", *CHECKPOINT, pause=0.02)
    while not (tmp_path / "state").exists():
        time.sleep(0.01)
    second = start(tmp_path, "csv", *CHECKPOINT)
    _, err = second.communicate(timeout=60)
    assert second.returncode == 2
    assert err.decode() == ("privhp: error: another process uses state; wait until it ends\n")
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert np.array_equal(released(tmp_path), expected)


def test_locked_checkpoint(run, refused, stopped_fit, tmp_path):
    Path("link").symlink_to("state")
    with open("state", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "another process uses state" in refused(*stopped_fit, "--resume")
        assert "another process uses link" in refused(
            *("link" if word == "state" else word for word in stopped_fit), "--resume"
        )
    assert run(*stopped_fit, "--resume").code == 0


@pytest.mark.parametrize("name", ["-", "pipe"])
def test_checkpoint_of_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    done = spawn("fit", name, *PLAN, "-o", "out.privhp", *CHECKPOINT, folder=tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert b"cannot be read again from a position" in done.stderr
    assert b"write the data to a file first" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_wrong_options(refused, tmp_path):
    (tmp_path / "a.csv").write_text("n\n5\n")
    fit = ["fit", "a.csv", *PLAN, "-o", "out.privhp"]
    assert "--resume needs --checkpoint FILE" in refused(*fit, "--resume")
    assert "such as 30s, 5m or 1h" in refused(*fit, "--checkpoint", "state", "--every", "soon")
    assert "is an input or the release" in refused(*fit, "--checkpoint", "out.privhp")
    assert "is an input or the release" in refused(*fit, "--checkpoint", "a.csv")
    assert "create it first" in refused(*fit, "--checkpoint", "no/state")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("output", "checkpoint"),
    [
        ("out", "../{folder}/out"),
        ("out", "here/out"),
        ("out", "link"),
    ],
)
def test_release_in_place_of_checkpoint(refused, tmp_path, output, checkpoint):
    (tmp_path / "a.csv").write_text("n\n5\n")
    (tmp_path / "here").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to("out")
    checkpoint = checkpoint.format(folder=tmp_path.name)
    assert "is an input or the release" in refused("fit", "a.csv", *PLAN, "-o", output, "--checkpoint", checkpoint)

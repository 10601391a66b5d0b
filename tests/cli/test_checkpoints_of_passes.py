"""`privhp fit --checkpoint` in every pass of a plan that learns: each row is passed exactly once in each pass."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import privhp as hp
from privhp.collect.checkpoint import Checkpoint

PLAN = ["--domain", "n=integers:0:1000000", "--epsilon", "1", "--expected-records", "3e4", "--memory", "16KiB"]
ROWS = 30_000

# Without noise, and with samples of all rows, so that the counts of each pass show which rows it passed. The worker
# sends itself a signal at one event, and writes the count of each complete pass to a file.
WORKER = """
import json, os, sys
from unittest import mock
import numpy as np
import privhp.collect.ingest, privhp.collect.summary, privhp.io.sources.text_records
from privhp.cli import main
from privhp.collect.ingest import Ingestion, CheckpointedIngestion
from privhp.collect.summary import Summary

privhp.io.sources.text_records._BLOCK = 6000
stop_event, stop_signal = sys.argv[1], int(sys.argv[2])
run_pass, update, save = Ingestion._run_pass, Summary.update, CheckpointedIngestion.save
number = batches = saves = 0

def note(event):
    if event == stop_event:
        os.kill(os.getpid(), stop_signal)

def noted_pass(self, should_stop):
    global number, batches
    number, batches = self.number, 0
    done = run_pass(self, should_stop)
    if done:
        with open("passes", "a") as log:
            log.write(json.dumps([number, int(self.summary.state()[-self.summary.plan.leaves:].sum())]) + "\\n")
    return done

def noted_update(self, records, **options):
    global batches
    batches += 1
    note(f"before batch {batches} of pass {number}")
    update(self, records, **options)
    note(f"after batch {batches} of pass {number}")

def noted_save(self):
    global saves
    saves += 1
    note(f"before save {saves}")
    note(f"before saving batch {batches} of pass {number}")
    save(self)
    note(f"after saving batch {batches} of pass {number}")
    note(f"after save {saves}")

Ingestion._run_pass, Summary.update, CheckpointedIngestion.save = noted_pass, noted_update, noted_save
no_noise = mock.patch("privhp.collect.summary.discrete_laplace", lambda size, *, scale: np.zeros(size, dtype=np.int64))
all_rows = mock.patch("privhp.collect.ingest.poisson_sample", lambda rows, *, rate: np.arange(rows))
with no_noise, all_rows:
    sys.exit(main(sys.argv[3:]))
"""
NEVER = "never"


def write_file(folder: Path) -> None:
    values = np.random.default_rng(0).lognormal(8, 1, ROWS).astype(np.int64)
    (folder / "data.csv").write_text("n\n" + "".join(f"{value}\n" for value in values))


def fit(folder: Path, stop: str, number: int, *options: str) -> "subprocess.CompletedProcess[bytes]":
    """Run the fit with a checkpoint, and send a signal at an event."""
    command = [sys.executable, "-c", WORKER, stop, str(int(number)), "fit", "data.csv", *PLAN, "-o", "out.privhp"]
    command += ["--checkpoint", "state", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)


def passes(folder: Path) -> list[list[int]]:
    """Number and count of each complete pass, in order."""
    return [json.loads(line) for line in (folder / "passes").read_text().splitlines()]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> hp.Generator:
    """The release of a fit that is never stopped."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    write_file(folder)
    done = fit(folder, NEVER, 0)
    assert (done.returncode, done.stderr) == (0, b"")
    assert passes(folder) == [[0, ROWS], [1, ROWS], [2, ROWS]]
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "out.privhp", "passes"]
    generator = hp.load(folder / "out.privhp")
    assert generator.partition.max_level > generator.partition.min_level + 3
    return generator


def check_resumed(folder: Path, uninterrupted: hp.Generator) -> None:
    """The resumed fit passes each row once in each pass, and gives the release of an uninterrupted one."""
    done = fit(folder, NEVER, 0, "--resume")
    assert (done.returncode, done.stderr) == (0, b"")
    assert dict(map(tuple, passes(folder))) == {0: ROWS, 1: ROWS, 2: ROWS}
    assert hp.load(folder / "out.privhp").release == uninterrupted.release
    assert not (folder / "state").exists()


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM])
def test_stop_in_each_pass(tmp_path, uninterrupted, stop_signal):
    """The batch is counted to its end, and the checkpoint is that of its pass, although none was due."""
    write_file(tmp_path)
    for number in (0, 1, 2):
        done = fit(tmp_path, f"before batch 10 of pass {number}", stop_signal, "--every", "1h", "--resume")
        assert (done.returncode, done.stdout) == (130, b"")
        assert b"continue with the same command and --resume" in done.stderr
        with (tmp_path / "state").open("rb") as file:
            checkpoint = Checkpoint.read(file)
        assert (checkpoint.number, checkpoint.learning) == (number, number < 2)
        assert 0 < checkpoint.summary.state()[-checkpoint.summary.plan.leaves :].sum() < ROWS
    check_resumed(tmp_path, uninterrupted)


BATCHES = ["before batch 5", "after batch 5", "before saving batch 5", "after saving batch 5"]


def test_kill_in_each_pass(tmp_path, uninterrupted):
    """Batches are numbered in each run from its beginning, or from that of the pass."""
    write_file(tmp_path)
    for number in (0, 1, 2):
        for place in BATCHES:
            done = fit(tmp_path, f"{place} of pass {number}", signal.SIGKILL, "--every", "0s", "--resume")
            assert done.returncode == -signal.SIGKILL, (number, place)
    check_resumed(tmp_path, uninterrupted)


def test_kill_between_passes(tmp_path, uninterrupted):
    """A run saves before the first row, at the end of each pass, and each refined plan; a resumed run begins later."""
    write_file(tmp_path)
    done = fit(tmp_path, "after save 1", signal.SIGKILL, "--every", "1h")
    assert done.returncode == -signal.SIGKILL
    for _ in (0, 1):
        for event in ("before save 1", "after save 1", "before save 2", "after save 2"):
            done = fit(tmp_path, event, signal.SIGKILL, "--every", "1h", "--resume")
            assert done.returncode == -signal.SIGKILL
    for event in ("before save 1", "after save 1"):
        assert fit(tmp_path, event, signal.SIGKILL, "--every", "1h", "--resume").returncode == -signal.SIGKILL
    check_resumed(tmp_path, uninterrupted)


def test_resume_with_other_passes(tmp_path, uninterrupted):
    """A checkpoint of a learning pass belongs to its plan, and is no summary to resume or merge."""
    write_file(tmp_path)
    fit(tmp_path, "before batch 10 of pass 1", signal.SIGINT)
    before = (tmp_path / "state").read_bytes()
    for other in (["--passes", "2"], ["--passes", "1"]):
        done = fit(tmp_path, NEVER, 0, "--resume", *other)
        assert done.returncode == 2
        assert b"started with another plan" in done.stderr
    with pytest.raises(hp.StateError, match="learning pass"):
        hp.resume(tmp_path / "state")
    assert (tmp_path / "state").read_bytes() == before
    check_resumed(tmp_path, uninterrupted)

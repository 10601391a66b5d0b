"""`privhp fit --checkpoint` in every pass of a plan that learns: each row is passed exactly once in each pass."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import privhp as hp
from faults.fits import Done, Event, serve_commands
from privhp.collect.checkpoint import Checkpoint

PLAN = ["--domain", "n=integers:0:1000000", "--epsilon", "1", "--expected-records", "3e4", "--memory", "16KiB"]
ROWS = 30_000
NEVER = "never"


def write_file(folder: Path) -> None:
    values = np.random.default_rng(0).lognormal(8, 1, ROWS).astype(np.int64)
    (folder / "data.csv").write_text("n\n" + "".join(f"{value}\n" for value in values))


@pytest.fixture(scope="module")
def fit() -> Iterator[Callable[..., Done]]:
    """Run the fit in a folder with a checkpoint, and send it a signal at an event."""
    with serve_commands(block=6000) as commands:

        def run(folder: Path, stop: str, number: int, *options: str) -> Done:
            arguments = ["fit", "data.csv", *PLAN, "-o", "out.privhp", "--checkpoint", "state", *options]
            return commands.run(folder, *arguments, event=Event(stop, int(number)), log=folder / "passes")

        yield run


def passes(folder: Path) -> list[list[int]]:
    """Number and count of each complete pass, in order."""
    return [json.loads(line) for line in (folder / "passes").read_text().splitlines()]


@pytest.fixture(scope="module")
def uninterrupted(fit: Callable[..., Done], tmp_path_factory: pytest.TempPathFactory) -> hp.Generator:
    """The release of a fit that is never stopped."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    write_file(folder)
    done = fit(folder, NEVER, 0)
    assert (done.code, done.output.split(":")[0]) == (0, "wrote out.privhp")
    assert passes(folder) == [[0, ROWS], [1, ROWS], [2, ROWS]]
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "out.privhp", "passes"]
    generator = hp.load(folder / "out.privhp")
    assert generator.partition.max_level > generator.partition.min_level + 3
    return generator


def check_resumed(fit: Callable[..., Done], folder: Path, uninterrupted: hp.Generator) -> None:
    """The resumed fit passes each row once in each pass, and gives the release of an uninterrupted one."""
    done = fit(folder, NEVER, 0, "--resume")
    assert (done.code, done.output.split(":")[0]) == (0, "wrote out.privhp")
    assert dict(map(tuple, passes(folder))) == {0: ROWS, 1: ROWS, 2: ROWS}
    assert hp.load(folder / "out.privhp").release == uninterrupted.release
    assert not (folder / "state").exists()


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM])
def test_stop_in_each_pass(fit, tmp_path, uninterrupted, stop_signal):
    """The batch is counted to its end, and the checkpoint is that of its pass, although none was due."""
    write_file(tmp_path)
    for number in (0, 1, 2):
        done = fit(tmp_path, f"before batch 10 of pass {number}", stop_signal, "--every", "1h", "--resume")
        assert done.code == 130
        assert done.output.endswith("continue with the same command and --resume\n")
        assert done.output.count("\n") == 1
        with (tmp_path / "state").open("rb") as file:
            checkpoint = Checkpoint.read(file)
        assert (checkpoint.number, checkpoint.learning) == (number, number < 2)
        assert 0 < checkpoint.summary.state()[-checkpoint.summary.plan.leaves :].sum() < ROWS
    check_resumed(fit, tmp_path, uninterrupted)


BATCHES = ["before batch 5", "after batch 5", "before saving batch 5", "after saving batch 5"]


def test_kill_in_each_pass(fit, tmp_path, uninterrupted):
    """Batches are numbered in each run from its beginning, or from that of the pass."""
    write_file(tmp_path)
    for number in (0, 1, 2):
        for place in BATCHES:
            done = fit(tmp_path, f"{place} of pass {number}", signal.SIGKILL, "--every", "0s", "--resume")
            assert done.code == -signal.SIGKILL, (number, place)
    check_resumed(fit, tmp_path, uninterrupted)


def test_kill_between_passes(fit, tmp_path, uninterrupted):
    """A run saves before the first row, at the end of each pass, and each refined plan; a resumed run begins later."""
    write_file(tmp_path)
    done = fit(tmp_path, "after save 1", signal.SIGKILL, "--every", "1h")
    assert done.code == -signal.SIGKILL
    for _ in (0, 1):
        for event in ("before save 1", "after save 1", "before save 2", "after save 2"):
            done = fit(tmp_path, event, signal.SIGKILL, "--every", "1h", "--resume")
            assert done.code == -signal.SIGKILL
    for event in ("before save 1", "after save 1"):
        assert fit(tmp_path, event, signal.SIGKILL, "--every", "1h", "--resume").code == -signal.SIGKILL
    check_resumed(fit, tmp_path, uninterrupted)


def test_resume_with_other_passes(fit, tmp_path, uninterrupted):
    """A checkpoint of a learning pass belongs to its plan, and is no summary to resume or merge."""
    write_file(tmp_path)
    fit(tmp_path, "before batch 10 of pass 1", signal.SIGINT)
    before = (tmp_path / "state").read_bytes()
    for other in (["--passes", "2"], ["--passes", "1"]):
        done = fit(tmp_path, NEVER, 0, "--resume", *other)
        assert done.code == 2
        assert "started with another plan" in done.output
    with pytest.raises(hp.StateError, match="learning pass"):
        hp.resume(tmp_path / "state")
    assert (tmp_path / "state").read_bytes() == before
    check_resumed(fit, tmp_path, uninterrupted)

"""One call to the file system fails or ends the process.

`privhp fit` with a checkpoint, repeated, ends as if it had not; other commands write a complete file or none.
By default some calls are chosen, with --slow every call.
"""

import errno
import itertools
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

import privhp as hp
from faults.fits import KILL, NO_FAULT, Commands, Done, Fault, compile_shim, serve_commands
from privhp.io.disk import _partial_prefix

ROWS, BLOCK = 400, 600
FIT = ["fit", "data.csv", "--plan", "plan", "-o", "out", "--checkpoint", "state", "--every", "0s", "--resume"]
PLANS = {
    "one pass": hp.Plan.auto(hp.Integers(0, 255), epsilon=1, expected_records=1e5),
    "three passes": hp.Plan.auto(hp.Integers(0, 65535), epsilon=1, expected_records=4e4, memory="16 KiB", passes=3),
}
FAULTS = {
    "killed": Fault(0, KILL),
    "killed, without anonymous files": Fault(0, KILL, named=True),
    "no space": Fault(0, errno.ENOSPC),
    "no space from then on": Fault(0, errno.ENOSPC, lasts=True),
    "no space, without anonymous files": Fault(0, errno.ENOSPC, named=True),
    "input or output error": Fault(0, errno.EIO),
    "disk lost": Fault(0, errno.EIO, lasts=True),
    "interrupted": Fault(0, errno.EINTR),
    "no locks": Fault(0, errno.ENOLCK),
}


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    shim = compile_shim(tmp_path_factory.mktemp("shim"))
    if shim is None:
        pytest.skip("faults are injected by a library for Linux, which needs a C compiler")
    with serve_commands(shim, block=BLOCK) as served:
        yield served


class Fits:
    """A fit that can be repeated from the same beginning.

    Args:
        commands: Where the commands run.
        folder: An empty folder.
        plan: The plan.
        killed: Whether the beginning is the checkpoint of a run that was killed half-way, and a partial one.

    Attributes:
        folder: Folder of the fit.
        calls: Number of calls of a fit without a fault.
        expected: Its release.
    """

    def __init__(self, commands: Commands, folder: Path, plan: hp.Plan, *, killed: bool) -> None:
        self._commands = commands
        self.folder, self._beginning = folder / "run", folder / "beginning"
        self.folder.mkdir()
        values = np.random.default_rng(0).integers(0, 256, ROWS)
        (self.folder / "data.csv").write_text("n\n" + "".join(f"{value}\n" for value in values))
        (self.folder / "plan").write_text(json.dumps(plan.spec()))
        shutil.copytree(self.folder, self._beginning)
        self.calls = self._run_to_end()
        if killed:
            self.begin()
            assert self.run(Fault(self.calls // 2)).code < 0
            shutil.copy(self.folder / "state", self.folder / f"{_partial_prefix(Path('state'))}0.partial")
            shutil.copytree(self.folder, self._beginning, dirs_exist_ok=True)
            self.calls = self._run_to_end()
        self.expected = hp.load(self.folder / "out").release

    def _run_to_end(self) -> int:
        done = self.run(NO_FAULT)
        assert done.code == 0
        assert done.output.startswith("wrote out: ")
        return done.calls

    def begin(self) -> None:
        """Restore the beginning."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._beginning, self.folder)

    def run(self, fault: Fault) -> Done:
        return self._commands.run(self.folder, *FIT, fault=fault)


def check_failed(done: Done, fault: Fault, success: str = "wrote out: ") -> None:
    """The fault happened, and the command has ended with a line about it, or has done its work."""
    assert done.fired, fault
    if fault.error == KILL:
        assert (done.code, done.output) == (-9, ""), (fault, done)
    elif done.code == 0:
        assert done.output.startswith(success), (fault, done)
    else:
        assert done.code in (1, 2), (fault, done)
        assert done.output.startswith("privhp: error: "), (fault, done)
        assert done.output.count("\n") == 1, (fault, done)
        assert "internal error" not in done.output, (fault, done)


def check_repeated(fits: Fits, fault: Fault) -> None:
    """The same command ends with the release of a fit without a fault, and leaves nothing else."""
    done = fits.run(NO_FAULT._replace(named=fault.named))
    assert done.code == 0, (fault, done)
    assert hp.load(fits.folder / "out").release == fits.expected, fault
    assert sorted(path.name for path in fits.folder.iterdir()) == ["data.csv", "out", "plan"], fault


def check_faults(fits: Fits, fault: Fault, calls: Iterable[int]) -> None:
    for call in calls:
        fits.begin()
        here = fault._replace(call=call)
        check_failed(fits.run(here), here)
        check_repeated(fits, here)


@pytest.fixture(
    scope="module",
    params=itertools.product(PLANS, (False, True)),
    ids=lambda case: f"{case[0]}, {'resumed' if case[1] else 'from the start'}",
)
def fits(request: pytest.FixtureRequest, commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Fits:
    plan, killed = request.param
    return Fits(commands, tmp_path_factory.mktemp("fits"), PLANS[plan], killed=killed)


@pytest.mark.parametrize("kind", FAULTS)
def test_fault_at_a_call(fits: Fits, kind: str) -> None:
    assert fits.calls > 100
    rng = np.random.default_rng([list(FAULTS).index(kind), fits.calls])
    check_faults(fits, FAULTS[kind], [int(rng.integers(fits.calls))])


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAULTS)
def test_fault_at_every_call(fits: Fits, kind: str, record_property: Callable[[str, object], None]) -> None:
    check_faults(fits, FAULTS[kind], range(fits.calls))
    record_property("kills" if FAULTS[kind].error == KILL else "faults", fits.calls)


COMMANDS = {
    "fit": ["fit", "data.csv", "--plan", "plan", "-o", "out"],
    "fit --summary-only": ["fit", "data.csv", "--plan", "plan", "--summary-only", "-o", "out"],
    "merge": ["merge", "a", "b", "-o", "out"],
    "sample to .csv": ["sample", "release", "-n", "2000", "--seed", "1", "-o", "out.csv"],
    "sample to .parquet": ["sample", "release", "-n", "2000", "--seed", "1", "-o", "out.parquet"],
    "report": ["report", "release", "-o", "out.html"],
}


class Folder:
    """A folder with inputs of all commands."""

    def __init__(self, folder: Path) -> None:
        self._beginning, self.path, plan = folder / "beginning", folder / "run", PLANS["one pass"]
        self._beginning.mkdir()
        values = np.random.default_rng(0).integers(0, 256, ROWS)
        (self._beginning / "data.csv").write_text("n\n" + "".join(f"{value}\n" for value in values))
        (self._beginning / "plan").write_text(json.dumps(plan.spec()))
        hp.save(hp.fit(values, plan=plan), self._beginning / "release")
        for name in "ab":
            hp.save(hp.Summary(plan), self._beginning / name)

    def begin(self) -> None:
        """Restore the beginning."""
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self._beginning, self.path)

    def changes(self) -> dict[str, int]:
        """Size of each new file. The files of the beginning must be there, unchanged; an empty partial file may be."""
        before, after = (
            {path.name: path.read_bytes() for path in own.iterdir()} for own in (self._beginning, self.path)
        )
        assert before.items() <= after.items()
        return {name: len(own) for name, own in after.items() if name not in before and (own or name[0] != ".")}


def check_command(commands: Commands, folder: Folder, command: str, chosen: int | None) -> int:
    """Fail calls of a command, a number of them or all: its file is complete, or there is none and a line says why."""
    folder.begin()
    calls, expected = commands.run(folder.path, *COMMANDS[command]).calls, folder.changes()
    rng = np.random.default_rng(calls)
    numbers = range(calls) if chosen is None else rng.integers(0, calls, chosen).tolist()
    for call, kind in itertools.product(numbers, ("no space", "disk lost")):
        folder.begin()
        done = commands.run(folder.path, *COMMANDS[command], fault=FAULTS[kind]._replace(call=call))
        check_failed(done, FAULTS[kind]._replace(call=call), "wrote out")
        complete = done.code == 0 or " is complete, but" in done.output
        assert folder.changes() == (expected if complete else {}), (call, kind, done)
    return len(numbers) * 2


@pytest.mark.parametrize("command", COMMANDS)
def test_fault_in_a_command(commands: Commands, tmp_path: Path, command: str) -> None:
    check_command(commands, Folder(tmp_path), command, 2)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_fault_at_every_call_of_a_command(
    commands: Commands, tmp_path: Path, command: str, record_property: Callable[[str, object], None]
) -> None:
    record_property("faults in other commands", check_command(commands, Folder(tmp_path), command, None))

"""Saving when the disk is full, when a call fails and when the process is killed: a whole file is always there."""

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from forgery import PLAN, bytes_of
from privhp.io import disk


def partial(path: Path) -> Path:
    return path.with_name(path.name + ".partial")


def test_a_leftover_of_a_crash_is_replaced_by_a_save_and_removed_by_a_resume(tmp_path: Path) -> None:
    summary, path = hp.Summary(PLAN), tmp_path / "file"
    partial(path).write_bytes(b"half a checkpoint")
    hp.save(summary, path)
    assert not partial(path).exists()
    partial(path).write_bytes(b"half a checkpoint")
    assert np.array_equal(hp.resume(path).state(), summary.state())
    assert not partial(path).exists()


def test_a_leftover_stays_if_the_checkpoint_cannot_be_resumed(tmp_path: Path) -> None:
    """It may be all there is to look into."""
    path = tmp_path / "file"
    path.write_bytes(b"")
    partial(path).write_bytes(b"half a checkpoint")
    with pytest.raises(hp.FileError):
        hp.resume(path)
    assert partial(path).exists()


@pytest.mark.parametrize("exists", [True, False])
def test_a_leftover_that_is_a_link_is_not_followed(tmp_path: Path, exists: bool) -> None:
    path, elsewhere = tmp_path / "file", tmp_path / "elsewhere"
    if exists:
        elsewhere.write_bytes(b"untouched")
    partial(path).symlink_to(elsewhere)
    hp.save(hp.Summary(PLAN), path)
    assert elsewhere.exists() == exists
    assert not exists or elsewhere.read_bytes() == b"untouched"
    assert not path.is_symlink()


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_a_leftover_that_cannot_be_opened_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    """By the time it is found to be gone, another process may have begun a file of its own there."""
    path = tmp_path / "checkpoint"
    hp.save(hp.Summary(PLAN), path)
    partial(path).write_bytes(b"another's")
    real = os.open

    def denied(name: Any, flags: int, *args: Any, **options: Any) -> int:
        if Path(name) == partial(path) and not flags & os.O_CREAT:
            raise error
        return real(name, flags, *args, **options)

    monkeypatch.setattr(os, "open", denied)
    with suppress(PermissionError):
        hp.resume(path)
    assert partial(path).read_bytes() == b"another's"


def test_a_pipe_in_place_of_a_leftover_is_removed_without_waiting_for_it(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    os.mkfifo(partial(path))
    hp.save(hp.Summary(PLAN), path)
    hp.resume(path)
    assert not partial(path).exists()


def test_a_folder_that_does_not_exist_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(hp.FileError, match="there is no such folder"):
        hp.save(hp.Summary(PLAN), tmp_path / "nowhere" / "file")
    assert not any(tmp_path.iterdir())


def test_a_folder_in_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError):
        hp.save(hp.Summary(PLAN), tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


class Watch:
    """Notes every call that a save makes to the operating system, and fails one of them."""

    def __init__(self, *, failing: int = -1, error: BaseException | None = None) -> None:
        self.calls: list[str] = []
        self.failing, self.error = failing, error

    def watched(self, name: str, call: Callable[..., Any], *, first: bool = False) -> Callable[..., Any]:
        """The same call, noted; `first` makes it before it fails, as closing a file does."""

        def noted(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            fails = len(self.calls) == self.failing + 1
            result = call(*args, **kwargs) if first or not fails else None
            if fails:
                assert self.error is not None
                raise self.error
            return result

        return noted

    @contextmanager
    def watching(self) -> Iterator[None]:
        watch = self

        class File:
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                self.file = open(*args, **kwargs)  # noqa: SIM115 - closed when it is left

            def __enter__(self) -> "File":
                return self

            def __exit__(self, *error: object) -> None:
                watch.watched("close file", self.file.close, first=True)()

            def __getattr__(self, name: str) -> Callable[..., Any]:
                return watch.watched(f"{name} file", getattr(self.file, name))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "open", File, raising=False)
            for name in ("open", "fsync", "replace", "unlink", "close"):
                patch.setattr(os, name, self.watched(name, getattr(os, name), first=name == "close"))
            yield


def test_the_file_is_on_the_disk_before_it_is_renamed_and_the_folder_after(tmp_path: Path) -> None:
    watch = Watch()
    with watch.watching():
        hp.save(hp.Summary(PLAN), tmp_path / "file")
    order = ["writelines file", "flush file", "fsync", "replace", "fsync"]
    assert [call for call in watch.calls if call in order] == order


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "disk full"), OSError(errno.EIO, "I/O"), KeyboardInterrupt()])
def test_a_fault_at_any_call_leaves_a_whole_file_and_nothing_beside_it(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "file"
    old, new = hp.Summary(PLAN), hp.Summary(PLAN)
    before, after = bytes_of(old, path), bytes_of(new, path)
    unfailing = Watch()
    with unfailing.watching():
        hp.save(new, path)
    assert len(unfailing.calls) >= 10
    renamed = unfailing.calls.index("replace")
    for failing in range(len(unfailing.calls)):
        hp.save(old, path)
        watch = Watch(failing=failing, error=error)
        with watch.watching(), pytest.raises(type(error)):
            hp.save(new, path)
        assert path.read_bytes() == (before if failing <= renamed else after), unfailing.calls[failing]
        assert [item.name for item in tmp_path.iterdir()] == ["file"], unfailing.calls[failing]
        hp.resume(path)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Writing more fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("exact_depth", [1, 14])
def test_a_disk_that_is_full_at_any_byte_keeps_the_file_before(tmp_path: Path, exact_depth: int) -> None:
    plan = hp.Plan(hp.Interval(0, 1), epsilon=1, budgets={exact_depth: 1}, exact_depth=exact_depth)
    path, summary = tmp_path / "file", hp.Summary(plan)
    before = bytes_of(summary, path)
    summary.update([0.5])
    for size in (0, 1, 16, len(before) // 2, len(before) - 32, len(before) - 1):
        with files_of_at_most(size), pytest.raises(OSError):
            hp.save(summary, path)
        assert path.read_bytes() == before
        assert [item.name for item in tmp_path.iterdir()] == ["file"]
    with files_of_at_most(len(before)):
        hp.save(summary, path)
    assert np.array_equal(hp.resume(path).state(), summary.state())


WRITER = """
import sys
from pathlib import Path
from privhp.io.disk import replace_file

with replace_file(Path(sys.argv[1])) as file:
    file.write(b"slowly")
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_of_two_processes_that_write_to_one_path_the_second_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "begun\n"
        with pytest.raises(hp.FileError, match="another process is writing"):
            hp.save(hp.Summary(PLAN), path)
        first.communicate("")
    assert path.read_bytes() == b"slowly"
    hp.save(hp.Summary(PLAN), path)
    assert hp.resume(path).plan == PLAN
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


NURSERY = """
import os, signal, sys
import privhp as hp

def kill_at(call):
    calls = 0
    def profile(frame, event, argument):
        nonlocal calls
        calls += event == "c_call"
        if calls > call:
            os.kill(os.getpid(), signal.SIGKILL)
    return profile

path = sys.argv[1]
hp.save(hp.resume(path), path + ".first")  # imports what children need, who may have little time
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        summary, call = hp.resume(path), int(line)
        while True:
            summary.update([7])
            if call >= 0:
                sys.setprofile(kill_at(call))
            hp.save(summary, path)
            sys.setprofile(None)
            if call >= 0:
                os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Nursery:
    """A process whose children go on with a checkpoint and save it again and again, until they are killed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._read() == "ready"

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def child(self, *, killed_at_call: int = -1) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{killed_at_call}\n")
        self.process.stdin.flush()
        return int(self._read())

    def was_killed(self) -> bool:
        return os.WIFSIGNALED(int(self._read()))

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate("")


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    hp.save(hp.Summary(PLAN), tmp_path / "file")
    with Nursery(tmp_path / "file") as nursery:
        yield nursery


def records_since(start: hp.Summary, now: hp.Summary) -> int:
    """How many times the one record of the nursery has been counted; all cells must agree."""
    once = hp.Summary(PLAN)
    before = once.state()
    once.update([7])
    step, change = once.state() - before, now.state() - start.state()
    times = int(change.max())
    assert np.array_equal(change, times * step)
    assert now.merged_ids == start.merged_ids
    return times


def test_a_kill_at_any_call_of_a_save_leaves_a_whole_checkpoint(nursery: Nursery) -> None:
    """The first save that gets through without being killed was killed at every call before."""
    start = hp.resume(nursery.path)
    seen, leftovers, call, killed = 0, 0, 0, True
    while killed:
        nursery.child(killed_at_call=call)
        killed = nursery.was_killed()
        leftovers += partial(nursery.path).exists()
        times = records_since(start, hp.resume(nursery.path))
        assert not partial(nursery.path).exists()
        assert times in (seen, seen + 1)
        seen, call = times, call + 1
    assert call > 10
    assert leftovers > 1, "no kill fell between opening and renaming, so this test shows nothing"
    assert seen > 1, "no kill fell after renaming"


def test_kills_at_random_moments_leave_a_whole_checkpoint(nursery: Nursery, offline: bool) -> None:
    start, seen = hp.resume(nursery.path), 0
    moments = random.Random(0)
    for turn in range(1000 if offline else 30):
        inode = nursery.path.stat().st_ino
        child = nursery.child()
        while turn % 2 and nursery.path.stat().st_ino == inode:  # every other child saves at least once
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.03))
        os.kill(child, signal.SIGKILL)
        assert nursery.was_killed()
        times = records_since(start, hp.resume(nursery.path))
        assert times >= seen
        assert not partial(nursery.path).exists()
        seen = times
    assert seen >= turn // 2

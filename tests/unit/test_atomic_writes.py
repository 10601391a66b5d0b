"""Atomic writes: full disks, failing calls and killed processes leave a complete file."""

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


def test_partial_file_of_crash_is_removed(tmp_path: Path) -> None:
    summary, path = hp.Summary(PLAN), tmp_path / "file"
    partial(path).write_bytes(b"half a checkpoint")
    hp.save(summary, path)
    assert not partial(path).exists()
    partial(path).write_bytes(b"half a checkpoint")
    assert np.array_equal(hp.resume(path).state(), summary.state())
    assert not partial(path).exists()


def test_partial_file_stays_if_resume_fails(tmp_path: Path) -> None:
    """The partial file may be the only remaining data."""
    path = tmp_path / "file"
    path.write_bytes(b"")
    partial(path).write_bytes(b"half a checkpoint")
    with pytest.raises(hp.FileError):
        hp.resume(path)
    assert partial(path).exists()


@pytest.mark.parametrize("exists", [True, False])
def test_symbolic_link_at_partial_path(tmp_path: Path, exists: bool) -> None:
    path, elsewhere = tmp_path / "file", tmp_path / "elsewhere"
    if exists:
        elsewhere.write_bytes(b"untouched")
    partial(path).symlink_to(elsewhere)
    hp.save(hp.Summary(PLAN), path)
    assert elsewhere.exists() == exists
    assert not exists or elsewhere.read_bytes() == b"untouched"
    assert not path.is_symlink()


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_partial_file_of_other_process_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    """Another process may have created the file after the first attempt to create it."""
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


def test_pipe_at_partial_path(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    os.mkfifo(partial(path))
    hp.save(hp.Summary(PLAN), path)
    hp.resume(path)
    assert not partial(path).exists()


def test_save_in_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(hp.FileError, match="there is no such folder"):
        hp.save(hp.Summary(PLAN), tmp_path / "nowhere" / "file")
    assert not any(tmp_path.iterdir())


def test_save_over_folder(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError):
        hp.save(hp.Summary(PLAN), tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


class CallLog:
    """Log of the system calls of a save; one of them can fail."""

    def __init__(self, *, failing: int = -1, error: BaseException | None = None) -> None:
        self.calls: list[str] = []
        self.failing, self.error = failing, error

    def watched(self, name: str, call: Callable[..., Any], *, first: bool = False) -> Callable[..., Any]:
        """The call with a log entry; with `first` it is executed before it fails."""

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


def test_order_of_fsync_and_rename(tmp_path: Path) -> None:
    watch = CallLog()
    with watch.watching():
        hp.save(hp.Summary(PLAN), tmp_path / "file")
    order = ["writelines file", "flush file", "fsync", "replace", "fsync"]
    assert [call for call in watch.calls if call in order] == order


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "disk full"), OSError(errno.EIO, "I/O"), KeyboardInterrupt()])
def test_fault_at_each_call_of_save(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "file"
    old, new = hp.Summary(PLAN), hp.Summary(PLAN)
    before, after = bytes_of(old, path), bytes_of(new, path)
    unfailing = CallLog()
    with unfailing.watching():
        hp.save(new, path)
    assert len(unfailing.calls) >= 10
    renamed = unfailing.calls.index("replace")
    for failing in range(len(unfailing.calls)):
        hp.save(old, path)
        watch = CallLog(failing=failing, error=error)
        with watch.watching(), pytest.raises(type(error)):
            hp.save(new, path)
        assert path.read_bytes() == (before if failing <= renamed else after), unfailing.calls[failing]
        assert [item.name for item in tmp_path.iterdir()] == ["file"], unfailing.calls[failing]
        hp.resume(path)


@contextmanager
def limited_file_size(size: int) -> Iterator[None]:
    """Limit the size of files; a longer write fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("exact_depth", [1, 14])
def test_full_disk_keeps_previous_file(tmp_path: Path, exact_depth: int) -> None:
    plan = hp.Plan(hp.Interval(0, 1), epsilon=1, budgets={exact_depth: 1}, exact_depth=exact_depth)
    path, summary = tmp_path / "file", hp.Summary(plan)
    before = bytes_of(summary, path)
    summary.update([0.5])
    for size in (0, 1, 16, len(before) // 2, len(before) - 32, len(before) - 1):
        with limited_file_size(size), pytest.raises(OSError):
            hp.save(summary, path)
        assert path.read_bytes() == before
        assert [item.name for item in tmp_path.iterdir()] == ["file"]
    with limited_file_size(len(before)):
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


def test_second_writer_is_refused(tmp_path: Path) -> None:
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


FORK_SERVER = """
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
hp.save(hp.resume(path), path + ".first")  # imports the modules for the children
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


class ForkServer:
    """A process whose children resume a checkpoint and save it repeatedly until they are killed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [sys.executable, "-c", FORK_SERVER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.communicate("")


@pytest.fixture
def fork_server(tmp_path: Path) -> Iterator[ForkServer]:
    hp.save(hp.Summary(PLAN), tmp_path / "file")
    with ForkServer(tmp_path / "file") as fork_server:
        yield fork_server


def count_records_since(start: hp.Summary, now: hp.Summary) -> int:
    """Number of times that the record of the children is counted; all cells must agree."""
    once = hp.Summary(PLAN)
    before = once.state()
    once.update([7])
    step, change = once.state() - before, now.state() - start.state()
    times = int(change.max())
    assert np.array_equal(change, times * step)
    assert now.merged_ids == start.merged_ids
    return times


def test_kill_at_each_call_of_save(fork_server: ForkServer) -> None:
    """A child is killed at call 0, 1, ... until a save completes."""
    start = hp.resume(fork_server.path)
    seen, leftovers, call, killed = 0, 0, 0, True
    while killed:
        fork_server.child(killed_at_call=call)
        killed = fork_server.was_killed()
        leftovers += partial(fork_server.path).exists()
        times = count_records_since(start, hp.resume(fork_server.path))
        assert not partial(fork_server.path).exists()
        assert times in (seen, seen + 1)
        seen, call = times, call + 1
    assert call > 10
    assert leftovers > 1, "no kill between opening and renaming"
    assert seen > 1, "no kill after renaming"


def test_kill_at_random_times(fork_server: ForkServer, offline: bool) -> None:
    start, seen = hp.resume(fork_server.path), 0
    moments = random.Random(0)
    for turn in range(1000 if offline else 30):
        inode = fork_server.path.stat().st_ino
        child = fork_server.child()
        while turn % 2 and fork_server.path.stat().st_ino == inode:  # every other child saves at least once
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.03))
        os.kill(child, signal.SIGKILL)
        assert fork_server.was_killed()
        times = count_records_since(start, hp.resume(fork_server.path))
        assert times >= seen
        assert not partial(fork_server.path).exists()
        seen = times
    assert seen >= turn // 2

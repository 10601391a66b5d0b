"""A save that is killed leaves the previous checkpoint or the new one."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import privhp as hp
from forgery import PLAN
from partial_files import partials

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
if sys.argv[2] == "named":
    del os.O_TMPFILE
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
            hp.save(summary, path, replace=True)
            sys.setprofile(None)
            if call >= 0:
                os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class ForkServer:
    """A process whose children resume a checkpoint and save it repeatedly until they are killed."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        self.process = subprocess.Popen(
            [sys.executable, "-c", FORK_SERVER, str(path), kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
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
def fork_server(tmp_path: Path, kind: str) -> Iterator[ForkServer]:
    hp.save(hp.Summary(PLAN), tmp_path / "file")
    with ForkServer(tmp_path / "file", kind) as fork_server:
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
        leftovers += bool(partials(fork_server.path))
        times = count_records_since(start, hp.resume(fork_server.path))
        assert not partials(fork_server.path)
        assert times in (seen, seen + 1)
        seen, call = times, call + 1
    assert call > 10
    assert leftovers > (fork_server.kind == "named"), "no kill between the partial name and renaming"
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
        assert not partials(fork_server.path)
        seen = times
    assert seen >= turn // 2

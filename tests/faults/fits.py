"""Fits that are interrupted by a fault of the file system or by a signal, and what they leave."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from commands import SMALL_DATA

HERE = Path(__file__).parent
KILL = -1


class Fault(NamedTuple):
    """A fault at one call in a folder."""

    call: int
    """Number of the call, from 0; negative for none."""
    error: int = KILL
    """Error of the call; `KILL` ends the process before it."""
    lasts: bool = False
    """Whether all later calls fail too."""
    named: bool = False
    """Whether the file system has no anonymous files."""


class Event(NamedTuple):
    """A signal that a process sends to itself when something happens, such as "after batch 2 of pass 0"."""

    name: str
    number: int


class Done(NamedTuple):
    """What a process did."""

    code: int
    """Exit code; negative for a signal."""
    output: str
    calls: int
    """Number of calls in the folder."""
    fired: str
    """Name of the call that failed; empty if none did."""


NO_FAULT, NEVER = Fault(-1), Event("never", 0)


class Commands:
    """Commands without noise in processes that a server forks.

    Args:
        process: The server.
        block: Bytes of a text that are read at once.
        rows: Most rows of a batch.
    """

    def __init__(self, process: "subprocess.Popen[str]", *, block: int, rows: int) -> None:
        self._process, self._block, self._rows = process, block, rows

    def run(
        self, folder: Path, *arguments: str, fault: Fault = NO_FAULT, event: Event = NEVER, log: Path | None = None
    ) -> Done:
        """Run a command in a folder."""
        request: dict[str, Any] = {"folder": str(folder), "arguments": arguments, "fault": fault, "event": event}
        request |= {"block": self._block, "rows": self._rows, "log": None if log is None else str(log)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        done = Done(**json.loads(self._process.stdout.readline()))
        return done._replace(output=SMALL_DATA.sub("", done.output))


@contextlib.contextmanager
def serve_commands(shim: Path | None = None, *, block: int = 2**20, rows: int = 2**16 - 1) -> Iterator[Commands]:
    """Commands of a server, with the shim for faults if it is given."""
    environment = os.environ | ({} if shim is None else {"LD_PRELOAD": str(shim)})
    command = [sys.executable, str(HERE / "server.py")]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Commands(process, block=block, rows=rows)


def compile_shim(folder: Path) -> Path | None:
    """The compiled shim; None where there is no compiler, or no Linux."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return None
    shim = folder / "shim.so"
    command = [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(shim), str(HERE / "shim.c"), "-ldl"]
    subprocess.run(command, check=True)
    return shim

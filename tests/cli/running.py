"""Running the command line, in this process or in one of its own."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

PLAN = [
    "--domain",
    "interval:0:1000",
    "--epsilon",
    "1",
    "--expected-records",
    "1e3",
    "--method",
    "paper",
    "--hot-cells",
    "4",
]


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def spawn(*arguments: str, folder: Path, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in a process of its own; one that hangs fails."""
    command = [sys.executable, "-m", "privhp", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60, **options)

"""Commands in this process or in a new one, and their parsers."""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from privhp.answers.generator import Generator
from privhp.cli.commands import COMMANDS
from privhp.cli.parsers import CommandParser
from privhp.planning.guarantee import state_conditions, state_guarantee, state_odds
from privhp.planning.plan import Plan

PLAN = [
    "--domain",
    "interval:0:1000",
    "--epsilon",
    "2",
    "--expected-records",
    "1e3",
    "--method",
    "paper",
    "--hot-cells",
    "4",
]


STOPPED = "stopped; nothing was kept, and no epsilon is spent; with --checkpoint FILE a run of files can be continued\n"
"""What fit says when it is interrupted."""


class Outcome(NamedTuple):
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


def stated(plan: Plan, *, capped: bool | None = False) -> str:
    """The guarantee as a command prints it after the first line about a release."""
    return f"{state_guarantee(plan)}\n{state_odds(plan)}\n{state_conditions(plan, capped=capped)}\n"


def noisy_count(generator: Generator) -> str:
    """The number of records of a release as a command prints it; noise may make it exactly one."""
    count = round(generator.total)
    return f"about {count:,} record{'' if count == 1 else 's'} (noisy)"


def spawn(*arguments: str, folder: Path, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run a command in a new process, for at most a minute."""
    command = [sys.executable, "-m", "privhp", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60, **options)


def command_parsers() -> dict[str, CommandParser]:
    """Parser of each command, by name."""
    commands = argparse.ArgumentParser().add_subparsers(parser_class=CommandParser)
    for command in COMMANDS:
        command.add(commands)
    return dict(commands.choices)

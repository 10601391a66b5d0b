"""Shell commands of help texts and documentation."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

from privhp.cli import main

SMALL_DATA = re.compile(
    r"privhp: warning: (about .* records? \(noisy\) (was|were) counted|epsilon times the expected) .*\n"
    r"((- .*\n)+Check them before you use the release; .*\n)?"
)
"""Warnings of examples and tests, whose files are small."""


def install_commands(folder: Path) -> None:
    """Write `privhp` and a portable `zcat` to a folder for the search path.

    The zcat of some systems reads .Z files alone, and minimal systems have none.
    """
    folder.mkdir(exist_ok=True)
    unpack = "import gzip, shutil, sys; shutil.copyfileobj(gzip.open(sys.argv[1]), sys.stdout.buffer)"
    for name, line in {"privhp": "-m privhp", "zcat": f"-c '{unpack}'"}.items():
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} {line} "$@"\n')
        command.chmod(0o755)


def run_command(command: str) -> None:
    """Run a command, which must end without an error: `privhp` alone in this process, a pipeline in a shell.

    An audit takes a moment, however long the command lets it run.
    """
    command = re.sub(r"^(privhp audit .*--time) \d+s", r"\1 0.1s", command)
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    name, *arguments = words
    if name == "privhp" and not any(set(word) <= set("|<>") for word in arguments):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            code = main(arguments)
        assert (code, SMALL_DATA.sub("", errors.getvalue())) == (0, ""), command
        return
    done = subprocess.run(["sh", "-e"], input=command, capture_output=True, text=True, check=False)
    assert (done.returncode, SMALL_DATA.sub("", done.stderr)) == (0, ""), command

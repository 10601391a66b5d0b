"""Shell commands for tests that run documented pipelines."""

import sys
from pathlib import Path


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

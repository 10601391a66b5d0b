"""Checks of the files that commands read and write."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from privhp.errors import FileError
from privhp.io.sources.byte_streams import COMPRESSION_BY_SUFFIX
from privhp.io.sources.files import FORMAT_BY_SUFFIX

_DATA = (*FORMAT_BY_SUFFIX, *COMPRESSION_BY_SUFFIX, ".toml")  # endings of data and domain files

Item = TypeVar("Item")


def read_file(read: Callable[[str], Item], path: str) -> Item:
    """Result of a reader such as `load`; a file error names the file."""
    try:
        return read(path)
    except FileError as error:
        if error.filename is not None:
            raise
        raise FileError(f"{path}: {error}") from None


def check_result(name: str, *, data: Sequence[str], force: bool, example: str = "fares.privhp") -> Path:
    """Path of a release or a plan to write, which is never the data."""
    if name == "-":
        raise FileError(f"the result is a file and cannot go to standard output; give a name such as {example}")
    if name.lower().endswith(_DATA):
        raise FileError(
            f"{name} looks like a data file: {', '.join(_DATA)} are endings of data; choose a name such as {example}"
        )
    if any(_is_data(Path(name), one) for one in data):
        raise FileError(f"{name} is an input file; choose another output")
    return check_output(name, force=force)


def check_checkpoint(options: Namespace, output: Path) -> Path | None:
    """Path of the checkpoint, which is neither the data nor the release; None without --checkpoint.

    The checkpoint and its lock are removed at the end, so a release in their place would be lost.
    """
    if options.checkpoint is None:
        if options.resume:
            raise FileError("--resume needs --checkpoint FILE, the checkpoint to continue")
        return None
    kept = {Path(f"{options.checkpoint}{ending}").resolve() for ending in ("", ".lock", ".partial")}
    written = {Path(f"{output}{ending}").resolve() for ending in ("", ".partial")}
    if options.checkpoint.lower().endswith(_DATA) or kept & written:
        raise FileError(f"--checkpoint {options.checkpoint} is data or the release; choose a name such as fares.state")
    return Path(options.checkpoint)


def _is_data(path: Path, data: str) -> bool:
    """Whether the path is the file of the data, under any name."""
    try:
        source = os.fstat(sys.stdin.fileno()) if data == "-" else Path(data).stat()
        return os.path.samestat(path.stat(), source)
    except OSError:
        return False  # one of them does not exist, or standard input is not a file


def check_output(name: str, *, force: bool) -> Path:
    """Path of an output file, which must not exist unless `force` is set."""
    path = Path(name)
    if not path.parent.is_dir():
        raise FileError(f"there is no folder {path.parent} to write {path.name} in; create it first")
    if path.exists() and not path.is_file():
        raise FileError(f"{path} exists and is not a file; choose another name")
    if path.exists() and not force:
        raise FileError(f"{path} exists; choose another name, or replace it with --force")
    return path

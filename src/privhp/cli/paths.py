"""Checks of the files that commands read and write, before any record is read."""

import glob
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from privhp.errors import FileError
from privhp.io.disk import check_writable
from privhp.io.sources.byte_streams import COMPRESSION_BY_SUFFIX
from privhp.io.sources.files import FORMAT_BY_SUFFIX, find_files
from privhp.io.sources.identity import STANDARD_INPUT

_DATA = (*FORMAT_BY_SUFFIX, *COMPRESSION_BY_SUFFIX, ".toml")  # endings of data and domain files

_INPUTS = ("data", "plan", "partition", "domain", "release", "against", "summaries")
"""Options that name input files, or may do so."""

Item = TypeVar("Item")


def read_file(read: Callable[[str], Item], path: str) -> Item:
    """Result of a reader such as `load`; a file error names the file."""
    try:
        return read(path)
    except FileError as error:
        if error.filename is not None:
            raise
        raise FileError(f"{path}: {error}") from None


def expand_globs(names: Sequence[str]) -> list[str]:
    """Names with the files of each glob in its place; a glob without files is refused."""
    found = ([file.name for file in find_files([name])] if glob.has_magic(name) else [name] for name in names)
    return [name for own in found for name in own]


def check_result(options: Namespace, *, example: str = "fares.privhp", resumed: bool = False) -> Path:
    """Path of a release or a plan to write; see `check_output`."""
    name = options.output
    if name == "-":
        raise FileError(f"the result is a file and cannot go to standard output; give a name such as {example}")
    if name.lower().endswith(_DATA):
        raise FileError(
            f"{name} looks like a data file: {', '.join(_DATA)} are endings of data; choose a name such as {example}"
        )
    return check_output(options, resumed=resumed)


def check_output(options: Namespace, *, resumed: bool = False) -> Path:
    """Path of an output file that can be written and is no input.

    Args:
        options: The options of the command.
        resumed: Whether the file may exist, because an earlier run of the command may have written it.
    """
    path = Path(options.output)
    if not path.parent.is_dir():
        raise FileError(f"there is no folder {path.parent} to write {path.name} in; create it first")
    if os.path.realpath(path.parent) == "/dev" or (path.exists() and not path.is_file()):
        raise FileError(f"{path} exists and is not a file; choose another name")
    check_writable(path)
    if _is_input(path, options):
        raise FileError(f"{path} is an input file; choose another output")
    if is_kept(path, options) and not resumed:
        raise exists(path)
    return path


def is_kept(path: Path, options: Namespace) -> bool:
    """Whether there is a file, or a symbolic link, that may not be replaced."""
    return os.path.lexists(path) and not options.force


def exists(path: Path) -> FileError:
    """The error for an output that exists."""
    return FileError(f"{path} exists; choose another name, or replace it with --force")


def check_checkpoint(options: Namespace, output: Path) -> Path | None:
    """Path of the checkpoint, which is neither an input nor the release; None without --checkpoint."""
    if options.checkpoint is None:
        if options.resume:
            raise FileError("--resume needs --checkpoint FILE, the checkpoint to continue")
        return None
    path = Path(options.checkpoint)
    same = os.path.realpath(path) == os.path.realpath(output)
    if options.checkpoint.lower().endswith(_DATA) or same or _is_input(path, options):
        raise FileError(f"--checkpoint {path} is an input or the release; choose a name such as fares.state")
    return path


def _is_input(path: Path, options: Namespace) -> bool:
    """Whether a path is an input file of the command, under any name."""
    return any(_is_same(path, name) for name in _input_names(options))


def _input_names(options: Namespace) -> Iterator[str]:
    for option in _INPUTS:
        given = getattr(options, option, None) or []
        for name in [given] if isinstance(given, str) else given:
            yield name
            yield from glob.glob(name, recursive=True)  # noqa: PTH207 - takes any pattern


def _is_same(path: Path, name: str) -> bool:
    try:
        source = os.fstat(sys.stdin.fileno()) if name == STANDARD_INPUT else Path(name).stat()
        return os.path.samestat(path.stat(), source)
    except (OSError, ValueError, AttributeError):
        return False  # one of them does not exist, or standard input is closed or not a file

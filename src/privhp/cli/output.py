"""Files that are written whole or not at all."""

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from privhp.errors import FileError
from privhp.io.sources.byte_streams import COMPRESSION_SUFFIXES
from privhp.io.sources.files import FORMAT_BY_SUFFIX

_DATA = (*FORMAT_BY_SUFFIX, *COMPRESSION_SUFFIXES, ".toml")  # endings that privhp reads data and domains by


def check_release(name: str, *, data: Sequence[str], force: bool) -> Path:
    """The path to write a release to, which is never the data itself."""
    if name == "-":
        raise FileError("expected the name of a release to write, such as fares.privhp, got -; a release is a file")
    if name.lower().endswith(_DATA):
        raise FileError(
            f"expected a release to be called something like fares.privhp, got {name}; "
            f"a name that ends in {', '.join(_DATA)} is kept for data"
        )
    if any(_is_data(Path(name), one) for one in data):
        raise FileError(
            f"expected another file to write than the one to read, got {name} for both; choose another name"
        )
    return check_output(name, force=force)


def check_checkpoint(options: Namespace, output: Path) -> Path | None:
    """The path of the checkpoint, which is neither the data nor the release; None if none is asked for.

    It is removed in the end, and what is written beside it in between, so a release in its place would be lost.
    """
    if options.checkpoint is None:
        if options.resume:
            raise FileError("expected --checkpoint FILE with --resume, got none; say what to go on with")
        return None
    kept = {Path(f"{options.checkpoint}{ending}").resolve() for ending in ("", ".lock", ".partial")}
    written = {Path(f"{output}{ending}").resolve() for ending in ("", ".partial")}
    if options.checkpoint.lower().endswith(_DATA) or kept & written:
        raise FileError(
            f"expected a checkpoint to have a name of its own, such as fares.state, got {options.checkpoint}"
        )
    return Path(options.checkpoint)


def _is_data(path: Path, data: str) -> bool:
    """Whether the path leads to the file that the data comes from, by whatever name."""
    try:
        source = os.fstat(sys.stdin.fileno()) if data == "-" else Path(data).stat()
        return os.path.samestat(path.stat(), source)
    except OSError:
        return False  # one of them is not there, or standard input is no file


def check_output(name: str, *, force: bool) -> Path:
    """The path to write to, once it is sure that nothing else stands there."""
    path = Path(name)
    if not path.parent.is_dir():
        raise FileError(f"expected a folder at {path.parent} to write {path.name} in, got none; make it first")
    if path.exists() and not path.is_file():
        raise FileError(f"expected the name of a file to write, got {path}, which is something else")
    if path.exists() and not force:
        raise FileError(f"expected no file at {path}, got one; choose another name, or replace it with --force")
    return path

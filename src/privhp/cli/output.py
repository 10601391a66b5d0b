"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from privhp.errors import FileError


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


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that appears at its path when all is written, and leaves no trace otherwise."""
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise

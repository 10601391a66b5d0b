"""Atomic and durable file writes, by one process at a time."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from privhp.errors import FileError


def write_file(path: Path, chunks: Iterable[bytes | memoryview], *, mode: int) -> None:
    """Write a whole file in an existing folder, as `replacing` does."""
    if not path.parent.is_dir():
        raise FileError(f"expected a folder to save in, got {path.parent}, which is none; make it first")
    with replacing(path, mode=mode) as file:
        file.writelines(chunks)


@contextmanager
def replacing(path: Path, *, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file that replaces `path` atomically when the block ends, and is durable then.

    A second process that writes to the same path at the same time is refused.
    """
    partial = partial_name(path)
    with refusing_company(path):
        descriptor = open_alone(partial, mode=mode)
    with open(descriptor, "wb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def refusing_company(path: Path) -> Iterator[None]:
    """Turn a lock conflict into an error that names the path."""
    try:
        yield
    except BlockingIOError:
        raise FileError(
            f"expected {path} for this process alone, got another that is writing it; wait for that"
        ) from None


def open_alone(path: Path, *, mode: int) -> int:
    """A new, empty file that is this process's own until it is closed; what a crash left there is removed.

    Raises BlockingIOError if it is another's.
    """
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            remove_leftover(path)
        else:
            if _lock(descriptor, path):
                return descriptor
            os.close(descriptor)


def remove_leftover(path: Path) -> None:
    """Remove a file that no process has locked, or a link."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return  # its owner is done, and what may be there by now is another's
    except OSError:
        if not path.is_symlink():
            raise  # nobody knows whether it is in use
        path.unlink(missing_ok=True)
    else:
        if _lock(descriptor, path):
            path.unlink()
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> bool:
    """Whether a file is still at its path, now that it is locked: whoever had it may have removed or renamed it."""
    from fcntl import LOCK_EX, LOCK_NB, flock  # who does not write does not need it

    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
    except BaseException:
        os.close(descriptor)
        raise


def partial_name(path: Path) -> Path:
    """The temporary name for a path: one per path, so a crash leaves at most one known file."""
    return Path(f"{path}.partial")

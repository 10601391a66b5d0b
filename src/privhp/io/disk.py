"""Atomic and durable file writes, by one process at a time."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from privhp.errors import FileError, file_errors


@file_errors()
def write_file(path: Path, chunks: Iterable[bytes | memoryview], *, mode: int) -> None:
    """Write a complete file atomically into an existing folder; see `replace_file`."""
    if not path.parent.is_dir():
        code = errno.ENOTDIR if path.parent.exists() else errno.ENOENT
        raise OSError(code, "there is no such folder", str(path.parent))
    with replace_file(path, mode=mode) as file:
        file.writelines(chunks)


@contextmanager
def replace_file(path: Path, *, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Open a new file that atomically replaces `path` at the end of the block.

    The file is durable after the block. If the block raises, `path` is unchanged.
    A second process that writes to the same path at the same time is refused.
    """
    partial = partial_path(path)
    with exclusive_write_errors(path):
        descriptor = open_locked(partial, mode=mode)
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
def exclusive_write_errors(path: Path) -> Iterator[None]:
    """Raise a lock conflict as a `FileError` that names the path."""
    try:
        yield
    except BlockingIOError:
        raise FileError(f"another process is writing {path}; wait until it ends") from None


def open_locked(path: Path, *, mode: int) -> int:
    """Create an empty file, lock it exclusively and return its descriptor.

    A file that a crashed process left at the path is removed first. Raises
    `BlockingIOError` if another process has locked the file.
    """
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            remove_unlocked(path)
        else:
            if _lock(descriptor, path):
                return descriptor
            os.close(descriptor)


def remove_unlocked(path: Path) -> None:
    """Remove the file at a path unless a process has locked it; a symbolic link is removed unread."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return  # its owner has removed it; a file that appears now belongs to another process
    except OSError:
        if not path.is_symlink():
            raise  # the file cannot be opened, so another process may use it
        path.unlink(missing_ok=True)
    else:
        if _lock(descriptor, path):
            path.unlink()
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> bool:
    """Lock an open file, and return whether it is still at its path: the last owner may have removed or renamed it."""
    from fcntl import LOCK_EX, LOCK_NB, flock  # needed for writing only

    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
    except BaseException:
        os.close(descriptor)
        raise


def partial_path(path: Path) -> Path:
    """Path of the temporary file of a save: one for each path, so a crash leaves at most one known file."""
    return Path(f"{path}.partial")

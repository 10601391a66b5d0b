"""Files of records, which must not change from the first pass to the last.

A file has one identity: device, inode, size and time of modification. It is
noted before anything is read, and compared at every open and after every read.
A file that was renamed, replaced or written to is refused, since its records
could be lost or counted twice. A file with the same identity is taken to have
the same content.
"""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from typing import NamedTuple

from privhp.errors import FileError, file_errors

STANDARD_INPUT = "-"

_PIECE = 2**24  # bytes that are read from a pipe at once, whatever number is asked for


class Identity(NamedTuple):
    """What two files with the same content and the same place share."""

    device: int
    inode: int
    size: int
    modified: int
    """Time of modification in nanoseconds."""


class InputFile:
    """A file or a pipe whose identity is noted now, or standard input, whose identity is noted when it is opened.

    Args:
        name: The file, "-" for standard input.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._status = None if name == STANDARD_INPUT else os.stat(name)  # noqa: PTH116 - a name

    @property
    def identity(self) -> Identity | None:
        """Identity of the file; None for pipes and standard input, which can be read once."""
        if self.name == STANDARD_INPUT or self._status is None or not stat.S_ISREG(self._status.st_mode):
            return None
        return _identity(self._status)

    @property
    def size(self) -> int | None:
        """Bytes of the file; None for pipes and standard input."""
        return None if self.identity is None else self.identity.size

    @property
    def place(self) -> tuple[int, int]:
        """Device and inode of the file, the same for all its names."""
        return (0, 0) if self._status is None else (self._status.st_dev, self._status.st_ino)

    @contextmanager
    def open(self) -> Iterator["OpenFile"]:
        """The open file. If reading it fails because the file has changed, the error says so."""
        with file_errors(), OpenFile(self.name, wait=self.identity is None) as file:
            self._status = self._status or os.fstat(file.fileno())
            self.check(file)
            try:
                yield file
            except FileError:
                self.check(file)
                raise

    def check(self, file: "OpenFile") -> None:
        """Refuse a file that is not the one whose identity was noted, or no longer as it was."""
        noted, found = self._status, os.fstat(file.fileno())
        if noted is not None and stat.S_ISREG(noted.st_mode) and _identity(found) != _identity(noted):
            raise FileError(
                "the file was written to, replaced or cut while it was in use, so records could be lost or counted "
                "twice; start again with files that no other program changes, such as copies"
            )


class OpenFile(FileIO):
    """A file that is open for reading, without a buffer.

    A thread that is stopped while it reads would leave the lock of a buffer acquired.

    Args:
        name: The file, "-" for standard input.
        wait: Whether to wait for the writer of a pipe.
    """

    def __init__(self, name: str, *, wait: bool) -> None:
        if name == STANDARD_INPUT:
            super().__init__(sys.stdin.fileno(), closefd=False)
        else:
            super().__init__(name, opener=None if wait else _open_at_once)
        self._most = max(os.fstat(self.fileno()).st_size, _PIECE)

    def read(self, size: int | None = -1, /) -> bytes:
        """Bytes of this number, fewer at the end only: of a pipe, from as many reads as needed."""
        left = sys.maxsize if size is None or size < 0 else size
        pieces: list[bytes] = []
        while left and (piece := super().read(min(left, self._most))):
            pieces.append(piece)
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read_at(self, offset: int, size: int) -> bytes:
        """Bytes at an offset; refuses a file that ends before."""
        found = b""
        if 0 <= offset <= os.fstat(self.fileno()).st_size - size:
            self.seek(offset)
            found = self.read(size)
        if len(found) < size:
            raise FileError("expected a complete file, got one that is damaged or truncated")
        return found


def _open_at_once(name: str, flags: int) -> int:
    """Open a file without waiting, should it have become a pipe."""
    return os.open(name, flags | os.O_NONBLOCK)


def _identity(status: os.stat_result) -> Identity:
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

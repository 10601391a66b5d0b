"""Small files, opened without waiting and read within a limit."""

import errno
import os
import stat
from typing import BinaryIO

from privhp.core.path_texts import check_path
from privhp.errors import FileError, file_errors


@file_errors()
def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading. A pipe or a device is refused: reading it could wait for ever, or never end."""
    check_path(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise FileError("this is a pipe or a device; write its content to a file first")


def read_regular(path: str | os.PathLike[str], *, limit: int) -> bytes:
    """Content of a file of at most this many bytes."""
    with open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise FileError(f"this file has more than {limit >> 20} MiB, which no file of its kind needs")
    return content

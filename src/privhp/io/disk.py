"""Files that are written completely or not at all, and files that belong to one process.

A new file gets its name when it is complete and durable. Before that it has no
name, or, on a file system without anonymous files, a random one that begins
with `.privhp-`. Nothing else in a folder is removed or changed.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from privhp.errors import ExistingFileError, FileError, StateError, file_errors

_DESCRIPTORS = "/proc/self/fd"
_NO_ANONYMOUS_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)


@file_errors()
def write_file(path: Path, chunks: Iterable[bytes | memoryview], *, mode: int, replace: bool = True) -> None:
    """Write a complete file atomically into an existing folder; see `new_file`."""
    if not path.parent.is_dir():
        code = errno.ENOTDIR if path.parent.exists() else errno.ENOENT
        raise OSError(code, "there is no such folder", str(path.parent))
    with new_file(path, mode=mode, replace=replace) as file:
        file.writelines(chunks)


@contextmanager
def new_file(path: Path, *, mode: int = 0o644, replace: bool) -> Iterator[BinaryIO]:
    """Open a new file that gets its name at the end of the block, and is durable after it.

    If the block raises, nothing has changed. An error after the file has its name says so.

    Args:
        path: The path of the file. A symbolic link is a name like any other, and is not followed.
        mode: Permissions of the file.
        replace: Whether an existing file is replaced, atomically; otherwise it is an error.
    """
    new = _NewFile(path, mode=mode)
    try:
        with _naming(path):
            with open(new.descriptor, "wb", closefd=False) as file:
                yield file
            new.publish(replace=replace)
    finally:
        new.close()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in the error of a full disk, which has no name if it comes from an open file."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _FULL:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def check_writable(path: Path) -> None:
    """Refuse a path where no file can be written, by creating a file in its folder and removing it."""
    try:
        with suppress(FileNotFoundError):
            path.lstat()
        new = _NewFile(path, mode=0o600)
        try:
            new.name_partial()
        finally:
            new.close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FileError(f"cannot write {path}: {reason}; choose another name or folder") from None


def check_absent(path: Path) -> None:
    """Refuse a path that has a file."""
    if os.path.lexists(path):
        raise _existing_error(path)


def _existing_error(path: Path) -> OSError:
    if path.is_dir():
        return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return ExistingFileError(f"{path} exists and is not replaced; choose another name, or give replace=True")


def remove_partials(path: Path, *, magic: bytes, owned: int | None = None) -> None:
    """Remove the partial files that crashed writes of a path left behind.

    Only a file with the name of a partial file of this path is removed, and only
    if it belongs to this user, is empty or begins with `magic`, and is used by no process.
    It may be confidential, so it is an error if its removal fails.

    Args:
        path: The path of the complete file.
        magic: First bytes of its content.
        owned: Descriptor of the complete file if this process has locked it; a partial file may be its second name.
    """
    prefix = _partial_prefix(path)
    with os.scandir(path.parent) as entries:
        names = [own.name for own in entries if own.name.startswith(prefix) and own.is_file(follow_symlinks=False)]
    for name in names:
        with suppress(FileNotFoundError, PermissionError, BlockingIOError):  # gone, or of another user or process
            _remove_partial(path.parent / name, magic, owned)


def _remove_partial(partial: Path, magic: bytes, owned: int | None) -> None:
    descriptor = os.open(partial, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if own and os.pread(descriptor, len(magic), 0) in (b"", magic):
            if owned is None or not os.path.samestat(status, os.fstat(owned)):
                _lock(descriptor)
            _remove(partial, descriptor)
    finally:
        os.close(descriptor)


class OwnedFile:
    """A file that belongs to this process until it is closed, through all its versions.

    The file is its own lock. Each version is locked before it replaces the one
    before, so another process always finds a locked file. Symbolic links are
    followed, so a file with two names has one lock.

    Args:
        path: The path of the file, which may not exist yet.
        magic: First bytes of its content; by them the partial files of crashed writes are known, and removed.

    Attributes:
        name: The path as it was given, for messages.
        path: The path with all links resolved.
    """

    def __init__(self, path: Path, *, magic: bytes) -> None:
        self.name, self.path = path, Path(os.path.realpath(path))
        if not self.path.parent.is_dir():
            raise FileError(f"there is no folder {path.parent} to write {path.name} in; create it first")
        self._descriptor = _open_locked(self.path, name=path)
        try:
            remove_partials(self.path, magic=magic, owned=self._descriptor)
            if self._descriptor is not None:
                _check_single(path, os.fstat(self._descriptor))
        except BaseException:
            self.close()
            raise

    @property
    def exists(self) -> bool:
        """Whether a version of the file was found or written."""
        return self._descriptor is not None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the version of this process for reading."""
        assert self._descriptor is not None
        with open(self._descriptor, "rb", closefd=False) as file:
            file.seek(0)
            yield file

    def write(self, chunks: Iterable[bytes | memoryview]) -> None:
        """Write the next version, atomically and durably, readable by its owner only."""
        current = self._is_current()
        if not current and os.path.lexists(self.path):
            raise StateError(f"another process has replaced {self.name}; end it, and start again")
        new = _NewFile(self.path, mode=0o600)
        try:
            _lock(new.descriptor)
            with _naming(self.name):
                with open(new.descriptor, "wb", closefd=False) as file:
                    file.writelines(chunks)
                new.publish(replace=current)
        except BaseException:
            new.close()
            raise
        before, self._descriptor = self._descriptor, new.descriptor
        if before is not None:
            os.close(before)

    def remove(self) -> None:
        """Remove the file, unless another process has replaced it."""
        if self._descriptor is not None:
            _remove(self.path, self._descriptor)

    def close(self) -> None:
        """Leave the file to other processes."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _is_current(self) -> bool:
        return self._descriptor is not None and _is_at(self.path, self._descriptor)


class _NewFile:
    """An open file in the folder of a path, which gets its name when it is complete."""

    def __init__(self, path: Path, *, mode: int) -> None:
        import secrets  # slow to import, and needed for writing only

        self._path = path
        self._partial = path.parent / f"{_partial_prefix(path)}{secrets.token_hex(8)}.partial"
        self._anonymous = self._published = False
        self.descriptor = self._open(mode)
        with suppress(OSError):  # a lock is for `remove_partials` alone
            _lock(self.descriptor)

    def _open(self, mode: int) -> int:
        anonymous = getattr(os, "O_TMPFILE", 0)
        if anonymous and Path(_DESCRIPTORS).is_dir():
            try:
                descriptor = os.open(self._path.parent, os.O_RDWR | anonymous, mode)
            except OSError as error:
                if error.errno not in _NO_ANONYMOUS_FILES:
                    raise
            else:
                self._anonymous = True
                return descriptor
        return os.open(self._partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def name_partial(self) -> None:
        """Give an anonymous file its partial name."""
        if self._anonymous:
            self._link(self._partial)
            self._anonymous = False

    def publish(self, *, replace: bool) -> None:
        """Give the file its name, durably."""
        os.fsync(self.descriptor)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            if replace:
                self.name_partial()
                os.replace(self._partial, self._path)
            else:
                self._link(self._path)
            self._settle(folder)
        finally:
            with suppress(OSError):
                os.close(folder)

    def _settle(self, folder: int) -> None:
        """Remove a second name, and make the name durable."""
        self._published = True
        try:
            _remove(self._partial, self.descriptor)
            os.fsync(folder)
        except OSError as error:
            raise FileError(
                f"{self._path} is complete, but the disk failed after that: {error.strerror}; copy it to another disk"
            ) from None

    def _link(self, path: Path) -> None:
        """Give the file a name that no other file has."""
        try:
            if self._anonymous:
                # With a descriptor, which is not used here, Python calls linkat(2), which follows the link in /proc.
                os.link(f"{_DESCRIPTORS}/{self.descriptor}", path, src_dir_fd=self.descriptor)
            else:
                os.link(self._partial, path)
        except OSError as error:
            if isinstance(error, FileExistsError) or (error.errno in _NO_HARD_LINKS and os.path.lexists(path)):
                raise _existing_error(path) from None
            if self._anonymous or error.errno not in _NO_HARD_LINKS:
                raise OSError(error.errno, error.strerror, str(path)) from None
            os.replace(self._partial, path)

    def close(self) -> None:
        """Close the file; without a name it is gone. What was published is durable, whatever closing reports."""
        try:
            if not self._published:
                _remove(self._partial, self.descriptor)
        finally:
            with suppress(OSError):
                os.close(self.descriptor)


def _partial_prefix(path: Path) -> str:
    """Beginning of the names of partial files of a path, of a length that every file system allows."""
    from hashlib import sha256  # slow to import, and needed for writing only

    return f".privhp-{sha256(os.fsencode(path.name)).hexdigest()[:16]}-"


def _open_locked(path: Path, *, name: Path) -> int | None:
    """Open the file at a path for this process alone; None if there is none. Messages have the name."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        try:
            try:
                _lock(descriptor)
            except BlockingIOError:
                raise StateError(f"another process uses {name}; wait until it ends") from None
            if _is_at(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # replaced by its owner in the meantime


def _check_single(name: Path, status: os.stat_result) -> None:
    """Refuse what is not a file with one name."""
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{name} exists and is not a file; choose another name")
    if status.st_nlink > 1:
        raise FileError(f"{name} has a second hard link, which would not follow its changes; remove one")


def _lock(descriptor: int) -> None:
    """Lock an open file until it is closed. Raises `BlockingIOError` if another process has locked it."""
    from fcntl import LOCK_EX, LOCK_NB, flock  # needed for writing only

    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        raise FileError(
            f"the file system cannot lock files: {error.strerror}; choose a folder of another one"
        ) from None


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _remove(path: Path, descriptor: int) -> None:
    """Remove the file at a path if it is an open file of this process."""
    if _is_at(path, descriptor):
        path.unlink(missing_ok=True)

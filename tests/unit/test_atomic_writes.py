"""Atomic writes: full disks, failing calls and killed processes leave a complete file."""

import errno
import fcntl
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from forgery import PLAN, bytes_of
from partial_files import left_behind, partials
from privhp.io import disk


@pytest.mark.parametrize("content", [b"", b"PRIVHP-C, and half a checkpoint"])
def test_partial_file_of_crash_is_removed(tmp_path: Path, content: bytes) -> None:
    summary, path = hp.Summary(PLAN), tmp_path / "file"
    hp.save(summary, path)
    left_behind(path, content)
    assert np.array_equal(hp.resume(path).state(), summary.state())
    assert not partials(path)


def test_partial_file_stays_if_resume_fails(tmp_path: Path) -> None:
    """The partial file may be the only remaining data."""
    path = tmp_path / "file"
    path.write_bytes(b"")
    left_behind(path, b"PRIVHP-C")
    with pytest.raises(hp.FileError):
        hp.resume(path)
    assert partials(path)


def test_files_of_others_stay(tmp_path: Path, kind: str) -> None:
    """Whatever its name, a file that privhp has not made is neither removed nor changed."""
    path = tmp_path / "file"
    hp.save(hp.Summary(PLAN), path)
    for name in ("file.partial", "file.lock", ".file.partial", ".privhp-file.partial", "file.tmp", "file~"):
        (tmp_path / name).write_bytes(b"PRIVHP-C")
    left_behind(path, b"the notes of the owner")
    left_behind(tmp_path / "other", b"PRIVHP-C")
    before = {item: item.read_bytes() for item in tmp_path.iterdir() if item != path}
    hp.save(hp.resume(path), path, replace=True)
    assert {item: item.read_bytes() for item in tmp_path.iterdir() if item != path} == before


def test_partial_file_in_use_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    hp.save(hp.Summary(PLAN), path)
    with left_behind(path, b"PRIVHP-C").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        hp.resume(path)
        assert partials(path)
    hp.resume(path)
    assert not partials(path)


@pytest.mark.parametrize("make", ["link", "pipe", "folder"])
def test_other_kinds_at_partial_path_stay(tmp_path: Path, make: str) -> None:
    path, elsewhere = tmp_path / "file", tmp_path / "elsewhere"
    hp.save(hp.Summary(PLAN), path)
    elsewhere.write_bytes(b"PRIVHP-C")
    partial = left_behind(path, b"")
    partial.unlink()
    {"link": lambda: partial.symlink_to(elsewhere), "pipe": lambda: os.mkfifo(partial), "folder": partial.mkdir}[make]()
    hp.resume(path)
    assert os.path.lexists(partial)
    assert elsewhere.read_bytes() == b"PRIVHP-C"


def test_save_replaces_link_not_its_target(tmp_path: Path, kind: str) -> None:
    path, elsewhere = tmp_path / "file", tmp_path / "elsewhere"
    elsewhere.write_bytes(b"untouched")
    path.symlink_to(elsewhere)
    hp.save(hp.Summary(PLAN), path, replace=True)
    assert elsewhere.read_bytes() == b"untouched"
    assert not path.is_symlink()


@pytest.mark.parametrize("target", ["file", "dangling link"])
def test_existing_file_is_not_replaced(tmp_path: Path, kind: str, target: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"precious") if target == "file" else path.symlink_to("nowhere")
    with pytest.raises(hp.FileError, match="is not replaced; choose another name, or give replace=True") as raised:
        hp.save(hp.Summary(PLAN), path)
    assert isinstance(raised.value, FileExistsError)
    assert [item.name for item in tmp_path.iterdir()] == ["file"]
    assert path.is_symlink() or path.read_bytes() == b"precious"
    path.unlink()
    hp.save(hp.Summary(PLAN), path)
    assert [item.name for item in tmp_path.iterdir()] == ["file"]
    assert path.stat().st_nlink == 1


def test_file_system_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.delattr(os, "O_TMPFILE")
    monkeypatch.setattr(os, "link", unsupported)
    path = tmp_path / "file"
    hp.save(hp.Summary(PLAN), path)
    before = path.read_bytes()
    with pytest.raises(OSError):
        hp.save(hp.Summary(PLAN), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127])
def test_longest_names(tmp_path: Path, kind: str, name: str) -> None:
    disk.check_writable(tmp_path / name)
    hp.save(hp.Summary(PLAN), tmp_path / name)
    hp.save(hp.resume(tmp_path / name), tmp_path / name, replace=True)
    assert [item.name for item in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("code", "says"), [(errno.EROFS, "Read-only file system"), (errno.EDQUOT, "Disk quota")])
def test_unwritable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, code: int, says: str) -> None:
    real = os.open

    def denied(name: Any, flags: int, *arguments: Any, **options: Any) -> int:
        if flags & os.O_RDWR:
            raise OSError(code, os.strerror(code))
        return real(name, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(hp.FileError, match=says):
        disk.check_writable(tmp_path / "file")


def test_check_leaves_nothing(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_bytes(b"precious")
    disk.check_writable(tmp_path / "file")
    disk.check_writable(tmp_path / "other")
    with pytest.raises(hp.FileError, match="File name too long"):
        disk.check_writable(tmp_path / ("n" * 256))
    assert [item.name for item in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"precious"


def test_save_in_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(hp.FileError, match="there is no such folder"):
        hp.save(hp.Summary(PLAN), tmp_path / "nowhere" / "file")
    assert not any(tmp_path.iterdir())


def test_save_over_folder(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError):
        hp.save(hp.Summary(PLAN), tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


class CallLog:
    """Log of the system calls of a save; one of them can fail."""

    def __init__(self, *, failing: int = -1, error: BaseException | None = None) -> None:
        self.calls: list[str] = []
        self.failing, self.error = failing, error

    def watched(self, name: str, call: Callable[..., Any], *, first: bool = False) -> Callable[..., Any]:
        """The call with a log entry; with `first` it is executed before it fails."""

        def noted(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            fails = len(self.calls) == self.failing + 1
            result = call(*args, **kwargs) if first or not fails else None
            if fails:
                assert self.error is not None
                raise self.error
            return result

        return noted

    @contextmanager
    def watching(self) -> Iterator[None]:
        watch = self

        class File:
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                self.file = open(*args, **kwargs)  # noqa: SIM115 - closed when it is left

            def __enter__(self) -> "File":
                return self

            def __exit__(self, *error: object) -> None:
                watch.watched("close file", self.file.close, first=True)()

            def __getattr__(self, name: str) -> Callable[..., Any]:
                return watch.watched(f"{name} file", getattr(self.file, name))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(disk, "open", File, raising=False)
            for name in ("open", "fsync", "link", "replace", "unlink", "close"):
                patch.setattr(os, name, self.watched(name, getattr(os, name), first=name == "close"))
            yield


def test_order_of_fsync_and_rename(tmp_path: Path, kind: str) -> None:
    watch = CallLog()
    with watch.watching():
        hp.save(hp.Summary(PLAN), tmp_path / "file", replace=True)
    order = ["writelines file", "close file", "fsync", "replace", "fsync"]
    assert [call for call in watch.calls if call in order] == order


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "disk full"), OSError(errno.EIO, "I/O"), KeyboardInterrupt()])
def test_fault_at_each_call_of_save(tmp_path: Path, kind: str, error: BaseException) -> None:
    path = tmp_path / "file"
    old, new = hp.Summary(PLAN), hp.Summary(PLAN)
    before, after = bytes_of(old, path), bytes_of(new, path)
    unfailing = CallLog()
    with unfailing.watching():
        hp.save(new, path, replace=True)
    assert len(unfailing.calls) >= 9
    renamed = unfailing.calls.index("replace")
    durable = renamed + unfailing.calls[renamed:].index("fsync")
    for failing, call in enumerate(unfailing.calls):
        hp.save(old, path, replace=True)
        with CallLog(failing=failing, error=error).watching():
            if failing > durable and isinstance(error, OSError):
                hp.save(new, path, replace=True)  # the file is durable, so an error of closing it does not matter
            else:
                with pytest.raises(type(error), match="is complete" if failing == durable and error.args else None):
                    hp.save(new, path, replace=True)
        assert path.read_bytes() == (before if failing <= renamed else after), call
        assert [item.name for item in tmp_path.iterdir()] == ["file"], call
        hp.resume(path)


@contextmanager
def limited_file_size(size: int) -> Iterator[None]:
    """Limit the size of files; a longer write fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("exact_depth", [1, 14])
def test_full_disk_keeps_previous_file(tmp_path: Path, exact_depth: int) -> None:
    plan = hp.Plan(hp.Interval(0, 1), epsilon=1, budgets={exact_depth: 1}, exact_depth=exact_depth)
    path, summary = tmp_path / "file", hp.Summary(plan)
    before = bytes_of(summary, path)
    summary.update([0.5])
    for size in (0, 1, 16, len(before) // 2, len(before) - 32, len(before) - 1):
        with limited_file_size(size), pytest.raises(OSError):
            hp.save(summary, path, replace=True)
        assert path.read_bytes() == before
        assert [item.name for item in tmp_path.iterdir()] == ["file"]
    with limited_file_size(len(before)):
        hp.save(summary, path, replace=True)
    assert np.array_equal(hp.resume(path).state(), summary.state())


def test_two_writers(tmp_path: Path, kind: str) -> None:
    """Each of two files that are written at the same time is complete; the last one stays."""
    path = tmp_path / "file"
    with disk.new_file(path, replace=True) as first:
        first.write(b"first")
        with disk.new_file(path, replace=True) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]

"""Files that belong to one process, under any name and through all versions."""

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import privhp as hp
from privhp.io.disk import OwnedFile, _partial_prefix

MAGIC = b"PRIVHP-C"


def owned(path: Path, content: bytes) -> OwnedFile:
    file = OwnedFile(path, magic=MAGIC)
    file.write([content])
    return file


def names(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.iterdir())


@pytest.mark.parametrize("name", ["state", "link", "here/state", "../{folder}/state", "here/link"])
def test_one_lock_for_all_names(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("state")
    (tmp_path / "here").symlink_to(tmp_path)
    first = owned(tmp_path / "state", b"1")
    for version in (b"2", b"3"):
        with pytest.raises(hp.StateError, match="another process uses"):
            OwnedFile(tmp_path / name.format(folder=tmp_path.name), magic=MAGIC)
        first.write([version])
    first.close()
    second = OwnedFile(tmp_path / name.format(folder=tmp_path.name), magic=MAGIC)
    with second.open() as file:
        assert file.read() == b"3"
    second.write([b"4"])
    second.close()
    assert (tmp_path / "state").read_bytes() == b"4"
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path) == ["here", "link", "state"]


def test_hard_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(b"1")
    os.link(tmp_path / "state", tmp_path / "other")
    with pytest.raises(hp.FileError, match="second hard link"):
        OwnedFile(tmp_path / "state", magic=MAGIC)


def test_partial_hard_link_is_removed(tmp_path: Path) -> None:
    """A process without anonymous files, killed after it had given the file its name, leaves two names."""
    (tmp_path / "state").write_bytes(MAGIC)
    os.link(tmp_path / "state", tmp_path / f"{_partial_prefix(Path('state'))}0.partial")
    OwnedFile(tmp_path / "state", magic=MAGIC).close()
    assert names(tmp_path) == ["state"]


@pytest.mark.parametrize("call", ["fstat", "pread", "unlink"])
def test_partial_file_that_cannot_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """It is confidential, so it does not stay behind without a word."""
    partial = tmp_path / f"{_partial_prefix(Path('state'))}0.partial"
    partial.write_bytes(MAGIC)

    def fails(*_: Any, **__: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fails)
        with pytest.raises(OSError, match="Input/output error"):
            OwnedFile(tmp_path / "state", magic=MAGIC)
    OwnedFile(tmp_path / "state", magic=MAGIC).close()
    assert names(tmp_path) == []


def test_link_to_missing_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("state")
    owned(tmp_path / "link", b"1").close()
    assert (tmp_path / "state").read_bytes() == b"1"
    assert (tmp_path / "link").is_symlink()


def test_two_first_versions(tmp_path: Path) -> None:
    """Of two processes that start at the same time, one creates the file."""
    first, second = OwnedFile(tmp_path / "state", magic=MAGIC), OwnedFile(tmp_path / "state", magic=MAGIC)
    second.write([b"second"])
    with pytest.raises(hp.StateError, match="another process has replaced"):
        first.write([b"first"])
    assert (tmp_path / "state").read_bytes() == b"second"
    assert names(tmp_path) == ["state"]


def test_file_of_other_process_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    file = owned(tmp_path / "state", b"1")
    (tmp_path / "new").write_bytes(b"another's")
    (tmp_path / "new").replace(tmp_path / "state")
    with pytest.raises(hp.StateError, match="another process has replaced"):
        file.write([b"2"])
    file.remove()
    file.close()
    assert (tmp_path / "state").read_bytes() == b"another's"


def test_removed_file_is_written_again(tmp_path: Path) -> None:
    file = owned(tmp_path / "state", b"1")
    (tmp_path / "state").unlink()
    file.write([b"2"])
    assert (tmp_path / "state").read_bytes() == b"2"
    file.remove()
    assert names(tmp_path) == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_no_file(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "state")
    with pytest.raises(OSError):
        OwnedFile(tmp_path / "state", magic=MAGIC)
    with pytest.raises(hp.FileError, match="there is no folder"):
        OwnedFile(tmp_path / "nowhere" / "state", magic=MAGIC)


def test_readable_by_owner_only(tmp_path: Path) -> None:
    file = owned(tmp_path / "state", b"1")
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600
    file.write([b"2"])
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("anonymous", [True, False])
def test_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anonymous: bool) -> None:
    def unsupported(*arguments: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    if not anonymous:
        monkeypatch.delattr(os, "O_TMPFILE")
    monkeypatch.setattr(fcntl, "flock", unsupported)
    with pytest.raises(hp.FileError, match="cannot lock files: No locks available"):
        OwnedFile(tmp_path / "state", magic=MAGIC).write([b"1"])
    assert names(tmp_path) == []
    hp.save(
        hp.Summary(hp.Plan.auto(hp.Interval(0, 1), epsilon=1, expected_records=10, memory="16 KiB")), tmp_path / "s"
    )
    assert names(tmp_path) == ["s"]


CONTENDER = """
import sys
from pathlib import Path
from privhp.errors import StateError
from privhp.io.disk import OwnedFile

print("ready", flush=True)
refused = 0
while refused < 3000 or not Path(sys.argv[2]).exists():
    try:
        OwnedFile(Path(sys.argv[1]), magic=b"PRIVHP-C")
    except StateError:
        refused += 1
    else:
        sys.exit("the file was free")
"""


def test_no_moment_without_a_lock(tmp_path: Path) -> None:
    file = owned(tmp_path / "state", b"1")
    enough = tmp_path / "enough"
    command = [sys.executable, "-c", CONTENDER, str(tmp_path / "state"), str(enough)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as contender:
        assert contender.stdout is not None
        contender.stdout.readline()
        versions = 0
        while contender.poll() is None:
            file.write([b"%d" % versions])
            versions += 1
            if versions > 10:
                enough.touch()
        assert contender.stderr is not None
        assert (contender.returncode, contender.stderr.read()) == (0, b"")
    assert versions > 10

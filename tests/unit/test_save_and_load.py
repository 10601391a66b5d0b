"""`save`, `load` and `resume`: kinds of file, errors, damage, life cycle and content of files."""

import io
import os
import pickle
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from forgery import PLAN, READERS, bytes_of, forge, refusal, sign
from privhp.core import container
from privhp.core.container import CHECKPOINT, MAX_HEADER, RELEASE, TALLY, VERSION

ALL = pytest.mark.parametrize("magic", [RELEASE, CHECKPOINT, TALLY], ids=["release", "checkpoint", "tally"])


@pytest.fixture
def samples(tmp_path: Path) -> dict[bytes, bytes]:
    """A release, a checkpoint and a tally of the small plan."""
    summary, tally = hp.Summary(PLAN), hp.Tally(PLAN)
    summary.update([1, 2, 3])
    tally.add([1, 2, 3])
    checkpoint = bytes_of(summary, tmp_path / "sample.checkpoint")
    release = bytes_of(summary.release(), tmp_path / "sample.release")
    return {CHECKPOINT: checkpoint, RELEASE: release, TALLY: tally.to_bytes()}


# Kinds of file


def test_wrong_function_for_kind_of_file(samples: dict[bytes, bytes]) -> None:
    assert "open it with privhp.resume" in refusal(samples[CHECKPOINT], RELEASE)
    assert "open it with privhp.load" in refusal(samples[RELEASE], CHECKPOINT)
    for magic in (RELEASE, CHECKPOINT):
        assert "read it with privhp.Tally.from_bytes" in refusal(samples[TALLY], magic)
        assert "open it with" in refusal(samples[magic], TALLY)


@ALL
def test_magic_of_other_kind_is_refused(samples: dict[bytes, bytes], magic: bytes) -> None:
    for other in {RELEASE, CHECKPOINT, TALLY} - {magic}:
        refusal(sign(other + samples[magic][8:-32]), other)


def foreign_files(marker: Path) -> dict[str, bytes]:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(marker),)

    array, archive = io.BytesIO(), io.BytesIO()
    np.save(array, np.array([Trap()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(archive, "w") as contents:
        contents.writestr("release", RELEASE)
    return {
        "empty": b"",
        "text": b"low,high\n0,1\n" * 10,
        "numpy": array.getvalue(),
        "pickle": pickle.dumps(Trap()),
        "zip": archive.getvalue(),
        "zeros": bytes(1000),
    }


@pytest.mark.parametrize("kind", foreign_files(Path("unused")))
@pytest.mark.parametrize("opening", [hp.load, hp.resume])
def test_foreign_files_are_refused(tmp_path: Path, kind: str, opening: Callable[[Path], object]) -> None:
    path, marker = tmp_path / "file", tmp_path / "marker"
    path.write_bytes(foreign_files(marker)[kind])
    with pytest.raises(hp.FileError, match="this is not a privhp file"):
        opening(path)
    assert not marker.exists()


MISSING: dict[str, Callable[[Any], object]] = {
    "load": hp.load,
    "resume": hp.resume,
    "fit": lambda path: hp.fit(path, hp.Interval(0, 1), epsilon=1, expected_records=1000),
    "save": lambda path: hp.save(hp.Summary(PLAN), path),
}


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("call", MISSING)
def test_missing_path_error(tmp_path: Path, call: str, kind: Callable[[Path], Any]) -> None:
    """The error is a FileError and a FileNotFoundError, and names the path."""
    missing = tmp_path / "nowhere"
    with pytest.raises(hp.FileError, match=r"cannot use .*nowhere: .*; check its name") as caught:
        MISSING[call](kind(missing / "file" if call == "save" else missing))
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.filename == str(missing)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("call", ["load", "resume", "save"])
def test_folder_in_place_of_file_error(tmp_path: Path, call: str, kind: Callable[[Path], Any]) -> None:
    with pytest.raises(hp.FileError, match=f"cannot use {tmp_path}: ") as caught:
        MISSING[call](kind(tmp_path))
    assert isinstance(caught.value, IsADirectoryError)
    assert not any(tmp_path.iterdir())


def test_file_in_place_of_folder_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for call in MISSING:
        with pytest.raises(hp.FileError) as caught:
            MISSING[call](tmp_path / "file" / "inner")
        assert isinstance(caught.value, NotADirectoryError)


def test_save_refuses_other_types(tmp_path: Path) -> None:
    for item in (PLAN, b"bytes"):
        with pytest.raises(hp.FileError, match="expected a Generator or a Summary"):
            hp.save(item, tmp_path / "file")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("version", [0, VERSION - 1, VERSION + 1, 2**32 - 1])
@ALL
def test_other_version_is_refused(samples: dict[bytes, bytes], magic: bytes, version: int) -> None:
    content = samples[magic][:-32]
    message = refusal(sign(content[:8] + version.to_bytes(4, "little") + content[12:]), magic)
    assert f"got {version}; {'fit the data again' if version < VERSION else 'a newer privhp'}" in message


# Damage


@ALL
def test_changed_byte_is_refused(samples: dict[bytes, bytes], magic: bytes, slow: bool) -> None:
    """A changed bit of each byte, with --slow each other value of it."""
    reader, damaged = READERS[magic], bytearray(samples[magic])
    for place, right in enumerate(samples[magic]):
        for change in range(1, 256) if slow else (1, 128):
            damaged[place] = right ^ change
            with pytest.raises(hp.FileError):
                reader(io.BytesIO(damaged))
        damaged[place] = right
    reader(io.BytesIO(damaged))


@ALL
def test_truncated_file_is_refused(samples: dict[bytes, bytes], magic: bytes) -> None:
    for length in range(len(samples[magic])):
        refusal(samples[magic][:length], magic)


@ALL
def test_appended_bytes_are_refused(samples: dict[bytes, bytes], magic: bytes) -> None:
    for more in (b"\0", b"\n", bytes(8), bytes(16), samples[magic]):
        assert "damaged" in refusal(samples[magic] + more, magic)
        assert "size does not fit" in refusal(sign(samples[magic][:-32] + more), magic)


@ALL
def test_missing_cells_are_refused(samples: dict[bytes, bytes], magic: bytes) -> None:
    for fewer in (1, 8, 16):
        assert "size does not fit" in refusal(sign(samples[magic][: -32 - fewer]), magic)


def test_unordered_or_duplicate_ids_are_refused(tmp_path: Path) -> None:
    first, second = hp.Summary(PLAN), hp.Summary(PLAN)
    first.merge(second)
    content = bytes_of(first, tmp_path / "file")[:-32]
    content, lower, upper = content[:-32], content[-32:-16], content[-16:]
    assert hp.resume(io.BytesIO(sign(content + lower + upper))).merged_ids == {lower, upper}
    for names in (upper + lower, lower + lower):
        assert "not in order" in refusal(sign(content + names), CHECKPOINT)


# Limits


def test_too_long_header_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(hp.FileError, match="or shorten the position"):
        hp.save(hp.Summary(PLAN), tmp_path / "file", position={"words": "x" * MAX_HEADER})
    assert not any(tmp_path.iterdir())


def test_too_many_ids_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MAX_IDS", 2)
    summary = hp.Summary(PLAN)
    summary.merge(hp.Summary(PLAN))
    hp.save(summary, tmp_path / "file")
    before = (tmp_path / "file").read_bytes()
    summary.merge(hp.Summary(PLAN))
    with pytest.raises(hp.FileError, match="at most 2 merged summaries"):
        hp.save(summary, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == before


# Life cycle


def test_closed_summary_is_not_saved(tmp_path: Path) -> None:
    released, merged, other = hp.Summary(PLAN), hp.Summary(PLAN), hp.Summary(PLAN)
    released.release()
    other.merge(merged)
    for closed in (released, merged):
        with pytest.raises(hp.StateError, match="closed"):
            hp.save(closed, tmp_path / "file")
    assert not any(tmp_path.iterdir())


def test_resumed_copies_are_not_merged(tmp_path: Path) -> None:
    summary, path = hp.Summary(PLAN), tmp_path / "file"
    hp.save(summary, path)
    first, second = hp.resume(path), hp.resume(path)
    second.update([1])
    for left, right in ((first, second), (summary, first), (second, summary)):
        with pytest.raises(hp.StateError, match="share counts already"):
            left.merge(right)


def test_tally_of_checkpoint_is_not_absorbed_again(tmp_path: Path) -> None:
    summary, tally = hp.Summary(PLAN), hp.Tally(PLAN)
    summary.absorb(tally)
    hp.save(summary, tmp_path / "file")
    with pytest.raises(hp.StateError, match="share counts already"):
        hp.resume(tmp_path / "file").absorb(tally)


# Content of files


def test_release_file_holds_plan_and_cells_only(tmp_path: Path) -> None:
    for records in (0, 1, 1000):
        summary = hp.Summary(PLAN)
        summary.update(np.zeros(records, dtype=np.int64))
        generator = summary.release()
        cells = generator.release.cells().astype("<i8").tobytes()
        assert bytes_of(generator, tmp_path / "file") == forge({"plan": PLAN.spec()}, body=cells)


def test_release_file_holds_no_ids(tmp_path: Path) -> None:
    summary = hp.Summary(PLAN)
    summary.absorb(hp.Tally(PLAN))
    checkpoint = bytes_of(summary, tmp_path / "checkpoint")
    release = bytes_of(summary.release(), tmp_path / "release")
    for name in summary.merged_ids:
        assert name in checkpoint
        assert name not in release


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_file_modes(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        checkpoint, release = tmp_path / "checkpoint", tmp_path / "release"
        checkpoint.touch(mode=0o666)
        summary = hp.Summary(PLAN)
        hp.save(summary, checkpoint, replace=True)
        hp.save(summary.release(), release)
    finally:
        os.umask(before)
    assert stat.S_IMODE(checkpoint.stat().st_mode) == 0o600
    assert stat.S_IMODE(release.stat().st_mode) == 0o644 & ~umask


# File objects


def test_file_objects() -> None:
    summary, checkpoint, release = hp.Summary(PLAN), io.BytesIO(), io.BytesIO()
    hp.save(summary, checkpoint)
    assert np.array_equal(hp.resume(io.BytesIO(checkpoint.getvalue())).state(), summary.state())
    generator = summary.release()
    hp.save(generator, release)
    assert hp.load(io.BytesIO(release.getvalue())).release == generator.release
    assert generator.release.to_bytes() == release.getvalue()


def test_unbuffered_file_that_writes_in_parts() -> None:
    class Slow(io.RawIOBase):
        content = b""

        def writable(self) -> bool:
            return True

        def write(self, chunk: Any) -> int:
            part = bytes(chunk)[:7]
            self.content += part
            return len(part)

    summary, file = hp.Summary(PLAN), Slow()
    hp.save(summary, file)
    assert not file.closed
    assert np.array_equal(hp.resume(io.BytesIO(file.content)).state(), summary.state())


def test_errors_of_file_objects_pass_unchanged() -> None:
    """A file object has no path that a message could name."""

    class Failing(io.BytesIO):
        def read(self, *size: Any) -> bytes:
            raise FileNotFoundError("gone")

        def write(self, chunk: Any) -> int:
            raise FileNotFoundError("gone")

    for use in (hp.load, hp.resume, lambda file: hp.save(hp.Summary(PLAN), file)):
        with pytest.raises(FileNotFoundError, match=r"^gone$"):
            use(Failing())


def test_text_file_objects_are_refused() -> None:
    for use in (lambda: hp.save(hp.Summary(PLAN), io.StringIO()), lambda: hp.load(io.StringIO("")), lambda: hp.load(3)):
        with pytest.raises(hp.FileError, match="binary mode"):
            use()


def test_tally_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(hp.FileError, match="never saved"):
        hp.save(hp.Tally(PLAN), tmp_path / "file")

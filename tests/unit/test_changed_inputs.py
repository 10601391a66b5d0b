"""Files that change between any two batches are refused or read as they were; no record counts twice."""

import io
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

import privhp as hp
from privhp.collect.ingest import CheckpointedIngestion
from privhp.io.sources import Source, open_source
from trips import DOMAIN, NAMES, write_table_to

FORMATS = [*NAMES, "a.npy"]
ROWS = 450
PASSES = 3
POINTS = hp.Box([(0, 1), (0, 1)])

CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "renamed": lambda path, other: path.rename(path.with_name("moved")),
    "rotated": lambda path, other: path.rename(other),
    "replaced": lambda path, other: shutil.copy(path, path.with_name("copy")) and path.with_name("copy").replace(path),
    "deleted": lambda path, other: path.unlink(),
    "emptied": lambda path, other: os.truncate(path, 0),
    "cut": lambda path, other: os.truncate(path, path.stat().st_size // 2),
    "cut by a byte": lambda path, other: os.truncate(path, path.stat().st_size - 1),
    "doubled": lambda path, other: path.write_bytes(path.read_bytes() * 2),
    "lengthened": lambda path, other: _append(path, b"\n1,2,3\n"),
    "overwritten": lambda path, other: path.write_bytes(path.read_bytes()[::-1]),
    "a pipe": lambda path, other: (path.unlink(), os.mkfifo(path)),
    "a folder": lambda path, other: (path.unlink(), path.mkdir()),
}


def _append(path: Path, more: bytes) -> None:
    with path.open("ab") as file:
        file.write(more)


@contextmanager
def small_batches() -> Iterator[None]:
    with (
        mock.patch("privhp.io.sources.text_records._BLOCK", 10_000),
        mock.patch("privhp.io.sources.selection.MAX_ROWS", 150),
        mock.patch("privhp.io.sources.selection.MIN_ROWS", 150),
    ):
        yield


def write_files(folder: Path, name: str) -> list[Path]:
    """Write two files with the same name in different folders, as if long ago."""
    paths = []
    for place in ("one", "two"):
        (folder / place).mkdir()
        if name == "a.npy":
            path = folder / place / name
            np.save(path, np.random.default_rng(len(place)).random((ROWS, 2)))
        else:
            path = write_table_to(folder / place, name, ROWS)
        os.utime(path, (10**9, 10**9))
        paths.append(path)
    return paths


def open_files(paths: list[Path]) -> tuple[Source, hp.Domain]:
    domain = POINTS if paths[0].suffix == ".npy" else DOMAIN
    return open_source(paths, domain=domain), domain


def read(source: Source, domain: hp.Domain, change: Callable[[], object], after: int) -> list[list[int]]:
    """Codes of all records in each of three passes; the change happens after this number of batches."""
    passes, seen = [], 0
    for _ in range(PASSES):
        codes: list[int] = []
        for batch in source.batches():
            codes += domain.encode(batch.records, level=domain.depth).tolist()
            seen += 1
            if seen == after:
                change()
        passes.append(codes)
    return passes


class Original(NamedTuple):
    """Two files as they were: their folder, the number of batches in three passes, and the codes of a pass."""

    folder: Path
    batches: int
    codes: list[int]


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Original]:
    found = {}
    for name in FORMATS:
        folder = tmp_path_factory.mktemp("original")
        paths = write_files(folder, name)
        with small_batches():
            source, domain = open_files(paths)
            batches = [domain.encode(batch.records, level=domain.depth).tolist() for batch in source.batches()]
        found[name] = Original(folder, PASSES * len(batches), [code for codes in batches for code in codes])
    return found


def is_refused(folder: Path, original: Original, name: str, change: str, target: int, after: int) -> bool:
    """Read copies of files that change; whether they are refused. If not, they are read as they were."""
    shutil.copytree(original.folder, folder)
    paths = [folder / place / name for place in ("one", "two")]
    try:
        with small_batches():
            source, domain = open_files(paths)
            found = read(source, domain, lambda: CHANGES[change](paths[target], paths[1 - target]), after)
    except hp.FileError:
        return True
    finally:
        shutil.rmtree(folder)
    assert found == [original.codes] * PASSES
    return False


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("change", CHANGES)
def test_changes_between_batches(tmp_path: Path, originals: dict[str, Original], name: str, change: str) -> None:
    rng, original = random.Random(f"{name} {change}"), originals[name]
    after = rng.randrange(1, original.batches)
    refused = is_refused(tmp_path / "files", original, name, change, rng.randrange(2), after)
    last_pass = original.batches * (PASSES - 1) // PASSES
    assert refused or after > last_pass - 2, "a file that is opened again has changed"


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("change", CHANGES)
def test_changes_between_any_batches(tmp_path: Path, originals: dict[str, Original], name: str, change: str) -> None:
    for target in range(2):
        for after in range(1, originals[name].batches + 1):
            is_refused(tmp_path / "files", originals[name], name, change, target, after)


def test_message_of_a_change(tmp_path: Path) -> None:
    paths = write_files(tmp_path, "a.csv")
    source, domain = open_files(paths)
    paths[1].write_bytes(paths[0].read_bytes())
    with pytest.raises(hp.FileError, match=r"two/a\.csv: the file was written to, replaced or cut while it was in use"):
        read(source, domain, lambda: None, 0)


@pytest.mark.parametrize("link", ["hard", "symbolic", "same"])
def test_file_given_twice(tmp_path: Path, link: str) -> None:
    path, _ = write_files(tmp_path, "a.csv")
    other = path if link == "same" else tmp_path / "b.csv"
    if link == "hard":
        other.hardlink_to(path)
    elif link == "symbolic":
        other.symlink_to(path)
    with pytest.raises(hp.FileError, match="given twice, so its records would count twice; give each file once"):
        open_source([path, other], domain=DOMAIN)


def test_standard_input_that_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n\n" + "1\n" * 3_000_000)
    code = (
        "import os, sys, privhp as hp\n"
        "from privhp.io.sources import open_source\n"
        "for _ in open_source('-', domain=hp.Integers(0, 9)).batches(): os.truncate(sys.argv[1], 100)"
    )
    with path.open("rb") as file:
        done = subprocess.run([sys.executable, "-c", code, path], stdin=file, capture_output=True, check=False)
    assert b"the file was written to, replaced or cut" in done.stderr


PLAN = hp.Plan(POINTS, epsilon=1, budgets={8: 1}, exact_depth=8)
NO_NOISE = mock.patch(
    "privhp.collect.noisy_counters.discrete_laplace", lambda size, *, scale: np.zeros(size, dtype=np.int64)
)


@pytest.mark.parametrize("change", ["cut", "doubled", "overwritten", "replaced", "deleted"])
def test_resume_after_a_change(tmp_path: Path, change: str) -> None:
    """A refused run leaves a checkpoint that is refused too, until the files are as they were."""
    paths, state = write_files(tmp_path, "a.npy"), tmp_path / "state"
    backup = shutil.copy2(paths[1], tmp_path / "backup")

    def run(*, resume: bool, after: int = 0) -> np.ndarray:
        run = CheckpointedIngestion(PLAN, open_files(paths)[0], state, every=0, resume=resume)
        batches = iter(range(1, 100))
        try:
            run.run(lambda _: next(batches) == after and bool(CHANGES[change](paths[1], paths[0])) and False)
            return run.summary.state()
        finally:
            run.close(remove=False)

    with NO_NOISE, small_batches():
        expected = run(resume=False)
        state.unlink()
        with pytest.raises(hp.FileError):
            run(resume=False, after=1)  # the second file is not yet open
        with pytest.raises(hp.PrivhpError):
            run(resume=True)
        paths[1].unlink(missing_ok=True)
        shutil.copy2(backup, paths[1])
        assert np.array_equal(run(resume=True), expected)


def test_large_batches_of_an_arrow_stream_in_a_pipe() -> None:
    """A batch takes many reads of a pipe."""
    table, content = pa.table({"x": np.random.default_rng(0).random(200_000)}), io.BytesIO()
    with ipc.new_stream(content, table.schema) as writer:
        writer.write_table(table)
    code = (
        "import privhp as hp\nfrom privhp.io.sources import open_source\n"
        "batches = open_source('-', domain=hp.Interval(0, 1), format='arrow').batches()\n"
        "print(sum(len(batch.records) for batch in batches))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=content.getvalue(), capture_output=True, check=True)
    assert done.stdout == b"200000\n"

"""Plain text whose name ends in .gz is told apart from gzip files that are damaged."""

import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import privhp as hp
from privhp.io.sources import open_source
from privhp.io.sources.schemas import read_schema

TEXT = b"x\n" + b"0.5\n" * 1000
MISNAMED = (
    r"since its name ends in \.gz, got one that does not begin like one, such as plain text; give it a name without"
)


def count_rows(path: Path, *, header: bool = True) -> int:
    source = open_source(path, domain=hp.Table(x=hp.Interval(0, 1)), header=header)
    return sum(len(batch.records) for batch in source.batches())


@pytest.mark.parametrize("name", ["a.csv.gz", "A.TSV.GZ", "a.ndjson.gz"])
@pytest.mark.parametrize("text", [TEXT, b"\x1f", b"\x1f\n\x8b", b'{"x": 1}\n'])
def test_plain_text_is_no_gzip_file(tmp_path: Path, name: str, text: bytes) -> None:
    """Whatever its first record is."""
    (tmp_path / name).write_bytes(text)
    with pytest.raises(hp.FileError, match=MISNAMED):
        count_rows(tmp_path / name)


def test_headers_and_schemas(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(TEXT)
    with pytest.raises(hp.FileError, match=MISNAMED):
        count_rows(path, header=False)
    with pytest.raises(hp.FileError, match=MISNAMED):
        read_schema(str(path), header=True)


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:20] + b"?" + data[21:]])
def test_damaged_gzip_files(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(TEXT))
    assert count_rows(path) == 1000
    path.write_bytes(damage(gzip.compress(TEXT)))
    with pytest.raises(hp.FileError, match="expected a complete gzip file, got one that is damaged or truncated"):
        count_rows(path)


def test_empty_files_and_pipes(tmp_path: Path) -> None:
    path, pipe = tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"
    path.write_bytes(b"")
    assert count_rows(path, header=False) == 0
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(TEXT)))
    writer.start()
    assert count_rows(pipe) == 1000
    writer.join()

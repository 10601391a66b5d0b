"""Peak memory of reading files with long texts, many short records, and little content that becomes much."""

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

LIMIT = 80  # MiB above those of the imports
MIB = 2**20
LONG = "a" * MIB
FIELDS = 60

READ = """
import sys
import pyarrow.compute, pyarrow.ipc, pyarrow.parquet
import privhp as hp
from privhp.io.sources import open_source
import privhp.io.sources.ipc_messages, privhp.io.sources.parquet_reader

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])

names = sys.argv[2:]
if len(names) > 1:
    domain = hp.Table({name: hp.Nullable(hp.Interval(0, 1)) for name in names})
else:
    domain = hp.Categories(["bus", "tram"]) if names == ["t"] else hp.Interval(0, 1)
privhp.io.sources.ipc_messages.MAX_WHOLE = privhp.io.sources.parquet_reader.MAX_WHOLE = 2**26
before, rows, refusal = peak(), 0, ""
try:
    for batch in open_source(sys.argv[1], domain=domain, columns=names).batches():
        domain.encode(batch.records, level=domain.depth)
        rows += len(batch.records)
except hp.FileError as error:
    refusal = str(error)
print((peak() - before) // 1024, rows, "rows per" in refusal)
"""


def repeat(path: Path, first: bytes, piece: bytes, times: int) -> int:
    """Write a gzip file of one piece many times."""
    path.write_bytes(gzip.compress(first) + gzip.compress(piece) * times)
    return times * (piece.count(b"\n") or 1)


def repeated_text(path: Path) -> int:
    """One text in many rows; the file has a few hundred bytes."""
    array = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), [LONG])
    parquet.write_table(pa.table({"t": array}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 600
    return 1000


def long_outlier(path: Path) -> int:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1] * 10**5, pa.int32()), [LONG, "bus"])
    parquet.write_table(pa.table({"t": array}), path, compression="zstd", store_schema=False)
    return 3 * 10**5


def plain_texts(path: Path, rows: int) -> int:
    texts = pa.table({"t": [LONG + str(row) for row in range(rows)]})
    parquet.write_table(texts, path, compression="zstd", use_dictionary=False, write_batch_size=1)
    return rows


def arrow(path: Path, array: Any, *, compression: str | None = None, name: str = "t") -> int:
    table = pa.table({name: array})
    new = ipc.new_stream if path.suffix == ".arrows" else ipc.new_file
    with new(path, table.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return len(array)


def wide_array(path: Path) -> int:
    np.save(path, np.zeros((300, 60_000)))
    return 300


NEWLINES = b"\n" * MIB
BOMBS: dict[str, tuple[str, Callable[[Path], int]]] = {
    "repeated text": ("a.parquet", repeated_text),
    "long outlier": ("a.parquet", long_outlier),
    "plain texts": ("a.parquet", lambda path: plain_texts(path, 40)),
    "large texts in Arrow": ("a.arrow", lambda path: arrow(path, [LONG] * 150)),
    "large batch": ("a.arrow", lambda path: arrow(path, np.zeros(2 * 10**7), name="x")),
    "endless line": ("a.csv.gz", lambda path: repeat(path, b"t\n", b"a" * MIB, 150) and 1),
    "long lines": ("a.csv.gz", lambda path: repeat(path, b"t\n", LONG.encode()[:-9] + b"\n", 150)),
    "newlines": ("a.csv.gz", lambda path: repeat(path, b"t\n", NEWLINES, 3)),
    "open quotes": ("a.csv.gz", lambda path: repeat(path, b"t\n", b'"a\n' * (MIB // 3), 3) // 2),
    "long lines of JSON": ("a.ndjson.gz", lambda path: repeat(path, b"", b'{"t": "%b"}\n' % LONG.encode()[:-20], 150)),
    "nested JSON": ("a.ndjson.gz", lambda path: repeat(path, b"", b"[" * (MIB - 9) + b"\n", 50)),
    "lists in JSON": ("a.ndjson.gz", lambda path: repeat(path, b"", b'{"t":[' + b"0," * 500_000 + b"0]}\n", 10)),
    "empty objects": ("a.ndjson.gz", lambda path: repeat(path, b"", b"{}\n" * (MIB // 3), 1)),
    "wide array": ("a.npy", wide_array),
}


def read(path: Path, columns: list[str]) -> tuple[int, int, bool]:
    """Memory in MiB and number of rows of a reading in a new process, and whether larger batches are refused."""
    command = [sys.executable, "-c", READ, str(path), *columns]
    memory, rows, refused = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    return int(memory), int(rows), refused == "True"


@pytest.mark.parametrize("case", BOMBS)
def test_peak_memory(tmp_path: Path, case: str) -> None:
    name, write = BOMBS[case]
    rows = write(tmp_path / name)
    columns = {"wide array": ["2"], "large batch": ["x"]}.get(case, ["t"])
    memory, found, refused = read(tmp_path / name, columns)
    assert memory < LIMIT
    assert (found, refused) == (rows, False)


def test_peak_memory_of_many_columns(tmp_path: Path) -> None:
    """A megabyte of empty records takes memory for all columns of each."""
    names = [f"c{number}" for number in range(FIELDS)]
    repeat(tmp_path / "a.csv.gz", ",".join(names).encode() + b"\n", NEWLINES, 1)
    memory, rows, _ = read(tmp_path / "a.csv.gz", names)
    assert memory < LIMIT
    assert rows == MIB


REFUSED: dict[str, tuple[str, Callable[[Path], int]]] = {
    "texts in a row group": ("a.parquet", lambda path: plain_texts(path, 100)),
    "compressed batch": ("a.arrow", lambda path: arrow(path, np.zeros(10**7), compression="zstd", name="x")),
    "compressed batch of a stream": (
        "a.arrows",
        lambda path: arrow(path, np.zeros(10**7), compression="lz4", name="x"),
    ),
    "batch of a stream": ("a.arrows", lambda path: arrow(path, np.zeros(10**7), name="x")),
    "compressed dictionary": (
        "a.arrow",
        lambda path: arrow(path, pa.array([LONG * 70]).dictionary_encode(), compression="zstd"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_parts_that_are_read_as_a_whole_are_limited(tmp_path: Path, case: str) -> None:
    """The child process has a limit of 64 MiB in place of 512."""
    name, write = REFUSED[case]
    write(tmp_path / name)
    memory, rows, refused = read(tmp_path / name, ["x" if "batch" in case else "t"])
    assert refused
    assert rows == 0
    assert memory < LIMIT

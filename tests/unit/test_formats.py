"""Parquet, Arrow, NDJSON, compressed text and several files give the same cells."""

import contextlib
import subprocess
import sys
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import privhp as hp
from privhp import FileError, Plan, RecordsError, Tally
from privhp.io.sources import START, open_source
from trips import DOMAIN, NAMES, ROWS, table, write_table_to

PLAN = Plan(DOMAIN, epsilon=1, budgets={12: 1}, exact_depth=12)


def counts_of(data: object, *, after: tuple[int, int] = START, **options: object) -> np.ndarray:
    tally = Tally(PLAN)
    for batch in open_source(data, domain=DOMAIN, **options).batches(after):
        tally.add(batch.records)
    return tally.counters


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    """Counts of Python values, one record at a time."""
    tally = Tally(PLAN)
    tally.add(table().to_pylist())
    assert 0.1 * ROWS < tally.counters.sum() < 0.9 * ROWS
    return tally.counters


@pytest.mark.parametrize("name", NAMES)
def test_counts_of_formats(tmp_path, name, expected):
    assert np.array_equal(counts_of(write_table_to(tmp_path, name)), expected)


@pytest.mark.parametrize("name", NAMES)
def test_row_numbers(tmp_path, name):
    source = open_source(write_table_to(tmp_path, name), domain=DOMAIN)
    assert sum(len(batch.records) for batch in source.batches()) == ROWS


class Capsules:
    """Object with the PyCapsule interface of Arrow only."""

    def __init__(self, data: pa.Table) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._data.__arrow_c_stream__(requested_schema)


FRAMES = {
    "pyarrow": lambda data: data,
    "batches of pyarrow": lambda data: data.to_reader(max_chunksize=777),
    "one batch of pyarrow": lambda data: data.combine_chunks().to_batches()[0],
    "pandas": lambda data: data.to_pandas(),
    "pandas with Arrow types": lambda data: data.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "dict": lambda data: {name: data[name] for name in data.column_names},
    "records": lambda data: data.to_pylist(),
    "iterator of frames": lambda data: iter([data.slice(0, 3000), data.slice(3000).to_pandas()]),
    "generator of dicts": lambda data: (batch.to_pydict() for batch in data.to_batches(max_chunksize=999)),
    "capsules alone": Capsules,
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())
def test_counts_of_frames(make, expected):
    assert np.array_equal(counts_of(make(table())), expected)


def test_duckdb_relation(expected):
    data = table()
    assert np.array_equal(counts_of(duckdb.from_arrow(data)), expected)


@pytest.mark.parametrize(
    "make", [np.asarray, list, pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([values]), iter]
)
def test_single_column_without_name(make):
    values = np.random.default_rng(0).random(1000)
    plan = Plan(hp.Interval(0, 1), epsilon=1, budgets={8: 1}, exact_depth=8)
    tally, direct = Tally(plan), Tally(plan)
    data = make(values) if make is not iter else iter([values[:10], values[10:]])
    for batch in open_source(data, domain=plan.domain).batches():
        tally.add(batch.records)
    direct.add(values)
    assert np.array_equal(tally.counters, direct.counters)


@pytest.mark.parametrize("make", [lambda data: data, lambda data: data.to_pandas(), lambda data: data.to_pydict()])
def test_columns_of_frame(make):
    data = make(table(100))
    source = open_source(data, domain=hp.Box([(49, 61), (-9, 2)]), columns=["lat", "lon"])
    (batch,) = source.batches()
    assert np.array_equal(batch.records, np.stack([np.asarray(data["lat"]), np.asarray(data["lon"])], axis=1))
    with pytest.raises(RecordsError, match="to name a column 'fee', got no such name"):
        list(open_source(data, domain=hp.Interval(0, 1), columns=["fee"]).batches())


def test_unsupported_objects():
    for data in (None, 5, 0.5, True):
        with pytest.raises(RecordsError, match="expected a path, records"):
            open_source(data, domain=DOMAIN)


def test_several_files(tmp_path, expected):
    for name in NAMES:
        write_table_to(tmp_path, f"part-{name}")
    assert np.array_equal(counts_of(str(tmp_path / "part-*")), len(NAMES) * expected)
    assert np.array_equal(counts_of([tmp_path / "part-a.csv", tmp_path / "part-a.parquet"]), 2 * expected)
    assert np.array_equal(counts_of(tmp_path / "part-a.csv"), expected)
    (tmp_path / "[x]*.csv").write_bytes((tmp_path / "part-a.csv").read_bytes())
    assert np.array_equal(counts_of(tmp_path / "[x]*.csv"), expected), "the name of an existing file is not a glob"
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "b.csv").write_bytes((tmp_path / "part-a.csv").read_bytes())
    assert np.array_equal(counts_of(str(tmp_path / "**" / "b.csv")), expected)


def test_missing_and_repeated_files(tmp_path):
    path = write_table_to(tmp_path, "a.csv", 10)
    (tmp_path / "link.csv").symlink_to(path)
    with pytest.raises(FileError, match=r"no file matches .*; check the pattern"):
        counts_of(str(tmp_path / "no*.csv"))
    with pytest.raises(FileError, match="is given twice"):
        counts_of(str(tmp_path / "*.csv"))
    with pytest.raises(FileError, match="or standard input"):
        counts_of([Path("-"), path])


def test_files_checked_before_reading(tmp_path):
    write_table_to(tmp_path, "a.csv")
    (tmp_path / "b.csv").write_text("other,names\n1,2\n")
    with pytest.raises(FileError, match=r"b\.csv: expected the first line to name a column 'pickup'"):
        open_source(str(tmp_path / "*.csv"), domain=DOMAIN)


@pytest.mark.parametrize("name", NAMES)
def test_read_from_position(tmp_path, name, slow):
    """The batches before and after a position contain each record once."""
    write_table_to(tmp_path, f"0-{name}", 3000)
    write_table_to(tmp_path, f"1-{name}")
    both = str(tmp_path / f"*-{name}")
    whole = counts_of(both)
    tally = Tally(PLAN)
    with (
        mock.patch("privhp.io.sources.text_records._BLOCK", 150_000),
        mock.patch("privhp.io.sources.selection.MAX_ROWS", 1234),
        mock.patch("privhp.io.sources.selection.MIN_ROWS", 1),
    ):
        batches = list(open_source(both, domain=DOMAIN).batches())
        assert len(batches) > 4
        assert [batch.position for batch in batches] == sorted({batch.position for batch in batches})
        for place, batch in enumerate(batches):
            tally.add(batch.records)
            if place % (3 if slow else 11) == 0 or place == len(batches) - 1:
                after = counts_of(both, after=batch.position)
                assert np.array_equal(tally.counters + after, whole)


def test_identity(tmp_path):
    path = write_table_to(tmp_path, "a.csv", 10)

    def identity(**options: object) -> str | None:
        return open_source(path, domain=hp.Interval(0, 1), **options).identity

    first = identity(columns=["fare"])
    assert first == identity(columns=["fare"])
    assert first != identity(columns=["lat"])
    path.write_bytes(path.read_bytes() + b"\n")
    assert first != identity(columns=["fare"])
    assert open_source([0.5], domain=hp.Interval(0, 1)).identity is None


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow", "a.arrows", "a.csv.zst", "a.csv.gz"])
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"hello", lambda data: b""])
def test_damaged_files(tmp_path, name, damage):
    path = write_table_to(tmp_path, name)
    path.write_bytes(damage(path.read_bytes()))
    says = rf"{name}: (expected (a complete|the file|a mark|a gzip file)|the file is empty)"
    with pytest.raises(FileError, match=says) as caught:
        counts_of(path)
    assert len(str(caught.value)) < 300


def test_changed_bytes(tmp_path):
    rng = np.random.default_rng(1)
    for name in ("a.parquet", "a.arrow", "a.arrows", "a.feather"):
        path = write_table_to(tmp_path, name, 500)
        content = path.read_bytes()
        for _ in range(40):
            changed = bytearray(content)
            changed[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
            path.write_bytes(changed)
            with contextlib.suppress(FileError, RecordsError):
                counts_of(path)


def test_format_option(tmp_path, expected):
    for name, kind in (("a.parquet", "parquet"), ("a.ndjson", "ndjson"), ("a.arrow", "arrow"), ("a.csv", "csv")):
        path = write_table_to(tmp_path, name).rename(tmp_path / "data")
        assert np.array_equal(counts_of(path, format=kind), expected)
    with pytest.raises(FileError, match="expected a format among csv"):
        counts_of(path, format="xlsx")


def test_missing_pyarrow(tmp_path, monkeypatch):
    paths = [write_table_to(tmp_path, name, 10) for name in ("a.parquet", "a.arrow", "a.csv.zst")]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for path in paths:
        with pytest.raises(FileError, match=r"pip install 'privhp\[io\]'"):
            open_source(path, domain=DOMAIN)


MEMORY = """
import sys
import privhp as hp, pyarrow, pyarrow.parquet, pyarrow.ipc
from privhp.io.sources import open_source

def peak() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
plan = hp.Plan(hp.Box([(0, 1), (0, 1)]), epsilon=1, budgets={8: 1}, exact_depth=8)
hp.fit(sys.argv[1], plan=plan, columns=["x", "y"])
print(peak() - before)
"""


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv"])
def test_memory_of_large_file(tmp_path, ending, offline):
    """At most 100 MB above the interpreter and libraries, for any size of file and row groups."""
    rows = 10**8 if offline else 5 * 10**6 if ending == ".parquet" else 2 * 10**6
    path = tmp_path / f"a{ending}"
    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64()), ("z", pa.float64())])
    with path.open("wb") as file:
        writer = {".parquet": parquet.ParquetWriter, ".arrow": ipc.new_file}.get(ending)
        sink = writer(file, schema) if writer else None
        if sink is None:
            file.write(b"x,y,z\n")
        block = rng.random((10**5, 3))
        text = b"".join(b"%.6f,%.6f,%.6f\n" % tuple(row) for row in block.tolist())
        table = pa.table(dict(zip("xyz", np.tile(block.T, 10), strict=True)), schema=schema)
        for _ in range(rows // 10**6):
            if sink is None:
                file.write(text * 10)
            else:
                sink.write_table(table)
        if sink is not None:
            sink.close()
    done = subprocess.run([sys.executable, "-c", MEMORY, path], capture_output=True, check=True, text=True)
    assert int(done.stdout) < 100_000

"""Which sources can be read again from the start, and that a second reading gives the same records."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp as hp
from privhp.cli.watching import WatchedSource
from privhp.core.progress import Progress
from privhp.io.sources import Source, open_source
from trips import DOMAIN, NAMES, ROWS, table, write_table_to


def codes(source: Source, domain: hp.Domain = DOMAIN) -> list[int]:
    return [code for batch in source.batches() for code in domain.encode(batch.records, level=domain.depth).tolist()]


@pytest.mark.parametrize("name", NAMES)
def test_files_are_read_again(tmp_path: Path, name: str) -> None:
    source = open_source(write_table_to(tmp_path, name), domain=DOMAIN)
    assert source.rereadable
    first = codes(source)
    assert len(set(first)) > ROWS / 10
    assert codes(source) == first
    next(source.batches())  # a reading that breaks off
    assert codes(source) == first


def test_arrays_in_files_are_read_again(tmp_path: Path) -> None:
    box = hp.Box([(0, 1), (0, 1)])
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((1000, 2)))
    source = open_source(tmp_path / "a.npy", domain=box)
    assert source.rereadable
    assert codes(source, box) == codes(source, box)


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_globs_and_lists_are_read_again(tmp_path: Path, suffix: str) -> None:
    paths = [write_table_to(tmp_path, f"{name}{suffix}", rows) for name, rows in (("a", 3000), ("b", 2000))]
    for data in (str(tmp_path / "*"), paths):
        source = open_source(data, domain=DOMAIN)
        assert source.rereadable
        first = codes(source)
        assert len(first) == 5000
        assert codes(source) == first


class Batches:
    """Batches that an iteration yields anew each time."""

    def __init__(self, data: pa.Table) -> None:
        self._data = data

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data.to_batches(max_chunksize=999))


class Capsules:
    """Object with the PyCapsule interface of Arrow only."""

    def __init__(self, data: pa.Table) -> None:
        self._data = data

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._data.__arrow_c_stream__(requested_schema)


AGAIN: dict[str, Callable[[pa.Table], Any]] = {
    "Arrow table": lambda data: data,
    "Arrow batch": lambda data: data.combine_chunks().to_batches()[0],
    "pandas": pa.Table.to_pandas,
    "polars": pl.from_arrow,
    "dict": lambda data: {name: data[name] for name in data.column_names},
    "records": pa.Table.to_pylist,
    "tuple of records": lambda data: tuple(data.to_pylist()),
    "structured array": lambda data: data.to_pandas().to_records(index=False),
    "relation": duckdb.from_arrow,
    "iterable of batches": Batches,
    "list of frames": lambda data: [data.slice(0, 9).to_pandas(), data.slice(9).to_pandas()],
    "tuple of frames": lambda data: (pl.from_arrow(data.slice(0, 9)), pl.from_arrow(data.slice(9))),
    "list of Arrow batches": lambda data: data.to_batches(max_chunksize=999),
}


@pytest.mark.parametrize("make", AGAIN.values(), ids=AGAIN.keys())
def test_objects_are_read_again(make: Callable[[pa.Table], Any]) -> None:
    source = open_source(make(table()), domain=DOMAIN)
    assert source.rereadable
    first = codes(source)
    assert len(first) == ROWS
    assert codes(source) == first
    assert sorted(first) == sorted(codes(open_source(table(), domain=DOMAIN)))


@pytest.mark.parametrize("make", [np.asarray, list, tuple, pd.Series, pl.Series, pa.array, pa.chunked_array])
def test_columns_are_read_again(make: Callable[[Any], Any]) -> None:
    values, unit = np.random.default_rng(0).random(100), hp.Interval(0, 1)
    source = open_source(make([values] if make is pa.chunked_array else values), domain=unit)
    assert source.rereadable
    assert codes(source, unit) == codes(source, unit) == unit.encode(values, level=unit.depth).tolist()


ONCE: dict[str, Callable[[pa.Table], Any]] = {
    "iterator": lambda data: iter(data.to_batches()),
    "generator": lambda data: (batch for batch in data.to_batches()),
    "map": lambda data: map(pa.RecordBatch.to_pydict, data.to_batches()),
    "Arrow reader": pa.Table.to_reader,
    "capsules alone": Capsules,
}


@pytest.mark.parametrize("make", ONCE.values(), ids=ONCE.keys())
def test_streams_are_read_once(make: Callable[[pa.Table], Any]) -> None:
    source = open_source(make(table()), domain=DOMAIN)
    assert not source.rereadable
    assert len(codes(source)) == ROWS


def test_pipes_are_read_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    content = write_table_to(tmp_path, "a.csv").read_bytes()
    source = open_source(tmp_path / "pipe.csv", domain=DOMAIN)
    assert not source.rereadable
    assert not open_source([tmp_path / "a.csv", tmp_path / "pipe.csv"], domain=DOMAIN).rereadable
    writer = threading.Thread(target=(tmp_path / "pipe.csv").write_bytes, args=[content])
    writer.start()
    assert len(codes(source)) == ROWS
    writer.join()


def test_standard_input_is_read_once() -> None:
    assert not open_source("-", domain=DOMAIN).rereadable


def test_watched_source_is_as_rereadable_as_its_source() -> None:
    for data in ([], iter([])):
        source = open_source(data, domain=hp.Interval(0, 1))
        assert WatchedSource(source, Progress(None)).rereadable == source.rereadable

"""Files of synthetic records: names, types, chunks and seeds."""

import io
import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import privhp as hp
from privhp import FileError, Tally
from privhp.io import sample_chunks
from privhp.io.sinks import write_sample
from privhp.io.sources import open_source
from privhp.release import Release

DOMAIN = hp.Table(
    {
        "pickup": hp.Time("2018-01-01", "2020-12-31"),
        "day": hp.Nullable(hp.Time("2018-01-01", "2020-12-31", unit="D")),
        "fare": hp.Interval(0, 100),
        "delay": hp.Nullable(hp.Integers(-120, 1440)),
        ("lon", "lat"): hp.Box([(-9, 2), (49, 61)]),
        "kind": hp.Nullable(hp.Categories(["bus", "tram", 'a "taxi", à la carte'])),
        "zone": hp.Categories([4, 7, 9]),
        "source": hp.IPv4("10.0.0.0/8"),
        "host": hp.IPv6("2001:db8::/32"),
        "big": hp.Categories([2**70, 2**71]),
    }
)
TYPES = {
    "pickup": pa.timestamp("s"),
    "day": pa.date32(),
    "fare": pa.float64(),
    "delay": pa.int64(),
    "lon": pa.float64(),
    "lat": pa.float64(),
    "kind": pa.string(),
    "zone": pa.int64(),
    "source": pa.string(),
    "host": pa.string(),
    "big": pa.string(),
}


@pytest.fixture(scope="module")
def generator() -> hp.Generator:
    """Generator of the base measure: no records and no noise."""
    plan = hp.Plan.paper(DOMAIN, epsilon=1, expected_records=1e4, hot_cells=8)
    return hp.Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))


FILES = ["a.csv", "a.tsv", "a.ndjson", "a.jsonl", "a.parquet", "a.pq", "a.arrow", "a.feather"]
PACKED = ["a.csv.gz", "a.tsv.gz", "a.csv.zst", "a.ndjson.gz", "a.jsonl.zst"]


@pytest.mark.parametrize("name", FILES + PACKED)
def test_round_trip(generator, tmp_path, monkeypatch, name):
    monkeypatch.setattr(sample_chunks, "CHUNK", 300)
    write_sample(generator, tmp_path / name, rows=1000, seed=5)
    plan = hp.Plan(DOMAIN, epsilon=1, budgets={16: 1}, exact_depth=16)
    read, direct = Tally(plan), Tally(plan)
    for batch in open_source(tmp_path / name, domain=DOMAIN).batches():
        read.add(batch.records)
    rng = np.random.default_rng(5)
    for size in (300, 300, 300, 100):
        direct.add(generator.sample(size, rng=rng))
    assert direct.counters.sum() == 1000
    assert np.array_equal(read.counters, direct.counters)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("rows", [0, 1, 700])
def test_arrow_types(generator, tmp_path, rows):
    write_sample(generator, tmp_path / "a.parquet", rows=rows, seed=1)
    write_sample(generator, tmp_path / "a.arrow", rows=rows, seed=1)
    stored = parquet.read_table(tmp_path / "a.parquet")
    exact = ipc.open_file(tmp_path / "a.arrow").read_all()
    assert dict(zip(exact.schema.names, exact.schema.types, strict=True)) == TYPES
    assert dict(zip(stored.schema.names, stored.schema.types, strict=True)) == {**TYPES, "pickup": pa.timestamp("ms")}
    assert len(stored) == len(exact) == rows
    for name in TYPES:
        assert stored[name].null_count == exact[name].null_count
        assert name in ("day", "delay", "kind") or stored[name].null_count == 0
    assert stored["day"].null_count > 0 or rows < 2


def test_values_in_json(generator, tmp_path):
    write_sample(generator, tmp_path / "a.ndjson", rows=200, seed=1)
    rows = [json.loads(line) for line in (tmp_path / "a.ndjson").read_text().splitlines()]
    assert len(rows) == 200
    assert all(list(row) == list(TYPES) for row in rows)
    assert {type(row["delay"]) for row in rows} == {int, type(None)}
    assert {type(row["fare"]) for row in rows} == {float}
    assert all(row["source"].startswith("10.") for row in rows)


@pytest.mark.parametrize("name", ["a.csv", "a.ndjson", "a.parquet", "a.arrow", *PACKED])
def test_seed(generator, tmp_path, name):
    contents = []
    for seed in (1, 1, 2):
        write_sample(generator, tmp_path / name, rows=500, seed=seed)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.parametrize("name", ["a.csv", "a.ndjson"])
def test_text_without_pyarrow(generator, tmp_path, monkeypatch, name):
    write_sample(generator, tmp_path / name, rows=500, seed=1)
    with_it = (tmp_path / name).read_bytes()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write_sample(generator, tmp_path / name, rows=500, seed=1)
    assert (tmp_path / name).read_bytes() == with_it


@pytest.mark.parametrize("kind", ["csv", "ndjson", "arrow"])
def test_pipe(generator, tmp_path, kind):
    pipe = io.BytesIO()
    write_sample(generator, pipe, rows=500, seed=1, format=kind)
    write_sample(generator, tmp_path / f"a.{kind}", rows=500, seed=1)
    if kind == "arrow":
        assert ipc.open_stream(pipe.getvalue()).read_all() == ipc.open_file(tmp_path / "a.arrow").read_all()
    else:
        assert pipe.getvalue() == (tmp_path / f"a.{kind}").read_bytes()


def test_compression_of_text_only(generator, tmp_path):
    for name, form in (("a.parquet.gz", None), ("a.gz", None), ("a.gz", "parquet")):
        with pytest.raises(FileError, match=r"compressed text that ends in \.gz or \.zst, got"):
            write_sample(generator, tmp_path / name, rows=5, format=form)
    with pytest.raises(
        FileError, match='Parquet needs a file, since it is read from its end; for a pipe, choose format="arrow"'
    ):
        write_sample(generator, io.BytesIO(), rows=5, format="parquet")
    write_sample(generator, tmp_path / "a", rows=5, format="ndjson")
    assert len((tmp_path / "a").read_text().splitlines()) == 5


@pytest.mark.parametrize("name", ["a.csv.bz2", "a.csv.xz", "A.CSV.ZIP"])
@pytest.mark.parametrize("form", [None, "csv"])
def test_unsupported_compression(generator, tmp_path, name, form):
    with pytest.raises(FileError, match=r"files are not supported; compress with \.gz or \.zst"):
        write_sample(generator, tmp_path / name, rows=5, format=form)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["A.CSV.GZ", "A.NDJSON.ZST", "A.PARQUET"])
def test_suffix_in_upper_case(generator, tmp_path, name):
    for own in (name, name.lower()):
        write_sample(generator, tmp_path / own, rows=5, seed=1)
    assert (tmp_path / name).read_bytes() == (tmp_path / name.lower()).read_bytes()


def test_unknown_format(generator, tmp_path):
    with pytest.raises(FileError, match="expected a format among csv, ndjson, parquet, arrow, npy, got 'xlsx'"):
        write_sample(generator, tmp_path / "a", rows=5, format="xlsx")


def test_missing_pyarrow(generator, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileError, match=r"pip install 'privhp\[io\]'"):
        write_sample(generator, tmp_path / "a.parquet", rows=5)
    write_sample(generator, tmp_path / "a.csv", rows=5)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_chunks(generator, tmp_path, monkeypatch):
    monkeypatch.setattr(sample_chunks, "CHUNK", 100)
    told: list[int] = []
    sizes: list[int] = []
    sample = hp.Generator.sample
    monkeypatch.setattr(
        hp.Generator, "sample", lambda self, n, **options: sizes.append(n) or sample(self, n, **options)
    )
    write_sample(generator, tmp_path / "a.parquet", rows=250, watch=told.append)
    assert sizes == [0, 100, 100, 50]
    assert told == [100, 200, 250]
    assert parquet.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3

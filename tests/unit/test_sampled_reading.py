"""Sources that read a sample: one coin for each row, and the records of the rows taken."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from numpy.typing import NDArray

from privhp import Box, Categories, Domain, Integers, Interval, IPv4, Nullable, Table, Taxonomy, Time
from privhp.cli.watching import WatchedSource
from privhp.core.progress import Progress
from privhp.io.sources import START, Sample, Source, open_source
from strategies import any_domains, untidy_batches
from texts import LINES as BY_LINES
from trips import DOMAIN, NAMES, ROWS, write_table_to

SMALL_BLOCKS = mock.patch("privhp.io.sources.text_records._BLOCK", 20_000)


class Coins:
    """Coins of rows, drawn once for each, with a record of all draws."""

    def __init__(self, rate: float = 1 / 4) -> None:
        self._rng, self._rate = np.random.default_rng(0), rate
        self.heads: list[bool] = []

    def __call__(self, rows: int) -> NDArray[np.intp]:
        heads = self._rng.random(rows) < self._rate
        self.heads += heads.tolist()
        return np.flatnonzero(heads)


def codes(source: Source, domain: Domain = DOMAIN, sample: Sample | None = None) -> NDArray[np.uint64]:
    batches = source.batches(sample=sample)
    found = [domain.encode(domain.as_batch(batch.records), level=domain.depth) for batch in batches]
    return np.concatenate([np.zeros(0, dtype=np.uint64), *found])


def assert_sampled(data: Callable[[], Any], domain: Domain, **options: Any) -> None:
    """Each row has one coin, and the records of the sample are those of the rows taken."""
    every = codes(open_source(data(), domain=domain, **options), domain)
    coins = Coins()
    sampled = codes(open_source(data(), domain=domain, **options), domain, coins)
    assert len(coins.heads) == every.size, "a row has no coin, or two"
    assert sampled.tolist() == every[coins.heads].tolist()
    nothing = codes(open_source(data(), domain=domain, **options), domain, lambda rows: np.zeros(0, dtype=np.intp))
    assert nothing.size == 0
    assert codes(open_source(data(), domain=domain, **options), domain, np.arange).tolist() == every.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_sample_of_a_file(tmp_path: Path, name: str) -> None:
    path = write_table_to(tmp_path, name)
    with SMALL_BLOCKS:
        assert_sampled(lambda: path, DOMAIN)


def test_sample_of_an_array_in_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((70_000, 3)))
    assert_sampled(lambda: tmp_path / "a.npy", Box([(0, 1), (0, 1)]), columns=["3", "1"])


def test_sample_of_several_files(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv.gz", "c.parquet"):
        write_table_to(tmp_path, name)
    assert_sampled(lambda: str(tmp_path / "*"), DOMAIN)


LINES = [b"1", b"", b"text", b'"2"', b'"3', b"4,5", b"\xff", b" 6 ", b"9" * 2**20 + b"1", b"\r", b"7.0", b"x,1", b"8"]


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.ndjson"])
def test_skipped_lines_have_coins(tmp_path: Path, name: str, end: bytes) -> None:
    lines = LINES if name == "a.csv" else [b'{"a": ' + line + b"}" for line in LINES] + LINES
    (tmp_path / name).write_bytes(b"\n".join([b"a" * (name == "a.csv"), *lines * 3]).lstrip(b"\n") + end)
    coins = Coins()
    path, domain = tmp_path / name, Nullable(Integers(0, 9))
    codes(open_source(path, domain=domain, columns=["a"], csv=BY_LINES), domain, coins)
    assert len(coins.heads) == 3 * len(lines)
    assert_sampled(lambda: path, domain, columns=["a"], csv=BY_LINES)


@pytest.mark.parametrize("name", ["a.csv", "a.ndjson", "a.parquet", "a.arrows"])
def test_sample_after_a_position(tmp_path: Path, name: str, slow: bool) -> None:
    """A reading that goes on at a position flips no coin for the rows before it."""
    path = write_table_to(tmp_path, name)
    with SMALL_BLOCKS:
        source = open_source(path, domain=DOMAIN)
        positions = [START, *(batch.position for batch in source.batches())]
        sizes = [len(batch.records) for batch in source.batches()]
        for index in range(0, len(positions), 1 if slow else 5):
            coins = Coins()
            for _ in source.batches(positions[index], sample=coins):
                pass
            assert len(coins.heads) == sum(sizes[index:])


def test_rows_that_are_not_taken_are_not_parsed(tmp_path: Path) -> None:
    path = write_table_to(tmp_path, "a.ndjson", 1000)
    coins, parse = Coins(1 / 16), json.loads
    with mock.patch("json.loads", side_effect=parse) as spy:
        codes(open_source(path, domain=DOMAIN), DOMAIN, coins)
    assert len(coins.heads) == 1000
    assert spy.call_count == sum(coins.heads) > 0


def test_watched_source_passes_the_sample_on(tmp_path: Path) -> None:
    source = open_source(write_table_to(tmp_path, "a.csv"), domain=DOMAIN)
    coins, same = Coins(), Coins()
    sampled = codes(WatchedSource(source, Progress(None)), DOMAIN, coins)
    assert sampled.tolist() == codes(source, DOMAIN, same).tolist()
    assert len(coins.heads) == ROWS


NUMBERS = [0.5, 1.5, np.nan, 3.5, None, 5.5] * 50
TEXTS = ["a", "b", None, "a", "c", "b"] * 50
COLUMNS = {"x": NUMBERS, "kind": TEXTS}
TABLE = Table(x=Nullable(Interval(0, 10)), kind=Nullable(Categories(["a", "b"])))
ADDRESSES = ["10.0.0.1", None, "10.0.0.2", "x", "192.168.1.1", ""] * 50
TIMES = np.datetime64("2020-01-01", "us") + np.arange(300) * np.timedelta64(3, "h")


OBJECTS: dict[str, tuple[Domain, Callable[[], Any]]] = {
    "array": (Interval(0, 10), lambda: np.array(NUMBERS, dtype=float)),
    "masked array": (Nullable(Interval(0, 10)), lambda: np.ma.masked_invalid(np.array(NUMBERS, dtype=float))),
    "points": (Box([(0, 10), (0, 10)]), lambda: np.arange(12.0).reshape(6, 2)),
    "list": (Nullable(Interval(0, 10)), lambda: NUMBERS),
    "list of points": (Box([(0, 10), (0, 10)]), lambda: [(1, 2), (3, 4), "x", (5, 6), None, (7, 8)]),
    "series": (Nullable(Integers(0, 10)), lambda: pd.Series([0, 1, None, 3, 4, 5], dtype="Int64")),
    "categories": (Categories(["a", "b", "c"]), lambda: pd.Series(TEXTS, dtype="category")),
    "Arrow array": (Nullable(Interval(0, 10)), lambda: pa.array(NUMBERS)),
    "Arrow dictionary": (Categories(["a", "b", "c"]), lambda: pa.array(TEXTS).dictionary_encode()),
    "dict": (TABLE, lambda: COLUMNS),
    "list of dicts": (TABLE, lambda: [*pl.DataFrame(COLUMNS, strict=False).to_dicts()[:5], "not a record"]),
    "pandas": (TABLE, lambda: pd.DataFrame(COLUMNS)),
    "polars": (TABLE, lambda: pl.DataFrame(COLUMNS, strict=False)),
    "Arrow table": (TABLE, lambda: pa.table(COLUMNS)),
    "Arrow reader": (TABLE, lambda: pa.table(COLUMNS).to_reader(max_chunksize=7)),
    "iterator of frames": (TABLE, lambda: iter([pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS, strict=False)])),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_sample_of_an_object(name: str) -> None:
    domain, make = OBJECTS[name]
    assert_sampled(make, domain)


ARROW: dict[str, tuple[Domain, pa.Array]] = {
    "strings": (IPv4(), pa.array(ADDRESSES)),
    "views of strings": (IPv4(), pa.array(ADDRESSES, pa.string_view())),
    "large strings": (IPv4(), pa.array(ADDRESSES, pa.large_string())),
    "dictionary of strings": (IPv4(), pa.array(ADDRESSES).dictionary_encode()),
    "views of bytes": (Categories(["a", "b"]), pa.array([text and text.encode() for text in TEXTS], pa.binary_view())),
    "lists": (Taxonomy({"a": ["b", "c"], "d": []}), pa.array([["a", "b"], ["d"], None] * 9)),
    "lists of views": (Taxonomy({"a": ["b", "c"], "d": []}), pa.array([["a", "b"]] * 9, pa.list_(pa.string_view()))),
    "decimals": (Interval(0, 10), pa.array(NUMBERS).cast(pa.decimal128(20, 2), safe=False)),
    "times": (Time("2020-01-01", "2020-02-01"), pa.array(TIMES)),
    "Booleans": (Nullable(Integers(0, 1)), pa.array([True, False, None])),
    "nothing": (Nullable(Integers(0, 1)), pa.nulls(9)),
}


@pytest.mark.parametrize("name", ARROW)
def test_sample_of_arrow_types(tmp_path: Path, name: str) -> None:
    domain, array = ARROW[name]
    data = pa.table({"a": array})
    assert_sampled(lambda: data, Table(a=domain))
    with pa.ipc.new_file(tmp_path / "a.arrow", data.schema) as writer:
        writer.write_table(data, max_chunksize=100)
    assert_sampled(lambda: tmp_path / "a.arrow", Table(a=domain))


@given(data=st.data())
def test_sample_of_records_of_any_domain(data: st.DataObject) -> None:
    domain = data.draw(any_domains())
    batch = data.draw(untidy_batches(domain))
    assert_sampled(lambda: batch, domain)


def test_memory_of_a_sample_is_bounded() -> None:
    """A large array is sampled in blocks."""
    values, unit = np.random.default_rng(0).random(10**6), Interval(0, 1)
    assert max(len(batch.records) for batch in open_source(values, domain=unit).batches(sample=np.arange)) < 2**16
    assert_sampled(lambda: values, unit)


class Words(Domain):
    """A custom domain whose batches are tuples."""

    kind, depth = "words of a test", 1

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def as_batch(self, records: Any) -> Any:
        return tuple(records)

    def encode(self, records: Any, *, level: int) -> NDArray[np.uint64]:
        self.seen += records
        return np.array([word > "m" for word in records], dtype=np.uint64)

    def decode(self, codes: NDArray[np.uint64], *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.array(["a", "z"])[codes.astype(int)]

    def diameter(self, level: int) -> float:
        return 1.0

    def parameters(self) -> dict[str, Any]:
        return {}


def test_sample_of_batches_of_a_custom_domain() -> None:
    domain = Words()

    def words() -> Iterator[list[str]]:
        yield list("azb")
        yield list("ycx")

    sampled = codes(open_source(words(), domain=domain), domain, lambda rows: np.array([0, 2]))
    assert sampled.tolist() == [0, 0, 1, 1]
    assert domain.seen == ["a", "b", "y", "x"], "a row that was not taken is encoded"

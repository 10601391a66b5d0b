"""Arrow streams of synthetic records, and queries of other libraries as inputs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from privhp.errors import FileError, QueryError
from privhp.io import sample_chunks
from privhp.io.sinks import write_sample
from privhp.release import Release

TABLE = hp.Table(
    {
        "pickup": hp.Time("2018-01-01", "2020-12-31", zone="Europe/Berlin"),
        "fare": hp.Interval(0, 100),
        "delay": hp.Nullable(hp.Integers(-120, 1440)),
        ("lon", "lat"): hp.Box([(-9, 2), (49, 61)]),
        "kind": hp.Nullable(hp.Categories(["bus", "tram"])),
        "source": hp.IPv4("10.0.0.0/8"),
        "big": hp.Categories([2**70, 2**71]),
    }
)
DOMAINS = {
    "table": TABLE,
    "interval": hp.Interval(0, 1),
    "box": hp.Box([(0, 1), (0, 2)]),
    "geo": hp.Geo(-9, 49, 2, 61),
    "addresses": hp.IPv6("2001:db8::/32"),
    "nullable": hp.Nullable(hp.Integers(0, 9)),
}


def uniform(domain: hp.Domain) -> hp.Generator:
    """Generator of the base measure: no records and no noise."""
    plan = hp.Plan.paper(domain, epsilon=1, expected_records=1e4, hot_cells=8)
    return hp.Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))


@pytest.fixture(scope="module")
def generator() -> hp.Generator:
    values = np.random.default_rng(0).gamma(2, 100, 5000)
    plan = hp.Plan.auto(hp.Table(fare=hp.Interval(0, 1000)), epsilon=2, expected_records=5000)
    return hp.fit({"fare": values}, plan=plan)


@pytest.mark.parametrize("name", DOMAINS)
def test_stream_holds_the_rows_of_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_chunks, "CHUNK", 70)
    own = uniform(DOMAINS[name])
    write_sample(own, tmp_path / "a.parquet", rows=200, seed=3)
    stream = own.stream(200, rng=3)
    table = pa.table(stream)
    assert table.num_rows == len(stream) == 200
    assert table.column_names == list(own.domain.value_names)
    assert table.to_pylist() == parquet.read_table(tmp_path / "a.parquet").to_pylist()


def test_each_reading_yields_the_same_rows(generator: hp.Generator) -> None:
    for rng in (None, 5, np.random.default_rng(5)):
        stream = generator.stream(100, rng=rng)
        assert pa.table(stream).equals(pa.table(stream))
    assert pa.table(generator).equals(pa.table(generator))
    assert not pa.table(generator.stream(100)).equals(pa.table(generator.stream(100)))
    assert pa.table(generator).num_rows == round(generator.total)
    assert pa.schema(generator) == pa.schema(generator.stream(1)) == pa.table(generator).schema


def test_records_are_sampled_while_they_are_read(generator: hp.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_chunks, "CHUNK", 10)
    sampled = []
    draw = hp.Generator.sample
    monkeypatch.setattr(hp.Generator, "sample", lambda own, n, **others: sampled.append(n) or draw(own, n, **others))
    reader = pa.RecordBatchReader.from_stream(generator.stream(10**15))
    assert sampled == [0]  # for the types
    assert [reader.read_next_batch().num_rows for _ in range(3)] == [10, 10, 10]
    assert sampled == [0, 10, 10, 10]


def test_conditional_stream(generator: hp.Generator) -> None:
    table = pa.table(generator.stream(where={"fare": (100, 200)}, method="independent"))
    assert table.num_rows == round(generator.total * generator.mass({"fare": (100, 200)}).value)
    fares = table["fare"].to_numpy()
    assert 100 <= fares.min() <= fares.max() <= 200


def test_marginal_has_a_stream() -> None:
    assert pa.table(uniform(TABLE).marginal("kind").stream(5)).num_rows == 5


@pytest.mark.parametrize("arguments", [{"n": -1}, {"n": 1.5}, {"method": "even"}, {"where": {"fare": (2000, 3000)}}])
def test_wrong_arguments_are_refused_at_once(generator: hp.Generator, arguments: dict[str, Any]) -> None:
    with pytest.raises(QueryError):
        generator.stream(**arguments)


def test_without_pyarrow(generator: hp.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for read in (generator.stream, generator.__arrow_c_stream__, generator.__arrow_c_schema__):
        with pytest.raises(FileError, match=r"needs pyarrow, which is not installed; pip install 'privhp\[io\]'"):
            read()


def test_duckdb_reads_a_generator(generator: hp.Generator) -> None:
    duckdb = pytest.importorskip("duckdb")
    sample = pa.table(generator)["fare"].to_numpy()
    with duckdb.connect() as connection:
        connection.register("trips", generator)
        rows, mean = connection.sql("SELECT count(*), avg(fare) FROM trips WHERE fare < 300").fetchall()[0]
    assert rows == (sample < 300).sum()
    assert mean == pytest.approx(sample[sample < 300].mean())


def test_polars_and_pandas_read_a_generator(generator: hp.Generator) -> None:
    sample = pa.table(generator)["fare"].to_pylist()
    assert pytest.importorskip("polars").DataFrame(generator)["fare"].to_list() == sample
    pandas = pytest.importorskip("pandas")
    if hasattr(pandas.DataFrame, "from_arrow"):  # pandas 3
        assert pandas.DataFrame.from_arrow(generator)["fare"].tolist() == sample


def lazy_frame(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns).lazy().filter(True)


def whole_lazy_frame(columns: dict[str, Any]) -> Any:
    """A LazyFrame of polars before 1.34."""

    class LazyFrame:
        def collect(self) -> Any:
            return pytest.importorskip("polars").DataFrame(columns)

    return LazyFrame()


def relation(columns: dict[str, Any]) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(pa.table(columns)).filter("true")


@pytest.mark.parametrize("query", [lazy_frame, whole_lazy_frame, relation])
def test_queries_are_read_as_often_as_frames(query: Callable[[dict[str, Any]], Any]) -> None:
    columns = {"a": np.linspace(0, 1, 4000), "b": np.zeros(4000)}
    for passes in (1, 3):
        generator = hp.fit(
            query(columns), hp.Interval(0, 1), columns="a", epsilon=5, expected_records=4000, passes=passes
        )
        assert generator.total == pytest.approx(4000, abs=50)
        assert generator.mass((0.25, 0.5)).value == pytest.approx(0.25, abs=0.03)
    table = hp.fit(query(columns), hp.Table(a=hp.Interval(0, 1)), epsilon=5, expected_records=4000)
    assert table.total == pytest.approx(4000, abs=50)
    with pytest.raises(hp.RecordsError, match="to name a column 'c'"):
        hp.fit(query(columns), hp.Interval(0, 1), columns="c", epsilon=5, expected_records=4000)


def test_a_stream_is_an_input_too(generator: hp.Generator) -> None:
    again = hp.fit(generator.stream(5000), generator.domain, epsilon=5, expected_records=5000)
    assert again.total == pytest.approx(5000, abs=50)

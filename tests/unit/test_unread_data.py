"""Queries and Arrow streams as batches, and errors of their own execution, which may quote records."""

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import privhp as hp
from privhp.collect.tally import Tally
from privhp.io.sources import open_source

UNIT = hp.Interval(0, 1)
TABLE = hp.Table(a=UNIT, kind=hp.Categories(["x", "y"]))
GOOD = pa.table({"a": np.arange(8) / 8, "kind": ["x", "y"] * 4, "other": range(8)})
TEXTS = pa.table({"a": ["0.5"] * 4000 + ["SECRET"], "kind": ["x"] * 4001})


class Stream:
    """An object of another library with Arrow's stream interface, which makes its data when it is asked for it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._make().__arrow_c_stream__(requested_schema)


def batches() -> Iterator[pa.RecordBatch]:
    yield GOOD.select(["a"]).to_batches()[0]
    raise ValueError("SECRET")


def reader() -> Any:
    return pa.RecordBatchReader.from_batches(pa.schema({"a": pa.float64()}), batches())


def relation() -> Any:
    return duckdb.from_arrow(TEXTS).project("a::double as a")


def query() -> Any:
    return pl.LazyFrame(TEXTS).select(pl.col("a").cast(pl.Float64))


STREAMS: dict[str, Callable[[], Any]] = {
    "relation": lambda: duckdb.from_arrow(GOOD).filter("true"),
    "reader": GOOD.to_reader,
    "stream": lambda: Stream(lambda: GOOD),
    "datafusion-like": lambda: Stream(GOOD.to_reader),
}


@pytest.mark.parametrize("kind", STREAMS)
def test_streams_are_batches(kind: str) -> None:
    make = STREAMS[kind]
    assert np.array_equal(TABLE.encode(make(), level=4), TABLE.encode(GOOD, level=4))
    for domain in (TABLE, UNIT.named("a"), hp.Nullable(UNIT).named("a")):
        plan = hp.Plan(domain, epsilon=1, budgets={3: 1}, exact_depth=3)
        tally, expected = Tally(plan), Tally(plan)
        tally.add(make())
        expected.add(GOOD)
        assert np.array_equal(tally.counters, expected.counters)
        assert tally.counters.sum() == 8
        hp.Summary(plan).update(make())


def test_stream_of_one_column() -> None:
    values = pa.chunked_array([[0.25, 0.75], [0.5]])
    assert UNIT.as_batch(Stream(lambda: values)).to_list() == [0.25, 0.75, 0.5]
    batch = next(iter(open_source(Stream(lambda: values), domain=UNIT).batches()))
    assert UNIT.as_batch(batch.records).to_list() == [0.25, 0.75, 0.5]


@pytest.mark.parametrize("domain", [UNIT, hp.Table(a=UNIT)])
def test_lazy_frame_is_no_batch(domain: hp.Domain) -> None:
    lazy = pl.LazyFrame(GOOD).select("a")
    summary = hp.Summary(hp.Plan.auto(domain, epsilon=1, expected_records=10, passes=1))
    with pytest.raises(hp.RecordsError, match=r"got a LazyFrame, which is a query; pass its \.collect\(\)$"):
        summary.update(lazy)
    assert summary.update(lazy.collect())


def test_streams_need_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(hp.RecordsError, match="reading a Stream needs pyarrow"):
        TABLE.encode(Stream(lambda: GOOD), level=1)


FAILING: dict[str, Callable[[], Any]] = {
    "relation": relation,
    "query": query,
    "reader": reader,
    "stream": lambda: Stream(reader),
    "stream that raises": lambda: Stream(lambda: pa.array(["SECRET"]).cast("double")),
    "other stream": lambda: Stream(lambda: next(iter([]))),
    "list": lambda: [query()],
    "iterator": lambda: iter([relation()]),
}


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("domain", [UNIT, hp.Table(a=UNIT)])
def test_errors_of_execution_quote_nothing(kind: str, domain: hp.Domain) -> None:
    with pytest.raises(hp.RecordsError, match=r"^the query or stream failed .* strict=False\) in polars$") as caught:
        hp.fit(FAILING[kind](), domain, epsilon=1, expected_records=100)
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("kind", ["relation", "reader", "stream", "stream that raises", "other stream"])
@pytest.mark.parametrize("domain", [UNIT, hp.Table(a=UNIT)])
def test_errors_of_execution_of_a_batch(kind: str, domain: hp.Domain) -> None:
    summary = hp.Summary(hp.Plan.auto(domain, epsilon=1, expected_records=10, passes=1))
    with pytest.raises(hp.RecordsError, match=r"^the query or stream failed") as caught:
        summary.update(FAILING[kind]())
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    assert summary.update({"a": [0.5]} if domain.columns else [0.5]), "a batch that is refused changes nothing"

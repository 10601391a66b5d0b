"""Lists and iterators of batches: what is read as a batch, and what is refused by its type before it is counted."""

import csv
import io
import itertools
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp as hp
from privhp.io.sources import open_source

VALUES = np.arange(6) / 8
FRAME = pd.DataFrame({"a": VALUES, "b": [1, 2, 3] * 2, "c": ["x", "y"] * 3})
ONE = hp.Interval(0, 1)
TABLE = hp.Table(a=ONE, b=hp.Integers(0, 9), c=hp.Categories(["x", "y"]))
POINTS = hp.Box([(0, 1), (0, 9)])


def codes_of(data: Any, domain: hp.Domain, warned: list[str] | None = None) -> list[int]:
    """Deepest cells of all records, in order."""
    batches = open_source(data, domain=domain, warn=([] if warned is None else warned).append).batches()
    return [code for batch in batches for code in domain.encode(batch.records, level=domain.depth).tolist()]


def refuse(data: Any, domain: hp.Domain, match: str) -> None:
    """Expect a refusal without a warning."""
    warned = list[str]()
    with pytest.raises(hp.RecordsError, match=match):
        codes_of(data, domain, warned)
    assert not warned


WINDOWS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "rolling": lambda frame: frame.a.rolling(3),
    "rolling frame": lambda frame: frame.rolling(3),
    "weighted": lambda frame: frame.a.rolling(3, win_type="boxcar") if pytest.importorskip("scipy") else None,
    "expanding": lambda frame: frame.a.expanding(),
    "exponential": lambda frame: frame.a.ewm(3),
    "windows of groups": lambda frame: frame.groupby("c").a.rolling(2),
    "resampled": lambda frame: frame.set_index(pd.date_range("2020", periods=6)).a.resample("2D"),
}


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_windows_are_refused(kind: str, wrapped: bool) -> None:
    windows = WINDOWS[kind](FRAME)
    refuse(iter([windows]) if wrapped else windows, ONE, "got windows")


HALVES: dict[str, tuple[list[Any], hp.Domain]] = {
    "frames": ([FRAME[:2], FRAME[2:]], TABLE),
    "one frame": ([FRAME[["a"]]], ONE),
    "polars frames": ([pl.from_pandas(FRAME)[:2], pl.from_pandas(FRAME)[2:]], TABLE),
    "Arrow tables": ([pa.table(FRAME)[:2], pa.table(FRAME)[2:]], TABLE),
    "query and frame": ([pl.LazyFrame({"a": VALUES[:2]}), pd.DataFrame({"a": VALUES[2:]})], ONE),
    "arrays of points": ([np.stack([VALUES, VALUES], axis=1)[:2], np.stack([VALUES, VALUES], axis=1)[2:]], POINTS),
    "arrays of records": ([FRAME.to_records()[:2], FRAME.to_records()[2:]], TABLE),
}


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("make", [list, tuple])
def test_a_list_of_batches(kind: str, make: Callable[[Iterable[Any]], Any]) -> None:
    halves, domain = HALVES[kind]
    whole = {ONE: VALUES, POINTS: np.stack([VALUES, VALUES], axis=1), TABLE: FRAME}.get(domain, FRAME)
    source = open_source(make(halves), domain=domain)
    assert source.rereadable
    expected = domain.encode(whole, level=domain.depth).tolist()
    assert codes_of(make(halves), domain) == codes_of(make(halves), domain) == expected


def test_a_list_of_arrays_is_a_list_of_points() -> None:
    points = np.stack([VALUES, VALUES], axis=1)
    assert codes_of(list(points), POINTS) == POINTS.encode(points, level=POINTS.depth).tolist()


def test_a_list_of_values_with_a_type_is_a_list_of_records() -> None:
    expected = ONE.encode(VALUES, level=ONE.depth).tolist()
    assert codes_of(list(VALUES), ONE) == expected
    assert len(codes_of([pa.scalar(value) for value in VALUES], ONE)) == VALUES.size


@pytest.mark.parametrize("other", [0.5, None, [0.5], {"a": VALUES}, "a", VALUES])
def test_the_first_element_decides(other: Any) -> None:
    refuse([FRAME[["a"]], other], ONE, "begins with a batch")


def test_lists_of_series_and_of_windows_are_refused() -> None:
    refuse([FRAME.a[:2], FRAME.a[2:]], ONE, "got a list of series")
    refuse(list(FRAME.a.rolling(2)), ONE, "got a list of series")
    refuse([row for _, row in FRAME[["a"]].iterrows()], hp.Table(a=ONE), "got a list of series")
    assert codes_of(iter([FRAME.a[:2], FRAME.a[2:]]), ONE) == codes_of(VALUES, ONE)  # as the message says


def test_samples_of_a_list_of_frames_are_frames() -> None:
    frame, table = FRAME[["a"]], hp.Table(a=ONE)
    for frames, kind in (([frame[:2], frame[2:]], "pandas"), ([pl.DataFrame(frame)], "polars"), ([[0.5]], None)):
        assert hp.fit(frames, table, epsilon=1, expected_records=10).frame == kind
    assert hp.fit([pa.scalar(value) for value in VALUES], ONE, epsilon=1, expected_records=10).frame is None


COLUMNS: list[Any] = [np.array([0.5]), pl.Series([0.5]), pa.array([0.5]), np.array(0.5)]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__module__)
@pytest.mark.parametrize("other", [0.25, None])
def test_a_record_decides_about_no_other(column: Any, other: Any) -> None:
    """Arrays and columns in a list are records, whatever stands before them: each counts once or not at all."""
    domain = hp.Nullable(ONE)
    before, after = codes_of([column, other, 0.75], domain), codes_of([other, column, 0.75], domain)
    assert before[1:] == [after[0], after[2]] == codes_of([other, 0.75], domain)
    assert before[0] == after[1]


def test_rows_of_arrays_count_once() -> None:
    assert len(codes_of(list(np.full((4, 3), 0.5)), ONE)) == 4
    masked = np.ma.array(FRAME.to_records(index=False))
    assert codes_of(list(masked), TABLE) == codes_of(FRAME, TABLE)


def test_labels_of_rows_are_not_quoted() -> None:
    texts = pd.DataFrame({"a": ["1", "2"]}, index=["alice", "bob"])
    warned = list[str]()
    codes_of((texts.loc[label] for label in texts.index), ONE, warned)
    assert warned
    assert not any("alice" in text or "bob" in text for text in warned)


def test_a_stream_in_a_list_is_refused() -> None:
    stream = pa.table({"a": VALUES}).to_reader()
    refuse([pa.table({"a": VALUES}), stream], ONE, "read again, got RecordBatchReader")
    refuse([stream], ONE, "read again, got RecordBatchReader")


@pytest.mark.parametrize("batch", [FRAME[["a"]], pl.LazyFrame({"a": VALUES})])
def test_a_batch_that_is_given_twice_is_refused(batch: Any) -> None:
    refuse([batch, batch], ONE, "given twice")


ROWS: dict[str, Callable[[], Any]] = {
    "iterrows": FRAME.iterrows,
    "series": lambda: (row for _, row in FRAME.iterrows()),
    "series of numbers": lambda: (row for _, row in FRAME[["a", "b"]].iterrows()),
    "zip": lambda: zip(FRAME.a, FRAME.b, FRAME.c, strict=True),
    "itertuples": FRAME.itertuples,
    "polars rows": pl.from_pandas(FRAME).iter_rows,
}


@pytest.mark.parametrize("kind", ROWS)
def test_iterators_of_records_are_refused(kind: str) -> None:
    refuse(ROWS[kind](), TABLE, "expected a batch of records, got a single one")


ELEMENTS: dict[str, Any] = {
    "row of SQLite": sqlite3.connect(":memory:").execute("select 1, 2").fetchone(),
    "tuple": (1, 2),
    "text": "12",
    "bytes": b"12",
    "set": {1, 2},
    "number": 1.5,
    "number of NumPy": np.float64(1.5),
    "record of NumPy": np.array([(1.5, 2)], dtype="f8,i8")[0],
    "array without dimensions": np.array(1.5),
    "list of Arrow": pa.scalar([1, 2]),
    "nothing": None,
    "other": object(),
    "empty object": {},
    "object": {"a": 1, "b": 2, "c": "x"},
    "object of null": {"a": None, "b": 2, "c": "x"},
    "object of other names": {"hiv_positive_alice": 1},
    "object with a list": {"a": [1], "b": 2, "c": "x"},
    "object of texts": {"a": "1", "b": "2", "c": "x"},
    "object of objects": {"a": {"b": 1}},
}


@pytest.mark.parametrize("domain", [ONE, POINTS, TABLE], ids=lambda domain: domain.kind)
def test_elements_that_are_no_batches_are_refused_alike(domain: hp.Domain) -> None:
    """By their types alone, and no text says anything about them."""
    texts = set()
    for element in ELEMENTS.values():
        warned = list[str]()
        with pytest.raises(hp.RecordsError, match="expected a batch of records, got a single one") as refusal:
            codes_of(iter([element]), domain, warned)
        assert not warned
        texts.add(str(refusal.value))
    assert len(texts) == 1


def test_elements_that_are_batches() -> None:
    expected = codes_of(VALUES, ONE)
    for batch in (list(VALUES), VALUES, pd.Series(VALUES), pd.Index(VALUES), pl.Series(VALUES), pa.array(VALUES)):
        assert codes_of(iter([batch]), ONE) == expected
        assert codes_of(iter([{"a": batch}]), hp.Table(a=ONE)) == expected
    assert codes_of(iter([range(1, 3)]), hp.Integers(0, 9)) == codes_of([1, 2], hp.Integers(0, 9))
    for table in (FRAME[["a"]], pl.DataFrame({"a": VALUES}), pa.table({"a": VALUES}), {"a": tuple(VALUES)}):
        assert codes_of(iter([table]), ONE) == expected


@pytest.mark.parametrize(
    ("batch", "domain"),
    [
        ({"alice": [1, 2]}, TABLE),
        ({"alice": [1, 2], "bob": [1, 2]}, ONE),
        ({"alice": [1, 2], "bob": [1]}, POINTS),
        ({"alice": np.array(["1"]), "bob": np.array(["1"])}, POINTS),
        ({"alice": pd.Series(pd.period_range("2020", periods=2))}, ONE),
    ],
)
def test_names_of_dicts_of_an_iterator_are_not_quoted(batch: dict[str, Any], domain: hp.Domain) -> None:
    """They may be records of JSON."""
    said = list[str]()
    try:
        codes_of(iter([batch]), domain, said)
    except hp.RecordsError as error:
        said.append(str(error))
    assert said
    assert not any(name in text for text in said for name in ("alice", "bob"))


def test_missing_columns_of_dicts_of_an_iterator_are_named() -> None:
    refuse(iter([{"x": [1]}]), TABLE, "name a column 'a', got no such name; names are matched by case$")


CURSOR = sqlite3.connect(":memory:")
ROWS_ALONE: dict[str, Callable[[], Any]] = {
    "csv.reader": lambda: csv.reader(io.StringIO("1,1,1\n")),
    "empty csv.reader": lambda: csv.reader(io.StringIO("")),
    "csv.DictReader": lambda: csv.DictReader(io.StringIO("a\n1\n")),
    "cursor": lambda: CURSOR.execute("select 1.0"),
    "empty cursor": lambda: CURSOR.execute("select 1.0 where 0"),
}


@pytest.mark.parametrize("kind", ROWS_ALONE)
def test_iterators_of_rows_are_refused_before_they_are_read(kind: str) -> None:
    rows = ROWS_ALONE[kind]()
    refuse(rows, ONE, r"single rows.*pass the path of the file, a data frame, or list\(.*\) of the rows")
    assert len(list(rows)) == (not kind.startswith("empty"))


def test_the_advice_for_rows_works() -> None:
    expected = codes_of([1.0], ONE)
    assert codes_of(list(map(tuple, CURSOR.execute("select 1.0"))), ONE) == expected
    assert codes_of(list(map(tuple, csv.reader(io.StringIO("1\n")))), ONE) == expected
    assert codes_of(list(csv.DictReader(io.StringIO("a\n1\n"))), hp.Table(a=ONE)) == expected


def test_iterators_of_points_and_of_pairs_are_refused() -> None:
    refuse(zip(FRAME.a, FRAME.b, strict=True), POINTS, "got a single one")
    refuse((row for _, row in FRAME[["a", "b"]].iterrows()), POINTS, "got a single one")
    refuse(FRAME.a.items(), ONE, "got a single one")  # pairs of index and value, each of which would count


def test_the_advice_for_records_works() -> None:
    rows = list(zip(FRAME.a, FRAME.b, FRAME.c, strict=True))
    assert codes_of(rows, TABLE) == codes_of(FRAME, TABLE)
    refuse(iter(rows), TABLE, r"or list\(\.\.\.\) of records")


def test_series_of_structs_are_batches() -> None:
    structs = pl.from_pandas(FRAME).to_struct()
    own = pd.Series(structs.to_arrow(), dtype=pd.ArrowDtype(structs.to_arrow().type))
    assert codes_of(iter([own[:2], own[2:]]), TABLE) == codes_of(iter([structs]), TABLE) == codes_of(FRAME, TABLE)


def test_data_of_other_columns_is_refused_without_warnings() -> None:
    refuse(pd.DataFrame({"a": [1], "b": [2]}), ONE, "select columns")
    refuse(FRAME.a, TABLE, "single column")
    refuse(VALUES, TABLE, "shape")
    refuse(np.zeros((3, 2)), TABLE, "shape")


def test_batches_of_lists_are_read() -> None:
    batches = map(list, itertools.batched(VALUES.tolist(), 4)) if hasattr(itertools, "batched") else iter([[*VALUES]])
    assert codes_of(batches, ONE) == codes_of(VALUES, ONE)

"""Batches of a table: forms of records, blocks, and what is refused."""

import itertools
import math
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp
import privhp.collect.tally
from example_tables import SMALL, TRIPS
from privhp import (
    Categories,
    Integers,
    Interval,
    Nullable,
    Plan,
    RecordsError,
    Table,
    Tally,
)
from privhp.core.cells import OUTSIDE
from privhp.io.sources import open_source
from silent import assert_silent

COLUMNS: dict[str, Any] = {
    "trip distance": [1.5, 20.0, 3.25, 0.0],
    "lon": [-1.0, 1.5, -9.0, 2.0],
    "lat": [50.0, 60.5, 49.8, 61.0],
    "pickup": np.array(["2018-01-01", "2019-07-04T12:30", "2020-02-29T23:59:59", "2021-01-01"], dtype="M8[ms]"),
    "tip": [0.5, None, 499.0, None],
    "zone": [1, 265, 100, 7],
    "delay": [None, 1440, -120, 3],
    "source": [0, 2**32 - 1, 167772161, 1],
}


def rows_of(columns: dict[str, Any]) -> list[tuple[Any, ...]]:
    return list(zip(*(list(columns[name]) for name in TRIPS.names), strict=True))


def as_structured(columns: dict[str, Any]) -> np.ndarray:
    types = [(name, object if name in ("tip", "delay") else np.asarray(columns[name]).dtype) for name in TRIPS.names]
    return np.array(rows_of(columns), dtype=types)


class Stream:
    """An object with Arrow's stream interface alone."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


SHAPES: dict[str, Any] = {
    "dict of lists and arrays": lambda columns: columns,
    "list of tuples": rows_of,
    "list of dicts": lambda columns: [dict(zip(TRIPS.names, row, strict=True)) for row in rows_of(columns)],
    "structured array": as_structured,
    "pandas": pd.DataFrame,
    "pandas with an index": lambda columns: pd.DataFrame(columns, index=[3.5, 0.0, 2.0, 1.0]),
    "pandas in its own types": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow batch": lambda columns: pa.table(columns).to_batches()[0],
    "pyarrow in chunks": lambda columns: pa.concat_tables([pa.table(columns)[:1], pa.table(columns)[1:]]),
    "Arrow's interface": lambda columns: Stream(pa.table(columns)),
}


def expected_codes(level: int) -> list[int]:
    """Codes by definition: the bits of the columns' cells interleaved."""
    codes = []
    for row in range(4):
        code, used = 0, dict.fromkeys(range(len(TRIPS.columns)), 0)
        for split in TRIPS.split_columns[:level]:
            column = TRIPS.columns[split]
            values = tuple(COLUMNS[name][row] for name in column.names)
            used[split] += 1
            cell = column.domain.encode([values if len(values) > 1 else values[0]], level=used[split])[0]
            code = code << 1 | int(cell) & 1
        codes.append(code)
    return codes


@pytest.mark.parametrize("shape", SHAPES)
def test_forms_of_records(shape: str) -> None:
    batch = SHAPES[shape](COLUMNS)
    for level in (0, 1, 17, 63):
        assert TRIPS.encode(batch, level=level).tolist() == expected_codes(level)


@pytest.mark.parametrize("shape", SHAPES)
def test_other_columns(shape: str) -> None:
    if shape != "list of tuples":
        columns = {"more": ["x", "y", "z", None], **COLUMNS}
        assert TRIPS.encode(SHAPES[shape](columns), level=30).tolist() == expected_codes(30)


@pytest.mark.parametrize("shape", ["dict of lists and arrays", "pandas", "polars", "pyarrow", "Arrow's interface"])
def test_missing_column(shape: str) -> None:
    columns = {name: column for name, column in COLUMNS.items() if name != "lat"}
    listed = r"its columns are \['trip distance', 'lon', .*\]; did you mean Lät\?$"
    with pytest.raises(RecordsError, match=rf"expected a column 'lat' in the batch, got none of that name; {listed}"):
        TRIPS.encode(SHAPES[shape]({**columns, "Lät": COLUMNS["lat"]}), level=3)


def test_level_of_an_index() -> None:
    frame = pd.DataFrame({"a": [1], "b": [2], "c": [3]}).set_index(["b", "c"])
    says = r"'b' is in the index of the frame; make it a column with reset_index\(\)$"
    with pytest.raises(RecordsError, match=says):
        SMALL.encode(frame, level=1)
    with pytest.raises(RecordsError, match=says):
        privhp.fit(frame, Integers(0, 9), columns="b", epsilon=1, expected_records=1e3)
    with pytest.raises(RecordsError, match=says):
        privhp.fit(frame, Table(a=Integers(0, 9)), person="b", epsilon=1, expected_records=1e3)
    with pytest.raises(RecordsError, match=r"its columns are \['a'\]$"):
        SMALL.encode(frame.rename_axis([None, 3]), level=1)


@pytest.mark.parametrize(
    ("columns", "convert"),
    [([0, 1], "astype(str)"), ([0, "b"], "astype(str)"), ([("a", "b"), ("a", "c")], 'map("_".join)')],
)
def test_names_that_are_not_text(columns: list[Any], convert: str) -> None:
    frame = pd.DataFrame([[1, 2]] * 9, columns=pd.Index(columns))
    says = re.escape(f"which are not text; convert them with df.columns = df.columns.{convert}")
    for domain in (Table({"0": Integers(0, 9)}), Table(a_b=Integers(0, 9)), Integers(0, 9)):
        with pytest.raises(RecordsError, match=says):
            privhp.fit(frame, domain, epsilon=1, expected_records=9)
    frame.columns = frame.columns.map("_".join) if isinstance(columns[0], tuple) else frame.columns.astype(str)
    assert list(frame.columns) in (["0", "1"], ["0", "b"], ["a_b", "a_c"])


def test_named_tuples_have_names() -> None:
    """Those of `itertuples` have the index of the frame, too."""
    frame = pd.DataFrame({"b": [7.0] * 50, "a": [2] * 50})
    table = Table(a=Integers(0, 9), b=Interval(0, 9))
    expected = table.encode(frame, level=6)
    for records in (list(frame.itertuples()), list(frame.itertuples(index=False)), [(2, 7.0)] * 50):
        assert np.array_equal(table.encode(records, level=6), expected)
    renamed = list(frame[["a", "b"]].set_axis(["a a", "b b"], axis=1).itertuples(index=False))
    assert np.array_equal(table.encode(renamed, level=6), expected)  # by position


def test_single_named_tuples_are_no_batches() -> None:
    frame = pd.DataFrame({"a": [2] * 50})
    for domain in (Table(a=Integers(0, 9)), Integers(0, 9)):
        with pytest.raises(RecordsError, match=r"got a single one (.*); pass the data frame itself, or list"):
            privhp.fit(frame.itertuples(index=False), domain, epsilon=1, expected_records=50)


def test_arrays_of_several_dimensions_are_no_records() -> None:
    table = Table(a=Interval(0, 8), b=Interval(0, 8))
    records = [(3.0, 4.0), np.array([1.0, 2.0]), np.array([[1.0], [2.0]]), np.array([[1.0, 2.0]]), np.zeros((2, 0))]
    assert (table.encode(records, level=2) == OUTSIDE).tolist() == [False, False, True, True, True]


def test_duplicate_column() -> None:
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "c", "a"])
    with pytest.raises(RecordsError, match=r"a column 'a' in the batch, got it twice; its columns are \['a'.*\]$"):
        SMALL.encode(frame, level=1)


def test_plain_array() -> None:
    table = Table(a=Interval(0, 1), b=Integers(0, 7))
    points = np.array([[0.1, 3], [0.9, 7], [0.5, 8], [np.nan, 1]])
    codes = table.encode(points, level=4)
    assert codes.tolist() == table.encode({"a": points[:, 0], "b": points[:, 1]}, level=4).tolist()
    assert codes[2:].tolist() == [OUTSIDE, OUTSIDE]
    assert Table(a=Interval(0, 1)).encode([0.1, 0.9], level=1).tolist() == [OUTSIDE] * 2
    assert Table(a=Interval(0, 1)).encode(np.array([0.1, 0.9]), level=1).tolist() == [0, 1]
    assert table.encode(np.zeros(0), level=4).size == 0


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (np.zeros((7919, 3)), r"expected an array of shape \(n, 2\) with the columns a, b, got one of other columns"),
        (np.zeros(7919), "got one of 1 dimensions"),
        (np.zeros((7919, 2, 2)), "got one of 3 dimensions"),
        ("text", "expected a batch of records with columns, got str"),
        (7919, "expected a batch of records with columns, got int"),
        (np.array(7919), "expected a batch of records with columns, got ndarray"),
        ({"a": [0.5] * 7919, "b": [1]}, "the columns a, b differ in length"),
        ({"a": "0.5", "b": [1]}, "column 'a': expected an array, a list or a series, got str"),
        ({"a": 0.5, "b": [1]}, "column 'a': expected an array, a list or a series, got float"),
        ({"a": np.zeros(3, dtype=complex), "b": [1] * 3}, "column 'a': expected numbers, got an array of complex128"),
        ({"a": np.zeros((3, 2)), "b": [1] * 3}, r"column 'a': expected records of shape \(n,\)"),
    ],
)
def test_wrong_batch(batch: Any, says: str) -> None:
    with pytest.raises(RecordsError, match=says) as caught:
        Table(a=Interval(0, 1), b=Integers(0, 7)).encode(batch, level=2)
    assert "7919" not in str(caught.value)


def test_record_with_value_out_of_domain() -> None:
    good = expected_codes(40)
    for name, bad in itertools.product(("trip distance", "lat", "zone", "delay", "tip"), ("x", 1e9, math.inf, b"\xff")):
        columns = {**COLUMNS, name: [*COLUMNS[name][:1], bad, *COLUMNS[name][2:]]}
        assert TRIPS.encode(columns, level=40).tolist() == [good[0], OUTSIDE, *good[2:]]


def test_null_values() -> None:
    codes = TRIPS.encode({**COLUMNS, "zone": [1, None, 100, 7]}, level=40)
    assert [code == OUTSIDE for code in codes] == [False, True, False, False]


@pytest.mark.parametrize(
    "column",
    [
        list,
        lambda values: pd.Series(values, dtype="Int64"),
        pl.Series,
        pa.array,
        lambda values: pa.chunked_array([values]),
    ],
)
def test_null_beside_large_integers(column: Any) -> None:
    table = Table(a=Nullable(Integers(0, 2**60)), b=Integers(0, 7))
    numbers = [2**59 + 1, 2**53 + 1, 5, 2**60]
    plain = table.encode({"a": numbers, "b": [1] * 4}, level=63).tolist()
    null = table.encode([(None, 1)], level=63)[0]
    for hole in range(4):
        with_null = [None if index == hole else number for index, number in enumerate(numbers)]
        codes = table.encode({"a": column(with_null), "b": [1] * 4}, level=63)
        assert codes.tolist() == [null if index == hole else code for index, code in enumerate(plain)]


@pytest.fixture
def encoded_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the blocks that were encoded."""
    sizes = []
    encode_columns = Table.encode_columns

    def watched(self: Table, records: Any, **levels: Any) -> Any:
        codes, columns = encode_columns(self, records, **levels)
        sizes.append(codes.size)
        return codes, columns

    monkeypatch.setattr(Table, "encode_columns", watched)
    return sizes


@pytest.mark.parametrize("shape", ["dict", "list", "pandas", "polars", "pyarrow", "structured", "2-D"])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_batch(shape: str, threads: int, encoded_sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privhp.collect.tally, "_MAX_BLOCK_ROWS", 100)
    rng = np.random.default_rng(0)
    columns = {"a": rng.random(1000) * 1.1, "b": rng.integers(0, 9, 1000)}
    batch: Any = {
        "dict": lambda: columns,
        "list": lambda: list(zip(*columns.values(), strict=True)),
        "pandas": lambda: pd.DataFrame(columns, index=rng.permutation(1000)),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
        "structured": lambda: np.array(list(zip(*columns.values(), strict=True)), dtype=[("a", "f8"), ("b", "i8")]),
        "2-D": lambda: np.stack([columns["a"], columns["b"]], axis=1),
    }[shape]()
    plan = Plan.paper(Table(a=Interval(0, 1), b=Integers(0, 7)), epsilon=1, expected_records=1000, hot_cells=4, depth=8)
    counts = rng.integers(0, 3, 1000)
    tally, expected = Tally(plan), Tally(plan)
    tally.add(batch, counts=counts, threads=threads)
    assert max(encoded_sizes) <= 100
    assert sum(encoded_sizes) == 1000
    monkeypatch.setattr(privhp.collect.tally, "_MAX_BLOCK_ROWS", 10**6)
    expected.add(columns, counts=counts)
    assert np.array_equal(tally.counters, expected.counters)
    assert all(np.array_equal(tally.sketches[level], expected.sketches[level]) for level in expected.sketches)


def test_state_after_refused_batch() -> None:
    tally = Tally(Plan.paper(SMALL, epsilon=1, expected_records=100, hot_cells=2))
    for batch in ({"a": [1]}, {"a": [1], "b": [1], "c": np.zeros(1, dtype=complex)}, {"a": [1], "b": [], "c": [1]}):
        with pytest.raises(RecordsError):
            tally.add(batch)
    assert not tally.counters.any()
    tally.add({"a": [1], "b": [None], "c": [2]})
    assert tally.counters.sum() == 1


SINGLE_COLUMNS = [
    lambda texts: pd.Series(texts, dtype="string"),
    lambda texts: pd.Series(texts, dtype="category"),
    pl.Series,
    lambda texts: pl.Series(texts, dtype=pl.Categorical),
    pa.array,
    lambda texts: pa.chunked_array([texts]),
]


@pytest.mark.parametrize("column", SINGLE_COLUMNS)
def test_single_column_of_values(column: Any) -> None:
    """Its type says that it holds no records of several columns; that of a table of one column it is."""
    kinds = Categories(["cash", "card"])
    texts = ["cash", "card", None, "cheque"]
    assert Table(kind=kinds).encode(column(texts), level=1).tolist() == kinds.encode(texts, level=1).tolist()
    with pytest.raises(RecordsError, match="expected records with the columns kind, fare, got a single column"):
        Table(kind=kinds, fare=Interval(0, 1)).encode(column(texts), level=1)


def test_numbers_of_a_single_column() -> None:
    table, fares = Table(fare=Interval(0, 10)), [1.5, None, 11.0]
    expected = table.encode({"fare": fares}, level=6).tolist()
    for column in (pd.Series(fares), pl.Series(fares), pa.array(fares)):
        assert table.encode(column, level=6).tolist() == expected


RECORDS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
COLUMNS_OF_RECORDS: dict[str, tuple[Any, list[Any]]] = {
    "pandas": (lambda records: pd.Series(records, dtype=object), ["?", None, 3, {"a": "?", "b": 4}, {}, ("?",)]),
    "polars": (lambda records: pl.Series(records, dtype=pl.Struct({"a": pl.Int64, "b": pl.String})), [None]),
    "Arrow": (lambda records: pa.chunked_array([records], pa.struct({"a": pa.int64(), "b": pa.string()})), [None]),
}


@pytest.mark.parametrize("library", COLUMNS_OF_RECORDS)
def test_invalid_record_in_single_column(library: str) -> None:
    """Conversion by Arrow would refuse the whole batch and quote the invalid value."""
    column, others = COLUMNS_OF_RECORDS[library]
    domain = Table({"a": Integers(0, 3), "b": Categories(["x", "y"])})
    first, last = domain.encode(RECORDS, level=3).tolist()
    for other in others:
        with assert_silent():
            (batch,) = open_source(column([RECORDS[0], other, RECORDS[1]]), domain=domain).batches()
            codes = domain.encode(domain.as_batch(batch.records), level=3).tolist()
        assert codes == [first, OUTSIDE, last]

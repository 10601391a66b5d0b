"""Data frames of pandas, polars and Arrow."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp as hp
from privhp import QueryError, RecordsError
from privhp.io.frames import as_frame
from releases import histogram

DAYS = np.array(["2020-02-28", "2020-02-29", "2020-03-01"], dtype="M8[D]")
VALUES: dict[str, np.ndarray] = {
    "integer": np.array([1, 2, 2**60 + 1]),
    "address": np.array([1, 2, 2**32 - 1], dtype=np.uint32),
    "real": np.array([0.5, -1.5, 1e300]),
    "day": DAYS,
    "second": DAYS.astype("M8[s]"),
    "milli": DAYS.astype("M8[ms]"),
    "nano": DAYS.astype("M8[ns]"),
    "word": np.array(["a", "bb", "é"]),
    "object": np.array(["a", "bb", "é"], dtype=object),
}
COLUMNS = VALUES | {f"{name}?": np.ma.MaskedArray(values, mask=[False, True, False]) for name, values in VALUES.items()}


def types_of(frame: Any) -> dict[str, str]:
    if isinstance(frame, pa.Table):
        return {field.name: str(field.type) for field in frame.schema}
    return {name: str(frame[name].dtype) for name in frame.columns}


def test_pandas_types() -> None:
    types = types_of(as_frame(COLUMNS, "pandas", forms={}))
    assert (types["integer"], types["integer?"]) == ("int64", "Int64")
    assert (types["address"], types["address?"]) == ("uint32", "UInt32")
    assert (types["real"], types["real?"]) == ("float64", "float64")
    assert all(types[name].startswith("datetime64") for name in ("day", "second?", "milli", "nano?"))
    assert types["word"] == types["word?"]


def test_polars_types() -> None:
    types = types_of(as_frame(COLUMNS, "polars", forms={}))
    for name, expected in {
        "integer": "Int64",
        "address": "UInt32",
        "real": "Float64",
        "day": "Date",
        "word": "String",
    }.items():
        assert (types[name], types[f"{name}?"]) == (expected, expected)
    assert types["second"].startswith("Datetime(time_unit='ms'")


def test_arrow_types() -> None:
    types = types_of(as_frame(COLUMNS, "pyarrow", forms={}))
    expected = {
        "integer": "int64",
        "address": "uint32",
        "real": "double",
        "day": "date32[day]",
        "second": "timestamp[s]",
        "milli": "timestamp[ms]",
        "word": "string",
        "object": "string",
    }
    for name, kind in expected.items():
        assert (types[name], types[f"{name}?"]) == (kind, kind)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_values_and_nulls(library: Any) -> None:
    frame = as_frame(COLUMNS, library, forms={})
    for name, column in COLUMNS.items():
        values = frame[name].to_pylist() if library == "pyarrow" else list(frame[name])
        null = [bool(pd.isna(value)) for value in values]
        assert null == np.ma.getmaskarray(column).tolist()
        for value, true in zip(values, np.ma.getdata(column), strict=True):
            if not pd.isna(value):
                same = pd.Timestamp(value) == pd.Timestamp(true) if column.dtype.kind == "M" else value == true
                assert same


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_types_of_empty_frame(library: Any) -> None:
    nothing = as_frame({name: column[:0] for name, column in VALUES.items() if name != "object"}, library, forms={})
    something = as_frame({name: column for name, column in VALUES.items() if name != "object"}, library, forms={})
    assert types_of(nothing) == types_of(something)


def test_unknown_library() -> None:
    with pytest.raises(QueryError, match='expected frame="pandas", "polars" or "pyarrow", got \'dask\''):
        as_frame(VALUES, "dask", forms={})  # type: ignore[arg-type]  # a wrong type is the test


def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(QueryError, match='frame="polars" needs polars, which is not installed; pip install polars'):
        as_frame(VALUES, "polars", forms={})


def test_spark_frames_are_refused() -> None:
    """They have Arrow's interface, but the order of their rows may change from pass to pass."""
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe", "__arrow_c_stream__": None})()
    with pytest.raises(RecordsError, match=r"privhp\.engines\.spark\.fit"):
        hp.fit(frame, hp.Interval(0, 1), epsilon=1, expected_records=10)


def test_groups_of_a_frame_are_refused() -> None:
    """Each of them would count as one record."""
    columns = {"city": ["a", "b", "a"], "km": [1.0, 2.0, 3.0]}
    pandas, polars = pd.DataFrame(columns).groupby("city"), pl.DataFrame(columns).group_by("city")
    for groups in (pandas, pandas["km"], polars):
        with pytest.raises(RecordsError, match=r"got the groups of a frame .*; pass the frame"):
            hp.fit(groups, hp.Interval(0, 9), epsilon=1, expected_records=3)


@pytest.mark.parametrize(
    ("domain", "names"),
    [
        (hp.Interval(0, 1), ["value"]),
        (hp.Interval(0, 1).named("fare"), ["fare"]),
        (hp.Nullable(hp.Integers(0, 9)), ["value"]),
        (hp.Categories(["a", "b"]), ["value"]),
        (hp.Box([(0, 1), (0, 2)]), ["x1", "x2"]),
        (hp.Geo(-9, 49.8, 2, 61), ["longitude", "latitude"]),
        (hp.Time("2024-01-01", "2024-12-31", unit="D"), ["value"]),
        (hp.IPv6(), ["value"]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_samples_of_single_values_as_frames(domain: hp.Domain, names: list[str], library: Any) -> None:
    generator = histogram(domain, 1, [3, 1])
    array, frame = generator.sample(50, rng=1), generator.sample(50, rng=1, frame=library)
    assert isinstance(array, np.ndarray)
    assert list(types_of(frame)) == names
    table = hp.Table({names[0] if len(names) == 1 else tuple(names): domain})
    assert types_of(frame) == types_of(histogram(table, 1, [3, 1]).sample(50, rng=1, frame=library))
    level = min(domain.depth, 20)
    assert np.array_equal(table.encode(frame, level=level), domain.encode(array, level=level))

"""Booleans as records, in files and in queries."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privhp import (
    Categories,
    DomainError,
    Generator,
    Integers,
    Nullable,
    Plan,
    Table,
)
from privhp.core.cells import OUTSIDE
from privhp.domains.conditions import format_condition, read_condition
from privhp.io.sinks import write_sample
from privhp.release import Release

TRUTH = [True, False, True, True]


@pytest.mark.parametrize(
    "records",
    [
        TRUTH,
        np.array(TRUTH),
        np.array(TRUTH, dtype=object),
        np.array([1, 0, 1, 1], dtype=np.int8),
        np.array([1.0, 0.0, 1.0, 1.0]),
        [np.True_, "false", b"TRUE", "1"],
        np.array(["true", "False", "TRUE", "1"]),
        pd.Series(TRUTH),
        pd.Series(TRUTH, dtype="boolean"),
        pd.Series(TRUTH, dtype="category"),
        pl.Series(TRUTH),
        pa.array(TRUTH),
        pa.chunked_array([TRUTH[:2], TRUTH[2:]]),
    ],
    ids=lambda records: f"{type(records).__module__}.{type(records).__name__}",
)
def test_columns_of_booleans(records):
    assert Categories([False, True]).encode(records, level=1).tolist() == [1, 0, 1, 1]
    assert Categories([True, False]).encode(records, level=1).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "records",
    [
        [True, None, False, "perhaps", 2, float("nan"), "0.5", {}],
        pd.Series([True, None, False, "perhaps", 2, np.nan, "0.5", pd.NaT], dtype=object),
        np.array([1, np.nan, 0, 0.5, 2, np.inf, -1, 7]),
    ],
    ids=["list", "pandas", "floats"],
)
def test_invalid_booleans(records):
    outside = [OUTSIDE] * 5
    assert Categories([False, True]).encode(records, level=1).tolist() == [1, OUTSIDE, 0, *outside]


@pytest.mark.parametrize(
    "column",
    [pd.Series([True, None, False], dtype="boolean"), pl.Series([True, None, False]), pa.array([True, None, False])],
    ids=["pandas", "polars", "pyarrow"],
)
def test_null_boolean(column):
    domain = Nullable(Categories([False, True]))
    assert domain.encode(column, level=2).tolist() == [3, 0, 2]


def test_booleans_and_numbers():
    booleans, numbers = Categories([False, True]), Categories([0, 1])
    assert booleans != numbers
    assert len({booleans, numbers, Categories([False, True])}) == 2
    assert booleans.values == (False, True)
    assert booleans.describe(1, level=1) is True


def test_queries_of_booleans():
    domain = Table(paid=Categories([False, True]), age=Integers(0, 120))
    plan = Plan.paper(domain, epsilon=1, expected_records=1e4, hot_cells=8)
    generator = Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))
    assert generator.mass({"paid": True}).value == pytest.approx(0.5)
    assert generator.mass({"paid": [False]}).value == pytest.approx(0.5)
    assert generator.sample(50, where={"paid": True})["paid"].all()
    region = read_condition("paid = true", domain)
    assert region == {"paid": True}
    assert format_condition(region, domain) == "paid = true"
    with pytest.raises(DomainError, match="such as false, got 'yes'"):
        read_condition("paid = yes", domain)


def test_array_of_booleans(tmp_path):
    plan = Plan.paper(Categories([False, True]), epsilon=1, expected_records=1e4, depth=1)
    generator = Generator(Release(plan, plan.unpack(np.zeros(plan.counters, dtype=np.int64))))
    write_sample(generator, tmp_path / "a.npy", rows=20, seed=1)
    array = np.load(tmp_path / "a.npy")
    assert array.dtype == np.bool_
    assert array.sum() == 10


@pytest.mark.parametrize("text", ["true", "TRUE", "True", "1"])
def test_regions_read_booleans_as_records_do(text):
    domain = Categories([False, True])
    assert read_condition(f"value = {text}", domain) is True
    assert read_condition(f"value != {text}", domain) == [False]
    assert read_condition(f"value in [{text}]", Nullable(domain)) == [True]
    cells = np.arange(2, dtype=np.uint64)
    assert domain.overlap(text, cells, level=1).tolist() == [0, 1]
    assert domain.overlap([text, False], cells, level=1).tolist() == [1, 1]


@pytest.mark.parametrize("text", ["2", "yes", "tru", ""])
def test_other_words_are_no_booleans(text):
    with pytest.raises(DomainError, match="expected declared values, such as False"):
        Categories([False, True]).overlap(text, np.zeros(1, dtype=np.uint64), level=0)
    with pytest.raises(DomainError, match="expected a declared value, such as false"):
        read_condition(f"value = '{text}'", Categories([False, True]))
    assert read_condition("value = TRUE", Categories(["TRUE", "true"])) == "TRUE"

"""Conversion of arrays: shapes, points and counts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privhp.domains.conversion import INT64_MAX, as_counts, as_floats, as_integers, as_points
from privhp.errors import RecordsError


def test_empty_array_of_points() -> None:
    assert as_points(np.empty((0, 2)), width=2).shape == (0, 2)
    assert as_floats(np.empty((0, 1))).shape == as_integers(np.array([], dtype=np.int8))[0].shape == (0,)


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [3], [4, 5]],
        [[1, 2], [3, 4, 5], [4, 5]],
        [[1, 2], 3, [4, 5]],
        [[1, 2], [3, None], [4, 5]],
        [(1, 2), "ab", np.array([4, 5])],
        [[1, 2], np.ma.array([3, 3], mask=[True, False]), (4, 5)],
        [[1, 2], [[3, 4], [5, 6]], [4, 5]],
    ],
    ids=str,
)
@pytest.mark.parametrize("container", [list, tuple, iter], ids=lambda kind: kind.__name__)
def test_invalid_points(rows: list[Any], container: Callable[[Any], Any]) -> None:
    points = as_points(container(rows), width=2)
    assert points[[0, 2]].tolist() == [[1, 2], [4, 5]]
    assert np.isnan(points[1]).all()


SINGLE_COLUMNS = {
    "pandas Int64": lambda values: pd.Series(values, dtype="Int64"),
    "pandas Float64": lambda values: pd.Series(values, dtype="Float64"),
    "pandas boolean": lambda values: pd.Series([value and value > 1 for value in values], dtype="boolean"),
    "Arrow int64 in pandas": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.int64())),
    "Arrow bool in pandas": lambda values: pd.Series(
        [value and value > 1 for value in values], dtype=pd.ArrowDtype(pa.bool_())
    ),
    "polars Int8": lambda values: pl.Series(values, dtype=pl.Int8),
    "polars Float32": lambda values: pl.Series(values, dtype=pl.Float32),
    "polars Boolean": lambda values: pl.Series([value and value > 1 for value in values], dtype=pl.Boolean),
    "Arrow int64": lambda values: pa.array(values, pa.int64()),
    "Arrow bool": lambda values: pa.array([value and value > 1 for value in values], pa.bool_()),
}


@pytest.mark.parametrize("kind", SINGLE_COLUMNS)
@pytest.mark.parametrize("values", [[1, 2], [1, None], [None, None]], ids=str)
def test_single_columns_are_no_points(kind: str, values: list[int | None]) -> None:
    """Their types say so, and null does not change that."""
    with pytest.raises(RecordsError, match=r"shape \(n, 2\)"):
        as_points(SINGLE_COLUMNS[kind](values), width=2)


@pytest.mark.parametrize("points", [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], None]], ids=str)
def test_columns_of_points(points: list[Any]) -> None:
    expected = [[1.0, 2.0], [3.0, 4.0] if points[1] else [np.nan, np.nan]]
    own = pa.array(points, pa.list_(pa.float64(), 2))
    for column in (
        pl.Series(points, dtype=pl.Array(pl.Float64, 2)),
        pd.Series(own, dtype=pd.ArrowDtype(own.type)),
        own,
    ):
        assert repr(as_points(column, width=2).tolist()) == repr(expected)


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128])
def test_integers_of_128_bits(kind: Any) -> None:
    """NumPy has none, so that they are read one by one, with null and without."""
    values = [3, 2**100]
    for more in ([], [None], [None, 4]):
        numbers, valid = as_integers(pl.Series(values + more, dtype=kind))
        assert numbers[valid].tolist() == [3, INT64_MAX, *filter(None, more)]
        assert valid.tolist() == [True, True, *(value is not None for value in more)]


def test_shape_of_object_array() -> None:
    """NumPy gives two pairs the shape (2, 2), and a pair with another object the shape (2,)."""
    pairs = np.array([[1, 2], [3, 4]], dtype=object)
    ragged = np.array([[1, 2], [3]], dtype=object)
    triples = np.array([[1, 2, 3], [3, 4, 5]], dtype=object)
    assert as_points(pairs, width=2)[0].tolist() == as_points(ragged, width=2)[0].tolist() == [1, 2]
    assert np.isnan(as_points(ragged, width=2)[1]).all()
    assert np.isnan(as_points(triples, width=2)).all()
    singles, ragged = np.array([[1], [2]], dtype=object), np.array([[1], [2, 3]], dtype=object)
    assert as_floats(singles)[0] == as_floats(ragged)[0] == as_integers(singles)[0][0] == as_integers(ragged)[0][0] == 1


@pytest.mark.parametrize("masked", [(0, 0), (0, 1)])
def test_masked_coordinate(masked: tuple[int, int]) -> None:
    points = np.ma.array([[1.0, 2.0], [3.0, 4.0]])
    points[masked] = np.ma.masked
    assert np.isnan(as_points(points, width=2)).tolist() == [[True, True], [False, False]]


WRONG_ARRAYS = [
    np.zeros(4321, dtype=complex),
    np.zeros(4321, dtype="datetime64[s]"),
    np.zeros(4321, dtype="timedelta64[s]"),
    np.zeros(4321, dtype=[("a", float)]),
    np.zeros(3, dtype=[("a", "U4321")]),
    np.ma.zeros(4321, dtype=complex),
    np.zeros((4321, 3)),
    np.zeros((3, 4321)),
    np.zeros((1, 4321)),
    np.zeros((4321, 2, 2)),
    np.ma.zeros((3, 4321)),
    np.full((3, 4321), "1"),
    np.array(4321.0),
    np.array(None),
]


@pytest.mark.parametrize("array", WRONG_ARRAYS, ids=lambda array: f"{array.dtype}-{array.ndim}")
@pytest.mark.parametrize("read", [as_floats, as_integers, lambda batch: as_points(batch, width=2)])
def test_array_of_wrong_type_or_shape(array: Any, read: Callable[[Any], Any]) -> None:
    with pytest.raises(RecordsError, match="expected") as refusal:
        read(array)
    assert "4321" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("batch", [4321, 4321.0, None, "4321", b"4321", {"a": 4321}, np.float64(4321)], ids=repr)
def test_wrong_batch(batch: Any) -> None:
    for read in (as_floats, as_integers, lambda batch: as_points(batch, width=2)):
        with pytest.raises(RecordsError, match="wrap one record in a list") as refusal:
            read(batch)
        assert "4321" not in str(refusal.value)


def test_array_of_one_column() -> None:
    assert as_points(np.array([1.0, 2.0]), width=1).tolist() == [[1.0], [2.0]]
    with pytest.raises(RecordsError, match=r"expected records of shape \(n, 2\), got an array of 1 dimensions"):
        as_points(np.array([1.0, 2.0]), width=2)


def test_input_array_is_unchanged() -> None:
    array = np.array([1.0, np.nan, np.inf])
    before = array.copy()
    as_floats(array), as_integers(array), as_points(array, width=1)
    assert np.array_equal(array, before, equal_nan=True)


def test_counts() -> None:
    counts = [3, -1, 2.5, None, "4", 2**70]
    assert as_counts(counts, records=6).tolist() == [3, 0, 0, 0, 4, INT64_MAX]
    assert as_counts(np.array([3, -1]), records=2).tolist() == [3, 0]
    assert as_counts(np.array([2**64 - 1], dtype=np.uint64), records=1).tolist() == [INT64_MAX]


@pytest.mark.parametrize("counts", [[1] * 4321, np.ones((2, 4321)), np.ones(4321, dtype=complex), 7])
def test_counts_of_wrong_shape(counts: Any) -> None:
    with pytest.raises(RecordsError) as refusal:
        as_counts(counts, records=1234)
    assert not {"4321", "1234"} & set(str(refusal.value).replace(",", " ").split())

"""Conversion of batches: values independently of each other, type and shape once per array."""

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privhp import Categories, Interval, IPv6, Nullable, Time
from privhp.core.cells import OUTSIDE
from privhp.domains.conversion import INT64_MAX, as_floats, as_integers, as_points, values_of_kind
from privhp.errors import RecordsError
from silent import assert_silent


class Refuses:
    """A value whose conversions raise."""

    def __float__(self) -> float:
        raise RuntimeError("secret")

    def __int__(self) -> int:
        raise RuntimeError("secret")

    __ge__ = __eq__ = __hash__ = __float__


class Batch:
    """An array-like object with a conversion to NumPy."""

    def __init__(self, values: list[Any], converted: Any) -> None:
        self.values, self.converted = values, converted

    def __iter__(self) -> Any:
        return iter(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.converted, dtype=dtype)


NOT_NUMBERS: list[Any] = [
    None,
    "",
    "text",
    "0x10",
    b"\xff",
    1j,
    np.complex128(3),
    np.complex64(3),
    [],
    [1.0, 2.0],
    {},
    {1.0},
    Refuses(),
    object(),
    np.ma.masked,
    np.array([1.0, 2.0]),
    np.array(3.0),
    np.array([[3.0]]),
    [[3.0]],
    np.datetime64("2020-01-01", "ns"),
    np.timedelta64(5, "ns"),
    dt.date(2020, 1, 1),
    float,
]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: type(value).__name__)
def test_invalid_numbers(value: Any) -> None:
    assert np.isnan(as_floats([1.0, value, 2.0])).tolist() == [False, True, False]
    assert as_integers([1, value, 2])[1].tolist() == [True, False, True]
    points = as_points([(1, 2), (value, 0), (0, value), (3, 4)], width=2)
    assert np.isnan(points).tolist() == [[False] * 2, [True] * 2, [True] * 2, [False] * 2]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        (True, 1.0),
        (np.bool_(True), 1.0),
        ("2.5", 2.5),
        (" 1e3\n", 1000.0),
        (b"7", 7.0),
        (np.str_("7"), 7.0),
        (np.float16(0.5), 0.5),
        (np.longdouble("0.5"), 0.5),
        (np.longdouble("1e4000"), math.inf),
        (np.uint64(2**64 - 1), 2.0**64),
        (2**70, 2.0**70),
        (10**400, math.inf),
        (-(10**400), -math.inf),
        (Fraction(10**400), math.inf),
        (Decimal("0.25"), 0.25),
        (Decimal("-Infinity"), -math.inf),
        ("9" * 5000, math.inf),
        ([4.0], 4.0),
        ((4.0,), 4.0),
        (np.array([4.0]), 4.0),
    ],
    ids=str,
)
def test_nearest_float(value: Any, number: float) -> None:
    assert as_floats([None, value]).tolist()[1] == number
    assert as_points([value], width=1).tolist() == [[number]]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3),
        (3.0, 3),
        (-0.0, 0),
        (True, 1),
        (np.bool_(True), 1),
        ("12", 12),
        ("12.0", 12),
        (b"12", 12),
        (2**53 + 1, 2**53 + 1),
        (str(2**53 + 1), 2**53 + 1),
        (np.uint64(2**63 + 5), INT64_MAX),
        (2**70, INT64_MAX),
        (-(2**70), -INT64_MAX),
        (-(2**63), -INT64_MAX),
        (10**400, INT64_MAX),
        (math.inf, INT64_MAX),
        (-math.inf, -INT64_MAX),
        ("-inf", -INT64_MAX),
        ("9" * 5000, INT64_MAX),
        (Decimal("1e400"), INT64_MAX),
        (Decimal("Infinity"), INT64_MAX),
        (np.float16(7.0), 7),
        (np.longdouble(2**62), 2**62),
        ([5], 5),
        (np.array([5]), 5),
    ],
    ids=str,
)
def test_integers_within_int64(value: Any, number: int) -> None:
    values, readable = as_integers([None, value])
    assert (values[1], readable.tolist()) == (number, [False, True])


@pytest.mark.parametrize("value", [0.5, -0.5, "1.5", Fraction(1, 2), Decimal("0.1"), np.float32(0.5), math.nan, "nan"])
def test_fractions_and_nan(value: Any) -> None:
    assert as_integers([value])[1].tolist() == [False]


EVERY_NUMBER = [0.0, -0.0, 0.5, -1.0, 3.0, 2.0**53, 2.0**63, -(2.0**63), 1e300, 5e-324, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.longdouble])
def test_array_of_floats(dtype: type) -> None:
    with np.errstate(over="ignore"):
        array = np.array(EVERY_NUMBER).astype(dtype)
    assert np.array_equal(as_floats(array), as_floats(list(array)), equal_nan=True)
    readable = as_integers(array)[1]
    assert np.array_equal(readable, as_integers(list(array))[1])
    assert np.array_equal(as_integers(array)[0][readable], as_integers(list(array))[0][readable])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.bool_])
def test_array_of_integers(dtype: type) -> None:
    ends = [0, 1] if dtype is np.bool_ else [np.iinfo(dtype).min + 1, 0, 1, np.iinfo(dtype).max]
    array = np.array(ends, dtype=dtype)
    assert np.array_equal(as_floats(array), as_floats(list(array)))
    assert np.array_equal(as_integers(array), as_integers(list(array)))


def test_overflow_of_long_double() -> None:
    assert as_floats(np.array(["1e4000", "-1e4000"], dtype=np.longdouble)).tolist() == [math.inf, -math.inf]


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(
    "batch", [[], (), iter([]), np.array([]), np.array([], dtype=object)], ids=lambda value: type(value).__name__
)
def test_empty_batch(batch: Any, columns: int) -> None:
    assert as_points(batch, width=columns).shape == (0, columns)


@pytest.mark.parametrize(
    "batch",
    [
        (1.0, "2", None),
        (value for value in [1.0, "2", None]),
        np.array([1.0, "2", None], dtype=object),
        np.array([[1.0], ["2"], [None]], dtype=object),
        np.array(["1.0", "2", "None"]),
        np.array([b"1.0", b"2", b"None"]),
        np.array(["1.0", "2", "None"], dtype=np.dtypes.StringDType()),
        np.ma.array([1, 2, 3], mask=[False, False, True]),
        np.ma.array([[1.0], [2.0], [3.0]], mask=[[False], [False], [True]]),
        np.array([1.0, 2.0, np.nan])[:, None],
        Batch([1, 2, None], [1.0, 2.0, np.nan]),
    ],
    ids=lambda batch: type(batch).__name__ + str(getattr(batch, "dtype", "")),
)
def test_containers(batch: Any) -> None:
    batch = list(batch) if not hasattr(batch, "__array__") else batch
    assert as_floats(batch).tolist()[:2] == [1.0, 2.0]
    assert math.isnan(as_floats(batch)[2])
    values, readable = as_integers(batch)
    assert (values[:2].tolist(), readable.tolist()) == ([1, 2], [True, True, False])


def test_missing_value_among_integers() -> None:
    large = 2**60 + 1
    values, readable = as_integers(Batch([large, None], [float(large), np.nan]))
    assert (values[0], readable.tolist()) == (large, [True, False])


def test_missing_arrow_value_among_integers() -> None:
    large = 2**60 + 1
    alone = as_integers(pa.array([large]))[0]
    assert as_integers(pa.array([large, None]))[0][0] == alone[0] == large


FRAMES: dict[str, Callable[[list[Any]], Any]] = {
    "arrow": pa.array,
    "chunks": lambda values: pa.chunked_array([values]),
    "pandas": lambda values: pd.Series(values, dtype="boolean" if isinstance(values[0], bool) else "Int64"),
    "polars": pl.Series,
}


@pytest.mark.parametrize("column", FRAMES.values(), ids=FRAMES)
def test_type_of_column_with_missing_value(column: Callable[[list[Any]], Any]) -> None:
    address = IPv6()
    assert address.encode(column([1, None]), level=8).tolist() == [address.encode(column([1]), level=8)[0], OUTSIDE]
    for values in ([1], [True]):
        refused = [
            refusal_of(lambda batch: values_of_kind(batch, kinds="M"), column(values + more)) for more in ([], [None])
        ]
        assert refused[0] == refused[1]


def test_missing_text() -> None:
    domain = Categories(["a", "b"])
    assert domain.encode(pl.Series(["a\0", "a"]), level=1).tolist() == [OUTSIDE, 0]
    assert domain.encode(pl.Series(["a\0", "a", None]), level=1).tolist() == [OUTSIDE, 0, OUTSIDE]


TEXTS = pa.StringArray.from_buffers(3, pa.py_buffer(np.array([0, 1, 8, 9], np.int32)), pa.py_buffer(b"a\xffsecrett"))


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        pa.chunked_array([TEXTS]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), TEXTS),
        pd.Series(pd.arrays.ArrowExtensionArray(TEXTS)),
    ],
    ids=["array", "chunks", "dictionary", "pandas"],
)
@pytest.mark.parametrize("nullable", [False, True])
def test_invalid_utf8(column: Any, nullable: bool) -> None:
    domain = Nullable(Categories(["a", "s"])) if nullable else Categories(["a", "s"])
    expected = domain.encode(["a", object(), "t"], level=domain.depth).tolist()
    assert domain.encode(column, level=domain.depth).tolist() == expected
    assert Interval(0, 1).encode(column, level=1).tolist() == [OUTSIDE] * 3


@pytest.mark.parametrize("domain", [Interval(0, 9), IPv6(), Time("1970-01-01", "2030-01-01"), Categories([1, 2])])
def test_invalid_code_points(domain: Any) -> None:
    texts = np.array(["1", "2020-01-01", "::1", "?"])
    damaged = texts.copy()
    damaged.view(np.uint32)[-10] = 0x7FFFFFFF
    with assert_silent():
        codes = domain.encode(damaged, level=1)
    assert np.array_equal(codes, domain.encode(texts, level=1))


def test_dictionary_time_out_of_range() -> None:
    days = pa.array([0, 2**62, 0], pa.timestamp("s")).dictionary_encode()
    assert Time("1970-01-01", "1970-01-02").encode(days, level=0).tolist() == [0, OUTSIDE, 0]


def refusal_of(read: Callable[[Any], Any], batch: Any) -> str:
    with pytest.raises(RecordsError) as refusal:
        read(batch)
    return str(refusal.value)


@pytest.mark.parametrize("text", ["1_000", b"1_000", "0_1", "1_0.5"])
def test_underscores_between_digits(text: str | bytes) -> None:
    assert np.isnan(as_floats([text])).all()
    assert as_integers([text])[1].tolist() == [False]

"""Nullable domains."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privhp import (
    Box,
    Categories,
    Domain,
    DomainError,
    Generator,
    Geo,
    Integers,
    Interval,
    IPv4,
    Nullable,
    Pattern,
    Plan,
    RecordsError,
    Table,
    Taxonomy,
    Time,
    check_domain,
)
from privhp.core.allocation import Allocation
from privhp.core.cells import OUTSIDE
from privhp.domains.column_batch import ColumnBatch
from privhp.domains.conditions import read_condition
from privhp.release import Release
from releases import exact_generator, histogram

DELAY = Nullable(Integers(-120, 1440))
NULL = 0


@pytest.mark.parametrize(
    "domain",
    [
        DELAY,
        Nullable(Interval(0, 1), share=0.01),
        Nullable(Interval(1, 8, scale="log", outside="clamp")),
        Nullable(Integers(0, 4, outside="clamp"), share=0.9),
        Nullable(Integers(0, 2**61 - 1)),
        Nullable(IPv4()),
        Nullable(Box([(0, 1), (0, 2)])),
        Nullable(Time("2020-01-01", "2021-01-01", unit="D")),
    ],
    ids=repr,
)
def test_laws(domain: Nullable) -> None:
    check_domain(
        domain, awkward=[None, math.nan, np.datetime64("NaT", "s"), [None], (None, None), (1, None), "3", 2], cells=50
    )


class Refuses:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __ne__ = __eq__
    __hash__ = None  # type: ignore[assignment]  # what cannot be hashed is the test


@pytest.mark.parametrize(
    "value", [None, math.nan, np.nan, np.datetime64("NaT", "s"), pd.NaT, pd.NA, np.ma.masked, Decimal("NaN")]
)
def test_null_values(value: Any) -> None:
    codes = DELAY.encode([5, value, "6", value], level=12)
    assert codes.tolist() == [*DELAY.encode([5], level=12), NULL, *DELAY.encode([6], level=12), NULL]


@pytest.mark.parametrize(
    "value", ["", "null", "None", 1441, math.inf, 0.5, [], {}, Decimal("sNaN"), Refuses(), b"\xff", 1j]
)
def test_invalid_values(value: Any) -> None:
    assert DELAY.encode([5, value, None], level=12).tolist() == [*DELAY.encode([5], level=12), OUTSIDE, NULL]


@pytest.mark.parametrize(
    "column",
    [
        [3, None, -120],
        (3, math.nan, -120),
        np.array([3, np.nan, -120]),
        np.ma.MaskedArray([3, 9, -120], mask=[False, True, False]),
        np.array([3, None, -120], dtype=object),
        np.array([[3], [np.nan], [-120]]),
        pd.Series([3, None, -120]),
        pd.Series([3, None, -120], dtype="Int64"),
        pd.Series([3, None, -120], dtype="Int16", index=[5, 5, 5]),
        pl.Series([3, None, -120]),
        pl.Series([3, math.nan, -120], dtype=pl.Float64, strict=False),
        pa.array([3, None, -120]),
        pa.array([3, None, -120], pa.int16()),
        pa.chunked_array([[3], [None, -120]]),
        pa.array([3, None, -120]).dictionary_encode(),
        pa.chunked_array([[3], [None, -120]]).dictionary_encode(),
    ],
    ids=lambda column: type(column).__name__,
)
def test_null_in_columns(column: Any) -> None:
    assert DELAY.encode(column, level=12).tolist() == DELAY.encode([3, None, -120], level=12).tolist()


@pytest.mark.parametrize(
    "column",
    [
        np.array(["x", None, "w"], dtype=object),
        np.ma.MaskedArray(["x", "x", "w"], mask=[False, True, False]),
        pd.Series(["x", None, "w"]),
        pd.Series(["x", None, "w"], dtype="category"),
        pl.Series(["x", None, "w"]),
        pl.Series(["x", None, "w"], dtype=pl.Categorical),
        pa.array(["x", None, "w"]),
        pa.array(["x", None, "w"]).dictionary_encode(),
        pa.chunked_array([["x"], [None, "w"]]).dictionary_encode(),
    ],
    ids=lambda column: type(column).__name__,
)
@pytest.mark.parametrize("other", [None, "z"])
def test_null_among_categories(column: Any, other: str | None) -> None:
    domain = Nullable(Categories(["x", "y"], other=other))
    expected = domain.encode(["x", None, "w"], level=domain.depth).tolist()
    assert expected[1] == NULL
    assert (expected[2] == OUTSIDE) == (other is None)
    assert domain.encode(column, level=domain.depth).tolist() == expected


def test_null_among_times() -> None:
    domain = Nullable(Time("2020-01-01", "2021-01-01"))
    times = np.array(["2020-02-29", "NaT", "2020-12-31"], dtype="M8[s]")
    expected = domain.encode(["2020-02-29", None, "2020-12-31"], level=20).tolist()
    assert expected[1] == NULL
    zoned = pd.Series(pd.to_datetime(times)).dt.tz_localize("UTC")
    for column in (times, pd.Series(times), zoned, pl.Series(times.astype("M8[ms]")), pa.array(times)):
        assert domain.encode(column, level=20).tolist() == expected


def test_first_split() -> None:
    assert DELAY.encode([None, -120, 1440], level=1).tolist() == [0, 1, 1]
    assert DELAY.depth == Integers(-120, 1440).depth + 1
    assert [DELAY.diameter(level) for level in (0, 1, 2)] == [1560, 1560, 1023]


def test_records_of_wrong_shape() -> None:
    for batch in (3, "3", b"3", {"3": 3}, np.zeros((2, 2, 2)), np.zeros(2, dtype=complex)):
        with pytest.raises(RecordsError):
            DELAY.encode(batch, level=3)


def test_null_points() -> None:
    domain = Nullable(Box([(0, 1), (0, 1)]))
    for rows in ([(None, None), (0.2, None), (0.2, 0.9)], np.array([[np.nan, np.nan], [0.2, np.nan], [0.2, 0.9]])):
        codes = domain.encode(rows, level=3).tolist()
        assert codes == [NULL, OUTSIDE, 4 + int(domain.domain.encode([(0.2, 0.9)], level=2)[0])]


@pytest.mark.parametrize("domain", [Nullable(Box([(0, 9), (0, 9)])), Nullable(Geo())], ids=repr)
@pytest.mark.parametrize("make", [list, pa.array, pd.Series, pl.Series], ids=lambda make: make.__module__)
def test_invalid_coordinates_of_nullable_points(domain: Nullable, make: Any) -> None:
    xs, ys = ["?", None, "?", None, "2"], ["?", None, None, "?", "3"]
    expected = [OUTSIDE, NULL, OUTSIDE, OUTSIDE, int(domain.encode([(2, 3)], level=5)[0])]
    table = Table({("x", "y"): domain})
    assert table.encode({"x": make(xs), "y": make(ys)}, level=5).tolist() == expected
    points = ColumnBatch([make(xs), make(ys)], length=5).to_column()
    assert domain.encode(points, level=5).tolist() == expected
    assert points.is_null().tolist() == [False, True, False, False, False]


def test_samples() -> None:
    domain = Nullable(Integers(0, 9), share=0.25)
    code, level = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64)
    records = domain.sample_allocation(
        Allocation(code, level, np.array([1000])), balanced=True, rng=np.random.default_rng(0)
    )
    values = domain.to_output(records)
    assert isinstance(values, np.ma.MaskedArray)
    assert values.dtype == np.int64
    assert abs(int(values.mask.sum()) - 250) <= 1
    assert np.abs(np.bincount(values.compressed()) - 75).max() <= 1
    assert domain.encode(values, level=4).tolist() == domain.encode(records, level=4).tolist()


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Nullable(3), "expected the domain of one column, not yet nullable, got 3"),  # type: ignore[arg-type]  # a wrong type is the test
        (lambda: Nullable(DELAY), "expected the domain of one column, not yet nullable"),
        (lambda: Nullable(Table(a=DELAY)), "expected the domain of one column, not yet nullable"),
        (lambda: Nullable(IPv4(), share=0), "expected a share of null above 0 and below 1, got 0.0"),
        (lambda: Nullable(IPv4(), share=1), "expected a share of null above 0 and below 1"),
        (lambda: Nullable(IPv4(), share="a"), "expected a number for the share of null"),  # type: ignore[arg-type]  # a wrong type is the test
        (lambda: Domain.from_spec({"kind": "nullable"}), "with domain, share, got one with domain missing"),
        (lambda: Domain.from_spec({"kind": "nullable", "domain": 3}), "expected the spec of a domain as a mapping"),
    ],
)
def test_wrong_arguments(build: Any, says: str) -> None:
    with pytest.raises(DomainError, match=says):
        build()


LISTED = [Categories(["a", "b"]), Taxonomy({"x": ["a", "b"]}), Pattern("[ab]")]


@pytest.mark.parametrize("inner", LISTED, ids=repr)
@pytest.mark.parametrize("region", [("a", None), (None, None)], ids=repr)
def test_null_in_a_tuple_is_refused_with_advice(inner: Domain, region: Any) -> None:
    with pytest.raises(DomainError, match="None is null by itself or in a list, of a Nullable column"):
        histogram(Nullable(inner), 1, [3, 1]).mass(region)
    with pytest.raises(DomainError, match="None is null by itself or in a list, of a Nullable column"):
        histogram(inner, 1, [3, 1]).mass(["a", None])


@pytest.mark.parametrize("null", [None, math.nan, np.datetime64("NaT"), pd.NA], ids=repr)
@pytest.mark.parametrize("inner", LISTED, ids=repr)
def test_null_in_a_list_of_values(inner: Domain, null: Any) -> None:
    """The mass of a list is the sum of those of null and of the values; so is its share of a group or a sample."""
    plan = Plan(Nullable(inner), epsilon=1, budgets={1: "1/2", 2: "1/2"}, exact_depth=2, inference="least-squares")
    generator = Generator(Release(plan, {1: np.array([40, 60]), 2: np.array([40, 0, 10, 50])}))
    first = "x/a" if inner.kind == "taxonomy" else "a"
    for region in ([first, null], [null, first, null], {first, null}):
        mass = generator.mass(region)
        assert mass.value == pytest.approx(generator.mass(first).value + generator.mass(None).value)
        assert 0 < mass.stderr < generator.mass(first).stderr + generator.mass(None).stderr
        assert generator.masses([region, null]).value == pytest.approx([mass.value, generator.mass(None).value])
        values = generator.sample(500, where=region, rng=0)
        assert set(values.compressed().tolist()) == {"a"}
        assert values.mask.mean() == pytest.approx(generator.mass(None).value / mass.value, abs=0.01)
    for alone in (null, [null]):
        assert generator.mass(alone).value == generator.mass(None).value


def test_null_in_lists_of_columns() -> None:
    table = Table(kind=Nullable(Categories(["a", "b"])), late=Nullable(Integers(0, 7)))
    records = {"kind": ["a", "b", None, None, "a", "b"], "late": [1, 2, 3, None, None, 6]}
    generator = exact_generator(table, records)
    assert generator.mass({"kind": ["a", pd.NA], "late": [(0, 2), None]}).value == pytest.approx(3 / 6)
    assert generator.mass({"kind": ["a", "b"], "late": (None, None)}).value == pytest.approx(3 / 6)
    late = generator.marginal("late", where={"kind": ["a", None]}, null=False)
    assert late.quantile([0.5, 1]).value.tolist() == [1, 3]
    for region in ([3, 6], {3, 6}, np.array([3, 6])):
        assert generator.mass({"late": region}).value == pytest.approx(2 / 6)
    assert generator.mass({"late": 3}).value == pytest.approx(1 / 6)
    assert generator.mass({"late": [3, 6, None]}).value == pytest.approx(4 / 6)
    with pytest.raises(DomainError, match=r"column 'late': expected a number for a value of the region, got \(0, 2\)"):
        generator.mass({"late": [(0, 2), (4, 5), None]})
    assert generator.mass(read_condition("kind in [a, null]", table)).value == pytest.approx(4 / 6)
    assert generator.mass(read_condition("kind in [NA]", table)).value == pytest.approx(2 / 6)
    assert generator.mass(read_condition("late in [2, null, 6] and kind != a", table)).value == pytest.approx(2 / 6)
    named = Nullable(Categories(["NA", "b"]))
    assert read_condition("value in [NA, b]", named) == ["NA", "b"]

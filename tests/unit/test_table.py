"""Tables: domains with several columns."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import privhp
import privhp.collect.tally
from example_tables import SMALL, TRIPS
from privhp import (
    Box,
    Categories,
    Domain,
    DomainError,
    Geo,
    Integers,
    Interval,
    IPv6,
    Nullable,
    Table,
    Taxonomy,
    Time,
    check_domain,
)
from privhp.core.allocation import Allocation


def of_all_kinds() -> list[Table]:
    return [
        TRIPS,
        SMALL,
        Table(only=Interval(0, 1)),
        Table(a=Interval(0, 1), b=Interval(-1e6, 3e9), weights={"a": 1e-3}),
        Table(a=Integers(0, 2**40), b=Integers(0, 2**40)),
        Table({("lon", "lat"): Geo(), "day": Time("2020-01-01", "2020-12-31", unit="D")}),
        Table({("x", "y"): Nullable(Box([(0, 1), (0, 2)])), "z": Box([(0, 1)])}),
        Table({f"column {number}": Integers(0, 2) for number in range(40)}),
        Table(
            a=Categories(["x", "y", "z"]),
            b=Nullable(Categories([7, 8, 9], other=0)),
            c=Taxonomy({"fruit": ["apple", "pear"], "nut": {}}),
            d=IPv6("2001:db8::/32"),
        ),
    ]


@pytest.mark.parametrize("table", of_all_kinds(), ids=repr)
def test_laws(table: Table) -> None:
    awkward = [{}, dict.fromkeys(table.names), (None,) * len(table.names), (0,) * len(table.names), [0.5, "x"]]
    check_domain(table, awkward=awkward, cells=30)


# The order of splits


def test_split_columns() -> None:
    assert Table(a=Interval(0, 1), b=Interval(0, 1000)).split_columns[:6] == (0, 1, 0, 1, 0, 1)
    assert Table(a=Interval(0, 1), b=Interval(0, 1000), weights={"b": 4}).split_columns[:7] == (1, 1, 0, 1, 0, 1, 0)
    assert Table(a=Integers(0, 1), b=Integers(0, 7)).split_columns == (0, 1, 1, 1)


def test_split_of_null() -> None:
    assert Table(a=Interval(0, 1), b=Nullable(Interval(0, 1))).split_columns[:5] == (0, 1, 1, 0, 1)


def test_split_columns_of_weighted_table() -> None:
    left = dict.fromkeys(range(len(TRIPS.columns)), 0)
    for split in TRIPS.split_columns:
        widths = {
            index: column.weight * column.domain.diameter(bits) / column.domain.diameter(0)
            for (index, bits), column in zip(left.items(), TRIPS.columns, strict=True)
            if bits < column.domain.depth
        }
        assert widths[split] >= max(widths.values()) * (1 - 1e-8)
        left[split] += 1
    assert len(TRIPS.split_columns) == TRIPS.depth == 63


def test_diameter() -> None:
    table = Table(a=Interval(0, 10), b=Interval(0, 1000), weights={"a": 4})
    assert [table.diameter(level) for level in range(6)] == [4, 2, 1, 1, 0.5, 0.5]


def test_resolution() -> None:
    table = Table({("lon", "lat"): Box([(0, 4), (0, 2)]), "fare": Interval(0, 1000), "zone": Integers(0, 9)})
    assert table.splits_by_column(0) == {"lon, lat": 0, "fare": 0, "zone": 0}
    assert table.resolution(0) == {"lon, lat": 4.0, "fare": 1000.0, "zone": 9.0}
    for level in range(table.depth + 1):
        cuts = table.splits_by_column(level)
        assert sum(cuts.values()) == level
        assert table.resolution(level)["fare"] == 1000 * 2.0 ** -cuts["fare"]


# Shares of cells, against a list of all records


def all_of_small() -> tuple[list[tuple[Any, ...]], np.ndarray]:
    """All records of SMALL with their measure."""
    records = list(itertools.product(range(5), [None, 0, 1, 2], (1, 2)))
    return records, np.array([1 / 5 * (0.25 if b is None else 0.75 / 3) / 2 for _, b, _ in records])


def test_measure() -> None:
    records, shares = all_of_small()
    for level in range(SMALL.depth + 1):
        cells = SMALL.encode(records, level=level).view(np.int64)
        expected = np.bincount(cells, weights=shares, minlength=2**level)
        measured = SMALL.measure(np.arange(2**level, dtype=np.uint64), level=level)
        np.testing.assert_allclose(measured, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("region", "inside"),
    [
        ({}, lambda a, b, c: True),
        ({"a": (1, 3)}, lambda a, b, c: 1 <= a <= 3),
        ({"a": (None, 2), "c": (2, 2)}, lambda a, b, c: a <= 2 and c == 2),
        ({"b": None}, lambda a, b, c: b is None),
        ({"b": (None, None)}, lambda a, b, c: b is not None),
        ({"b": (1, 2), "a": (4, 9)}, lambda a, b, c: b in (1, 2) and a == 4),
    ],
)
def test_overlap(region: Any, inside: Any) -> None:
    records, shares = all_of_small()
    within = shares * [inside(*record) for record in records]
    for level in range(SMALL.depth + 1):
        cells = SMALL.encode(records, level=level).view(np.int64)
        total = np.bincount(cells, weights=shares, minlength=2**level)
        covered = np.bincount(cells, weights=within, minlength=2**level)
        nonempty = np.flatnonzero(total)
        overlap = SMALL.overlap(region, nonempty.astype(np.uint64), level=level)
        np.testing.assert_allclose(overlap, covered[nonempty] / total[nonempty], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("region", "says"),
    [
        ((0, 1), r"expected a region as a mapping from columns to regions, such as \{'a': ...\}"),
        ({"d": (0, 1)}, "expected a region of 'a', 'b', 'c', got one of 'd'"),
        ({"a": 3}, r"column 'a': expected a region as a pair \(low, high\), got 3"),
        ({"a": None}, r"column 'a': expected a region as a pair \(low, high\), got None"),
        ({"b": (2, 1)}, "column 'b': expected a region whose lower end is not above its upper"),
    ],
)
def test_wrong_region(region: Any, says: str) -> None:
    with pytest.raises(DomainError, match=says):
        SMALL.overlap(region, np.zeros(1, dtype=np.uint64), level=0)


# Records out


def test_to_output() -> None:
    records = TRIPS.decode(np.zeros(5, dtype=np.uint64), level=0, rng=np.random.default_rng(0))
    columns = TRIPS.to_output(records)
    assert tuple(columns) == TRIPS.names
    assert {name: str(column.dtype) for name, column in columns.items()} == {
        "trip distance": "float64",
        "lon": "float64",
        "lat": "float64",
        "pickup": "datetime64[s]",
        "tip": "float64",
        "zone": "int64",
        "delay": "int64",
        "source": "uint32",
    }
    masked = {name for name, column in columns.items() if isinstance(column, np.ma.MaskedArray)}
    assert masked == {"tip", "delay"}
    assert TRIPS.encode(columns, level=63).tolist() == TRIPS.encode(records, level=63).tolist()


@pytest.mark.parametrize("size", [1, 7, 500])
def test_balanced_sample_of_each_column(size: int) -> None:
    table = Table({"a": Interval(0, 1), ("x", "y"): Box([(0, 1), (0, 1)]), "b": Interval(0, 1)}, c=Integers(0, 1023))
    codes, counts = np.array([2, 3], dtype=np.uint64), np.array([3, size])
    records = table.sample_allocation(
        Allocation(codes, np.full(2, 2), counts), balanced=True, rng=np.random.default_rng(1)
    )
    assert np.array_equal(table.encode(records, level=2), np.repeat(codes, counts))
    columns = table.to_output(records[3:])
    strata = np.arange(size)
    assert np.array_equal(np.sort(np.floor((columns["a"] * 2 % 1) * size)), strata)
    assert np.array_equal(np.sort(np.floor((columns["x"] * 2 % 1) * size)), strata)
    assert np.array_equal(np.sort(np.floor(columns["b"] * size)), strata)
    if size == 7:
        assert len(set((columns["c"] * 8 // 1024).tolist())) >= 6


def test_balanced_sample_of_column_pairs() -> None:
    """The worst error over quarters of the square is below that of nearly all independent samples."""
    table = Table(a=Interval(0, 1), b=Interval(0, 1))
    code, level, count = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([4096])

    def worst_error(balanced: bool, seed: int) -> float:
        rng = np.random.default_rng(seed)
        columns = table.to_output(table.sample_allocation(Allocation(code, level, count), balanced=balanced, rng=rng))
        grid = np.histogram2d(columns["a"], columns["b"], bins=8, range=[(0, 1), (0, 1)])[0]
        return float(np.abs(grid - 64).max())

    assert max(worst_error(True, seed) for seed in range(5)) < min(worst_error(False, seed) for seed in range(5))


# Specs


@pytest.mark.parametrize("table", of_all_kinds(), ids=repr)
def test_spec_and_repr(table: Table) -> None:
    assert Domain.from_spec(table.spec()) == table
    assert eval(repr(table), vars(privhp)) == table


def test_order_of_columns_in_spec() -> None:
    one, other = Table(b=Interval(0, 1), a=Interval(0, 1)), Table(a=Interval(0, 1), b=Interval(0, 1))
    assert one != other
    assert Domain.from_spec(one.spec()).names == ("b", "a")


BAD_TABLES: list[tuple[Any, str]] = [
    (Table, "expected a table of 1 to 63 columns, got 0"),
    (lambda: Table({str(index): Integers(0, 1) for index in range(64)}), "1 to 63 columns, got 64"),
    (lambda: Table([("a", Interval(0, 1))]), "expected columns as a mapping from names to domains"),  # type: ignore[arg-type]  # a wrong type is the test
    (lambda: Table({"": Interval(0, 1)}), "expected the name of a column as a non-empty text"),
    (lambda: Table({3: Interval(0, 1)}), "expected the name of a column as a non-empty text"),  # type: ignore[dict-item]  # a wrong type is the test
    (lambda: Table({(): Interval(0, 1)}), "expected the name of a column as a non-empty text"),
    (lambda: Table({"a": Interval(0, 1)}, a=Interval(0, 1)), "the column 'a' is declared twice"),
    (lambda: Table({("a", "b"): Geo(), "b": Interval(0, 1)}), "the column 'b' is declared twice"),
    (lambda: Table({("a", "b"): Geo(), "a, b": Interval(0, 1)}), "the column 'a, b' is declared twice"),
    (lambda: Table(a=(0, 1)), r"column 'a': expected the domain of one column, such as Interval\(0, 1000\), got"),  # type: ignore[arg-type]  # a wrong type is the test
    (lambda: Table(a=Interval), "column 'a': expected the domain of one column"),  # type: ignore[arg-type]  # a wrong type is the test
    (lambda: Table(a=SMALL), "column 'a': expected the domain of one column"),
    (lambda: Table(a=Geo()), "column 'a': expected a name for each of the 2 coordinates of Geo"),
    (lambda: Table({("a", "b"): Interval(0, 1)}), "column 'a, b': expected a name for each of the 1 coordinates"),
    (lambda: Table(a=Interval(0, 1), weights={"b": 1}), "expected weights of 'a', got one of 'b'"),
    (lambda: Table(a=Interval(0, 1), weights={"a": 0}), "column 'a': expected a weight above 0, got 0.0"),
    (lambda: Table(a=Interval(0, 1), weights={"a": "2"}), "column 'a': expected a number for the weight, got '2'"),  # type: ignore[dict-item]  # a wrong type is the test
    (lambda: Table(a=Interval(0, 1), weights={"a": math.nan}), "column 'a': expected a finite number for the weight"),
    (lambda: Table(a=Interval(0, 1), weights=[1]), "expected weights as a mapping"),  # type: ignore[arg-type]  # a wrong type is the test
    (lambda: Table(weights=Interval(0, 1)), r'a column of this name is Table\(\{"weights": \.\.\.\}\)$'),  # type: ignore[arg-type]  # a wrong type is the test
]


@pytest.mark.parametrize(("build", "says"), BAD_TABLES)
def test_wrong_table(build: Any, says: str) -> None:
    with pytest.raises(DomainError, match=says) as caught:
        build()
    assert "\n" not in str(caught.value)

"""Categories: lookup of records in a declared list."""

import itertools
import json
import math
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privhp import Categories, Domain, DomainError, Plan, RecordsError, Summary, check_domain
from privhp.answers.generator import Generator
from privhp.core.cells import OUTSIDE
from privhp.release import Release
from silent import assert_silent

HUGE = 2**200
DOMAINS = [
    Categories(["a", "b"]),
    Categories(["", "a", "aa", "ab"], other="b"),
    Categories(["red", "green", "blue"], other="green"),
    Categories(["ä", "日本", "\ud800", "a b", '"', "\n"]),
    Categories([0, 1]),
    Categories([3, -7, 10**15, 0, 2**63 - 1, -(2**63)]),
    Categories([HUGE, -HUGE, 5], other=6),
    Categories(range(1000)),
    Categories([str(number) for number in range(1000)]),
]
AWKWARD: list[Any] = [
    "a",
    b"a",
    b"\xff",
    "",
    "red",
    "1",
    "1.0",
    "1_0",
    1,
    1.0,
    1.5,
    True,
    HUGE,
    math.nan,
    None,
    pd.NA,
    pd.NaT,
]
AWKWARD += [
    np.str_("red"),
    np.int8(5),
    np.float32(5),
    np.uint64(2**64 - 1),
    np.ma.masked,
    ["red"],
    ["red", "red"],
    [[]],
]


def values_of(domain: Categories, records: Any) -> list[Any]:
    """Declared value of each record."""
    codes = domain.encode(records, level=domain.depth)
    inside = codes != OUTSIDE
    found = domain.decode(np.where(inside, codes, 0), level=domain.depth, rng=np.random.default_rng(0)).tolist()
    return [value if known else None for value, known in zip(found, inside, strict=True)]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:40])
def test_laws(domain: Categories) -> None:
    check_domain(domain, awkward=AWKWARD)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:40])
def test_repr(domain: Categories) -> None:
    assert eval(repr(domain), {"Categories": Categories}) == domain


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:40])
def test_round_trip_of_values(domain: Categories) -> None:
    assert values_of(domain, list(domain.values)) == list(domain.values)
    assert values_of(domain, np.array(domain.values, dtype=object)) == list(domain.values)


def test_type_of_samples() -> None:
    rng, root = np.random.default_rng(0), np.zeros(3, dtype=np.uint64)
    assert Categories(["a", "bb"]).decode(root, level=0, rng=rng).dtype == np.dtype("U2")
    assert Categories([1, 2]).decode(root, level=0, rng=rng).dtype == np.int64
    assert {type(value) for value in Categories([1, HUGE]).decode(root, level=0, rng=rng)} == {int}


@pytest.mark.parametrize("size", range(2, 40))
def test_balanced_splits(size: int) -> None:
    domain = Categories(range(size))
    assert domain.depth == math.ceil(math.log2(size))
    for level in range(domain.depth + 1):
        cells = domain.encode(range(size), level=level)
        assert (np.diff(cells.astype(np.int64)) >= 0).all()
        counts = np.bincount(cells.astype(np.int64), minlength=2**level)
        assert counts.max() - counts.min() <= 1
        measure = domain.measure(np.arange(2**level, dtype=np.uint64), level=level)
        assert measure.tolist() == (counts / size).tolist()
        assert domain.diameter(level) == float(counts.max() > 1)


# Reading


@pytest.mark.parametrize(
    "column",
    [
        ["b", None, "x", "a"],
        np.array(["b", None, "x", "a"], dtype=object),
        np.ma.MaskedArray(np.array(["b", "a", "x", "a"]), mask=[False, True, False, False]),
        [b"b", None, b"x", b"a"],
        pd.Series(["b", None, "x", "a"]),
        pd.Series(["b", None, "x", "a"], dtype=object),
        pd.Series(["b", None, "x", "a"], dtype="category"),
        pd.Categorical(["b", None, "x", "a"]),
        pd.CategoricalIndex(["b", None, "x", "a"]),
        pa.array(["b", None, "x", "a"]),
        pa.array(["b", None, "x", "a"]).dictionary_encode(),
        pa.chunked_array([["b", None], ["x", "a"]]),
        pa.chunked_array([["b", None], ["x", "a"]]).dictionary_encode(),
        pl.Series(["b", None, "x", "a"]),
        pl.Series(["b", None, "x", "a"], dtype=pl.Categorical),
        pl.Series(["b", None, "x", "a"], dtype=pl.Enum(["x", "a", "b"])),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}"[:60],
)
def test_columns_of_text(column: Any) -> None:
    assert values_of(Categories(["a", "b"]), column) == ["b", None, None, "a"]
    assert values_of(Categories(["a", "b"], other="c"), column) == ["b", None, "c", "a"]


@pytest.mark.parametrize(
    "column",
    [
        [3, None, 4, 2**60 + 1],
        np.array([3, None, 4, 2**60 + 1], dtype=object),
        np.ma.MaskedArray([3, 3, 4, 2**60 + 1], mask=[False, True, False, False]),
        ["3", None, "4", str(2**60 + 1)],
        pd.Series([3, None, 4, 2**60 + 1], dtype="Int64"),
        pd.Series([3, None, 4, 2**60 + 1], dtype="category"),
        pa.array([3, None, 4, 2**60 + 1]),
        pa.array([3, None, 4, 2**60 + 1]).dictionary_encode(),
        pa.chunked_array([[3, None], [4, 2**60 + 1]]).dictionary_encode(),
        pl.Series([3, None, 4, 2**60 + 1]),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}"[:60],
)
def test_columns_of_integers(column: Any) -> None:
    if isinstance(column, pd.Series) and str(column.dtype) == "category":
        column = pd.Series(pd.Categorical.from_codes([1, -1, 2, 0], categories=[2**60 + 1, 3, 4]))
    assert values_of(Categories([3, 2**60 + 1]), column) == [3, None, None, 2**60 + 1]
    assert values_of(Categories([3, 2**60 + 1], other=9), column) == [3, None, 9, 2**60 + 1]


NUMBERS = [0, 1, -1, 5, 255, 2**31, -(2**40), 2**62 + 1]


@pytest.mark.parametrize(
    "declared", [[0, 5, 255], [0, -(2**40), 2**62 + 1], [5, HUGE], [2**63 - 1, 5, -(2**63)]], ids=str
)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64, np.float32, np.uint8, np.bool_, np.int16])
def test_array_of_numbers(declared: list[int], dtype: Any) -> None:
    with np.errstate(all="ignore"):
        array = np.array(NUMBERS).astype(dtype)
    array = np.append(array, np.array([np.nan, 0.5, np.inf, 1e30], dtype=dtype)) if array.dtype.kind == "f" else array
    array = np.append(array, np.array([2**63 - 1, 2**64 - 1], dtype=dtype)) if dtype is np.uint64 else array
    for domain in (Categories(declared), Categories(declared, other=1)):
        assert values_of(domain, array) == values_of(domain, list(array))
        assert values_of(domain, array[:, None]) == values_of(domain, array[::-1])[::-1]


@pytest.mark.parametrize("size", [2, 10, 300, 5000])
def test_array_of_text(size: int) -> None:
    rng = np.random.default_rng(size)
    words = [
        "",
        "a",
        "aa",
        *{"".join(rng.choice(list("abcé日")) for _ in range(rng.integers(1, 12))) for _ in range(size)},
    ]
    words = list(dict.fromkeys(words))
    declared, unknown = words[: len(words) // 2 + 1], words[len(words) // 2 + 1 :]
    for domain in (Categories(declared), Categories(declared, other="other")):
        for batch in (
            np.array(words),
            np.array(words)[::-1][::2],
            np.array(words).astype("U40"),
            np.array(declared[:2]),
        ):
            assert values_of(domain, batch) == values_of(domain, batch.tolist())
            assert values_of(domain, batch.astype(batch.dtype.newbyteorder())) == values_of(domain, batch)
            assert values_of(domain, batch.astype(np.dtypes.StringDType())) == values_of(domain, batch)
    assert set(values_of(Categories(declared), np.array(unknown))) <= {None}


def test_unknown_and_missing_values() -> None:
    records = ["a", "x", "", 3, 1.5, None, math.nan, pd.NA, object(), [], {}, b"\xff", "A", " a"]
    assert values_of(Categories(["a", "b"]), records) == ["a", *[None] * 13]
    other = ["a", *["c"] * 4, *[None] * 7, "c", "c"]
    assert values_of(Categories(["a", "b"], other="c"), records) == other
    numbers = [1, 7, "x", "", 1.5, math.inf, HUGE, None, math.nan, object(), "1"]
    assert values_of(Categories([1, 2], other=2), numbers) == [1, *[2] * 6, None, None, None, 1]


@pytest.mark.parametrize("array", [np.zeros(4321, complex), np.zeros(4321, "M8[s]"), np.zeros((4321, 2)), 4321, "4321"])
def test_batch_of_wrong_type(array: Any) -> None:
    with pytest.raises(RecordsError, match="expected") as refusal:
        Categories(["a", "b"]).encode(array, level=1)
    assert "4321" not in str(refusal.value)


# Specs and regions


BAD_SPECS: list[tuple[dict[str, Any], str]] = [
    ({}, "values missing"),
    ({"values": []}, "a list of 2 or more values, got []"),
    ({"values": ["a"]}, "a list of 2 or more values, got ['a']"),
    ({"values": ["a"], "other": "a"}, "a list of 2 or more values, got ['a']"),
    ({"values": "ab"}, "a list of 2 or more values, got 'ab'"),
    ({"values": {"a": 1, "b": 2}}, "a list of 2 or more values"),
    ({"values": 3}, "a list of 2 or more values, got 3"),
    ({"values": ["a", "b", "a"]}, "the value 'a' is declared twice"),
    ({"values": ["a", 1]}, "values of one type (texts, integers or booleans), got several types"),
    ({"values": ["a", "b"], "other": 1}, "values of one type (texts, integers or booleans), got several types"),
    ({"values": [False, True], "other": 2}, "values of one type (texts, integers or booleans), got several types"),
    ({"values": ["a", None]}, "text that does not end in a zero byte, an integer or a boolean, got None"),
    ({"values": [1, 1.5]}, "an integer or a boolean, got 1.5"),
    ({"values": ["a", "b\0"]}, r"text that does not end in a zero byte, an integer or a boolean, got 'b\x00'"),
    ({"values": [1, 2], "other": [3]}, "the other value as a text"),
    ({"values": [1, 2], "others": 3}, "'others' unknown"),
]


@pytest.mark.parametrize(("spec", "hint"), BAD_SPECS, ids=[hint for _, hint in BAD_SPECS])
def test_wrong_spec(spec: dict[str, Any], hint: str) -> None:
    with pytest.raises(DomainError) as refusal:
        Domain.from_spec({"kind": "categories", **spec})
    assert hint in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: repr(domain)[:40])
def test_json_round_trip(domain: Categories) -> None:
    twin = Domain.from_spec(json.loads(json.dumps(domain.spec())))
    assert twin == domain
    assert twin != Categories(list(domain.values)[::-1])


@pytest.mark.parametrize("size", [2, 3, 5, 8, 11])
def test_overlap(size: int) -> None:
    domain = Categories(range(size))
    regions: list[Any] = [0, size - 1, [], {0, 1}, (size // 2, 0), np.array([1, 0]), list(range(size))]
    for level, region in itertools.product(range(domain.depth + 1), regions):
        cells = domain.encode(range(size), level=level)
        region_values = {region} if isinstance(region, int) else set(region)
        for cell in np.unique(cells):
            run = np.flatnonzero(cells == cell).tolist()
            assert domain.overlap(region, np.array([cell]), level=level) == len(region_values & set(run)) / len(run)


@pytest.mark.parametrize("region", ["x", 3, None, ["a", "x"], [["a"]], {"a": 1}, math.nan])
def test_wrong_region(region: Any) -> None:
    with pytest.raises(DomainError, match="expected declared values, such as 'a', got") as refusal:
        Categories(["a", "b"]).overlap(region, np.zeros(1, dtype=np.uint64), level=0)
    assert len(str(refusal.value).splitlines()) == 1


def test_categories_are_unordered() -> None:
    for question in (Categories(["a", "b"]).cell_cdf, Categories(["a", "b"]).cell_quantile):
        with pytest.raises(DomainError, match="has no order"):
            question(np.array([0.5]), np.zeros(1, dtype=np.uint64), level=0)


def test_generator() -> None:
    domain = Categories(["a", "b", "c"], other="d")
    generator = Generator(Release(Plan(domain, epsilon=1, budgets={2: 1}, exact_depth=2), {2: np.array([1, 2, 1, 4])}))
    assert generator.mass("b").value == 0.25
    assert generator.mass(["a", "d"]).value == 0.625
    sample = generator.sample(8, rng=1)
    assert sample.dtype == np.dtype("U1")
    assert sorted(sample) == ["a", "b", "b", "c", "d", "d", "d", "d"]


def test_mass_of_empty_cells() -> None:
    domain = Categories(list("abcde"))
    noise = np.full(8, 1000, dtype=np.int64)
    generator = Generator(Release(Plan(domain, epsilon=1, budgets={3: 1}, exact_depth=3), {3: noise}))
    assert generator.mass(list("abcde")).value == pytest.approx(1)
    assert [generator.mass(value).value for value in "abcde"] == pytest.approx([0.2] * 5)
    assert set(generator.sample(1000, rng=0)) == set("abcde")


@pytest.mark.parametrize("index", [2, 127, -1, -2, -3, -128])
def test_dictionary_index_out_of_range(index: int) -> None:
    indices = pa.array([1, index, 0], pa.int8())
    damaged = pa.DictionaryArray.from_arrays(indices, pa.array(["b", "a"]), safe=False)
    with assert_silent():
        codes = Categories(["a", "b"], other="b").encode(damaged, level=1)
    assert codes.tolist() == [0, OUTSIDE, 1]


def test_forms_of_records() -> None:
    summary = Summary(Plan.paper(Categories(["a", "b", "c"]), epsilon=1000, expected_records=1000, hot_cells=2))
    with assert_silent():
        summary.update(np.array(["a"] * 500), threads=2)
        summary.update(["b"] * 300 + AWKWARD)
        summary.update(pd.Series(["c"] * 200, dtype="category"))
    assert summary.release().mass("a").value == pytest.approx(0.5, abs=0.02)


def test_uuids_stand_for_their_texts() -> None:
    ids = [UUID(int=number) for number in range(3)]
    domain = Categories([str(own) for own in ids])
    expected = domain.encode([str(own) for own in ids], level=domain.depth).tolist()
    for records in (ids, np.array(ids), pd.Series(ids)):
        assert domain.encode(records, level=domain.depth).tolist() == expected

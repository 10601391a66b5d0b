"""Numbers declared as categories of text are named by a warning, by their type; whole decimals are integers."""

import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import privhp as hp
from privhp.core.cells import OUTSIDE
from privhp.io.sources import open_source
from silent import assert_silent

CODES = [200, 404] * 4
COLUMNS: dict[str, tuple[Callable[[], Any], str]] = {
    "int64": (lambda: np.array(CODES), "int64"),
    "float64": (lambda: np.array(CODES, dtype=float), "float64"),
    "pandas": (lambda: pd.Series(CODES), "int64"),
    "Int64": (lambda: pd.Series([*CODES, None], dtype="Int64"), "Int64"),
    "categorical": (lambda: pd.Series(CODES, dtype="category"), "int64"),
    "polars": (lambda: pl.Series(CODES), "Int64"),
    "polars booleans": (lambda: pl.Series([True, False]), "Boolean"),
    "polars decimals": (lambda: pl.Series([Decimal(200)]), r"Decimal\(.*\)"),
    "Arrow": (lambda: pa.array(CODES), "int64"),
    "Arrow chunks": (lambda: pa.chunked_array([CODES]), "int64"),
    "Arrow reals": (lambda: pa.array([200.0, 404.0]), "double"),
    "Arrow dictionary": (lambda: pa.array(CODES).dictionary_encode(), "int64"),
}
FRAMES: dict[str, tuple[Callable[[], Any], str]] = {
    "dict": (lambda: {"code": np.array(CODES)}, "int64"),
    "pandas frame": (lambda: pd.DataFrame({"code": CODES}), "int64"),
    "polars frame": (lambda: pl.DataFrame({"code": CODES}), "int64"),
    "query": (lambda: pl.LazyFrame({"code": CODES}), "int64"),
    "Arrow table": (lambda: pa.table({"code": CODES}), "int64"),
    "Arrow decimals": (lambda: pa.table({"code": pa.array([Decimal(200)])}), r"decimal128\(3, 0\)"),
    "iterator": (lambda: iter([pl.DataFrame({"code": CODES})]), "int64"),
}
SKIPPED, OTHER = "records with numbers are skipped", "numbers count as the other value"
ADVICE = (
    r"declare numbers, such as Categories\(\[200, \.\.\.\]\) \(values = \[200, \.\.\.\] in a domain file\), or convert"
)
WORDS = hp.Categories(["404", "200"])
WITH_OTHER = hp.Categories(["404", "200"], other="other")


def warning_of(data: Any, domain: hp.Domain) -> str:
    """The only warning of the reading."""
    warned = list[str]()
    list(open_source(data, domain=domain, warn=warned.append).batches())
    (text,) = warned
    return text


@pytest.mark.parametrize(("domain", "effect"), [(WORDS, SKIPPED), (WITH_OTHER, OTHER)])
@pytest.mark.parametrize("kind", [*COLUMNS, *FRAMES])
def test_numbers_warn_by_their_type(kind: str, domain: hp.Domain, effect: str) -> None:
    make, name = (COLUMNS | FRAMES)[kind]
    own = hp.Table(code=domain) if kind in FRAMES else domain
    text = rf"(column 'code'|the data) holds numbers \({name}\) and is declared as categories: its values are declared "
    text += rf"as text, so {effect}; {ADVICE} the column, such as with \.astype\(str\)"
    assert re.fullmatch(text, warning_of(make(), own))


@pytest.mark.parametrize("codes", [WORDS, WITH_OTHER])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_fit_and_learn_warn(codes: hp.Domain, library: Callable[[Any], Any]) -> None:
    data, domain = library({"code": CODES, "size": np.arange(8.0)}), hp.Table(code=codes, size=hp.Interval(0, 999))
    for run in (hp.fit, hp.learn):
        with pytest.warns(hp.PrivhpWarning, match="its values are declared as text"):
            run(data, domain, epsilon=9, expected_records=100_000)


@pytest.mark.parametrize("domain", [hp.Nullable(WORDS), hp.Nullable(WITH_OTHER)])
def test_real_columns_may_hold_nothing_but_null(domain: hp.Domain) -> None:
    """Such a column of pandas has a type of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in (np.full(4, np.nan), pd.DataFrame({"code": [np.nan] * 4})):
            list(open_source(data, domain=domain).batches())


def test_words_and_files(tmp_path: Path) -> None:
    """No number is proposed in place of words; a file of another type is refused before it is read."""
    letters = hp.Table(code=hp.Categories(["a", "b"], other="200"))
    assert "Categories([200, ...])" in warning_of({"code": np.array(CODES)}, letters)
    words = hp.Table(code=hp.Categories(["a", "01"], other="rest"))
    assert "; declare numbers, or convert" in warning_of({"code": np.array(CODES)}, words)
    parquet.write_table(pa.table({"code": CODES}), tmp_path / "a.parquet")
    with pytest.raises(hp.FileError, match=r"got int64; declare numbers, such as Categories\(\[200, \.\.\.\]\) "):
        open_source(tmp_path / "a.parquet", domain=hp.Table(code=WORDS))
    assert OTHER in warning_of(tmp_path / "a.parquet", hp.Table(code=WITH_OTHER))


@pytest.mark.parametrize("library", [pl.DataFrame, pa.table])
def test_other_types_in_memory_are_no_file_errors(library: Callable[[Any], Any]) -> None:
    data = library({"a": np.array(["2020-01-01"], dtype="M8[ms]"), "person": np.array(["2020-01-01"], dtype="M8[ms]")})
    with pytest.raises(hp.RecordsError, match=r"column 'a': expected numbers, decimals or text, .* got timestamp"):
        list(open_source(data, domain=hp.Table(a=hp.Interval(0, 1))).batches())
    data = library({"a": [0.5], "person": np.array(["2020-01-01"], dtype="M8[ms]")})
    with pytest.raises(hp.RecordsError, match="column 'person': expected integers or text as ids of persons"):
        hp.fit(data, hp.Table(a=hp.Interval(0, 1)), epsilon=1, expected_records=10, person="person")


def test_whole_decimals_are_integers(tmp_path: Path) -> None:
    numbers, flags = hp.Categories([1, 2, 404]), hp.Categories([False, True])
    values = [Decimal(1), Decimal("2.00"), Decimal("4.04e2"), Decimal("1.5"), Decimal("1e999999999")]
    strange = [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")]
    with assert_silent():
        assert numbers.encode(values[:3], level=2).tolist() == numbers.encode([1, 2, 404], level=2).tolist()
        assert (numbers.encode([*values[3:], *strange], level=2) == OUTSIDE).all()
        other = hp.Categories([1, 2], other=9)
        expected = other.encode([1, 2, 9, 9, 9, None, None, 9], level=2)
        assert other.encode([*values, *strange], level=2).tolist() == expected.tolist()
        assert flags.encode([Decimal(0), Decimal("1.0")], level=1).tolist() == [0, 1]
    table = pa.table({"code": values[:4]})
    parquet.write_table(table, tmp_path / "a.parquet")
    for data in (table, pl.DataFrame(table), table.to_pandas(), tmp_path / "a.parquet"):
        (batch,) = open_source(data, domain=hp.Table(code=numbers)).batches()
        codes = hp.Table(code=numbers).encode(batch.records, level=2)
        assert codes.tolist() == numbers.encode([1, 2, 404, None], level=2).tolist()

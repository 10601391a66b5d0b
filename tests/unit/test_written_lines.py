"""Rows as lines of text read back the same, whatever is in names and values."""

import csv
import io
import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privhp import Categories, Interval, Nullable
from privhp.sinks.formats import Columns, Csv, Ndjson

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=8)
NAMES = st.lists(TEXTS, min_size=1, max_size=4, unique=True)
VALUES = {
    Interval(0, 1): st.floats(allow_nan=False, allow_infinity=False),
    Categories(["a", "b"]): TEXTS,
    Nullable(Interval(0, 1)): st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    Nullable(Categories(["a", "b"])): st.one_of(st.none(), TEXTS),
}


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[str], Columns, list[tuple[Any, ...]]]:
    names, size = draw(NAMES), draw(st.integers(1, 5))
    columns, lists = [], []
    for _ in names:
        domain = draw(st.sampled_from(list(VALUES)))
        values = draw(st.lists(VALUES[domain], min_size=size, max_size=size))
        null = [value is None for value in values]
        filled: Any = [("" if "Categories" in repr(domain) else 0.0) if value is None else value for value in values]
        columns.append((domain, np.ma.MaskedArray(np.array(filled, dtype=object), mask=null)))
        lists.append(values)
    return names, columns, list(zip(*lists, strict=True))


@given(given_rows=rows())
def test_lines_of_json_read_back_the_same(given_rows: tuple[list[str], Columns, list[tuple[Any, ...]]]) -> None:
    names, columns, expected = given_rows
    file = io.BytesIO()
    Ndjson(file, names).write(columns)
    found = [json.loads(line) for line in file.getvalue().split(b"\n")[:-1]]
    assert found == [dict(zip(names, row, strict=True)) for row in expected]


@given(given_rows=rows())
def test_lines_of_csv_read_back_the_same(given_rows: tuple[list[str], Columns, list[tuple[Any, ...]]]) -> None:
    names, columns, expected = given_rows
    file = io.BytesIO()
    Csv(file, names).write(columns)
    header, *found = csv.reader(io.StringIO(file.getvalue().decode(), newline=""))
    assert header == names
    assert found == [["" if value is None else str(value) for value in row] for row in expected]

"""Rows as lines of JSON and CSV: round trips of arbitrary names and values."""

import contextlib
import csv
import io
import json
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from privhp import Categories, Interval, Nullable
from privhp.domains.fields import OutputForm
from privhp.io.sample_chunks import Columns
from privhp.io.sinks.text_values import format_column, to_list
from privhp.io.sinks.text_writer import Csv, Ndjson

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
        columns.append((domain.output_forms()[0], np.ma.MaskedArray(np.array(filled, dtype=object), mask=null)))
        lists.append(values)
    return names, columns, list(zip(*lists, strict=True))


@given(given_rows=rows())
def test_json_round_trip(given_rows: tuple[list[str], Columns, list[tuple[Any, ...]]]) -> None:
    names, columns, expected = given_rows
    file = io.BytesIO()
    Ndjson(file, names).write(columns)
    found = [json.loads(line) for line in file.getvalue().split(b"\n")[:-1]]
    assert found == [dict(zip(names, row, strict=True)) for row in expected]


@given(given_rows=rows())
def test_csv_round_trip(given_rows: tuple[list[str], Columns, list[tuple[Any, ...]]]) -> None:
    names, columns, expected = given_rows
    file = io.BytesIO()
    Csv(file, names).write(columns)
    header, *found = csv.reader(io.StringIO(file.getvalue().decode(), newline=""))
    assert header == names
    assert found == [["" if value is None else str(value) for value in row] for row in expected]


FORMS: dict[str, st.SearchStrategy[Any]] = {
    "f8": st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**6), 10**6)),
    "f4": st.floats(width=32, allow_nan=False, allow_infinity=False),
    "i8": st.integers(-(2**63), 2**63 - 1),
    "u1": st.integers(0, 255),
    "?": st.booleans(),
    "U4": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4),
    "O": st.integers(2**70, 2**71),
}


@st.composite
def arrays(draw: st.DrawFn) -> Columns:
    size = draw(st.integers(1, 6))
    columns = []
    for form in draw(st.lists(st.sampled_from(list(FORMS)), min_size=1, max_size=3)):
        values = np.array(draw(st.lists(FORMS[form], min_size=size, max_size=size)), dtype=form)
        null = draw(st.none() | st.lists(st.booleans(), min_size=size, max_size=size))
        columns.append((OutputForm(), values if null is None else np.ma.MaskedArray(values, mask=null)))
    return columns


@given(columns=arrays())
@example(columns=[(OutputForm(), np.array([0.0, -0.0, 5.0, 1e-5, 9.9e-5, 1e-4, 1e15, 1e16, 123.25, 1e22, 5e-324]))])
@example(columns=[(OutputForm(), np.array([0.1, 1e-4, 9.99e-5, 16777216.0, 3.4e38], dtype=np.float32))])
def test_vectorised_lines_match_single_lines(columns: Columns) -> None:
    """Both as the standard library writes them."""
    names = [f"{place}%" for place in range(len(columns))]
    rows = list(zip(*(to_list(format_column(form, values)) for form, values in columns), strict=True))
    truth = {False: "false", True: "true"}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([truth[value] if isinstance(value, bool) else value for value in row] for row in rows)
    objects = [
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, separators=(",", ":")) for row in rows
    ]
    expected = {Csv: text.getvalue(), Ndjson: "".join(f"{line}\n" for line in objects)}
    for kind, lines in expected.items():
        for installed in (True, False):
            file = io.BytesIO()
            with contextlib.nullcontext() if installed else mock.patch.dict("sys.modules", pyarrow=None):
                kind(file, names).write(columns)
            assert file.getvalue().decode() == lines

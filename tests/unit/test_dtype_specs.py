"""Declared types in specs: what they write and what they refuse."""

import datetime as dt
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privhp import (
    Categories,
    Domain,
    DomainError,
    Integers,
    Interval,
    IPv4,
    Nullable,
    Table,
    Time,
    check_domain,
)
from privhp.domains.short_forms import parse_columns
from privhp.domains.specs import read_domain

SPECS: list[tuple[Domain, dict[str, Any]]] = [
    (Integers(0, 9), {}),
    (Integers(0, 9, dtype="int64"), {}),
    (Integers(0, 9, dtype="int16"), {"dtype": "int16"}),
    (Interval(0, 9, dtype=float), {}),
    (Interval(0, 9, dtype=np.float32), {"dtype": "float32"}),
    (Time("2020-01-01", "2021-01-01", dtype="datetime64[s]"), {}),
    (Time("2020-01-01", "2021-01-01", unit="D", dtype="M8[ns]"), {"dtype": "datetime64[ns]"}),
    (IPv4(), {}),
    (IPv4(dtype="uint32"), {"dtype": "uint32"}),
    (IPv4("10.0.0.0/8", dtype=str), {"dtype": "str"}),
    (Categories([1, 2]), {}),
    (Categories([1, 2], dtype="uint16"), {"dtype": "uint16"}),
    (Categories(["b", "a"], other="c", dtype="category"), {"dtype": "category"}),
    (Categories(["b", "a"], dtype="category[int32]"), {"dtype": "category"}),
    (Categories(["b", "a"], dtype="category[uint16]"), {"dtype": "category[uint16]"}),
    (Categories(["b", "a"], dtype="ordered category"), {"dtype": "ordered category"}),
    (Categories(["b", "a"], dtype="large_string"), {"dtype": "large_string"}),
    (Categories([False, True]), {}),
    (Time("2020-01-01", "2021-01-01", zone="+02:00"), {}),
]


@pytest.mark.parametrize(("domain", "kept"), SPECS, ids=[repr(domain) for domain, _ in SPECS])
def test_dtype_in_spec(domain, kept):
    assert {key: value for key, value in domain.spec().items() if key == "dtype"} == kept
    assert Domain.from_spec(json.loads(json.dumps(domain.spec()))) == domain
    assert eval(repr(domain)) == domain
    check_domain(domain)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: Integers(0, 300, dtype="uint8"), "expected a dtype that holds 0 and 300, got uint8"),
        (lambda: Integers(-1, 3, dtype="uint64"), "expected a dtype that holds -1 and 3, got uint64"),
        (lambda: Integers(0, 3, dtype="float32"), "expected dtype as one of int64, int32"),
        (lambda: Integers(0, 3, dtype=None), "expected dtype as one of int64, int32"),
        (lambda: Interval(0, 3, dtype="float16"), "expected dtype as one of float64, float32, got 'float16'"),
        (lambda: Interval(0, 1e39, dtype="float32"), "do not fit into float32"),
        (lambda: Interval(1e-40, 1, scale="log", dtype="float32"), "expected a lower bound of at least 1.17"),
        (lambda: Interval(1, 1 + 1e-6, dtype="float32"), "too close"),
        (lambda: Time("2020-01-01", "2021-01-01", dtype="datetime64[D]"), "expected dtype as one of datetime64.s."),
        (lambda: Time("1000-01-01", "2021-01-01", dtype="datetime64[ns]"), "expected a dtype that holds '1000-01-01'"),
        (lambda: Categories(["a", "b"], dtype="int8"), 'expected for texts dtype="category", "ordered category", .*'),
        (lambda: Categories([1, 2], dtype="category"), "expected dtype as one of int64, int32"),
        (
            lambda: Categories(["a", "b"], dtype="category[float64]"),
            'expected for texts dtype="category", "ordered category"',
        ),
        (lambda: Categories(map(str, range(129)), dtype="category[int8]"), "is too small for 129 values"),
        (lambda: Categories([False, True], dtype="int8"), "expected no dtype for booleans"),
        (lambda: Categories([False, 2]), "expected values of one type"),
        (lambda: Categories([1, 200], dtype="int8"), "expected a dtype that holds 1 and 200, got int8"),
        (lambda: IPv4(dtype="int64"), "expected dtype as one of uint32, str, got 'int64'"),
    ],
)
def test_wrong_dtype(build, expected):
    with pytest.raises(DomainError, match=expected):
        build()


def test_booleans_and_offsets_in_file_and_short_form(tmp_path):
    (tmp_path / "a.toml").write_text(
        '[columns.paid]\nkind = "categories"\nvalues = [false, true]\nnullable = true\n'
        '[columns.sent]\nkind = "time"\nlow = "2020-01-01T12:30"\nhigh = "2020-12-31T12:30"\nzone = "-05:30"\n'
    )
    expected = Table(
        paid=Nullable(Categories([False, True])),
        sent=Time("2020-01-01T12:30-05:30", "2020-12-31T18:00Z", zone="-05:30"),
    )
    short = [
        "paid=categories:false,true:nullable",
        "sent=time:2020-01-01T12:30:2020-12-31T12:30:zone=-05:30:clamp",
    ]
    assert read_domain(tmp_path / "a.toml") == expected
    assert parse_columns(short[:1]).columns[0].domain == expected.columns[0].domain
    assert parse_columns(short[1:]).columns[0].domain == Time(
        "2020-01-01T12:30", "2020-12-31T12:30", zone="-05:30", outside="clamp"
    )


@pytest.mark.parametrize("zone", ["+25:00", "02:00", "+2:00", "+0200", "+02:60", "Mars/Olympus", 2])
def test_wrong_zone(zone):
    with pytest.raises(DomainError, match=r'such as "Europe/Berlin" or an offset such as "\+02:00", got'):
        Time("2020-01-01", "2021-01-01", zone=zone)


def test_declared_offset():
    domain = Time("2020-01-01", "2020-12-31", zone="+02:00")
    column = pd.Series(pd.DatetimeIndex(["2020-07-01 12:00"], tz="+02:00"))
    times: list[Any] = ["2020-07-01T12:00", dt.datetime(2020, 7, 1, 12), "2020-07-01T10:00Z", "2020-07-01T06:00-04:00"]
    codes = domain.encode(times, level=domain.depth)
    assert set(codes.tolist()) == set(domain.encode(column, level=domain.depth).tolist())
    assert repr(domain) == 'Time("2020-01-01T00:00:00+02:00", "2020-12-31T23:59:59+02:00", unit="s", zone=\'+02:00\')'

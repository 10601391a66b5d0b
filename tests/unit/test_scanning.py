"""The compiled scanner agrees with the plain reader, and leaves it the unusual lines."""

import dataclasses
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import case_count
from privhp import Box, Categories, CsvDialect, Domain, Integers, Interval, IPv4, Nullable, Table, Time
from privhp.io.sources import csv_scanner
from texts import LINES, text_batches

PROMISED = case_count(500)

numbers = st.one_of(
    st.floats().map(repr),
    st.floats(0, 100).map(lambda value: f"{value:.3f}"),
    st.integers(-(2**65), 2**65).map(str),
    st.integers(-9, 99).map(lambda value: f"{value}.0"),
    st.sampled_from(["1e5", "+3", ".5", "5.", "-.5", ".", "-", "1e", "1e999", "1e-999", "0x1", "1_0", "nan(1)", "007"]),
    st.sampled_from(["inf", "nan", "-nan", "Infinity", "", " ", "NA", "9" * 18, "9" * 19, "9007199254740993.0", "1d5"]),
)
OFFSETS = [
    "Z",
    "+02",
    "-0130",
    "+02:00",
    "-23:59",
    "+00:00",
    "-00",
    "z",
    "+24:00",
    "+02:60",
    "+2:00",
    "+02:0",
    "--2:00",
]
OFFSETS += [
    "+02 00",
    "+02:00Z",
    "ZZ",
    "+02:00:30",
    "+02:00:00.5",
    " +02:00",
    "+-2:00",
    "+0:200",
    "+",
    "Z+02",
    "-02:00:",
]
times = st.one_of(
    st.datetimes().map(lambda time: time.isoformat(sep=" ")),
    st.datetimes().map(lambda time: time.isoformat()),
    st.dates().map(str),
    st.sampled_from(["2020-02-30", "2020-02-29", "1900-02-29", "2020-01-01T24:00", "2020-01-01T12", "2020-01-01Z"]),
    st.tuples(st.datetimes().map(lambda time: time.isoformat()), st.sampled_from(OFFSETS)).map("".join),
    st.sampled_from(["2020-01-01T00:00:60", "2020-01-01 12:30:00.1234567", "2020-01-01T00:00+02:00", "0000-01-01"]),
)
addresses = st.one_of(
    st.ip_addresses(v=4).map(str),
    st.sampled_from(["1.2.3", "01.2.3.4", "1.2.3.256", "1.2.3.4.5", "1..2.3", "16909060"]),
)
words = st.sampled_from(["a", "b", "c", "A", "à", "", "a b", "\x85a", "a\x1f"]) | st.text(max_size=3)
field = st.one_of(numbers, times, addresses, words).map(lambda text: text.encode("utf-8", "surrogatepass"))
dressed = st.tuples(
    st.sampled_from([b"", b" ", b"\t", b'"', b'" ', b'""', b"\x00"]),
    field,
    st.sampled_from([b"", b" ", b"\r", b'"', b'"""']),
).map(b"".join)
line = st.lists(field | dressed | st.binary(max_size=4), max_size=7).map(
    lambda parts: b",".join(parts).replace(b"\n", b"")
)

DOMAINS: list[Domain] = [
    Interval(-5, 100),
    Integers(-5, 100, outside="clamp"),
    Categories([1, 2, 5, 7], other=9),
    IPv4(),
    Time("1990-01-01", "2030-01-01"),
    Time("1990-01-01", "2030-01-01", unit="D", outside="clamp"),
    Time("1990-01-01", "2030-01-01", zone="Europe/Berlin"),
    Categories(["a", "b", "à"], other="c"),
    Nullable(Interval(-5, 100)),
    Nullable(Time("1990-01-01", "2030-01-01")),
    Box([(-5, 100), (0, 1e300)]),
    Table(
        {
            "real": Nullable(Interval(-5, 100)),
            "whole": Nullable(Integers(-5, 100)),
            "time": Nullable(Time("1990-01-01", "2030-01-01")),
            "word": Nullable(Categories(["a", "b"], other="c")),
            ("x", "y"): Nullable(Box([(0, 100), (0, 100)])),
        }
    ),
]


plain_dialects = st.builds(
    partial(CsvDialect, records="lines"),
    delimiter=st.sampled_from([None, ";", "\t", "|", " ", "."]),
    nulls=st.sampled_from(
        [["NA", "N/A", "null", "NaN"], [], ["-", "-5", "1e5", "a", "2020-01-01", "é"], ["", "b", "C"]]
    ),
)
comma_dialects = st.builds(partial(dataclasses.replace, decimal=","), plain_dialects)
dialects = st.one_of(
    plain_dialects,
    comma_dialects,
    st.builds(
        dataclasses.replace,
        plain_dialects | comma_dialects,
        thousands=st.sampled_from([None, " ", "'"]),
        currency=st.sampled_from([None, "$", "EUR"]),
    ),
)


def cells(content: bytes, domain: Domain, dialect: CsvDialect = LINES) -> list[int]:
    batches = text_batches(content, domain, csv=dialect)
    return [code for batch in batches for code in domain.encode(batch, level=domain.depth).tolist()]


@pytest.mark.skipif(csv_scanner.native is None, reason="the scanner is not compiled")
@settings(max_examples=PROMISED)
@given(st.lists(line, max_size=8), st.sampled_from(DOMAINS), dialects)
def test_scanner_matches_definition(lines, domain, dialect):
    marks = bytes.maketrans(b",.", dialect.separator + dialect.decimal.encode())
    content = b"".join(text.translate(marks) + b"\n" for text in lines)
    with mock.patch.object(csv_scanner, "native", None):
        defined = cells(content, domain, dialect)
    assert cells(content, domain, dialect) == defined
    assert len(defined) == len(lines)


@pytest.mark.skipif(csv_scanner.native is None, reason="the scanner is not compiled")
@pytest.mark.parametrize("unit", ["D", "s", "us"])
def test_offsets_of_times(unit):
    """Times with an offset are those of the definition; usual ones do not fall back to it."""
    domain = Time("0001-01-01", "9999-12-31", unit=unit, outside="clamp")
    clocks, ends = (
        ["2020-01-01T00:30", "2020-12-31 23:30:05", "2020-02-29T12:00:00.25"],
        ["0001-01-01T00:00", "9999-12-31T23:59"],
    )
    usual = "".join(f"{clock}{offset}\n" for clock in clocks for offset in OFFSETS[:7]).encode()
    unusual = "".join(f"{clock}{offset}\n" for clock in ["2020-01-01", "", *clocks] for offset in OFFSETS[7:]).encode()
    unusual += "".join(f"{clock}{offset}\n" for clock in ends for offset in OFFSETS).encode()
    found = [cells(content, domain) for content in (usual, unusual)]
    with mock.patch.object(csv_scanner.Scanner, "_read", side_effect=AssertionError):
        assert cells(usual, domain) == found[0]
    with mock.patch.object(csv_scanner, "native", None):
        assert [cells(content, domain) for content in (usual, unusual)] == found
    lines = (usual + unusual).splitlines(keepends=True)
    assert [cells(line, domain)[0] for line in lines] == found[0] + found[1]


@pytest.mark.skipif(csv_scanner.native is None, reason="the scanner is not compiled")
@settings(max_examples=PROMISED)
@given(st.lists(numbers, min_size=1, max_size=20))
def test_bits_of_numbers(texts):
    content = "".join(f"{text}\n" for text in texts).encode()
    found = np.concatenate(text_batches(content, Interval(-5, 100)))
    with mock.patch.object(csv_scanner, "native", None):
        defined = np.concatenate(text_batches(content, Interval(-5, 100)))
    assert found.tobytes() == defined.tobytes() or np.array_equal(found, defined, equal_nan=True)


def test_plain_lines_without_fallback():
    """Common lines must not fall back to the plain reader."""
    domain = Table(
        a=Interval(0, 9),
        b=Nullable(Integers(0, 9)),
        c=Time("2000-01-01", "2030-01-01"),
        d=Categories(["x", "y"]),
        e=IPv4(),
    )
    lines = b"1.5,3,2020-01-01 12:30:00,x,10.0.0.1\r\n,,,,\n1,NA,2020-01-01,x,1\n1e3,4.0,2020-01-01T00:00:00.5,x,1\n"
    lines += b'-2,,2020-01-01,"y",167772161\n'
    expected = cells(lines, domain)
    if csv_scanner.native is not None:
        with mock.patch.object(csv_scanner.Scanner, "_read", side_effect=AssertionError):
            assert cells(lines, domain) == expected

"""Fields of CSV records with quotes, and which records need them: also where they are not balanced, as in logs."""

from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cases import case_count
from privhp import Categories, Domain, Integers, IPv4
from privhp.io.sources import CsvDialect, csv_scanner
from privhp.io.sources.csv_fields import split_record
from texts import LINES, text_batches

fragments = st.lists(st.sampled_from([b'"', b'""', b",", b"\\", b"\r", b"\0", b"1", b"a b", b"\xff"]), max_size=20)

LOG = rb"""10.0.0.1 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 12 "-" "Mozilla/5.0"
10.0.0.2 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 34 "-" "say \"hi\" there"
10.0.0.3 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 404 56 "-" "cut
10.0.0.4 - - [10/Oct/2024:13:55:36 +0000] "GET /\"x\" HTTP/1.1" 200 78 "-" "Mozilla/5.0"
10.0.0.5 - - [10/Oct/2024:13:55:36 +0000] "
10.0.0.6 - - [10/Oct/2024:13:55:36 +0000] "GET / HTTP/1.1" 200 90 "-" "Mozilla/5.0"
"""
BY_SPACE = CsvDialect(records="lines", delimiter=" ")


def cells(content: bytes, domain: Domain, **options: Any) -> list[int]:
    """The cell of each record, as the compiled scanner and its definition find it."""
    found = []
    for kernel in (csv_scanner.native, None):
        with mock.patch.object(csv_scanner, "native", kernel):
            batches = text_batches(content, domain, **options)
            found.append([code for batch in batches for code in domain.encode(batch, level=domain.depth).tolist()])
    assert found[0] == found[1]
    return found[0]


def fields_by_bytes(record: bytes) -> list[bytes | None]:
    """Slow reference of the fields of a record, byte by byte; None in place of an invalid one and of those after it."""
    fields: list[bytes | None] = []
    field, place = b"", "start"
    for byte in [record[at : at + 1] for at in range(len(record.removesuffix(b"\r")))] + [b","]:
        if place == "quoted":
            place = "closed" if byte == b'"' else place
            field += byte if byte != b'"' else b""
        elif byte == b",":
            fields.append(field)
            field, place = b"", "start"
        elif place == "start":
            place = "quoted" if byte == b'"' else "unquoted"
            field += byte if byte != b'"' else b""
        elif place == "closed" and byte != b'"':
            return [*fields, None]
        else:
            place = "quoted" if place == "closed" else place
            field += byte
    return [*fields, None] if place == "quoted" else fields


@settings(max_examples=case_count(500))
@given(fragments.map(b"".join))
@example(b'1,"a"b,2')
@example(b'1,"a,2')
def test_fields_match_their_definition(record: bytes) -> None:
    """Fields before an invalid one are read."""
    found: list[bytes | None] = []
    try:
        found.extend(split_record(record))  # keeps what came before the error
    except ValueError:
        found.append(None)
    assert found == fields_by_bytes(record)


@settings(max_examples=case_count(200))
@given(st.lists(fragments.map(b"".join), max_size=5), st.integers(1, 3))
def test_fields_up_to_the_selected_one_are_read(lines: list[bytes], column: int) -> None:
    """Without a header, what is behind them does not matter."""
    whole, read = Integers(0, 1), []
    for line in lines:
        field = dict(enumerate(fields_by_bytes(line))).get(column - 1)
        read += whole.encode([1 if field is not None and field.strip() == b"1" else None], level=1).tolist()
    content = b"".join(line + b"\n" for line in lines)
    assert cells(content, whole, header=False, columns=[str(column)], csv=LINES) == read


@settings(max_examples=case_count(200))
@given(st.lists(fragments.map(b"".join), max_size=5), st.integers(1, 3))
def test_quotes_that_are_characters(lines: list[bytes], column: int) -> None:
    """Unquoted fields end at the next delimiter, whatever is in them."""
    domain, read = Categories(["1", '"1"', '"', '""'], other="rest"), []
    for line in lines:
        field = dict(enumerate(line.split(b","))).get(column - 1)
        text = None if field is None or b"\xff" in field else field.decode().strip()
        read += domain.encode([text], level=domain.depth).tolist()
    content = b"".join(line + b"\n" for line in lines)
    assert cells(content, domain, header=False, columns=[str(column)], csv=CsvDialect(records="unquoted")) == read


def test_tab_separated_values() -> None:
    """A title that begins with a quote neither joins records nor skips its own."""
    content = b'"id"\ttitle\n1\t"Open\n2\t"A" "B"\n3\tx\n4\ty\tz\n'
    options = {"header": True, "columns": ['"id"'], "ending": ".tsv"}
    outside = Integers(0, 7).encode([None], level=3).tolist()
    assert cells(content, Integers(0, 7), csv=CsvDialect(records="unquoted"), **options) == [1, 2, 3, *outside]


@pytest.mark.parametrize(
    ("domain", "column", "expected"),
    [
        (IPv4(), "1", [0x0A000000 + host for host in range(1, 7)]),
        (Integers(100, 599), "7", [200, 200, 404, None, None, 200]),
        (Integers(0, 99), "8", [12, 34, 56, None, None, 90]),
    ],
    ids=["address", "status", "size"],
)
def test_log_of_a_web_server(domain: Domain, column: str, expected: list[int | None]) -> None:
    """Every line counts whose selected field is whole, whatever is behind it."""
    read = [code for value in expected for code in domain.encode([value], level=domain.depth).tolist()]
    assert cells(LOG, domain, header=False, columns=[column], csv=BY_SPACE) == read


def test_quotes_with_a_header() -> None:
    """The number of fields counts, so a record is skipped whose fields are not all known."""
    content = b'a,b\n1,x\n2,"y\n3,"y"z\n4,y"z"\n5,"y""z"\n'
    domain = Integers(0, 7)
    outside = domain.encode([None], level=3).tolist()
    assert cells(content, domain, header=True, columns=["a"]) == [1, *outside, *outside, 4, 5]

"""Dialects of CSV: what is declared is read, and nothing is guessed from a record."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privhp as hp
from privhp import CsvDialect, FileError, RecordsError
from privhp.io.sources import open_source
from texts import text_batches

NUMBER = hp.Interval(-1e6, 1e6)
GERMAN = CsvDialect(delimiter=";", decimal=",", thousands=".")
NAN = float("nan")


def numbers(content: str | bytes, dialect: CsvDialect, *, header: bool = False, ending: str = ".csv") -> list[float]:
    """The first number of each record, NaN if it is skipped."""
    text = content if isinstance(content, bytes) else content.encode()
    columns = ["a"] if header else None
    batches = text_batches(text, NUMBER, header=header, columns=columns, csv=dialect, ending=ending)
    return [value for batch in batches for value in np.asarray(batch, dtype=float).tolist()]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,5", 1.5), ("-1.234,5", -1234.5), ("1.234.567", 1234567), ("234.567", 234567), ("7", 7), (",5", 0.5)]
    + [(invalid, NAN) for invalid in ("1.5", "1,234.5", "12.34", "1.2345", ".", ",", "", "abc", "1,,5", "1_0", "nan")],
)
def test_german_numbers(text: str, value: float) -> None:
    """Groups have three digits, so that a point of another dialect skips its record and is not left out."""
    assert repr(numbers(f"{text};x\n", GERMAN)) == repr([float(value)])


@pytest.mark.parametrize(
    ("text", "value"),
    [("$326.26", 326.26), ('"$1,234.50"', 1234.5), ("-$5", -5), ("$-5", -5), ("5 $", 5), ("$ 5", 5), ("12", 12)]
    + [(invalid, NAN) for invalid in ("-$-5", "€5", "$", "USD 5", '"1,2"', "$1$1")],
)
def test_currency(text: str, value: float) -> None:
    assert repr(numbers(f"{text}\n", CsvDialect(currency="$", thousands=","))) == repr([float(value)])


@pytest.mark.parametrize(
    ("text", "value"),
    [('"($1,234.50)"', -1234.5), ("$(5)", -5), ("( 5 )", -5), ("(5) $", -5), ('"1,234.50-"', -1234.5), ("5- $", -5)]
    + [(invalid, NAN) for invalid in ("(-5)", "-(5)", "(5)-", "-5-", "((5))", "(5", "5)", "()", "($)", "(5)(5)")],
)
def test_negative_amounts_of_accounts(text: str, value: float) -> None:
    for dialect in (CsvDialect(currency="$", thousands=","), CsvDialect(currency="$")):
        expected = NAN if "," in text and dialect.thousands is None else float(value)
        assert repr(numbers(f"{text}\n", dialect)) == repr([expected])
    assert np.isnan(numbers(f"{text}\n", CsvDialect(decimal=",", delimiter=";"))).all(), "amounts are declared"


@pytest.mark.parametrize("field", ["EUR{}x", "-{}x", "EUR{}(x", "1{}x", "1{}-x", "(1){}x", "(1{}x)", "EUR{}EUR{}1"])
def test_long_fields_are_read_in_linear_time(field: str) -> None:
    """One field of spaces took minutes: a record could stop a fit."""
    text = field.format(" " * 100_000, " ")
    assert repr(numbers(f"{text}\n5\n", CsvDialect(currency="EUR", thousands=","))) == repr([NAN, 5.0])


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f"])
def test_spaces_in_numbers(space: str) -> None:
    dialect = CsvDialect(delimiter=";", decimal=",", thousands=" ", currency="€")
    assert numbers(f"12{space}345,5{space}€\n", dialect) == [12345.5]


def test_integers_stay_exact() -> None:
    batches = text_batches(f"{2**60 + 1:,};\n".replace(",", ".").encode(), hp.Integers(0, 2**61 - 1), csv=GERMAN)
    assert [int(value) for batch in batches for value in batch.values] == [2**60 + 1]


@pytest.mark.parametrize("text", ["", "NA", "N/A", "null", "NULL", "NaN", "nan", " na ", '"NA"'])
def test_default_nulls(text: str) -> None:
    domain = hp.Nullable(hp.Integers(0, 9))
    found = [domain.encode(batch, level=1).tolist() for batch in text_batches(f"{text}\n5\n-\n".encode(), domain)]
    null, value, invalid = found[0]
    assert null != value
    assert hp.OUTSIDE not in (null, value)
    assert invalid == hp.OUTSIDE


@pytest.mark.parametrize(
    "domain",
    [
        hp.Nullable(hp.Interval(-10, 10)),
        hp.Nullable(hp.Integers(-10, 10)),
        hp.Nullable(hp.Categories([1, 5])),
        hp.Nullable(hp.Time("1990-01-01", "2030-01-01")),
        hp.Nullable(hp.Categories(["x", "y"], other="z")),
        hp.Nullable(hp.IPv4()),
    ],
    ids=repr,
)
def test_declared_nulls(domain: hp.Domain) -> None:
    """A text of null is null in all kinds of columns, even if it is a value; without it in the dialect it is none."""
    texts = ["-", "-9", "1.2.3.4", "2020-01-01", "q"]
    content = "".join(f"{text}\n" for text in ["", *texts]).encode()
    (declared,) = text_batches(content, domain, csv=CsvDialect(nulls=texts))
    cells = domain.encode(declared, level=1)
    assert (cells == cells[0]).all()
    (others,) = text_batches(content, domain, csv=CsvDialect(nulls=[]))
    assert (domain.encode(others, level=1)[1:] != cells[0]).all()


def test_declared_value_is_never_null() -> None:
    """Namibia is a country."""
    for domain, text in ((hp.Categories(["NA", "DE"]), "NA"), (hp.Categories([-1, 2]), "-1")):
        nullable = hp.Nullable(domain)
        (batch,) = text_batches(f"{text}\n\n".encode(), nullable, csv=CsvDialect(nulls=["NA", "-1"]))
        value, null = nullable.encode(batch, level=1).tolist()
        assert value != null


def test_nulls_of_other_columns_are_values() -> None:
    domain = hp.Categories(["NA", "DE"], other="rest")
    (batch,) = text_batches(b"NA\nnull\n", domain)
    assert hp.OUTSIDE not in domain.encode(batch, level=1)


@pytest.mark.parametrize(("ending", "delimiter"), [(".tsv", None), (".tab", None), (".csv", "\t"), (".tsv.gz", None)])
def test_tabs(ending: str, delimiter: str | None) -> None:
    text = b'a\tb\n1\t"x\ty"\n2\tz\n'
    content = gzip.compress(text) if ending.endswith("gz") else text
    assert numbers(content, CsvDialect(delimiter=delimiter), header=True, ending=ending) == [1, 2]


lines = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=5)


@given(st.lists(lines, min_size=1, max_size=5), st.sampled_from(["utf-16-le", "utf-16-be", "latin-1", "cp1252"]))
def test_encodings(texts: list[str], encoding: str) -> None:
    """A file in another encoding is read as the same text in UTF-8."""
    texts = [text.encode(encoding, "ignore").decode(encoding) for text in texts]
    domain = hp.Categories(sorted({text.strip() for text in texts if text.strip()} | {"a", "b"}), other="other")
    content = "".join(f"{text}\n" for text in texts)
    dialect = CsvDialect(records="lines", encoding=encoding)
    cells = [
        [domain.encode(batch, level=domain.depth).tolist() for batch in text_batches(text, domain, csv=own)]
        for text, own in ((content.encode(), CsvDialect(records="lines")), (content.encode(encoding), dialect))
    ]
    assert cells[0] == cells[1]


units = st.lists(st.integers(0, 0xFFFF).filter(lambda unit: unit not in (0x0A, 0x0A00)), max_size=4)


@given(units, st.integers(0, 3))
def test_invalid_units_skip_their_own_line(line: list[int], place: int) -> None:
    """Also a lone surrogate at the end of a line of UTF-16, or a byte that Windows does not define."""
    texts, orders = ["1", "2", "3"], {"<": "utf-16-le", ">": "utf-16-be"}
    for order, encoding in orders.items():
        rows = [text.encode(encoding) for text in texts]
        rows.insert(place, np.array(line, dtype=f"{order}u2").tobytes())
        content = b"".join(row + "\n".encode(encoding) for row in rows)
        marked = "\ufeffa\n".encode(encoding) + content
        dialect, own = CsvDialect(records="lines", encoding="utf-16"), CsvDialect(records="lines", encoding=encoding)
        for found in (numbers(content, own), numbers(marked, dialect, header=True), numbers(marked, own, header=True)):
            assert len(found) == 4
            assert [*found[:place], *found[place + 1 :]] == [1, 2, 3]
    bytes_of_line = bytes(unit & 0xFF for unit in line).replace(b"\n", b"")
    single = [b"1", b"2", b"3"]
    single.insert(place, bytes_of_line)
    found = numbers(b"".join(row + b"\n" for row in single), CsvDialect(records="lines", encoding="cp1252"))
    assert [*found[:place], *found[place + 1 :]] == [1, 2, 3]


def test_undefined_byte_is_invalid() -> None:
    domain = hp.Categories(["a", "ü"], other="other")
    (batch,) = text_batches(b"a\n\xfc\n\x81\n", domain, csv=CsvDialect(encoding="cp1252"))
    assert (domain.encode(batch, level=1) == hp.OUTSIDE).tolist() == [False, False, True]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_truncated_utf_16(encoding: Any) -> None:
    with pytest.raises(FileError, match="the text ends inside a character"):
        numbers("a\n1\n2\n".encode(encoding)[:-1], CsvDialect(encoding=encoding), header=True)


@pytest.mark.parametrize("content", [b"", b"1", *(mark + b"1\0\n\0" for mark in (b"", b"\xff\xfe", b"\xfe\xff"))])
def test_byte_order_is_no_matter_of_records(content: bytes) -> None:
    """Without a header the first record would decide it."""
    with pytest.raises(RecordsError, match=r"declare .*utf-16-le.* or .*utf-16-be"):
        numbers(content, CsvDialect(encoding="utf-16"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_mark_of_utf_16_is_a_part_of_the_first_record(encoding: Any) -> None:
    content = "\ufeff1\n2\n".encode(encoding)
    assert repr(numbers(content, CsvDialect(encoding=encoding))) == repr([NAN, 2.0])


def test_utf_16_without_a_mark() -> None:
    text = "a\n1\n"
    with pytest.raises(FileError, match=r"order that must be declared; choose .*utf-16-le.* or .*utf-16-be"):
        numbers(text.encode("utf-16-le"), CsvDialect(encoding="utf-16"), header=True)
    for encoding in ("utf-16-le", "utf-16-be"):
        assert numbers(text.encode(encoding), CsvDialect(encoding=encoding), header=True) == [1]  # type: ignore[arg-type]  # a text


def spreadsheet(folder: Path, dialect: dict[str, Any], encoding: str) -> Path:
    """Records as a spreadsheet writes them."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, **dialect)
    writer.writerow(["Ort", "Größe"])
    writer.writerows([["München", "1,5"]] * 50)
    path = folder / "sheet.csv"
    path.write_bytes(file.getvalue().encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_spreadsheets(tmp_path: Path, encoding: Any) -> None:
    path = spreadsheet(tmp_path, {"delimiter": ";"}, encoding)
    table = hp.Table({"Größe": hp.Interval(0, 10), "Ort": hp.Categories(["München", "Köln"])})
    dialect = CsvDialect(delimiter=";", decimal=",", encoding=encoding.removesuffix("-sig"))
    generator = hp.fit(path, table, epsilon=100, expected_records=50, csv=dialect)
    assert generator.total == pytest.approx(50, abs=5)


@pytest.mark.parametrize(
    ("encoding", "delimiter", "dialect", "message"),
    [
        ("utf-8", ";", {}, r"looks separated by semicolons; choose csv=CsvDialect\(delimiter=';'\)"),
        ("utf-8", "\t", {}, r"looks separated by tabs; choose csv=CsvDialect\(delimiter='\\t'\)"),
        ("utf-8", ",", {"delimiter": ";"}, "looks separated by commas"),
        ("utf-16", ";", {}, r'UTF-16 text; choose csv=CsvDialect\(encoding="utf-16"\)'),
        ("utf-16-le", ";", {}, "zero bytes, as UTF-16 text"),
        (
            "utf-8-sig",
            ";",
            {"encoding": "latin-1"},
            r'mark of UTF-8; choose csv=CsvDialect\(encoding="utf-8"\), the default',
        ),
        ("utf-8-sig", ";", {"encoding": "cp1252"}, "mark of UTF-8"),
        ("latin-1", ";", {}, r'not UTF-8; .*encoding="cp1252".*encoding="latin-1"'),
    ],
)
def test_other_dialect_is_named(
    tmp_path: Path, encoding: str, delimiter: str, dialect: dict[str, Any], message: str
) -> None:
    path = spreadsheet(tmp_path, {"delimiter": delimiter}, encoding)
    with pytest.raises(FileError, match=message) as refusal:
        open_source(path, domain=NUMBER, columns=["Größe"], csv=CsvDialect(**dialect))
    assert "Ort" not in str(refusal.value)


def test_encoding_of_a_header_with_the_columns(tmp_path: Path) -> None:
    """A header in another encoding is refused although the columns are found in it: values may have accents, too."""
    path = tmp_path / "a.csv"
    path.write_text("fare,größe\n1,2\n", encoding="latin-1")
    with pytest.raises(FileError, match="the first line is not UTF-8"):
        open_source(path, domain=NUMBER, columns=["fare"])
    open_source(path, domain=NUMBER, columns=["fare"], csv=CsvDialect(encoding="latin-1"))


@pytest.mark.parametrize("columns", [["x"], ["y"], None])
@pytest.mark.parametrize("text", [b"x,y\r5,caf%b\r7,q\r", b"x\r5\r7%b\r", b'x,"y\n5,caf%b\n7,q"\n8,9\n'])
def test_only_the_first_line_decides_about_a_refusal(tmp_path: Path, text: bytes, columns: list[str] | None) -> None:
    """A header may hold many lines, by carriage returns or an open quote, and those behind the first may be records."""
    outcomes = set()
    for number, letter in enumerate([b"e", b"\xe9", b"\0", b";"]):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(text % letter)
        try:
            batches = list(open_source(path, domain=NUMBER, columns=columns).batches())
            outcomes.add(repr([np.asarray(batch.records.values).tolist() for batch in batches]))
        except FileError as error:
            outcomes.add(str(error).replace(path.name, ""))
    assert len(outcomes) == 1


def test_one_column_of_another_delimiter(tmp_path: Path) -> None:
    """Without a declared delimiter, a header of one column that seems to have several is refused."""
    path = tmp_path / "a.csv"
    path.write_text("id;fare\n1;2\n")
    with pytest.raises(FileError, match="looks separated by semicolons"):
        open_source(path, domain=NUMBER)
    open_source(path, domain=NUMBER, csv=CsvDialect(delimiter=","))


def test_log_of_one_column() -> None:
    """A line of a log has one field if it has no comma; its separators are counted outside quotes."""
    line = b'10.0.0.1 - - [1/May/2024:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "Mozilla/5.0 (X11; Linux x86_64)"\n'
    with pytest.raises(FileError, match="looks like one of a log"):
        text_batches(line, hp.IPv4(), header=True)
    with pytest.raises(FileError, match=r"choose csv=CsvDialect\(delimiter=' '\), header=False"):
        text_batches(line, hp.IPv4(), header=True, csv=CsvDialect(records="unquoted"))
    assert len(text_batches(line, hp.IPv4(), header=True, csv=CsvDialect(delimiter=","))) == 0


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"a": 1}', 'one object per line choose format="ndjson"'),
        (b'[{"a": 1},', r'jq -c "\.\[\]", and choose format="ndjson"'),
        (b"[", "looks like one JSON array"),
        (b"{", "looks like one JSON array or object"),
        (b"{b}", "to name a column 'a', got no such name"),
    ],
)
def test_json_without_its_format(line: bytes, says: str) -> None:
    with pytest.raises(FileError, match=says):
        text_batches(line + b"\n", NUMBER, header=True, columns=["a"])


def test_rows_never_decide(tmp_path: Path) -> None:
    """Rows that look like another dialect are read in the declared one."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1;2\n" * 9 + "3,4\n")
    source = open_source(path, domain=NUMBER, columns=["a"])
    (batch,) = source.batches()
    assert repr(np.asarray(batch.records, dtype=float).tolist()) == repr([NAN] * 9 + [3.0])


def test_json_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}\n')
    with pytest.raises(FileError, match="one object per line"):
        open_source(path, domain=NUMBER, columns=["a"])
    (batch,) = open_source(path, domain=NUMBER, columns=["a"], format="ndjson").batches()
    assert np.asarray(batch.records, dtype=float).tolist() == [1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_positions(tmp_path: Path, encoding: Any) -> None:
    """A source can be read from each position, whatever the encoding."""
    path = tmp_path / "a.csv.gz"
    text = "a;ä\n" + "".join(f"{number};ü\n" for number in range(200_000))
    path.write_bytes(gzip.compress(text.encode(encoding), 1))
    dialect = CsvDialect(delimiter=";", encoding=encoding)
    source = open_source(path, domain=NUMBER, columns=["a"], csv=dialect)
    batches = list(source.batches())
    values = np.concatenate([np.asarray(batch.records, dtype=float) for batch in batches])
    assert np.array_equal(values, np.arange(200_000))
    position = batches[1].position
    assert position is not None
    rest = np.concatenate([np.asarray(batch.records, dtype=float) for batch in source.batches(position)])
    assert np.array_equal(rest, values[-rest.size :])
    assert rest.size == 200_000 - sum(len(batch.records) for batch in batches[:2])


def test_identity_has_the_dialect(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1\n")
    options: list[dict[str, Any]] = [{}, {"delimiter": ";"}, {"decimal": ","}, {"nulls": []}, {"encoding": "latin-1"}]
    options += [{"thousands": "'"}, {"currency": "$"}, {"records": "lines"}]
    dialects = [CsvDialect(**own) for own in options]
    assert len({open_source(path, domain=NUMBER, header=False, csv=own).identity for own in dialects}) == len(dialects)


@pytest.mark.parametrize(
    ("header", "name", "says"),
    [
        (b'10.0.0.1 - - [1/May/2024 +0000] "GET /" 200 "x; y"', "ip", "a log, .*CsvDialect.delimiter=' '"),
        (b'10.0.0.1 - - [1/May/2024 +0000] "GET /" 200 "x, y"', "1", "looks like one of a log, separated by spaces"),
        (b'"a; b; c" of d in e', "age", "looks separated by spaces"),
        (b'a, "b", "c", "d"', "age", "to name a column 'age', got no such name"),
        (b"first name;last name;zip code", "age", "looks separated by semicolons"),
        (b"distance of the trip in miles", "distance of the trip in miles", None),
        (b"first name", "age", "to name a column 'age', got no such name"),
        (b"a b c d,e", "age", "to name a column 'age', got no such name"),
    ],
)
def test_spaces_between_fields_or_in_names(header: bytes, name: str, says: str | None) -> None:
    if says is None:
        assert len(text_batches(header + b"\n1\n", NUMBER, header=True, columns=[name])) == 1
        return
    with pytest.raises(FileError, match=says):
        text_batches(header + b"\n1\n", NUMBER, header=True, columns=[name])


def test_lines_that_end_in_carriage_returns() -> None:
    """Unless the header is found, as in a file in which a quoted name has one."""
    with pytest.raises(FileError, match=r"the first line has carriage returns in it, .* convert it: tr "):
        text_batches(b"a,b\r1,2\r", NUMBER, header=True, columns=["b"])
    for text in (
        b"b\r",
        b"b\r\r",
        b"b\r5\r",
        b'b,5" pipe\r1,2\r3,4\r',
        b'b,5" pipe\r1,2\r3,b\r',
    ):  # with and without records
        with pytest.raises(FileError, match="carriage returns"):
            text_batches(text, NUMBER, header=True, columns=["b"])
    (batch,) = text_batches(b'a,"b\r"\r\n1,2\r\n', NUMBER, header=True, columns=["a"])
    assert np.asarray(batch).tolist() == [1.0]


def test_percent_signs() -> None:
    (batch,) = text_batches(b"12.5%\n7 %\n3\n", NUMBER, csv=CsvDialect(records="lines", currency="%"))
    assert np.asarray(batch).tolist() == [12.5, 7.0, 3.0]


@pytest.mark.parametrize(
    "options",
    [
        {"records": "excel"},
        *({"delimiter": text} for text in ("", ";;", "a", "1", '"', "\n", "\r", "é", "\0", 5)),
        *({"nulls": own} for own in ("NA", [5], ["a\nb"], None)),
        *({"decimal": text} for text in ("", ";", "..")),
        *({"thousands": text} for text in (".", "", "a", "1", "-", "::")),
        *({"currency": text} for text in ("", "1", "-", ".", "a b", '"')),
        *({"encoding": text} for text in ("utf-7", "utf16", "iso2022_jp", None)),
    ],
    ids=repr,
)
def test_invalid_dialects(options: dict[str, Any]) -> None:
    """Among them encodings in which a line can change the next one."""
    with pytest.raises(RecordsError, match=f"as {next(iter(options))} of a CSV dialect"):
        CsvDialect(**options)


def test_dialect_is_a_value() -> None:
    assert CsvDialect(nulls=["NA"]) == CsvDialect(nulls=("NA",))
    assert len({CsvDialect(), CsvDialect(), GERMAN}) == 2
    with pytest.raises(RecordsError, match=r"csv= takes a dialect .* got 'lines'"):
        open_source("a.csv", domain=NUMBER, csv="lines")


def test_encoding_without_the_currency_sign() -> None:
    with pytest.raises(RecordsError, match="latin-1 has no sign €"):
        CsvDialect(currency="€", encoding="latin-1")
    CsvDialect(currency="€", encoding="cp1252")

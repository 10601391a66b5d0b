"""The two readings of CSV: what a record is, and what one record can do to others."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import privhp as hp
from cases import case_count
from privhp import Box, Categories, FileError, Integers, Interval, Nullable, RecordsError, Table
from privhp.io.sources import CsvDialect, csv_records, csv_scanner, open_source, text_records
from privhp.io.sources.csv_fields import split_record
from privhp.io.sources.csv_records import UnquotedLineFeeds
from privhp.io.sources.text_records import MAX_RECORD, RecordReader
from texts import LINES, text_batches

DECADE, SQUARE = Interval(0, 10), Box([(0, 10), (0, 10)])
WORDS = ["a", 'say "hi"', "two\nlines", "x,y", "cr\r\nlf", ",\n,", '"']
DOMAIN = Table(number=Nullable(Integers(0, 99)), word=Nullable(Categories(WORDS, other="other")))
FIRST = Nullable(Integers(0, 99))
RFC = CsvDialect()
CASES = case_count(500)

texts = st.sampled_from(WORDS) | st.text('a,"\n\r\0 7é', max_size=8)
rows = st.tuples(st.integers(0, 99).map(str) | texts, texts)
# With "\n" as the terminator, Python's csv module leaves a lone "\r" unquoted, unless it quotes all fields.
dialects = st.sampled_from(
    [
        {"lineterminator": "\r\n", "quoting": csv.QUOTE_MINIMAL},
        {"lineterminator": "\r\n", "quoting": csv.QUOTE_ALL},
        {"lineterminator": "\n", "quoting": csv.QUOTE_ALL},
    ]
)
fragments = st.lists(st.sampled_from([b'"', b'""', b",", b"\n", b"\r", b"\0", b"1", b"a b", b"\xff"]), max_size=30)


def written(records: list[tuple[str, ...]], dialect: dict[str, Any]) -> bytes:
    """Records as a CSV writer writes them."""
    file = io.StringIO(newline="")
    csv.writer(file, **dialect).writerows(records)
    return file.getvalue().encode()


def codes(content: bytes, domain: hp.Domain = DOMAIN, **options: Any) -> list[int]:
    """The cell of each record."""
    batches = text_batches(content, domain, **({"csv": RFC} | options))
    return [code for batch in batches for code in domain.encode(batch, level=domain.depth).tolist()]


def values(content: bytes, reading: str = "rfc4180", *, header: bool = False) -> list[float]:
    """The first number of each record, NaN if it is skipped."""
    batches = text_batches(
        content, DECADE, header=header, columns=["a"] if header else None, csv=CsvDialect(records=reading)
    )
    return [value for batch in batches for value in np.asarray(batch, dtype=float).tolist()]


def split(content: bytes, *, block: int = text_records._BLOCK) -> list[bytes]:
    """Records of a text."""
    with mock.patch.object(text_records, "_BLOCK", block):
        blocks = list(RecordReader(io.BytesIO(content), UnquotedLineFeeds()).blocks())
    pairs = ((block.text, *bounds) for block in blocks for bounds in zip(block.bounds, block.bounds[1:], strict=False))
    return [text[start : following - 1] for text, start, following in pairs]


def same(one: list[float], other: list[float]) -> bool:
    """Equality in which NaN equals NaN."""
    return repr(one) == repr(other)


@pytest.fixture(params=["native", "plain"])
def backend(request):
    if request.param == "native" and csv_records.native is None:
        pytest.skip("the scanner is not compiled")
    if request.param == "native":
        yield
        return
    with (
        mock.patch.object(csv_records, "native", None),
        mock.patch.object(csv_scanner, "native", None),
        mock.patch.object(text_records, "native", None),
    ):
        yield


@settings(max_examples=CASES)
@given(st.lists(rows, max_size=6), dialects)
def test_csv_writer_round_trip(records, dialect):
    """The reader finds what Python's csv module reads."""
    content = written(records, dialect)
    expected = list(csv.reader(io.StringIO(content.decode(), newline="")))
    found = [[field.decode() for field in split_record(record)] for record in split(content)]
    assert found == expected == [list(record) for record in records]
    cells = [codes(written([record], dialect)) for record in records]
    assert codes(content) == [code for cell in cells for code in cell]
    assert len(codes(content)) == len(records)


@settings(max_examples=CASES)
@given(fragments.map(b"".join), st.integers(1, 9), st.sampled_from([b",", b";", b"\t"]))
@example(b'"a"\n', 3, b",")
@example(b'1,"\n",",\n"\n', 2, b",")
def test_compiled_bounds_match_definition(content, size, separator):
    """Whatever the bytes and the delimiter are, and wherever the pieces of the text end."""
    if csv_records.native is None:
        pytest.skip("the scanner is not compiled")
    content = content.replace(b",", separator)
    found, defined = UnquotedLineFeeds(separator), UnquotedLineFeeds(separator)
    for start in range(0, len(content), size):
        piece = content[start : start + size]
        bounds = found.bounds(piece).tolist()
        with mock.patch.object(csv_records, "native", None):
            assert defined.bounds(piece).tolist() == bounds
        assert found._place is defined._place


@settings(max_examples=CASES)
@given(fragments.map(b"".join), st.sampled_from([LINES, RFC, CsvDialect(records="unquoted")]))
def test_compiled_values_match_definition(content, dialect):
    """Values of any text: of all fields or the first one, with and without a header."""
    content = content.replace(b'"""', b'"') + b"\n"
    for domain, options in (
        (DOMAIN, {"header": False}),
        (DOMAIN, {"header": True, "columns": ["a", "b"]}),
        (FIRST, {"header": False}),
        (FIRST, {"header": True, "columns": ["a"]}),
    ):
        text = b"a,b\n" * options["header"] + content
        outcomes = []
        for kernel in (csv_scanner.native, None):
            with mock.patch.object(csv_scanner, "native", kernel):
                try:
                    outcomes.append(codes(text, domain, csv=dialect, **options))
                except FileError:
                    outcomes.append("refused")
        assert outcomes[0] == outcomes[1]


@settings(max_examples=CASES)
@given(st.lists(rows, min_size=1, max_size=6), st.data(), rows | st.none(), dialects, st.booleans())
def test_one_record_changes_its_own_row(records, data, replacement, dialect, header):
    """In a file of a CSV writer, whatever the values are."""
    place = data.draw(st.integers(0, len(records) - 1))
    others = records[:place] + ([] if replacement is None else [replacement]) + records[place + 1 :]
    names = [("number", "word")] * header
    with mock.patch.object(text_records, "_BLOCK", 7):
        before, after = (codes(written(names + chosen, dialect), header=header) for chosen in (records, others))
    del before[place]
    if replacement is not None:
        del after[place]
    assert before == after


@settings(max_examples=CASES)
@given(fragments.map(lambda parts: b"".join(parts).replace(b"\n", b"")), st.lists(rows, max_size=3), st.booleans())
def test_one_line_changes_its_own_row(line, records, header):
    """In the reading by lines, whatever the bytes are."""
    before, after = (written(part, {"lineterminator": "\n"}) for part in (records, records[::-1]))
    names = {"header": header, "csv": LINES}
    start = b"number,word\n" * header
    parts = [codes(start + part, **names) for part in (before, line + b"\n", after)]
    assert codes(start + before + line + b"\n" + after, **names) == [code for part in parts for code in part]


def test_record_of_a_thousand_lines(backend):
    """One legal record counts once, whatever its text is, and was a third of this file."""
    hostile = "hello\n" + "9,9\n" * 1000
    content = written([("a", "text"), *[("1", "x")] * 500, ("2", hostile), *[("1", "x")] * 500], {})
    assert values(content, header=True) == [1.0] * 500 + [2.0] + [1.0] * 500
    assert values(content, "lines", header=True).count(9.0) == 1000  # the bound of this reading: a row for each line
    text = written([("a", "text"), ("2", "hello\n" + "9\n" * 1000)], {})
    assert 9.0 not in values(text, "lines", header=True)  # lines with another number of fields are skipped
    column = written([("a",), ("2\n" + "9\n" * 1000,)], {})
    assert same(values(column, header=True), [np.nan])
    assert values(column, "lines", header=True).count(9.0) == 1000  # a file of one column has no other number


@pytest.mark.parametrize("reading", ["rfc4180", "lines"])
def test_number_of_fields(backend, reading):
    content = b"a,b\n1,x\n2\n3,x,y\n4,\n5,x,\n,\n\n6,x"
    expected = [1.0, np.nan, np.nan, 4.0, np.nan, np.nan, np.nan, 6.0]
    assert same(values(content, reading, header=True), expected)


@pytest.mark.parametrize("reading", ["rfc4180", "lines"])
def test_number_of_fields_without_header(backend, reading):
    """No record decides about others."""
    for first in (b"1", b"1,x", b"1,x,y"):
        assert values(first + b"\n2,x\n3,x,y\n4\n", reading) == [1.0, 2.0, 3.0, 4.0]
    assert len(codes(b"1\n1,2\n1,2,3\n", SQUARE, csv=CsvDialect(records=reading))) == 3


def test_unbalanced_quote(backend):
    """One open quote joins the records up to the next quote, and the file is refused if there is none."""
    assert same(values(b'1\n2,"open\n3\n4\n5,close"\n6\n'), [1.0, 2.0, 6.0])
    assert values(b'1\n2,"open\n3\n', "lines")[::2] == [1.0, 3.0]
    with pytest.raises(FileError, match=r'ends inside a quoted field, .* choose csv=CsvDialect\(records="lines"\)$'):
        values(b'1\n2,"open\n3\n4\n')
    assert same(values(b'1\n"2"x,a\n3\n'), [1.0, np.nan, 3.0])  # text behind a quote: the line ends the record
    assert values(b'1\n2,5" pipe\n3,a"\n') == [1.0, 2.0, 3.0]  # a quote inside a field opens nothing


def test_no_bound_for_unbalanced_quotes(backend):
    """The documented limit: after an open quote, a legal text may be read as another legal text to its end."""
    record = b'1,"\n",",\n"\n'
    assert split(record * 9) == [record[:-1]] * 9
    assert record[:-1] not in split(b'7,"' + record * 9 + b'"\n')


def test_open_quote_ends_with_its_file(tmp_path):
    for name, content in {"a": b'a,b\n1,"x', "b": b'a,b\n2,"x"\n'}.items():
        (tmp_path / f"{name}.csv").write_bytes(content)
    source = open_source(str(tmp_path / "*.csv"), domain=DECADE, columns=["a"])
    with pytest.raises(FileError, match=r"a\.csv: the file ends inside a quoted field"):
        list(source.batches())
    source = open_source(str(tmp_path / "*.csv"), domain=DECADE, columns=["a"], csv=LINES)
    found = [np.asarray(batch.records, dtype=float).tolist() for batch in source.batches()]
    assert repr(found) == "[[nan], [2.0]]"


def test_no_release_of_an_unbalanced_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 600_000 + b'2,"x\n' + b"1,x\n" * 600_000)
    plan = {"epsilon": 1, "expected_records": 1e6, "passes": 1, "columns": ["a"]}
    with pytest.raises(FileError, match="ends inside a quoted field"):
        hp.fit(path, DECADE, **plan)
    assert hp.fit(path, DECADE, csv=LINES, **plan).total == pytest.approx(1_200_000, abs=1000)


@pytest.mark.parametrize("size", [MAX_RECORD - 4, MAX_RECORD + 1, 3 * MAX_RECORD])
def test_long_record(backend, size):
    """A record beyond the limit is skipped to its own end, however far that is."""
    if csv_records.native is None and size > 2 * MAX_RECORD:
        pytest.skip("slow without the compiled scanner")
    hostile = (b"9,9\n" * size)[:size]
    found = values(b'a,b\n1,x\n2,"' + hostile + b'"\n3,x\n', header=True)
    assert same(found, [1.0, 2.0 if size < MAX_RECORD else np.nan, 3.0])
    assert same(values(b"1\n2," + b"x" * MAX_RECORD + b',"\n9\n"\n3\n'), [1.0, np.nan, 3.0])


def test_memory_of_long_record():
    file = io.BytesIO(b'1,"' + b"9\n" * (8 * MAX_RECORD) + b'"\n2\n')
    blocks = list(RecordReader(file, UnquotedLineFeeds()).blocks())
    assert sum(len(block.bounds) - 1 for block in blocks) == 2
    assert max(len(block.text) for block in blocks) < 3 * MAX_RECORD


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'1,"x\r\ny"\r\n2,"x\ry"\r\n', [1.0, 2.0]),
        (b'1,"x\0y"\n\0,x\n2,\0\n', [1.0, np.nan, 2.0]),
        (b'"1"\n"2","a ""b"", c"\n"3",""\n"""4"""', [1.0, 2.0, 3.0, np.nan]),
        (b"", []),
        (b"\n", [np.nan]),
        (b'""', [np.nan]),
        (b'\xef\xbb\xbf1,"a"\n2\n', [np.nan, 2.0]),
        (b'\xef\xbb\xbf"1","a\n3"\n2\n', [np.nan, 2.0]),
        (b'1\n\xef\xbb\xbf"2\n3"\n', [1.0, np.nan, np.nan]),
        (b'1, "x\n2"\n3\n', [1.0, np.nan, 3.0]),
    ],
    ids=repr,
)
def test_dialects(backend, content, expected):
    assert same(values(content), expected)


def test_header_with_line_breaks(backend):
    content = b'\xef\xbb\xbf"the\nfirst","a"\r\n"9\n9",1\r\n'
    assert values(content, header=True) == [1.0]
    with pytest.raises(FileError, match="no such name"):
        values(content, "lines", header=True)


@pytest.mark.parametrize("reading", ["rfc4180", "lines", "unquoted"])
def test_byte_order_mark_is_a_part_of_its_record(backend, reading):
    """The record before it decides nothing about it."""
    assert same(values(b"1\n\xef\xbb\xbf2\n3\n", reading), [1.0, np.nan, 3.0])
    assert same(values(b"\xef\xbb\xbf2\n3\n", reading), [np.nan, 3.0])
    assert same(values(b"\xef\xbb\xbfa\n\xef\xbb\xbf2\n3\n", reading, header=True), [np.nan, 3.0])


@pytest.mark.parametrize("header", [False, True])
def test_resume_among_byte_order_marks(tmp_path, header):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfa\n" * header + b"\xef\xbb\xbf2\n3\n" * 40)
    with mock.patch.object(text_records, "_BLOCK", 12):
        source = open_source(path, domain=DECADE, header=header)
        batches = list(source.batches())
        whole = [value for batch in batches for value in np.asarray(batch.records, dtype=float).tolist()]
        assert same(whole, [np.nan, 3.0] * 40)
        read = 0
        for batch in batches:
            read += len(batch.records)
            rest = [np.asarray(other.records, dtype=float) for other in source.batches(batch.position)]
            assert same(np.concatenate([np.empty(0), *rest]).tolist(), whole[read:])


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("reading", ["rfc4180", "lines"])
def test_resume_at_any_batch(tmp_path, ending, reading):
    records = [(str(number % 10), "two\nlines" if number % 3 == 0 else 'a "b"') for number in range(60)]
    content = written([("a", "b"), *records], {})
    packed = {"": bytes, ".gz": gzip.compress, ".zst": lambda data: pa.compress(data, "zstd", asbytes=True)}[ending]
    path = tmp_path / f"a.csv{ending}"
    path.write_bytes(packed(content))
    with mock.patch.object(text_records, "_BLOCK", 64):
        source = open_source(path, domain=DECADE, columns=["a"], csv=CsvDialect(records=reading))
        batches = list(source.batches())
        assert len(batches) > 5
        whole = [value for batch in batches for value in batch.records.to_list()]
        read = 0
        for batch in batches:
            read += len(batch.records)
            again = [value for other in source.batches(batch.position) for value in other.records.to_list()]
            assert repr(again) == repr(whole[read:])
    assert len(whole) == (60 if reading == "rfc4180" else 80)


def test_reading_belongs_to_the_identity(tmp_path):
    path = Path(tmp_path / "a.csv")
    path.write_bytes(b"a\n1\n")
    readings = {
        open_source(path, domain=DECADE, csv=CsvDialect(records=reading)).identity for reading in ("rfc4180", "lines")
    }
    assert len(readings) == 2
    assert open_source(path, domain=DECADE).identity in readings


def test_unknown_reading():
    with pytest.raises(RecordsError, match=r"csv= takes a dialect such as .*, got 'excel'"):
        open_source("a.csv", domain=DECADE, csv="excel")

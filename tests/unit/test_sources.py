"""Text files, pipes and arrays: the values of a line depend on that line only."""

import bz2
import codecs
import gzip
import io
import tracemalloc
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import case_count
from privhp import Box, Domain, FileError, Integers, Interval, IPv4, Plan, RecordsError, Tally
from privhp.io.sources import open_source, text_records
from privhp.io.sources.text_records import MAX_RECORD, LineFeeds, RecordReader
from texts import text_batches

UNIT = Interval(0, 1)
DECADE = Interval(0, 10)
SQUARE = Box([(0, 10), (0, 10)])
BIG = Integers(0, 2**61 - 1)

BAD_LINES = [
    b"",
    b",",
    b"text",
    b"1.2.3",
    b"--1",
    b"1;2",
    b"\xff\xfe",
    b"3\x00",
    b"\x00",
    b"3\xc2\xa0",
    b'"',
    b'"3',
    b'3"',
    b'""3"',
    b'"3"4,',
    b'"3",\r"4"',
    b"0x10",
    b"1_000",
    b"1_0.5",
    b"9" * (MAX_RECORD + 1),
    b'"' + b"9" * 200_000 + b'"',
]


def read(path: Path, domain: Domain, columns: list[str] | None = None, *, header: bool = True) -> np.ndarray:
    source = open_source(path, domain=domain, columns=columns, header=header)
    batches = [np.asarray(batch.records) for batch in source.batches()]
    return np.concatenate(batches) if batches else np.zeros(0)


def write(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def parse(records: list[bytes], domain: Domain = DECADE) -> list[float | list[float]]:
    """Values of lines without a header, NaN for those that are null or invalid."""
    is_point = len(domain.fields()) > 1
    batches = text_batches(b"".join(line + b"\n" for line in records), domain)
    values = [value for batch in batches for value in (np.asarray(batch).tolist() if is_point else batch)]
    return [np.nan if value is None else value for value in values]


def same(one: list[float | list[float]], other: list[float | list[float]]) -> bool:
    """Equality in which NaN equals NaN."""
    return repr(one) == repr(other)


def test_shape_of_one_column(tmp_path):
    path = write(tmp_path, b"a,b\n1,2\n3,4.5\n")
    assert read(path, DECADE, ["b"]).tolist() == [2.0, 4.5]


def test_order_of_columns(tmp_path):
    path = write(tmp_path, b"a,b,c\n1,2,3\n4,5,6\n")
    assert read(path, SQUARE, ["c", "a"]).tolist() == [[3.0, 1.0], [6.0, 4.0]]


def test_header_without_columns(tmp_path):
    path = write(tmp_path, b"a,b\n1,2\n")
    assert read(path, SQUARE).tolist() == [[1.0, 2.0]]
    with pytest.raises(FileError, match=r"header of 1 column, .* columns=\['NAME'\]$"):
        read(path, DECADE)
    with pytest.raises(FileError, match=r"header of 2 columns, .* columns=\['NAME', 'NAME'\]$"):
        read(write(tmp_path, b"a,b,c\n1,2,3\n"), SQUARE)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\r\n1,2\r\n",
        b"a,b\n1,2",
        b"\xef\xbb\xbfb,a\n2,1\n",
        b'\xef\xbb\xbf"b", a \n2,1\n',
        b'x\xff,"b"\n"1,1",2\n',
        b'"say ""hi""",b\n"a ""b""",2\n',
    ],
)
def test_csv_dialects(tmp_path, content):
    assert read(write(tmp_path, content), DECADE, ["b"]).tolist() == [2.0]


def test_long_header(tmp_path):
    names = ",".join(f"column{index}" for index in range(40_000))
    path = write(tmp_path, names.encode() + b"\n" + b"," * 39_999 + b"7\n")
    assert read(path, DECADE, ["column39999"]).tolist() == [7.0]


def test_column_numbers(tmp_path):
    path = write(tmp_path, b"1,2\n3,4\n")
    assert read(path, DECADE, ["2"], header=False).tolist() == [2.0, 4.0]
    assert read(path, DECADE, header=False).tolist() == [1.0, 3.0]


@pytest.mark.parametrize("column", ["0", "-1", "a", "1.5", "", "²", "9" * 5000])
def test_invalid_column_numbers(tmp_path, column):
    with pytest.raises(RecordsError, match="column numbers from 1"):
        read(write(tmp_path, b"1,2\n"), DECADE, [column], header=False)


def test_number_of_columns_before_data():
    with pytest.raises(RecordsError, match="has values per record, 2, got 1: a"):
        read(Path("there-is-no-such-file.csv"), SQUARE, ["a"])


@pytest.mark.parametrize(("header", "problem"), [(b"12345,b", "no such name"), (b"a,a", "twice"), (b'"a"b', "no such")])
def test_invalid_header_unquoted(tmp_path, header, problem):
    with pytest.raises(FileError, match=problem) as caught:
        read(write(tmp_path, header + b"\n1,2\n"), DECADE, ["a" if b"12345" not in header else "c"])
    assert "12345" not in str(caught.value)
    assert "separated by commas and matched by case; for a file without a header, use header=False" in str(caught.value)


def foreign_files() -> dict[str, bytes]:
    """Binary files, by a part of the message."""
    array, archive = io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros(3))
    np.savez(archive, a=np.zeros(3))
    return {
        "gzip file; .* zcat": gzip.compress(b"a\n1\n", mtime=0),
        r"NumPy array; .* \.npy": array.getvalue(),
        "zip archive or a spreadsheet; .* CSV": archive.getvalue(),
        r'Parquet file; .* format="parquet"': b"PAR1\x15\x04\x15\x10",
        "release of privhp; .* privhp.load": b"PRIVHP-R\x01\x00\x00\x00",
        "checkpoint of privhp, .* confidential": b"PRIVHP-C\x01\x00\x00\x00",
    }


@pytest.mark.parametrize(("says", "content"), foreign_files().items(), ids=lambda part: str(part)[:12])
@pytest.mark.parametrize("columns", [None, ["a"]])
def test_binary_files(tmp_path, says, content, columns):
    with pytest.raises(FileError, match=f"expected comma-separated text, got an? {says}"):
        read(write(tmp_path, content), DECADE, columns)


def test_header_like_a_binary_file(tmp_path):
    for name in ("PK", "PAR1", "PRIVHP"):
        assert read(write(tmp_path, name.encode() + b",b\n1,2\n"), DECADE, [name]).tolist() == [1.0]


@pytest.mark.parametrize("content", foreign_files().values(), ids=str)
def test_record_like_a_binary_file(tmp_path, content):
    """The line alone is skipped, as any invalid record."""
    path = write(tmp_path, content.replace(b"\n", b"") + b"\n7\n")
    assert same(read(path, DECADE, header=False).tolist(), [np.nan, 7.0])


def test_empty_file(tmp_path):
    path = write(tmp_path, b"")
    with pytest.raises(FileError, match="the file is empty"):
        read(path, DECADE, ["a"])
    assert read(path, DECADE, header=False).size == 0
    assert read(path, BIG, header=False).size == 0
    assert read(path, SQUARE, header=False).size == 0


@pytest.mark.parametrize("bad", BAD_LINES, ids=lambda line: repr(line[:12]))
def test_invalid_line(bad):
    assert same(parse([b"1", bad, b"2"]), [1.0, np.nan, 2.0])


@pytest.mark.parametrize("bad", [b"1", b"1,", b",1", b"1,x", b'"1,1', b"1\x00,1", b'1,"1"2"'])
def test_row_with_invalid_number(bad):
    assert same(parse([b"1,2", bad, b"3,4"], SQUARE), [[1.0, 2.0], [np.nan, np.nan], [3.0, 4.0]])


def test_unselected_columns(tmp_path):
    path = write(tmp_path, b'a,b\n1,\xff\xfe\n2,\x00\n3,"x, y"\n')
    assert read(path, DECADE, ["a"]).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("length", [MAX_RECORD - 1, MAX_RECORD, MAX_RECORD + 1, 2 * MAX_RECORD])
@pytest.mark.parametrize("before", [0, 1, 2**18 - 2])
def test_longest_line_at_any_offset(length, before):
    line = b"1," + b"x" * (length - 2)
    expected = 1.0 if length <= MAX_RECORD else np.nan
    assert same(parse([b" " * before, line, b"2"])[1:], [expected, 2.0])


def test_memory_of_endless_line():
    class Endless(io.RawIOBase):
        left = 64 * 2**20

        def read(self, size: int = -1) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return b"1" * size

    tracemalloc.start()
    try:
        held = [(len(block.text), block.end) for block in RecordReader(Endless(), LineFeeds()).blocks()]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held == [(MAX_RECORD + 1, 64 * 2**20)]
    assert peak < 8 * 2**20


@given(st.binary(max_size=60), st.lists(st.integers(1, 9), min_size=1))
def test_lines_from_partial_reads(content, sizes):
    class Trickle(io.BytesIO):
        turn = 0

        def read(self, size: int | None = -1) -> bytes:
            self.turn += 1
            return super().read(sizes[self.turn % len(sizes)])

    with mock.patch.object(text_records, "_BLOCK", 11):
        blocks = list(RecordReader(Trickle(content), LineFeeds()).blocks())
        parts = [block.text for block in blocks]
        assert b"".join(parts) == content.removeprefix(codecs.BOM_UTF8)
        assert all(part.endswith(b"\n") for part in parts[:-1])
        for block in blocks:
            again = RecordReader(Trickle(content), LineFeeds())
            again.skip_to(block.end)
            assert b"".join(block.text for block in again.blocks()) == content[block.end :]


any_line = st.lists(
    st.sampled_from(
        [b'"', b",", b"\r", b"\x00", b"\xff", b"1", b"7.5", b"-2", b"nan", b"inf", b"1e999", b" ", b"x", b"_"]
    )
    | st.binary(min_size=1, max_size=3),
    max_size=8,
).map(lambda parts: b"".join(parts).replace(b"\n", b""))

DOMAINS = [DECADE, SQUARE, Integers(-3, 12, outside="clamp"), IPv4(), Box([(0, 9), (0, 9)], outside="clamp")]

# The number of cases is part of the privacy checks; --offline runs more.
CASES = case_count(500)


@settings(max_examples=CASES)
@given(st.lists(any_line, max_size=8), st.sampled_from(DOMAINS))
def test_lines_are_independent(records, domain):
    alone = [code for line in records for code in codes([line], domain)]
    with mock.patch.object(text_records, "_BLOCK", 7):
        assert codes(records, domain) == alone
    assert len(alone) == len(records)


def codes(records: list[bytes], domain: Domain) -> list[int]:
    """The cell of each line."""
    batches = text_batches(b"".join(line + b"\n" for line in records), domain)
    return [code for batch in batches for code in domain.encode(batch, level=domain.depth).tolist()]


def state(content: bytes, plan: Plan, *, header: bool) -> np.ndarray:
    """All counters of a file, without noise."""
    tally = Tally(plan)
    for batch in text_batches(content, plan.domain, header=header):
        tally.add(batch)
    return np.concatenate([tally.counters, *[table.ravel() for table in tally.sketches.values()]])


@settings(max_examples=CASES)
@given(
    st.lists(any_line, min_size=1, max_size=8),
    st.data(),
    any_line | st.none(),
    st.sampled_from(DOMAINS),
    st.booleans(),
)
def test_sensitivity_to_one_line(records, data, replacement, domain, header):
    """Removing a line changes each level by at most one record, replacing it by at most two."""
    plan = Plan.paper(domain, epsilon=1, expected_records=64, hot_cells=2, exact_depth=1, depth=4, sketch_rows=2)
    place = data.draw(st.integers(0, len(records) - 1))
    others = records[:place] + ([] if replacement is None else [replacement]) + records[place + 1 :]
    names = [b"a,b" if isinstance(domain, Box) else b"a"] if header else []
    before, after = (
        state(b"\n".join([*names, *chosen]) + b"\n" * bool(names or chosen), plan, header=header)
        for chosen in (records, others)
    )
    one_record = 1 + plan.sketch_rows * len(plan.sketched_levels)
    assert np.abs(before - after).sum() <= (one_record if replacement is None else 2 * one_record)


def test_large_integers(tmp_path):
    values = [2**60 + 1, 2**60 + 2, 2**53 + 1, 0]
    path = write(tmp_path, b"n\n" + b"".join(b"%d\n" % value for value in values))
    assert read(path, BIG).tolist() == values
    assert codes([b"%d" % value for value in values], BIG) == values


def test_integers_written_as_floats():
    assert parse([b"3.0", b"1e2", b"2.5", b"9" * 5000], BIG) == [3.0, 100.0, 2.5, float("inf")]


def test_integer_with_underscore():
    assert same(parse([b"1", b"1_000", b"1_0.0", b"2"], BIG), [1, np.nan, np.nan, 2])


def test_underscore_in_unselected_column(tmp_path):
    assert read(write(tmp_path, b"a,b\n1,x_y\n"), DECADE, ["a"]).tolist() == [1.0]


def test_addresses():
    assert parse([b"10.0.0.1", b" 167772161 ", b'"10.0.0.1"\r'], IPv4()) == [10 * 2**24 + 1] * 3
    assert same(parse([b"167_772_161", b"10.0.0", b"10.0.0.256", b"\xff", b"1.5"], IPv4()), [np.nan] * 5)


def test_batches(tmp_path):
    path = write(tmp_path, b"a\n" + b"".join(b"%d\n" % value for value in range(200_000)))
    batches = [batch.records for batch in open_source(path, domain=Interval(0, 1e6)).batches()]
    assert len(batches) > 1
    assert np.concatenate(batches).tolist() == list(range(200_000))


def test_memory_of_large_file(tmp_path):
    path = write(tmp_path, (b"1," + b"x" * 1000 + b"\n") * 40_000)
    tracemalloc.start()
    try:
        source = open_source(path, domain=DECADE, header=False)
        assert sum(len(batch.records) for batch in source.batches()) == 40_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * 2**20


def test_bytes_read(tmp_path):
    plain = write(tmp_path, b"a\n" + b"1\n" * 150_000)
    packed = write(tmp_path, gzip.compress(plain.read_bytes()), "data.csv.gz")
    array = tmp_path / "data.npy"
    np.save(array, np.zeros(200_000))
    for path in (plain, packed, array):
        source = open_source(path, domain=UNIT)
        read_so_far = [batch.read for batch in source.batches()]
        assert read_so_far == sorted(read_so_far)
        assert read_so_far[-1] == source.size == path.stat().st_size


@pytest.mark.parametrize("name", ["data.csv.gz", "DATA.CSV.GZ"])
def test_gzip(tmp_path, name):
    path = write(tmp_path, gzip.compress(b"a\n1\n2\n"), name)
    assert read(path, DECADE).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("form", [None, "csv", "arrow"])
def test_unsupported_compression(tmp_path, form):
    path = write(tmp_path, bz2.compress(b"a\n1\n2\n"), "data.csv.bz2")
    with pytest.raises(FileError, match=r"data\.csv\.bz2: \.bz2 files are not supported; compress with"):
        open_source(path, domain=DECADE, format=form)


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"a\n1\n", lambda data: data[:12] + b"!" * 40])
def test_damaged_gzip(tmp_path, damage):
    path = write(tmp_path, damage(gzip.compress(b"a\n" + bytes(range(48, 58)) * 500)), "data.csv.gz")
    with pytest.raises(FileError, match="complete gzip file"):
        read(path, DECADE)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5, dtype=np.int8),
        np.arange(5, dtype=">f4"),
        np.arange(5.0).reshape(-1, 1),
        np.array([True, False]),
        np.arange(5, dtype=np.longdouble),
        np.zeros(0),
    ],
    ids=str,
)
def test_npy(tmp_path, array):
    path = tmp_path / "data.npy"
    np.save(path, array)
    read_back = [DECADE.encode(batch.records, level=8) for batch in open_source(path, domain=DECADE).batches()]
    assert np.array_equal(np.concatenate([*read_back, []]), DECADE.encode(array, level=8))


def test_columns_of_npy(tmp_path):
    path = tmp_path / "data.npy"
    for order in "CF":
        np.save(path, np.array([[1, 2, 3], [4, 5, 6]], order=order))
        assert read(path, DECADE, ["3"]).tolist() == [3, 6]
        assert read(path, SQUARE, ["3", "1"]).tolist() == [[3, 1], [6, 4]]


def test_large_integers_in_npy(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.array([2**60 + 1]))
    assert BIG.encode(read(path, BIG), level=BIG.depth).tolist() == [2**60 + 1]


def not_numbers() -> dict[str, bytes]:
    """Contents of .npy files that must be refused."""

    def saved(array: np.ndarray, **options: bool) -> bytes:
        file = io.BytesIO()
        np.save(file, array, **options)
        return file.getvalue()

    archive = io.BytesIO()
    np.savez(archive, a=np.zeros(3))
    return {
        "pickled": saved(np.array([1, None], dtype=object), allow_pickle=True),
        "text": saved(np.array(["1", "2"])),
        "complex": saved(np.zeros(3, dtype=complex)),
        "dates": saved(np.zeros(3, dtype="M8[s]")),
        "structured": saved(np.zeros(3, dtype=[("a", "f8")])),
        "long text": saved(np.array(["1" * 7919])),
        "structured text": saved(np.zeros(3, dtype=[("a", "U7919")])),
        "no dimension": saved(np.array(1.0)),
        "three dimensions": saved(np.zeros((7919, 2, 2))),
        "too wide": saved(np.zeros((7919, 2))),
        "on its side": saved(np.zeros((2, 7919))),
        "archive": archive.getvalue(),
        "cut short": saved(np.zeros(7919))[:-1],
        "header cut short": saved(np.zeros(7919))[:20],
        "nonsense header": saved(np.zeros(7919)).replace(b"descr", b"d(((r"),
        "CSV": b"a\n1\n",
        "empty": b"",
    }


@pytest.mark.parametrize(("content"), not_numbers().values(), ids=not_numbers().keys())
def test_invalid_npy(tmp_path, content):
    with pytest.raises(FileError, match="expected") as caught:
        read(write(tmp_path, content, "data.npy"), DECADE)
    assert "7919" not in str(caught.value)


def test_missing_column_of_npy(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.zeros((3, 2)))
    with pytest.raises(FileError, match="at least 3 columns"):
        read(path, DECADE, ["3"])


def test_missing_file(tmp_path):
    for name in ("no.csv", "no.npy", "no.csv.gz"):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / name, DECADE)

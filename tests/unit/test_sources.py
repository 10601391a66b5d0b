"""Text files and pipes: headers, columns, compression, large integers and memory."""

import bz2
import gzip
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from privhp import FileError, Interval, IPv4, RecordsError
from privhp.io.sources import open_source
from privhp.io.sources.text_records import MAX_RECORD, LineFeeds, RecordReader
from source_files import BIG, DECADE, SQUARE, UNIT, codes, parse, read, same, write


def test_shape_of_one_column(tmp_path):
    path = write(tmp_path, b"a,b\n1,2\n3,4.5\n")
    assert read(path, DECADE, ["b"]).tolist() == [2.0, 4.5]


def test_order_of_columns(tmp_path):
    path = write(tmp_path, b"a,b,c\n1,2,3\n4,5,6\n")
    assert read(path, SQUARE, ["c", "a"]).tolist() == [[3.0, 1.0], [6.0, 4.0]]


def test_header_without_columns(tmp_path):
    path = write(tmp_path, b"a,b\n1,2\n")
    assert read(path, SQUARE).tolist() == [[1.0, 2.0]]
    with pytest.raises(FileError, match=r"header of 1 column, .* columns=\['NAME'\]; names .* use header=False"):
        read(path, DECADE)
    with pytest.raises(FileError, match=r"header of 2 columns, .* columns=\['NAME', 'NAME'\]; names"):
        read(write(tmp_path, b"a,b,c\n1,2,3\n"), SQUARE)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\r\n1,2\r\n",
        b"a,b\n1,2",
        b"\xef\xbb\xbfb,a\n2,1\n",
        b'\xef\xbb\xbf"b", a \n2,1\n',
        b'x,"b"\n"1,1",2\n',
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


def test_unselected_columns(tmp_path):
    path = write(tmp_path, b'a,b\n1,\xff\xfe\n2,\x00\n3,"x, y"\n')
    assert read(path, DECADE, ["a"]).tolist() == [1.0, 2.0, 3.0]


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


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:12] + b"!" * 40])
def test_damaged_gzip(tmp_path, damage):
    path = write(tmp_path, damage(gzip.compress(b"a\n" + bytes(range(48, 58)) * 500)), "data.csv.gz")
    with pytest.raises(FileError, match="complete gzip file"):
        read(path, DECADE)


def test_missing_file(tmp_path):
    for name in ("no.csv", "no.npy", "no.csv.gz"):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / name, DECADE)

"""Slices of record batches of an Arrow file hold the values that Arrow reads, in little memory."""

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

import privhp as hp
from privhp.errors import FileError
from privhp.io.sources.arrow import even_rows
from privhp.io.sources.identity import InputFile
from privhp.io.sources.ipc_messages import read_footer, read_layout
from privhp.io.sources.ipc_slices import BatchSlices

ROWS = 100
SPACED = [index if index % 3 else None for index in range(ROWS)]
TEXTS = [None if index % 7 == 3 else "ab" * (index % 5) for index in range(ROWS)]
COLUMNS: dict[str, pa.Array] = {
    "integers": pa.array(range(ROWS), pa.int32()),
    "nulls in integers": pa.array(SPACED, pa.int8()),
    "reals": pa.array(np.random.default_rng(0).random(ROWS)),
    "halves": pa.array(np.arange(ROWS, dtype=np.float16)),
    "booleans": pa.array([None if index % 5 == 0 else index % 2 == 0 for index in range(ROWS)]),
    "times": pa.array(SPACED, pa.timestamp("us", "UTC")),
    "dates": pa.array(SPACED, pa.date32()),
    "decimals": pa.array([Decimal(index) / 4 for index in range(ROWS)], pa.decimal128(20, 2)),
    "texts": pa.array(TEXTS),
    "large texts": pa.array(TEXTS, pa.large_string()),
    "bytes": pa.array([text and text.encode() for text in TEXTS], pa.binary()),
    "pairs of bytes": pa.array([b"ab"] * ROWS, pa.binary(2)),
    "only null texts": pa.array([None] * ROWS, pa.string()),
}
WHOLE: dict[str, pa.Array] = {
    "views": pa.array(TEXTS, pa.string_view()),
    "long views": pa.array([text and text * 20 for text in TEXTS], pa.string_view()),
    "dictionary": pa.array(TEXTS).dictionary_encode(),
    "lists": pa.array([[1, 2], None] * (ROWS // 2)),
    "structures": pa.array([{"a": 1, "b": "x"}, None] * (ROWS // 2)),
    "maps": pa.array([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int8())),
    "unions": pa.UnionArray.from_sparse(pa.array([0] * ROWS, pa.int8()), [pa.array(range(ROWS))]),
    "dense unions": pa.UnionArray.from_dense(
        pa.array([0] * ROWS, pa.int8()), pa.array(range(ROWS), pa.int32()), [pa.array(range(ROWS))]
    ),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int32()), pa.array([1])),
    "nothing": pa.nulls(ROWS),
}


def write(path: Path, table: pa.Table, **options: Any) -> Path:
    with ipc.new_file(path, table.schema, **options) as writer:
        writer.write_table(table)
    return path


@pytest.mark.parametrize("name", COLUMNS)
def test_slices_are_the_rows(tmp_path: Path, name: str) -> None:
    """All columns of other kinds stand before the column, so that its buffers have to be found."""
    table = pa.table({**WHOLE, **COLUMNS})
    path, index, rng = write(tmp_path / "a.arrow", table), table.schema.get_field_index(name), random.Random(0)
    with InputFile(str(path)).open() as file:
        (block,) = read_footer(file).batches
        slices = BatchSlices(file, read_layout(file, block), table.schema.types, [index])
        assert slices.possible
        for start, rows in [
            (0, ROWS),
            (0, 1),
            (ROWS - 1, 1),
            *((rng.randrange(ROWS), rng.randrange(1, 20)) for _ in range(30)),
        ]:
            found = list(slices.slices(start, rows))
            for (column,), _ in found:
                column.validate(full=True)
            assert pa.chunked_array([column for (column,), _ in found]).equals(table[name].slice(start))
            assert found[-1][1] == ROWS
            assert all(len(column) <= rows for (column,), _ in found)


@pytest.mark.parametrize("name", WHOLE)
def test_columns_that_are_read_as_a_whole(tmp_path: Path, name: str) -> None:
    table = pa.table({**WHOLE, **COLUMNS})
    with InputFile(str(write(tmp_path / "a.arrow", table))).open() as file:
        (block,) = read_footer(file).batches
        slices = BatchSlices(file, read_layout(file, block), table.schema.types, [table.schema.get_field_index(name)])
        assert not slices.possible
        slices.check_size()


def test_compressed_batches_are_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"x": np.zeros(10**5), "unused": np.zeros(10**5)})
    path = write(tmp_path / "a.arrow", table, options=ipc.IpcWriteOptions(compression="zstd"))
    source = hp.io.sources.open_source(path, domain=hp.Interval(0, 1), columns=["x"])
    assert sum(len(batch.records) for batch in source.batches()) == 10**5
    for limit, fits in ((8 * 10**5, True), (8 * 10**5 - 1, False)):
        monkeypatch.setattr("privhp.io.sources.ipc_messages.MAX_WHOLE", limit)
        if fits:
            list(source.batches())
        else:
            with pytest.raises(FileError, match="write the data again with fewer rows per batch"):
                list(source.batches())


def test_long_texts_make_short_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privhp.io.sources.arrow.MAX_TEXT", 100)
    texts = [random.Random(index).randrange(60) * "x" for index in range(ROWS)] + ["x" * 1000, "x"]
    table = pa.table({"a": texts, "b": range(ROWS + 2)})
    with InputFile(str(write(tmp_path / "a.arrow", table))).open() as file:
        (block,) = read_footer(file).batches
        found = list(BatchSlices(file, read_layout(file, block), table.schema.types, [0, 1]).slices(0, 50))
    assert [text for (column, _), _ in found for text in column.to_pylist()] == texts
    assert [number for (_, column), _ in found for number in column.to_pylist()] == list(range(ROWS + 2))
    sizes = [sum(len(text) for text in column.to_pylist()) for (column, _), _ in found]
    assert all(size <= 100 or len(column) == 1 for ((column, _), _), size in zip(found, sizes, strict=True))
    assert max(len(column) for (column, _), _ in found) > 1


def test_even_rows() -> None:
    for total in range(40):
        for most in range(1, 12):
            rows = even_rows(total, most)
            assert rows <= most
            assert total == 0 or -(-total // rows) == -(-total // most)


def test_damaged_bytes_are_refused_or_read(tmp_path: Path) -> None:
    """Any byte of an Arrow file may be wrong: an error of the file, or other values, and nothing else."""
    table = pa.table({"x": pa.array(SPACED, pa.float64()), "t": TEXTS})
    whole = write(tmp_path / "a.arrow", table).read_bytes()
    domain = hp.Table(x=hp.Nullable(hp.Interval(0, 100)), t=hp.Nullable(hp.Categories(["ab", "abab"])))
    rng, refused = random.Random(0), 0
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 1, 4])):
            content[rng.randrange(len(content))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        (tmp_path / "b.arrow").write_bytes(content)
        try:
            for batch in hp.io.sources.open_source(tmp_path / "b.arrow", domain=domain).batches():
                domain.encode(batch.records, level=domain.depth)
        except hp.PrivhpError:
            refused += 1
    assert 20 < refused < 280

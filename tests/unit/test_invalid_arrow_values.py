"""Values of Arrow files that are not of their types: they skip their own records, and damaged buffers the file."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import privhp as hp
from privhp.io.sources import open_source
from privhp.io.sources.arrow import validate
from silent import assert_silent

DAY = 86_400_000


def texts(*values: bytes, kind: Any = None) -> pa.Array:
    return pa.array(values, pa.binary()).view(pa.string()).cast(pa.string() if kind is None else kind)


def decimals(*units: int) -> pa.Array:
    """Numbers of tenths, with a precision of two digits."""
    content = b"".join(unit.to_bytes(16, "little", signed=True) for unit in units)
    return pa.Array.from_buffers(pa.decimal128(2, 1), len(units), [None, pa.py_buffer(content)])


def coded(*indices: int, values: Any = ("a", "b")) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(values), safe=False)


def paths(*elements: Any, kind: Any = pa.ListArray) -> pa.Array:
    """Lists of one element each."""
    values = elements[0] if isinstance(elements[0], pa.Array) else texts(*elements)
    if kind is pa.FixedSizeListArray:
        return kind.from_arrays(values, 1)
    return kind.from_arrays(pa.array(range(len(values) + 1), pa.int32()), values)


WORDS, TREE = hp.Categories(["a", "b"]), hp.Taxonomy({"c": {"d": None, "e": None}, "a": None, "b": None})
CASES: dict[str, tuple[hp.Domain, pa.Array]] = {
    "dates within a day": (
        hp.Time("1970-01-01", "1970-01-08", unit="D"),
        pa.array([0, DAY + 1, DAY], pa.int64()).view(pa.date64()),
    ),
    "decimals": (hp.Interval(0, 8), decimals(5, 2500, 15)),
    "texts": (WORDS, texts(b"a", b"\xff", b"b")),
    "views": (WORDS, pa.array([b"a", b"\xff", b"b"], pa.binary_view()).view(pa.string_view())),
    "lists": (TREE, paths(b"a", b"\xff", b"b")),
    "lists of one": (TREE, paths(b"a", b"\xff", b"b", kind=pa.FixedSizeListArray)),
    "index": (WORDS, coded(0, 5, 1)),
    "negative index": (WORDS, coded(0, -1, 1)),
    "index of a time": (
        hp.Time("1970-01-01", "1970-01-08"),
        coded(0, 5, 1, values=pa.array([0, DAY], pa.timestamp("ms"))),
    ),
    "text of a dictionary": (
        WORDS,
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), texts(b"a", b"\xff", b"b")),
    ),
    "index in lists": (TREE, paths(coded(0, 5, 1))),
    "negative index in lists": (TREE, paths(coded(0, -(10**8), 1))),
    "index in lists of one": (TREE, paths(coded(0, -1, 1), kind=pa.FixedSizeListArray)),
}
FORMS = ["file", "zstd", "stream", "memory"]


def save(table: Any, form: str, folder: Path) -> Any:
    path = folder / ("a.arrows" if form == "stream" else "a.arrow")
    options = ipc.IpcWriteOptions(compression="zstd" if form == "zstd" else None)
    if form != "memory":
        with (ipc.new_stream if form == "stream" else ipc.new_file)(path, table.schema, options=options) as writer:
            writer.write_table(table)
    return table if form == "memory" else path


def cells(data: Any, domain: hp.Domain) -> list[int]:
    with assert_silent():
        batches = open_source(data, domain=domain, columns=["x"]).batches()
        return [code for batch in batches for code in domain.encode(batch.records, level=domain.depth).tolist()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES)
def test_a_value_decides_about_itself_alone(case: str, form: str, tmp_path: Path) -> None:
    domain, values = CASES[case]
    alone = [cells(save(pa.table({"x": values[row : row + 1]}), "memory", tmp_path), domain) for row in (0, 2)]
    found = cells(save(pa.table({"x": values}), form, tmp_path), domain)
    assert [found[0], found[2]] == [code for codes in alone for code in codes]
    assert hp.OUTSIDE not in (found[0], found[2])
    assert found[1] == (found[2] if case == "dates within a day" else hp.OUTSIDE)


@pytest.mark.parametrize("form", FORMS)
def test_an_index_out_of_range_is_not_null(form: str, tmp_path: Path) -> None:
    for domain, values in ((hp.Nullable(WORDS), coded(0, 5, 1)), (hp.Nullable(TREE), paths(coded(0, -1, 1)))):
        assert cells(save(pa.table({"x": values}), form, tmp_path), domain)[1] == hp.OUTSIDE


def test_parquet_reads_the_same(tmp_path: Path) -> None:
    for case in ("dates within a day", "decimals", "texts", "lists", "text of a dictionary"):
        domain, values = CASES[case]
        parquet.write_table(pa.table({"x": values}), tmp_path / "a.parquet")
        expected = cells(pa.table({"x": values}), domain)
        assert cells(tmp_path / "a.parquet", domain)[::2] == expected[::2]


@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")], ids=str)
def test_times_of_day_beyond_a_day(kind: Any) -> None:
    times = pa.array([0, -1, 2**31 - 1], pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    validate(pa.record_batch({"x": times}))


def _offsets(*offsets: int) -> Any:
    return pa.py_buffer(np.array(offsets, dtype=np.int32))


BACK = pa.Array.from_buffers(pa.string(), 2, [None, _offsets(0, 900, 2), pa.py_buffer(b"ab")])
"""Texts with an offset out of bounds between others."""
DAMAGED: dict[str, pa.Array] = {
    "texts": BACK,
    "lists": pa.Array.from_buffers(pa.list_(pa.string()), 2, [None, _offsets(0, 900, 2)], children=[texts(b"a", b"b")]),
    "texts in lists": paths(BACK),
    "texts in lists of one": paths(BACK, kind=pa.FixedSizeListArray),
    "texts of a dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), BACK),
    "texts of a dictionary in lists": paths(pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), BACK)),
    "views": pa.Array.from_buffers(
        pa.string_view(), 1, [None, pa.py_buffer(np.array([900, 0, 7, 0], dtype=np.int32)), pa.py_buffer(b"ab")]
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_buffers_are_refused(case: str) -> None:
    with pytest.raises(pa.ArrowException):
        validate(pa.record_batch([DAMAGED[case]], names=["x"]))


def test_damaged_bytes_are_refused_or_read(tmp_path: Path, slow: bool) -> None:
    """Any byte of the buffers may be wrong: an error of the file, or other values, and nothing else."""
    domains = {case: domain for case, (domain, _) in CASES.items()}
    table = pa.table({case: pa.concat_arrays([values] * 9) for case, (_, values) in CASES.items()})
    whole, rng, refused = save(table, "file", tmp_path).read_bytes(), random.Random(0), 0
    for _ in range(3000 if slow else 300):
        content = bytearray(whole)
        for _ in range(rng.choice([1, 1, 4])):
            content[rng.randrange(len(content))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        (tmp_path / "b.arrow").write_bytes(content)
        case = rng.choice(list(CASES))
        try:
            for batch in open_source(tmp_path / "b.arrow", domain=domains[case], columns=[case]).batches():
                domains[case].encode(batch.records, level=1)
        except hp.PrivhpError:
            refused += 1
    assert refused > 20

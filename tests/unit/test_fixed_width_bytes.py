"""Columns of bytes of a fixed width in files: as values, as ids of persons, beside texts, and long ones."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import privhp as hp
from privhp.io.sources import Persons, open_source

WORDS = hp.Categories(["abc", "abd"])
FIXED = pa.array([b"abc", None, b"abd", b"\xff\xff\xff"] * 5, pa.binary(3))
TABLE = pa.table({"code": FIXED, "text": ["abd", "abc", None, "x"] * 5, "coded": FIXED.dictionary_encode()})


def codes_of(path: Path, domain: hp.Domain, **reading: Any) -> list[int]:
    batches = open_source(path, domain=domain, **reading).batches()
    return [code for batch in batches for code in domain.encode(batch.records, level=1).tolist()]


def write(path: Path, table: pa.Table) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("columns", [["code"], ["coded"], ["text", "code"], ["code", "coded", "text"]])
def test_columns_of_files(tmp_path: Path, suffix: str, columns: list[str]) -> None:
    domain = hp.Table({name: hp.Nullable(WORDS) for name in columns})
    rows = [{name: row[name] for name in columns} for row in TABLE.to_pylist()]
    assert codes_of(write(tmp_path / f"a{suffix}", TABLE), domain) == domain.encode(rows, level=1).tolist()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_persons(tmp_path: Path, suffix: str) -> None:
    ids = pa.array([b"p001", b"p001", b"p002"], pa.binary(4))
    path = write(tmp_path / f"a{suffix}", pa.table({"person": ids, "code": FIXED[:3]}))
    generator = hp.fit(path, hp.Table(code=hp.Nullable(WORDS)), epsilon=99, expected_records=3, person="person")
    assert round(generator.total) == 2
    assert open_source(path, domain=hp.Table(code=WORDS), persons=Persons("person")).persons is not None


def test_long_values_make_short_batches(tmp_path: Path) -> None:
    """Also where the file stores each of them once."""
    wide = pa.array([bytes(2**20)] * 9, pa.binary(2**20))
    path = write(tmp_path / "a.parquet", pa.table({"code": wide}))
    assert path.stat().st_size < 2**20
    batches = [len(batch.records) for batch in open_source(path, domain=hp.Table(code=WORDS)).batches()]
    assert sum(batches) == 9
    assert max(batches) <= 2

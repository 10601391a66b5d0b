"""Arrow streams that end too early, or go on after their end, are refused; whole ones of all versions are read."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

import privhp as hp
from privhp.io.sources import open_source

TABLE = pa.table({"x": np.arange(600) / 600})


def stream(*, legacy: bool = False) -> bytes:
    content = io.BytesIO()
    options = ipc.IpcWriteOptions(use_legacy_format=legacy)
    with ipc.new_stream(content, TABLE.schema, options=options) as writer:
        writer.write_table(TABLE, max_chunksize=100)
    return content.getvalue()


def count_rows(path: Path) -> int:
    source = open_source(path, domain=hp.Interval(0, 1))
    return sum(len(batch.records) for batch in source.batches())


@pytest.mark.parametrize("legacy", [False, True])
def test_whole_streams(tmp_path: Path, legacy: bool) -> None:
    (tmp_path / "a.arrows").write_bytes(stream(legacy=legacy))
    assert count_rows(tmp_path / "a.arrows") == 600


@pytest.mark.parametrize("legacy", [False, True])
def test_streams_cut_anywhere(tmp_path: Path, legacy: bool) -> None:
    """Also between two batches, where Arrow reads the rest as a whole stream."""
    whole = stream(legacy=legacy)
    between = len(whole) - (4 if legacy else 8)
    with ipc.open_stream(whole[:between]) as reader:
        assert reader.read_all().num_rows == 600
    for size in [*range(between - 300, len(whole)), *range(0, between, 37)]:
        (tmp_path / "a.arrows").write_bytes(whole[:size])
        with pytest.raises(hp.FileError):
            count_rows(tmp_path / "a.arrows")


def test_second_stream_after_the_end(tmp_path: Path) -> None:
    """Arrow ignores it."""
    (tmp_path / "a.arrows").write_bytes(stream() * 2)
    with pytest.raises(hp.FileError, match="write all data as one stream"):
        count_rows(tmp_path / "a.arrows")

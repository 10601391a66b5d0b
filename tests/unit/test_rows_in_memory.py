"""Objects in memory that tell their number of rows: read in batches, with the number of rows read so far."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp as hp
from privhp.io.sources import open_source

ROWS = 150_000
VALUES = np.arange(ROWS) % 1000
TABLE = hp.Table(x=hp.Integers(0, 999))
KINDS = {
    "array": (VALUES, hp.Integers(0, 999)),
    "masked array": (np.ma.MaskedArray(VALUES, mask=VALUES == 7), hp.Nullable(hp.Integers(0, 999))),
    "dict": ({"x": VALUES}, TABLE),
    "pandas": (pd.DataFrame({"x": VALUES}), TABLE),
    "polars": (pl.DataFrame({"x": VALUES}), TABLE),
    "pyarrow": (pa.table({"x": VALUES}), TABLE),
}
UNKNOWN = {
    "list": (VALUES.tolist(), hp.Integers(0, 999)),
    "dict of lists": ({"x": VALUES.tolist()}, TABLE),
    "iterator": (iter([VALUES, VALUES]), hp.Integers(0, 999)),
    "lazy frame": (pl.LazyFrame({"x": VALUES}), TABLE),
}


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_read_so_far(kind: str, sampled: bool) -> None:
    data, domain = KINDS[kind]
    source = open_source(data, domain=domain)
    assert source.size == ROWS
    batches = list(source.batches(sample=np.arange if sampled else None))
    assert len(batches) > 1
    codes = [domain.encode(batch.records, level=domain.depth) for batch in batches]
    assert [batch.read for batch in batches] == np.cumsum([own.size for own in codes]).tolist()
    np.testing.assert_array_equal(np.concatenate(codes), domain.encode(data, level=domain.depth))


@pytest.mark.parametrize("kind", UNKNOWN)
def test_objects_that_do_not_tell_their_rows(kind: str) -> None:
    data, domain = UNKNOWN[kind]
    source = open_source(data, domain=domain)
    assert source.size is None
    assert all(batch.read is None for batch in source.batches())


@pytest.mark.parametrize("data", [np.zeros(0), {"x": np.zeros(0)}, pd.DataFrame({"x": []})])
def test_no_rows(data) -> None:
    domain = hp.Interval(0, 1) if isinstance(data, np.ndarray) else hp.Table(x=hp.Interval(0, 1))
    source = open_source(data, domain=domain)
    assert source.size == 0
    assert sum(domain.encode(batch.records, level=1).size for batch in source.batches()) == 0


def test_columns_of_different_lengths_are_refused() -> None:
    data = {"x": np.zeros(3), "y": np.zeros(70_000)}
    with pytest.raises(hp.RecordsError, match="length"):
        hp.fit(data, hp.Table(x=hp.Interval(0, 1), y=hp.Interval(0, 1)), epsilon=1, expected_records=100)

"""A summary takes one batch at a time: lists of batches, iterators over them and groups are refused by their types."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privhp as hp
from privhp.errors import RecordsError

TABLE = hp.Table(fare=hp.Interval(0, 10), kind=hp.Categories(["a", "b"]))
DATA = {"fare": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]}
FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: [pd.DataFrame(DATA)] * 2,
    "iterator": lambda: iter([pd.DataFrame(DATA)]),
    "groups": lambda: pd.DataFrame(DATA).groupby("kind"),
    "polars": lambda: [pl.DataFrame(DATA)],
    "Arrow": lambda: [pa.table(DATA)],
    "tuple": lambda: (pd.DataFrame(DATA), pd.DataFrame(DATA)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_batches_of_batches_are_refused(name: str) -> None:
    summary = hp.Summary(hp.Plan.auto(TABLE, epsilon=1, expected_records=100))
    with pytest.raises(RecordsError, match="one batch of records, got several batches or groups"):
        summary.update(FRAMES[name]())
    assert summary.update(pd.DataFrame(DATA))


def test_records_of_any_kind_stay_records() -> None:
    summary = hp.Summary(hp.Plan.auto(TABLE, epsilon=1000, expected_records=100))
    rows: list[Any] = [(1.0, "a"), [2.0, "b"], {"fare": 3.0, "kind": "a"}, np.array([1, "a"], dtype=object), None]
    summary.update(rows)
    summary.update([None, pd.DataFrame(DATA), (1.0, "a")])  # a frame that does not come first is no record
    assert summary.release().total == pytest.approx(5, abs=0.5)

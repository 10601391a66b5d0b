"""Records and entries of dictionaries whose own code raises: each skips its own record, and nothing is quoted."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import privhp as hp
from privhp.collect.person_cap import keep_first
from privhp.core.cells import OUTSIDE
from privhp.io.sources import open_source
from silent import assert_silent

TIMES = np.array(["2020-03-01", "29000-01-01", "2020-05-01T12:00", "2020-03-01"], dtype="M8[s]")
YEAR = hp.Time("2020-01-01", "2021-01-01")
ZONED = pd.Series(pd.DatetimeIndex(TIMES).tz_localize("UTC").tz_convert("Europe/Berlin"))
CATEGORICALS: dict[str, pd.Series] = {
    "times in a zone": ZONED.astype("category"),
    "times of Arrow": pd.Series(pd.arrays.ArrowExtensionArray(pa.array(TIMES.astype("M8[us]")))).astype("category"),
    "index": pd.Series(pd.CategoricalIndex(ZONED)),
}


class Raises:
    """A record that computes its attributes, and fails."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError("secret")


class RaisesAlways:
    """A record of which nothing can be read but its type."""

    def __getattribute__(self, name: str) -> Any:
        raise ValueError("secret")


RAISING: list[type[Any]] = [Raises, RaisesAlways]


def codes_of(data: Any, domain: hp.Domain) -> list[int]:
    """Deepest cells of all records, in order."""
    batches = open_source(data, domain=domain).batches()
    return [code for batch in batches for code in domain.encode(batch.records, level=domain.depth).tolist()]


@pytest.mark.parametrize("kind", CATEGORICALS)
def test_far_time_among_categories_skips_its_record(kind: str) -> None:
    column, others = CATEGORICALS[kind], YEAR.encode(TIMES[[0, 2, 3]], level=YEAR.depth).tolist()
    with assert_silent():
        for data, domain in ((column, YEAR), (column.to_frame("t"), hp.Table(t=YEAR)), (column[:2], hp.Nullable(YEAR))):
            codes = codes_of(data, domain)
            assert [code == OUTSIDE for code in codes] == [False, True, False, False][: len(codes)]
        assert [code for code in codes_of(column, YEAR) if code != OUTSIDE] == others


def test_far_time_among_categories_is_no_person() -> None:
    assert keep_first(pd.Series(["a", "a", "b"], dtype="category"), 1).tolist() == [0, 2]
    for column in CATEGORICALS.values():
        assert keep_first(column, 1).tolist() == []  # times are no ids, and the far one is not quoted


@pytest.mark.parametrize("kind", RAISING)
@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("form", [list, tuple])
def test_record_that_raises_skips_itself(kind: type[Any], place: int, form: Any) -> None:
    unit, pairs = hp.Interval(0, 1), hp.Table(a=hp.Interval(0, 1), b=hp.Integers(0, 9))
    for domain, value in ((unit, 0.25), (hp.Nullable(unit), 0.25), (pairs, (0.25, 3)), (hp.Box([(0, 1)] * 2), (0, 1))):
        records = [value] * 3
        records.insert(place, kind())
        with assert_silent():
            codes = codes_of(form(records), domain)
        assert [code == OUTSIDE for code in codes] == [index == place for index in range(4)]


@pytest.mark.parametrize("kind", RAISING)
def test_element_that_raises_is_refused_by_its_type(kind: type[Any]) -> None:
    frame = pd.DataFrame({"a": [0.5]})
    with pytest.raises(hp.RecordsError, match="begins with a batch"):
        codes_of([frame, kind()], hp.Interval(0, 1))
    with pytest.raises(hp.RecordsError, match="got a single one"):
        codes_of(iter([kind()]), hp.Interval(0, 1))

"""Names of columns that stand for other columns of a table, and numbers that stand for names, are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privhp as hp
from privhp.io.sinks.writer import write_sample
from privhp.io.sources import open_source

FRAME = pd.DataFrame({"bed": [1, 2], "high": [120, 130], "low": [70, 80]})
TABLE = hp.Table(high=hp.Integers(0, 250), low=hp.Integers(0, 250))
FIT: dict[str, Any] = {"epsilon": 1, "expected_records": 5000}


def sources(tmp_path: Path) -> list[Any]:
    path = tmp_path / "data.csv"
    FRAME.to_csv(path, index=False)
    return [FRAME, path, {name: FRAME[name].to_numpy() for name in FRAME}]


def test_names_of_other_columns_are_refused(tmp_path: Path) -> None:
    for data in sources(tmp_path):
        with pytest.raises(
            hp.RecordsError, match=r"column 'low' would be taken for 'high': columns= names .* 'high', 'low'"
        ):
            hp.fit(data, TABLE, columns=["low", "high"], **FIT)
        with pytest.raises(hp.RecordsError, match="column 'high' would be taken for 'low'"):
            hp.fit(data, TABLE, columns=["bed", "high"], **FIT)


@pytest.mark.parametrize("domain", [hp.Table(high=hp.Integers(0, 250)), hp.Integers(0, 250).named("high")])
def test_another_column_in_place_of_one_that_is_there(domain: hp.Domain, tmp_path: Path) -> None:
    for data in sources(tmp_path):
        warned = list[str]()
        next(open_source(data, domain=domain, columns=["low"], warn=warned.append).batches())
        assert [text.partition(":")[0] for text in warned] == [
            "column 'low' is read as 'high', although there is a column 'high'"
        ]


def test_renamed_columns_have_no_warning(tmp_path: Path) -> None:
    for data in sources(tmp_path):
        warned = list[str]()
        domain = hp.Table(pressure=hp.Integers(0, 250))
        next(open_source(data, domain=domain, columns=["low"], warn=warned.append).batches())
        assert not warned


@pytest.mark.filterwarnings("ignore::privhp.PrivhpWarning")
def test_other_names_and_the_same_order_are_read(tmp_path: Path) -> None:
    for data in sources(tmp_path):
        for columns in (["high", "low"], ["bed", "low"]):
            hp.fit(data, TABLE, columns=columns, **FIT)


@pytest.mark.parametrize(
    "domain", [hp.Table({"1": hp.Integers(0, 9), "3": hp.Integers(0, 9)}), hp.Integers(0, 9).named("3")]
)
def test_numbers_as_names_of_a_file_without_a_header(domain: hp.Domain, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    FRAME.to_csv(path, index=False, header=False)
    numbers = list(map(int, domain.value_names))
    with pytest.raises(hp.FileError, match=rf"no numbers of columns: .* give columns=\[{numbers[0]}"):
        hp.fit(path, domain, header=False, **FIT)


def test_samples_with_the_names_of_other_columns(tmp_path: Path) -> None:
    generator = hp.Summary(hp.Plan.auto(TABLE, **FIT)).release()
    with pytest.raises(hp.RecordsError, match="would be taken for"):
        write_sample(generator, tmp_path / "a.csv", rows=2, columns=["low", "high"])
    write_sample(generator, tmp_path / "a.csv", rows=2, columns=["a", "b"])
    assert np.array_equal(pd.read_csv(tmp_path / "a.csv").columns, ["a", "b"])

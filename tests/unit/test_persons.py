"""Columns of persons in files, frames and batches, and what is refused."""

from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import privhp as hp
from learning_runs import Batches, no_noise
from person_checks import keep_slowly
from privhp.collect.ingest import CheckpointedIngestion, Ingestion
from privhp.collect.person_cap import MAX_ID, SortedPersonCap, keep_first
from privhp.io.sources import Persons, open_source
from spies import record_draws

MOST = 2
VALUES = np.arange(40)
IDS = np.repeat([2, 9, 10, 11, 30], [1, 20, 2, 3, 14])
"""Sorted as numbers, not as text."""
PLAN = hp.Plan(hp.Integers(0, 63), epsilon=1, budgets={6: 1}, exact_depth=6, max_records_per_person=MOST)
FRAME = pd.DataFrame({"value": VALUES, "user": IDS})
KEPT = keep_slowly(IDS.tolist(), MOST)
ADVICE = r"not sorted by person.*\.sort\('user', maintain_order=True\)\), or collect them into one frame$"


def counted(data: Any, *, persons: Persons = Persons("user"), **reading: Any) -> list[int]:  # noqa: B008 - immutable
    """Values that a pass over the data counts."""
    with record_draws(no_noise):
        ingestion = Ingestion(PLAN, open_source(data, domain=PLAN.domain, persons=persons, **reading))
        assert ingestion.run()
    return np.flatnonzero(ingestion.summary.close().counts[6]).tolist()


def write(folder: Path, suffix: str, frame: pd.DataFrame = FRAME) -> Path:
    path = folder / f"data{suffix}"
    match suffix:
        case ".ndjson":
            frame.to_json(path, orient="records", lines=True)
        case ".parquet":
            pa.parquet.write_table(pa.Table.from_pandas(frame), path, row_group_size=7)
        case ".arrow":
            pa.feather.write_feather(frame, str(path), compression="uncompressed")
        case ".npy":
            np.save(path, frame.to_numpy())
        case _:
            frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".ndjson", ".parquet", ".arrow"])
@pytest.mark.parametrize("as_text", [False, True])
def test_files(suffix: str, as_text: bool, tmp_path: Path) -> None:
    frame = FRAME.astype({"user": str}) if as_text else FRAME
    assert counted(write(tmp_path, suffix, frame), columns="value") == KEPT


def test_columns_of_arrays(tmp_path: Path) -> None:
    assert counted(write(tmp_path, ".npy"), persons=Persons("2")) == KEPT
    np.save(tmp_path / "data.npy", FRAME[["user", "value"]].to_numpy(dtype=float))
    assert counted(tmp_path / "data.npy", persons=Persons("1")) == KEPT


def test_files_without_header(tmp_path: Path) -> None:
    FRAME[["user", "value"]].to_csv(tmp_path / "data.csv", index=False, header=False)
    assert counted(tmp_path / "data.csv", header=False, persons=Persons("1")) == KEPT


def test_all_columns_but_that_of_persons(tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet"):
        assert counted(write(tmp_path, suffix)) == KEPT


def test_several_files_are_one_stream(tmp_path: Path) -> None:
    FRAME[:10].to_csv(tmp_path / "1.csv", index=False)
    FRAME[10:].to_csv(tmp_path / "2.csv", index=False)
    assert counted(str(tmp_path / "*.csv"), columns="value") == KEPT
    FRAME[:10].to_csv(tmp_path / "3.csv", index=False)
    with pytest.raises(hp.RecordsError, match=r"not sorted by person.*byte order \(LC_ALL=C sort -s\)$"):
        counted(str(tmp_path / "[23].csv"), columns="value")


@pytest.mark.parametrize("suffix", [".csv", ".ndjson", ".parquet", ".arrow"])
def test_column_of_persons_is_a_value_too(suffix: str, tmp_path: Path) -> None:
    assert counted(write(tmp_path, suffix), columns="user") == sorted(set(IDS.tolist()))


@pytest.mark.parametrize(
    "form",
    [
        lambda frame: frame,
        pl.DataFrame,
        pa.Table.from_pandas,
        lambda frame: dict(frame.items()),
        lambda frame: frame.astype({"user": "category"}),
        lambda frame: frame.astype({"user": str}),
        lambda frame: frame.astype({"user": float}),
    ],
)
def test_frames_in_any_order(form: Any) -> None:
    shuffled = FRAME.sample(frac=1, random_state=0)
    kept = shuffled.iloc[keep_slowly(shuffled["user"].tolist(), MOST)]
    assert counted(form(shuffled), columns="value") == sorted(kept["value"])


def test_table_selects_its_columns() -> None:
    plan = hp.Plan.auto(
        hp.Table(value=hp.Integers(0, 63)), epsilon=1000, expected_records=40, passes=1, max_records_per_person=MOST
    )
    generator = hp.fit(FRAME, plan=plan, person="user")
    assert round(generator.total) == len(KEPT)


@pytest.mark.parametrize(
    "batches",
    [
        iter,
        Batches,
        lambda parts: pa.RecordBatchReader.from_batches(
            pa.Schema.from_pandas(FRAME), [pa.RecordBatch.from_pandas(part) for part in parts]
        ),
    ],
)
def test_batches_are_sorted(batches: Any) -> None:
    assert counted(batches([FRAME[:9], FRAME[9:11], FRAME[11:]]), columns="value") == KEPT
    with pytest.raises(hp.RecordsError, match=ADVICE):
        counted(batches([FRAME[9:], FRAME[:9]]), columns="value")


def test_query_is_sorted() -> None:
    lazy = pl.DataFrame(FRAME).lazy()
    assert counted(lazy) == KEPT
    descending = lazy.sort("user", descending=True)
    with pytest.raises(hp.RecordsError, match=ADVICE):
        counted(descending)
    assert counted(descending.sort("user", maintain_order=True)) == counted(descending.collect())


def test_rows_that_cannot_be_read_have_no_person(tmp_path: Path) -> None:
    """They are skipped as always, and neither break the order nor count for a person."""
    lines = ["user,value", "5,1", "9", "5,2", '"0,3', "5,4,4", "5,5", "6,6", b"\xff,7".decode("latin-1"), "7,8"]
    (tmp_path / "data.csv").write_bytes("\n".join(lines).encode("latin-1"))
    reading: dict[str, Any] = {"columns": "value", "csv": hp.CsvDialect(records="lines")}
    assert counted(tmp_path / "data.csv", **reading) == [1, 2, 6, 8]
    (tmp_path / "data.ndjson").write_text('{"user":5,"value":1}\n[9]\n{"user":[5],"value":2}\n{"user":"5","value":3}\n')
    assert counted(tmp_path / "data.ndjson", columns="value") == [1, 3]


def test_null_persons(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("user,value\n,1\n5,2\n,3\n5,4\nNA,5\n5,6\n")
    with pytest.raises(hp.RecordsError, match="a row has no person"):
        counted(path, columns="value")
    assert counted(path, columns="value", persons=Persons("user", "one")) == [1, 2, 3, 4]
    frame = {"value": [1, 2, 3, 4], "user": [None, 7.0, float("nan"), pd.NA]}
    assert counted(frame, persons=Persons("user", "one")) == [1, 2, 3]


def test_ids() -> None:
    ids = [7, "7", 7.0, np.int64(7), b"7", "8", 7.5, True, [7], "x" * MAX_ID, "y" * (MAX_ID + 1)]
    assert keep_first(ids, 1).tolist() == [0, 5, 9]
    person = UUID(int=7)
    assert keep_first([person, str(person), UUID(int=8), (person,)], 1).tolist() == [0, 2]
    rounded = np.array([2.0**53 + 2, np.inf, 3.5])
    assert keep_first(rounded, 1).size == 0, "a rounded number may be another person's"
    assert keep_first(np.array([2**64 - 1, 2**64 - 1, 0], dtype=np.uint64), 1).tolist() == [0, 2]
    for ids_of_type in (np.array(["2020-01-01"], dtype="M8[D]"), np.array([True])):
        with pytest.raises(hp.RecordsError, match="ids of persons"):
            keep_first(ids_of_type, 1)


@pytest.mark.parametrize("number", ["1e999999999", "-1e999999999", "1e-999999999", "1e1024", "Infinity", "sNaN"])
def test_ids_with_many_digits_are_invalid(number: str) -> None:
    """Without a number of as many digits being computed."""
    assert keep_first([7, Decimal(number), Decimal("7.0"), 8], 1).tolist() == [0, 3]


def test_ids_that_are_equal_as_numbers_are_one_person() -> None:
    long = Decimal("1e1023")
    ids = [10, Decimal("1e1"), 10.0, "10", int(long), long, Decimal("10.5")]
    assert keep_first(ids, 1).tolist() == [0, 4]


def test_lengths_are_equal() -> None:
    with pytest.raises(hp.RecordsError, match="differ in length"):
        counted({"value": [1, 2, 3], "user": [1, 2]}, columns="value")


def test_frame_without_rows() -> None:
    assert counted(FRAME[:0], columns="value") == []
    assert counted(pa.Table.from_pandas(FRAME[:0]), columns="value") == []


def test_texts_that_are_equal_as_numbers_are_sorted_as_text() -> None:
    assert SortedPersonCap(1).keep(["9", "10", "010"][:2]).size == 2
    with pytest.raises(hp.RecordsError, match="not sorted by person"):
        SortedPersonCap(1).keep(["9", "10", "010"])  # 10 could come again after 010


def test_refused_declarations(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"epsilon": 1, "expected_records": 40}
    for person in (True, 1.5, ["user"]):
        with pytest.raises(hp.RecordsError, match="person="):
            hp.fit(FRAME, PLAN.domain, **settings, person=person)
    with pytest.raises(hp.RecordsError, match="null_person="):
        hp.fit(FRAME, PLAN.domain, **settings, person="user", null_person="skip")  # type: ignore[arg-type]  # a wrong value is the test
    with pytest.raises(hp.RecordsError, match="dict of arrays"):
        hp.fit(VALUES, PLAN.domain, **settings, person="user")
    with pytest.raises(hp.RecordsError, match="'owner'"):
        hp.fit(FRAME, PLAN.domain, **settings, columns="value", person="owner")
    for suffix in (".csv", ".parquet"):
        with pytest.raises(hp.FileError, match="'owner'"):
            hp.fit(write(tmp_path, suffix), PLAN.domain, **settings, columns="value", person="owner")
    times = FRAME.assign(user=pd.Timestamp("2020-01-01"))
    with pytest.raises(hp.FileError, match="ids of persons"):
        hp.fit(write(tmp_path, ".parquet", times), PLAN.domain, **settings, columns="value", person="user")


def test_plan_fixes_the_number() -> None:
    with pytest.raises(hp.PlanError, match="plan= fixes the number of records of a person, 2"):
        hp.fit(FRAME, plan=PLAN, columns="value", person="user", max_records_per_person=5)


def test_checkpoint_belongs_to_its_persons(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv")
    states = [None, Persons("user"), Persons("user", "one")]
    for started in states:
        state = tmp_path / "state"
        CheckpointedIngestion(
            PLAN, open_source(path, domain=PLAN.domain, columns="value", persons=started), state
        ).close(remove=False)
        for other in states:
            if other != started:
                source = open_source(path, domain=PLAN.domain, columns="value", persons=other)
                with pytest.raises(hp.StateError, match="other files, columns or options"):
                    CheckpointedIngestion(PLAN, source, state, resume=True)
        state.unlink()


@pytest.mark.parametrize("frame", [pd.DataFrame, dict, pa.table])
def test_ids_of_persons_have_no_warning_about_values(frame: Any) -> None:
    """Warnings are errors: the ids are whole numbers, and the values are not."""
    data = frame({"user": IDS, "km": VALUES / 8.0})
    common: dict[str, Any] = {"epsilon": 1, "expected_records": 1000, "max_records_per_person": MOST}
    hp.fit(data, hp.Interval(0, 10), person="user", **common)


def test_other_objects_are_no_plan() -> None:
    with pytest.raises(hp.PlanError, match="expected a plan, such as"):
        hp.fit(VALUES, plan=PLAN.domain)  # type: ignore[arg-type]  # a wrong value is the test

"""Nullable columns of CSV in which no field was read as null."""

import warnings
from pathlib import Path

import pytest

import privhp as hp
from privhp.answers.generator import Reading
from privhp.answers.unseen_nulls import describe_unseen_nulls

TABLE = hp.Table(age=hp.Integers(0, 99), children=hp.Nullable(hp.Integers(0, 6)), pets=hp.Nullable(hp.Integers(0, 6)))
UNSEEN = "hold no null that the noise lets us see: "


def fit(path: Path, null: str, *, every: int = 12, **dialect: list[str]) -> hp.Generator:
    """The number of children is null in every twelfth record, or in others."""
    lines = [f"{row % 90},{row % 7 if row % every else null},{row % 6 if row % 5 else ''}\n" for row in range(4000)]
    path.write_text("age,children,pets\n" + "".join(lines))
    return hp.fit(path, TABLE, epsilon=50, expected_records=4000, csv=hp.CsvDialect(**dialect))


@pytest.mark.parametrize("null", ["", "NA", "n/a", "NULL", r"\N", r"\n"])
def test_null_that_is_read_is_seen(null: str, tmp_path: Path) -> None:
    generator = fit(tmp_path / "data.csv", null, every=4)
    assert describe_unseen_nulls(generator) is None
    assert float(generator.mass({"children": None})) == pytest.approx(1 / 4, abs=0.01)


def test_null_that_is_written_otherwise_is_named(tmp_path: Path) -> None:
    with pytest.warns(hp.PrivhpWarning, match=f"4,000 were expected, .*{UNSEEN}children. A field") as caught:
        generator = fit(tmp_path / "data.csv", "-")
    assert str(caught[0].message) == describe_unseen_nulls(generator)
    assert str(caught[0].message).endswith("csv=CsvDialect(nulls=['-'])")
    fit(tmp_path / "again.csv", "-", nulls=["-"])


def test_low_counts_have_their_own_warning(tmp_path: Path) -> None:
    with pytest.warns(
        hp.PrivhpWarning, match="missing values in nullable columns that are written otherwise"
    ) as caught:
        generator = fit(tmp_path / "data.csv", "-", every=4)
    assert len(caught) == 1
    assert describe_unseen_nulls(generator) is None


@pytest.mark.parametrize("formats", [None, [], ["parquet"]])
def test_other_files_tell_null_by_its_type(formats: list[str] | None, tmp_path: Path) -> None:
    with pytest.warns(hp.PrivhpWarning, match=UNSEEN):
        generator = fit(tmp_path / "data.csv", "-")
    generator.reading = Reading(formats)
    assert describe_unseen_nulls(generator) is None


@pytest.mark.parametrize(("records", "expected", "named"), [(4000, 4000, False), (4000, 4300, True), (40, 43, False)])
def test_records_must_be_missing(records: int, expected: int, named: bool, tmp_path: Path) -> None:
    """A column may be nullable and have no null; the noise may hide some."""
    path = tmp_path / "data.csv"
    path.write_text("children\n" + "3\n" * records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        generator = hp.fit(path, hp.Nullable(hp.Integers(0, 6)), epsilon=10 * records / 4000, expected_records=expected)
    assert (f"{UNSEEN}value." in (describe_unseen_nulls(generator) or "")) == named

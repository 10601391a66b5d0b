"""Likely causes of a low count: those of the domain and of the data, the likeliest first."""

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privhp as hp
from privhp import PrivhpWarning
from privhp.answers.generator import Reading
from privhp.answers.low_counts import describe_low_count
from privhp.io.sources.selection import Selection
from privhp.release import Release
from privhp.reporting.sections import warnings_section

CAUSES: list[tuple[hp.Domain, list[str]]] = [
    (hp.Interval(0, 1), ["numbers count from 1", "currency signs", "outside the bounds"]),
    (hp.Interval(0, 1, outside="clamp"), ["numbers count from 1", "currency signs"]),
    (hp.Interval(0, 1).named("fare"), ["currency signs", "outside the bounds"]),
    (hp.Geo(-9, 49.8, 2, 61).named("x", "y"), ["order, such as latitude", "currency signs", "outside the bounds"]),
    (
        hp.Box([(0, 1), (0, 1)]).named("x", "y"),
        ["columns in another order: columns=\n", "currency signs", "outside the bounds"],
    ),
    (hp.Categories(["a", "b"]).named("c"), ["not declared"]),
    (hp.Categories(["a", "b"], other="c").named("c"), []),
    (hp.IPv4().named("a"), ["not addresses"]),
    (hp.IPv4("10.0.0.0/8").named("a"), ["not addresses", "outside the bounds"]),
    (hp.Time("2024-01-01", "2024-12-31").named("t"), ["form than 2024-12-31 or", "outside the bounds"]),
    (hp.Time("2024-01-01", "2024-12-31", format="%d.%m.%Y").named("t"), ["form than %d.%m.%Y,", "outside the bounds"]),
    (
        hp.Table(a=hp.Interval(0, 1), b=hp.Categories(["a", "b"])),
        ["currency signs", "outside the bounds", "not declared"],
    ),
    (
        hp.Table({("x", "y"): hp.Box([(0, 1), (0, 1)]), "c": hp.IPv6()}),
        [
            "columns in another order: columns=\n",
            "currency signs",
            "not addresses",
            "outside the bounds",
        ],
    ),
]


def low_release(domain: hp.Domain) -> hp.Generator:
    plan = hp.Plan(domain, epsilon=9, budgets={1: 9}, exact_depth=1, expected_records=1000)
    return hp.Generator(Release(plan, {1: np.array([50, 50])}))


def describe(generator: hp.Generator, **reading: Any) -> str:
    generator.reading = Reading(**reading)
    text = describe_low_count(generator)
    assert text is not None
    return text


@pytest.mark.parametrize(("domain", "causes"), CAUSES, ids=repr)
def test_causes_apply_to_the_domain(domain: hp.Domain, causes: list[str]) -> None:
    everything = {cause for _, own in CAUSES for cause in own}
    text = describe(low_release(domain), formats=["csv"], persons=False)
    assert {cause for cause in everything if cause in text} == set(causes)
    assert "delimiter" in text
    assert "an input that was cut short, such as a pipe" in text
    assert "no rows" not in text
    assert "person" not in text
    first, *lines, last = text.splitlines()
    assert first.endswith("Likely causes, if that number was right:")
    assert all(line.startswith("- ") for line in lines)
    assert last.startswith("Check them before you use the release")


@pytest.mark.parametrize(
    ("formats", "declared", "named"),
    [
        (["parquet"], [], True),
        (["csv"], [], True),
        (["csv"], ["header"], False),
        (["npy"], [], False),
        ([], [], False),
    ],
)
def test_columns_with_names_may_be_in_any_order(formats: list[str], declared: list[str], named: bool) -> None:
    table = hp.Table(a=hp.Interval(0, 1), b=hp.Interval(0, 1))
    text = describe(low_release(table), formats=formats, declared=declared)
    assert ("another order" not in text) == named
    frame = low_release(table)
    frame.frame = "pandas"
    assert "another order" not in describe(frame, formats=[])
    assert ("records that are not tuples, dicts or rows of a frame (files are a list of Paths)" in text) == (
        not formats
    )


def test_causes_apply_to_the_kind_of_data(tmp_path: Path) -> None:
    domain, plan = hp.Interval(0, 9), {"epsilon": 9, "expected_records": 1000}
    (tmp_path / "a.csv").write_text("fare\n" + "5\n" * 100)
    pq.write_table(pa.table({"fare": [5.0] * 100}), tmp_path / "a.parquet")
    texts = []
    for data in ([5.0] * 100, tmp_path / "a.parquet", tmp_path / "a.csv"):
        with pytest.warns(PrivhpWarning, match="Likely causes, if that number was right") as caught:
            hp.fit(data, domain, **plan)
        texts.append(str(caught[0].message))
    assert [("delimiter" in text, "currency" in text) for text in texts] == [(False, False)] * 2 + [(True, True)]
    assert ["cut short" in text for text in texts] == [False, True, True]
    assert not any("person" in text for text in texts)
    data = {"fare": [5.0] * 200, "who": np.arange(200) // 2}
    first = "number was right:\n- records beyond the number per person: max_records_per_person=\n"
    with pytest.warns(PrivhpWarning, match=first):
        hp.fit(data, hp.Table(fare=domain), person="who", **plan)
    with pytest.warns(PrivhpWarning, match="number was right:\n- records beyond the number per person\n"):
        hp.fit(data, hp.Table(fare=domain), person="who", max_records_per_person=2, **plan)


def test_no_rows_are_named_below_the_causes_of_the_columns() -> None:
    """The noisy count decides: a refusal of an empty input would show that nobody is in it."""
    bounds = "number was right:\n- text where numbers are declared\n- values outside the bounds\n- missing values .*\n"
    for data in (np.zeros(0), pd.DataFrame({"fare": np.zeros(0)}), [], [99.0] * 1000):
        with pytest.warns(PrivhpWarning, match=f"{bounds}- no rows: the input may be empty\n"):
            hp.fit(data, hp.Interval(0, 9), epsilon=9, expected_records=1000)


def test_declared_parameters_are_not_proposed() -> None:
    release = low_release(hp.Interval(0, 1))
    proposals = {"delimiter": ";", "encoding": "cp1252", "currency": "$", "decimal": ",", "records": "lines"}
    proposals["thousands"] = " "
    for name, value in proposals.items():
        text = describe(release, formats=["csv"], declared=hp.CsvDialect(**{name: value}).declared)
        found = {other for other in proposals if f"csv=CsvDialect({other}=" in text}
        assert found == proposals.keys() - {name}
        written = " or numbers that are not written as declared where numbers" in text
        assert written == (name in ("currency", "decimal", "thousands"))
        assert ("csv=CsvDialect(thousands='.')" in text) == (name == "decimal")
        assert "\n- records with another number of fields than the header\n" in text
        assert "columns=" in text
    text = describe(release, formats=["csv"], declared=[*hp.CsvDialect(**proposals).declared, "columns", "header"])
    assert "- another delimiter or encoding of the file\n- quotes" in text
    assert "not doubled\n" in text
    assert "columns=" not in text


def test_the_card_names_the_causes_of_the_warning() -> None:
    """Also after a copy; a release file does not say what was read, nor whether Python or the command line read it."""
    frame = pd.DataFrame({"fare": ["$5"] * 1000})
    with pytest.warns(PrivhpWarning) as caught:
        generator = hp.fit(frame, hp.Table(fare=hp.Interval(0, 9)), epsilon=9, expected_records=1000)
    for copy in (generator, pickle.loads(pickle.dumps(generator))):
        assert describe_low_count(copy) == str(caught[-1].message)
        assert "CsvDialect" not in warnings_section(copy)
    card = warnings_section(hp.Generator.from_bytes(generator.to_bytes()))
    assert "text, percent or currency signs, thousands separators or decimal commas where numbers are declared" in card
    assert "CsvDialect" not in card


def test_a_release_file_names_causes_without_parameters() -> None:
    """The likeliest first, and none of NDJSON unless a name has a dot."""
    place, domain = hp.Geo(-9, 49.8, 2, 61), hp.Nullable(hp.Time("2024-01-01", "2024-12-31"))
    single = low_release(hp.Table({("x", "y"): place, "a.b": domain}))
    several = hp.Generator(Release(replace(single.plan, max_records_per_person=5), {1: np.array([50, 50])}))
    with_cap = "- with a declared column of persons, records beyond the number per person"
    orders = "- columns in another order, such as latitude before longitude"
    for generator, first in ((single, orders), (several, with_cap)):
        text = describe_low_count(generator) or ""
        causes = text.splitlines()[1:-1]
        assert causes[:2] == ["- nested keys of NDJSON, which are not read", first]
        assert not re.search(r"\w=|--|\(csv|Python|command line", text)
        assert "NDJSON" not in "".join(causes[1:])
        assert any("beyond" in cause for cause in causes[1:4])


def test_options_that_a_source_declares(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("fare;who\n" + "5;1\n" * 100)
    domain, plan = hp.Interval(0, 9), {"epsilon": 9, "expected_records": 1000}
    with pytest.warns(
        PrivhpWarning, match="another delimiter or encoding of the file: csv=CsvDialect.encoding='cp1252'.\n"
    ) as caught:
        hp.fit(tmp_path / "a.csv", domain, columns="fare", csv=hp.CsvDialect(delimiter=";"), **plan)
    assert "columns=" not in str(caught[0].message)


@pytest.mark.parametrize(
    ("domain", "cause"),
    [
        (hp.IPv4(), "- texts that are not addresses, such as addresses with a port\n"),
        (hp.Time("2024-01-01", "2024-12-31"), "by its format: :format=%d/%m/%Y on the command line, format = "),
        (hp.Time("2024-01-01", "2024-12-31", format="%d/%m/%Y"), "by its format: :format=%m/%d/%Y on"),
        (hp.Time("2024-01-01", "2024-12-31", format="epoch"), "by its format: :format=epoch_ms on"),
        (hp.Time("2024-01-01", "2024-12-31", format="epoch_ms"), "by its format: :format=epoch on"),
    ],
    ids=repr,
)
def test_examples_of_causes(domain: hp.Domain, cause: str) -> None:
    assert cause in describe(low_release(domain), formats=["csv"])


def test_causes_above_half_skip_some_records() -> None:
    plan = hp.Plan(hp.Geo(-9, 49.8, 2, 61), epsilon=9, budgets={1: 9}, exact_depth=1, expected_records=1000)
    some, few = (hp.Generator(Release(plan, {1: np.array([count, count])})) for count in (350, 50))
    text = describe(some, formats=["csv"], persons=False)
    first, *causes = text.splitlines()
    assert first.startswith("about 700 records (noisy) were counted and 1,000 were expected: ")
    assert causes[0].startswith("- text, percent or currency signs")
    assert not [cause for cause in causes if "another order" in cause or "another delimiter" in cause]
    assert "- columns in another order" in describe(few, formats=["csv"], persons=False)
    assert describe_low_count(hp.Generator(Release(plan, {1: np.array([500, 500])}))) is None


def test_numbers_since_1970_are_proposed_for_times_without_a_format() -> None:
    numbers = "in a domain file or in Python; epoch or epoch_ms for numbers since 1970\n"
    for form in (None, "%d/%m/%Y", "epoch"):
        text = describe(low_release(hp.Time("2024-01-01", "2024-12-31", format=form)), formats=["csv"])
        assert (numbers in text) == (form is None)


@pytest.mark.parametrize("merged", [1, 2])
def test_causes_of_merged_summaries(merged: int) -> None:
    """Nothing is known about the files of others. The release of several summaries says so itself."""
    plan = low_release(hp.Table(a=hp.Interval(0, 1), b=hp.Integers(0, 9))).plan
    generator = hp.Generator(Release(plan, {1: np.array([50, 50])}, merged=merged))
    causes = (describe(generator) if merged > 1 else describe(generator, merged=True)).splitlines()[1:-1]
    assert causes == [
        "- a summary that is missing",
        "- columns without names in another order",
        "- with a declared column of persons, records beyond one for each",
        "- text where numbers are declared",
        "- numbers with decimals where integers are declared",
        "- values outside the bounds",
        "- missing values in columns that are not nullable",
        "- an input that was cut short, such as a pipe",
    ]


@pytest.mark.parametrize("table", [True, False])
def test_missing_values_of_nullable_columns(table: bool) -> None:
    nulls = "\n- missing values in nullable columns that are written otherwise than NA: csv=CsvDialect(nulls=['-'])\n"
    for nullable in (True, False):
        domain = hp.Nullable(hp.Interval(0, 1)) if nullable else hp.Interval(0, 1)
        release = low_release(hp.Table(a=domain, b=hp.Interval(0, 1)) if table else domain)
        for formats, declared in (("csv", ()), ("csv", ("nulls",)), ("parquet", ()), ("", ())):
            text = describe(release, formats=[formats] if formats else [], declared=declared)
            assert (nulls in text) == (nullable and formats == "csv" and not declared)


def test_causes_of_quotes() -> None:
    """Where quotes are characters like others, they are no cause."""
    release, awk = (
        low_release(hp.Interval(0, 1)),
        "\n- column numbers of awk: a quoted field is one column here, unless ",
    )
    for header, records in ((False, "rfc4180"), (False, "lines"), (False, "unquoted"), (True, "lines")):
        dialect = hp.CsvDialect(records=records)  # type: ignore[arg-type]  # a tuple of texts is no tuple of literals
        selection = Selection(release.domain, header=header, csv=dialect)
        text = describe(release, formats=["csv"], declared=selection.declared)
        assert ("\n- quotes " in text) == (records != "unquoted")
        assert (f"{awk}csv=CsvDialect(records='unquoted')\n" in text) == (records == "lines" and not header)


def test_names_with_dots() -> None:
    """They are often those of nested keys, which NDJSON readers of other programs join by dots."""
    generator = low_release(hp.Table({"user.age": hp.Integers(0, 120), "n": hp.Integers(0, 9)}))
    first = "if that number was right:\n- in NDJSON, nested keys are not read"
    for formats, named in ((["ndjson"], True), (["parquet"], False)):
        generator.reading = Reading(formats=formats, persons=False, declared=[])
        assert (first in (describe_low_count(generator) or "")) == named
    plain = low_release(hp.Table(age=hp.Integers(0, 120), n=hp.Integers(0, 9)))
    assert first not in (describe_low_count(plain) or "")

"""Warnings that follow from public values: a low noisy count, and columns that a plan hardly resolves."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privhp as hp
from pages import Reader, coarse_pictures
from privhp import LowCountError, PlanError, PrivhpWarning, RecordsError
from privhp.answers.generator import FULL_SHARE, NOT_COUNTED, Reading
from privhp.answers.high_counts import describe_high_count
from privhp.answers.low_counts import describe_low_count
from privhp.planning.wide_tables import FEW_SPLITS, coarse_columns, describe_coarse_columns, usual_level
from privhp.release import Release
from privhp.reporting.sections import warnings_section

BRITAIN = hp.Geo(-9, 49.8, 2, 61)
PLAN = {"epsilon": 50, "expected_records": 20_000, "memory": "64 KiB"}


def places(size: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack([rng.uniform(-5, 1, size), rng.uniform(51, 54, size)])


def test_swapped_columns_warn_at_the_call() -> None:
    with pytest.warns(PrivhpWarning, match=r"records \(noisy\) were counted and 20,000 were expected") as caught:
        hp.fit(places()[:, ::-1], BRITAIN, **PLAN)
    assert [one.filename for one in caught] == [__file__]
    assert "latitude before longitude" in str(caught[0].message)


@pytest.mark.parametrize(("share", "low"), [(0.5, True), (FULL_SHARE - 0.05, True), (FULL_SHARE + 0.05, False)])
def test_threshold(share: float, low: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        generator = hp.fit(places(int(20_000 * share)), BRITAIN, **PLAN)
    assert (describe_low_count(generator) is not None) == low


@pytest.mark.parametrize(("records", "epsilon", "below"), [(850, 50, True), (920, 50, False), (850, 0.02, False)])
def test_counts_below_the_expected_number_are_printed(records: int, epsilon: float, below: bool) -> None:
    """With the causes, and only if noise does not explain the difference."""
    plan = hp.Plan(
        hp.Integers(0, 3),
        epsilon=epsilon,
        expected_records=1000,
        budgets={2: epsilon},
        exact_depth=2,
        inference="least-squares",
    )
    generator = hp.Generator(Release(plan, {2: np.array([records - 300, 100, 100, 100])}))
    assert generator.is_below_expected == below
    assert (describe_low_count(generator) is not None) == below
    counted = f"about {records} of 1,000 expected records; records outside the domain, and nulls where it allows none"
    assert (counted in repr(generator)) == below
    assert ("1,000 were expected. Note: records outside the domain" in Reader(generator._repr_html_()).text) == below
    assert repr(generator).endswith(" records)") != below


def test_no_expected_number_and_no_note() -> None:
    plan = hp.Plan(hp.Integers(0, 3), epsilon=50, budgets={2: 50}, exact_depth=2)
    assert not hp.Generator(Release(plan, {2: np.zeros(4, dtype=np.int64)})).is_below_expected


def test_nulls_and_sentinels_are_noted() -> None:
    values = np.tile([1.0, 2.0, np.nan, 9999.0, 3.0], 4000)
    generator = hp.fit(values, hp.Interval(0, 10), epsilon=50, expected_records=20_000)
    assert "of 20,000 expected records; " in repr(generator)


def test_only_noisy_numbers_decide() -> None:
    """The sentence is a function of the release and the kind of data alone."""
    with pytest.warns(PrivhpWarning):
        generator = hp.fit(places(10), BRITAIN, **PLAN)
    again = hp.Generator.from_bytes(generator.to_bytes())
    again.reading = generator.reading
    assert describe_low_count(again) == describe_low_count(generator)


def test_min_records() -> None:
    plan, few = {"epsilon": 50, "expected_records": 1000}, np.linspace(0, 1, 900)
    with pytest.raises(
        LowCountError, match=r"^about \d+ records \(noisy\) were counted, fewer than min_records=1,000$"
    ) as low:
        hp.fit(few, hp.Interval(0, 1), min_records=1000, **plan)
    assert abs(low.value.generator.total - 900) < 10
    assert pickle.loads(pickle.dumps(low.value)).generator.total == low.value.generator.total
    assert hp.fit(few, hp.Interval(0, 1), min_records=800, **plan).total > 800
    for wrong in (-1, 0.5, "many", True):
        with pytest.raises(PlanError, match="expected min_records= as an integer from 0"):
            hp.fit(few, hp.Interval(0, 1), min_records=wrong, **plan)


def test_report_warns(tmp_path: Path) -> None:
    with pytest.warns(PrivhpWarning):
        low = hp.fit(places(10), BRITAIN, **PLAN)
    for generator, shown in ((low, True), (hp.fit(places(), BRITAIN, **PLAN), False)):
        with coarse_pictures():
            hp.report(generator, tmp_path / "page.html", replace=True)
        assert ("Low count:" in (tmp_path / "page.html").read_text()) == shown


def wide(columns: int) -> hp.Table:
    numbers = {f"c{place}": hp.Interval(0, 100) for place in range(columns)}
    return hp.Table(numbers | {"kind": hp.Categories(["a", "b"])})


def test_wide_table_names_its_coarse_columns() -> None:
    plan = hp.Plan.auto(wide(9), epsilon=1, expected_records=10_000)
    splits = plan.domain.splits_by_column(plan.depth)
    coarse = coarse_columns(plan)
    assert coarse
    assert "kind" not in coarse  # one split tells its two values apart
    assert set(coarse) <= set(splits)
    text = describe_coarse_columns(plan)
    assert text is not None
    assert ", ".join(coarse) in text
    assert "mbi (private-pgm) or dpsynth" in text
    assert describe_coarse_columns(hp.Plan.auto(wide(1), epsilon=1, expected_records=10_000)) is None


def test_the_split_of_null_tells_no_values_apart() -> None:
    numbers = {f"c{place}": hp.Interval(0, 100) for place in range(4)}
    plain = hp.Plan.auto(hp.Table(numbers), epsilon=1, expected_records=10_000)
    nullable = hp.Table({name: hp.Nullable(domain) for name, domain in numbers.items()})
    plan = hp.Plan.auto(nullable, epsilon=1, expected_records=10_000)
    splits = nullable.splits_by_column(usual_level(plan))
    assert coarse_columns(plan) == [name for name in numbers if splits[name] - 1 <= FEW_SPLITS]
    assert len(coarse_columns(plan)) > len(coarse_columns(plain))


def test_fit_and_learn_of_little_data_warn() -> None:
    data, domain = np.linspace(0, 1, 500), hp.Interval(0, 1)
    for call in (hp.fit, hp.learn):
        with pytest.warns(
            PrivhpWarning, match="epsilon times the expected number of records is 1,500, which"
        ) as caught:
            call(data, domain, epsilon=3, expected_records=500)
        assert [one.filename for one in caught] == [__file__]
    with pytest.warns(PrivhpWarning, match="records, divided by the number per person, is 1,250, which is little data"):
        hp.fit(data, domain, epsilon=5, expected_records=500, max_records_per_person=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.fit(data, domain, epsilon=5, expected_records=500)


def test_fit_and_learn_of_a_wide_table_warn() -> None:
    rng = np.random.default_rng(0)
    data = {f"c{place}": rng.uniform(0, 100, 2000) for place in range(9)} | {"kind": ["a"] * 2000}
    for call in (hp.fit, hp.learn):
        with pytest.warns(PrivhpWarning, match="too many columns: .* not told apart: c0, c1") as caught:
            call(data, wide(9), epsilon=4, expected_records=2000)
        assert caught[0].filename == __file__


@pytest.mark.parametrize("names", [("lat", "lon"), ("pickup_latitude", "pickup_longitude"), ("Latitude", "LNG")])
def test_latitude_first_is_refused(names: tuple[str, str], tmp_path: Path) -> None:
    frame = dict(zip(names, places(100).T[::-1], strict=True))
    path = tmp_path / "places.csv"
    path.write_text(f"{names[0]},{names[1]}\n51,0\n")
    for data, domain, columns in (
        (frame, BRITAIN, None),
        (frame, BRITAIN, list(names)),
        (path, BRITAIN, None),
        (path, BRITAIN, list(names)),
        (frame, hp.Table({names: BRITAIN, "other": hp.Interval(0, 1)}), None),
        (frame, hp.Nullable(BRITAIN), None),
    ):
        with pytest.raises((RecordsError, hp.FileError), match="longitude first") as refusal:
            hp.fit(data, domain, epsilon=1, expected_records=100, columns=columns)
        assert names[0] not in str(refusal.value).replace("'lat'", "").replace("latitude", "")


@pytest.mark.parametrize("names", [("lon", "lat"), ("flat", "along"), ("a", "b"), ("lat", "plateau")])
def test_other_names_are_read(names: tuple[str, str]) -> None:
    frame = dict(zip(names, places(20_000).T, strict=True))
    assert hp.fit(frame, BRITAIN, **PLAN).total > 15_000


TEXTS = ["12", "13", "n.a."] * 10
SERIES = [pd.Series(TEXTS, dtype="string"), pd.Series(TEXTS)]  # before pandas 3 the second has a type of any objects


@pytest.mark.parametrize("texts", [np.array(TEXTS), *(own for own in SERIES if own.dtype != object)], ids=type)
def test_text_declared_as_numbers_warns(texts: Any) -> None:
    """Texts of data frames and arrays warn by their type, as those of files do."""
    with pytest.warns(PrivhpWarning, match=r"column 'fare' is text \((string|str|str_)\) and declared as interval: "):
        hp.fit({"fare": texts}, hp.Table(fare=hp.Interval(0, 100)), epsilon=9, expected_records=30)


def test_text_of_a_data_frame_declared_as_integers_warns() -> None:
    frame = pd.DataFrame({"fare": SERIES[0]})
    with pytest.warns(PrivhpWarning, match="column 'fare' is text") as caught:
        hp.fit(frame, hp.Table(fare=hp.Integers(0, 100)), epsilon=9, expected_records=30)
    assert caught[0].filename == __file__


def test_a_dialect_of_files_is_refused_for_data_in_memory() -> None:
    with pytest.raises(RecordsError, match="the data is in memory; convert its columns first"):
        hp.fit({"fare": ["1,5"]}, hp.Table(fare=hp.Interval(0, 9)), csv=hp.CsvDialect(decimal=","), **PLAN)


def test_a_dict_is_not_a_domain() -> None:
    with pytest.raises(hp.PlanError, match=r"or Table\(name=Interval\(0, 1\)\), got"):
        hp.fit({"fare": [1.5]}, {"fare": hp.Interval(0, 9)}, **PLAN)


def test_text_declared_as_categories_does_not_warn() -> None:
    frame = pd.DataFrame({"kind": pd.Series(["a", "b"] * 20, dtype="string")})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.fit(frame, hp.Table(kind=hp.Categories(["a", "b"])), epsilon=90, expected_records=40)


def test_format_is_named_for_times_alone() -> None:
    days = ["31.12.2024"] * 300
    with pytest.warns(PrivhpWarning, match="times in another form than 2024-12-31 or 2024-12-31T19:30, which a column"):
        hp.fit(days, hp.Time("2024-01-01", "2024-12-31", unit="D"), epsilon=9, expected_records=300)
    with pytest.warns(PrivhpWarning) as caught:
        hp.fit(days, hp.Categories(["a", "b"]), epsilon=9, expected_records=300)
    assert "times in" not in str(caught[0].message)


def release_with(counts: list[int], *, epsilon: float, expected: int) -> hp.Generator:
    plan = hp.Plan(hp.Interval(0, 1), epsilon=epsilon, budgets={2: epsilon}, exact_depth=2, expected_records=expected)
    return hp.Generator(Release(plan, {2: np.array(counts)}))


@pytest.mark.parametrize(
    ("counts", "epsilon", "expected", "high"),
    [
        ([75, 75, 75, 75], 1, 100, True),
        ([75, 75, 75, 70], 1, 100, False),
        ([75, 75, 75, 75], 0.04, 100, False),  # within noise: four counters have 71 records each
        ([1, 1, 1, 1], 1, 1, False),
        ([75, 75, 75, 75], 1, 0, False),
    ],
)
def test_counts_far_above_the_expected_number(counts: list[int], epsilon: float, expected: int, high: bool) -> None:
    generator = release_with(counts, epsilon=epsilon, expected=expected)
    assert (describe_high_count(generator) is not None) == high
    assert ("High count:" in warnings_section(generator)) == high
    assert describe_low_count(generator) is None


def test_persons_may_explain_a_high_count() -> None:
    generator, persons = release_with([750] * 4, epsilon=1, expected=100), []
    for declared in (None, False, True):
        generator.reading = Reading(persons=declared)
        text = describe_high_count(generator)
        assert text is not None
        assert text.startswith("about 3,000 records (noisy) were counted and 100 were expected: the plan has coarser")
        persons.append("by person=, persons may have more records than max_records_per_person=1 says" in text)
    assert persons == [True, True, False]


def test_fit_of_far_more_records_than_expected_warns() -> None:
    with pytest.warns(PrivhpWarning, match=r"and 500 were expected: the plan has coarser cells") as caught:
        hp.fit(np.linspace(0, 1, 5000), hp.Interval(0, 1), epsilon=9, expected_records=500)
    assert [one.filename for one in caught] == [__file__]


def test_one_record() -> None:
    generator = release_with([1, 0, 0, 0], epsilon=1, expected=100)
    assert repr(generator).endswith("about 1 of 100 expected records; " + NOT_COUNTED + ")")
    assert (describe_low_count(generator) or "").startswith("about 1 record (noisy) was counted and 100 were expected")
    assert repr(release_with([1, 0, 0, 0], epsilon=1, expected=0)).endswith("about 1 record)")


@pytest.mark.parametrize(("epsilon", "low"), [(1, True), (0.04, False)])
def test_noise_may_explain_a_low_count(epsilon: float, low: bool) -> None:
    """Four counters have a noise of 2.8 records at epsilon = 1, and of 71 at 0.04."""
    generator = release_with([10, 10, 10, 10], epsilon=epsilon, expected=100)
    assert (describe_low_count(generator) is not None) == low

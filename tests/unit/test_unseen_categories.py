"""Declared categories of which a release shows no records: words and encodings that do not match the declaration."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import privhp as hp
from privhp import PrivhpWarning
from privhp.answers.generator import FULL_SHARE, Reading
from privhp.answers.low_counts import describe_low_count
from privhp.answers.unseen_categories import MOST_VALUES, describe_unseen_categories, unseen_categories
from privhp.release import Release

DRINKS = ["tea", "café", "water", "wine"]
UNSEEN = "these declared categories hold no records that the noise lets us see: "


def fit(values: Any, domain: hp.Domain, *, expected: int, **settings: Any) -> hp.Generator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hp.fit(values, domain, expected_records=expected, **{"epsilon": 50, **settings})


def test_a_word_that_is_not_declared_warns() -> None:
    drinks = np.repeat(["tea", "cafe", "water", "wine"], 1000)
    with pytest.warns(PrivhpWarning, match=f"4,000 were expected(.|\n)*- {UNSEEN}value = café; check the") as caught:
        generator = hp.fit(drinks, hp.Categories(DRINKS), epsilon=50, expected_records=4000)
    assert [one.filename for one in caught] == [__file__]
    again = hp.Generator.from_bytes(generator.to_bytes())
    again.reading = generator.reading
    assert describe_low_count(again) == str(caught[0].message)  # a function of the release and the kind of data


def test_an_encoding_that_is_not_declared_warns(tmp_path: Path) -> None:
    path = tmp_path / "drinks.csv"
    path.write_bytes(("drink,price\n" + "".join(f"{drink},3\n" for drink in DRINKS) * 1000).encode("cp1252"))
    domain = hp.Table(drink=hp.Categories(DRINKS), price=hp.Integers(0, 9))
    with pytest.warns(PrivhpWarning, match=f"{UNSEEN}drink = café; check the encoding of the file, and their spelling"):
        hp.fit(path, domain, epsilon=50, expected_records=4000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.fit(path, domain, epsilon=50, expected_records=4000, csv=hp.CsvDialect(encoding="cp1252"))


@pytest.mark.parametrize("share", [FULL_SHARE - 0.1, FULL_SHARE + 0.05])
def test_a_low_count_is_needed_for_a_warning(share: float) -> None:
    lost = fit(np.repeat(["tea", "water", "wine"], 1000), hp.Categories(DRINKS), expected=int(3000 / share))
    full = fit(np.repeat(DRINKS, 1000), hp.Categories(DRINKS), expected=int(4000 / share))
    assert unseen_categories(lost) == ["value = café"]
    assert unseen_categories(full) == []
    for generator, named in ((lost, True), (full, False)):
        text = describe_low_count(generator)
        assert (text is not None) == (share < FULL_SHARE)
        assert text is None or (UNSEEN in text) == named


def test_low_counts_name_them_among_the_causes() -> None:
    generator = fit(np.repeat(["tea", "water", "wine"], 1000), hp.Categories(DRINKS), expected=10_000)
    text = describe_low_count(generator)
    assert text is not None
    assert f"\n- {UNSEEN}value = café; check the encoding of the file, and their spelling\nCheck them" in text


@pytest.mark.parametrize(("missing", "accents"), [("café", True), ("water", False)])
def test_an_encoding_is_the_first_cause_of_missing_accents(missing: str, accents: bool) -> None:
    seen = [drink for drink in DRINKS if drink != missing]
    generator = fit(np.repeat(seen, 1000), hp.Categories(DRINKS), expected=10_000)
    option = "csv=CsvDialect(encoding='cp1252')"
    for formats, declared, first in (
        (["csv"], (), f"another encoding of the file: {option}"),
        ([], (), 'texts that were read in another encoding, or in another Unicode form: .str.normalize("NFC")'),
        (["csv"], ("encoding",), "another column of a file"),
        (["parquet"], (), "values that are not declared"),
    ):
        generator.reading = Reading(formats, persons=False, declared=declared)
        text = describe_low_count(generator)
        assert text is not None
        assert text.splitlines()[1].startswith(f"- {first}") == (accents or "encoding" not in first)
        assert text.count(option) == (formats == ["csv"] and not declared)
    words = ["encoding of the file", "spelling"]
    assert sorted(words, key=(describe_unseen_categories(generator) or "").index) == (words if accents else words[::-1])


def release_with(counts: list[int], *, epsilon: float, domain: hp.Domain) -> hp.Generator:
    level = domain.depth
    sizes: dict[str, Any] = {"budgets": {level: epsilon}, "exact_depth": level, "inference": "least-squares"}
    plan = hp.Plan(domain, epsilon=epsilon, expected_records=max(sum(counts), 1), **sizes)
    return hp.Generator(Release(plan, {level: np.array(counts)}))


@pytest.mark.parametrize(
    ("counts", "epsilon", "unseen"),
    [
        ([500, 0, 500, 500], 1, ["value = café"]),
        ([500, 3, 500, 500], 1, ["value = café"]),
        ([500, -3, 500, 500], 1, ["value = café"]),
        ([500, 15, 500, 500], 1, []),  # few, and surely not noise
        ([50, 0, 50, 50], 1, []),  # the noise hides a twentieth of an equal share
        ([50, 0, 50, 50], 50, ["value = café"]),
        ([500, 0, 500, 500], 0.1, []),
        ([500, 0, 0, 0], 1, ["value = café", "value = water", "value = wine"]),
        ([0, 0, 0, 0], 1, []),
    ],
)
def test_noise_decides(counts: list[int], epsilon: float, unseen: list[str]) -> None:
    assert unseen_categories(release_with(counts, epsilon=epsilon, domain=hp.Categories(DRINKS))) == unseen


def test_columns_nulls_and_the_other_value() -> None:
    kinds = [None, "tea", "wine", "beer"] * 1000
    domain = hp.Table(
        price=hp.Interval(0, 9),
        kind=hp.Nullable(hp.Categories(DRINKS)),
        size=hp.Categories(["small", "large"], other="odd"),
        fast=hp.Categories([False, True]),
    )
    data = {"price": [3.0] * 4000, "kind": kinds, "size": ["small"] * 4000, "fast": [False] * 4000}
    found = unseen_categories(fit(data, domain, expected=4000, epsilon=900))
    assert found == ["kind = café", "kind = water", "size = large", "fast = true"]


def test_long_lists_and_other_domains_are_left_out() -> None:
    texts = [f"v{number}" for number in range(MOST_VALUES + 1)]
    for size, looked_through in ((MOST_VALUES, True), (MOST_VALUES + 1, False)):
        generator = fit(texts[:1] * 1000, hp.Categories(texts[:size]), expected=1000, epsilon=900)
        text = describe_unseen_categories(generator)
        assert (text is not None) == looked_through
        assert text is None or text.endswith(
            f"value = v6 and {MOST_VALUES - 7} more; check their spelling, and the encoding of the file"
        )
    assert unseen_categories(fit(np.zeros(1000), hp.Interval(0, 1), expected=1000)) == []
    paper = hp.Plan.paper(hp.Categories(DRINKS), epsilon=50, expected_records=1000, hot_cells=4)
    assert unseen_categories(hp.fit(["tea"] * 1000, plan=paper)) == []

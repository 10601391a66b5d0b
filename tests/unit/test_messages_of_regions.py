"""Regions, months and addresses as people of pandas and NumPy write them: the answer, or what to write."""

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privhp as hp
from privhp import DomainError, QueryError
from privhp.answers.generator import Reading
from privhp.planning.plan_text import format_plan
from privhp.planning.wide_tables import usual_level, value_splits
from privhp.release import Release

CODES = np.zeros(1, dtype=np.uint64)
YEAR = hp.Time("2024-01-01", "2024-12-31", unit="D")


def release(domain: hp.Domain, **settings: Any) -> hp.Generator:
    plan = hp.Plan(domain, epsilon=9, budgets={1: 9}, exact_depth=1, **settings)
    return hp.Generator(Release(plan, {1: np.array([50, 50])}))


@pytest.mark.parametrize(
    ("domain", "kind"),
    [
        (hp.Nullable(hp.Categories(["a", "b"])), "categories"),
        (hp.Nullable(hp.Integers(0, 9)), "nullable"),
        (hp.Categories(["a", "b"]), "categories"),
    ],
)
def test_the_kind_without_order_is_named(domain: hp.Domain, kind: str) -> None:
    for ask in (hp.Generator.quantile, hp.Generator.cdf):
        with pytest.raises(DomainError, match=f"^a domain of kind '{kind}' has no order"):
            ask(release(domain), 0.5)


@pytest.mark.parametrize(
    "domain",
    [hp.Interval(0, 9), hp.Interval(0, 9, step="0.5"), hp.Integers(0, 9), YEAR, hp.Nullable(hp.Integers(0, 9))],
)
def test_interval_of_pandas(domain: hp.Domain) -> None:
    interval = (
        pd.Interval(2, 4) if domain != YEAR else pd.Interval(pd.Timestamp("2024-02-01"), pd.Timestamp("2024-03-01"))
    )
    with pytest.raises(DomainError) as refusal:
        release(domain).mass(interval)
    assert str(refusal.value).endswith(
        "an interval of pandas; write (interval.left, interval.right), both of which are inside"
    )


@pytest.mark.parametrize(
    ("region", "says"),
    [
        ("2024-02", 'such as ("2024-02-01", "2024-02-29"), also for one value'),
        (("2024-02", None), "got '2024-02'; this month is from 2024-02-01 to 2024-02-29"),
        ((None, "2024-12"), "got '2024-12'; this month is from 2024-12-01 to 2024-12-31"),
        ((None, "2024-13"), "got '2024-13'"),
        ("2024", 'such as ("2020-02-29", "2020-03-31"), also for one value'),
    ],
)
def test_months(region: Any, says: str) -> None:
    with pytest.raises(DomainError, match=re.escape(says)) as refusal:
        release(YEAR).mass(region)
    assert ("this month" in str(refusal.value)) == ("this month" in says)


def test_months_of_a_cdf() -> None:
    with pytest.raises(QueryError, match="year first, got '2024-02'; this month is from 2024-02-01 to 2024-02-29"):
        release(YEAR).cdf("2024-02")


@pytest.mark.parametrize("integer", [np.int64, np.uint32])
def test_addresses_as_integers_of_numpy(integer: Any) -> None:
    domain = hp.IPv4()
    codes = domain.encode(["1.2.3.4", "1.2.3.5"], level=domain.depth)
    assert domain.overlap(integer(16909060), codes, level=domain.depth).tolist() == [1, 0]
    assert domain.overlap(16909060, codes, level=domain.depth).tolist() == [1, 0]


def test_regions_between_two_values() -> None:
    for domain, region in ((hp.Interval(0, 1, step="0.001"), (0.5005, 0.5005)), (hp.Integers(0, 9), (3.2, 3.7))):
        with pytest.warns(hp.PrivhpWarning, match="between two multiples of a declared step, there are none"):
            assert release(domain).mass(region).value == 0


def test_splits_of_nullable_columns_are_those_of_values() -> None:
    """The warning and the table of a plan count alike."""
    table = hp.Table({f"c{place}": hp.Nullable(hp.Interval(0, 100)) for place in range(6)})
    plan = hp.Plan.auto(table, epsilon=1, expected_records=10_000)
    level = usual_level(plan)
    splits = value_splits(plan, level)
    assert splits == {name: max(own - 1, 0) for name, own in table.splits_by_column(level).items()}
    for name, own in splits.items():
        assert re.search(rf"\n +{name} +{own} ", format_plan(plan))


def test_the_generator_says_whether_the_number_per_person_is_assumed() -> None:
    data = {"fare": np.linspace(0, 9, 3000), "who": np.arange(3000)}
    plan = {"epsilon": 9, "expected_records": 3000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = hp.Table(fare=hp.Interval(0, 9))
        assumed = hp.fit(data, table, max_records_per_person=10, **plan)
        capped = hp.fit(data, table, max_records_per_person=10, person="who", **plan)
        single = hp.fit(data, table, **plan)
    assert ", at most 10 records per person (assumed), about" in repr(assumed)
    assert ", at most 10 records per person (enforced), about" in repr(capped)
    assert "per person" not in repr(single)
    assumed.reading = Reading()
    assert ", at most 10 records per person, about" in repr(assumed)

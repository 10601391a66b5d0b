"""Messages of queries that name what is probably meant, and the forms in which pandas users write regions."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import privhp as hp
from privhp import DomainError, PlanError, QueryError

WARDS = ["ER", "ICU", "surgery"]
TABLE = hp.Table(
    age=hp.Integers(0, 120),
    ward=hp.Categories(WARDS),
    charge=hp.Nullable(hp.Interval(0, 900)),
    code=hp.Taxonomy({"heart": ["valve", "rhythm"], "lung": None}),
)


@pytest.fixture(scope="module")
def generator() -> hp.Generator:
    rng = np.random.default_rng(0)
    data = {
        "age": np.where(rng.random(4000) < 0.9, 42, rng.integers(0, 120, 4000)),
        "ward": rng.choice(WARDS, 4000),
        "charge": rng.uniform(0, 900, 4000),
        "code": rng.choice(["valve", "rhythm", "lung"], 4000),
    }
    return hp.fit(data, TABLE, epsilon=50, expected_records=4000)


@pytest.mark.parametrize(
    ("region", "near"),
    [
        ({"wards": "ER"}, "got one of 'wards'; did you mean ward?"),
        ({"ward": "Er"}, "got 'Er'; did you mean ER?"),
        ({"ward": ["ER", "surgry"]}, "got 'surgry'; did you mean surgery?"),
        ({"code": "Rythm"}, "got 'Rythm', no node of the tree; did you mean rhythm?"),
    ],
)
def test_regions_name_a_similar_value(generator: hp.Generator, region: Any, near: str) -> None:
    with pytest.raises(DomainError) as refusal:
        generator.mass(region)
    assert str(refusal.value).endswith(near)
    for other in ({"zzz": 1}, {"ward": "zzz"}, {"ward": 7}, {7: "ER"}):
        with pytest.raises(DomainError) as refusal:
            generator.mass(other)
        assert "did you mean" not in str(refusal.value)


@pytest.mark.parametrize("asked", ["agee", ["ward", "agee"]])
def test_marginals_name_a_similar_column(generator: hp.Generator, asked: Any) -> None:
    with pytest.raises(QueryError, match=r"got 'agee'; did you mean age\?$"):
        generator.marginal(asked)


@pytest.mark.parametrize("query", [lambda part: part.quantile(0.5), lambda part: part.cdf(5), lambda part: part.mean()])
def test_values_of_a_nullable_column_have_its_name(generator: hp.Generator, query: Any) -> None:
    with pytest.raises(DomainError, match=r"use marginal\('charge', null=False\), the values that are not null$"):
        query(generator.marginal("charge"))
    query(generator.marginal("charge", null=False))
    alone = hp.fit([1.0, 2.0] * 200, hp.Nullable(hp.Interval(0, 9)), epsilon=9, expected_records=400)
    with pytest.raises(DomainError, match=r"use marginal\(null=False\), the values that are not null$"):
        query(alone)


@pytest.mark.parametrize("collection", [list, set, tuple, np.array, pd.Index, pd.Series])
def test_collections_of_values_are_regions(generator: hp.Generator, collection: Any) -> None:
    for column, values in (("ward", ["ER", "ICU"]), ("code", ["heart", "lung"])):
        expected = sum(float(generator.mass({column: value})) for value in values)
        assert float(generator.mass({column: collection(values)})) == pytest.approx(expected)
    assert generator.marginal(collection(["ward", "age"])).domain.value_names == ("age", "ward")


@pytest.mark.parametrize(("shares", "got"), [(50, "50"), (-0.1, "-0.1"), ([0.5, 75], r"\[0.5, 75\]"), ("x", "'x'")])
def test_shares_of_quantiles_are_named(generator: hp.Generator, shares: Any, got: str) -> None:
    with pytest.raises(QueryError, match=f"expected shares between 0 and 1, such as 0.5 for the median, got {got}$"):
        generator.marginal("age").quantile(shares)


def test_a_standard_error_below_one_integer(generator: hp.Generator) -> None:
    """As on the command line; it was 0.0000."""
    median = generator.marginal("age", where={"ward": "ER"}).quantile(0.5)
    assert (median.value, median.stderr) == (42, 0.0)
    assert repr(median) == "42 +- under 1"
    assert "under 1" in median._repr_html_()


def test_fit_names_the_missing_arguments() -> None:
    given = {"domain": hp.Interval(0, 1), "epsilon": 1, "expected_records": 10}
    for missing in (["domain"], ["epsilon"], ["expected_records"], ["epsilon", "expected_records"]):
        names = " and ".join(name + "=" * (name != "domain") for name in missing)
        with pytest.raises(PlanError, match=f"^fit needs {names}, or plan= in place of domain, "):
            hp.fit([0.5], **{name: value for name, value in given.items() if name not in missing})


POINTS = hp.Table(
    {("lon", "lat"): hp.Nullable(hp.Geo()), ("x", "y"): hp.Box([(0, 1), (0, 1)]), "flag": hp.Categories([False, True])}
)


@pytest.mark.parametrize(
    ("asked", "owner", "form"),
    [
        ("lat", "('lon', 'lat')", "(west, south, east, north)"),
        ("y", "('x', 'y')", "((low, high), (low, high))"),
    ],
)
def test_a_coordinate_is_asked_by_its_column(asked: str, owner: str, form: str) -> None:
    release = hp.Summary(hp.Plan.auto(POINTS, epsilon=1, expected_records=1e4)).release()
    column = f"got '{asked}'; it is a coordinate of the column {owner}"
    with pytest.raises(QueryError) as refusal:
        release.marginal(asked)
    assert str(refusal.value).endswith(column)
    with pytest.raises(DomainError) as refusal_of_region:
        release.mass({asked: (0, 1)})
    expected = f"{column.removeprefix('got ')}, which takes a region {form}, None for an open side"
    assert str(refusal_of_region.value).endswith(expected)


@pytest.mark.parametrize("query", ["mass", "mass_bounds", "shows_records"])
def test_conditions_as_text_are_for_the_command_line(generator: hp.Generator, query: str) -> None:
    ask = getattr(generator, query)
    for text, region in [("age > 64", "{'age': (65, None)}"), ("ward in [ER, ICU]", "{'ward': ['ER', 'ICU']}")]:
        with pytest.raises(DomainError) as refusal:
            ask(text)
        assert str(refusal.value).endswith(f"for the command line, and in Python this one is {region}")
    for text in ("ages > 64", "age < 10 or age > 90", "ward", ""):
        with pytest.raises(DomainError, match=r"got text; conditions as text are for the command line$"):
            ask(text)


@pytest.mark.parametrize("end", [float("inf"), np.float64("inf"), np.float32("inf")])
@pytest.mark.parametrize("domain", [hp.Interval(0, 9), hp.Interval(0, 9, step="0.5"), hp.Integers(0, 9)])
def test_infinity_is_an_open_end(domain: hp.Domain, end: float) -> None:
    release = hp.Summary(hp.Plan.auto(domain, epsilon=1, expected_records=1e4)).release()
    assert release.mass((3, end)).value == release.mass((3, None)).value
    assert release.mass((-end, 3)).value == release.mass((None, 3)).value
    for region in ((end, None), (None, -end), (float("nan"), None)):
        with pytest.raises(DomainError, match="expected a finite number"):
            release.mass(region)


@pytest.mark.parametrize("column", ["ward", "code"])
def test_values_without_numbers_have_shares(generator: hp.Generator, column: str) -> None:
    marginal = generator.marginal(column)
    for query in (marginal.mean, marginal.std):
        with pytest.raises(DomainError, match=r"use shares\(\), the share of each value$"):
            query()
    assert marginal.shares()

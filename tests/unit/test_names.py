"""Names of values: a domain declares them, readers find columns by them, and a release keeps them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import privhp as hp
from privhp import Domain, DomainError

FIT: dict[str, Any] = {"epsilon": 20, "expected_records": 1000}
TRIPS = pd.DataFrame({"fare": np.linspace(0, 10, 1000), "lon": np.linspace(-9, 2, 1000), "lat": 50.0, "2": 1.0})


@pytest.mark.parametrize(
    ("domain", "names"),
    [
        (hp.Interval(0, 10), ["fare"]),
        (hp.Integers(0, 10), ["fare"]),
        (hp.Categories(["a", "b"]), ["kind"]),
        (hp.IPv4(), ["source"]),
        (hp.Nullable(hp.Integers(0, 9)), ["delay"]),
        (hp.Nullable(hp.Integers(0, 9).named("delay")), ["delay"]),
        (hp.Time("2020-01-01", "2021-01-01"), ["pickup"]),
        (hp.Geo(-9, 49, 2, 61), ["lon", "lat"]),
        (hp.Box([(0, 1), (0, 2)]), ["x", "y"]),
    ],
)
def test_named_domain(domain: Domain, names: list[str]) -> None:
    named = domain.named(*names)
    assert named == domain
    assert hash(named) == hash(domain)
    assert named.value_names == tuple(names)
    again = Domain.from_spec(json.loads(json.dumps(named.spec())))
    assert again.value_names == tuple(names)
    assert again.spec() == {**domain.cell_spec(), "columns": names}
    plan = hp.Plan.auto(named, **FIT)
    assert plan.from_spec(plan.spec()).domain.value_names == tuple(names)
    generator = hp.Summary(plan).release()
    assert hp.Generator.from_bytes(generator.release.to_bytes()).domain.value_names == tuple(names)
    assert pa.table(generator.stream(5)).column_names == names


@pytest.mark.parametrize(
    ("domain", "names", "says"),
    [
        (hp.Interval(0, 1), [], "expected 1 name for the values"),
        (hp.Interval(0, 1), ["a", "b"], "expected 1 name for the values"),
        (hp.Interval(0, 1), [""], "expected 1 name for the values"),
        (hp.Interval(0, 1), [5], "expected 1 name for the values"),
        (hp.Geo(), ["lon", "lon"], "expected each name once"),
        (hp.Table(a=hp.Interval(0, 1)), ["b"], "expected no names, since a table has its own"),
    ],
)
def test_wrong_names(domain: Domain, names: list[Any], says: str) -> None:
    with pytest.raises(DomainError, match=says):
        domain.named(*names)
    if not domain.columns:
        with pytest.raises(DomainError):
            Domain.from_spec({**domain.spec(), "columns": names})


@pytest.mark.parametrize("columns", [None, "fare", {"fare": 1}])
def test_columns_of_a_spec_are_a_list(columns: Any) -> None:
    with pytest.raises(DomainError, match="expected columns as a list of names"):
        Domain.from_spec({**hp.Interval(0, 1).spec(), "columns": columns})


def test_fit_keeps_the_names_of_columns(tmp_path: Path) -> None:
    fares = hp.fit(TRIPS, hp.Interval(0, 10), columns="fare", **FIT)
    places = hp.fit(TRIPS, hp.Geo(), columns=["lon", "lat"], **FIT)
    hp.save(places, tmp_path / "places.privhp")
    assert fares.domain.value_names == ("fare",)
    assert hp.load(tmp_path / "places.privhp").domain.value_names == ("lon", "lat")
    plan = hp.Plan.auto(hp.Interval(0, 10), **FIT)
    assert hp.fit(TRIPS, plan=plan, columns="fare").domain.value_names == ("fare",)
    assert hp.fit(TRIPS, hp.Interval(0, 10).named("price"), columns="fare", **FIT).domain.value_names == ("price",)
    learned = hp.learn(TRIPS, hp.Interval(0, 10), columns="fare", epsilon=5, expected_records=1e5)
    assert learned.domain.value_names == ("fare",)


def test_numbers_of_columns_are_no_names(tmp_path: Path) -> None:
    TRIPS.to_csv(tmp_path / "trips.csv", index=False, header=False)
    for columns in (1, "1", [1]):
        generator = hp.fit(tmp_path / "trips.csv", hp.Interval(0, 10), columns=columns, header=False, **FIT)
        assert generator.domain.value_names == ("value",)
    assert hp.fit(TRIPS, hp.Interval(0, 10), columns="2", **FIT).domain.value_names == ("value",)


def test_readers_find_columns_by_the_names() -> None:
    generator = hp.fit(TRIPS, hp.Interval(0, 10).named("fare"), **FIT)
    assert generator.mass((0, 5)).value == pytest.approx(0.5, abs=0.1)
    assert hp.compare(generator, TRIPS)["wasserstein"].distance < 1
    with pytest.raises(hp.RecordsError, match="to name a column 'fare'"):
        hp.compare(generator, TRIPS[["lon"]])
    assert hp.compare(generator, TRIPS[["lon"]], columns="lon")["wasserstein"].distance > 1


def test_marginals_have_the_names_of_their_columns() -> None:
    table = hp.Table({"fare": hp.Nullable(hp.Interval(0, 10)), ("lon", "lat"): hp.Geo()})
    generator = hp.fit(TRIPS, table, **FIT)
    assert generator.marginal("fare").domain.value_names == ("fare",)
    assert generator.marginal("fare", null=False).domain.value_names == ("fare",)
    assert generator.marginal(("lon", "lat")).domain.value_names == ("lon", "lat")
    assert hp.Table(a=hp.Interval(0, 1).named("b")).value_names == ("a",)

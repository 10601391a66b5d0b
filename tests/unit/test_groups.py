"""Marginals of a group of records: their masses, moments and quantiles, with errors of ratios."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privhp import (
    Categories,
    DomainError,
    Generator,
    Integers,
    Interval,
    Nullable,
    Plan,
    PrivhpWarning,
    QueryError,
    Table,
    fit,
)
from privhp.release import Release

KINDS = ["a", "b"]
VALUES = np.arange(8)
COUNTS = 10**6 * np.array([[1, 2, 3, 4, 5, 6, 7, 8], [9, 9, 1, 1, 1, 1, 9, 9]])
"""Records of each kind with each value, so many that no count is taken for empty."""


@pytest.fixture(scope="module")
def generator() -> Generator:
    """Generator that measures each pair of a kind and a value, with the noise of half of epsilon = 1."""
    table = Table(kind=Categories(KINDS), value=Integers(0, 7))
    pairs = {"kind": np.repeat(KINDS, 8), "value": np.tile(VALUES, 2)}
    counts = np.empty(16, dtype=np.int64)
    counts[table.encode(pairs, level=4).astype(np.int64)] = COUNTS.ravel()
    plan = Plan(table, epsilon=1, budgets={4: "1/2"}, exact_depth=4, inference="least-squares")
    return Generator(Release(plan, {4: counts}))


@pytest.fixture(scope="module")
def trips() -> Generator:
    rng = np.random.default_rng(0)
    kind = rng.choice(["cash", "card", "none"], 20_000, p=[0.3, 0.6, 0.1])
    fare = rng.gamma(2, np.where(kind == "cash", 5, 10))
    tip = np.ma.MaskedArray(fare / 10, mask=(rng.random(20_000) < 0.5) | (kind == "none"))
    table = Table(fare=Interval(0, 500), tip=Nullable(Interval(0, 50)), kind=Categories(["cash", "card", "none"]))
    plan = Plan.auto(table, epsilon=5, expected_records=20_000, passes=3)
    return fit({"fare": fare, "tip": tip, "kind": kind}, plan=replace(plan, columns={}))  # leaves answer all questions


@pytest.mark.parametrize(("index", "kind"), list(enumerate(KINDS)))
def test_moments_of_a_group_have_the_errors_of_a_ratio(generator: Generator, index: int, kind: str) -> None:
    """Each count has independent noise of variance v: that of a mean is v times the squared distances from it."""
    group, counts = generator.marginal("value", where={"kind": kind}), COUNTS[index]
    records = np.repeat(VALUES, counts // 10**6)
    assert group.total == pytest.approx(counts.sum(), rel=1e-4)
    mean, std = group.mean(), group.std()
    assert mean.value == pytest.approx(records.mean())
    assert std.value == pytest.approx(records.std())
    noise = np.sqrt(2 * 2.0**2)
    distances = VALUES - mean.value
    assert mean.stderr == pytest.approx(noise * np.linalg.norm(distances) / counts.sum(), rel=0.05)
    by_std = (distances**2 - std.value**2) / (2 * std.value)
    assert std.stderr == pytest.approx(noise * np.linalg.norm(by_std) / counts.sum(), rel=0.05)
    share = group.mass((0, 2))
    ratio = counts[:3].sum() / counts.sum()
    assert share.value == pytest.approx(ratio)
    weights = (VALUES <= 2) - ratio
    assert share.stderr == pytest.approx(noise * np.linalg.norm(weights) / counts.sum(), rel=0.05)


@pytest.mark.parametrize("where", [{"kind": "cash"}, {"kind": ["cash", "none"]}, {"kind": "card", "tip": None}])
def test_mass_of_a_group_is_the_ratio_of_masses(trips: Generator, where: dict[str, Any]) -> None:
    group, region = trips.marginal("fare", where=where), (5, 20)
    both, own = trips.mass(where | {"fare": region}), trips.mass(where)
    assert group.mass(region).value == pytest.approx(both.value / own.value)
    assert group.total == pytest.approx(own.value * trips.total)
    assert group.cdf(20).value == pytest.approx(group.mass((None, 20)).value)
    assert both.stderr / own.value / 2 < group.mass(region).stderr < 2 * both.stderr / own.value
    low, high = group.quantile(0.5).interval()
    assert low <= group.quantile(0.5).value <= high


def test_a_group_without_records_warns() -> None:
    table = Table(kind=Categories(KINDS), value=Integers(0, 1))
    plan = Plan(table, epsilon=1, budgets={2: 1}, exact_depth=2, inference="least-squares")
    release = Release(plan, {2: np.array([1000, 500, 2, 0])})
    generator = Generator(release)
    assert [generator.shows_records({"kind": kind}) for kind in KINDS] == [True, False]
    with pytest.warns(PrivhpWarning, match="does not show that the region of where= holds records"):
        generator.marginal("value", where={"kind": "b"})
    generator.marginal("value", where={"kind": "a"})
    assert Generator(replace(release, plan=replace(plan, inference="top-down"))).shows_records({"kind": "b"}) is None


def test_groups_add_up_to_all_records(trips: Generator) -> None:
    kinds = ["cash", "card", "none"]
    groups = [trips.marginal("fare", where={"kind": kind}) for kind in kinds]
    masses = sum(group.mass((0, 20)).value * group.total for group in groups)
    assert masses == pytest.approx(trips.marginal("fare").mass((0, 20)).value * trips.total)
    fares = trips.marginal("fare")
    everything = trips.marginal("fare", where={"kind": kinds})
    for region in ((0, 3), (7, 20)):
        assert everything.mass(region).value == pytest.approx(fares.mass(region).value)
        assert everything.mass(region).stderr == pytest.approx(fares.mass(region).stderr, rel=0.3)
    assert everything.mean().value == pytest.approx(fares.mean().value)
    assert everything.mean().stderr == pytest.approx(fares.mean().stderr)


def test_values_of_a_group_without_null(trips: Generator) -> None:
    """Null and the group are conditions together."""
    tips = trips.marginal("tip", null=False, where={"kind": "cash"})
    where = {"kind": "cash", "tip": (0, 50)}
    expected = trips.mass(where | {"tip": (0, 1)}).value / trips.mass(where).value
    assert tips.mass((0, 1)).value == pytest.approx(expected)
    low, high = tips.mean().interval(0.99)
    assert low <= 1.0 <= high
    low, high = trips.marginal("tip", null=False, where={"kind": "none"}).mean().interval()
    assert (low, high) == (0, 50)  # the release shows no value


def test_correlation_in_a_group(trips: Generator) -> None:
    group = trips.marginal(["fare", "tip"], where={"kind": "cash"})
    assert group.correlation("fare", "tip").value > 0.5
    assert set(group.sample(5, rng=1)) == {"fare", "tip"}


def test_refused_groups(trips: Generator) -> None:
    with pytest.raises(QueryError, match="regions of other columns than those of the marginal, fare"):
        trips.marginal("fare", where={"fare": (0, 1)})
    with pytest.raises(QueryError, match="mass 0, so its records have no distribution"):
        trips.marginal("fare", where={"tip": (60, 70)})
    with pytest.raises(DomainError):
        trips.marginal("fare", where={"kind": "bus"})


def test_groups_without_standard_errors() -> None:
    table = Table(kind=Categories(KINDS), value=Integers(0, 7))
    plan = Plan.paper(table, epsilon=1, expected_records=100, hot_cells=4)
    release = fit({"kind": ["a", "b"] * 50, "value": list(range(4)) * 25}, plan=plan)
    group = release.marginal("value", where={"kind": "a"})
    assert group.mass((0, 7)).value == pytest.approx(1)
    with pytest.raises(QueryError, match="top-down inference"):
        group.mean()

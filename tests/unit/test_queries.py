"""Marginals, conditional samples, queries of custom domains, and the number of cells that they visit."""

import ipaddress
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from privhp import (
    Box,
    Categories,
    Distribution,
    Domain,
    DomainError,
    Estimate,
    Generator,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Plan,
    QueryError,
    Summary,
    Table,
    Time,
)
from releases import exact_generator, histogram, release_of


class Halves(Domain):
    """A custom domain with the required methods only."""

    kind, depth = "halves in test_queries", 3

    def encode(self, records: Any, *, level: int) -> Any:
        return np.asarray(records, dtype=np.uint64) >> np.uint64(3 - level)

    def decode(self, codes: Any, *, level: int, rng: np.random.Generator) -> Any:
        return (codes << np.uint64(3 - level)) + rng.integers(0, 2 ** (3 - level), codes.shape).astype(np.uint64)

    def diameter(self, level: int) -> float:
        return 2.0**-level

    def parameters(self) -> dict[str, Any]:
        return {}


class Regions(Halves):
    """The same domain with regions: sets of its eight records."""

    kind = "regions in test_queries"

    def overlap(self, region: Any, codes: Any, *, level: int) -> Any:
        inside = np.isin(np.arange(8), list(region)).reshape(2**level, -1)
        return inside.mean(axis=1)[codes.astype(np.int64)]


def test_heavy_cells_of_custom_domain() -> None:
    (hitter,) = histogram(Halves(), 2, [0, 9, 0, 1]).heavy_hitters(0.5)
    assert (hitter.region, hitter.level, hitter.code, hitter.mass) == ("cell 01", 2, 1, 0.9)
    assert Halves().describe(0, level=0) == "everything"


def test_conditional_sample_of_custom_domain() -> None:
    sample = histogram(Regions(), 1, [3, 1]).sample(600, where={1, 2, 7}, method="independent", rng=1)
    numbers, counts = np.unique(sample, return_counts=True)
    assert numbers.tolist() == [1, 2, 7]
    np.testing.assert_allclose(counts / 600, [3 / 7, 3 / 7, 1 / 7], atol=0.08)
    with pytest.raises(DomainError, match="has no regions"):
        histogram(Halves(), 1, [3, 1]).sample(3, where={1})


TRIPS = Table(
    {("lon", "lat"): Geo(-9, 49.8, 2, 61)},
    fare=Interval(0, 100),
    kind=Categories(["a", "b", "c"]),
    late=Nullable(Integers(0, 63), share=0.25),
)


@pytest.fixture(scope="module")
def trips() -> Generator:
    rng, size = np.random.default_rng(1), 5000
    return exact_generator(
        TRIPS,
        {
            "lon": rng.uniform(-2, 0, size),
            "lat": rng.uniform(51, 53, size),
            "fare": rng.gamma(2, 8, size),
            "kind": rng.choice(["a", "b", "c"], size, p=[0.5, 0.3, 0.2]),
            "late": np.ma.MaskedArray(rng.integers(0, 64, size), mask=rng.random(size) < 0.4),
        },
        depth=14,
    )


def test_marginal_of_column(trips: Generator) -> None:
    fares = trips.marginal("fare")
    assert isinstance(fares, Distribution)
    assert fares.domain == Interval(0, 100)
    median = float(fares.quantile(0.5))
    assert trips.mass({"fare": (0, median)}).value == pytest.approx(0.5)
    assert float(fares.cdf(median)) == pytest.approx(0.5)
    assert fares.sample(10, rng=1).dtype == np.float64
    leaves = 2 ** TRIPS.splits_by_column(14)["fare"]
    assert repr(fares) == f"Distribution(Interval(0, 100), {leaves} leaves, about 5,000 records)"
    places = trips.marginal(("lon", "lat"))
    assert places.mass((-2, 51, 0, 53)).value == pytest.approx(trips.mass({("lon", "lat"): (-2, 51, 0, 53)}).value)
    assert places.sample(5, rng=1).shape == (5, 2)
    assert [hitter.region for hitter in trips.marginal("kind").heavy_hitters(0.1)] == ["a", "b", "c"]


def test_marginal_of_several_columns(trips: Generator) -> None:
    both = trips.marginal(["kind", "fare"])
    assert both.domain == Table(fare=Interval(0, 100), kind=Categories(["a", "b", "c"]))
    assert list(both.sample(3, rng=1)) == ["fare", "kind"]
    assert both.mass({"kind": "a", "fare": (0, 10)}).value == pytest.approx(
        trips.mass({"kind": "a", "fare": (0, 10)}).value
    )
    assert both.marginal("fare").quantile(0.3).value == pytest.approx(trips.marginal("fare").quantile(0.3).value)
    assert trips.marginal(["fare"]).domain == Table(fare=Interval(0, 100))


def test_marginal_without_null(trips: Generator) -> None:
    late = trips.marginal("late")
    with pytest.raises(DomainError, match="no order"):
        late.quantile(0.5)
    values = trips.marginal("late", null=False)
    assert values.domain == Integers(0, 63)
    assert values.total == pytest.approx(late.total * (1 - late.mass(None).value))
    assert float(values.quantile(0.5)) == pytest.approx(31, abs=2)
    assert values.mass((0, 15)).value == pytest.approx(late.mass((0, 15)).value / late.mass((None, None)).value)


def same(first: Estimate[Any], second: Estimate[Any]) -> bool:
    one, other = ([own.value, own.stderr, *own.interval(0.9)] for own in (first, second))
    return all(map(np.array_equal, one, other))


@pytest.mark.parametrize(
    "inner", [Interval(0, 1000), Integers(0, 999), Time("2024-01-01", "2024-03-01", unit="D")], ids=repr
)
def test_nullable_column_alone_answers_as_in_a_table(inner: Domain) -> None:
    rng = np.random.default_rng(0)
    drawn = inner.decode(np.arange(64, dtype=np.uint64) // 4, level=5, rng=rng)
    values = [None if place % 3 == 0 else value for place, value in enumerate([*drawn] * 9)]
    noise = {level: rng.integers(-3, 4, 2**level) for level in (4, 7)}

    def released(domain: Domain, records: Any) -> Generator:
        plan = Plan(domain, epsilon=1, budgets={4: "1/2", 7: "1/2"}, exact_depth=7, inference="least-squares")
        return Generator(release_of(plan, records, noise))

    alone = released(Nullable(inner), values)
    expected = released(Table(x=Nullable(inner)), {"x": values}).marginal("x", null=False)
    for found in (
        alone.marginal(null=False),
        alone.marginal("value", null=False),
        alone.marginal().marginal(null=False),
    ):
        assert found.domain == inner
        assert found.total == pytest.approx(expected.total)
        assert same(found.mean(), expected.mean())
        assert same(found.std(), expected.std())
        assert same(found.quantile([0.1, 0.5]), expected.quantile([0.1, 0.5]))
        median = expected.quantile(0.5).value
        assert same(found.cdf(median), expected.cdf(median))
        assert same(found.mass((None, median)), expected.mass((None, median)))
        assert found.heavy_hitters(0.1) == expected.heavy_hitters(0.1)
    with pytest.raises(DomainError, match=r"; use marginal\(null=False\)"):
        alone.mean()


@pytest.mark.parametrize(
    "ask",
    [
        lambda trips: trips.mean("fare"),
        lambda trips: trips.std("fare"),
        lambda trips: trips.shares("fare"),
        lambda trips: trips.quantile("fare", 0.5),
        lambda trips: trips.cdf("fare", 5),
    ],
)
def test_a_column_in_a_query_names_its_marginal(trips: Generator, ask: Callable[..., Any]) -> None:
    with pytest.raises(QueryError, match=r"^(\w+) takes no column; use marginal\('fare'\)\.\1\(...\)$"):
        ask(trips)


def test_values_of_a_table_name_its_marginals(trips: Generator) -> None:
    with pytest.raises(DomainError, match=r"has no list of values; use marginal\(COLUMN\)$"):
        trips.shares()


def test_only_column_needs_no_name() -> None:
    generator = exact_generator(Table(x=Integers(0, 15)), {"x": [3] * 8})
    assert generator.marginal().quantile(0.5).value == 3


def test_marginal_without_null_of_unsplit_leaf() -> None:
    domain = Table(a=Interval(0, 1), b=Nullable(Interval(0, 1), share=0.25), weights={"b": 0.1})
    generator = exact_generator(domain, {"a": [0.1] * 8, "b": [0.3] * 8}, depth=1)
    assert generator.marginal("b", null=False).total == pytest.approx(6)
    assert generator.marginal("b").mass(None).value == pytest.approx(0.25)


def test_marginal_of_empty_release() -> None:
    generator = histogram(Table(a=Interval(0, 1), b=Integers(0, 2)), 3, [0] * 8)
    assert generator.marginal("b").mass((2, 2)).value == pytest.approx(1 / 3)
    assert generator.marginal("a").quantile(0.5).value == pytest.approx(0.5)


def test_marginal_without_null_of_a_column_that_has_none(trips: Generator) -> None:
    fare = trips.marginal("fare")
    for part in (trips.marginal("fare", null=False), fare.marginal(null=False)):
        assert part.quantile([0.1, 0.5]).value.tolist() == fare.quantile([0.1, 0.5]).value.tolist()
        assert part.mass((0, 50)).value == fare.mass((0, 50)).value
    assert trips.marginal(["fare"], null=False).mass({"fare": (0, 50)}).value == fare.mass((0, 50)).value


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda trips: trips.marginal("fares"), "expected a column or a list of columns among .* got 'fares'"),
        (lambda trips: trips.marginal(["fare", "lon"]), "got 'lon'"),
        (lambda trips: trips.marginal([]), r"got \[\]"),
        (lambda trips: trips.marginal(3), "got 3"),
        (lambda trips: trips.marginal(None), "got None"),
        (lambda trips: trips.marginal([["fare"]]), r"got \['fare'\]"),
        (lambda trips: trips.marginal(["late"], null=False), "null=False needs a single column"),
        (lambda trips: trips.marginal("fare").marginal("late"), "only a Table has columns to choose from"),
        (lambda trips: trips.marginal("fare").marginal(where=(0, 1)), "where= takes regions of other columns"),
        (lambda trips: trips.marginal("late").marginal("fare"), r"are marginal\(null=False\)"),
        (lambda trips: trips.marginal("late").correlation("late", "fare"), "only a Table has columns"),
        (lambda trips: trips.sample(3, where={"fare": (200, 300)}), "the region has mass 0"),
    ],
)
def test_invalid_queries(trips: Generator, ask: Callable[..., Any], message: str) -> None:
    with pytest.raises(QueryError, match=message) as refusal:
        ask(trips)
    assert len(str(refusal.value).splitlines()) == 1


def test_invalid_region_of_sample(trips: Generator) -> None:
    for region in (3, {"fares": (0, 1)}, {"fare": 3}, (0, 1)):
        with pytest.raises(DomainError) as one:
            trips.mass(region)
        with pytest.raises(DomainError) as other:
            trips.sample(3, where=region)
        assert str(one.value) == str(other.value)


@pytest.mark.parametrize("method", ["balanced", "independent"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_conditional_sample_stays_in_region(trips: Generator, method: Any, shuffle: bool) -> None:
    """The region is much smaller than the cells."""
    where = {"fare": (10, 10.001), "kind": ["a", "c"], "late": (7, 7), ("lon", "lat"): (-1, 51.5, -0.999, None)}
    sample = trips.sample(2000, where=where, method=method, shuffle=shuffle, rng=1)
    assert ((sample["fare"] >= 10) & (sample["fare"] <= 10.001)).all()
    assert set(sample["kind"].tolist()) == {"a", "c"}
    assert (sample["late"] == 7).all()
    assert ((sample["lon"] >= -1) & (sample["lon"] <= -0.999) & (sample["lat"] >= 51.5)).all()
    assert len(np.unique(sample["fare"])) > 1900
    assert trips.sample(50, where={"late": None}, method=method, shuffle=shuffle, rng=1)["late"].mask.all()


def test_default_size_of_conditional_sample(trips: Generator) -> None:
    assert len(trips.sample(where={"kind": "b"}, rng=1)["fare"]) == round(trips.total * trips.mass({"kind": "b"}).value)


@pytest.mark.parametrize("method", ["balanced", "independent"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_conditional_sample_into_array(method: Any, shuffle: bool) -> None:
    generator = histogram(Interval(0, 1), 2, [1, 2, 3, 4])
    out = np.zeros(100)
    assert generator.sample(where=(0.1, 0.6), method=method, shuffle=shuffle, rng=1, out=out) is out
    assert ((out >= 0.1) & (out <= 0.6)).all()
    assert shuffle or (np.diff(np.floor(out * 4)) >= 0).all()
    frame = exact_generator(Table(a=Integers(0, 3)), {"a": [0, 1, 2, 3]}).sample(
        4, where={"a": (1, 2)}, frame="pandas", rng=1
    )
    assert sorted(frame["a"]) == [1, 1, 2, 2]


def test_conditional_sample_of_long_prefix() -> None:
    generator = exact_generator(IPv6(), ["2001:db8::1"] * 9, depth=6)
    network = ipaddress.ip_network("2001:db8:1:2:3:4:5:0/112")
    sample = generator.sample(50, where=str(network), rng=1)
    assert all(ipaddress.ip_address(address) in network for address in sample.tolist())
    assert len(set(sample.tolist())) > 45


class CountedIPv4(IPv4):
    """IPv4 that counts the cells whose overlap is computed."""

    kind = "watched in test_queries"

    def __init__(self) -> None:
        super().__init__()
        self.cells = 0

    def overlap(self, region: Any, codes: Any, *, level: int) -> Any:
        self.cells += codes.size
        return super().overlap(region, codes, level=level)


@pytest.mark.parametrize("level", [10, 20])
@pytest.mark.parametrize(("prefix", "most"), [("10.0.0.0/8", 2 * 8 + 1), ("10.1.2.3/32", 2 * 20 + 1), ("0.0.0.0/0", 1)])
def test_cells_visited_for_prefix(level: int, prefix: str, most: int) -> None:
    """Two cells per level, with a thousand leaves or a million."""
    domain = CountedIPv4()
    generator = histogram(domain, level, [1] * 2**level)
    assert generator.mass(prefix).value == pytest.approx(2.0 ** -ipaddress.ip_network(prefix).prefixlen)
    assert domain.cells <= most


def test_cells_visited_for_region(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    look = Box.overlap

    def overlap(self: Box, region: Any, codes: Any, *, level: int) -> Any:
        seen.append(codes.size)
        return look(self, region, codes, level=level)

    monkeypatch.setattr(Box, "overlap", overlap)
    generator = histogram(Box([(0, 1), (0, 1)]), 18, [1] * 2**18)
    assert generator.mass(((0.1, 0.9), (0.1, 0.9))).value == pytest.approx(0.64)
    assert sum(seen) < 4 * 4 * 2**9 * 2  # four sides of at most 512 cells, each with its parents and their halves


def test_cells_without_mass_unvisited() -> None:
    domain = CountedIPv4()
    generator = histogram(domain, 16, [0] * 2**15 + [1] + [0] * (2**15 - 1))
    assert generator.mass("10.0.0.0/8").value == 0
    assert domain.cells <= 4  # one is the domain, in which the prefix is looked for


@pytest.mark.parametrize("region", [[8, 17], [(0, 1), (8, 9)], [8, 9, 10], 8])
@pytest.mark.parametrize("domain", [Interval(0, 23), Time("2024-01-01", "2024-01-02")], ids=repr)
def test_lists_are_no_ranges(domain: Domain, region: Any) -> None:
    """A list could mean a range, and single values have measure 0."""
    generator = Summary(Plan(domain, epsilon=1, budgets={1: 1}, exact_depth=1)).release()
    with pytest.raises(DomainError, match=r"a pair .* write a tuple of the ends"):
        generator.mass(region)

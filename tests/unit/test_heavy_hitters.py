"""Heavy hitters: prefixes, nodes, categories, ranges and cells of tables."""

import re
from typing import Any

import numpy as np
import pytest

from privhp import (
    Box,
    Categories,
    Distribution,
    Generator,
    Geo,
    HeavyHitter,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Plan,
    QueryError,
    Summary,
    Table,
    Taxonomy,
    Time,
    fit,
)
from privhp.answers.leaves import Leaves
from privhp.answers.standard_errors import UnavailableErrors
from privhp.release import Release
from releases import exact_generator, histogram


def as_tuples(hitters: list[HeavyHitter]) -> list[tuple[Any, float, float]]:
    return [(hitter.region, round(hitter.count, 6), round(hitter.residual_count, 6)) for hitter in hitters]


ADDRESSES = (
    ["10.1.2.3"] * 40
    + ["10.1.200.1"] * 10
    + ["10.9.0.1"] * 11
    + ["10.12.0.1"] * 9
    + ["192.168.1.1"] * 25
    + ["8.8.8.8"] * 5
)


def test_residual_shares_of_prefixes() -> None:
    generator = exact_generator(IPv4(), ADDRESSES, depth=16)
    assert as_tuples(generator.heavy_hitters(0.15)) == [
        ("10.0.0.0/8", 70, 20),
        ("10.1.0.0/16", 50, 50),
        ("192.168.0.0/16", 25, 25),
    ]
    assert as_tuples(generator.heavy_hitters(0.22)) == [("10.1.0.0/16", 50, 50), ("192.168.0.0/16", 25, 25)]
    assert as_tuples(generator.heavy_hitters(0.3, levels=[8])) == [("10.0.0.0/8", 70, 70)]
    assert as_tuples(generator.heavy_hitters(0.3, levels=range(1, 33)))[0] == ("10.1.0.0/16", 50, 50)
    assert as_tuples(generator.heavy_hitters(0.2, levels=[8, 13])) == [
        ("10.0.0.0/13", 50, 50),
        ("192.168.0.0/13", 25, 25),
        ("10.8.0.0/13", 20, 20),
    ]


def test_heavy_prefixes_of_network() -> None:
    generator = exact_generator(IPv4("10.0.0.0/12"), ADDRESSES, depth=12)
    assert as_tuples(generator.heavy_hitters(0.1)) == [
        ("10.1.2.0/24", 40, 40),
        ("10.9.0.0/24", 11, 11),
        ("10.1.200.0/24", 10, 10),
        ("10.12.0.0/24", 9, 9),
    ]
    assert as_tuples(generator.heavy_hitters(0.16)) == [("10.1.2.0/24", 40, 40)]


def test_heavy_prefixes_of_nullable_addresses() -> None:
    records = [*ADDRESSES, *[None] * 100]
    generator = exact_generator(Nullable(IPv4()), records, depth=17)
    assert as_tuples(generator.heavy_hitters(0.2)) == [(None, 100, 100), ("10.1.0.0/16", 50, 50)]


def test_heavy_prefixes_of_ipv6() -> None:
    generator = exact_generator(IPv6("2001:db8::/32"), ["2001:db8:1:2::3"] * 3 + ["2001:db8:ffff::"], depth=16)
    assert as_tuples(generator.heavy_hitters()) == [("2001:db8:1::/48", 3, 3), ("2001:db8:ffff::/48", 1, 1)]


TREE = {
    "fruit": {"apple": None, "pear": None, "plum": {"red": None, "blue": None}},
    "bread": None,
    "milk": {"cow": None},
}


def test_heavy_nodes_of_taxonomy() -> None:
    generator = exact_generator(
        Taxonomy(TREE), ["apple"] * 5 + ["pear"] * 5 + ["red"] * 6 + ["blue"] * 4 + ["cow"] * 80
    )
    assert as_tuples(generator.heavy_hitters(0.1)) == [
        ("milk/cow", 80, 80),
        ("fruit", 20, 10),
        ("fruit/plum", 10, 10),
    ]


def test_heavy_categories() -> None:
    generator = exact_generator(Categories(["a", "b", "c", "d", "e"]), ["a"] * 6 + ["b"] * 3 + ["d"])
    assert as_tuples(generator.heavy_hitters(0.3)) == [("a", 6, 6), ("b", 3, 3)]
    assert [hitter.region for hitter in generator.heavy_hitters(0.3, levels=[1])] == [["a", "b", "c"]]


def test_heavy_ranges_of_numbers_times_and_places() -> None:
    days = Time("2020-01-01", "2020-01-08", unit="D")
    (hitter,) = exact_generator(days, ["2020-01-03"] * 9 + ["2020-01-08"]).heavy_hitters(0.5)
    assert hitter.region == (np.datetime64("2020-01-03"), np.datetime64("2020-01-03"))
    assert as_tuples(exact_generator(Integers(1, 6), [5, 6, 6], depth=2).heavy_hitters(0.5)) == [((5, 6), 3, 3)]
    assert as_tuples(exact_generator(Interval(0, 8), [1.5] * 3, depth=3).heavy_hitters(0.5)) == [((1.0, 2.0), 3, 3)]
    assert as_tuples(exact_generator(Box([(0, 1), (0, 1)]), [(0.1, 0.9)], depth=2).heavy_hitters()) == [
        (((0.0, 0.5), (0.5, 1.0)), 1, 1)
    ]
    (hitter,) = exact_generator(Geo(170, -10, -170, 10), [(-175.0, 5.0)], depth=2).heavy_hitters()
    assert hitter.region == pytest.approx((-180, 0, -170, 10))


def test_heavy_cells_of_table() -> None:
    domain = Table(fare=Interval(0, 8), kind=Categories(["a", "b"]), late=Nullable(Integers(0, 3)))
    generator = exact_generator(domain, {"fare": [1.0] * 4, "kind": ["b"] * 4, "late": [None] * 4}, depth=3)
    assert [hitter.region for hitter in generator.heavy_hitters()] == [{"fare": (0.0, 4.0), "kind": "b", "late": None}]
    generator = exact_generator(domain, {"fare": [1.0] * 4, "kind": ["b"] * 4, "late": [None] * 4}, depth=1)
    assert [hitter.region for hitter in generator.heavy_hitters()] == [{"fare": (0.0, 4.0)}]


def two_bits(*counts: float) -> Distribution:
    """Counts of (a, b) = (0, 0) and (0, 1), and of a = 1 whose b is not known."""
    leaves = Leaves(np.array([0, 1, 1], dtype=np.uint64), np.array([2, 2, 1]), np.array(counts))
    return Distribution(Table(a=Integers(0, 1), b=Integers(0, 1)), leaves, UnavailableErrors("none"))


def test_wide_leaves_support_no_value() -> None:
    assert as_tuples(two_bits(60, 0, 40).marginal("b").heavy_hitters(0.15)) == [((0, 0), 80, 80)]
    assert two_bits(10, 10, 80).marginal("b").heavy_hitters(0.3) == []
    assert as_tuples(two_bits(15, 15, 70).marginal("b").heavy_hitters(0.3)) == [((0, 0), 50, 50), ((1, 1), 50, 50)]
    assert as_tuples(two_bits(60, 0, 40).marginal("a").heavy_hitters(0.15)) == [((0, 0), 60, 60), ((1, 1), 40, 40)]
    both = two_bits(60, 0, 40).marginal(["a", "b"]).marginal("b")  # a marginal of a marginal knows the leaves, too
    assert [hitter.region for hitter in both.heavy_hitters(0.15)] == [(0, 0)]


def test_wide_leaves_support_no_value_of_nullable_column() -> None:
    """With a = 0, null and each value of b are counted; with a = 1, half of b is taken to be null."""
    table = Table(a=Integers(0, 1), b=Nullable(Integers(0, 1)))
    leaves = Leaves(np.array([0, 2, 3, 1], dtype=np.uint64), np.array([2, 3, 3, 1]), np.array([10.0, 60.0, 0.0, 30.0]))
    values = Distribution(table, leaves, UnavailableErrors("none")).marginal("b", null=False)
    assert values.total == 75
    assert as_tuples(values.heavy_hitters(0.05)) == [((0, 0), 67.5, 67.5)]


def test_no_heavy_hitters_without_records() -> None:
    assert histogram(Interval(0, 1), 1, [0, 0]).heavy_hitters(0.1) == []


def test_heavy_hitters_without_root() -> None:
    assert histogram(Interval(0, 1), 0, [9]).heavy_hitters(0.1) == []
    assert histogram(Interval(0, 1), 3, [1] * 8).heavy_hitters(1) == []


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, float("nan"), "0.1", None, True])
def test_invalid_threshold(threshold: Any) -> None:
    with pytest.raises(QueryError, match="expected a threshold above 0 and up to 1"):
        histogram(Interval(0, 1), 1, [3, 4]).heavy_hitters(threshold)


@pytest.mark.parametrize("levels", [[], [0], [1, 64], [1.5], "8", [True], 33])
def test_invalid_levels(levels: Any) -> None:
    with pytest.raises(QueryError, match="expected levels between 1 and 32"):
        histogram(IPv4(), 1, [3, 4]).heavy_hitters(0.1, levels=levels)


def test_errors_are_those_of_mass() -> None:
    generator = fit(
        np.random.default_rng(0).beta(2, 5, (20_000, 2)), Box([(0, 1), (0, 1)]), epsilon=1, expected_records=20_000
    )
    hitters = generator.heavy_hitters(0.05)
    assert len(hitters) > 2
    for hitter in hitters:
        expected = generator.mass(hitter.region)
        assert hitter.estimate.value == hitter.mass
        assert hitter.estimate.stderr == pytest.approx(expected.stderr)
        assert hitter.estimate.interval(0.8) == pytest.approx(expected.interval(0.8))


def test_paper_plans_have_no_errors() -> None:
    summary = Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=1000))
    summary.update(np.random.default_rng(0).random(1000))
    with pytest.raises(QueryError, match="top-down"):
        _ = summary.release().heavy_hitters(0.01)[0].estimate.stderr


@pytest.mark.parametrize(
    ("domain", "region", "rounded"),
    [
        (Box([(0, 90)] * 2), ((52.384375000000006, 52.734375), (0.0, 0.1)), ((52.384375, 52.734375), (0.0, 0.1))),
        (Geo(), (-0.703125, 51.328125, 0.0, 51.50390625), (-0.703125, 51.328125, 0.0, 51.50390625)),
        (Interval(1e-9, 1e9, scale="log"), (1.2345678e-9, 31622.7766), (1.2345678e-9, 31622.7766)),
        (Nullable(Interval(0, 1)), None, None),
        (Nullable(Interval(0, 1)), (0.30000000000000004, 0.4), (0.3, 0.4)),
        (
            Table(x=Interval(0, 1), n=Integers(0, 9)),
            {"x": (1 / 3, 2 / 3), "n": (0, 4)},
            {"x": (0.333333333333333, 0.666666666666667), "n": (0, 4)},
        ),
        (IPv4(), "10.0.0.0/8", "10.0.0.0/8"),
    ],
)
def test_rounded_regions(domain: Any, region: Any, rounded: Any) -> None:
    assert domain.round_region(region) == rounded


def test_printed_heavy_hitters() -> None:
    plan = Plan(Integers(0, 3), epsilon=1, budgets={2: 1}, exact_depth=2, inference="least-squares")
    (hitter,) = Generator(Release(plan, {2: np.array([6001, 3000, 0, 998])})).heavy_hitters(0.5, levels=[2])
    shares, counts = r"mass=0\.600\d+ \+- 0\.000\d+, residual_mass=0\.600\d", r"count=600\d, residual_count=600\d"
    assert re.fullmatch(rf"HeavyHitter\(region=\(0, 0\), level=2, code=0, {shares}, {counts}\)", repr(hitter))

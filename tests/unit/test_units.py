"""Distances and cell sizes in the units that people use, for every domain: texts of plans, as a newcomer reads them."""

import re
from functools import cache
from typing import Any

import pytest

from privhp import Box, Categories, Geo, Integers, Interval, IPv4, IPv6, Nullable, Plan, Table, Taxonomy, Time
from privhp.core.number_format import format_rounded
from privhp.planning.prediction_table import STREAM_NOTES, prediction_table

YEARS = Time("2020-01-01", "2026-01-01")
TREE = Taxonomy({"fruit": ["apple", "pear"], "vegetable": {"root": ["beet", "carrot"], "leaf": ["kale"]}})
WEEK = Categories(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
TRIPS = Table({"fare": Interval(0, 1000), "day": WEEK, "at": Nullable(YEARS)})
DOMAINS: dict[str, Any] = {
    "interval": Interval(0, 1000),
    "tiny interval": Interval(0, 1e-9),
    "huge interval": Interval(-1e12, 1e12),
    "log interval": Interval(0.01, 1e6, scale="log"),
    "steps": Interval(0, 500, step=0.01),
    "three integers": Integers(1, 3),
    "integers": Integers(0, 120),
    "huge integers": Integers(0, 2**60),
    "seconds": YEARS,
    "a minute": Time("2020-01-01T00:00:00", "2020-01-01T00:01:00"),
    "nanoseconds": Time("2020-01-01T00:00:00", "2020-01-01T00:00:01", unit="ns"),
    "days": Time("1900-01-01", "2100-01-01", unit="D"),
    "country": Geo(-9, 49.8, 2, 61),
    "block": Geo(-73.98, 40.74, -73.979, 40.741),
    "world": Geo(-180, -90, 180, 90),
    "IPv4": IPv4(),
    "a network": IPv4("10.0.0.0/8"),
    "IPv6": IPv6(),
    "week": WEEK,
    "tree": TREE,
    "box": Box([(0, 1000), (-5, 5)]),
    "nullable": Nullable(Interval(0, 1000)),
    "table": TRIPS,
}


@cache
def plan_of(name: str) -> Plan:
    return Plan.auto(DOMAINS[name], epsilon=1, expected_records=20_000, memory="64 KiB")


@pytest.mark.parametrize(
    ("name", "sizes"),
    {
        "interval": ["1,000", "62.5", "0.00000373"],
        "tiny interval": ["1e-09", "6.25e-11", "3.73e-18"],
        "huge interval": ["2 trillion", "125 billion", "7,450"],
        "log interval": ["a factor of 100 million", "a factor of 3.2", "0.0000069%"],
        "steps": ["500", "41", "exact"],
        "three integers": ["3", "exact", "exact"],
        "integers": ["121", "8", "exact"],
        "huge integers": ["1.15 quintillion", "144 quadrillion", "8.59 billion"],
        "seconds": ["6 years", "256 days", "2 seconds"],
        "a minute": ["1.02 minutes", "6 seconds", "exact"],
        "nanoseconds": ["1 second", "82.4 milliseconds", "5 nanoseconds"],
        "days": ["200 years", "22.4 years", "exact"],
        "country": ["1,420 km", "366 km", "90 m"],
        "block": ["140 m", "34.9 m", "8.51 mm"],
        "world": ["20,000 km", "10,000 km", "2.73 km"],
        "IPv4": ["/0", "/4", "/28"],
        "a network": ["/8", "/12", "/32"],
        "IPv6": ["/0", "/4", "/28"],
        "week": ["up to 7 values", "exact", "exact"],
        "tree": ["up to 5 values", "exact", "exact"],
        "box": ["1,000 x 10", "62.5 x 10", "0.00763 x 0.00488"],
        "nullable": ["1,000", "125", "0.00000745"],
        "table": [
            "fare: 1,000; day: up to 7 values; at: 6 years",
            "fare: 500; day: exact; at: 6 years",
            "fare: 0.244; day: exact; at: 1 day",
        ],
    }.items(),
)
def test_cell_sizes(name: str, sizes: list[str]) -> None:
    """Sizes of the cells of levels 0, 4 and 28, or the deepest."""
    domain = DOMAINS[name]
    assert [domain.format_resolution(min(level, domain.depth)) for level in (0, 4, 28)] == sizes


@pytest.mark.parametrize(
    ("name", "distance", "text"),
    [
        ("interval", 12.3456, "12.3"),
        ("tiny interval", 3.4567e-10, "3.46e-10"),
        ("huge interval", 2.09715e6, "2.1 million"),
        ("huge interval", 1e12, "1 trillion"),
        ("log interval", 0.01, "0.7%"),
        ("integers", 0.00661, "0.00661"),
        ("seconds", 2.09715e6, "24.3 days"),
        ("seconds", 86_400, "1 day"),
        ("days", 24.27, "24.3 days"),
        ("country", 0.35012, "350 m"),
        ("block", 0.0000123, "1.23 cm"),
        ("block", 0.0000000123, "0.0123 mm"),
        ("block", 0, "0 m"),
        ("IPv4", 2**-13.0, "/13.0"),
        ("a network", 2**-13.0, "/21.0"),
        ("IPv4", 1e-30, "/32.0"),
        ("IPv4", 0, "0"),
        ("week", 0.125, "12.5%"),
        ("box", 0.5, "0.5"),
        ("nullable", 0.5, "0.5"),
        ("table", 0.0123, "1.2%"),
    ],
)
def test_distances(name: str, distance: float, text: str) -> None:
    assert DOMAINS[name].format_distance(distance) == text


@pytest.mark.parametrize("name", DOMAINS)
def test_plans_have_no_machine_numbers(name: str) -> None:
    """No exponent but in a tiny domain, no digit beyond the third of a decimal fraction, no plural of one."""
    plan = plan_of(name)
    text = str(plan).partition("\n\n")[2]
    assert name == "tiny interval" or not re.search(r"\de[-+]\d", text)
    assert not re.search(r"[1-9]\.\d{3}", text)
    assert not re.search(r"0\.0*[1-9]\d{3}", text)
    assert not re.search(r"(?<![\d.,/])1 (?:splits|increments|days|hours|values|seconds)\b", text)
    assert max(map(len, str(plan).splitlines())) <= 100


@pytest.mark.parametrize("name", DOMAINS)
def test_table_of_predictions(name: str) -> None:
    domain, plan = DOMAINS[name], plan_of(name)
    causes, rows = prediction_table(plan)
    errors = plan.predictions()
    assert [row[0] for row in rows] == list(STREAM_NOTES.values())
    for row, error in zip(rows, errors.values(), strict=True):
        assert row[1:] == [
            domain.format_distance(error.total),
            *(domain.format_distance(getattr(error, c)) for c in causes),
        ]
    left_out = {"noise", "collisions", "resolution"} - set(causes)
    assert all(getattr(error, cause) == 0 for error in errors.values() for cause in left_out)


def test_unit_of_a_table_is_explained_once() -> None:
    text = " ".join(str(plan_of("table")).split())
    assert text.count("as a share of that column's range.") == 1
    assert "widest column, of its range" in text
    weighted = Table({"fare": Interval(0, 1000), "day": WEEK}, weights={"fare": 2})
    assert "as a share of that column's range, times its weight." in weighted.distance_meaning


def test_table_of_one_column_has_the_unit_of_the_column() -> None:
    trips = Table({"at": Nullable(YEARS)}, weights={"at": 3})
    assert [trips.format_resolution(level) for level in range(12)] == [
        trips.columns[0].domain.format_resolution(level) for level in range(12)
    ]
    assert trips.format_distance(trips.diameter(0)) == YEARS.format_distance(YEARS.diameter(0)) == "6 years"
    assert trips.distance_meaning == YEARS.distance_meaning
    assert "cell size\n" in str(Plan.auto(trips, epsilon=1, expected_records=1000))


def test_columns_of_a_table() -> None:
    plan = plan_of("table")
    table = str(plan).partition("\ncolumns ")[2].splitlines()[1:5]
    assert [line.split()[0] for line in table] == ["column", "fare", "day", "at"]
    level = int(str(plan).partition("in cells of level ")[2].partition(",")[0])
    assert TRIPS.format_resolutions(level).keys() == {"fare", "day", "at"}
    sizes = TRIPS.format_resolutions(level)
    for line, column in zip(table[1:], TRIPS.columns, strict=True):
        splits = TRIPS.splits_by_column(level)[column.label] - column.domain.nullable  # that of null is left out
        assert re.fullmatch(rf" +{column.label} +{splits} +{sizes[column.label]}", line)


def test_long_domains_are_shortened() -> None:
    plan = Plan.auto(Categories([f"product {place}" for place in range(500)]), epsilon=1, expected_records=1000)
    domain = str(plan).partition("\nguarantee")[0].splitlines()
    assert len(domain) == 4
    assert domain[-1].endswith(" ...")
    assert "product 499" not in repr(plan)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (19.97812, 0.0342, "19.978"),
        (-3.2, 1.5, "-3.2"),
        (63.2, 20.0, "63"),
        (12_345.6, 240.0, "12,346"),
        (36, 0.25, "36"),
        (36, 0, "36"),
        (71_084_936_493, 0, "71,084,936,493"),
        (19.97812345, 0, "19.9781"),
        (71_084_936_493, 4.6e8, "71.08 billion"),
        (-2.372e11, 1.3e9, "-237.2 billion"),
        (2.61976e-7, 2.19e-10, "2.6198e-07"),
        (0.0, 1e-8, "0.000000000"),
    ],
)
def test_digits_that_an_error_leaves(value: float, error: float, text: str) -> None:
    assert format_rounded(value, error) == text


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        (Interval(0, 1e6), True),
        (Table(amount=Nullable(Interval(0, 1e6))), True),
        (TRIPS, False),
        (WEEK, False),
    ],
    ids=repr,
)
def test_plans_say_what_wide_bounds_mean(domain: Any, said: bool) -> None:
    text = " ".join(str(Plan.auto(domain, epsilon=1, expected_records=100_000)).split())
    assert ("If the bounds are much wider than the records, the second line is the nearest" in text) == said

"""`Plan.auto`: the plan of least predicted error."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from cases import case_count
from privhp import (
    Box,
    Categories,
    Domain,
    Geo,
    Integers,
    Interval,
    IPv4,
    IPv6,
    Nullable,
    Plan,
    PlanError,
    Summary,
    Table,
    Tally,
    Taxonomy,
    Time,
)
from privhp.planning.plan_warnings import plan_warnings
from privhp.planning.tuning import LEARNING_SHARE

SLOW = pytest.mark.slow
LINE = 100
"""Characters of a line of a printed plan, at most."""
PRICE = Interval(0, 10_000, step="0.01")
UNIT = Interval(0, 1)
COMMON: dict[str, Any] = {"epsilon": 1, "expected_records": 1_000_000}
DOMAINS: dict[str, Domain] = {
    "interval": UNIT,
    "log interval": Interval(1e-3, 1e6, scale="log"),
    "cut interval": Interval(0, 100, cuts=[1, 10]),
    "integers": Integers(-120, 1440),
    "two integers": Integers(0, 1),
    "two categories": Categories(["a", "b"]),
    "categories": Categories(list("abcdefghijk")),
    "taxonomy": Taxonomy({"a": {"b": None, "c": None}, "d": None}),
    "time": Time("2018-01-01", "2020-12-31"),
    "box": Box([(0, 1), (0, 5)]),
    "geo": Geo(),
    "ipv4": IPv4(),
    "ipv6": IPv6(),
    "nullable": Nullable(Integers(0, 9)),
    "table": Table(
        fare=Interval(0, 100), kind=Categories(["bus", "tram", "taxi"]), at=Time("2018-01-01", "2020-12-31")
    ),
}


def check(plan: Plan, memory: int) -> None:
    assert plan.memory == memory
    assert plan.nbytes <= memory
    columns = sum(sum(own.budgets.values()) for own in plan.columns.values())
    cost = sum(plan.budgets.values()) + columns + plan.learning_cost
    assert plan.epsilon * (1 - Fraction(1, 2**40)) < cost <= plan.epsilon
    assert plan.depth <= plan.domain.depth
    assert max(map(len, str(plan).splitlines()[1:])) <= LINE
    for error in plan.predictions().values():
        assert min(error) >= 0
        assert math.isfinite(error.total)
        assert max(error.noise, error.collisions, error.resolution) <= error.total * (1 + 1e-9)


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS.keys())
def test_plan_of_every_domain_fits_its_memory(domain: Domain, passes: int) -> None:
    check(Plan.auto(domain, **COMMON, memory="16 KiB", passes=passes), 2**14)


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("memory", [256, 1024, 2**30, 2**40])
@pytest.mark.parametrize("name", ["interval", "two categories", "box"])
def test_tiny_and_huge_memories(name: str, memory: int, passes: int) -> None:
    check(Plan.auto(DOMAINS[name], **COMMON, memory=memory, passes=passes), memory)


@settings(max_examples=case_count(15))
@given(
    domain=st.sampled_from([UNIT, Integers(0, 1), IPv4(), Box([(0, 1)] * 3)]),
    epsilon=st.sampled_from(["1e-6", "0.01", 1, 30, 1000]),
    expected_records=st.sampled_from([1, 2, 1000.5, 10**6, 1e15]),
    memory=st.sampled_from([256, 300, 1023, 2**14, 2**20]) | st.integers(256, 2**21),
    neighbours=st.sampled_from(["add-remove", "replace-one"]),
    passes=st.integers(1, 3),
    persons=st.sampled_from([1, 7]),
)
def test_random_parameters(domain: Domain, memory: int, **parameters: Any) -> None:
    parameters["max_records_per_person"] = parameters.pop("persons")
    plan = Plan.auto(domain, memory=memory, **parameters)
    check(plan, memory)
    assert plan.neighbours == parameters["neighbours"]
    assert plan.passes == (1 if plan.learning is None else parameters["passes"])
    assert plan.partition is None
    assert Plan.from_spec(plan.spec()) == plan


def test_equal_arguments_give_equal_plans() -> None:
    assert Plan.auto(UNIT, **COMMON, passes=3) == Plan.auto(UNIT, **COMMON, passes=3)
    sketched = [Plan.auto(UNIT, **COMMON, hash_seed=seed) for seed in (3, 3, None, None)]
    assert sketched[0] == sketched[1]
    assert sketched[2] != sketched[3]  # fresh hash seeds
    assert replace(sketched[2], hash_seed=3) == sketched[0]


def test_small_epsilon_chooses_few_counters() -> None:
    sizes = [Plan.auto(UNIT, epsilon=epsilon, expected_records=10**4).counters for epsilon in ("1e-3", "0.1", 10)]
    assert sizes == sorted(sizes)
    assert sizes[0] <= 32 < sizes[2]


@pytest.mark.parametrize("name", ["interval", "ipv4", *(pytest.param(name, marks=SLOW) for name in ("box", "table"))])
def test_error_falls_with_memory(name: str) -> None:
    """The planner minimises a mean over the streams and leaves memory that does not lower it unused.

    The search is a local descent from equal budgets, so it can end slightly above the minimum.
    """
    plans = [Plan.auto(DOMAINS[name], **COMMON, memory=2**size) for size in range(12, 25, 4)]
    means = [math.prod(error.total for error in plan.predictions().values()) ** 0.25 for plan in plans]
    assert all(later <= earlier * 1.02 for earlier, later in itertools.pairwise(means))


def test_table_of_one_line() -> None:
    table, line = (Plan.auto(domain, **COMMON, passes=3) for domain in (Table(x=UNIT), UNIT))
    assert (table.budgets, table.learning) == (line.budgets, line.learning)
    assert not Table(x=Nullable(UNIT)).is_line
    assert not Table(x=UNIT, y=UNIT).is_line


@pytest.mark.parametrize("domain", [Integers(-120, 1440), Time("2013-01-01", "2013-12-31", unit="D")], ids=repr)
def test_nothing_is_learned_at_full_depth(domain: Domain) -> None:
    plan = Plan.auto(domain, **COMMON, passes=3)
    assert plan.depth == domain.depth
    assert (plan.learning, plan.passes) == (None, 1)


def test_learning_passes() -> None:
    """Each pass has a share of the budget of the measured leaves, and the rates are those of the tuning."""
    for passes in (2, 3):
        plan = Plan.auto(UNIT, **COMMON, passes=passes)
        assert plan.learning is not None
        assert [own.rate for own in plan.learning.passes] == list(plan.tuning.learning_rates[1 - passes :])
        budgets = {own.budget for own in plan.learning.passes}
        assert budgets == {LEARNING_SHARE * plan.budgets[plan.learned_level]}
        assert plan.learning.cost < sum(own.rate for own in plan.learning.passes)


@pytest.mark.parametrize(
    ("domain", "little"),
    [(PRICE, 3), (Nullable(PRICE), 3), (Table(price=Nullable(PRICE), kind=Categories(["a", "b", "c"])), 1)],
    ids=["line", "nullable", "table"],
)
def test_a_partition_is_learned_unless_there_is_little_data(domain: Domain, little: int) -> None:
    """Also where levels alone would be best for the streams of the error model, which have no heaps."""
    assert Plan.auto(domain, epsilon=1, expected_records=80_000, passes=3).passes == 3
    assert Plan.auto(domain, epsilon="0.001", expected_records=80_000, passes=3).passes == little


@pytest.mark.parametrize("domain", [Nullable(PRICE), Table(price=Nullable(PRICE))], ids=["column", "table"])
def test_a_nullable_line_has_the_constants_of_a_line(domain: Domain) -> None:
    plan = Plan.auto(domain, **COMMON)
    assert plan.tuning == Plan.auto(PRICE, **COMMON).tuning
    assert not domain.is_line  # null is as far from all values


@pytest.mark.parametrize("name", ["interval", "ipv4", *(pytest.param(name, marks=SLOW) for name in ("box", "geo"))])
def test_learning_lowers_the_predicted_error(name: str) -> None:
    one, two = (Plan.auto(DOMAINS[name], **COMMON, memory="64 KiB", passes=passes) for passes in (1, 3))
    means = [math.prod(error.total for error in plan.predictions().values()) for plan in (one, two)]
    assert means[1] < means[0]


@pytest.mark.parametrize("passes", [1, pytest.param(2, marks=SLOW), 3])
def test_errors_fall_with_epsilon_and_records(passes: int) -> None:
    """In proportion to all records, for each kind of stream."""
    memory = "16 KiB"
    for domain in (UNIT, IPv4()):
        by_epsilon = [
            Plan.auto(domain, epsilon=epsilon, expected_records=10**6, memory=memory, passes=passes)
            for epsilon in ("0.01", "0.3", 10)
        ]
        by_records = [
            Plan.auto(domain, epsilon=1, expected_records=records, memory=memory, passes=passes)
            for records in (10**3, 10**5, 10**7)
        ]
        for plans in (by_epsilon, by_records):
            products = [math.prod(error.total for error in plan.predictions().values()) for plan in plans]
            assert products == sorted(products, reverse=True)


def test_neighbours_and_records_per_person_scale_the_noise() -> None:
    one = Plan.auto(UNIT, **COMMON, passes=3)
    assert [one.scale(level) for level in one.budgets] == [1 / budget for budget in one.budgets.values()]
    assert [Plan.auto(UNIT, **COMMON, neighbours="replace-one").sensitivity(level) for level in (1, 5)] == [2, 2]
    many = Plan.auto(UNIT, **COMMON, passes=3, max_records_per_person=10)
    assert [many.scale(level) for level in many.budgets] == [10 / budget for budget in many.budgets.values()]
    for stream, error in many.predictions().items():
        assert error.noise > one.predictions()[stream].noise


def test_ten_records_per_person_equal_a_tenth_of_epsilon() -> None:
    many = Plan.auto(UNIT, epsilon=1, expected_records=10**6, max_records_per_person=10)
    tenth = Plan.auto(UNIT, epsilon="1/10", expected_records=10**6)
    assert list(many.budgets) == list(tenth.budgets)
    assert [many.scale(level) for level in many.budgets] == pytest.approx(
        [tenth.scale(level) for level in tenth.budgets], rel=1e-9
    )


def test_plan_of_one_pass() -> None:
    plan = Plan.auto(UNIT, epsilon=1, expected_records=2000, memory="16 KiB")
    assert (plan.passes, plan.learning, plan.partition, plan.neighbours) == (1, None, None, "add-remove")
    first, second = Tally(plan), Tally(plan)
    first.add(np.full(1000, 0.2))
    second.add(np.full(1000, 0.8))
    summary = Summary(plan)
    summary.absorb(first)
    summary.absorb(second)
    generator = summary.release()
    assert generator.mass((0.1, 0.3)).value > 0.3
    assert generator.mass((0.7, 0.9)).value > 0.3


def test_predictions_are_printed() -> None:
    text = str(Plan.auto(UNIT, **COMMON))
    assert "expected error (1-Wasserstein distance) for 1,000,000 records. The mean distance" in text
    for kind in ("spread evenly", "in a sixteenth", "at forty points", "at all scales", "noise", "resolution"):
        assert kind in text


@pytest.mark.parametrize(("records", "per_person", "little"), [(1_999, 1, True), (2_000, 1, False), (10_000, 9, True)])
def test_little_data_warns(records: int, per_person: int, little: bool) -> None:
    plan = Plan.auto(UNIT, epsilon=1, expected_records=records, max_records_per_person=per_person)
    assert ("little data" in str(plan)) == ("Little data" in plan_warnings(plan)) == little
    assert ("below 2,000, noise hides" in plan_warnings(plan).get("Little data", "")) == little


def test_only_causes_that_occur_are_printed() -> None:
    assert "collisions" in str(Plan.paper(UNIT, epsilon=1, expected_records=1_000_000))
    assert "collisions" not in str(Plan.auto(UNIT, epsilon=1, expected_records=10_000))


def test_predictions_for_other_numbers_of_records() -> None:
    plan = Plan.auto(UNIT, **COMMON)
    assert plan.predictions(10**6) == plan.predictions()
    assert plan.predictions(10**5)["smooth"].total > plan.predictions()["smooth"].total
    with pytest.raises(PlanError, match="expected_records"):
        plan.predictions(-1)


def wide(columns: int) -> Table:
    return Table({f"c{place}": Interval(0, 100) for place in range(columns)})


def test_column_resolutions_are_printed() -> None:
    text = str(Plan.auto(wide(2), **COMMON))
    sizes = [line.split() for line in text.partition("cell size\n")[2].splitlines()]
    assert [name for name, _, _ in sizes] == ["c0", "c1"]
    for _, cuts, size in sizes:
        assert float(size) == pytest.approx(100 / 2 ** int(cuts), rel=0.005)
        assert int(cuts) >= 4
    assert "warning" not in text


@pytest.mark.parametrize("expected_records", [1_000, 50_000, 1_000_000])
def test_first_cells_of_a_learned_partition(
    expected_records: int,
) -> None:
    plan = Plan.auto(wide(5), epsilon=0.5, expected_records=expected_records, memory="64 MiB", passes=3)
    assert plan.learning is None or 2**plan.learned_level <= expected_records / 2


def test_too_many_columns_warn() -> None:
    text = str(Plan.auto(wide(20), **COMMON))
    assert "warning     too many columns: " in text
    assert max(map(len, text.splitlines()[1:])) <= LINE


def test_fully_split_columns_do_not_warn() -> None:
    table = Table(a=Categories(["x", "y"]), b=Integers(0, 1), c=Interval(0, 1))
    assert "warning" not in str(Plan.auto(table, **COMMON))


def test_no_columns_without_a_table() -> None:
    assert "columns" not in str(Plan.auto(UNIT, **COMMON))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"memory": "lots"}, 'expected a memory such as "256 KiB"'),
        ({"memory": "64 pages"}, 'expected a memory such as "256 KiB"'),
        ({"memory": 10}, "expected memory= as an integer from 256 to .*, got 10"),
        ({"memory": -1}, "expected memory="),
        ({"memory": 2**41}, "expected memory="),
        ({"memory": 1.5}, "expected memory="),
        ({"memory": True}, "expected memory="),
        ({"expected_records": 0}, "expected_records"),
        ({"expected_records": 1e16}, "expected_records"),
        ({"expected_records": float("nan")}, "expected_records"),
        ({"expected_records": [1, 2]}, "expected_records"),
        ({"epsilon": 0}, "expected epsilon= between"),
        ({"epsilon": "much"}, "expected epsilon= as a number"),
        ({"neighbours": "twins"}, "expected neighbours to be one of"),
        ({"max_records_per_person": 0}, "max_records_per_person"),
        ({"passes": 0}, "expected passes="),
        ({"passes": 4}, "expected passes= from 1 to 3"),
        ({"passes": 9}, "expected passes="),
        ({"passes": True}, "expected passes="),
        ({"passes": "2"}, "expected passes="),
    ],
    ids=lambda value: str(value)[:40],
)
def test_invalid_parameters(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        Plan.auto(UNIT, **COMMON | change)


def test_invalid_domain() -> None:
    with pytest.raises(PlanError, match="expected a domain"):
        Plan.auto("interval", **COMMON)


@pytest.mark.parametrize(
    ("written", "memory"),
    [("256 KiB", 2**18), ("1 MiB", 2**20), ("0.5 MiB", 2**19), ("64kib", 2**16), ("1000 B", 1000), ("1 MB", 10**6)],
)
def test_memory_with_units(written: str, memory: int) -> None:
    assert Plan.auto(UNIT, **COMMON, memory=written).memory == memory

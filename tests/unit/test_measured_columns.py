"""Columns of a table that a plan measures by themselves: which, at what cost, and in files."""

import io
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import privhp as hp
from forgery import forge
from learning_costs import loss_of_pass
from privhp import (
    Box,
    Categories,
    Domain,
    Integers,
    Interval,
    IPv4,
    Nullable,
    Partition,
    Plan,
    PlanError,
    Summary,
    Table,
    Tally,
    Time,
)
from privhp.core.container import RELEASE
from privhp.planning.learning import Learning, LearningPass
from privhp.planning.plan_sizes import PlanSizes
from privhp.planning.plan_warnings import plan_warnings
from privhp.release import Release

THREE = Table(c=Interval(0, 1), a=Integers(0, 1000), b=Nullable(Time("2020-01-01", "2021-01-01")))
FEW = Categories([f"c{place}" for place in range(8)])
NINE = Categories([f"c{place}" for place in range(9)])


def auto(domain: Domain, **changes: Any) -> Plan:
    settings: dict[str, Any] = {"epsilon": 1, "expected_records": 100_000, "memory": "256 KiB", "hash_seed": 5}
    return Plan.auto(domain, **settings | changes)


def table_plan(**changes: Any) -> Plan:
    """A plan that learns, with a column that learns on the same samples and one that does not."""
    learned = PlanSizes({3: "0.2"}, 0, learning=learning("1/4"))
    settings: dict[str, Any] = {
        "epsilon": 2,
        "budgets": {4: "0.5"},
        "exact_depth": 0,
        "learning": learning("1/4"),
        "inference": "least-squares",
        "columns": {"a": learned, "c": PlanSizes({2: "0.1"}, 2)},
    }
    return Plan(THREE, **settings | changes)


def learning(*rates: str) -> Learning:
    return Learning(nbytes=2**12, passes=tuple(LearningPass(Fraction(rate), Fraction(1, 2)) for rate in rates))


def spent(plan: Plan) -> Fraction:
    """What a plan costs, from the definitions: all budgets, and each pass at the loss of the sum of its budgets."""
    parts = [plan, *plan.columns.values()]
    measured = sum((budget for part in parts for budget in part.budgets.values()), Fraction(0))
    passes = zip(*(part.learning.passes for part in parts if part.learning is not None), strict=True)
    return measured + sum(
        (loss_of_pass(own[0].rate, sum((each.budget for each in own), Fraction(0))) for own in passes), Fraction(0)
    )


# Which columns


@pytest.mark.parametrize(
    ("table", "labels"),
    [
        (THREE, ["c", "a", "b"]),
        (Table(a=Interval(0, 1), b=Interval(0, 1)), []),
        (Table(a=Interval(0, 1), b=Nullable(Interval(0, 1))), []),
        (Table({("x", "y"): Box([(0, 1), (0, 1)])}), []),
        (Table({("x", "y"): Box([(0, 1), (0, 1)]), "a": IPv4()}), ["x, y", "a"]),
        (Table(a=Interval(0, 1), b=NINE, c=Interval(0, 1)), ["a", "b", "c"]),
        (Table(a=Interval(0, 1), b=FEW, c=Interval(0, 1)), ["a", "c"]),
        (Table(a=FEW, b=FEW, c=FEW), []),
    ],
    ids=["three axes", "two axes", "null is no axis", "a point", "a point and more", "nine", "eight", "few values"],
)
def test_tables_with_measured_columns(table: Table, labels: list[str]) -> None:
    for passes in (1, 3):
        plan = auto(table, passes=passes)
        known = {column.label for column in table.columns}
        assert set(labels) <= known, "labels are written otherwise"
        assert list(plan.columns) == labels
        assert plan.learning is not None or all(own.learning is None for own in plan.columns.values())
    assert Plan.paper(table, epsilon=1, expected_records=1000, hot_cells=4).columns == {}


@pytest.mark.parametrize("passes", [1, 3])
def test_columns_of_few_values_in_a_wide_table(passes: int) -> None:
    """Leaves of many columns do not resolve them; with more records, or fewer columns, they do."""
    questions = {f"q{number}": Integers(1, 5) for number in range(6)}
    survey = Table({**questions, "age": Integers(0, 99), "pay": Interval(0, 1), "sex": Categories(["f", "m"])})
    wide = auto(survey, expected_records=20_000, passes=passes)
    assert list(wide.columns) == [*questions, "age", "pay"]
    assert sum(wide.budgets.values()) + sum(sum(own.budgets.values()) for own in wide.columns.values()) <= wide.epsilon
    assert list(auto(survey, expected_records=10**9, passes=passes).columns) == ["age", "pay"]
    few = Table(q=Integers(1, 5), age=Integers(0, 99), pay=Interval(0, 1))
    assert list(auto(few, expected_records=20_000, passes=passes).columns) == ["age", "pay"]


QUESTIONS = {f"q{number}": Integers(1, 5) for number in range(63)}


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("domain", [Integers(1, 5), Interval(0, 100)], ids=repr)
def test_every_column_of_the_widest_table(domain: Domain, passes: int) -> None:
    """The default memory suffices for all of them, and their costs still add up to epsilon."""
    for width in (32, 36, 40, 63):
        table = Table(dict.fromkeys(list(QUESTIONS)[:width], domain))
        plan = Plan.auto(table, epsilon=1, expected_records=30_000, passes=passes)
        assert list(plan.columns) == [column.label for column in table.columns]
        assert len({*map(str, plan.columns.values())}) == 1
        assert plan.memory <= 2**20
        assert plan.nbytes <= plan.memory
        assert plan.epsilon * (1 - Fraction(1, 2**40)) <= spent(plan) <= plan.epsilon


def test_answers_about_one_column_of_a_wide_table() -> None:
    rng = np.random.default_rng(0)
    columns = {name: 1 + np.minimum(rng.geometric(0.6, 30_000) - 1, 4) for name in list(QUESTIONS)[:40]}
    table = Table(dict.fromkeys(columns, Integers(1, 5)))
    with pytest.warns(hp.PrivhpWarning, match="in samples and in answers about several columns"):
        generator = hp.fit(columns, table, epsilon=1, expected_records=30_000)
    for name in ("q0", "q39"):
        assert generator.mass({name: (4, 5)}).value == pytest.approx((columns[name] >= 4).mean(), abs=0.03)


def test_columns_of_few_values_need_little_memory() -> None:
    prices = {f"p{number}": Interval(0, 100) for number in range(10)}
    table = Table(dict.fromkeys(list(QUESTIONS)[:30], Integers(1, 5)) | prices)
    some, every = (Plan.auto(table, epsilon=1, expected_records=30_000, memory=own) for own in ("256 KiB", "1 MiB"))
    assert list(every.columns) == [column.label for column in table.columns]
    assert set(every.columns) - set(some.columns) == set(prices)


@pytest.mark.parametrize(
    ("changes", "named"), [({"memory": "64 KiB"}, "They have"), ({"memory": "256 KiB"}, "Of these, p0, p1"), ({}, None)]
)
def test_a_plan_says_which_columns_have_no_counters(changes: dict[str, Any], named: str | None) -> None:
    columns = {f"q{number}": Integers(1, 5) for number in range(36)} | {
        f"p{number}": Interval(0, 1) for number in range(2)
    }
    plan = Plan.auto(Table(columns), epsilon=1, expected_records=30_000, **changes)
    text = "no counters of their own, so answers about one of them come from wide cells, too. Leave some columns out"
    for shown in (" ".join(str(plan).split()), plan_warnings(plan)["Coarse columns"]):
        assert (text in shown) == (named is not None)
        assert named is None or named in shown
        assert ("in answers about several columns" in shown) == (named is None)


def test_no_columns_of_one_domain() -> None:
    assert auto(Box([(0, 1)] * 3)).columns == {}


@pytest.mark.parametrize("changes", [{"expected_records": 3000}, {"memory": "16 KiB"}, {"epsilon": "0.003"}])
def test_no_columns_with_little_data_or_memory(changes: dict[str, Any]) -> None:
    assert auto(THREE).columns
    plan = auto(THREE, **changes)
    assert plan.columns == {}
    assert "columns" not in plan.spec()


def test_columns_fit_the_memory() -> None:
    for memory in (32, 64, 256, 1024):
        for passes in (1, 3):
            plan = auto(THREE, memory=memory * 1024, passes=passes)
            assert plan.columns
            assert plan.nbytes <= memory * 1024
            assert sum(own.nbytes for own in plan.column_plans.values()) <= memory * 1024 / 8
            assert passes > 1 or Summary(plan).nbytes == plan.nbytes == 8 * Summary(plan).state().size


# Costs


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3.7"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_costs_add_up_to_epsilon(passes: int, epsilon: str, relation: str) -> None:
    tables = [THREE, Table({f"c{place}": Interval(0, 1) for place in range(7)})]
    for table in tables:
        plan = auto(table, passes=passes, epsilon=epsilon, neighbours=relation, expected_records=10**6)
        assert plan.columns
        assert (plan.learning is not None) == (passes > 1)
        cost = spent(plan)
        assert cost <= plan.epsilon
        assert cost >= plan.epsilon * (1 - Fraction(1, 2**40))
        columns = sum((sum(own.budgets.values(), Fraction(0)) for own in plan.columns.values()), Fraction(0))
        assert columns <= plan.epsilon / 3


def test_sample_is_paid_for_by_the_sum_of_budgets() -> None:
    plan = table_plan()
    assert plan.pass_budgets == [(Fraction(1, 4), Fraction(1))]
    loss = loss_of_pass(Fraction(1, 4), Fraction(1))
    assert abs(plan.learning_cost - loss) < Fraction(1, 10**15)
    assert plan.learning_cost > 2 * loss_of_pass(Fraction(1, 4), Fraction(1, 2))


@pytest.mark.parametrize("label", ["a", "c"])
def test_overspending_by_a_column_is_refused(label: str) -> None:
    plan = table_plan()
    budgets = sum(sum(own.budgets.values(), Fraction(0)) for own in (plan, *plan.columns.values()))
    plan = replace(plan, epsilon=budgets + plan.learning_cost)
    own = plan.columns[label]
    ((level, budget),) = own.budgets.items()
    more = own._replace(budgets={level: budget + Fraction(1, 10**25)})
    with pytest.raises(PlanError, match="cost at most epsilon"):
        replace(plan, columns={**plan.columns, label: more})


# Refusals


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": {"z": PlanSizes({2: "0.1"}, 2)}}, "expected columns= of the domain, got 'z'"),
        ({"columns": {"a": {2: "0.1"}}}, "expected columns= as a mapping from labels to PlanSizes"),
        ({"columns": {"a": PlanSizes({3: "0.2"}, 0, learning=learning("1/8"))}}, "column 'a': .*samples of the table"),
        (
            {"columns": {"a": PlanSizes({3: "0.2"}, 0, learning=learning("1/4", "1/4"))}},
            "column 'a': .*samples of the table",
        ),
        (
            {"columns": {"a": PlanSizes({3: "0.2"}, 0, learning=learning("1/4"), partition=Partition.complete(3))}},
            "column 'a': expected a partition once the table has one",
        ),
        ({"partition": Partition.complete(4)}, "column 'a': expected a partition once the table has one"),
        (
            {"columns": {"a": PlanSizes({50: "0.1"}, 50)}},
            "column 'a': expected exact_depth= as an integer from 0 to 10",
        ),
        ({"columns": {"a": PlanSizes({2: "0.1"}, 3)}}, "column 'a': expected a budget for level 3"),
        ({"memory": 2**10}, "memory"),
    ],
)
def test_columns_that_are_refused(changes: dict[str, Any], message: str) -> None:
    table_plan()
    with pytest.raises(PlanError, match=message):
        table_plan(**changes)


def test_learning_columns_of_a_table_that_does_not_learn() -> None:
    with pytest.raises(PlanError, match="samples of the table"):
        table_plan(learning=None, partition=Partition.complete(4))


def test_paper_inference_has_no_columns() -> None:
    plan = Plan.paper(THREE, epsilon=1, expected_records=1000, hot_cells=4)
    with pytest.raises(PlanError, match='expected inference="least-squares" for a plan that measures columns'):
        replace(plan, epsilon=2, columns={"a": PlanSizes({2: "0.1"}, 2)})


def test_release_needs_the_columns_of_its_plan() -> None:
    plan = auto(THREE)
    release = Summary(plan).close()
    assert list(release.columns) == ["c", "a", "b"]
    for columns in ({}, {"a": release.columns["a"]}, {**release.columns, "a": release.columns["c"]}):
        with pytest.raises(PlanError, match="one release of the plan's column for each measured column"):
            Release(plan, release.counts, columns=columns)


# Files


@pytest.mark.parametrize(
    "plan", [auto(THREE), auto(THREE, passes=3), table_plan()], ids=["one pass", "learns", "mixed"]
)
def test_round_trip_of_a_spec(plan: Plan) -> None:
    for keys in (False, True):
        spec = json.loads(json.dumps(plan.spec(), sort_keys=keys))
        read = Plan.from_spec(spec)
        assert read == plan
        assert hash(read) == hash(plan)
        assert list(read.columns) == list(plan.columns), "the table's order, in which counters are stored"
        assert list(read.column_plans) == list(plan.column_plans)


def test_columns_in_another_order() -> None:
    plan = auto(THREE)
    assert replace(plan, columns=dict(reversed(plan.columns.items()))) == plan
    assert list(replace(plan, columns=dict(reversed(plan.columns.items()))).columns) == ["c", "a", "b"]


def test_round_trip_of_files(tmp_path: Any) -> None:
    plan = auto(THREE)
    rows = {"c": np.linspace(0, 1, 50), "a": np.arange(50), "b": [None] * 50}
    tally, summary = Tally(plan), Summary(plan)
    tally.add(rows)
    summary.absorb(Tally.from_bytes(tally.to_bytes()))
    resumed = hp.resume(io.BytesIO(_saved(summary, tmp_path / "state")))
    assert np.array_equal(resumed.state(), summary.state())
    generator = summary.release()
    loaded = hp.load(io.BytesIO(_saved(generator, tmp_path / "release")))
    assert loaded.release == generator.release
    for label, own in generator.release.columns.items():
        assert loaded.release.columns[label] == own
        assert np.array_equal(loaded.release.columns[label].cells(), own.cells())
    assert resumed.close() == generator.release


def _saved(saved: Any, path: Any) -> bytes:
    hp.save(saved, path)
    return bytes(path.read_bytes())


def test_files_from_before_columns_were_measured() -> None:
    plan = auto(Table(a=Interval(0, 1), b=Interval(0, 1)))
    spec = plan.spec()
    assert "columns" not in spec
    assert Plan.from_spec(spec) == plan
    header = json.loads(json.dumps({"plan": spec}))
    loaded = hp.load(io.BytesIO(forge(header, magic=RELEASE, body=bytes(8 * plan.counters))))
    assert loaded.plan == plan
    assert loaded.release.columns == {}
    assert not any(loaded._measured)


@pytest.mark.parametrize(
    "columns",
    [
        [],
        {"a": 1},
        {"a": {}},
        {"a": {"budgets": {}}},
        {"z": None},
        None,
        "a",
        {"a": {"budgets": {"2": "1"}, "more": 1}},
    ],
)
def test_unreadable_columns(columns: Any) -> None:
    with pytest.raises(PlanError):
        Plan.from_spec(auto(THREE).spec() | {"columns": columns})


def test_hash_seed_is_drawn_for_sketches_of_columns() -> None:
    sketch = PlanSizes({2: "0.1", 8: "0.1"}, 2, sketch_rows=2, sketch_width=8, hot_cells=2)
    common: dict[str, Any] = {"epsilon": 1, "budgets": {2: "0.5"}, "exact_depth": 2, "inference": "least-squares"}
    assert Plan(THREE, **common).hash_seed == 0
    assert Plan(THREE, **common, columns={"a": sketch}).hash_seed != 0
    assert Plan(THREE, **common, columns={"a": sketch}, hash_seed=9).column_plans["a"].hash_seed == 9


# Counting


def test_record_that_is_invalid_in_one_column_counts_in_none() -> None:
    plan = auto(THREE)
    bad = [(0.5, 2000, None), (None, 3, None), (0.5, 3, "x"), (2.0, 3, None), (0.5, 3), None, 7]
    tally = Tally(plan)
    tally.add(bad)
    assert not any(counts.any() for counts in tally.arrays())
    tally.add([*bad, (0.5, 3, None)])
    assert {int(total) for counts in tally.arrays() for total in np.atleast_1d(counts.sum(axis=-1))} == {1}


def test_tally_with_unequal_columns_is_refused() -> None:
    plan = auto(THREE)
    tally = Tally(plan)
    tally.add([(0.5, 3, None)])
    tally.columns["a"].counters[0] += 1
    with pytest.raises(hp.FileError):
        Tally.from_bytes(tally.to_bytes())

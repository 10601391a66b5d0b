"""Plans: refused parameters and specs."""

from fractions import Fraction
from typing import Any

import pytest

from plan_settings import PAPER, SMALL, UNIT
from privhp import Interval, Plan, PlanError


@pytest.mark.parametrize(
    ("parameter", "value", "named", "came"),
    [
        ("domain", "interval", "domain", "'interval'"),
        ("domain", Interval, "domain", "Interval"),
        ("epsilon", 0, "epsilon", "0"),
        ("epsilon", 1001, "epsilon", "1001"),
        ("epsilon", float("nan"), "epsilon", "nan"),
        ("epsilon", "much", "epsilon", "'much'"),
        ("epsilon", True, "epsilon", "True"),
        ("epsilon", "0.9", "epsilon", "0.1 more"),
        ("budgets", {}, "budgets", "dict"),
        ("budgets", [0.5, 0.5], "budgets", "list"),
        ("budgets", {2: 0}, "budgets", "0 for level 2"),
        ("budgets", {2: "-0.1"}, "budgets", "-0.1 for level 2"),
        ("budgets", {2: 10**400}, "budgets", "for level 2"),
        ("budgets", {2: None}, "budget of level 2", "None"),
        ("budgets", {2: float("nan")}, "budget of level 2", "nan"),
        ("budgets", {2: "1e-13", 5: "0.5"}, "budgets", "1e-13 for level 2"),
        ("budgets", {2: Fraction(1, 10**400), 5: "0.5"}, "budgets", "for level 2"),
        ("budgets", {True: 0.5, 2: 0.5}, "level of budgets", "True"),
        ("budgets", {"2": 0.5}, "level of budgets", "'2'"),
        ("budgets", {2.0: 0.5}, "level of budgets", "2.0"),
        ("budgets", {-1: 0.5, 2: 0.5}, "level of budgets", "-1"),
        ("budgets", {2: 0.5, 64: 0.5}, "level of budgets", "64"),
        ("budgets", {2: 0.5, 60: 0.5}, "budgets", "level 60"),
        ("budgets", {0: 0.5, 3: 0.5}, "exact_depth", "levels 0, 3"),
        ("exact_depth", 60, "exact_depth", "60"),
        ("exact_depth", -1, "exact_depth", "-1"),
        ("exact_depth", 2.0, "exact_depth", "2.0"),
        ("exact_depth", 5, "exact_depth", "sketch_rows 3"),
        ("sketch_rows", 0, "sketch_rows", "sketch_rows 0"),
        ("sketch_rows", 1001, "sketch_rows", "1001"),
        ("sketch_rows", "3", "sketch_rows", "'3'"),
        ("sketch_rows", None, "sketch_rows", "None"),
        ("sketch_width", 0, "sketch_width", "sketch_width 0"),
        ("sketch_width", 2**24 + 1, "sketch_width", "16777217"),
        ("sketch_width", -8, "sketch_width", "-8"),
        ("hot_cells", 0, "hot_cells", "hot_cells 0"),
        ("hot_cells", 2**40 + 1, "hot_cells", "1099511627777"),
        ("hot_cells", 1.5, "hot_cells", "1.5"),
        ("expand", "some", "expand", "'some'"),
        ("expand", None, "expand", "None"),
        ("neighbours", "bounded", "neighbours", "'bounded'"),
        ("max_records_per_person", 0, "max_records_per_person", "0"),
        ("max_records_per_person", 10**6 + 1, "max_records_per_person", "1000001"),
        ("max_records_per_person", True, "max_records_per_person", "True"),
        ("hash_group", 9, "hash_group", "9"),
        ("hash_group", 4, "hash_group", "hash_group 4"),
        ("hash_seed", -1, "hash_seed", "-1"),
        ("hash_seed", 2**128, "hash_seed", str(2**128)),
        ("hash_seed", "7", "hash_seed", "'7'"),
    ],
)
def test_invalid_parameters(parameter: str, value: Any, named: str, came: str) -> None:
    arguments = {"domain": UNIT, **SMALL} | {parameter: value}
    with pytest.raises(PlanError) as caught:
        Plan(**arguments)
    _check_message(str(caught.value), named, came)


@pytest.mark.parametrize(
    ("parameter", "value", "named", "came"),
    [
        ("domain", None, "domain", "None"),
        ("epsilon", None, "epsilon", "None"),
        ("expected_records", 0, "expected_records", "0"),
        ("expected_records", 1e16, "expected_records", "1e+16"),
        ("expected_records", "1e6", "expected_records", "'1e6'"),
        ("expected_records", float("nan"), "expected_records", "nan"),
        ("expected_records", True, "expected_records", "True"),
        ("hot_cells", 0, "hot_cells", "0"),
        ("hot_cells", "16", "hot_cells", "'16'"),
        ("depth", 60, "depth", "60"),
        ("depth", -1, "depth", "-1"),
        ("depth", 7.5, "depth", "7.5"),
        ("exact_depth", 21, "exact_depth", "21"),
        ("exact_depth", "ten", "exact_depth", "'ten'"),
        ("sketch_rows", 0, "sketch_rows", "0"),
        ("sketch_rows", "20", "sketch_rows", "'20'"),
        ("sketch_width", 0, "sketch_width", "0"),
        ("sketch_width", [32], "sketch_width", "list"),
        ("hash_group", 6, "hash_group", "hash_group 6"),
        ("hash_group", "4", "hash_group", "'4'"),
        ("hash_seed", 1.0, "hash_seed", "1.0"),
        ("neighbours", None, "neighbours", "None"),
        ("expand", True, "expand", "True"),
        ("max_records_per_person", 2.5, "max_records_per_person", "2.5"),
    ],
)
def test_invalid_paper_parameters(parameter: str, value: Any, named: str, came: str) -> None:
    arguments = {"domain": UNIT, **PAPER} | {parameter: value}
    with pytest.raises(PlanError) as caught:
        Plan.paper(**arguments)
    _check_message(str(caught.value), named, came)


def _check_message(message: str, named: str, came: str) -> None:
    expected, _, got = message.rpartition("got ")
    assert expected.startswith("expected ")
    assert named in message
    assert came in got


@pytest.mark.parametrize("sizes", [{"sketch_rows": 1}, {"sketch_width": 1}, {"hot_cells": 1}, {"hash_group": 1}])
def test_sketch_sizes_without_sketches(sizes: dict[str, int]) -> None:
    with pytest.raises(PlanError, match=f"expected sizes of 0.*got.*{next(iter(sizes))} 1"):
        Plan(UNIT, epsilon=1, budgets={2: 1}, exact_depth=2, **sizes)


@pytest.mark.parametrize("nothing", [False, 0.0, None, ""])
def test_values_equal_to_0_that_are_no_integers(nothing: Any) -> None:
    with pytest.raises(PlanError, match=r"expected sketch_rows= as an integer from .*, got"):
        Plan(UNIT, epsilon=1, budgets={2: 1}, exact_depth=2, sketch_rows=nothing)


def test_too_many_counters() -> None:
    with pytest.raises(PlanError, match=r"expected at most 2\*\*31 counters, got 4294967296"):
        Plan(UNIT, epsilon=1, budgets={32: 1}, exact_depth=32)


def test_too_many_leaves() -> None:
    with pytest.raises(PlanError, match="lower hot_cells or measure more levels"):
        Plan(UNIT, **SMALL | {"budgets": {2: "0.5", 40: "0.5"}})


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"budgets": [0.5]},
        {"budgets": {"two": "1"}},
        {"budgets": {"2": float("inf")}},
        {"budgets": {"2": "1e999999999"}},
        {"epsilon": float("nan")},
        {"epsilon": [1]},
        {"hash_seed": 7},
        {"hash_seed": "seven"},
        {"hash_seed": "-7"},
        {"domain": None},
        {"domain": {"kind": "sphere"}},
        {"domain": {"kind": "interval", "low": 1, "high": 0}},
        {"exact_depth": "2"},
        {"max_records_per_person": 1.0},
    ],
    ids=str,
)
def test_invalid_specs(change: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        Plan.from_spec(Plan(UNIT, **SMALL).spec() | change)


@pytest.mark.parametrize("key", ["domain", "epsilon", "budgets", "hash_seed", "neighbours"])
def test_specs_with_a_missing_key(key: str) -> None:
    spec = Plan(UNIT, **SMALL).spec()
    del spec[key]
    with pytest.raises(PlanError, match=f"expected a plan with exactly the keys .*{key}"):
        Plan.from_spec(spec)


@pytest.mark.parametrize("spec", [None, [], "plan", 3])
def test_specs_of_other_types(spec: Any) -> None:
    with pytest.raises(PlanError, match=f"exactly the keys .* got {type(spec).__name__}"):
        Plan.from_spec(spec)

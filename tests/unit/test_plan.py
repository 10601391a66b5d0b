"""Plans: settings of the paper, derived sizes and text."""

import dataclasses
import json
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from plan_settings import PAPER, SMALL, UNIT, copies
from privhp import Box, Integers, Interval, Plan, PlanError
from privhp.core.number_format import format_bytes
from strategies import measured_plans, plans

SQUARE = Box([(0, 1), (0, 1)])


# The settings of the paper.


def test_defaults_of_the_paper() -> None:
    plan = Plan.paper(UNIT, **PAPER)
    assert (plan.sketch_rows, plan.sketch_width, plan.hot_cells) == (20, 32, 16)
    assert (plan.exact_depth, plan.depth) == (10, 20)
    assert list(plan.budgets) == list(range(21))
    assert (plan.expand, plan.neighbours, plan.max_records_per_person) == ("top", "add-remove", 1)


def test_more_hot_cells_move_the_exact_depth() -> None:
    plan = Plan.paper(UNIT, **PAPER | {"hot_cells": 256})
    assert (plan.sketch_rows, plan.sketch_width, plan.exact_depth, plan.depth) == (20, 512, 14, 20)


def test_smallest_paper_plan() -> None:
    plan = Plan.paper(UNIT, epsilon="1e-6", expected_records=1, hot_cells=1)
    assert (plan.depth, plan.exact_depth) == (1, 1)


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("exact_depth", 8),
        ("depth", 15),
        ("sketch_rows", 4),
        ("sketch_width", 64),
        ("expand", "all"),
        ("neighbours", "replace-one"),
        ("max_records_per_person", 5),
        ("hash_group", 2),
        ("hash_seed", 8),
        ("hot_cells", 20),
    ],
)
def test_every_constant_can_be_overridden(constant: str, value: Any) -> None:
    assert getattr(Plan.paper(UNIT, **PAPER), constant) != value
    assert getattr(Plan.paper(UNIT, **PAPER | {constant: value}), constant) == value


def test_budgets_of_the_paper_on_an_interval() -> None:
    """By hand: gamma_l = 2**-l and Gamma_l = 1, so exact levels weigh 1 and sketched ones j k gamma_(l-1)."""
    plan = Plan.paper(UNIT, **PAPER)
    weights = [1.0] * 11 + [math.sqrt(20 * 16 * 2.0 ** -(level - 1)) for level in range(11, 21)]
    for level, weight in enumerate(weights):
        assert float(plan.budgets[level]) == pytest.approx(weight / sum(weights), rel=1e-9)


def test_budgets_of_the_paper_on_a_square() -> None:
    """By hand: gamma_l = 2**-floor(l / 2) and Gamma_l = 2**l gamma_l."""
    plan = Plan.paper(SQUARE, **PAPER | {"epsilon": "0.5"})
    gammas = [1, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 4, 1 / 8, 1 / 8, 1 / 16, 1 / 16, 1 / 32, 1 / 32]
    gammas += [1 / 64, 1 / 64, 1 / 128, 1 / 128, 1 / 256, 1 / 256, 1 / 512]
    assert (plan.exact_depth, plan.depth) == (10, 19)
    costs = [1.0, *(2**above * gammas[above] for above in range(10)), *(20 * 16 * gamma for gamma in gammas[10:])]
    weights = [math.sqrt(cost) for cost in costs]
    for level, weight in enumerate(weights):
        assert float(plan.budgets[level]) == pytest.approx(0.5 * weight / sum(weights), rel=1e-9)


@pytest.mark.parametrize("epsilon", [1, 0.1, "0.3", Decimal("0.7"), Fraction(1, 3), 1e-6, 1000])
def test_budgets_sum_to_epsilon_rounded_down(epsilon: Any) -> None:
    plan = Plan.paper(UNIT, **PAPER | {"epsilon": epsilon})
    assert plan.epsilon * (1 - Fraction(1, 2**40)) < sum(plan.budgets.values()) <= plan.epsilon


def test_budgets_do_not_depend_on_the_scale_of_the_domain() -> None:
    budgets = Plan.paper(UNIT, **PAPER).budgets
    for domain in (Interval(-8e307, 8e307), Interval(0, 1e-200), Interval(-5, 3)):
        assert Plan.paper(domain, **PAPER).budgets == budgets


def test_domain_of_diameter_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Interval, "diameter", lambda self, level: 0.0)
    with pytest.raises(PlanError, match="expected a weight above 0"):
        Plan.paper(UNIT, **PAPER)


def test_complete_tree() -> None:
    plan = Plan.paper(UNIT, **PAPER | {"exact_depth": 12, "depth": 12})
    assert plan.exact_levels == list(range(13))
    assert plan.sketched_levels == []
    assert (plan.sketch_rows, plan.sketch_width, plan.hot_cells, plan.hash_group) == (0, 0, 0, 0)
    assert plan.nbytes == 8 * (2**13 - 1)


def test_depth_is_at_most_that_of_the_domain() -> None:
    plan = Plan.paper(Integers(0, 9), **PAPER)
    assert (plan.exact_depth, plan.depth) == (4, 4)
    assert plan.sketched_levels == []


def test_expected_records_with_all_sizes_given() -> None:
    constants = {"depth": 15, "exact_depth": 6, "sketch_rows": 4, "sketch_width": 32}
    first = Plan.paper(UNIT, **PAPER | constants)
    second = Plan.paper(UNIT, **PAPER | constants | {"expected_records": 12_345_678})
    assert dataclasses.replace(first, expected_records=second.expected_records) == second
    assert str(first).partition("\nexpected error")[0] == str(second).partition("\nexpected error")[0]


# Any plan.


def test_arbitrary_levels_and_budgets() -> None:
    plan = Plan(UNIT, **SMALL)
    assert plan.budgets == {0: Fraction(1, 10), 2: Fraction(1, 5), 3: Fraction(3, 10), 5: Fraction(2, 5)}
    assert (plan.exact_levels, plan.sketched_levels, plan.depth) == ([0, 2], [3, 5], 5)
    assert plan.shapes == {0: (1,), 2: (4,), 3: (3, 8), 5: (3, 8)}
    assert (plan.counters, plan.nbytes) == (1 + 4 + 24 + 24, 8 * 53)


def test_unpack() -> None:
    levels = Plan(UNIT, **SMALL).unpack(np.arange(53))
    assert {level: (part.shape, part.ravel()[0]) for level, part in levels.items()} == {
        0: ((1,), 0),
        2: ((4,), 1),
        3: ((3, 8), 5),
        5: ((3, 8), 29),
    }
    assert np.array_equal(np.concatenate([part.ravel() for part in levels.values()]), np.arange(53))


def test_levels_are_sorted() -> None:
    shuffled = {level: SMALL["budgets"][level] for level in (5, 0, 3, 2)}
    plan = Plan(UNIT, **SMALL | {"budgets": shuffled})
    assert list(plan.shapes) == list(plan.budgets) == [0, 2, 3, 5]
    assert plan == Plan(UNIT, **SMALL)


def test_budgets_above_epsilon_are_refused() -> None:
    thirds = {0: Fraction(1, 3), 1: Fraction(1, 3), 2: Fraction(1, 3)}
    assert Plan(UNIT, epsilon=1, budgets=thirds, exact_depth=2).epsilon == 1
    thirds[0] += Fraction(1, 10**30)
    with pytest.raises(PlanError, match="cost at most epsilon, 1, got 1e-30 more"):
        Plan(UNIT, epsilon=1, budgets=thirds, exact_depth=2)


def test_nbytes() -> None:
    plan = Plan.paper(UNIT, **PAPER)
    assert plan.counters == (2**11 - 1) + 10 * 20 * 32
    assert plan.nbytes == 8 * plan.counters


def test_noise_scale() -> None:
    plan = Plan(UNIT, **SMALL)
    assert [plan.sensitivity(level) for level in plan.budgets] == [1, 1, 3, 3]
    assert [plan.scale(level) for level in plan.budgets] == [10, 5, 10, Fraction(15, 2)]


def test_noise_scale_under_replace_one() -> None:
    plan = Plan(UNIT, **SMALL | {"neighbours": "replace-one"})
    assert [plan.sensitivity(level) for level in plan.budgets] == [1, 2, 6, 6]
    assert [plan.scale(level) for level in plan.budgets] == [10, 10, 20, 15]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_noise_scale_with_records_per_person(neighbours: Any) -> None:
    one = Plan(UNIT, **SMALL | {"neighbours": neighbours})
    seven = Plan(UNIT, **SMALL | {"neighbours": neighbours, "max_records_per_person": 7})
    for level in one.budgets:
        assert seven.scale(level) == 7 * one.scale(level)


def test_privacy_loss_is_at_most_epsilon() -> None:
    """The privacy loss is the sum of sensitivity / scale over the levels."""
    for neighbours in ("add-remove", "replace-one"):
        plan = Plan.paper(UNIT, **PAPER | {"neighbours": neighbours, "max_records_per_person": 3})
        changes = 2 if neighbours == "replace-one" else 1
        moved = {level: 3 * (20 if level > 10 else 1) * (changes if level else 1) for level in plan.budgets}
        assert sum(moved[level] / plan.scale(level) for level in plan.budgets) <= 1


# Text and values.


@given(plan=st.one_of(plans(), measured_plans()))
def test_repr_is_one_line(plan: Plan) -> None:
    text = repr(plan)
    assert "\n" not in text
    assert "Fraction" not in text
    assert f"epsilon={float(plan.epsilon):g}" in text
    assert f"{plan.counters:_} counters" in text


def test_repr_groups_levels_by_measurement() -> None:
    assert "levels exact 0 2, sketched 3 5, 53 counters" in repr(Plan(UNIT, **SMALL))
    assert "levels exact 0 to 10, sketched 11 to 20" in repr(Plan.paper(UNIT, **PAPER))


def test_cost_of_a_record_in_increments() -> None:
    one = str(Plan.paper(UNIT, **PAPER | {"exact_depth": 8, "depth": 8}))
    assert "a record costs 1 counter increment\n" in one
    assert "a record costs 7 counter increments" in str(Plan(UNIT, **SMALL))


# Equality, hashing and text.


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 2},
        {"budgets": {0: "0.1", 2: "0.2", 3: "0.3", 5: "0.3"}},
        {"exact_depth": 3},
        {"sketch_rows": 4},
        {"sketch_width": 16},
        {"hot_cells": 5},
        {"expand": "all"},
        {"neighbours": "replace-one"},
        {"max_records_per_person": 2},
        {"hash_group": 1},
        {"hash_seed": 8},
    ],
    ids=lambda change: next(iter(change)),
)
def test_inequality(change: dict[str, Any]) -> None:
    assert Plan(UNIT, **SMALL) != Plan(UNIT, **SMALL | change)


def test_equality_and_hash() -> None:
    first = Plan(UNIT, **SMALL)
    second = Plan(Interval(0.0, 1.0), **SMALL | {"epsilon": "1.0", "budgets": {0: 0.1, 2: 0.2, 3: 0.3, 5: 0.4}})
    assert first == second
    assert hash(first) == hash(second)
    assert first != Plan(Interval(0, 2), **SMALL)
    assert len({first, second}) == 1


def test_plans_are_frozen() -> None:
    budgets = dict(SMALL["budgets"])
    plan = Plan(UNIT, **SMALL | {"budgets": budgets})
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.epsilon = Fraction(2)
    with pytest.raises(TypeError):
        plan.budgets[0] = Fraction(1)
    budgets[0] = "0.05"
    assert plan.budgets[0] == Fraction(1, 10)


@given(plan=st.one_of(plans(), measured_plans()))
def test_round_trip_of_json_and_pickle(plan: Plan) -> None:
    for twin in copies(plan):
        assert twin == plan
        assert hash(twin) == hash(plan)
        assert twin.spec() == plan.spec()


@given(plan=plans())
def test_privacy_loss_of_random_plans(plan: Plan) -> None:
    assert sum(plan.sensitivity(level) / plan.scale(level) for level in plan.budgets) <= plan.epsilon


def number_of(text: str) -> float:
    """Number that `format_number` wrote."""
    digits, *large = text.replace(",", "").split()
    return float(digits) * (1.0 if not large else {"million": 1e6, "billion": 1e9, "trillion": 1e12}[large[0]])


@given(plan=plans())
def test_table_of_levels(plan: Plan) -> None:
    head, table = str(plan).split("\n\n")[:2]
    assert f"{format_bytes(plan.nbytes)} in {plan.counters:,} counter" in head
    assert f"epsilon = {float(plan.epsilon):g} (pure differential privacy), {plan.neighbours} of" in head
    rows = table.splitlines()[1:]
    assert len(rows) == len(plan.budgets)
    for row, (level, budget) in zip(rows, plan.budgets.items(), strict=True):
        assert int(row.split()[0]) == level
        shown = re.split(r" {3,}", row.strip())[-3:]
        assert number_of(shown[0]) == pytest.approx(float(budget), rel=0.005)
        assert number_of(shown[1]) == pytest.approx(float(plan.scale(level)), rel=0.005)
        assert shown[2] == plan.domain.format_resolution(level)
    assert "nan" not in str(plan).lower()


def test_small_budgets_are_printed() -> None:
    table = str(Plan.paper(UNIT, **PAPER | {"epsilon": "1e-6", "depth": 20}))
    levels = table.split("\n\n")[1]
    assert " 0 " not in levels.replace("    0   exact", "")
    assert "0.000000" not in table


def test_numpy_integers() -> None:
    plan = Plan.paper(
        UNIT,
        epsilon=np.int64(1),
        expected_records=np.int64(10**6),
        hot_cells=np.int32(16),
        exact_depth=np.uint8(10),
        sketch_rows=np.int64(20),
        hash_seed=7,
    )
    assert plan == Plan.paper(UNIT, **PAPER)
    assert json.dumps(plan.spec()) == json.dumps(Plan.paper(UNIT, **PAPER).spec())

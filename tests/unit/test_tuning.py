"""Tuning constants: one set per geometry, shared by planner, error model and refinement."""

import dataclasses

import numpy as np
import pytest

from privhp import Box, Domain, Integers, Interval, IPv4, Plan, Summary
from privhp.planning import error_model
from privhp.planning.error_model import Geometry, leaf_level
from privhp.planning.plan_measurements import plan_measurements
from privhp.planning.refinement_schedule import RefinementSchedule
from privhp.planning.tuning import GENERAL, HALVING, LINE, Tuning

UNIT, SQUARE = Interval(0, 1), Box([(0, 1), (0, 1)])
RECORDS = 50_000


@pytest.mark.parametrize(
    ("domain", "tuning"),
    [(UNIT, LINE), (Integers(0, 1), LINE), (IPv4(), HALVING), (SQUARE, GENERAL), (Box([(0, 1)] * 3), GENERAL)],
    ids=repr,
)
def test_tuning_of_a_domain(domain: Domain, tuning: Tuning) -> None:
    assert Geometry.of(domain).tuning is tuning


def test_plan_has_the_tuning_of_its_domain() -> None:
    plan = Plan.auto(UNIT, epsilon=1, expected_records=RECORDS)
    assert plan.tuning is LINE
    assert plan.learned is not None
    assert plan.learned.refinement_rows == tuple(int(RECORDS * share) for share in LINE.refinement_shares)


def simulate_leaf_level(plan: Plan) -> int:
    """Level of the leaves that hold most records of a smooth stream, from a release."""
    summary, rng = Summary(plan), np.random.default_rng(1)
    summary.update(rng.random(RECORDS) if plan.domain.is_line else rng.random((RECORDS, 2)))
    leaves = summary.release().leaves()
    return int(np.bincount(leaves.levels, weights=leaves.counts).argmax())


@pytest.mark.parametrize(
    ("changes", "expected"), [({}, 10), ({"max_split_levels": 2}, 6), ({"split_z": 1e6}, 4)], ids=["default", "2", "z"]
)
@pytest.mark.parametrize("domain", [UNIT, SQUARE], ids=["line", "square"])
def test_leaf_level_of_the_model_is_that_of_a_refinement(
    domain: Domain, changes: dict[str, float], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed constant changes the error model and the refinement in the same way."""
    plan = Plan(
        domain,
        epsilon=1,
        budgets={2: "1/2", 4: "1/2"},
        exact_depth=2,
        learned=RefinementSchedule(slots=2**14, refinement_rows=(RECORDS // 16,), min_child_records=5),
        inference="least-squares",
        expected_records=RECORDS,
        neighbours="zero-out",
    )
    tuning = plan.tuning._replace(**changes)
    monkeypatch.setattr(error_model, "choose_tuning", lambda diameters, *, is_line: tuning)
    assert leaf_level(plan_measurements(plan), "smooth") == expected
    assert simulate_leaf_level(plan) == expected

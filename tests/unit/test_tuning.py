"""Tuning constants: one set per geometry, shared by planner, error model and refinement."""

from fractions import Fraction

import numpy as np
import pytest

from privhp import Box, Domain, Integers, Interval, IPv4, Plan, fit
from privhp.planning import error_model, streams
from privhp.planning.error_model import leaf_level
from privhp.planning.learning import Learning, LearningPass
from privhp.planning.plan_measurements import plan_measurements
from privhp.planning.streams import Geometry
from privhp.planning.tuning import GENERAL, HALVING, LINE, TREE_LEARNING_LEVEL, Tuning

UNIT, SQUARE = Interval(0, 1), Box([(0, 1), (0, 1)])
RECORDS = 50_000


@pytest.mark.parametrize(
    ("domain", "tuning"),
    [
        (UNIT, LINE),
        (Integers(0, 1), LINE),
        (IPv4(), HALVING._replace(min_learning_level=TREE_LEARNING_LEVEL)),
        (SQUARE, GENERAL),
        (Box([(0, 1)] * 3), GENERAL),
    ],
    ids=repr,
)
def test_tuning_of_a_domain(domain: Domain, tuning: Tuning) -> None:
    assert Geometry.of(domain).tuning == tuning


def test_plan_has_the_tuning_of_its_domain() -> None:
    plan = Plan.auto(UNIT, epsilon=1, expected_records=RECORDS, passes=3)
    assert plan.tuning is LINE
    assert plan.learning is not None
    assert tuple(own.rate for own in plan.learning.passes) == LINE.learning_rates


def simulate_leaf_level(plan: Plan) -> int:
    """Level of the leaves that hold most records of a smooth stream, from a release."""
    rng = np.random.default_rng(1)
    records = rng.random(RECORDS) if plan.domain.is_line else rng.random((RECORDS, 2))
    leaves = fit(records, plan=plan).leaves()
    return int(np.bincount(leaves.levels, weights=leaves.counts).argmax())


@pytest.mark.parametrize(
    "changes",
    [{"max_split_levels": 12}, {"max_split_levels": 2, "zoom_levels": 2}, {"split_z": 1e6}],
    ids=["signal", "levels", "significance"],
)
@pytest.mark.parametrize("domain", [UNIT, SQUARE], ids=["line", "square"])
def test_leaf_level_of_the_model_is_that_of_a_refinement(
    domain: Domain, changes: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed constant changes the error model and the refinement in the same way."""
    plan = Plan(
        domain,
        epsilon=1,
        budgets={2: "0.4", 4: "0.4"},
        exact_depth=2,
        learning=Learning(nbytes=2**17, passes=(LearningPass(Fraction(1, 16), Fraction(1, 2)),)),
        inference="least-squares",
        expected_records=RECORDS,
    )
    tuning = plan.tuning._replace(**changes)
    monkeypatch.setattr(streams, "choose_tuning", lambda diameters, **_: tuning)
    monkeypatch.setattr(error_model, "expect", streams.expect.__wrapped__)
    predicted, simulated = leaf_level(plan_measurements(plan), "smooth"), simulate_leaf_level(plan)
    if changes == {"max_split_levels": 12}:  # the levels end where halves differ by no more than noise
        assert abs(predicted - simulated) <= 1 < predicted - 6
    else:
        assert predicted == simulated == {"max_split_levels": 6, "split_z": 4}[next(iter(changes))]

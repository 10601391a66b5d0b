"""Estimates of releases whose cells are wider than the question, or that have no standard errors."""

import numpy as np
import pytest

import privhp as hp
from releases import release_of


def test_bounds_of_cells_are_those_of_the_mass() -> None:
    """The records are even, so the interval is narrow, but the release does not know that none are heaped in a cell."""
    budgets = {3: "1/2", 5: "1/2"}
    plan = hp.Plan(hp.Integers(0, 1023), epsilon=1, budgets=budgets, exact_depth=5, inference="least-squares")
    generator = hp.Generator(release_of(plan, np.arange(1024).repeat(50)))
    inside, touched = generator.mass_bounds((0, 599))
    assert (inside, touched) == pytest.approx((576 / 1024, 608 / 1024), abs=0.001)
    assert generator.mass((0, 599)).cell_bounds == pytest.approx((inside, touched), abs=0.001)
    assert generator.mass((0, 511)).cell_bounds is None
    several = generator.masses([(0, 511), (0, 599)])
    assert several.cell_bounds is None
    assert several[1:].cell_bounds is None
    assert [own.cell_bounds for own in several] == [None, generator.mass((0, 599)).cell_bounds]
    assert repr(several[-1]) == repr(generator.mass((0, 599)))
    assert [hitter.estimate.cell_bounds for hitter in generator.heavy_hitters(0.4)] == [None, None]


def test_top_down_inference_has_values_without_standard_errors() -> None:
    plan = hp.Plan.paper(hp.Table(a=hp.Interval(0, 1)), epsilon=1, expected_records=100, hot_cells=2)
    generator = hp.Summary(plan).release()
    for estimate in (generator.mass({"a": (0, 0.5)}), generator.marginal("a").quantile(0.5)):
        assert np.isfinite(estimate.value)
        assert repr(estimate) == str(estimate.value)
        with pytest.raises(hp.QueryError, match='inference="least-squares"'):
            _ = estimate.stderr


def test_conditional_mass_of_unsplit_column() -> None:
    plan = hp.Plan(
        hp.Table(a=hp.Nullable(hp.Interval(0, 1)), b=hp.Interval(0, 1)),
        epsilon=1,
        budgets={0: 1},
        exact_depth=0,
        inference="least-squares",
    )
    summary = hp.Summary(plan)
    summary.update({"a": np.full(1000, 0.5), "b": np.full(1000, 0.5)})
    values = summary.release().marginal("a", null=False)
    assert values.mass((0, 0.5)).value == pytest.approx(0.5)
    assert 0 < values.mass((0, 0.5)).stderr <= 1

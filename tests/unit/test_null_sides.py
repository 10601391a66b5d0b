"""Null has no place on the axis of the values: it shows nothing of how they divide."""

import numpy as np
import pytest

import privhp as hp
from learning_runs import ingest
from privhp.answers.axis_cells import AxisCells
from privhp.answers.dependence import UNKNOWN, Dependence
from privhp.answers.group_splits import LevelSides
from privhp.answers.leaves import build_leaves
from privhp.answers.nested_sides import NestedSides
from privhp.answers.side_splits import learn_splits, pool_all_splits

TABLE = hp.Table(temperature=hp.Nullable(hp.Integers(0, 1023)), unit=hp.Categories(["a", "b", "c", "d"]))
SIZE, NULLS = 20_000, 0.3
NULL_AXIS, VALUES, UNIT = 0, 1, 2


@pytest.fixture(scope="module")
def generator() -> hp.Generator:
    """Values from 400 to 511 and many nulls, nearly without noise, in cells of a 64th of the values or more."""
    rng = np.random.default_rng(0)
    values = rng.integers(400, 512, SIZE).astype(object)
    values[rng.random(SIZE) < NULLS] = None
    plan = hp.Plan(
        TABLE, epsilon=1000, budgets=dict.fromkeys(range(10), 50.0), exact_depth=9, inference="least-squares"
    )
    records = {"temperature": list(values), "unit": rng.choice(["a", "b", "c", "d"], SIZE)}
    return hp.Generator(ingest(plan, [records]).summary.close())


def test_splits_of_values_leave_null_out(generator: hp.Generator) -> None:
    seen = 0
    for level, (axis, cells, _) in enumerate(learn_splits(generator._hierarchy, TABLE)):
        if axis != VALUES or cells is None:
            continue
        pooled, shown = (
            pool_all_splits(TABLE, axis, level, cells),
            LevelSides.of_level(TABLE, level, learn_splits(generator._hierarchy, TABLE)[level]),
        )
        assert pooled is not None
        assert shown is not None
        assert pooled.counts.sum() == pytest.approx((1 - NULLS) * SIZE, rel=0.05)
        assert shown.cells.counts.sum() == pytest.approx((1 - NULLS) * SIZE, rel=0.05)
        _, cuts = TABLE.axis_cells(pooled.codes, level=level)[VALUES]
        halves = pooled.even + np.sqrt(pooled.even * (1 - pooled.even)) * pooled.imbalances
        if cuts == 1:
            assert halves[pooled.sides == 0] == pytest.approx([0.0], abs=0.01)  # all values are above 255
        seen += 1
    assert seen > 2


def test_sides_of_values_leave_null_out(generator: hp.Generator) -> None:
    leaves = build_leaves(generator._hierarchy)
    cells = AxisCells(TABLE, leaves.codes, leaves.levels)
    assert leaves.counts[cells.are_null(VALUES)].sum() == pytest.approx(NULLS * SIZE, rel=0.05)
    assert not cells.are_null(UNIT).any()
    assert not cells.are_null(NULL_AXIS).any()
    halves = np.array([0, 1], dtype=np.uint64)
    below, above = NestedSides.of_cells(cells, VALUES, leaves.counts).counts(halves, 1)
    assert below == pytest.approx((1 - NULLS) * SIZE, rel=0.05)
    assert above == pytest.approx(0, abs=10)
    quarters = NestedSides.of_cells(cells, VALUES, leaves.counts).counts(halves, 2)
    assert quarters[0] == pytest.approx(0, abs=10)


def test_null_shows_no_independence_of_values(generator: hp.Generator) -> None:
    """All values lie in one half at the first cuts, which show nothing of the dependence on other columns."""
    found = Dependence(generator._hierarchy, TABLE).on(VALUES, [UNIT])
    assert found[:3] == pytest.approx(UNKNOWN)
    assert found[3] < UNKNOWN


def test_axes_of_null() -> None:
    assert [TABLE.null_axis(axis) for axis in range(3)] == [None, NULL_AXIS, None]
    points = hp.Nullable(hp.Box([(0, 1), (0, 1)]))
    assert [points.null_axis(axis) for axis in range(3)] == [None, 0, 0]
    assert hp.Integers(0, 9).null_axis(0) is None

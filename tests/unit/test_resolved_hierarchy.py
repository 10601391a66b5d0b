"""The part of a hierarchy that its measurements resolve: errors do not trust sketches that say little."""

import numpy as np
import pytest

import privhp as hp
from privhp.answers.hierarchy import MAX_PRIOR_SHARE, Hierarchy


def sketched(records: object, *, memory: str) -> Hierarchy:
    plan = hp.Plan.auto(hp.Box([(0, 1), (0, 1)]), epsilon=1, expected_records=200_000, memory=memory)
    assert plan.sketched_levels
    summary = hp.Summary(plan)
    summary.update(records)
    return Hierarchy(summary.release().release)


def test_leaves_partition_all_records() -> None:
    """Every cell is below exactly one resolved leaf, and counts are kept."""
    hierarchy = sketched(np.random.default_rng(0).beta(2, 30, (20_000, 2)), memory="64 KiB")
    resolved = hierarchy.resolved()
    codes, levels = (resolved.leaf_values(name)[resolved.leaf_order] for name in ("codes", "levels"))
    ends = (codes.astype(object) + 1) * 2.0 ** -levels.astype(float)
    starts = codes.astype(object) * 2.0 ** -levels.astype(float)
    assert starts[0] == 0
    assert ends[-1] == 1
    assert (starts[1:] == ends[:-1]).all()
    total = hierarchy.leaf_values("estimate").sum()
    assert resolved.leaf_values("estimate").sum() == pytest.approx(total)


def test_children_of_an_uninformative_sketch_are_left_out() -> None:
    hierarchy = sketched(np.random.default_rng(0).random((20_000, 2)), memory="64 KiB")
    resolved = hierarchy.resolved()
    assert resolved.leaf_values("codes").size < hierarchy.leaf_values("codes").size
    for layer, below in zip(resolved.layers, resolved.layers[1:], strict=False):
        for group in layer.child_groups:
            if group.measurement == "hashed":
                even = layer.estimate[group.parents] / group.children.shape[1]
                assert (below.variance[group.children].max(axis=1) < MAX_PRIOR_SHARE * np.maximum(even, 1) ** 2).all()


def test_counted_hierarchy_is_resolved() -> None:
    plan = hp.Plan(hp.Interval(0, 1), epsilon=1, budgets={2: "1/2", 5: "1/2"}, exact_depth=5, inference="least-squares")
    hierarchy = Hierarchy(hp.Summary(plan).release().release)
    assert np.array_equal(hierarchy.resolved().leaf_values("codes"), hierarchy.leaf_values("codes"))

"""Hash functions of a plan's sketches: coefficients, groups of levels and seeds."""

import numpy as np

from plan_settings import PAPER, SMALL, UNIT
from privhp import Plan


def test_hash_coefficients_are_distinct() -> None:
    alone = SMALL | {"hash_group": 0}
    plans_by_seed = [Plan(UNIT, **alone | {"hash_seed": seed}) for seed in (7, 8, 2**128 - 1)]
    rows = np.concatenate([plan.hash_coefficients(level) for plan in plans_by_seed for level in (3, 5)])
    assert rows.shape == (3 * 2 * 3, 3)
    assert rows.dtype == np.uint64
    assert np.unique(rows).size == rows.size


def test_hash_coefficients_are_deterministic() -> None:
    first, second = Plan(UNIT, **SMALL), Plan(UNIT, **SMALL)
    assert np.array_equal(first.hash_coefficients(3), second.hash_coefficients(3))


def test_hash_groups() -> None:
    plan = Plan.paper(UNIT, **PAPER)
    assert plan.hash_group == 4
    assert [plan.hash_levels[level] for level in range(11, 21)] == [10] * 4 + [14] * 4 + [18] * 2
    assert np.array_equal(plan.hash_coefficients(11), plan.hash_coefficients(14))
    assert not np.intersect1d(plan.hash_coefficients(14), plan.hash_coefficients(15)).size


def test_default_hash_group() -> None:
    groups = {width: Plan.paper(UNIT, **PAPER | {"sketch_width": width}).hash_group for width in (33, 34, 36, 40, 48)}
    assert groups == {33: 0, 34: 1, 36: 2, 40: 3, 48: 4}


def test_hash_seeds_are_fresh_unless_given() -> None:
    fresh = {key: value for key, value in SMALL.items() if key != "hash_seed"}
    assert len({Plan(UNIT, **fresh).hash_seed for _ in range(100)}) == 100
    fresh = {key: value for key, value in PAPER.items() if key != "hash_seed"}
    assert Plan.paper(UNIT, **fresh) != Plan.paper(UNIT, **fresh)


def test_plans_without_sketches_have_hash_seed_0() -> None:
    fresh = {key: value for key, value in PAPER.items() if key != "hash_seed"} | {"exact_depth": 8, "depth": 8}
    assert Plan.paper(UNIT, **fresh).hash_seed == 0
    assert Plan.paper(UNIT, **fresh) == Plan.paper(UNIT, **fresh)
    given = Plan.paper(UNIT, **fresh, hash_seed=5)
    assert given.hash_seed == 5
    assert Plan.from_spec(given.spec()) == given

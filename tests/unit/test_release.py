"""Releases: public, frozen, equal when their plans and counts are."""

import numpy as np
import pytest

from privhp import Interval, Plan, PlanError, Release

PLAN = Plan(Interval(0, 1), epsilon=1, budgets={0: "1/2", 1: "1/2"}, exact_depth=1, hash_seed=1)


def test_counts_are_a_copy_and_read_only() -> None:
    counts = {0: np.array([5]), 1: np.array([2, 3])}
    release = Release(PLAN, counts)
    counts[1][0] = 9
    assert release.counts[1].tolist() == [2, 3]
    with pytest.raises(ValueError, match="read-only"):
        release.counts[1][0] = 9
    with pytest.raises(TypeError):
        release.counts[1] = counts[1]  # type: ignore[index]


def test_cells_go_from_the_coarsest_level_to_the_finest() -> None:
    assert Release(PLAN, {1: np.array([2, 3]), 0: np.array([5])}).cells().tolist() == [5, 2, 3]


def test_equality_is_that_of_plan_and_counts() -> None:
    release, twin = (Release(PLAN, {0: np.array([5]), 1: np.array([2, 3])}) for _ in range(2))
    other_plan = Plan(Interval(0, 1), epsilon=1, budgets={0: "1/2", 1: "1/2"}, exact_depth=1, hash_seed=2)
    assert release == twin
    assert hash(release) == hash(twin)
    assert release != Release(PLAN, {0: np.array([5]), 1: np.array([2, 4])})
    assert release != Release(other_plan, dict(release.counts))
    assert release != "release"


@pytest.mark.parametrize(
    "counts",
    [
        {0: np.array([5])},
        {0: np.array([5]), 1: np.array([2, 3]), 2: np.zeros(4, dtype=np.int64)},
        {0: np.array([5]), 1: np.array([2, 3, 4])},
        {0: np.array([5]), 1: np.array([[2, 3]])},
        {0: np.array([5]), 1: np.array([2.5, 3.0])},
        {0: np.array([5]), 1: np.array([2, 3], dtype=np.uint64)},
    ],
)
def test_counts_that_are_not_the_plan_s_are_refused(counts: dict[int, np.ndarray]) -> None:
    with pytest.raises(PlanError, match="expected one int64 array"):
        Release(PLAN, counts)

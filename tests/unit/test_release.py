"""Releases: read-only counts, equality and pickling."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from privhp import Generator, Interval, Plan, PlanError, PrivhpError, Summary, Tally, wasserstein
from privhp.release import Release

PLAN = Plan(Interval(0, 1), epsilon=1, budgets={0: "1/2", 1: "1/2"}, exact_depth=1, hash_seed=1)


def test_counts_are_read_only_copies() -> None:
    counts = {0: np.array([5]), 1: np.array([2, 3])}
    release = Release(PLAN, counts)
    counts[1][0] = 9
    assert release.counts[1].tolist() == [2, 3]
    with pytest.raises(ValueError, match="read-only"):
        release.counts[1][0] = 9
    with pytest.raises(TypeError):
        release.counts[1] = counts[1]


def test_order_of_cells() -> None:
    assert Release(PLAN, {1: np.array([2, 3]), 0: np.array([5])}).cells().tolist() == [5, 2, 3]


def test_equality() -> None:
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
def test_counts_of_other_shape_are_refused(counts: dict[int, np.ndarray]) -> None:
    with pytest.raises(PlanError, match="needs one int64 array"):
        Release(PLAN, counts)


def test_generator_pickles() -> None:
    summary = Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=100, hot_cells=2))
    generator = summary.release()
    twin = pickle.loads(pickle.dumps(generator))
    assert twin.release == generator.release
    assert np.array_equal(twin.probabilities, generator.probabilities)


SECRETS = np.array([123456.789, 987654.321])


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: Plan.paper(Interval(0, 1), epsilon=1, expected_records=SECRETS),
        lambda: Plan.paper(Interval(0, 1), epsilon=SECRETS, expected_records=10),
        lambda: Plan.paper(SECRETS, epsilon=1, expected_records=10),
        lambda: Summary(SECRETS),
        lambda: Summary(Interval(0, 1)),
        lambda: Tally(SECRETS),
        lambda: Generator(SECRETS),
        lambda: wasserstein(SECRETS, SECRETS),
    ],
)
def test_messages_do_not_quote_data(mistake: Callable[[], object]) -> None:
    with pytest.raises(PrivhpError, match=r"got (a value of type|the class) \w+") as refusal:
        mistake()
    assert "123456" not in str(refusal.value)

"""Least-squares estimates over all measured levels, compared with dense solutions and reference rules."""

from typing import Any
from unittest.mock import patch

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from cases import case_count
from privhp import Integers, Interval, Partition, Plan
from privhp.answers.constrained_inference import (
    enforce_consistency,
    inverse_variance_mean,
    project_to_simplex,
    temper_splits,
    trusted_sums,
)
from privhp.answers.hierarchy import Hierarchy
from privhp.release import Release
from strategies import partitions

Floats = NDArray[np.float64]

VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 5.0]), st.floats(-1e6, 1e6))


def by_bisection(parent: float, estimates: Floats, variances: Floats, possible: NDArray[np.bool_]) -> Floats:
    """Lower the estimates by the same multiple of their variances, none below 0, until they sum to the parent."""
    if parent <= 0 or not possible.any():
        return np.zeros(estimates.shape)
    e, v = estimates[possible], variances[possible]
    low, high = float(((e - parent) / v).min()) - 1.0, float((e / v).max()) + 1.0
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(e - middle * v, 0.0).sum() > parent else (low, middle)
    found = np.zeros(estimates.shape)
    found[possible] = np.maximum(e - (low + high) / 2 * v, 0.0)
    return found


@st.composite
def groups(draw: st.DrawFn) -> tuple[float, Floats, Floats, NDArray[np.bool_]]:
    size = draw(st.integers(1, 12))
    estimates = draw(hnp.arrays(np.float64, size, elements=VALUES))
    variances = draw(hnp.arrays(np.float64, size, elements=st.sampled_from([0.01, 1.0, 2.0, 1e4])))
    possible = draw(hnp.arrays(np.bool_, size))
    possible[draw(st.integers(0, size - 1))] = True
    return draw(st.sampled_from([0.0, 1.0, 3.5, 1e3, 1e7])), estimates, variances, possible


def project_group(parent: float, estimates: Floats, variances: Floats, possible: NDArray[np.bool_]) -> Floats:
    return project_to_simplex(np.array([parent]), estimates[None], variances[None], possible[None])[0]


@given(group=groups())
def test_projection_agrees_with_bisection(group: Any) -> None:
    scale = max(group[0], np.abs(group[1]).max(), 1.0)
    np.testing.assert_allclose(project_group(*group), by_bisection(*group), rtol=1e-9, atol=1e-9 * scale)


@given(group=groups())
def test_projection_is_on_the_simplex(group: Any) -> None:
    parent, _, _, possible = group
    found = project_group(*group)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(parent, rel=1e-9, abs=1e-6)
    assert not found[~possible].any()


@given(group=groups(), seed=st.integers(0, 1000))
def test_projection_is_the_nearest_point(group: Any, seed: int) -> None:
    parent, estimates, variances, possible = group
    found = project_group(*group)

    def distance(point: Floats) -> float:
        return float(((point - estimates) ** 2 / variances)[possible].sum())

    rng = np.random.default_rng(seed)
    for share in (1.0, 0.1, 1e-3):
        other = np.where(possible, rng.exponential(size=possible.size), 0.0)
        other = found + share * (other * parent / other.sum() - found)
        assert distance(other) >= distance(found) * (1 - 1e-9) - 1e-6


@given(group=groups())
def test_consistency_is_projection_with_equal_variances(group: Any) -> None:
    parent, estimates, _, possible = group
    shared = enforce_consistency(np.array([parent]), estimates[None], possible[None])[0]
    raised = np.where(possible, np.maximum(estimates, 0.0), 0.0)
    assert np.array_equal(shared, project_group(parent, raised, np.ones(raised.shape), possible))


def test_groups_are_projected_independently() -> None:
    rng = np.random.default_rng(0)
    parents, estimates = rng.exponential(50, 200), rng.normal(10, 20, (200, 8))
    variances, possible = rng.exponential(3, (200, 8)) + 0.1, rng.random((200, 8)) < 0.8
    possible[:, 0] = True
    together = project_to_simplex(parents, estimates, variances, possible)
    for place in range(200):
        alone = project_group(parents[place], estimates[place], variances[place], possible[place])
        assert np.array_equal(together[place], alone)


def test_inverse_variance_mean() -> None:
    mean, variance = inverse_variance_mean(np.array([10.0]), np.array([4.0]), np.array([16.0]), np.array([12.0]))
    assert mean == pytest.approx([(10 / 4 + 16 / 12) / (1 / 4 + 1 / 12)])
    assert variance == pytest.approx([1 / (1 / 4 + 1 / 12)])


# Hierarchies

FULL = 1_000_000
"""Records added to each deepest cell, so that no estimate is projected or taken for empty."""


def solve(release: Release) -> Hierarchy:
    """The hierarchy of a release, without tempering: least squares alone."""
    with patch("privhp.answers.hierarchy.temper_splits", lambda estimates, *_: estimates):
        return Hierarchy(release)


def dense(rows: list[tuple[Floats, float, float]]) -> Floats:
    """Dense weighted least-squares estimate of the leaves from rows of (leaf weights, measurement, variance)."""
    weights = np.array([variance**-0.5 for _, _, variance in rows])
    matrix = np.stack([summed for summed, _, _ in rows]) * weights[:, None]
    return np.linalg.lstsq(matrix, np.array([count for _, count, _ in rows]) * weights, rcond=None)[0]


@settings(max_examples=case_count(40))
@given(
    levels=st.sets(st.integers(0, 6), min_size=1, max_size=4),
    scales=st.lists(st.integers(1, 50), min_size=4, max_size=4),
    seed=st.integers(0, 10**6),
)
def test_exact_levels_match_dense_least_squares(levels: set[int], scales: list[int], seed: int) -> None:
    rng, deepest = np.random.default_rng(seed), max(levels)
    budgets = {level: f"1/{4 * scale}" for level, scale in zip(sorted(levels), scales, strict=False)}
    plan = Plan(Interval(0, 1), epsilon=1, budgets=budgets, exact_depth=deepest, inference="least-squares")
    counts = {level: FULL * 2 ** (deepest - level) + rng.integers(-500, 500, 2**level) for level in budgets}
    rows = []
    for level, counters in counts.items():
        for cell, count in enumerate(counters):
            summed = (np.arange(2**deepest) >> (deepest - level) == cell).astype(np.float64)
            rows.append((summed, float(count), 2.0 * float(plan.scale(level)) ** 2))
    found = solve(Release(plan, counts)).layers[-1].estimate
    np.testing.assert_allclose(found, dense(rows), rtol=1e-9)


@settings(max_examples=case_count(40))
@given(
    partition=partitions(root_level=2, max_level=9, max_splits=6),
    exact=st.sets(st.integers(0, 1)),
    scales=st.lists(st.integers(1, 50), min_size=3, max_size=3),
    seed=st.integers(0, 10**6),
)
def test_partition_matches_dense_least_squares(
    partition: Partition, exact: set[int], scales: list[int], seed: int
) -> None:
    """The leaves are the unknowns; an exact level measures sums of them, a split node nothing.

    The posterior lowers variances a little.
    """
    rng, levels = np.random.default_rng(seed), [*sorted(exact), 2]
    budgets = {level: f"1/{4 * scale}" for level, scale in zip(levels, scales, strict=False)}
    settings: dict[str, Any] = {"partition": partition, "inference": "least-squares"}
    plan = Plan(Interval(0, 1), epsilon=1, budgets=budgets, exact_depth=max(exact, default=0), **settings)
    truth = FULL + rng.integers(-500, 500, partition.size)
    counts, rows = {2: truth + rng.integers(-50, 50, partition.size)}, []
    for leaf, count in enumerate(counts[2]):
        rows.append((np.eye(partition.size)[leaf], float(count), 2.0 * float(plan.scale(2)) ** 2))
    for level in sorted(exact):
        above = partition.codes() >> (partition.levels - level).astype(np.uint64)
        summed = (above == np.arange(2**level, dtype=np.uint64)[:, None]).astype(np.int64)
        counts[level] = summed @ truth + rng.integers(-50, 50, 2**level)
        variance = 2.0 * float(plan.scale(level)) ** 2
        rows += [
            (own.astype(np.float64), float(count), variance) for own, count in zip(summed, counts[level], strict=True)
        ]
    hierarchy = solve(Release(plan, counts))
    found = hierarchy.leaf_values("estimate")[hierarchy.leaf_order]
    np.testing.assert_allclose(found, dense(rows), rtol=0, atol=1)


# Tempered splits


def temper_slowly(counts: list[float], found: list[float], variance: float) -> list[float]:
    """Tempered counts of the children of one parent, of equal measures, split by split; all splits are one block."""
    splits = []

    def visit(start: int, end: int) -> None:
        if end - start > 1:
            middle = (start + end) // 2
            difference = (sum(found[start:middle]) - sum(found[middle:end])) / 2
            splits.append(difference**2 / ((end - start) * variance / 4))
            visit(start, middle)
            visit(middle, end)

    visit(0, len(counts))
    block = max(1 - max(len(splits) - 2, 0) / sum(splits), 0) if sum(splits) else 0

    def share(start: int, end: int, parent: float) -> list[float]:
        if end - start == 1:
            return [parent]
        middle, total = (start + end) // 2, sum(counts[start:end])
        square = (sum(found[start:middle]) - sum(found[middle:end])) ** 2 / ((end - start) * variance)
        factor = max(block, 1 - 4 / square if square else 0)
        first = 0.5 + factor * (sum(counts[start:middle]) / total - 0.5) if total else 0.5
        return share(start, middle, parent * first) + share(middle, end, parent * (1 - first))

    return share(0, len(counts), sum(counts))


@given(
    depth=st.integers(0, 3),
    variance=st.floats(0.1, 1e4),
    data=st.data(),
)
def test_tempered_splits_of_one_parent(depth: int, variance: float, data: Any) -> None:
    size = 2**depth
    found = data.draw(st.lists(st.floats(-1e3, 1e3), min_size=size, max_size=size))
    counts = np.maximum(found, 0.0)
    arguments = (np.array([found]), np.full((1, size), variance), np.ones((1, size)), counts.sum(keepdims=True))
    tempered = temper_splits(counts[None], *arguments)[0]
    np.testing.assert_allclose(tempered, temper_slowly(counts.tolist(), found, variance), rtol=1e-9, atol=1e-9)


def test_tempering_follows_the_base_measure() -> None:
    """Splits that show nothing but noise become those of the measure; structural zeros stay empty."""
    rng, measures = np.random.default_rng(0), np.tile([1.0, 2.0, 3.0, 0.0], (500, 1))
    noisy = np.where(measures > 0, measures * 100 + rng.normal(0, 30, measures.shape), 0.0)
    variances = np.where(measures > 0, 900.0, 0.0)
    tempered = temper_splits(np.maximum(noisy, 0.0), noisy, variances, measures, noisy.sum(axis=1))
    even = measures / 6 * noisy.sum(axis=1, keepdims=True)
    assert np.abs(tempered - even).mean() < 0.2 * np.abs(np.maximum(noisy, 0.0) - even).mean()
    assert not tempered[:, 3].any()


def test_significant_splits_stay() -> None:
    rng = np.random.default_rng(0)
    counts = rng.exponential(1e6, (100, 8))
    tempered = temper_splits(counts, counts, np.ones(counts.shape), np.ones(counts.shape), counts.sum(axis=1))
    np.testing.assert_allclose(tempered, counts, rtol=1e-3)


# Sums of shrunk estimates


def _unmeasured(size: int) -> tuple[Floats, Floats]:
    return np.zeros(size), np.full(size, np.inf)


def test_trusted_sums_without_shrinkage() -> None:
    """The same measurements twice are not two measurements."""
    sums, variances = np.linspace(0, 1e6, 100), np.linspace(1, 100, 100)
    mean, variance = trusted_sums(*_unmeasured(100), sums, variances, sums, variances)
    np.testing.assert_allclose(mean, sums, rtol=1e-12)
    np.testing.assert_allclose(variance, variances, rtol=1e-12)


def test_trusted_sums_of_empty_parts() -> None:
    sums = np.random.default_rng(0).normal(0, 100, 320)
    mean, variance = trusted_sums(*_unmeasured(320), sums, np.full(320, 1e4), np.zeros(320), np.ones(320))
    assert np.abs(mean).mean() < 0.5 * np.abs(sums).mean()
    assert (variance >= 1).all()


def test_trusted_sums_of_biased_posteriors() -> None:
    """Where the posterior has lost ten standard deviations, the sums stay."""
    sums = 1000 + np.random.default_rng(0).normal(0, 100, 320)
    mean, variance = trusted_sums(*_unmeasured(320), sums, np.full(320, 1e4), np.zeros(320), np.ones(320))
    np.testing.assert_allclose(mean, sums, rtol=0.05)
    np.testing.assert_allclose(variance, 1e4, rtol=0.05)


def test_trusted_sums_of_measured_counts() -> None:
    """Parts that show no record outweigh the noise of a measured count; parts that show records leave it unbiased."""
    rng = np.random.default_rng(0)
    truth = np.resize([0.0, 5000.0], 320)
    own, sums = (truth + rng.normal(0, deviation, 320) for deviation in (30, 100))
    own_variances, variances, shrunk_variances = np.full(320, 900.0), np.full(320, 1e4), np.full(320, 25.0)
    found = trusted_sums(own, own_variances, sums, variances, truth, shrunk_variances)
    unbiased = inverse_variance_mean(own, own_variances, sums, variances)
    empty = truth == 0
    assert np.abs(found[0][empty]).mean() < 0.3 * np.abs(unbiased[0][empty]).mean()
    assert (found[1][empty] < unbiased[1][empty]).all()
    for trusted, plain in zip(found, unbiased, strict=True):
        np.testing.assert_array_equal(trusted[~empty], plain[~empty])


def test_the_noise_of_empty_cells_is_not_in_the_total() -> None:
    """One cell of sixteen holds all records; most noise of the others is not in the total."""
    plan = Plan(Interval(0, 1), epsilon=1, budgets={4: 1}, exact_depth=4)
    noise = np.random.default_rng(1).laplace(0, 1, (200, 16)).round().astype(np.int64)
    totals = []
    for own in noise:
        counts = own.copy()
        counts[3] += 10_000
        totals.append(Hierarchy(Release(plan, {4: counts})).layers[0].estimate.sum())
    assert np.std(totals) < 0.8 * np.std(noise.sum(axis=1))


def test_partition_with_cells_that_hold_no_record() -> None:
    """Only the first five of eight integers exist, and a leaf beyond them is split."""
    partition = Partition([2, 2, 2, 3, 3])
    plan = Plan(
        Integers(0, 4), epsilon=1, budgets={2: 1}, exact_depth=0, partition=partition, inference="least-squares"
    )
    hierarchy = Hierarchy(Release(plan, {2: np.array([40, 30, 20, 10, 10])}))
    estimates = hierarchy.leaf_values("estimate")[hierarchy.leaf_order]
    np.testing.assert_allclose(estimates, [40, 30, 20, 0, 0], rtol=1e-6)

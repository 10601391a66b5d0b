"""Baselines: estimates against slow references, post-processing, memory, and known figures."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import privhp as hp
from cases import case_count
from datasets import gaussian_mixture, lognormal, uniform
from privhp import baselines
from privhp.baselines import METHODS, CellCounts, Mechanism, SignedHistogram
from privhp.baselines.adaptive_grid import estimate as estimate_adaptive_grid
from privhp.baselines.dawa import least_cost_partition
from privhp.baselines.fan_out_tree import solve_tree, tree_sizes
from privhp.baselines.hb import best_fan_out
from privhp.baselines.signed_histogram import isotonic_regression
from privhp.baselines.window_deviations import WindowDeviations
from spies import record_draws

UNIT = hp.Interval(0, 1)
PLANE = hp.Box([(0, 1), (0, 1)])


@settings(max_examples=case_count(50))
@given(leaves=st.integers(1, 30), fan_out=st.integers(2, 6), seed=st.integers(0, 2**32))
def test_tree_is_solved_by_least_squares(leaves: int, fan_out: int, seed: int) -> None:
    """Estimates and variances of the dense linear model."""
    rng, groups, rows = np.random.default_rng(seed), np.arange(leaves), []
    for size in tree_sizes(leaves, fan_out=fan_out):
        rows.append((np.arange(size)[:, None] == groups).astype(float))
        groups = groups // fan_out
    noisy = [rng.normal(0, 10, row.shape[0]) for row in rows]
    design = np.concatenate(rows)
    found, variances = solve_tree(noisy, fan_out=fan_out, variance=3.0)
    np.testing.assert_allclose(found, np.linalg.lstsq(design, np.concatenate(noisy))[0], atol=1e-8)
    np.testing.assert_allclose(variances, 3.0 * np.diag(np.linalg.inv(design.T @ design)))


@given(values=st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_deviations_of_windows(values: list[int]) -> None:
    cells = np.array(values)
    deviations = WindowDeviations(cells)
    for length in range(1, cells.size + 1):
        windows = np.lib.stride_tricks.sliding_window_view(cells, length)
        exact = np.abs(windows * length - windows.sum(axis=1, keepdims=True)).sum(axis=1) // length
        assert np.array_equal(deviations.of_length(length), exact)


@settings(max_examples=case_count(50))
@given(size=st.integers(1, 10), seed=st.integers(0, 2**32))
def test_partition_has_the_least_cost(size: int, seed: int) -> None:
    rng, lengths = np.random.default_rng(seed), [length for length in (1, 2, 4, 8) if length <= size]
    costs = [rng.integers(-20, 50, size - length + 1) for length in lengths]

    def least(end: int) -> int:
        if end == 0:
            return 0
        fits = [(own, length) for own, length in zip(costs, lengths, strict=True) if length <= end]
        return min(int(own[end - length]) + least(end - length) for own, length in fits)

    starts = [*least_cost_partition(costs, lengths).tolist(), size]
    buckets = zip(starts, np.diff(starts).tolist(), strict=False)
    assert starts[0] == 0
    assert sum(int(costs[lengths.index(length)][first]) for first, length in buckets) == least(size)


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.1, 5)), min_size=1, max_size=20))
def test_isotonic_regression(pairs: list[tuple[float, float]]) -> None:
    """The largest mean that ends at or after a place, of those that start at or before it with the least such mean."""
    values, weights = np.array(pairs).T
    size = values.size

    def mean(first: int, last: int) -> float:
        return float(np.average(values[first : last + 1], weights=weights[first : last + 1]))

    slow = [max(min(mean(first, last) for last in range(i, size)) for first in range(i + 1)) for i in range(size)]
    np.testing.assert_allclose(isotonic_regression(values, weights), slow, atol=1e-9)


def test_fan_out_of_hb() -> None:
    """The formula, term by term, for some numbers of cells."""
    assert [best_fan_out(cells) for cells in (2, 64, 256, 4096, 2**16)] == [2, 64, 16, 16, 16]


def without_noise(name: str, records: Any, domain: hp.Domain, **options: Any) -> SignedHistogram:
    """Fit a baseline whose noise is 0."""
    limits = {"epsilon": 1, "expected_records": len(records), "memory": "64 KiB"} | options
    with record_draws(lambda size, scale: np.zeros(size, dtype=np.int64)):
        return baselines.fit(name, records, domain, **limits)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("domain", [UNIT, PLANE, hp.Integers(0, 99)], ids=["line", "plane", "integers"])
def test_without_noise_counts_are_those_of_the_leaves(name: str, domain: hp.Domain) -> None:
    rng = np.random.default_rng(2)
    records: NDArray[Any] = rng.random((5_000, 2)) if domain == PLANE else rng.random(5_000)
    records = rng.integers(0, 100, 5_000) if domain.kind == "integers" else records
    histogram = without_noise(name, records, domain)
    exact = CellCounts(domain, records).of_cells(histogram.codes, histogram.levels)
    assert histogram.codes.size * 8 <= 2**16 or name == "complete tree"
    assert histogram.counts.sum() == pytest.approx(5_000)
    if name == "DAWA":  # uniform inside buckets
        assert np.abs(np.cumsum(histogram.counts) - np.cumsum(exact)).max() < 5_000 * 0.05
    elif name not in ("quantile tree", "truncated least squares"):  # these take small counts as empty
        np.testing.assert_allclose(histogram.counts, exact, atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_every_rule_gives_a_distribution(name: str) -> None:
    records = lognormal(3_000, seed=1)
    histogram = baselines.fit(name, records, UNIT, epsilon=0.5, expected_records=3_000, memory="4 KiB")
    for rule in histogram.rules:
        distribution = histogram.distribution(rule)
        assert distribution.leaves().counts.min() >= 0
        assert distribution.total == pytest.approx(max(histogram.counts.sum(), 0))
        assert distribution.cdf(1.0).value == pytest.approx(1)
        assert UNIT.encode(distribution.sample(50), level=0).tolist() == [0] * 50
    with pytest.raises(hp.QueryError, match="no standard errors"):
        histogram.distribution().mass((0, 0.5)).stderr  # noqa: B018 - the property raises
    with pytest.raises(hp.QueryError, match="expected one of projection"):
        histogram.distribution("wishes")


def test_signed_answers_are_linear_and_may_be_negative() -> None:
    estimates = np.array([30.0, -10.0, 0.0, 80.0])
    histogram = SignedHistogram.of_level(UNIT, 2, estimates, np.ones(4))
    assert histogram.mass((0.25, 0.5)) == pytest.approx(-0.1)
    assert histogram.mass((0.125, 1)) == pytest.approx(0.85)
    assert histogram.distribution().mass((0.25, 0.5)).value == 0


def test_cells_that_hold_no_record_have_no_count() -> None:
    """Of the 128 deepest cells, 28 hold no integer."""
    for name in METHODS:
        histogram = baselines.fit(name, [5] * 50, hp.Integers(0, 99), epsilon=0.1, expected_records=50)
        assert not histogram.counts[histogram.measures == 0].any()


def test_parts_of_the_adaptive_grid_sum_to_their_cells() -> None:
    """Two measurements of the same total: the mean weighted by inverse variance, over parts of equal variance."""
    counts = CellCounts(PLANE, np.random.default_rng(1).random((20_000, 2)) ** 3)
    with record_draws() as draws:
        found = estimate_adaptive_grid(counts, Mechanism(1), expected_records=20_000, memory=2**20)
    level = int(np.log2(draws[0].values.size))
    coarse = counts.of_level(level) + draws[0].values
    fine = counts.of_cells(found.codes, found.levels) + draws[1].values
    owner = (found.codes >> (found.levels - level).astype(np.uint64)).astype(np.int64)
    parts = np.bincount(owner)
    assert parts.min() < parts.max()
    totals = np.bincount(owner, found.estimates)
    np.testing.assert_allclose(totals, (coarse * parts + np.bincount(owner, fine)) / (1 + parts))
    np.testing.assert_allclose(found.estimates - fine, ((totals - np.bincount(owner, fine)) / parts)[owner])


def mean_error(name: str, records: Any, rule: str, *, epsilon: float, memory: str, runs: int, **options: Any) -> float:
    """Mean W1 x n of some fits."""
    given = {"epsilon": epsilon, "expected_records": len(records), "memory": memory} | options
    fits = [baselines.fit(name, records, UNIT, **given).distribution(rule) for _ in range(runs)]
    return float(np.mean([hp.wasserstein(one, records) for one in fits])) * len(records)


@pytest.mark.parametrize("name", METHODS)
def test_error_falls_with_epsilon(name: str) -> None:
    """A hundred times the budget: the error falls to a hundredth of its noise, and what resolution leaves."""
    records, options = uniform(20_000), {"level": 6} if name in ("flat", "HB", "DAWA") else {}
    errors = [
        mean_error(name, records, "projection", epsilon=epsilon, memory="1 KiB", runs=10, **options)
        for epsilon in (0.02, 2)
    ]
    assert 3 < errors[0] / errors[1] < 400


def test_known_figures() -> None:
    """HB needs a monotone cdf; the complete tree has 24 to 37; a quantile tree drops what is rare."""
    records = lognormal(100_000)
    hb = {"epsilon": 1, "memory": "64 KiB", "runs": 4, "level": 12}
    assert 4 < mean_error("HB", records, "monotone cdf", **hb) < 25
    assert 250 < mean_error("HB", records, "projection", **hb) < 3_000
    mixture = gaussian_mixture(100_000)
    assert 12 < mean_error("complete tree", mixture, "projection", epsilon=1, memory="64 KiB", runs=4) < 60
    assert 60 < mean_error("quantile tree", mixture, "projection", epsilon=1, memory="1 MiB", runs=4) < 600
    assert mean_error("PrivTree", records, "projection", epsilon=1, memory="64 KiB", runs=4) < 40


def test_refusals() -> None:
    with pytest.raises(hp.PlanError, match="expected one of complete tree"):
        baselines.fit("magic", [0.5], UNIT, epsilon=1, expected_records=1)
    with pytest.raises(hp.PlanError, match="neighbours"):
        baselines.fit("flat", [0.5], UNIT, epsilon=1, expected_records=1, neighbours="friends")
    with pytest.raises(hp.PlanError, match="expected_records"):
        baselines.fit("flat", [0.5], UNIT, epsilon=1, expected_records=0)

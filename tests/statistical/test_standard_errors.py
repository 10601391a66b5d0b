"""Standard errors: closed forms, scaling and coverage of intervals."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from datasets import gaussian_mixture, lognormal, uniform
from privhp import Box, Generator, Integers, Interval, Nullable, Partition, Plan, Summary, Table, fit
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.hierarchy_errors import HierarchyErrors, _climb
from privhp.answers.standard_errors import LeafShares
from privhp.answers.uncertainty import MassUncertainty
from privhp.release import Release

UNIT = Interval(0, 1)
FULL = 10**7
"""Records in each cell, so that no cell is taken for empty."""


def uniform_generator(budgets: dict[int, str], epsilon: Any = 1, **changes: Any) -> Generator:
    """Generator without noise, of a plan with these budgets on sixteen integers."""
    plan = Plan(
        Integers(0, 15),
        epsilon=epsilon,
        budgets=budgets,
        exact_depth=max(budgets),
        inference="least-squares",
        **changes,
    )
    counts = {level: np.full(2**level, FULL * 2 ** (4 - level)) for level in budgets}
    return Generator(Release(plan, counts))


@pytest.mark.parametrize("cells", [1, 5, 8, 15])
def test_stderr_of_one_level(cells: int) -> None:
    """A share p of n independent cells has variance v (p (1 - p)^2 + (1 - p) p^2) n, over the total."""
    generator = uniform_generator({4: "1/2"})
    answer = generator.mass((0, cells - 1))
    share, variance = cells / 16, 2 * 2.0**2
    expected = (variance * 16 * share * (1 - share)) ** 0.5 / (16 * FULL)
    assert answer.value == pytest.approx(share)
    assert answer.stderr == pytest.approx(expected, rel=0.02)


def test_stderr_equals_dense_least_squares() -> None:
    """The error of a share is the error of its count minus the share times the total."""
    generator = uniform_generator({2: "1/3", 4: "1/2"})
    rows = [(np.arange(16) // 4 == cell, 2 * 3.0**2) for cell in range(4)]
    rows += [(np.arange(16) == cell, 2 * 2.0**2) for cell in range(16)]
    information = sum(np.outer(row, row) / variance for row, variance in rows)
    covariance = np.linalg.inv(information)
    for low, high in ((0, 3), (2, 9), (5, 5)):
        inside = ((np.arange(16) >= low) & (np.arange(16) <= high)).astype(np.float64)
        weights = inside - inside.mean()
        expected = (weights @ covariance @ weights) ** 0.5 / (16 * FULL)
        assert generator.mass((low, high)).stderr == pytest.approx(expected, rel=0.02)


def two_levels() -> tuple[Plan, NDArray[np.float64], NDArray[np.float64]]:
    """A plan of 4 and of 16 cells of a plane, the cells that each counter holds, and the variance of its noise."""
    plane = Box([(0, 1), (0, 1)])
    plan = Plan(plane, epsilon=1, budgets={2: "1/3", 4: "1/2"}, exact_depth=4, inference="least-squares")
    matrix = np.concatenate([np.arange(16) // 4 == np.arange(4)[:, None], np.eye(16)])
    return plan, matrix, np.repeat([plan.noise_variance(level, merged=1) for level in (2, 4)], [4, 16])


@pytest.mark.parametrize("seed", range(5))
def test_bias_is_the_difference_from_dense_least_squares(seed: int) -> None:
    """A domain of few cells is a line, whose sums may be shrunk, so the cells are those of a plane."""
    rng, (plan, matrix, variances) = np.random.default_rng(seed), two_levels()
    counts = rng.choice([0, 1, 2, 1000], 16) + rng.integers(-8, 9, 16)
    release = Release(plan, {2: counts.reshape(4, 4).sum(axis=1) + rng.integers(-9, 10, 4), 4: counts})
    measured = np.concatenate([release.counts[2], release.counts[4]])
    covariance = np.linalg.inv((matrix.T / variances) @ matrix)
    unbiased = covariance @ matrix.T @ (measured / variances)
    generator = Generator(release)
    errors = HierarchyErrors(Hierarchy(release))
    for inside in rng.random((8, 16)) < 0.5:
        share = generator.probabilities @ inside
        weights = inside - share
        expected = (weights @ covariance @ weights, weights @ unbiased)
        assert unbiased_moments(errors, np.flatnonzero(inside), share) == pytest.approx(expected, abs=1e-6)


def unbiased_moments(errors: HierarchyErrors, leaves: NDArray[np.intp], share: float) -> NDArray[np.float64]:
    """Variance of the unbiased count in some leaves, and its difference from the final one."""
    steps = errors._steps(np.zeros_like(leaves), leaves, 1)
    return np.ravel(_climb(errors._unbiased, steps, np.ones(leaves.size), np.array([share])))


@pytest.mark.parametrize("seed", range(5))
def test_noise_of_uneven_cells_is_that_of_dense_least_squares(seed: int) -> None:
    """A share is a ratio: the noise of all other cells counts in proportion to it, also of one with most records."""
    rng, (plan, matrix, variances) = np.random.default_rng(seed), two_levels()
    counts = rng.integers(5000, 9000, 16)
    counts[0] = 300_000
    errors = HierarchyErrors(Hierarchy(Release(plan, {2: counts.reshape(4, 4).sum(axis=1), 4: counts})))
    covariance = np.linalg.inv((matrix.T / variances) @ matrix)
    for inside in [np.arange(16) < 1, *(rng.random((8, 16)) < 0.5)]:
        weights = inside - counts @ inside / counts.sum()
        expected = np.sqrt(weights @ covariance @ weights) / counts.sum()
        found = errors.standard_errors([LeafShares.of_leaves(np.flatnonzero(inside))])
        assert found[0] == pytest.approx(expected, rel=0.01)  # variances of clear counts are a hundredth too large


@pytest.mark.parametrize("unbiased", [True, False])
def test_rare_values_are_in_their_intervals(unbiased: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inference takes them for empty; without the intervals of their unbiased counts, the intervals miss them."""
    if not unbiased:
        monkeypatch.setattr(MassUncertainty, "_with_unbiased", lambda _, low, high, z: (low, high))
    values, held = np.repeat([1, 2, 3, 4], [60_000, 30_000, 60, 40]), 0
    budgets = {3: "0.02", 6: "0.03"}  # cells of single values, so that they are not answered by bounds
    plan = Plan(Integers(1, 50), epsilon="0.05", budgets=budgets, exact_depth=6, inference="least-squares")
    for _ in range(40):
        generator = fit(values, plan=plan)
        low, high = generator.masses([(3, 3), (4, 4)]).interval()
        held += np.count_nonzero((low <= np.array([60, 40]) / values.size) & (np.array([60, 40]) / values.size <= high))
    assert held >= 64 if unbiased else held <= 56  # of 80; found 78 and 36


def test_rare_values_of_a_default_plan_are_in_their_intervals() -> None:
    """Its cells hold several values, so these are answered by bounds."""
    values, held = np.repeat([1, 2, 3, 4], [60_000, 30_000, 60, 40]), 0
    for _ in range(40):
        generator = fit(values, Integers(1, 50), epsilon=0.05, expected_records=values.size)
        low, high = generator.masses([(3, 3), (4, 4)]).interval()
        held += np.count_nonzero((low <= np.array([60, 40]) / values.size) & (np.array([60, 40]) / values.size <= high))
    assert held >= 64  # of 80, as above


@pytest.mark.filterwarnings("ignore::privhp.PrivhpWarning")
@pytest.mark.parametrize("records", [0, 3, 200])
def test_intervals_of_little_data(records: int) -> None:
    """Unbiased counts may be negative, and their sum, too: intervals are finite and hold the value."""
    table = Table(a=Integers(0, 9), b=Nullable(Interval(0, 1)), c=Interval(0, 1))
    rng = np.random.default_rng(records)
    data = {"a": rng.integers(0, 10, records), "b": rng.random(records), "c": rng.random(records)}
    regions = [{"a": (2, 2)}, {"a": (3, 7), "b": (0.1, 0.4)}, {"b": None}, {"b": (0.9, 0.95), "c": (0.0, 0.33)}]
    for _ in range(10):
        generator = fit(data, table, epsilon=0.1, expected_records=1000)
        for own in (generator, generator.marginal(["a", "b", "c"], where=None)):
            estimate = own.masses(regions)
            low, high = estimate.interval()
            assert (low >= 0).all()
            assert (high <= 1).all()
            assert ((low <= estimate.value + 1e-12) & (estimate.value <= high + 1e-12)).all()


def test_stderr_holds_the_bias_of_shrinkage() -> None:
    """Of 4,096 pairs of integers 64 have many records, each other one; inference takes the latter for empty."""
    side = Integers(0, 63)
    plan = Plan(
        Table(one=side, other=side), epsilon=1, budgets={6: "1/2", 12: "1/2"}, exact_depth=12, inference="least-squares"
    )
    first = np.arange(64)
    records = {"one": np.concatenate([np.repeat(first, 2_000), np.repeat(first, 64)])}
    records["other"] = np.concatenate([np.full(128_000, 40), np.tile(first, 64)])
    truth = float((records["other"] == 40).mean())
    answers = [fit(records, plan=plan).mass({"other": (40, 40)}) for _ in range(20)]
    errors = np.array([abs(answer.value - truth) / answer.stderr for answer in answers])
    assert np.mean(errors <= 1.645) > 0.7, errors


def test_stderr_of_everything_and_nothing() -> None:
    generator = uniform_generator({2: "1/3", 4: "1/2"})
    assert generator.mass((0, 15)).stderr == pytest.approx(0, abs=1e-12)
    assert generator.cdf([15]).stderr == pytest.approx([0], abs=1e-12)


def test_stderr_is_inverse_to_epsilon() -> None:
    answers = [uniform_generator({2: f"{e}/2", 4: f"{e}/2"}, epsilon=e).mass((2, 9)) for e in (1, 10)]
    assert answers[0].stderr == pytest.approx(10 * answers[1].stderr, rel=1e-6)


def test_stderr_of_cdf_equals_mass() -> None:
    generator = uniform_generator({2: "1/3", 4: "1/2"})
    for value in (0, 3, 7, 12):
        mass = generator.mass((0, value))
        cdf = generator.cdf([value])
        assert cdf.value[0] == pytest.approx(mass.value)
        assert cdf.stderr[0] == pytest.approx(mass.stderr)


def test_stderr_of_quantile() -> None:
    plan = Plan(UNIT, epsilon=1, budgets={6: 1}, exact_depth=6, inference="least-squares")
    generator = Generator(Release(plan, {6: np.full(64, 1000)}))
    at_half = generator.quantile([0.5])
    below = generator.cdf(at_half.value)
    assert at_half.stderr == pytest.approx(below.stderr, rel=0.1)  # uniform data on a domain of length 1


def test_values_without_stderr() -> None:
    plan = Plan.auto(UNIT, epsilon=1, expected_records=10_000, memory="16 KiB")
    summary = Summary(plan)
    summary.update(uniform(10_000))
    generator = summary.release()
    for answer in (generator.mass, generator.cdf, generator.quantile):
        argument: Any = (0.2, 0.7) if answer == generator.mass else [0.1, 0.5]
        before, estimate = answer(argument).value, answer(argument)
        assert np.all(np.asarray(estimate.stderr) > 0)
        assert np.array_equal(estimate.value, before)


@pytest.mark.parametrize(
    ("level", "leaf", "least", "most"),
    [(5, 130, 0, 0.1), (6, 130, 0, 0.1), (8, 128, 0.9, 1), (5, 128, 0.9, 1), (5, 135, 0.9, 1), (5, 0, 0.45, 0.55)],
)
def test_stderr_inside_leaf(level: int, leaf: int, least: float, most: float) -> None:
    """Every second cell of a level is empty, the others have equal counts; the region ends in the middle of a leaf.

    A leaf inside a cell is even. At an edge of the records all those of a leaf may be a heap; at an end of the axis,
    half of them.
    """
    plan = Plan(UNIT, epsilon=1, budgets={2: "1/2", 8: "1/2"}, exact_depth=8, inference="least-squares")
    leaves = np.where(np.arange(256) >> (8 - level) & 1, 0, FULL)
    generator = Generator(Release(plan, {2: leaves.reshape(4, -1).sum(axis=1), 8: leaves}))
    error = float(generator.mass((0, (leaf + 0.5) / 256)).stderr)
    largest_error = 0.5 * FULL / leaves.sum()
    assert least * largest_error <= error <= most * largest_error * 1.01


def test_stderr_of_correlated_leaves() -> None:
    """Children hold three quarters and one quarter, always or at random the first; the region's edge cuts 16 leaves."""
    budgets = {2: "1/2", 8: "1/2"}
    plan = Plan(Box([(0, 1), (0, 1)]), epsilon=1, budgets=budgets, exact_depth=8, inference="least-squares")
    first = np.tile([3 * FULL, FULL], 128)
    turned = np.where(np.repeat(np.random.default_rng(0).random(128) < 0.5, 2), first, first[::-1])
    errors = []
    for leaves in (first, turned):
        release = Release(plan, {2: leaves.reshape(4, -1).sum(axis=1), 8: leaves})
        answer = Generator(release).mass([(0, 1), (0, 17 / 32)])
        errors.append(float(answer.stderr))
    one_leaf = 0.5 * 0.5 * 3 / 512  # half of it is in the region, plus or minus half of the difference between children
    # The unevenness appears with the last split: finer ones may have four times as much.
    assert 0.95 * 16 * one_leaf < errors[0] < 2.05 * 16 * one_leaf
    assert errors[1] < 0.4 * errors[0]


def test_stderr_of_empty_release() -> None:
    plan = Plan(UNIT, epsilon=1, budgets={3: 1}, exact_depth=3, inference="least-squares")
    generator = Generator(Release(plan, {3: np.zeros(8, dtype=np.int64)}))
    assert generator.mass((0, 0.5)).stderr == 1.0


# Coverage.

RELEASES = 200
LEAST, MOST = 0.85, 0.97
MOST_OF_HALF = 0.722
"""Coverage of intervals of half the width, for normal errors and full intervals with a coverage of 97%."""


def tolerance(share: float, releases: int) -> float:
    """Deviation of an observed share from its mean that is exceeded with probability 1e-9."""
    return 6.0 * (share * (1.0 - share) / releases) ** 0.5


def points(size: int, *, seed: int) -> NDArray[np.float64]:
    """Clusters in the plane."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.random((20, 2))[rng.integers(0, 20, size)] + rng.normal(0, 0.03, (size, 2)), 0, 1)


STREAMS: dict[str, Any] = {
    "uniform": (UNIT, uniform),
    "gaussian mixture": (UNIT, gaussian_mixture),
    "lognormal": (UNIT, lognormal),
    "plane": (Box([(0, 1), (0, 1)]), points),
}


def deviations(plan: Plan, records: Any, releases: int) -> NDArray[np.float64]:
    """Errors of answers in standard errors, one region for each release, so that they are independent."""
    rng, found = np.random.default_rng(0), []
    sides = 1 if plan.domain.is_line else 2
    columns = records.reshape(len(records), -1)
    for _ in range(releases):
        ends = np.sort(rng.random((sides, 2)), axis=1)
        truth = np.mean(((columns >= ends[:, 0]) & (columns <= ends[:, 1])).all(axis=1))
        region = [tuple(pair) for pair in ends.tolist()]
        answer = fit(records, plan=plan).mass(region if sides > 1 else region[0])
        found.append(abs(answer.value - truth) / max(answer.stderr, 1e-12))
    return np.array(found)


@pytest.mark.parametrize(("passes", "epsilon"), [(3, 4), (1, 1)], ids=["learned", "one pass"])
@pytest.mark.parametrize("name", ["uniform", *(pytest.param(name, marks=pytest.mark.slow) for name in [*STREAMS][1:])])
def test_coverage_of_intervals(name: str, passes: int, epsilon: int, offline: bool) -> None:
    """Coverage between 85% and 97%, within the tolerance of the number of releases."""
    domain, draw = STREAMS[name]
    releases = RELEASES * (10 if offline else 1)
    plan = Plan.auto(domain, epsilon=epsilon, expected_records=10_000, memory="64 KiB", passes=passes)
    assert plan.passes == passes
    found = deviations(replace(plan, memory=0), draw(10_000, seed=1), releases)
    covered = np.mean(found <= 1.645)
    assert LEAST - tolerance(LEAST, releases) < covered < MOST + tolerance(MOST, releases)
    if domain.is_line:  # elsewhere most of the error is resolution error, which is not normal
        assert np.mean(found <= 1.645 / 2) < MOST_OF_HALF + tolerance(MOST_OF_HALF, releases)


def test_stderr_of_empty_split_cell() -> None:
    """A cell without records is split, and its parts have no records either, only noise."""
    partition = Partition([3, 3, *[6] * 8, *[3] * 5])
    plan = Plan(
        Integers(0, 63),
        epsilon=1,
        budgets={1: "1/2", 3: "1/2"},
        exact_depth=1,
        partition=partition,
        inference="least-squares",
        expected_records=1000,
    )
    leaves = np.where(partition.levels == 6, -3, 0)
    leaves[0] = 1000
    generator = Generator(Release(plan, {1: np.array([1000, 0]), 3: leaves}))
    answer = generator.mass((16, 19))
    assert answer.value < 1e-3
    assert answer.stderr * 1000 > 0.1


# Marginals and conditional distributions


FARES = Table(fare=Interval(0, 1), stops=Nullable(Integers(0, 3)))


def marginal_deviations(plan: Plan, releases: int, *, ends: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Deviations, in standard errors, of answers from marginals: one row per release, one column per kind of answer.

    Regions of the first column end at two of `ends`, by default anywhere.
    """
    rng = np.random.default_rng(7)
    size = 10_000
    fare, stops, null = rng.beta(2, 3, size), rng.choice(4, size, p=[0.4, 0.3, 0.2, 0.1]), rng.random(size) < 0.3
    own = stops[~null]
    records = {"fare": fare, "stops": np.ma.masked_array(stops, mask=null)}
    rows = []
    for _ in range(releases):
        summary = Summary(plan)
        summary.update(records)
        generator = summary.release()
        low, high = np.sort(rng.random(2) if ends is None else rng.choice(ends, 2, replace=False)).tolist()
        share = rng.uniform(0.1, 0.9)
        least = int(rng.integers(0, 3))
        fares, values = generator.marginal("fare"), generator.marginal("stops", null=False)
        pairs = [
            (fares.mass((low, high)), np.mean((fare >= low) & (fare <= high))),
            (fares.quantile(share), np.quantile(fare, share)),
            (values.mass((least, least + 1)), np.mean((own == least) | (own == least + 1))),
            (values.cdf(least), np.mean(own <= least)),
        ]
        rows.append([abs(estimate.value - truth) / max(estimate.stderr, 1e-12) for estimate, truth in pairs])
    return np.array(rows)


@pytest.mark.parametrize("releases", [100, pytest.param(4 * RELEASES, marks=pytest.mark.slow)])
def test_coverage_of_marginals(releases: int, offline: bool) -> None:
    """Between 85% and 97% of the 90% intervals contain the truth. Half and double standard errors are rejected.

    Regions end between cells and cells are small, so noise dominates the errors.
    """
    releases *= 5 if offline else 1
    budgets = {5: "1/15", 7: "1/15", 9: "1/15"}
    plan = Plan(FARES, epsilon="1/5", budgets=budgets, exact_depth=9, inference="least-squares")
    found = marginal_deviations(plan, releases, ends=np.arange(1, 8) / 8)
    full, half, quarter = ((found <= 1.645 * width).mean(axis=0) for width in (1.0, 0.5, 0.25))
    least, most = LEAST - tolerance(LEAST, releases), MOST + tolerance(MOST, releases)
    most_of_half = MOST_OF_HALF + tolerance(MOST_OF_HALF, releases)
    assert ((least < full) & (full < most)).all(), full
    assert (half < most_of_half).all(), half
    assert (quarter < least).all(), quarter
    if releases >= 4 * RELEASES:  # fewer cannot distinguish a factor of two
        assert (half < least).all(), half
        assert (full > most_of_half).all(), full


def test_coverage_of_marginals_with_regions_that_cut_cells() -> None:
    """At least 85%, of a plan from the planner: standard errors of cut cells are conservative."""
    plan = Plan.auto(FARES, epsilon="1/5", expected_records=10_000, memory="16 KiB")
    full = (marginal_deviations(plan, 100) <= 1.645).mean(axis=0)
    assert (full > LEAST - tolerance(LEAST, 100)).all(), full


def test_intervals_hold_heaps_just_below_a_limit() -> None:
    """The density falls inside a leaf: all that the leaf holds beyond its smaller neighbour is below the limit.

    With 40,000 records the first cells are twice as wide, and 57% of the intervals hold: a known miss, in
    docs/accuracy.md and decision 16.
    """
    rng, held = np.random.default_rng(0), []
    weights = rng.gamma(2, 2, 60_000).clip(0, 39)
    below = rng.random(weights.size) < 0.05
    weights[below] = 5 - 0.05 * rng.random(below.sum())
    weights = np.round(weights, 3)
    for _ in range(12):
        low, high = (
            fit(weights, Interval(0, 40, step="0.001"), epsilon=0.3, expected_records=60_000).mass((0, 5)).interval(0.9)
        )
        held.append(low <= np.mean(weights <= 5) <= high)
    assert sum(held) >= 8  # of 12; one of 20 held when the leaf lay on a slope


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_coverage_of_tails(scale: Any) -> None:
    """Quantiles near 0 and 1, and masses beyond them, of skewed amounts in a table: leaves exceed the data."""
    rng, releases, found = np.random.default_rng(0), 160, []
    domain = Table(amount=Interval(0.01, 10_000, scale=scale), number=Integers(0, 100), kind=Integers(0, 7))
    plan = Plan.auto(domain, epsilon=1, expected_records=20_000, memory="64 KiB")
    for release in range(releases):
        amounts = rng.lognormal(3.5, 0.8, 20_000).clip(0.01, 10_000)
        columns = {"amount": amounts, "number": rng.poisson(20, 20_000), "kind": rng.integers(0, 8, 20_000)}
        generator = fit(columns, plan=plan)
        share = (0.01, 0.05, 0.95, 0.99)[release % 4]
        end = float(np.quantile(amounts, share, method="inverted_cdf"))
        if release % 8 < 4:
            answer, truth = generator.marginal("amount").quantile(share), end
        elif share < 0.5:
            answer, truth = generator.mass({"amount": (None, end)}), np.mean(amounts <= end)
        else:
            answer, truth = generator.mass({"amount": (end, None)}), np.mean(amounts >= end)
        low, high = answer.interval(0.9)
        found.append(low <= truth <= high)
    assert np.mean(found) > LEAST - tolerance(LEAST, releases)

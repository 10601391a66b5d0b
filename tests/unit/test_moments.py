"""Mean, standard deviation, correlation and shares: closed forms, tails, units and refusals."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privhp import (
    Box,
    Categories,
    DomainError,
    Generator,
    Integers,
    Interval,
    Nullable,
    Plan,
    QueryError,
    Summary,
    Table,
    Taxonomy,
    Time,
)
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.unprojected import unproject
from privhp.release import Release

FULL = 10**7
"""Records in each cell, so that no cell is taken for empty."""


def generator_of(domain: Any, counts: NDArray[np.int64]) -> Generator:
    """Generator of the counts of one level."""
    level = counts.size.bit_length() - 1
    plan = Plan(domain, epsilon=1, budgets={level: "1/2"}, exact_depth=level, inference="least-squares")
    return Generator(Release(plan, {level: counts}))


def two_levels(counts: NDArray[np.int64]) -> Generator:
    plan = Plan(Integers(0, 15), epsilon=1, budgets={2: "1/3", 4: "1/2"}, exact_depth=4, inference="least-squares")
    return Generator(Release(plan, {2: counts.reshape(4, 4).sum(axis=1), 4: counts}))


def dense_covariance() -> NDArray[np.float64]:
    """Covariance of the least-squares counts of sixteen integers, measured as in `two_levels`."""
    rows = [(np.arange(16) // 4 == cell, 2 * 3.0**2) for cell in range(4)]
    rows += [(np.arange(16) == cell, 2 * 2.0**2) for cell in range(16)]
    return np.linalg.inv(sum(np.outer(row, row) / variance for row, variance in rows))


def test_mean_and_std_of_single_integers() -> None:
    counts = FULL * np.arange(1, 17)
    generator = two_levels(counts)
    values = np.repeat(np.arange(16), np.arange(1, 17))
    assert generator.mean().value == pytest.approx(values.mean())
    assert generator.std().value == pytest.approx(values.std())


@pytest.mark.parametrize("mirrored", [False, True])
def test_mean_beside_a_heap_at_the_median(mirrored: bool) -> None:
    """A heap has no noise in the mean of its own, so that no shell could be significant in comparison."""
    counts = np.array([10_000, 60, 50, 40, 30, 20, *[0] * 10])
    values = np.arange(16)
    generator = generator_of(Integers(0, 15), counts[::-1] if mirrored else counts)
    truth = float(counts @ values) / counts.sum()
    mean = generator.mean()
    assert float(mean) == pytest.approx(15 - truth if mirrored else truth)
    assert mean.stderr > 0


def test_stderr_equals_dense_least_squares() -> None:
    """The error of a mean is that of the count of each leaf times its distance from the mean."""
    counts = FULL * np.arange(1, 17)
    generator, covariance = two_levels(counts), dense_covariance()
    mean, variance = generator.mean().value, generator.std().value ** 2
    weights = (np.arange(16) - mean) / counts.sum()
    assert generator.mean().stderr == pytest.approx((weights @ covariance @ weights) ** 0.5, rel=1e-6)
    weights = ((np.arange(16) - mean) ** 2 - variance) / counts.sum()
    expected = (weights @ covariance @ weights) ** 0.5 / (2 * variance**0.5)
    assert generator.std().stderr == pytest.approx(expected, rel=1e-6)


def test_unprojected_counts_equal_dense_least_squares() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        counts = {2: rng.integers(-40, 60, 4), 4: rng.integers(-30, 40, 16)}
        release = Release(two_levels(np.ones(16, dtype=np.int64)).plan, counts)
        hierarchy = unproject(Hierarchy(release))
        rows = np.array([*(np.arange(16) // 4 == cell for cell in range(4)), *np.eye(16)], dtype=np.float64)
        weights = np.repeat([1 / 18, 1 / 8], [4, 16])
        measured = np.concatenate([counts[2], counts[4]])
        expected = dense_covariance() @ (rows.T @ (weights * measured))
        assert hierarchy.leaf_values("estimate") == pytest.approx(expected)


@pytest.mark.parametrize("side", [1, -1])
def test_noise_in_a_far_tail_does_not_move_the_mean(side: int) -> None:
    """Cells of a few records, as noise leaves them, move the mean of the generator, and not `mean`."""
    low, high = (0, 2**20 - 1) if side > 0 else (1 - 2**20, 0)
    counts = np.random.default_rng(1).integers(-4, 5, 2**10)[::side].copy()
    near = slice(0, 1) if side > 0 else slice(-1, None)
    counts[near] = 50_000
    generator = generator_of(Interval(low, high), counts)
    sample = generator.sample(50_000, rng=0)
    assert abs(sample.mean()) > 525  # what the rule prevents
    mean, std = generator.mean(), generator.std()
    assert abs(mean.value - side * 512) < 1
    assert std.value < 400
    low, high = mean.interval(0.9)
    assert (high - mean.value > mean.value - low) == (side > 0)  # the tail may hold records, on its side


def test_records_far_out_move_the_mean() -> None:
    """The rule leaves out noise alone: a significant count far out is in the mean, and in its interval."""
    counts = np.random.default_rng(1).integers(-4, 5, 2**10)
    counts[0], counts[-1] = 50_000, 500
    mean = generator_of(Interval(0, 2**20), counts).mean()
    expected = (50_000 * 512 + 500 * (2**20 - 512)) / 50_500
    assert mean.interval(0.9)[0] < expected < mean.interval(0.9)[1]
    assert mean.value == pytest.approx(expected, rel=0.2)


def test_interval_holds_records_anywhere_in_the_leaves() -> None:
    """Values at one end of every cell are half a width from the middle."""
    rng = np.random.default_rng(0)
    heaps = rng.choice([0.0, 25.0, 50.0, 75.0], 20_000)
    plan = Plan(Interval(0, 100), epsilon=50, budgets={2: 50}, exact_depth=2, inference="least-squares")
    summary = Summary(plan)
    summary.update(heaps)
    mean = summary.release().mean()
    assert mean.value == pytest.approx(heaps.mean() + 12.5, abs=0.1)
    assert mean.interval(0.9)[0] < heaps.mean() + 0.1
    assert mean.interval(0.99)[1] <= mean.value + 12.6  # never beyond the leaves


def test_times() -> None:
    counts = np.zeros(1024, dtype=np.int64)
    counts[[1, 513]] = FULL
    times = generator_of(Time("2024-01-01", "2024-01-01T23:59:59"), counts)
    assert times.mean().value == np.datetime64("2024-01-01T06:02:06")  # cells of 84 or 85 seconds, after 0:01 and 12:01
    assert times.std().value == np.timedelta64(6, "h")
    assert repr(times.std()).startswith("6 hours +- ")
    assert isinstance(times.mean().stderr, np.timedelta64)
    assert all(isinstance(end, np.datetime64) for end in times.mean().interval())
    assert all(isinstance(end, np.timedelta64) for end in times.std().interval())
    dates = generator_of(Time("2024-01-01", "2024-01-02", unit="D"), np.array([FULL, FULL]))
    assert dates.mean().value == np.datetime64("2024-01-01T12:00:00")
    assert dates.std().value == np.timedelta64(12, "h")


def test_log_scale() -> None:
    """Inside an octave the base measure is uniform: the mean of [1, 16] is that of 1.5, 3, 6 and 12."""
    generator = generator_of(Interval(1, 16, scale="log"), np.array([FULL, FULL]))
    assert generator.mean().value == pytest.approx(5.625, rel=1e-3)
    assert generator.std().value == pytest.approx(generator.sample(100_000, rng=0).std(), rel=1e-2)


def table_generator(columns: Any, records: Any, epsilon: float = 200) -> Generator:
    level = min(10, columns.depth)
    plan = Plan(columns, epsilon=epsilon, budgets={level: epsilon}, exact_depth=level, inference="least-squares")
    summary = Summary(plan)
    summary.update(records)
    return summary.release()


@pytest.mark.parametrize("sign", [1, -1])
def test_correlation(sign: int) -> None:
    x, y = np.random.default_rng(0).integers(0, 32, (2, 50_000))
    mixed = np.where(y < 16, x, sign * x % 32 if sign < 0 else y)
    generator = table_generator(Table(x=Integers(0, 31), y=Integers(0, 31)), {"x": x, "y": mixed})
    found = generator.correlation("x", "y")
    assert found.value == pytest.approx(np.corrcoef(x, mixed)[0, 1], abs=1e-3)
    assert found.value == pytest.approx(generator.correlation("y", "x").value)
    low, high = found.interval(0.9)
    assert -1 <= low <= found.value <= high <= 1


def test_nullable_columns() -> None:
    """Moments are those of the values; a correlation is that of records in which both columns have one."""
    rng = np.random.default_rng(0)
    x, null = rng.integers(0, 16, 50_000), rng.random((2, 50_000)) < 0.3
    masked = [np.ma.MaskedArray(each, mask=own) for each, own in zip((x, (x + 3) % 16), null, strict=True)]
    table = Table(x=Nullable(Integers(0, 15)), y=Nullable(Integers(0, 15)))
    generator = table_generator(table, {"x": masked[0], "y": masked[1]})
    values = generator.marginal("x", null=False)
    assert values.mean().value == pytest.approx(masked[0].mean(), abs=1e-2)
    assert values.std().value == pytest.approx(masked[0].std(), abs=1e-2)
    both = ~null.any(axis=0)
    expected = np.corrcoef(x[both], ((x + 3) % 16)[both])[0, 1]
    assert generator.correlation("x", "y").value == pytest.approx(expected, abs=1e-2)


def test_empty_release_knows_nothing() -> None:
    generator = generator_of(Interval(0, 100), np.zeros(16, dtype=np.int64))
    low, high = generator.mean().interval(0.9)
    assert 0 <= low < 20
    assert 80 < high <= 100
    assert 0 <= generator.std().value <= 50
    table = table_generator(Table(x=Integers(0, 31), y=Integers(0, 31)), {"x": [5] * 10_000, "y": [7] * 10_000})
    assert table.correlation("x", "y").interval(0.9) == (-1, 1)  # of constants


def test_shares() -> None:
    kinds = Categories(["bus", "tram", "ferry", "metro"])
    shares = generator_of(kinds, FULL * np.array([4, 3, 0, 1])).shares()
    assert list(shares) == ["bus", "tram", "ferry", "metro"]
    assert [share.value for share in shares.values()] == pytest.approx([0.5, 0.375, 0, 0.125], abs=1e-6)
    assert shares["bus"].stderr > 0
    tree = Taxonomy({"web": ["http", "https"], "mail": ["smtp", "imap"]})
    assert list(generator_of(tree, FULL * np.ones(4, dtype=np.int64)).shares()) == ["http", "https", "smtp", "imap"]
    table = Table(hour=Nullable(Integers(22, 25)))
    hours = table_generator(table, {"hour": [None, 22, 22, 24] * 5000}).marginal("hour").shares()
    assert {value: round(share.value, 2) for value, share in hours.items()} == {
        22: 0.5,
        23: 0,
        24: 0.25,
        25: 0,
        None: 0.25,
    }
    table = Table(kind=Nullable(Categories([False, True])))
    found = table_generator(table, {"kind": [None, True, True, None] * 5000}).marginal("kind").shares()
    assert {value: round(share.value, 2) for value, share in found.items()} == {False: 0, True: 0.5, None: 0.5}


def test_refusals() -> None:
    plane = generator_of(Box([(0, 1), (0, 1)]), np.ones(16, dtype=np.int64))
    for ask in (plane.mean, plane.std):
        with pytest.raises(DomainError, match="only numbers and times have means"):
            ask()
    with pytest.raises(DomainError, match=r"no list of values; use mass\(...\)"):
        plane.shares()
    with pytest.raises(DomainError, match=r"Integers\(0, 128\) has no list of values"):
        generator_of(Integers(0, 128), np.ones(16, dtype=np.int64)).shares()
    table = table_generator(Table(x=Integers(0, 31), kind=Categories(["a", "b"])), {"x": [1], "kind": ["a"]})
    with pytest.raises(DomainError, match=r"use marginal\(COLUMN\)"):
        table.mean()
    with pytest.raises(DomainError, match="only numbers and times"):
        table.correlation("x", "kind")
    with pytest.raises(QueryError, match="expected two columns, got 'x' twice"):
        table.correlation("x", "x")
    with pytest.raises(QueryError, match="expected a column"):
        table.correlation("x", "y")
    null = table_generator(Table(x=Nullable(Integers(0, 31))), {"x": [1, None]})
    with pytest.raises(DomainError, match="null=False"):
        null.marginal("x").mean()
    paper = Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=100, hot_cells=4)).release()
    with pytest.raises(QueryError, match="top-down inference"):
        paper.mean()


def test_interval_of_a_correlation_holds_dependence_inside_leaves() -> None:
    """Records on the diagonal of both leaves have the correlation 1, and the release shows the leaves alone."""
    generator = generator_of(Table(x=Interval(0, 1), y=Interval(0, 1)), FULL * np.array([1, 0, 0, 1]))
    found = generator.correlation("x", "y")
    assert found.value == pytest.approx(0.75, abs=1e-3)
    assert found.interval(0.9)[1] == 1
    inside = (1 / 48) / (1 / 12)  # variance of each variable inside leaves, in units of its own
    low, _ = found.interval(0.9)
    assert found.value - low >= 0.75 * 2 * inside + inside


def test_tails_hardly_widen_a_correlation_of_independent_columns() -> None:
    """Records in a tail depend on the other column as those of the core do: not at all."""
    size = 64
    table = Table(x=Integers(0, size - 1), y=Integers(0, size - 1))
    counts = np.zeros((size, size), dtype=np.int64)
    counts[:8, :8] = 50
    pairs = {"x": np.repeat(np.arange(size), size), "y": np.tile(np.arange(size), size)}
    by_code = np.empty(size**2, dtype=np.int64)
    by_code[table.encode(pairs, level=12).astype(np.int64)] = counts.ravel()
    generator = generator_of(table, by_code)
    found, std = generator.correlation("x", "y"), generator.marginal("x").std()
    assert found.value == pytest.approx(0, abs=1e-6)
    assert std.interval(0.9)[1] ** 2 > 1.2 * std.value**2  # the tails may hold records
    assert found.interval(0.9)[1] < 0.1

"""Coverage of the intervals of means, standard deviations and correlations."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privhp import Categories, Interval, Plan, Table, fit

RECORDS = 10_000
LEAST = 0.85
MOST_OF_HALF = 0.722
"""Coverage of intervals of half the width, for normal errors and full intervals with a coverage of 97%."""


def tolerance(share: float, releases: int) -> float:
    """Deviation of an observed share from its mean that is exceeded with probability 1e-9."""
    return 6.0 * (share * (1.0 - share) / releases) ** 0.5


def errors(domain: Any, records: Any, releases: int, *moments: tuple[str, float]) -> NDArray[np.float64]:
    """Errors of moments as a share of their 90% intervals on that side, shape (releases, moments)."""
    plan = Plan.auto(domain, epsilon=1, expected_records=RECORDS, memory="64 KiB", passes=1)
    found = []
    for _ in range(releases):
        generator = fit(records, plan=plan)
        for name, truth in moments:
            estimate = generator.correlation("a", "b") if name == "correlation" else getattr(generator, name)()
            low, high = estimate.interval(0.9)
            side = high - estimate.value if truth > estimate.value else estimate.value - low
            found.append(abs(truth - estimate.value) / max(side, 1e-300))
    return np.array(found).reshape(releases, len(moments))


def moments_of(records: NDArray[np.float64]) -> list[tuple[str, float]]:
    return [("mean", float(records.mean())), ("std", float(records.std()))]


def test_coverage() -> None:
    """Intervals hold often enough, and would not if they were half as wide."""
    records = np.random.default_rng(0).random(RECORDS)
    found = errors(Interval(0, 1), records, 100, *moments_of(records))
    assert (np.mean(found <= 1, axis=0) > LEAST - tolerance(LEAST, 100)).all()
    assert (np.mean(found <= 0.5, axis=0) < MOST_OF_HALF + tolerance(MOST_OF_HALF, 100)).all()


@pytest.mark.slow
@pytest.mark.parametrize("high", [1e3, 1e6, 1e9])
def test_coverage_in_wide_bounds(high: float) -> None:
    records = np.random.default_rng(0).gamma(2, 8, RECORDS)
    found = errors(Interval(0, high), records, 200, *moments_of(records))
    assert (np.mean(found <= 1, axis=0) > LEAST - tolerance(LEAST, 200)).all()


@pytest.mark.slow
def test_coverage_of_groups() -> None:
    """Means of a column by group, with groups that differ."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], RECORDS, p=[0.3, 0.7])
    values = rng.normal(np.where(kind == "a", 3, 6), 1)
    plan = Plan.auto(
        Table(value=Interval(0, 10), kind=Categories(["a", "b"])), epsilon=1, expected_records=RECORDS, passes=1
    )
    held = []
    for _ in range(100):
        generator = fit({"value": values, "kind": kind}, plan=plan)
        for own in ("a", "b"):
            low, high = generator.marginal("value", where={"kind": own}).mean().interval(0.9)
            held.append(low <= values[kind == own].mean() <= high)
    assert np.mean(held) > LEAST - tolerance(LEAST, 100)


@pytest.mark.slow
def test_coverage_of_correlations() -> None:
    first, noise = np.random.default_rng(0).normal(size=(2, RECORDS))
    records = {"a": first, "b": 0.8 * first + 0.6 * noise}
    truth = float(np.corrcoef(records["a"], records["b"])[0, 1])
    found = errors(Table(a=Interval(-6, 6), b=Interval(-6, 6)), records, 200, ("correlation", truth))
    assert np.mean(found <= 1) > LEAST - tolerance(LEAST, 200)

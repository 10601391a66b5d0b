"""Shrinkage of the estimates of empty cells, compared with a slow reference."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from privhp.answers.constrained_inference import spike_and_slab_posterior

Floats = NDArray[np.float64]


def noisy(counts: Floats, scale: float, seed: int) -> Floats:
    return counts + np.random.default_rng(seed).laplace(scale=scale, size=counts.shape)


def posterior_means(estimates: Floats, scale: float = 2.0) -> Floats:
    spread = np.full(estimates.shape, 2.0 * scale**2)
    return spike_and_slab_posterior(estimates, spread, np.ones(estimates.shape, dtype=np.bool_))[0]


def test_spike_and_slab_keeps_full_cells() -> None:
    estimates = noisy(np.full(1000, 200.0), 2.0, 0)
    assert np.array_equal(posterior_means(estimates), estimates)


@pytest.mark.parametrize("share", [0.9, 0.99, 0.999])
def test_spike_and_slab_shrinks_empty_cells(share: float) -> None:
    counts = np.where(np.arange(10_000) < 10_000 * share, 0.0, 500.0)
    estimates = noisy(counts, 2.0, 1)
    found = posterior_means(estimates)
    empty = counts == 0
    assert found[empty].sum() < 0.5 * np.maximum(estimates, 0.0)[empty].sum()
    np.testing.assert_allclose(found[~empty], estimates[~empty], rtol=1e-6)


@given(seed=st.integers(0, 10_000), size=st.integers(1, 200), full=st.floats(0.0, 1.0), holes=st.floats(0.0, 0.5))
def test_spike_and_slab_matches_a_slow_reference(seed: int, size: int, full: float, holes: float) -> None:
    rng = np.random.default_rng(seed)
    estimates = noisy(np.where(rng.random(size) < full, rng.integers(1, 300, size), 0.0), 3.0, seed)
    possible = rng.random(size) >= holes
    variances = rng.uniform(10.0, 20.0, size)
    means, _ = spike_and_slab_posterior(estimates, variances, possible)
    np.testing.assert_allclose(means[possible], slow_posterior_means(estimates, variances, possible)[possible])


def slow_posterior_means(estimates: Floats, variances: Floats, possible: NDArray[np.bool_]) -> Floats:
    """The posterior means cell by cell, with the densities written out."""
    deviations = [math.sqrt(variance) for variance in variances]
    largest = max([2.0, *(y / s for y, s, can in zip(estimates, deviations, possible, strict=True) if can)])

    def odds(y: float, s: float) -> float:
        b = s / math.sqrt(2.0)
        spike = math.exp(-abs(y) / b) / (2.0 * b)
        slab = 1.0 / (y * math.log(largest)) if y > s else math.exp((y - s) / b) / (s * math.log(largest))
        return slab / spike

    ratios = [odds(y, s) for y, s in zip(estimates.tolist(), deviations, strict=True)]
    share = 0.5
    for _ in range(20):
        empty = [share / (share + (1.0 - share) * ratio) for ratio in ratios]
        share = (sum(one for one, can in zip(empty, possible, strict=True) if can) + 0.5) / (possible.sum() + 1.0)
    means = np.zeros(estimates.size)
    for cell, (y, probability) in enumerate(zip(estimates.tolist(), empty, strict=True)):
        means[cell] = (1.0 - probability) * max(y, 0.0) if probability > 0.01 else y
    return means


def test_spike_and_slab_of_forged_counts() -> None:
    """A file may hold any integers as its noisy counts."""
    found = posterior_means(np.array([4e18, -6e18]), scale=1e4)
    np.testing.assert_allclose(found, [4e18, 0.0])


def test_spike_and_slab_is_monotone() -> None:
    counts = np.where(np.arange(2000) % 10 == 0, 30.0, 0.0)
    estimates = np.sort(noisy(counts, 2.0, 2))
    found = posterior_means(estimates)
    kept = found > 0
    assert (np.diff(found[kept]) >= 0).all()


def test_spike_and_slab_of_pure_noise() -> None:
    """An assumed scale ten percent too small keeps more of the noise, ten percent too large less."""
    estimates = noisy(np.zeros(20_000), 2.0, 3)
    less, right, more = (posterior_means(estimates, 2.0 * factor).sum() for factor in (0.9, 1.0, 1.1))
    assert right < 0.5 * np.maximum(estimates, 0.0).sum()
    assert more < 0.9 * right < right < 0.9 * less

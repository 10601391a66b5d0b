"""Balanced samples: W1 distance to the generator, and unbiased cells."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from datasets import gaussian_mixture, lognormal
from privhp import Box, Generator, Interval, Plan, grid_wasserstein, wasserstein
from privhp.evaluate import grid_masses
from releases import release_of

ALPHA = 1e-9
SAMPLES = 100_000
RECORDS = 20_000
SQUARE = Box([(0, 1), (0, 1)])
CELLS = 64
SETS, SET = 400, 10_000  # enough to detect a change of 10% in every second of 64 x 64 cells
FORMS = pytest.mark.parametrize("form", ["dense", "sparse"])


def release(domain: Interval | Box, records: NDArray[np.float64], form: str) -> Generator:
    """Generator of a complete tree of 2**14 leaves, or of a partition that is deep at the records."""
    depth = 14
    sizes = {"hot_cells": 1, "exact_depth": depth} if form == "dense" else {"hot_cells": 8, "sketch_rows": 3}
    plan = Plan.paper(domain, epsilon=1, expected_records=RECORDS, depth=depth, hash_seed=5, **sizes)
    return Generator(release_of(plan, records))


def points() -> NDArray[np.float64]:
    """Points that are skewed on one side and clustered on the other."""
    return np.stack([lognormal(RECORDS) * 4 % 1, gaussian_mixture(RECORDS, seed=1)], axis=1)


@FORMS
@pytest.mark.parametrize("draw", [gaussian_mixture, lognormal])
def test_balanced_w1_on_line(draw: Callable[..., Any], form: str) -> None:
    generator = release(Interval(0, 1), draw(RECORDS), form)
    balanced, independent = (
        np.mean([wasserstein(generator, generator.sample(SAMPLES, method=method, rng=run)) for run in range(3)])
        for method in ("balanced", "independent")
    )
    assert balanced <= independent / 20


@pytest.mark.slow
@FORMS
def test_balanced_w1_in_plane(form: str) -> None:
    generator = release(SQUARE, points(), form)
    balanced, independent = (
        grid_wasserstein(generator, generator.sample(SAMPLES, method=method, rng=6), cells=CELLS)
        for method in ("balanced", "independent")
    )
    assert balanced <= independent / 4


@cache
def summed_sets(form: str) -> tuple[Generator, NDArray[np.float64]]:
    """A generator, and the counts of many balanced samples in the cells of a grid."""
    generator, rng = release(SQUARE, points(), form), np.random.default_rng(8)
    sets = np.concatenate([generator.sample(SET, rng=rng, shuffle=False) for _ in range(SETS)])
    return generator, np.rint(grid_masses(sets, domain=SQUARE, cells=CELLS).ravel() * len(sets))


@FORMS
@pytest.mark.parametrize(("change", "passes"), [(-0.1, False), (0.0, True), (0.1, False)])
def test_balanced_samples_are_unbiased_in_plane(form: str, change: float, passes: bool) -> None:
    """Counts of balanced samples vary less than independent ones, so the test is conservative."""
    generator, counts = summed_sets(form)
    shares = grid_masses(generator, cells=CELLS).ravel()
    possible = shares > 0
    assert not counts[~possible].any()
    skewed = (shares * np.where(np.arange(shares.size) % 2, 1 + change, 1.0))[possible]
    expected = skewed / skewed.sum() * counts.sum()
    assert (stats.chisquare(counts[possible], expected).pvalue > ALPHA) == passes

"""Speed of sampling, relative to filling an array with random numbers."""

from collections.abc import Callable
from functools import partial

import numpy as np

import privhp as hp
from benchmarks.ingest import skewed_mixture
from benchmarks.timing import best_seconds

SIZES = (1 << 18, 1 << 20)
"""Sample sizes below and above the second-level cache of a core."""

MINIMUM = {("leaf order", SIZES[1]): 3.0, ("shuffled", SIZES[0]): 0.8}


def make_generator() -> hp.Generator:
    """Two-dimensional generator with about ten thousand leaves."""
    rng = np.random.default_rng(2)
    plan = hp.Plan.paper(hp.Box([(0, 1), (0, 1)]), epsilon=1, expected_records=1e6, hot_cells=256, sketch_rows=4)
    summary = hp.Summary(plan)
    summary.update(skewed_mixture(500_000, 2, rng))
    summary.update(rng.random((500_000, 2)))
    return summary.release()


def measure() -> list[tuple[str, float, float | None]]:
    """Rows of (name, ratio, minimum)."""
    generator, rng = make_generator(), np.random.default_rng(3)
    return [row for size in SIZES for row in measure_size(generator, size, rng)]


def measure_size(generator: hp.Generator, size: int, rng: np.random.Generator) -> list[tuple[str, float, float | None]]:
    """Rows of (name, ratio, minimum) for one sample size."""
    out = np.empty((size, 2))
    turns: dict[str, Callable[[], object]] = {
        f"{method}, {order}": partial(generator.sample, method=method, shuffle=order == "shuffled", rng=rng, out=out)
        for order in ("leaf order", "shuffled")
        for method in ("balanced", "independent")
    }
    best = best_seconds({"random": lambda: rng.random(out=out), **turns}, turns=40)
    return [
        (
            f"2-D, {name}, {size:,} / rng.random(out=)",
            best["random"] / best[name],
            MINIMUM.get((name.split(", ")[1], size)),
        )
        for name in turns
    ]

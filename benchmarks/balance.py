"""W1 distance to the generator of balanced and of independent samples.

On the line, samples that are unbiased in every cell have a lower bound: an
expected number of records at or below a point with the fractional part f is
rounded up with probability f, so its mean absolute error is 2 f (1 - f).
"""

from typing import Any

import numpy as np

import privhp as hp
from benchmarks import methods
from benchmarks.streams import load
from privhp.core.cells import Floats

SAMPLES = 100_000
RUNS = 5
CELLS = 64
LINES = ("uniform", "gaussian mixture", "lognormal", "flight delays", "taxi fares", "zipf", "40 atoms")
PLANES = ("postcodes", "crimes")
FORMS = ("dense", "sparse")
"""Dense: a complete tree of 17 levels. Sparse: the paper's plan in 64 KiB."""


def measure_balance(name: str, form: str) -> dict[str, Any]:
    """Mean W1 x n of balanced and of independent samples to the generator of one release."""
    stream = load(name)
    if form == "sparse":
        plan = methods.largest_paper(
            stream.domain, epsilon=1, expected_records=len(stream), memory=methods.MEMORY["64 KiB"]
        )
    else:
        plan = methods.complete(stream.domain, epsilon=1, expected_records=len(stream), most=16)
    summary = hp.Summary(plan)
    summary.update(stream.records)
    generator = summary.release()
    found: dict[str, Any] = {"leaves": int(generator.leaves().codes.size)}
    for method in ("balanced", "independent"):
        distances = [distance(generator, generator.sample(SAMPLES, method=method, rng=run)) for run in range(RUNS)]
        found[method] = float(np.mean(distances)) * SAMPLES
    if name in LINES:
        found["bound"] = unbiased_lower_bound(generator)
    return found


def distance(generator: hp.Generator, samples: Any) -> float:
    """W1 with the domain scaled to 1: exact on the line, between masses on a grid of 64 x 64 in the plane."""
    domain = generator.plan.domain
    if isinstance(domain, hp.Interval):
        return hp.wasserstein(generator, samples) / domain.diameter(0)
    return hp.grid_wasserstein(generator, samples, cells=CELLS)


def unbiased_lower_bound(generator: hp.Generator) -> float:
    """Lower bound of the mean W1 x n of samples that are unbiased in every cell."""
    leaves = generator.leaves()
    ends = np.concatenate([[0.0], np.cumsum(generator.probabilities)]) * SAMPLES
    widths = 2.0 ** -leaves.levels.astype(np.float64)
    gained = np.diff(ends)
    flat = gained < 1e-9
    steep = np.where(flat, 1.0, gained)
    rising = (_rounding(ends[1:]) - _rounding(ends[:-1])) / steep
    level = 2 * (ends[:-1] % 1) * (1 - ends[:-1] % 1)
    return float(widths @ np.where(flat, level, rising))


def _rounding(points: Floats) -> Floats:
    """Integral of 2 f (1 - f) from 0 to each point, where f is the fractional part."""
    whole, part = np.floor(points), points % 1
    return whole / 3 + part**2 - 2 / 3 * part**3

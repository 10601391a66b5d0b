"""How fast synthetic records are drawn, against filling an array with random numbers."""

import numpy as np

import privhp as hp
from benchmarks.ingest import skewed_mixture
from benchmarks.timing import best_seconds

SAMPLES = 1 << 18


def generator() -> hp.Generator:
    """A two-dimensional generator of some ten thousand leaves."""
    rng = np.random.default_rng(2)
    plan = hp.Plan.paper(hp.Box([(0, 1), (0, 1)]), epsilon=1, records=1e6, hot_cells=256, sketch_rows=4)
    summary = hp.Summary(plan)
    summary.update(skewed_mixture(500_000, 2, rng))
    summary.update(rng.random((500_000, 2)))
    return summary.release()


def measure() -> list[tuple[str, float, float | None]]:
    """Rows of (what, ratio, at least)."""
    made, rng, out = generator(), np.random.default_rng(3), np.empty((SAMPLES, 2))
    best = best_seconds(
        {
            "random": lambda: rng.random(out=out),
            "balanced, leaf order": lambda: made.sample(SAMPLES, shuffle=False, rng=rng),
            "independent, leaf order": lambda: made.sample(SAMPLES, method="independent", shuffle=False, rng=rng),
            "balanced, shuffled": lambda: made.sample(SAMPLES, rng=rng),
            "independent, shuffled": lambda: made.sample(SAMPLES, method="independent", rng=rng),
        }
    )
    least = {"leaf order": 3.0, "shuffled": 0.8}
    return [
        (f"2-D, {name} / rng.random(out=)", best["random"] / seconds, least[name.split(", ")[1]])
        for name, seconds in best.items()
        if name != "random"
    ]

"""How long a draw of exact noise takes, beside OpenDP and NumPy.

    python -m benchmarks.noise

Prints nanoseconds per draw at scales 10 and 600, and how many times faster
than OpenDP privhp is; it fails below 50 times. OpenDP is as exact as privhp.
NumPy's Laplace is in floating point and not private: it stands for what a draw
could cost.
"""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from benchmarks.timing import best_seconds
from privhp.noise import discrete_laplace

SCALES = (10, 600)
DRAWS = {"privhp": 1_000_000, "OpenDP": 20_000, "NumPy": 1_000_000}
LEAST_RATIO = 50


def nanoseconds_per_draw(scale: int) -> dict[str, float]:
    """What one draw takes in each library."""
    rng = np.random.default_rng()
    mechanism = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(scale))
    zeros = [0] * DRAWS["OpenDP"]
    seconds = best_seconds(
        {
            "privhp": lambda: discrete_laplace(DRAWS["privhp"], scale=Fraction(scale)),
            "OpenDP": lambda: mechanism(zeros),
            "NumPy": lambda: rng.laplace(scale=scale, size=DRAWS["NumPy"]),
        }
    )
    return {name: 1e9 * seconds[name] / draws for name, draws in DRAWS.items()}


def main() -> None:
    """Measure, print, and check the ratio to OpenDP."""
    dp.enable_features("contrib")
    print("ns per draw    privhp    OpenDP     NumPy    faster than OpenDP")
    for scale in SCALES:
        best = nanoseconds_per_draw(scale)
        ratio = best["OpenDP"] / best["privhp"]
        columns = "".join(f"{best[name]:10.1f}" for name in DRAWS)
        print(f"scale {scale:5d}{columns}{ratio:15.0f} times")
        assert ratio >= LEAST_RATIO, f"expected at least {LEAST_RATIO} times as fast as OpenDP, got {ratio:.0f}"


if __name__ == "__main__":
    main()

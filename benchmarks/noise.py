"""Speed of the exact noise sampler, relative to that of OpenDP."""

from fractions import Fraction

import opendp.prelude as dp

from benchmarks.timing import best_seconds
from privhp.collect.noise import discrete_laplace

DRAWS, FEW = 1_000_000, 20_000


def measure() -> list[tuple[str, float, float | None]]:
    """Rows of (name, ratio, minimum)."""
    dp.enable_features("contrib")
    return [(f"discrete Laplace of scale {scale} / OpenDP", ratio(scale), 80.0) for scale in (10, 600)]


def ratio(scale: int) -> float:
    """Ratio of the draws per second to those of OpenDP."""
    mechanism = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(scale))
    zeros = [0] * FEW
    best = best_seconds(
        {
            "privhp": lambda: discrete_laplace(DRAWS, scale=Fraction(scale)),
            "OpenDP": lambda: mechanism(zeros),
        },
        turns=15,
    )
    return (best["OpenDP"] / FEW) / (best["privhp"] / DRAWS)

"""Seeded data sets on [0, 1], from uniform to very skewed."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Sample = NDArray[np.float64]


def uniform(size: int, *, seed: int = 0) -> Sample:
    return np.random.default_rng(seed).random(size)


def gaussian_mixture(size: int, *, seed: int = 0) -> Sample:
    """Equal mixture of a narrow component at 0.3 and a wide one at 0.7."""
    rng = np.random.default_rng(seed)
    narrow = rng.random(size) < 0.5
    return np.clip(rng.normal(np.where(narrow, 0.3, 0.7), np.where(narrow, 0.02, 0.1)), 0.0, 1.0)


def lognormal(size: int, *, seed: int = 0) -> Sample:
    return np.clip(np.random.default_rng(seed).lognormal(-4.0, 1.0, size), 0.0, 1.0)


def zipf(size: int, *, seed: int = 0) -> Sample:
    """Zipf-distributed atoms on a grid of prime size."""
    atoms = 100_003
    return np.random.default_rng(seed).zipf(1.3, size) % atoms / atoms


DATASETS: dict[str, Callable[..., Sample]] = {
    "uniform": uniform,
    "gaussian mixture": gaussian_mixture,
    "lognormal": lognormal,
    "zipf": zipf,
}

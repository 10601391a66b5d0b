"""How far a generator is from real records. For evaluation only: the answers are NOT private.

Distances are computed from the generator's distribution, not from samples of it.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privhp.cells import Floats
from privhp.domains.batches import as_floats
from privhp.domains.numbers import Interval
from privhp.errors import DomainError, QueryError, RecordsError, described
from privhp.generator import Generator


def wasserstein(generator: Generator, records: ArrayLike) -> float:
    """Exact 1-Wasserstein distance between a generator over an `Interval` and real numbers. NOT private.

    The area between the two distribution functions: that of the generator is
    linear inside a leaf, that of the records a step function.
    """
    if not isinstance(generator, Generator):
        raise QueryError(f"expected a generator first and records second, got {described(generator)} first")
    domain = generator.plan.domain
    if not isinstance(domain, Interval) or domain.scale != "linear":
        raise DomainError(f"expected a generator over a linear Interval, got one over {domain!r}")
    real = np.sort(as_floats(records))
    if not real.size or not np.isfinite(real).all():
        raise RecordsError("expected at least one number, and finite ones only, to compare with")
    leaves = generator.leaves()
    edges = domain.low + leaves.codes * (domain.axis.width * 2.0 ** -leaves.levels.astype(np.float64))
    grid = np.unique(np.concatenate([edges, [domain.high], real]))
    steps = np.searchsorted(real, grid[:-1], side="right") / real.size
    ends = np.concatenate([[0.0], np.cumsum(generator.probabilities)])
    lines = np.interp(grid, np.concatenate([edges, [domain.high]]), ends)
    return float(_area(lines[:-1] - steps, lines[1:] - steps) @ np.diff(grid))


def _area(start: Floats, end: Floats) -> NDArray[Any]:
    """Mean absolute value of a linear function with the given values at its ends."""
    crossing = start * end < 0
    span = np.where(crossing, np.abs(start) + np.abs(end), 1.0)
    return np.where(crossing, (start**2 + end**2) / (2 * span), (np.abs(start) + np.abs(end)) / 2)

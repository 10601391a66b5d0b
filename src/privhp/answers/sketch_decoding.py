"""What a sketch says of many cells together.

The hash functions are public, so a table is a system of equations: each bucket
holds the counts of the cells that fall into it, a share of all other records,
and noise. Solving it for all candidates at once tells apart cells that collide,
which looking up one after the other cannot.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.answers.estimators import projected
from privhp.core.cells import Counts, Floats

STEPS = 40
"""Of the descent; each costs one look at every candidate."""


def decoded(
    table: Counts, buckets: NDArray[np.int64], parents: Floats, live: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Counts of the parts of some cells: non-negative, summing to their parents, and as the table has them.

    With them comes the variance of each.

    Least squares with a prior: parts of a cell are even but for deviations as
    large as they are. So where noise and collisions are larger than the parts,
    the parts stay even, and where they are smaller the table decides.

    Args:
        table: The sketch, rows of noisy buckets.
        buckets: Bucket of each candidate in each row, shape (rows, m, g).
        parents: Non-negative counts of the m cells.
        live: Which of their g parts can hold a record, shape (m, g).
    """
    parts = live / np.maximum(live.sum(axis=1, keepdims=True), 1)
    even = parents[:, None] * parts
    found, rows = even.copy(), table.shape[0]
    crowd = max(int(np.bincount(row.ravel(), minlength=table.shape[1]).max()) for row in buckets)
    for _ in range(STEPS):
        left = _residuals(table, buckets, found)
        variance = np.maximum(np.var(left, axis=1), 1.0).mean()
        pull = sum(row[places] for row, places in zip(left, buckets, strict=True)) / variance
        prior = 1.0 / np.maximum(even, 1.0) ** 2
        step = 1.0 / (rows * crowd / variance + prior)
        found = projected(parents, found + step * (pull - prior * (found - even)), np.ones(found.shape), live)
    return found, 1.0 / (rows / variance + prior)


def _residuals(table: Counts, buckets: NDArray[np.int64], found: Floats) -> Floats:
    """What the buckets hold beyond the candidates and an even share of all other records."""
    left = table.astype(np.float64)
    for row, places in zip(left, buckets, strict=True):
        row -= np.bincount(places.ravel(), weights=found.ravel(), minlength=row.size)
        row -= np.median(row)
    return left

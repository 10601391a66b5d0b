"""Counts of all candidate cells of a sketched level at once, by penalised least squares.

The hash functions are public, so a sketch is a system of linear equations: each
bucket holds the counts of the candidates hashed to it, a share of all other
records, and noise. Solving for all candidates together separates colliding
cells, which a lookup of one candidate after the other cannot.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.answers.constrained_inference import project_to_simplex
from privhp.core.cells import Counts, Floats

GRADIENT_STEPS = 40
"""Steps of the projected gradient descent; each visits every candidate once per row."""


def decode_sketch(
    table: Counts, buckets: NDArray[np.int64], parents: Floats, possible: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Estimates of the children of some cells from a sketch, and their variances.

    The estimates are non-negative and sum to the counts of their parents. They
    minimise the squared residuals of the buckets plus a Gaussian prior: the
    children of a cell share its count evenly, with a standard deviation of one
    even share. If noise and collisions exceed the even share, the prior
    dominates; otherwise the sketch does.

    Args:
        table: The sketch: rows of noisy buckets.
        buckets: Bucket of each candidate in each row, shape (rows, m, g).
        parents: Non-negative counts of the m parents.
        possible: Children that can hold a record, shape (m, g).
    """
    even = parents[:, None] * (possible / np.maximum(possible.sum(axis=1, keepdims=True), 1))
    estimates, rows = even.copy(), table.shape[0]
    most_collisions = max(int(np.bincount(row.ravel(), minlength=table.shape[1]).max()) for row in buckets)
    precision = 1.0 / np.maximum(even, 1.0) ** 2
    for _ in range(GRADIENT_STEPS):
        residuals = _bucket_residuals(table, buckets, estimates)
        variance = np.maximum(np.var(residuals, axis=1), 1.0).mean()
        gradient = sum(row[chosen] for row, chosen in zip(residuals, buckets, strict=True)) / variance
        step = 1.0 / (rows * most_collisions / variance + precision)
        moved = estimates + step * (gradient - precision * (estimates - even))
        estimates = project_to_simplex(parents, moved, np.ones(estimates.shape), possible)
    return estimates, 1.0 / (rows / variance + precision)


def _bucket_residuals(table: Counts, buckets: NDArray[np.int64], estimates: Floats) -> Floats:
    """Contents of the buckets less the candidates in them and the median bucket, which stands for all other records."""
    residuals = table.astype(np.float64)
    for row, chosen in zip(residuals, buckets, strict=True):
        row -= np.bincount(chosen.ravel(), weights=estimates.ravel(), minlength=row.size)
        row -= np.median(row)
    return residuals

"""What the noisy counts say together: the rules that make cells consistent with each other.

Takes counts and how far they can be trusted, gives counts; it knows nothing of
how they were measured. `share_out` is the paper's rule, from the root down.
`combined` and `projected` are the two passes of least squares: bottom-up each
cell is averaged with the sum of its parts, by inverse variance; top-down the
parts are moved, each in proportion to its variance, so that none is negative
and their sum is what their parent was found to be. In between `sparse_guess`
takes noise out of cells that are probably empty.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Floats

ROUNDS = 20
"""Of the search for the share of empty cells; it settles long before."""

NEGLIGIBLE = 0.01
"""Chance of being empty below which a cell is left as it is."""


def share_out(parents: Floats, estimates: Floats, live: NDArray[np.bool_]) -> Floats:
    """Counts of the children of each parent: non-negative, and summing to the parent's.

    Negative estimates are raised to 0, then all children of a parent change by
    the same amount so that their sum fits, none falling below 0. For two
    children this is Algorithm 3 of the paper; for more it is the nearest point
    of the simplex. A child that is not live can hold no record and gets 0.

    Args:
        parents: Non-negative counts of m parents.
        estimates: Estimates of their g children, shape (m, g).
        live: Which children can hold a record; each parent above 0 has one.
    """
    raised = np.where(live, np.maximum(estimates, 0.0), 0.0)
    return projected(parents, raised, np.ones(raised.shape), live)


def projected(parents: Floats, estimates: Floats, variances: Floats, live: NDArray[np.bool_]) -> Floats:
    """The nearest non-negative counts that sum to each parent's, by distances in standard deviations.

    Args:
        parents: Non-negative counts of m parents.
        estimates: Estimates of their g children, shape (m, g).
        variances: Variance of each estimate, above 0.
        live: Which children can hold a record, the others get 0; each parent above 0 has one.
    """
    variances = np.where(live, variances, 1.0)  # cells that can hold no record have no noise
    # Only differences matter: counted from the largest, whole numbers of any size leave nothing to round.
    steep = np.where(live, estimates / variances, -np.inf)
    top = steep.max(axis=1, keepdims=True)
    values = np.where(live, estimates - np.where(np.isfinite(top), top, 0.0) * variances, 0.0)
    order = np.argsort(-steep, axis=1, kind="stable")
    ranked, spread = np.take_along_axis(values, order, axis=1), np.take_along_axis(variances, order, axis=1)
    surplus = (np.cumsum(ranked, axis=1) - parents[:, None]) / np.cumsum(spread, axis=1)
    fits = (ranked > surplus * spread) & np.take_along_axis(live, order, axis=1)
    kept = np.maximum(fits.sum(axis=1), 1)
    change = np.take_along_axis(surplus, kept[:, None] - 1, axis=1)
    return np.where(live, np.maximum(values - change * variances, 0.0), 0.0)


def combined(own: Floats, own_variance: Floats, parts: Floats, parts_variance: Floats) -> tuple[Floats, Floats]:
    """Mean of what cells and their parts say of the same counts, by inverse variance, and its variance."""
    weight = parts_variance / (own_variance + parts_variance)
    return weight * own + (1.0 - weight) * parts, weight * own_variance


def sparse_guess(estimates: Floats, variances: Floats, live: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """What estimates say when many cells may be empty: posterior means and variances.

    A cell is empty with a chance that all cells together tell, or its count has
    any order of magnitude alike. Where records are everywhere the chance is 0
    and nothing changes; where most cells hold noise alone they are found empty,
    and what they seemed to hold goes to those that are not.

    Args:
        estimates: Estimates of the counts of cells.
        variances: Variance of each.
        live: Which can hold a record.
    """
    spread = np.where(live, np.sqrt(variances), 1.0)  # cells that can hold no record have no noise
    scale = spread / np.sqrt(2.0)
    largest = float(np.max(estimates[live] / spread[live], initial=2.0))
    faint = np.minimum(estimates - spread, 0.0)  # a count of a spread or more would hardly be seen as less
    filled = np.exp(np.minimum((np.abs(estimates) + faint) / scale, 700.0))
    odds = filled * 2.0 * scale / (np.maximum(estimates, spread) * np.log(largest))
    chance = 0.5
    for _ in range(ROUNDS):
        empty = chance / (chance + (1.0 - chance) * odds)
        chance = float((empty[live].sum() + 0.5) / (np.count_nonzero(live) + 1.0))
    raised = np.maximum(estimates, 0.0)
    means = np.where(empty > NEGLIGIBLE, (1.0 - empty) * raised, estimates)
    return means, (1.0 - empty) * variances + empty * (1.0 - empty) * raised**2 + NEGLIGIBLE * variances

"""What the noisy counts say together: the rule that makes children consistent with their parent.

Takes counts, gives counts; it knows nothing of how they were measured.
"""

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Floats


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
    # Only differences matter: counted from the largest, whole numbers of any size leave nothing to round.
    # A child that starts twice its parent's count below the largest stays at 0.
    values = np.where(live, raised - raised.max(axis=1, keepdims=True), -2.0 * parents[:, None] - 1.0)
    descending = -np.sort(-values, axis=1)
    surplus = (np.cumsum(descending, axis=1) - parents[:, None]) / np.arange(1, values.shape[1] + 1)
    kept = np.maximum((descending > surplus).sum(axis=1), 1)
    change = np.take_along_axis(surplus, kept[:, None] - 1, axis=1)
    return np.maximum(values - change, 0.0)

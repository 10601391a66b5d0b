"""How far the records of a leaf may be from even, given the unevenness of its side along an axis.

Records that are not spread evenly lie on a slope or on heaps. A slope has imbalances of
either sign at each cut, which become smaller with each. A heap is a number that
many records have: they are all inside a region or all outside.
"""

import math

import numpy as np

from privhp.core.cells import Floats


def slope_deviation(shares: Floats, unevenness: Floats) -> Floats:
    """Root mean square error of the share of a leaf in a region by imbalances of either sign at each cut.

    A half has the share h = (1 + D) / 2 of the records, with E[h] = 1 / 2 and E[h^2] = (1 + S) / 4.

    Args:
        shares: Share of each leaf's side in the region.
        unevenness: Mean squared imbalance S after 0, 1, 2 ... further cuts.
    """
    positions = shares * 2.0 ** np.arange(len(unevenness))[:, None] % 1.0
    weights = np.ones(unevenness.shape)
    weights[1:] = np.cumprod((1.0 + unevenness[:-1]) / 4.0, axis=0)
    squares = weights * unevenness * np.minimum(positions, 1.0 - positions) ** 2
    deviation: Floats = np.sqrt(squares.sum(axis=0))
    return deviation


def heap_deviation(shares: Floats, heaped: Floats) -> Floats:
    """Root mean square error of the share of a leaf in a region that ends at a heap, or just before one.

    People ask for ranges that end at values that occur. Of the records at such ends, P are on a heap that holds all
    records of the leaf. Of the others, those that heaps explain after one more cut are on a heap that holds all records
    of the half with the end, and so on. The heap is all inside or all outside; the larger error counts. An end
    between two values has none of them in its smallest cell.

    Args:
        shares: Share of each leaf's side in the region.
        heaped: Unevenness P by heaps after 0, 1, 2 ... further cuts, in increasing order.
    """
    cells = 2.0 ** np.arange(heaped.size)[:, None]
    ends, heaps = shares * cells, np.diff(heaped, prepend=0.0)[:, None]
    beyond, before = np.ceil(ends) - ends, ends - np.floor(ends)  # parts of the cell that holds the end
    largest = np.maximum(*((heaps * (part / cells) ** 2).sum(axis=0) for part in (beyond, before)))
    return np.where((shares > 0) & (shares < 1), np.sqrt(largest), 0.0)


def mean_deviation(unevenness: Floats) -> float:
    """Standard deviation of the mean of a leaf's records from that of the base measure, as a share of its width.

    An imbalance D of a cell moves its mean by D / 4 of the width; the cuts below it move the means of its halves, and
    may do so in the same direction. For values at the ends of cells 1.645 deviations exceed half the width.

    Args:
        unevenness: Unevenness S of the leaf's side after 0, 1, 2 ... further cuts.
    """
    variance, weight = 0.0, 1.0
    for own in unevenness.tolist():
        variance += weight * own
        weight *= (1.0 + own) / 4.0
    return math.sqrt(variance) / 4.0

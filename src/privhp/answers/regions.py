"""Which cells a region touches.

From the root down, only where the edge of the region runs through a cell: what
lies wholly inside or outside is not looked into. So the cost grows with the
cells on the edge, not with all that there are.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from typing import Any, NamedTuple

import numpy as np

from privhp.answers.histogram import Histogram, Places
from privhp.core.cells import Floats, descendants


class Touched(NamedTuple):
    """The part of a histogram that lies in a region.

    Args:
        first: Place of the first cell of each run of cells that lie wholly in it.
        after: Place after the last cell of each run.
        cut: Places of the cells that lie partly in it.
        shares: Which share of the measure of each of those does.
    """

    first: Places
    after: Places
    cut: Places
    shares: Floats

    def whole(self) -> Places:
        """Places of all cells that lie wholly in it."""
        lengths = self.after - self.first
        ends = np.cumsum(lengths)
        places: Places = np.arange(lengths.sum()) + np.repeat(self.first - (ends - lengths), lengths)
        return places


def touched(histogram: Histogram, region: Any, *, empty: bool = False) -> Touched:
    """The cells that lie in a region, wholly or partly; those without any probability only if asked for."""
    runs, cut, shares = [], [], []
    level, codes = 0, np.zeros(1, dtype=np.uint64)
    ends = np.array([[0], [histogram.codes.size]])
    while True:
        overlap = histogram.domain.overlap(region, codes, level=level)
        before, upto = histogram.before(ends)
        counts = (upto > before) | empty
        partly = (overlap > 0) & (overlap < 1) & counts
        single = histogram.levels[np.minimum(ends[0], histogram.codes.size - 1)] == level
        runs.append(ends[:, (overlap >= 1) & counts])
        cut.append(ends[0, partly & single])
        shares.append(overlap[partly & single])
        inner = partly & ~single
        if not inner.any():
            break
        level += 1
        codes = descendants(codes[inner], levels=1)
        middle = np.searchsorted(histogram.starts, codes[:, 1] << np.uint64(histogram.depth - level))
        codes = codes.ravel()
        ends = np.stack([_alternating(ends[0, inner], middle), _alternating(middle, ends[1, inner])])
    first, after = np.concatenate(runs, axis=1)
    return Touched(first, after, np.concatenate(cut), np.concatenate(shares))


def _alternating(one: Places, other: Places) -> Places:
    return np.stack([one, other], axis=1).ravel()


def mass_bounds(histogram: Histogram, region: Any) -> tuple[float, float]:
    """Probability of the cells that lie wholly in a region, and of all that it touches."""
    part = touched(histogram, region)
    inside = min(float((histogram.before(part.after) - histogram.before(part.first)).sum()), 1.0)
    return inside, min(inside + float(histogram.probabilities[part.cut].sum()), 1.0)


def mass(histogram: Histogram, region: Any) -> float:
    """Probability of a region."""
    part = touched(histogram, region)
    whole = float((histogram.before(part.after) - histogram.before(part.first)).sum())
    return min(whole + float(histogram.probabilities[part.cut] @ part.shares), 1.0)

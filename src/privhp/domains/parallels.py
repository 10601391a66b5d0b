"""The latitudes of a geographic domain: rows of cells, whose measure is area on the sphere."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from typing import Any

import numpy as np

from privhp.core.cells import Codes, Counts, Floats
from privhp.domains.decimal_lattice import LatticeAxis
from privhp.domains.grid import Axis
from privhp.domains.shares import ALMOST_ONE, MIN_SHARE, share_between
from privhp.domains.sphere import Zone
from privhp.domains.validation import round_inwards

Rows = tuple[Floats, Floats, Floats]
"""Units of height south of each row, degrees per unit, and degrees of the row."""


class Parallels:
    """Rows of cells between two latitudes.

    The values of a lattice share the latitudes between the poles in equal
    parts, and the measure of a value is the area of its part.

    Args:
        axis: The latitudes.
    """

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        low, high = axis.extent
        self._zone = Zone(max(low, -90.0), min(high, 90.0))
        self._height = self._zone.north - self._zone.south
        self._area = float(self._zone.areas(*self.rows(np.zeros(1, dtype=np.uint64), bits=0))[0])
        self._margin = self._height / axis.lattice.size / 2 if isinstance(axis, LatticeAxis) else axis.margin

    @property
    def mean_cosine(self) -> float:
        """Mean length of a degree of longitude, relative to a degree of latitude."""
        return self._area / math.radians(self._height)

    def rows(self, cells: Codes, *, bits: int) -> Rows:
        """The rows of cells."""
        before, units, count = self.axis.strips(cells, bits=bits)
        steps = np.full(cells.shape, self._height / count)
        return before, steps, units * steps

    def measure(self, cells: Codes, *, bits: int) -> Floats:
        """Share of the area that each row has."""
        return self._zone.areas(*self.rows(cells, bits=bits)) / self._area

    def within(self, south: float, north: float, cells: Codes, *, bits: int) -> Floats:
        """Share of each row's area between two latitudes."""
        first, last = self.axis.span(south, north, cells, bits=bits)
        touched = self.axis.within(south, north, cells, bits=bits) > 0
        share = share_between(*(self._area_below(own, cells, bits) for own in (first, last)))
        # Near a pole a small area may vanish in the rounding of a larger one.
        share = np.where(touched, np.maximum(share, MIN_SHARE), 0.0)
        return np.where((first > 0) | (last < 1), np.minimum(share, ALMOST_ONE), share)

    def _area_below(self, share: Floats, cells: Codes, bits: int) -> Floats:
        """Share of each row's area below a share of its height."""
        area = share.copy()
        partial = (share > 0) & (share < 1)
        before, steps, heights = self.rows(cells[partial], bits=bits)
        part, whole = (self._zone.areas(before, steps, own) for own in (share[partial] * heights, heights))
        area[partial] = part / whole
        return area

    def sample(self, shares: Floats, rows: Rows, *, times: Counts) -> Floats:
        """Latitude at each share of a row's area. Row i takes `times[i]` consecutive shares."""
        latitudes = self._zone.latitudes_at(shares, *rows, times=times)
        lowest, highest = (np.repeat(end, times) for end in self._inner_ends(rows))
        return self._to_values(np.clip(latitudes, lowest, highest, out=latitudes))

    def draw(
        self, south: float, north: float, cells: Codes, *, bits: int, shares: Floats, dtype: np.dtype[Any]
    ) -> Floats:
        """Latitude at a share of the area of each row between two latitudes."""
        span = self.axis.span(south, north, cells, bits=bits)
        lower, upper = (self._area_below(own, cells, bits) for own in span)
        rows, once = self.rows(cells, bits=bits), np.ones(cells.shape, dtype=np.int64)
        latitudes = self._zone.latitudes_at(lower + shares * (upper - lower), *rows, times=once)
        lowest, highest = self._inner_ends(rows)
        first, last = round_inwards(south, north, dtype)
        if isinstance(self.axis, LatticeAxis):
            first, last = (self._zone.south + (2 * end + 1) * self._margin for end in self.axis.between(south, north))
        return self._to_values(np.clip(np.clip(latitudes, lowest, highest), first, last))

    def _inner_ends(self, rows: Rows) -> tuple[Floats, Floats]:
        """Lowest and highest latitude that is drawn in each row."""
        before, steps, heights = rows
        lowest = self._zone.south + before * steps + self._margin
        return lowest, lowest + (heights - 2 * self._margin)

    def _to_values(self, latitudes: Floats) -> Floats:
        """Latitudes as they are or, on a lattice, the values in whose parts they lie."""
        if not isinstance(self.axis, LatticeAxis):
            return latitudes
        offsets = np.rint((latitudes - self._zone.south) / (2 * self._margin) - 0.5)
        return self.axis.lattice.values(offsets.astype(np.int64))

    def widest_angle(self, width: float, *, bits: int) -> float:
        """Largest angle in radians between two points of a row within `width` degrees of longitude, over all rows."""
        return Zone(*self.axis.bounds).widest_angle(width, self.axis.width * 2.0**-bits, self.axis.length(bits))

"""Areas and distances in a zone of the sphere, the part between two parallels.

A zone has rows of equal height in degrees. Near a pole rows are small and
latitudes are rounded, so computations use the distance to the poles, which is
exact there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from privhp.core.cells import Codes, Counts, Floats


class Zone(NamedTuple):
    """Part of a sphere between two latitudes in degrees.

    A row begins a number of units of `steps` degrees north of the southern
    latitude; the zone has a whole number of units.
    """

    south: float
    north: float

    def polar_distances(self, rows: Codes | Floats, steps: Floats) -> tuple[Floats, Floats]:
        """Degrees from the southern edge of each row to the south pole, and to the north pole."""
        beyond = np.rint((self.north - self.south) / steps) - rows
        return (90 + self.south) + rows * steps, (90 - self.north) + beyond * steps

    def areas(self, rows: Codes | Floats, steps: Floats, heights: Floats) -> Floats:
        """Area of each row up to a height in degrees above its southern edge; a hemisphere has area 1."""
        to_south, to_north = self.polar_distances(rows, steps)
        middle = np.minimum(to_south + heights / 2, to_north - heights / 2)
        area: Floats = 2 * np.sin(np.radians(middle)) * np.sin(np.radians(heights / 2))
        return area

    def latitudes_at(self, shares: Floats, rows: Floats, steps: Floats, heights: Floats, *, times: Counts) -> Floats:
        """Latitude below which each share of a row's area lies. Row i takes `times[i]` consecutive shares."""
        to_south, to_north = self.polar_distances(rows, steps)
        sides = []
        for near, far in ((to_south, to_south + heights), (to_north, to_north - heights)):
            # The area within a distance of the pole is proportional to the squared sine of half the distance.
            begin, end = (np.sin(np.radians(distance / 2)) ** 2 for distance in (near, far))
            area = np.repeat(end - begin, times)
            area *= shares
            area += np.repeat(begin, times)
            sides.append(np.sqrt(area, out=area))
        latitudes: Floats = np.arctan2(*sides)
        latitudes *= math.degrees(2)
        latitudes -= 90
        return latitudes

    def widest_angle(self, width: float, step: float, height: float) -> float:
        """Largest angle in radians between two points of a row within `width` degrees of longitude, over all rows.

        Rows begin every `step` degrees and are `height` degrees high, the last one
        up to the end of the zone. The row nearest to the equator attains it, or the
        one before it.
        """
        last = math.ceil((self.north - self.south - height) / step - 1e-9)
        row = min(max(math.floor(-self.south / step), 0), last)
        return max(self._angle(width, own * step, height) for own in {max(row - 1, 0), row})

    def _angle(self, width: float, start: float, height: float) -> float:
        """Largest angle in a row that begins some degrees north of the southern latitude."""
        beyond = max(self.north - self.south - start, 0.0)
        height = min(height, beyond)
        near = min((90 + self.south) + start, (90 - self.north) + beyond - height)
        return _widest_angle(*map(math.radians, (min(width, 180.0), near, near + height)))


def _widest_angle(width: float, near: float, far: float) -> float:
    """Largest angle in a rectangle between parallels at two distances from a pole, all in radians.

    Two points at the largest angle lie on the two side meridians, or 180
    degrees of longitude apart, and one of them is a corner. The other is a
    corner too, or the point nearest to the antipode of the first.
    """
    across, along = math.sin(width / 2) ** 2, math.cos(width / 2) ** 2
    largest = 0.0
    for corner in (near, far):
        opposite = math.atan2(-math.cos(width) * math.sin(corner), -math.cos(corner))
        for other in (near, far, min(max(opposite, near), far)):
            haversine = along * math.sin((corner - other) / 2) ** 2 + across * math.sin((corner + other) / 2) ** 2
            largest = max(largest, haversine)
    return 2 * math.asin(math.sqrt(min(largest, 1.0)))

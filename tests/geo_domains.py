"""Rectangles of longitude and latitude: large, small, at a pole and across the antimeridian."""

import numpy as np

from privhp import Geo
from privhp.core.cells import Codes

UK = Geo(-9, 49.8, 2, 61)
FIJI = Geo(170, -50, -170, -30)
DOMAINS = [
    Geo(),
    UK,
    FIJI,
    Geo(-74.3, 40.4, -73.6, 41),
    Geo(-180, 60, 180, 90),
    Geo(-180, -90, 180, -89.999999),
    Geo(180, -10, -170, 10),
    Geo(150, -10, 180, 10),
    Geo(-180, -10, -150, 10),
    Geo(10, 0, -10, 80),
    Geo(179.9999999, -1e-7, -179.9999999, 1e-7),
    Geo(100, 1e-13, 100.000000000001, 2e-13),
]


def all_cells(level: int) -> Codes:
    return np.arange(2**level, dtype=np.uint64)

"""Domains of numbers, points and addresses on which tests compare cells with definitions."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from privhp import Box, Domain, Integers, Interval, IPv4
from privhp.core.cells import OUTSIDE, Codes

DOMAINS: list[Domain] = [
    Interval(0, 1),
    Interval(-1, 1, outside="clamp"),
    Interval(0.1, 0.7),
    Interval(-1e6, 3e9, outside="clamp"),
    Interval(5, 5 + 2**-20),
    Interval(1e15, 1e15 + 1000),
    Interval(0, 1.7e308),
    Interval(1e-280, 3e-280),
    Interval(1, 1024, scale="log"),
    Interval(1e-9, 3, scale="log", outside="clamp"),
    Interval(1e-300, 1e300, scale="log"),
    Interval(5e-324, 1.7e308, scale="log"),
    Interval(1, 1.0001, scale="log"),
    Integers(0, 1),
    Integers(0, 2**20 - 1, outside="clamp"),
    Integers(-3, 3),
    Integers(7, 1006, outside="clamp"),
    Integers(2**60, 2**60 + 12),
    Integers(-(2**61), 2**61 - 1),
    Integers(-(2**61), 2**61 - 2),
    Integers(0, 3 * 2**59 + 1),
    Box([(0, 1)]),
    Box([(0, 1), (0, 1)]),
    Box([(-1, 1), (0, 1e-6), (5, 6)], outside="clamp"),
    Box([(0, 1), (-1e9, 1e9), (0, 1e-9), (1e6, 1e6 + 1)]),
    Box([(0, 2**index) for index in range(5)]),
    IPv4(),
]
ORDERED = [domain for domain in DOMAINS if domain.ordered]


def all_cells(level: int) -> Codes:
    return np.arange(2**level, dtype=np.uint64)


def log2_by_octave(number: float) -> Fraction:
    """Logarithm to base 2, interpolated linearly within each octave."""
    fraction, exponent = math.frexp(number)
    return exponent + 2 * Fraction(fraction) - 2


def sides_of(domain: Box, cell: int, level: int) -> list[tuple[float, float]]:
    """Sides of a cell of a box, computed by repeated splits of the longest side."""
    sides = [(Fraction(axis.low), Fraction(axis.high)) for axis in domain.axes]
    for step in f"{cell:0{level}b}"[:level]:
        lengths = [high - low for low, high in sides]
        longest = lengths.index(max(lengths))
        low, high = sides[longest]
        middle = (low + high) / 2
        sides[longest] = (low, middle) if step == "0" else (middle, high)
    return [(float(low), float(high)) for low, high in sides]


def cells_of(domain: Domain, records: Any, level: int | None = None) -> list[int | None]:
    codes = domain.encode(records, level=domain.depth if level is None else level)
    return [None if code == OUTSIDE else int(code) for code in codes]

"""Where a number lies between declared cuts, and which declared value a text is, in NumPy.

`src/native/finding.cpp` has the same functions compiled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.cells import Codes, Counts, Floats


class Stretches(NamedTuple):
    """A line cut at some knots, of which the first and the last are its ends, into stretches of equal length."""

    knots: Floats
    widths: Floats
    """How far it is from each knot to the next."""
    steps: float
    """How long the whole line is to be."""


class TextTable(NamedTuple):
    """Declared texts, as rows of characters, in a table in which no two of them meet."""

    declared: NDArray[np.uint32]
    columns: Counts
    """Characters that are mixed into a number, whose first bits are a place in the table."""
    factors: Codes
    """What each of these is multiplied by."""
    bits: int
    table: Counts
    """Which declared text may be meant."""


def lay_out(numbers: Floats, line: Stretches) -> Floats:
    """How far along the line each number lies, NaN for those beyond its ends."""
    inside = (numbers >= line.knots[0]) & (numbers <= line.knots[-1])
    numbers = np.where(inside, numbers, line.knots[0])
    place = np.searchsorted(line.knots[1:-1], numbers, side="right")
    share = (place + (numbers - line.knots[place]) / line.widths[place]) / line.widths.size
    return np.where(inside, share * line.steps, np.nan)


def slots_of(texts: NDArray[np.uint32], columns: Counts, factors: Codes, bits: int) -> Counts:
    """The place of each text in a table of 2**bits: some of its characters mixed."""
    mixed = np.zeros(len(texts), dtype=np.uint64)
    for column, factor in zip(columns.tolist(), factors, strict=True):
        mixed += texts[:, column] * factor
    return (mixed >> np.uint64(64 - bits)).view(np.int64)


def find_texts(texts: NDArray[np.uint32], known: TextTable, values: Codes, other: int) -> Codes:
    """The value of the declared text that each text is, or another; no declared text is given in more characters."""
    place = known.table.take(slots_of(texts, known.columns, known.factors, known.bits))  # faster than by brackets
    declared, given = (rows.view(f"U{rows.shape[1]}")[:, 0] for rows in (known.declared, texts))
    return np.where(declared.take(place) == given, values.take(place), np.uint64(other))

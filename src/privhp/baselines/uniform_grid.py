"""UGrid: a uniform grid in the plane, of Qardaji, Yang and Li, 2013, "Differentially private grids".

A grid of n epsilon / 10 cells, all with the whole budget. The grid is the level of
the domain with the nearest number of cells, a factor of at most 1.19 for each
side. Neighbouring relation: add-remove. Memory: one counter for each cell; a
grid that does not fit is replaced by the finest that does.
"""

import math

from privhp.baselines.cell_counts import CellCounts
from privhp.baselines.flat import measure_level
from privhp.baselines.mechanism import Mechanism
from privhp.baselines.memory import finest_level
from privhp.baselines.signed_histogram import SignedHistogram

RECORDS_PER_CELL = 10
"""The authors' constant: records of a cell in units of 1 / epsilon."""


def estimate(counts: CellCounts, mechanism: Mechanism, *, expected_records: int, memory: int) -> SignedHistogram:
    """Measure the grid that the number of records and epsilon call for."""
    cells = max(expected_records * float(mechanism.budget) / RECORDS_PER_CELL, 1.0)
    return measure_level(counts, mechanism, min(round(math.log2(cells)), finest_level(memory, counts.domain.depth)))

"""What is expected of a stream of records in a domain, whatever is measured.

The distribution of the records is unknown, so there are four streams:

- *smooth*: uniform over the domain;
- *clustered*: uniform over a sixteenth of it, one interval of a line or 40 regions;
- *sparse*: forty atoms;
- *uneven*: clustered, and uneven at all scales.
"""

import math
from collections.abc import Callable
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from privhp.domains.domain import Domain
from privhp.planning.tuning import Tuning, choose_tuning

Stream = Literal["smooth", "clustered", "sparse", "uneven"]
STREAMS: tuple[Stream, ...] = ("smooth", "clustered", "sparse", "uneven")

ATOMS = 40
"""Atoms of a sparse stream, and regions of a clustered stream outside lines."""

COVERED = {"smooth": 1.0, "clustered": 1 / 16, "sparse": 0.0, "uneven": 1 / 16}
"""Share of the domain that each stream covers."""

MIN_UNEVENNESS = {"uneven": 0.25}
"""Lower bound on the unevenness inside a cell: 0 for a uniform cell, 1 for a single atom."""

MEAN_ABS_NORMAL = math.sqrt(2.0 / math.pi)
"""Mean absolute value of a normal variable, in standard deviations."""


class Geometry(NamedTuple):
    """What the error depends on, of a domain.

    Args:
        diameters: Diameter of a cell at each level.
        is_line: Whether its values are on a line.
        is_table: Whether it has several columns.
        is_tree: Whether its values are codes or addresses with prefixes: they have one axis, which is no line.
    """

    diameters: tuple[float, ...]
    is_line: bool
    is_table: bool = False
    is_tree: bool = False

    @classmethod
    def of(cls, domain: Domain) -> "Geometry":
        """The geometry of a domain."""
        values, is_table = domain.columns[0].domain if len(domain.columns) == 1 else domain, len(domain.columns) > 1
        is_line = values.is_line or (values.nullable and values.inner.is_line)
        axes = values.inner.axis_cells(np.zeros(1, dtype=np.uint64), level=0)
        diameters = tuple(domain.diameter(level) for level in range(domain.depth + 1))
        return cls(diameters, is_line, is_table=is_table, is_tree=len(axes) == 1 and not is_line)

    @property
    def depth(self) -> int:
        """Deepest level."""
        return len(self.diameters) - 1

    @property
    def tuning(self) -> Tuning:
        """Tuning constants for this geometry."""
        return choose_tuning(self.diameters, is_line=self.is_line, is_table=self.is_table, is_tree=self.is_tree)

    def edge(self, level: int) -> float:
        """Length of the tree's edges between a level and its parent level: half the difference of the diameters."""
        return (self.diameters[level - 1] - self.diameters[level]) / 2.0


class Expected(NamedTuple):
    """What is expected of a stream in a domain, whatever is measured.

    Args:
        geometry: Geometry of the domain.
        tuning: Tuning constants of the geometry.
        records: Number of records.
        stream: Kind of stream.
        occupied: Cells of each level that hold records.
        signals: Squared difference of the halves of the cells above each level.
        edges: Length of the tree's edges above each level: half the difference of the diameters.
        resolution: Computes the error of the records inside the cells of a level; see `_resolution`.
    """

    geometry: Geometry
    tuning: Tuning
    records: float
    stream: Stream
    occupied: tuple[float, ...]
    signals: tuple[float, ...]
    edges: tuple[float, ...]
    resolution: Callable[[int], tuple[float, float]]


@lru_cache(maxsize=64)
def expect(geometry: Geometry, records: float, stream: Stream) -> Expected:
    """Expectations for a stream."""
    occupied = tuple(_occupied_cells(geometry.is_line, level, stream) for level in range(geometry.depth + 1))
    signals = [math.inf]
    for cells, halves in pairwise(occupied):
        unevenness = max(2.0 - halves / cells, MIN_UNEVENNESS.get(stream, 0.0) ** 2)
        signals.append(_split_signal(records / cells, math.sqrt(unevenness)))
    edges = (0.0, *(geometry.edge(level) for level in range(1, geometry.depth + 1)))
    resolution = cache(partial(_resolution, geometry, records, stream))
    return Expected(geometry, geometry.tuning, records, stream, occupied, tuple(signals), edges, resolution)


def _split_signal(records: float, unevenness: float) -> float:
    """Expected squared difference of the two halves of a cell."""
    return (unevenness * records) ** 2 + records


def _occupied_cells(is_line: bool, level: int, stream: Stream) -> float:
    """Expected number of cells of a level that hold records, for regions at uniformly random positions."""
    cells = 2.0**level
    regions = 1 if is_line and stream != "sparse" else ATOMS
    touched = 1.0 / cells + COVERED[stream] / regions
    return cells if stream == "smooth" or touched >= 1.0 else -cells * math.expm1(regions * math.log1p(-touched))


def _resolution(geometry: Geometry, n: float, stream: Stream, level: int) -> tuple[float, float]:
    """Distance between n records and their uniform spread over cells of a level, in records times distance.

    Returns:
        The sampling fluctuation of uniform records inside a cell, and the
        unevenness of records that cover a part of their cell.
    """
    if level >= geometry.depth:
        return 0.0, 0.0
    cells, least = _occupied_cells(geometry.is_line, level, stream), MIN_UNEVENNESS.get(stream, 0.0)
    if geometry.is_line:
        uncovered = max(1.0 - COVERED[stream] * 2.0**level / cells, least)
        width = geometry.diameters[0] * 2.0**-level
        fluctuation = 0.0 if stream == "sparse" else MEAN_ABS_NORMAL * math.sqrt(n * cells / 6.0) * width
        atoms = cells / ATOMS / 6.0 if cells < ATOMS else 1 / 6
        return fluctuation, MEAN_ABS_NORMAL * n * math.sqrt(atoms) * width * uncovered
    fluctuation = unevenness = 0.0
    for deeper in range(level + 1, geometry.depth + 1):
        children = _occupied_cells(geometry.is_line, deeper, stream)
        empty = max(1.0 - children / cells * 2.0 ** (level - deeper), least)
        unevenness += geometry.edge(deeper) * 2.0 * n * empty
        share = n / children
        if stream != "sparse":
            deviation = min(MEAN_ABS_NORMAL * math.sqrt(share / 2.0), 2.0 * share)
            fluctuation += geometry.edge(deeper) * children * deviation
            if share < 0.01:  # below, each record has a cell to itself
                return fluctuation + n * geometry.diameters[deeper], unevenness
    return fluctuation, unevenness

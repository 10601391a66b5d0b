"""Leaves of a line, divided along the slope that their neighbours show.

Where there is little data, leaves are wide, and the density changes inside them. A leaf that is fuller than one
neighbour and emptier than the other lies on their slope; the leaf at an end of the line lies on that of the next two.
Heaps show no slope. How far slopes hold is learned from pairs of leaves: they divide as their neighbours predict, or
not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.leaves import Leaves
from privhp.core.cells import Codes, Floats, by_level, descendants, domain_order
from privhp.domains.domain import Domain

MAX_HALVINGS = 3
"""Halvings of a leaf: eight parts differ from a linear density by less than one percent of the leaf's records."""

MAX_PARTS = 16_384
"""Leaves have no more parts than this. Slopes move less than the noise where there are as many leaves."""


class _Cells(NamedTuple):
    """Cells of a line, which extends over the base measure.

    Args:
        start: Start of each cell.
        end: End of each cell.
        records: Records of each cell.
    """

    start: Floats
    end: Floats
    records: Floats

    @property
    def width(self) -> Floats:
        """Base measure of each cell."""
        return self.end - self.start

    @property
    def density(self) -> Floats:
        """Records of each cell over its base measure."""
        return self.records / self.width

    def take(self, chosen: slice | NDArray[np.intp]) -> _Cells:
        """Some of the cells."""
        return _Cells(*(own[chosen] for own in self))

    def slopes_to(self, others: _Cells) -> Floats:
        """Change of the density from each cell to another one over the distance of their centres."""
        return 2.0 * (others.density - self.density) / (others.start + others.end - self.start - self.end)

    def inner_slopes(self, left: Floats, right: Floats) -> Floats:
        """Slope inside each cell by those to both sides: their mean, but at most twice the smaller.

        It is 0 in a cell that is fuller or emptier than both neighbours. No density becomes negative.
        """
        mean, least = np.abs(left + right) / 2.0, 2.0 * np.minimum(np.abs(left), np.abs(right))
        limited = np.minimum(np.minimum(mean, least), 2.0 * self.density / self.width)
        return np.where(left * right > 0.0, np.sign(left) * limited, 0.0)


def divide_along_slopes(leaves: Leaves, domain: Domain) -> Leaves:
    """The leaves, with parts in place of those that lie on a slope; the same leaves off lines.

    Args:
        leaves: Leaves of a release.
        domain: Their domain.
    """
    domain = domain.columns[0].domain if len(domain.columns) == 1 else domain
    halvings = min((MAX_PARTS // leaves.codes.size).bit_length() - 1, MAX_HALVINGS)
    if not domain.inner.is_line or halvings < 1:
        return leaves
    slopes = _leaf_slopes(leaves, domain)
    even, sloped = np.flatnonzero(slopes == 0.0), np.flatnonzero(slopes)
    parts = [(leaves.codes[even], leaves.levels[even], leaves.counts[even])]
    for level, chosen in by_level(leaves.levels[sloped]):
        here = sloped[chosen]
        finer = min(halvings, domain.depth - level)
        codes = descendants(leaves.codes[here], levels=finer)
        widths = domain.measure(codes.ravel(), level=level + finer).reshape(codes.shape)
        counts = _on_slope(leaves.counts[here, None], slopes[here, None], widths)
        parts.append((codes.ravel(), np.full(codes.size, level + finer), counts.ravel()))
    codes, levels, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = domain_order(codes, levels, depth=domain.depth)
    return Leaves(codes[order], levels[order], counts[order])


def _on_slope(counts: Floats, slopes: Floats, widths: Floats) -> Floats:
    """Records of the parts of cells in which the density is linear.

    Args:
        counts: Records of each of m cells, shape (m, 1).
        slopes: Slope of the density of each, shape (m, 1).
        widths: Base measure of its parts, shape (m, parts).
    """
    ends, width = np.cumsum(widths, axis=1), widths.sum(axis=1, keepdims=True)
    parts: Floats = np.maximum(counts * widths / width + slopes * widths * (ends - (widths + width) / 2.0), 0.0)
    return parts


def _leaf_slopes(leaves: Leaves, domain: Domain) -> Floats:
    """Slope of the density inside each leaf; 0 for null, where no record can be, and where neighbours show none."""
    widths, slopes = leaves.measure(domain), np.zeros(leaves.counts.shape)
    null = np.zeros(slopes.shape, dtype=np.bool_)
    for level, here in by_level(leaves.levels):
        null[here] = domain.split_null(leaves.codes[here], level=level)[0]
    line = np.flatnonzero((widths > 0) & ~null)
    if line.size > 2:
        ends = np.cumsum(widths[line])
        cells = _Cells(ends - widths[line], ends, leaves.counts[line])
        to_next = cells.take(slice(None, -1)).slopes_to(cells.take(slice(1, None)))
        inner = cells.inner_slopes(np.append(to_next[1], to_next), np.append(to_next, to_next[-2]))
        slopes[line] = inner * _share_that_holds(cells, leaves.codes[line], leaves.levels[line])
    return slopes


def _share_that_holds(cells: _Cells, codes: Codes, levels: NDArray[np.int64]) -> float:
    """Regression coefficient of how siblings differ on the difference that their neighbours predict, in [0, 1].

    Args:
        cells: Cells of a line.
        codes: Their codes.
        levels: Their levels.
    """
    siblings = (levels[1:-2] == levels[2:-1]) & (codes[1:-2] ^ codes[2:-1] == 1)
    before, first, second, after = (cells.take(np.flatnonzero(siblings) + place) for place in range(4))
    both = _Cells(first.start, second.end, first.records + second.records)
    predicted = both.inner_slopes(before.slopes_to(both), both.slopes_to(after)) * first.width * second.width
    found = 2.0 * (second.records - both.density * second.width)
    return float(np.clip(predicted @ found / max(float(predicted @ predicted), 1e-300), 0.0, 1.0))

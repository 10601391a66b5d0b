"""Errors of the cumulative probabilities of an ordered domain, from the leaves that hold the values.

At each level one cell holds a value: leaves before it are below the value, and a leaf that projects to it is below the
value in part. The masses at or below many values are sums over the levels, all computed at once.
"""

from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.histogram import sum_by_index
from privhp.answers.known_sides import SideRegion
from privhp.answers.nested_sides import NestedSides
from privhp.answers.projected_leaves import ProjectedLeaves
from privhp.answers.side_shares import cdf_parts, cdf_share, combine
from privhp.answers.standard_errors import CdfMasses, LeafShares
from privhp.core.cells import Codes, Floats, by_level
from privhp.domains.shares import product_share


class _HeldValues(NamedTuple):
    """Values that cells of one level hold, among the distinct cells that leaves project to.

    Args:
        positions: Position of each value among all values.
        values: The values.
        cells: Index of the cell that holds each value.
        codes: Code of this cell.
        level: Level of the cells.
    """

    positions: NDArray[np.intp]
    values: NDArray[Any]
    cells: NDArray[np.intp]
    codes: Codes
    level: int


class _SharesBelow(NamedTuple):
    """Shares of cells at or below the value that each holds, shape (groups, values).

    Args:
        share: Share of the records of each cell.
        deviation: Standard deviation of this share that all leaves of the cell have in common.
        scatter: Standard deviation of each leaf's own.
    """

    share: Floats
    deviation: Floats
    scatter: Floats


class _Sums:
    """Sums over the leaves for each of several values.

    Attributes:
        inside: Mass of the leaves below the value.
        touched: Mass of the leaves that hold values at or below it.
        above: Mass above the value in the leaves that hold it.
        deviation: Sum of the deviations that leaves share.
        variance: Variance by what each leaf has of its own.
    """

    def __init__(self, size: int) -> None:
        self.inside, self.touched, self.above, self.deviation, self.variance = np.zeros((5, size))

    def add_before(self, masses: Floats) -> None:
        """Add leaves before the cells that hold the values."""
        self.inside += masses
        self.touched += masses

    def add_held(self, positions: NDArray[np.intp], below: _SharesBelow, masses: Floats, squares: Floats) -> None:
        """Add leaves that hold the values at some positions.

        Args:
            positions: Position of each value.
            below: Shares of their cells at or below the value.
            masses: Mass of the leaves of each group in each cell.
            squares: Sum of the squared masses of these leaves.
        """
        touched = below.share > 0
        self.deviation[positions] += (masses * below.deviation * touched).sum(axis=0)
        self.variance[positions] += (squares * below.scatter**2 * touched).sum(axis=0)
        self.above[positions] += (masses * (1.0 - below.share)).sum(axis=0)
        self.inside[positions] += (masses * (below.share >= 1)).sum(axis=0)
        self.touched[positions] += (masses * touched).sum(axis=0)


class CumulativeErrors:
    """Errors of the cumulative probabilities of leaves that project to an ordered domain.

    Args:
        leaves: The leaves.
    """

    def __init__(self, leaves: ProjectedLeaves) -> None:
        self._leaves, self._domain = leaves, leaves.domain

    def shares(self, value: Any) -> LeafShares:
        """Shares of the leaves of the release at or below a value."""
        return self._leaves.cut_shares(partial(cdf_parts, self._domain, np.asarray([value])))

    def masses(self, values: NDArray[Any]) -> CdfMasses:
        """Masses at or below each value: of the cells before the one that holds it, and of a share of this one."""
        codes, levels, _ = self._leaves.cells
        sums, deepest = _Sums(values.size), int(levels.max())
        ends, divided = self._domain.encode(values, level=deepest), self._divided_below(values, deepest)
        for level in np.unique(levels)[::-1].tolist():
            here = slice(*np.searchsorted(levels, [level, level + 1]))
            holding = self._domain.encode(values, level=level)
            index = np.searchsorted(codes[here], holding)
            sums.add_before(self._masses_before(here, level)[index])
            found = np.flatnonzero(np.append(codes[here], 0)[index] == holding)
            found = found[index[found] < codes[here].size]
            held = _HeldValues(found, values[found], here.start + index[found], holding[found], level)
            masses, squares = (each[:, held.cells] for each in self._group_masses)
            below = self._shares_below(held, divided)
            if not divided:
                below = self._with_nested_cells(below, held, ends[found], sums.above[found])
            sums.add_held(found, below, masses, squares)
        return CdfMasses(np.sqrt(sums.deviation**2 + sums.variance), sums.inside, sums.touched)

    def _masses_before(self, here: slice, level: int) -> Floats:
        """Mass of the values before each of the distinct cells of a level, and before the end of the last one."""
        null = self._domain.split_null(self._leaves.cells[0][here], level=level)[0]
        return np.concatenate([[0.0], np.cumsum(np.where(null, 0.0, self._cell_masses[here]))])

    def _shares_below(self, held: _HeldValues, divided: dict[tuple[int, int], SideRegion]) -> _SharesBelow:
        """Shares of the cells at or below the values that they hold, along all axes."""
        groups, along = self._leaves.groups(self._leaves.line_axis)[0], []
        for part in cdf_parts(self._domain, held.values, held.codes, level=held.level):
            cells, cuts = self._domain.axis_cells(held.codes, level=held.level)[part.axis]
            dependent, errors = self._leaves.dependent_on(part.axis), self._leaves.axis_errors(part.axis)
            deviation, scatter = errors.deviations(cells, cuts, part.share, dependent)
            share = part.share
            if (part.axis, cuts) in divided:
                share, deviation = (each[:, held.positions] for each in divided[part.axis, cuts])
            along.append([np.broadcast_to(each, (groups, cells.size)) for each in (share, deviation, scatter)])
        shares, deviations, scatters = zip(*along, strict=True)
        return _SharesBelow(product_share(shares), *combine(shares, deviations, scatters))

    def _with_nested_cells(self, below: _SharesBelow, held: _HeldValues, ends: Codes, above: Floats) -> _SharesBelow:
        """The same shares with the errors that the leaves inside the cells show.

        Args:
            below: The shares.
            held: The values that the cells hold.
            ends: Code of the finest cell that would hold each value.
            above: Mass above each value in the leaves inside its cell that hold it.
        """
        mean = below.share[0]
        expected = self._nested_cells.errors_below(held.cells, ends, mean, above)
        return below._replace(deviation=np.maximum(below.deviation, expected * (mean < 1)))

    def _divided_below(self, values: NDArray[Any], deepest: int) -> dict[tuple[int, int], SideRegion]:
        """The part at or below each value of the sides that hold it, by axis and number of cuts, of divided axes."""
        leaves, inner, line = self._leaves, self._domain.inner, self._leaves.line_axis
        if line not in leaves.divisions:
            return {}
        dependent = leaves.dependent_on(line)

        def evenly(sides: Codes, cuts: int) -> SideRegion:
            share = cdf_share(inner, values, sides, level=cuts)
            return SideRegion(share, leaves.axis_errors(line).deviations(sides, cuts, share, dependent)[0])

        cuts = max(deepest - line, 0)  # leaves that are not cut may hold null and values
        found = leaves.divisions[line].regions_below(inner.encode(values, level=cuts), cuts, evenly, dependent)
        divided = {(line, cuts): own for cuts, own in found.items()}
        if self._domain.nullable:
            cut = partial(cdf_parts, self._domain, values[:1])
            known = leaves.known_regions(cut, 0, leaves.dependent_on(0))
            repeat = partial(np.repeat, repeats=values.size, axis=1)
            divided |= {(0, cuts): SideRegion(*map(repeat, own)) for cuts, own in known.items()}
        return divided

    @cached_property
    def _cell_masses(self) -> Floats:
        """Mass of the leaves that project to each distinct cell."""
        return np.bincount(self._leaves.cells[2], weights=self._leaves.counts) / self._leaves.total

    @cached_property
    def _group_masses(self) -> tuple[Floats, Floats]:
        """Mass of the leaves of each group that project to each distinct cell, and the sum of their squares."""
        (codes, _, cell_of_leaf), (groups, group) = self._leaves.cells, self._leaves.groups(self._leaves.line_axis)
        size, masses = codes.size, self._leaves.counts / self._leaves.total
        key = group * size + cell_of_leaf
        by_mass, by_square = (sum_by_index(key, each, groups * size) for each in (masses, masses**2))
        return by_mass.reshape(groups, size), by_square.reshape(groups, size)

    @cached_property
    def _nested_cells(self) -> NestedSides:
        """The distinct cells of an ordered domain, without null."""
        codes, levels, _ = self._leaves.cells
        null = np.concatenate(
            [self._domain.split_null(codes[here], level=level)[0] for level, here in by_level(levels)]
        )
        return NestedSides(codes, levels, np.where(null, 0.0, self._cell_masses))

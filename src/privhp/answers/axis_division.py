"""How the records of sides along one axis divide, as far as the release shows it.

The first half of a side holds a share of its records, pooled over all cells with this side. Sides
and their halves are a tree. Below its ends, the records of a side are spread by the base measure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privhp.answers.group_splits import Groups
from privhp.answers.histogram import sum_by_index
from privhp.answers.known_sides import Dependent, KnownSides, SideRegion
from privhp.core.cells import Codes, Floats, descendants
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn

Indices = NDArray[np.intp]

ALMOST_ALL = 1.0 - 1e-9
"""Share of the records of a group from which on a restriction holds them all, but for rounding."""


@dataclass(frozen=True)
class AxisDivision:
    """The known sides along one axis.

    Attributes:
        known: Known sides by the number of their cuts.
        group_of_leaf: Group of each leaf of the release.
        groups: The groups.
        dependence: Squared dependence of the axis on the columns of the groups, by group and number of cuts.
    """

    known: Mapping[int, KnownSides]
    group_of_leaf: Indices
    groups: Groups
    dependence: Floats

    @property
    def deepest(self) -> int:
        """Number of cuts of the finest halves of known sides."""
        return max(self.known, default=-1) + 1

    def of_leaves(self, codes: Codes, levels: NDArray[np.int64]) -> AxisDivision:
        """The same division with other leaves of the release."""
        return replace(self, group_of_leaf=self.groups.of_leaves(codes, levels))

    def project(self, domain: Domain, columns: Collection[TableColumn]) -> AxisDivision:
        """The same axis in the marginal over some columns of a table."""
        projected = {}
        for cuts, own in self.known.items():
            codes, levels = domain.project(own.codes, np.full(own.codes.shape, own.level), columns=columns)
            projected[cuts] = own._replace(codes=codes, level=int(levels[0]))
        return replace(self, known=projected)

    def limits(self, sides: Codes, cuts: int) -> Floats:
        """How far each group may divide otherwise than all records of some sides, by the finest known side around each.

        Args:
            sides: The sides.
            cuts: Number of their cuts.
        """
        limits, open_sides = np.ones((self.groups.size, sides.size)), np.ones(sides.shape, dtype=np.bool_)
        for above in range(cuts, -1, -1):
            known, index = self.find(sides >> np.uint64(cuts - above), above)
            chosen = open_sides[known]
            if chosen.any():
                limits[:, known[chosen]] = self.known[above].limit[:, index[chosen]]
                open_sides[known] = False
        return limits

    def are_whole(self, share: Floats, counts: Floats) -> NDArray[np.bool_]:
        """Whether a restriction holds each group as a whole or not at all.

        Args:
            share: Share of each leaf of the release that meets it.
            counts: Number of records of the leaf.
        """
        held, all_records = (
            sum_by_index(self.group_of_leaf, each, self.groups.size) for each in (counts * share, counts)
        )
        whole: NDArray[np.bool_] = (held <= 0) | (held >= ALMOST_ALL * all_records)
        return whole

    def find(self, sides: Codes, cuts: int) -> tuple[Indices, Indices]:
        """Positions of the known ones among sides with a number of cuts, and the index of each of these."""
        nothing = np.zeros(0, dtype=np.intp)
        return self.known[cuts].find(sides) if cuts in self.known else (nothing, nothing)

    def first_shares(self, sides: Codes, cuts: int, even: Floats, group: Indices) -> Floats:
        """Share of the records of each side in its first half; where the release does not show it, the given one.

        Args:
            sides: The sides.
            cuts: Number of their cuts.
            even: What holds where the release shows nothing.
            group: Group of the records of each.
        """
        shares, (known, index) = even.copy(), self.find(sides, cuts)
        if known.size:
            shares[known] = self.known[cuts].first[group[known], index]
        return shares

    def regions(self, evenly: Callable[[Codes, int], SideRegion], dependent: Dependent) -> dict[int, SideRegion]:
        """The part of the known sides in a region, by the number of their cuts, with a row for each group.

        Args:
            evenly: Computes the part of the sides of cells of a level whose records are spread evenly.
            dependent: Dependence on other columns that are restricted.
        """
        found: dict[int, SideRegion] = {}
        for cuts in sorted(self.known, reverse=True):
            own = self.known[cuts]
            below = self._all_groups(evenly(descendants(own.codes, levels=1).ravel(), own.level + 1))
            known, index = self.find(descendants(own.sides, levels=1).ravel(), cuts + 1)
            for each, finer in zip(below, found.get(cuts + 1, ()), strict=False):
                each[:, known] = finer[:, index]
            halves = SideRegion(*(own[:, ::2] for own in below)), SideRegion(*(own[:, 1::2] for own in below))
            even, by_split = evenly(own.codes, own.level), own.split_deviation(dependent, cuts)
            found[cuts] = own.join(halves, even.deviation, by_split)
        return found

    def regions_below(
        self, sides: Codes, deepest: int, evenly: Callable[[Codes, int], SideRegion], dependent: Dependent
    ) -> dict[int, SideRegion]:
        """The part at or below each of some values of the sides that hold it, by the number of their cuts.

        Args:
            sides: The finest side that holds each value.
            deepest: Number of its cuts.
            evenly: Computes the part of sides with a number of cuts whose records are spread evenly.
            dependent: Dependence on other columns that are restricted.
        """
        found = {deepest: self._all_groups(evenly(sides, deepest))}
        for cuts in range(deepest - 1, -1, -1):
            holding, halves = sides >> np.uint64(deepest - cuts), sides >> np.uint64(deepest - cuts - 1)
            even = evenly(holding, cuts)
            part, (known, index) = self._all_groups(even), self.find(holding, cuts)
            if known.size:
                inner_share, inner_deviation = (each[:, known] for each in found[cuts + 1])
                upper = halves[known] % np.uint64(2) > 0
                first = SideRegion(np.where(upper, 1.0, inner_share), np.where(upper, 0.0, inner_deviation))
                second = SideRegion(np.where(upper, inner_share, 0.0), np.where(upper, inner_deviation, 0.0))
                own = self.known[cuts].take(index)
                by_split = own.split_deviation(dependent, cuts)
                joined = own.join((first, second), even.deviation[..., known], by_split)
                part.share[:, known], part.deviation[:, known] = joined
            found[cuts] = part
        return found

    def mean_deviations(self, evenly: Floats, dependently: Floats, dependent: Dependent) -> dict[int, Floats]:
        """Standard deviation of the mean of the known sides' records, as a share of their width, by number of cuts.

        Args:
            evenly: The same of sides whose records are taken to be even, by the number of their cuts.
            dependently: That by the dependence on other columns, by group and number of cuts.
            dependent: Dependence on other columns that are restricted.
        """
        found: dict[int, Floats] = {}
        for cuts in sorted(self.known, reverse=True):
            own = self.known[cuts]
            limit = dependent.of(own.sides, cuts)
            even, finer = (np.maximum(evenly[each], limit * dependently[:, each, None]) for each in (cuts, cuts + 1))
            deviations = np.repeat(finer, 2, axis=1)
            known, index = self.find(descendants(own.sides, levels=1).ravel(), cuts + 1)
            if known.size:
                deviations[:, known] = found[cuts + 1][:, index]
            by_halves = own.first * deviations[:, ::2] + (1.0 - own.first) * deviations[:, 1::2]
            variance = (by_halves**2 + own.split_deviation(dependent, cuts) ** 2) / 4.0  # halves are half as wide
            found[cuts] = np.sqrt(own.mix(variance, even**2))
        return found

    def _all_groups(self, region: SideRegion) -> SideRegion:
        """A part that is the same in each group, or has a row for each, in rows of its own."""
        return SideRegion(*(np.array(np.broadcast_to(each, (self.groups.size, each.shape[-1]))) for each in region))


def halve(
    domain: Domain, codes: Codes, level: int, axis: int, division: AxisDivision | None, group: Indices
) -> tuple[Codes, Floats]:
    """Both halves of each cell, with the share of its records in each, shape (cells, 2).

    Args:
        domain: Domain of the cells.
        codes: The cells.
        level: Their level.
        axis: The axis along which they are cut.
        division: How the records divide along it; None for the base measure.
        group: Group of the records of each cell.
    """
    halves = descendants(codes, levels=1)
    measures = domain.measure(halves.ravel(), level=level + 1).reshape(halves.shape)
    first = measures[:, 0] / measures.sum(axis=1)
    if division is not None:
        possible = (measures > 0).all(axis=1)
        sides, cuts = domain.axis_cells(codes, level=level)[axis]
        first = np.where(possible, division.first_shares(sides, cuts, first, group), first)
    return halves, np.stack([first, 1.0 - first], axis=1)


class MovedShares:
    """Bounds on the share of records that a division moves from one side of a number to the other.

    Args:
        division: The division.
    """

    def __init__(self, division: AxisDivision) -> None:
        self._division, self._moved = division, dict[int, Floats]()
        for cuts in sorted(division.known, reverse=True):
            own = division.known[cuts]
            inside = np.zeros((division.groups.size, 2 * own.sides.size))
            known, index = division.find(descendants(own.sides, levels=1).ravel(), cuts + 1)
            if known.size:
                inside[:, known] = self._moved[cuts + 1][:, index]
            below = np.maximum(own.first * inside[:, ::2], (1.0 - own.first) * inside[:, 1::2])
            self._moved[cuts] = np.abs(own.first - own.even) + below

    def of(self, sides: Codes, cuts: int, group: Indices) -> Floats:
        """That of each side.

        Args:
            sides: The sides.
            cuts: Number of their cuts.
            group: Group of the records of each.
        """
        moved, (known, index) = np.zeros(sides.shape), self._division.find(sides, cuts)
        if known.size:
            moved[known] = self._moved[cuts][group[known], index]
        return moved

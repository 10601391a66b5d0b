"""How the records of sides along one axis divide, as far as the release shows it.

The first half of a side holds a share of its records, pooled over all cells with this side. Sides
and their halves are a tree. Below its ends, the records of a side are spread by the base measure.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.side_splits import SideSplits
from privhp.core.cells import Codes, Floats, descendants
from privhp.domains.domain import Domain
from privhp.domains.shares import ALMOST_ONE, MIN_SHARE
from privhp.domains.table_column import TableColumn

Indices = NDArray[np.intp]


class SideRegion(NamedTuple):
    """The part of sides along an axis that lies in a region.

    Args:
        share: Share of the records of each side.
        deviation: Standard deviation of this share that all leaves with the side have in common.
    """

    share: Floats
    deviation: Floats


class KnownSides(NamedTuple):
    """Sides with the same number of cuts of which the release shows how they divide.

    Args:
        sides: Code of each side along the axis, in increasing order.
        codes: A cell with this side.
        level: Level of these cells, which are cut next along the axis.
        even: Share of the base measure in the first half.
        first: Share of the records in the first half.
        deviation: Standard deviation of this share.
        shown: Share of the records that are in cells which show it.
    """

    sides: Codes
    codes: Codes
    level: int
    even: Floats
    first: Floats
    deviation: Floats
    shown: Floats

    @classmethod
    def of_splits(cls, splits: SideSplits, level: int, counts: Floats, *, counted: bool) -> KnownSides:
        """Posterior of pooled splits: an imbalance counts as far as all cells of a side share it.

        Cells that are not cut may differ from the others in the same direction, as much as cells do from each other. A
        sketch shrinks imbalances, so that they may be twice as large.

        Args:
            splits: The splits.
            level: Level of their cells.
            counts: Number of records of each side.
            counted: Whether the halves are counted, not decoded from a sketch.
        """
        noise = splits.variances + splits.own * splits.concentrations
        signal = splits.shared / (splits.shared + noise)
        unit = np.sqrt(splits.even * (1.0 - splits.even))
        first = np.clip(splits.even + unit * signal * splits.imbalances, 0.0, 1.0)
        spread = signal * noise + splits.own + (0.0 if counted else splits.imbalances**2)
        whole = np.maximum(counts, 1e-300)
        shown = np.clip(splits.counts, 0.0, whole) / whole
        return cls(splits.sides, splits.codes, level, splits.even, first, unit * np.sqrt(spread), shown)

    @classmethod
    def of_one_sided(cls, sides: Codes, cuts: int, codes: Codes, level: int, domain: Domain) -> KnownSides:
        """Those of some sides of which one half alone can hold records, such as a code that goes on with a digit.

        Args:
            sides: The sides, with repetitions.
            cuts: Number of their cuts.
            codes: A cell with each side.
            level: Level of these cells.
            domain: Domain of the axis.
        """
        sides, chosen = np.unique(sides, return_index=True)
        first, second = (domain.measure(descendants(sides, levels=1).ravel(), level=cuts + 1) > 0).reshape(-1, 2).T
        here = np.flatnonzero(first ^ second)
        share, nothing = first[here].astype(np.float64), np.zeros(here.size)
        return cls(sides[here], codes[chosen[here]], level, share, share, nothing, nothing + 1.0)

    def plus(self, others: KnownSides) -> KnownSides:
        """These sides and other ones of cells of the same level."""
        order = np.argsort(np.concatenate([self.sides, others.sides]))
        sides, codes = (np.concatenate(pair)[order] for pair in zip(self[:2], others[:2], strict=True))
        shares = (np.concatenate(pair)[order] for pair in zip(self[3:], others[3:], strict=True))
        return KnownSides(sides, codes, self.level, *shares)

    def find(self, sides: Codes) -> tuple[Indices, Indices]:
        """Positions of the known ones among some sides, and the index of each of these."""
        index = np.minimum(np.searchsorted(self.sides, sides), self.sides.size - 1)
        known = np.flatnonzero(self.sides[index] == sides)
        return known, index[known]

    def take(self, index: Indices) -> KnownSides:
        """The sides with these indices."""
        arrays = ("sides", "codes", "even", "first", "deviation", "shown")
        return self._replace(**{name: getattr(self, name)[index] for name in arrays})

    def split_deviation(self, dependence: float) -> Floats:
        """Standard deviation of the share of the records in the first half.

        Args:
            dependence: Squared dependence on other columns that are restricted, whose records may divide otherwise.
                Little of it moves records to either half; if the other columns decide it, all are in one half.
        """
        share, either = math.sqrt(dependence), np.sqrt(self.first * (1.0 - self.first))
        larger = np.where(self.even % 1.0 > 0, np.maximum(self.first, 1.0 - self.first), 0.0)
        deviation: Floats = np.maximum(self.deviation, share * ((1.0 - share) * either + share * larger))
        return deviation

    def join(self, first: SideRegion, second: SideRegion, even_deviation: Floats, dependence: float) -> SideRegion:
        """The part of the sides in a region, from those of their halves.

        The records of other cells may divide otherwise: they have the deviation of records that are taken to be even.
        If one half alone can hold records, the other is as that one.
        """
        first, second = (
            SideRegion(*(np.where(there, own, other) for own, other in zip(half, others, strict=True)))
            for half, others, there in ((first, second, self.even > 0), (second, first, self.even < 1))
        )
        mean = self.first * first.share + (1.0 - self.first) * second.share
        inner = np.clip(mean, MIN_SHARE, ALMOST_ONE)
        ends = first.share == second.share
        by_halves = self.first * first.deviation + (1.0 - self.first) * second.deviation
        by_split = self.split_deviation(dependence) * np.abs(first.share - second.share)
        variance = self.mix(by_halves**2 + by_split**2, even_deviation**2)
        return SideRegion(np.where(ends, first.share, inner), np.sqrt(variance))

    def mix(self, known: Floats, others: Floats | float) -> Floats:
        """Variance of the shares of sides; where few cells show them, mostly that of records which may be anywhere."""
        weight = (1.0 - self.shown) ** 2
        mean: Floats = (1.0 - weight) * known + weight * others
        return mean


class AxisDivision:
    """The known sides along one axis.

    Args:
        known: Known sides by the number of their cuts.
    """

    def __init__(self, known: Mapping[int, KnownSides]) -> None:
        self._known, self._moved = known, dict[int, Floats]()
        for cuts in sorted(known, reverse=True):
            own = known[cuts]
            halves = descendants(own.sides, levels=1)
            inside = self.moved(halves.ravel(), cuts + 1).reshape(halves.shape)
            below = np.maximum(own.first * inside[:, 0], (1.0 - own.first) * inside[:, 1])
            self._moved[cuts] = np.abs(own.first - own.even) + below

    @property
    def deepest(self) -> int:
        """Number of cuts of the finest halves of known sides."""
        return max(self._known, default=-1) + 1

    def project(self, domain: Domain, columns: Collection[TableColumn]) -> AxisDivision:
        """The same axis in the marginal over some columns of a table."""
        projected = {}
        for cuts, own in self._known.items():
            codes, levels = domain.project(own.codes, np.full(own.codes.shape, own.level), columns=columns)
            projected[cuts] = own._replace(codes=codes, level=int(levels[0]))
        return AxisDivision(projected)

    def find(self, sides: Codes, cuts: int) -> tuple[Indices, Indices]:
        """Positions of the known ones among sides with a number of cuts, and the index of each of these."""
        nothing = np.zeros(0, dtype=np.intp)
        return self._known[cuts].find(sides) if cuts in self._known else (nothing, nothing)

    def first_shares(self, sides: Codes, cuts: int, even: Floats) -> Floats:
        """Share of the records of each side in its first half; where the release does not show it, the given one."""
        shares, (known, index) = even.copy(), self.find(sides, cuts)
        if known.size:
            shares[known] = self._known[cuts].first[index]
        return shares

    def moved(self, sides: Codes, cuts: int) -> Floats:
        """Bound on the share of each side's records that the division moves from one side of a number to the other."""
        moved, (known, index) = np.zeros(sides.shape), self.find(sides, cuts)
        if known.size:
            moved[known] = self._moved[cuts][index]
        return moved

    def regions(self, evenly: Callable[[Codes, int], SideRegion], dependence: Floats) -> dict[int, SideRegion]:
        """The part of the known sides in a region, by the number of their cuts.

        Args:
            evenly: Computes the part of the sides of cells of a level whose records are spread evenly.
            dependence: Squared dependence on other columns that are restricted, by the number of cuts.
        """
        found: dict[int, SideRegion] = {}
        for cuts in sorted(self._known, reverse=True):
            own = self._known[cuts]
            shares, deviations = np.array(evenly(descendants(own.codes, levels=1).ravel(), own.level + 1))
            known, index = self.find(descendants(own.sides, levels=1).ravel(), cuts + 1)
            if known.size:
                shares[known], deviations[known] = found[cuts + 1].share[index], found[cuts + 1].deviation[index]
            first, second = (SideRegion(shares[half::2], deviations[half::2]) for half in (0, 1))
            found[cuts] = own.join(first, second, evenly(own.codes, own.level).deviation, dependence[cuts])
        return found

    def regions_below(
        self, sides: Codes, deepest: int, evenly: Callable[[Codes, int], SideRegion], dependence: Floats
    ) -> dict[int, SideRegion]:
        """The part at or below each of some values of the sides that hold it, by the number of their cuts.

        Args:
            sides: The finest side that holds each value.
            deepest: Number of its cuts.
            evenly: Computes the part of sides with a number of cuts whose records are spread evenly.
            dependence: Squared dependence on other columns that are restricted, by the number of cuts.
        """
        found = {deepest: evenly(sides, deepest)}
        for cuts in range(deepest - 1, -1, -1):
            holding, halves = sides >> np.uint64(deepest - cuts), sides >> np.uint64(deepest - cuts - 1)
            (share, deviation), (known, index) = evenly(holding, cuts), self.find(holding, cuts)
            if known.size:
                inner_share, inner_deviation = (each[known] for each in found[cuts + 1])
                upper = halves[known] % np.uint64(2) > 0
                first = SideRegion(np.where(upper, 1.0, inner_share), np.where(upper, 0.0, inner_deviation))
                second = SideRegion(np.where(upper, inner_share, 0.0), np.where(upper, inner_deviation, 0.0))
                own = self._known[cuts].take(index)
                share[known], deviation[known] = own.join(first, second, deviation[known], dependence[cuts])
            found[cuts] = SideRegion(share, deviation)
        return found

    def mean_deviations(self, evenly: Floats, dependence: Floats) -> dict[int, Floats]:
        """Standard deviation of the mean of the known sides' records, as a share of their width, by number of cuts.

        Args:
            evenly: The same of sides whose records are taken to be even, by the number of their cuts.
            dependence: Squared dependence on other columns that are restricted, by the number of cuts.
        """
        found: dict[int, Floats] = {}
        for cuts in sorted(self._known, reverse=True):
            own = self._known[cuts]
            deviations = np.full(2 * own.sides.size, evenly[cuts + 1])
            known, index = self.find(descendants(own.sides, levels=1).ravel(), cuts + 1)
            if known.size:
                deviations[known] = found[cuts + 1][index]
            by_halves = own.first * deviations[::2] + (1.0 - own.first) * deviations[1::2]
            by_split = own.split_deviation(dependence[cuts])
            variance = (by_halves**2 + by_split**2) / 4.0  # halves are half as wide, and half a width away
            found[cuts] = np.sqrt(own.mix(variance, evenly[cuts] ** 2))
        return found

"""Sides of which the release shows how their records divide, and the parts of them that lie in a region.

All cells with a side show its first half together. Cells of one group, such as a category of another column, may
show that the records of this group divide otherwise. So shares have a row for each group; the first row is for
cells without a group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.group_splits import GroupSplits
from privhp.answers.side_splits import SideSplits
from privhp.core.cells import Codes, Floats, descendants
from privhp.domains.domain import Domain
from privhp.domains.shares import ALMOST_ONE, MIN_SHARE

Indices = NDArray[np.intp]


class SideRegion(NamedTuple):
    """The part of sides along an axis that lies in a region, with a row for each group if groups differ.

    Args:
        share: Share of the records of each side.
        deviation: Standard deviation of this share that all leaves with the side have in common.
    """

    share: Floats
    deviation: Floats


class Dependent(NamedTuple):
    """Squared dependence of an axis on other columns that are restricted, by the number of its cuts.

    Args:
        on_groups: That on the columns of the groups, with a row for each group.
        on_others: That on all other columns.
        whole: Whether the restriction holds each group as a whole or not at all.
        limits: How far each group may divide otherwise than all records of some sides with a number of cuts, with a
            row for each group: those of the other groups must make up for it.
    """

    on_groups: Floats
    on_others: Floats
    whole: NDArray[np.bool_]
    limits: Callable[[Codes, int], Floats]

    @classmethod
    def without_groups(cls, on_others: Floats) -> Dependent:
        """That of an axis without groups."""
        return cls(
            np.zeros((1, on_others.size)),
            on_others,
            np.zeros(1, dtype=np.bool_),
            lambda sides, _: np.ones((1, sides.size)),
        )

    def of(self, sides: Codes, cuts: int) -> Floats:
        """How far the restricted records of each group may divide otherwise than all records of some sides."""
        return np.where(self.whole[:, None], self.limits(sides, cuts), 1.0)

    def further(self, sides: Codes, cuts: int, number: int) -> Floats:
        """That of some sides after 0, 1, 2 ... further cuts, shape (groups, number, sides)."""
        finer = np.minimum(np.arange(cuts, cuts + number), self.on_others.size - 1)
        on_groups = self.on_groups[:, finer, None] * self.of(sides, cuts)[:, None, :] ** 2
        dependence: Floats = np.maximum(on_groups, self.on_others[finer, None])
        return dependence


class KnownSides(NamedTuple):
    """Sides with the same number of cuts of which the release shows how they divide.

    Args:
        sides: Code of each side along the axis, in increasing order.
        codes: A cell with this side.
        level: Level of these cells, which are cut next along the axis.
        even: Share of the base measure in the first half.
        first: Share of the records in the first half, shape (groups, sides), as those below.
        deviation: Standard deviation of this share.
        shown: Share of the records that are in cells which show it.
        told: How far the share is that of the group, not of all records.
        limit: How far the group may divide otherwise, from 0, if the side has hardly any other records, to 1.
    """

    sides: Codes
    codes: Codes
    level: int
    even: Floats
    first: Floats
    deviation: Floats
    shown: Floats
    told: Floats
    limit: Floats

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
        rows = (first, unit * np.sqrt(spread), shown, np.zeros(first.shape), np.ones(first.shape))
        return cls(splits.sides, splits.codes, level, splits.even, *(own[None] for own in rows))

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
        rows = (share, nothing, nothing + 1.0, nothing, nothing + 1.0)
        return cls(sides[here], codes[chosen[here]], level, share, *(own[None] for own in rows))

    def plus(self, others: KnownSides) -> KnownSides:
        """These sides, and those of the others that are not among them, of cells of the same level without groups."""
        others = others.take(np.flatnonzero(~np.isin(others.sides, self.sides)))
        order = np.argsort(np.concatenate([self.sides, others.sides]))
        sides, codes = (np.concatenate(pair)[order] for pair in zip(self[:2], others[:2], strict=True))
        even, *rows = (np.concatenate(pair, axis=-1)[..., order] for pair in zip(self[3:], others[3:], strict=True))
        return KnownSides(sides, codes, self.level, even, *rows)

    def in_groups(self, groups: GroupSplits, records: Floats) -> KnownSides:
        """The same sides with a row for each group: its own share, as far as groups differ more than noise explains.

        Args:
            groups: How the sides divide in each group.
            records: Number of records of each side in each group.
        """
        told, others = groups.told, records.sum(axis=0) - records
        limit = np.ones(told.shape)
        np.divide(np.maximum(others, 0.0), records, out=limit, where=records > others)
        limit[0] = 1.0
        first = (1.0 - told) * self.first + told * groups.first
        deviation = np.sqrt((1.0 - told) * self.deviation**2 + told * groups.variance)
        shown = (1.0 - told) * self.shown + told * groups.shown
        return self._replace(first=first, deviation=deviation, shown=shown, told=told, limit=limit)

    def find(self, sides: Codes) -> tuple[Indices, Indices]:
        """Positions of the known ones among some sides, and the index of each of these."""
        index = np.minimum(np.searchsorted(self.sides, sides), self.sides.size - 1)
        known = np.flatnonzero(self.sides[index] == sides)
        return known, index[known]

    def take(self, index: Indices) -> KnownSides:
        """The sides with these indices."""
        sides, codes, level, *arrays = self
        return KnownSides(sides[index], codes[index], level, *(own[..., index] for own in arrays))

    def split_deviation(self, dependent: Dependent, cuts: int) -> Floats:
        """Standard deviation of the share of the records in the first half.

        The records of a region that restricts other columns may divide otherwise. Little dependence on these columns
        moves records to either half; if they decide it, all are in one half. What a group tells of its own records is
        no longer unknown.

        Args:
            dependent: Dependence on other columns that are restricted.
            cuts: Number of cuts of the sides.
        """
        unknown = np.where(dependent.whole[:, None], 1.0 - self.told, 1.0)
        on_groups = dependent.on_groups[:, cuts, None] * (dependent.of(self.sides, cuts) * unknown) ** 2
        share = np.sqrt(np.maximum(on_groups, dependent.on_others[cuts]))
        either = np.sqrt(self.first * (1.0 - self.first))
        larger = np.where(self.even % 1.0 > 0, np.maximum(self.first, 1.0 - self.first), 0.0)
        deviation: Floats = np.maximum(self.deviation, share * ((1.0 - share) * either + share * larger))
        return deviation

    def join(self, halves: tuple[SideRegion, SideRegion], even_deviation: Floats, by_split: Floats) -> SideRegion:
        """The part of the sides in a region, from those of their halves.

        The records of other cells may divide otherwise: they have the deviation of records that are taken to be even.
        If one half alone can hold records, the other is as that one.

        Args:
            halves: The part of the first and of the second halves.
            even_deviation: Deviation of records that are taken to be even.
            by_split: Standard deviation of the share of the records in the first half.
        """
        first, second = (
            SideRegion(*(np.where(there, own, other) for own, other in zip(half, others, strict=True)))
            for half, others, there in zip(halves, halves[::-1], (self.even > 0, self.even < 1), strict=True)
        )
        mean = self.first * first.share + (1.0 - self.first) * second.share
        inner = np.clip(mean, MIN_SHARE, ALMOST_ONE)
        ends = first.share == second.share
        by_halves = self.first * first.deviation + (1.0 - self.first) * second.deviation
        variance = self.mix(by_halves**2 + (by_split * np.abs(first.share - second.share)) ** 2, even_deviation**2)
        return SideRegion(np.where(ends, first.share, inner), np.sqrt(variance))

    def mix(self, known: Floats, others: Floats | float) -> Floats:
        """Variance of the shares of sides; where few cells show them, mostly that of records which may be anywhere."""
        weight = (1.0 - self.shown) ** 2
        mean: Floats = (1.0 - weight) * known + weight * others
        return mean

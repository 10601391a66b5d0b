"""How the records of wide leaves of a table divide along a column that is measured by itself.

The column shows how all records of a side divide. Narrower leaves show how many of them they hold in
each half; the others are in leaves as wide as the side.
"""

import numpy as np

from privhp.answers.hierarchy import Hierarchy
from privhp.answers.histogram import sum_by_index
from privhp.answers.leaves import Leaves
from privhp.answers.side_splits import LevelSplits, SideSplits, Splits, learn_splits, pool_splits
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain


class ColumnSplits:
    """Splits of the records that a column has and narrower leaves do not.

    Args:
        hierarchy: The solved hierarchy of the column.
        label: Label of the column.
        domain: The table.
        leaves: Leaves of the table.
        variance: Mean variance of the count of a leaf.
    """

    def __init__(self, hierarchy: Hierarchy, label: str, domain: Domain, leaves: Leaves, *, variance: float) -> None:
        (self._column,) = (column for column in domain.columns if column.label == label)
        self._domain, self._counts, self._variance = domain, leaves.counts, variance
        self._codes, self._levels = domain.project(leaves.codes, leaves.levels, columns=[self._column])
        self._splits = learn_splits(hierarchy, self._column.domain)
        total = float(hierarchy.layers[0].estimate.sum())
        self._scale = float(leaves.counts.sum()) / total if total > 0 else 0.0

    def pool(self, axis: int, level: int, *, own: float) -> SideSplits | None:
        """Splits of the sides of the cells of a level of the table, which is cut along the column next.

        None if the column shows none.

        Args:
            axis: Axis along which the level is cut.
            level: The level.
            own: Mean square of each cell's own imbalance, which a column by itself does not show.
        """
        cuts, found = self._find(level)
        if found is None or found.cells is None:
            return None
        order = np.argsort(found.cells.codes)
        codes: Codes = found.cells.codes[order]
        first, counts, variances = (each[order] for each in found.cells[1:])
        (narrow, others), number = self._narrower(codes, cuts)
        rest = Splits(
            self._domain.embed(codes, level=level, column=self._column),
            self._scale * first - narrow,
            self._scale * counts - narrow - others,
            self._scale**2 * variances + number * self._variance,
        )
        pooled = pool_splits(self._domain, axis, level, rest.significant)
        return None if pooled is None else pooled._replace(own=own, concentrations=np.zeros(pooled.counts.shape))

    def cells(self, level: int) -> Codes:
        """Cells of a level of the table whose sides the column divides."""
        _, found = self._find(level)
        if found is None or found.cells is None:
            return np.zeros(0, dtype=np.uint64)
        return self._domain.embed(found.cells.significant.codes, level=level, column=self._column)

    def is_counted(self, level: int) -> bool:
        """Whether the halves of the sides of a level are counted, not decoded from a sketch."""
        _, found = self._find(level)
        return found is not None and found.counted

    def _find(self, level: int) -> tuple[int, LevelSplits | None]:
        """Number of cuts of the column at a level of the table, and the splits of its cells."""
        cuts = self._domain.splits_by_column(level)[self._column.label]
        return cuts, self._splits[cuts] if cuts < len(self._splits) else None

    def _narrower(self, codes: Codes, cuts: int) -> tuple[Floats, Floats]:
        """Records of narrower leaves in both halves of each side, and the number of these leaves."""
        narrower = np.flatnonzero(self._levels > cuts)
        half = self._codes[narrower] >> (self._levels[narrower] - cuts - 1).astype(np.uint64)
        index = np.minimum(np.searchsorted(codes, half >> np.uint64(1)), codes.size - 1)
        inside = codes[index] == half >> np.uint64(1)
        places = (2 * index + (half & np.uint64(1)).astype(np.int64))[inside]
        records, numbers = (
            sum_by_index(places, each[inside], 2 * codes.size).reshape(-1, 2).T
            for each in (self._counts[narrower], np.ones(narrower.size))
        )
        return records, numbers.sum(axis=0)

"""The parts of the leaves of a release: what a leaf is divided into, with the share of its records in each."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.histogram import sum_by_index
from privhp.answers.leaf_numbers import LeafNumbers, leaf_numbers
from privhp.answers.leaves import Leaves
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.domains.table_column import TableColumn


class Parts(NamedTuple):
    """Parts of leaves, as cells of a domain that the leaves project to.

    Args:
        codes: Cell of each part.
        levels: Level of the cell.
        leaf: Index of the leaf that the part lies in, in increasing order.
        share: Share of the leaf's records in it.
    """

    codes: Codes
    levels: NDArray[np.int64]
    leaf: NDArray[np.intp]
    share: Floats

    @classmethod
    def of_leaves(cls, divided: Leaves, domain: Domain, codes: Codes, levels: NDArray[np.int64]) -> Parts:
        """Parts of leaves, all in the order of the domain. Without a record, a leaf is divided by the base measure.

        Args:
            divided: The parts with their counts.
            domain: Their domain.
            codes: Code of each leaf.
            levels: Level of each leaf.
        """
        depth = int(divided.levels.max())
        starts, own = (
            each << (depth - level).astype(np.uint64)
            for each, level in ((codes, levels), (divided.codes, divided.levels))
        )
        leaf = np.searchsorted(starts, own, side="right") - 1
        counts = sum_by_index(leaf, divided.counts, codes.size)[leaf]
        measures = divided.measure(domain)
        totals = sum_by_index(leaf, measures, codes.size)[leaf]
        even = measures / np.where(totals > 0, totals, 1.0)
        share = np.where(counts > 0, divided.counts / np.where(counts > 0, counts, 1.0), even)
        return cls(divided.codes, divided.levels, leaf, share)

    def project(self, domain: Domain, columns: Collection[TableColumn]) -> Parts:
        """The parts as cells of some columns of a table."""
        codes, levels = domain.project(self.codes, self.levels, columns=columns)
        return self._replace(codes=codes, levels=levels)

    def refine(self, leaves: LeafNumbers, domain: Domain) -> LeafNumbers:
        """The numbers of leaves along a line, with the mean and the variance of their parts."""
        first = np.uint64(1) << self.levels.astype(np.uint64)
        _, chosen, cell = np.unique(first | self.codes, return_index=True, return_inverse=True)
        parts, size = leaf_numbers(domain, self.codes[chosen], self.levels[chosen]).take(cell), leaves.mean.size
        present = sum_by_index(self.leaf, self.share * parts.present, size)
        weights = self.share * parts.present / np.where(present > 0, present, 1.0)[self.leaf]
        mean = sum_by_index(self.leaf, weights * parts.mean, size)
        within = parts.variance + (parts.mean - mean[self.leaf]) ** 2
        return LeafNumbers(present, mean, sum_by_index(self.leaf, weights * within, size), leaves.width)

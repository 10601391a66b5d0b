"""Allocation of sample records to cells: a count for each cell, or a cell for each record."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts

Indices = NDArray[np.int64]


class _RecordOrder:
    """Cell and rank of each record of a sample, in the order of the cells; computed on first use."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    @cached_property
    def size(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def owner(self) -> Indices:
        return np.repeat(np.arange(self.counts.size), self.counts)

    @cached_property
    def ranks(self) -> Indices:
        return np.arange(self.size) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)


class Allocation:
    """Number of records in each cell. The records of a sample are in the order of the cells.

    Args:
        codes: Code of each cell.
        levels: Level of each cell.
        counts: Number of records in each cell.
    """

    __slots__ = ("_order", "codes", "levels")

    def __init__(self, codes: Codes, levels: Counts, counts: Counts) -> None:
        self.codes, self.levels, self._order = codes, levels, _RecordOrder(counts)

    @classmethod
    def one_each(cls, codes: Codes, levels: Counts) -> Allocation:
        """One record in each cell."""
        return cls(codes, levels, np.ones(codes.shape, dtype=np.int64))

    def with_cells(self, codes: Codes, levels: Counts) -> Allocation:
        """The same number of records in each of other cells, such as the cells of one column."""
        other = Allocation(codes, levels, self.counts)
        other._order = self._order  # computed once for all columns
        return other

    @property
    def counts(self) -> Counts:
        """Number of records in each cell."""
        return self._order.counts

    @property
    def size(self) -> int:
        """Number of records."""
        return self._order.size

    @property
    def owner(self) -> Indices:
        """Index of each record's cell."""
        return self._order.owner

    @property
    def ranks(self) -> Indices:
        """Rank of each record within its cell, from 0."""
        return self._order.ranks

    def draws(self) -> CellDraws:
        """The same records, each with the index of its cell."""
        return CellDraws(self.codes, self.levels, self.owner)


class CellDraws:
    """The cell of each record, as an index into a list of cells. Records are in any order.

    Args:
        codes: Code of each cell.
        levels: Level of each cell.
        indices: Index of each record's cell.
    """

    __slots__ = ("codes", "indices", "levels")

    def __init__(self, codes: Codes, levels: Counts, indices: Indices) -> None:
        self.codes, self.levels, self.indices = codes, levels, indices

    @property
    def size(self) -> int:
        """Number of records."""
        return self.indices.size

    def one_each(self) -> Allocation:
        """One record in each cell, where a cell is listed once per record."""
        return Allocation.one_each(self.codes[self.indices], self.levels[self.indices])


def store_records(records: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    """Copy records into `out`, if given, unless they are there already; the array that holds them."""
    if out is None:
        return records
    if not np.may_share_memory(records, out):
        out[...] = records
    return out

"""Domains whose records are numbered, so that each cell is a range of integers. Samples are exact."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws, store_records
from privhp.core.cells import Codes, Counts, Floats
from privhp.domains.domain import Domain
from privhp.domains.shares import ALMOST_ONE


class AlignedRanges:
    """Cells of the numbers from 0 to `size` - 1: aligned ranges of 2**k numbers, cut off after the last number.

    The deepest cells are single numbers. Cells past the last number are empty.
    """

    def __init__(self, size: int) -> None:
        self.size, self.depth = size, (size - 1).bit_length()

    def ranges(self, cells: Codes, bits: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        """First number and length of each cell."""
        shift = np.asarray(self.depth - bits, dtype=np.int64)
        starts = np.minimum(cells.astype(np.int64) << shift, self.size)
        return starts, np.minimum(self.size - starts, np.int64(1) << shift)

    def largest(self, bits: int) -> int:
        """Length of the longest cell."""
        return min(1 << (self.depth - bits), self.size)

    def measure(self, cells: Codes, bits: int) -> Floats:
        """Share of the numbers that each cell holds."""
        return self.ranges(cells, bits)[1] / self.size

    def within(self, first: int, last: int, cells: Codes, bits: int) -> tuple[Counts, Counts]:
        """First number of each cell from `first` on, and the one after its last number up to `last`; they may cross."""
        starts, lengths = self.ranges(cells, bits)
        ends = [min(max(end, 0), self.size) for end in (first, last + 1)]
        return np.clip(ends[0], starts, starts + lengths), np.clip(ends[1], starts, starts + lengths)

    def share_within(self, first: int, last: int, cells: Codes, bits: int) -> Floats:
        """Share of each cell's numbers from `first` to `last`; 0 if `first` exceeds `last`."""
        begin, after = self.within(first, last, cells, bits)
        inside, lengths = np.maximum(after - begin, 0), self.ranges(cells, bits)[1]
        share: Floats = np.where(inside < lengths, np.minimum(inside / np.maximum(lengths, 1), ALMOST_ONE), inside > 0)
        return share

    def cdf(self, numbers: Counts, cells: Codes, bits: int) -> Floats:
        """Share of the i-th cell at or below the i-th number, which is -1 or more."""
        starts, lengths = self.ranges(cells, bits)
        share: Floats = np.clip(numbers + 1 - starts, 0, lengths) / np.maximum(lengths, 1)
        return share

    def quantile(self, shares: Floats, cells: Codes, bits: int) -> Counts:
        """Smallest number of the i-th cell with the i-th share of the cell at or below it."""
        starts, lengths = self.ranges(cells, bits)
        sizes = np.maximum(lengths, 1)
        ranks = np.ceil(shares * sizes).astype(np.int64)
        # The product is rounded; these two lines restore the smallest rank whose share suffices.
        ranks -= (ranks - 1) / sizes >= shares
        ranks += ranks / sizes < shares
        ranks = np.where(shares < 1, ranks, sizes)
        return starts + np.clip(ranks - 1, 0, sizes - 1)


class IntegerRangeDomain(Domain):
    """Domain of numbered records of equal measure. Draws are exact, without rounding."""

    @abstractmethod
    def _ranges(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        """Number of the first record of each cell, and count of its records."""

    @abstractmethod
    def _records_at(self, numbers: Counts) -> NDArray[Any]:
        """The records with these numbers."""

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        """A record drawn uniformly inside each cell."""
        firsts, lengths = self._ranges(codes, level)
        return self._records_at(firsts + rng.integers(0, np.maximum(lengths, 1)))

    def sample_allocation(
        self, allocation: Allocation, *, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample the allocated number of records in each cell; see `Domain.sample_allocation`.

        In a balanced sample the frequencies of the values of a cell differ by at most one.
        """
        if not balanced:
            return self.sample_cells(allocation.draws(), rng=rng, out=out)
        firsts, lengths = self._ranges(allocation.codes, allocation.levels)
        numbers = _systematic_offsets(lengths, allocation, rng)
        numbers += firsts[allocation.owner]
        return store_records(self._records_at(numbers), out)

    def sample_cells(
        self, draws: CellDraws, *, rng: np.random.Generator, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sample a record in the cell of each draw; see `Domain.sample_cells`."""
        firsts, lengths = self._ranges(draws.codes, draws.levels)
        numbers = rng.integers(0, lengths[draws.indices])
        numbers += firsts[draws.indices]
        return store_records(self._records_at(numbers), out)


def _systematic_offsets(lengths: Counts, allocation: Allocation, rng: np.random.Generator) -> Counts:
    """Offset of the k-th of n records in a range of l numbers: floor((k l + s) / n), with a random s below l.

    Over all k and s, k l + s takes every value below n l once, so all numbers
    are equally likely. Quotients and remainders by n keep the products small.
    """
    cells, ranks = allocation.owner, allocation.ranks
    sizes = np.maximum(allocation.counts, 1)
    quotient, remainder = np.divmod(lengths, sizes)
    start, rest = np.divmod(rng.integers(0, lengths), sizes)
    offsets: Counts = ranks * quotient[cells]
    offsets += start[cells]
    carries = ranks * remainder[cells]
    carries += rest[cells]
    carries //= sizes[cells]
    offsets += carries
    return offsets

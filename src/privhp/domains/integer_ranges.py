"""Domains whose records are numbered, so that each cell is a range of integers. Samples are exact."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws, store_records
from privhp.core.cells import Codes, Counts
from privhp.domains.domain import Domain


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

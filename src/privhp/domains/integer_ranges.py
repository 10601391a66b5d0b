"""Domains whose records are numbered, each cell being a run of numbers: drawn or spread evenly in whole numbers."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Codes, Counts
from privhp.domains.domain import Domain


class RunDomain(Domain):
    """A domain of numbered records, all of the same measure. Nothing is rounded, and every draw is exact."""

    @abstractmethod
    def _runs(self, codes: Codes, levels: NDArray[np.int64] | int) -> tuple[Counts, Counts]:
        """Number of the first record in each cell, and how many there are."""

    @abstractmethod
    def _numbered(self, numbers: Counts) -> NDArray[Any]:
        """The records of these numbers."""

    def decode(self, codes: Codes, *, level: int, rng: np.random.Generator) -> NDArray[Any]:
        """A record drawn uniformly inside each cell."""
        firsts, lengths = self._runs(codes, level)
        return self._numbered(firsts + rng.integers(0, np.maximum(lengths, 1)))

    def populate(
        self,
        codes: Codes,
        levels: NDArray[np.int64],
        counts: Counts,
        *,
        even: bool,
        rng: np.random.Generator,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """As many records in each cell as are asked for, in the order of the cells; see `Domain.populate`.

        Spread evenly, every record of a cell comes equally often, to within one.
        """
        cells = np.repeat(np.arange(codes.size), counts)
        if not even:
            return self.scatter(codes, levels, cells, rng=rng, out=out)
        firsts, lengths = self._runs(codes, levels)
        ranks = np.arange(cells.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return _placed(self._numbered(firsts[cells] + _spread(lengths, counts, cells, ranks, rng)), out)

    def scatter(
        self,
        codes: Codes,
        levels: NDArray[np.int64],
        places: NDArray[np.int64],
        *,
        rng: np.random.Generator,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """A record in the cell at each of the places; see `Domain.scatter`."""
        firsts, lengths = self._runs(codes, levels)
        return _placed(self._numbered(firsts[places] + rng.integers(0, lengths[places])), out)


def _spread(
    lengths: Counts, counts: Counts, cells: NDArray[np.int64], ranks: NDArray[np.int64], rng: np.random.Generator
) -> Counts:
    """Offset of the k-th of n points in a run of l numbers: (k l + s) / n rounded down, with a random s below l.

    Over all k and s that takes every value below n l once, so each number has
    the same chance. Quotients and remainders by n keep the products small.
    """
    sizes = np.maximum(counts, 1)
    whole, part = np.divmod(lengths, sizes)
    start, rest = np.divmod(rng.integers(0, lengths), sizes)
    offsets: Counts = ranks * whole[cells] + start[cells]
    offsets += (ranks * part[cells] + rest[cells]) // sizes[cells]
    return offsets


def _placed(records: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    if out is None:
        return records
    out[...] = records
    return out

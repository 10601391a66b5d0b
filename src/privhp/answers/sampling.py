"""Samples of a histogram, of all of it or conditional on a region."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.answers.histogram import Histogram, cumulative
from privhp.answers.regions import cover
from privhp.core.allocation import Allocation, CellDraws, Indices
from privhp.core.cells import Codes, Counts, by_level
from privhp.domains.unions import parts_in
from privhp.errors import QueryError


class Sampler:
    """Samples records from a histogram."""

    def __init__(self, histogram: Histogram) -> None:
        self._domain, self._codes, self._levels = histogram.domain, histogram.codes, histogram.levels
        self._probabilities, self._ends = histogram.probabilities, histogram.ends

    def sample(
        self, size: int, *, balanced: bool, shuffle: bool, rng: np.random.Generator, out: NDArray[Any] | None
    ) -> NDArray[Any]:
        """Sample `size` records in the form of the domain's `decode`, into `out` if given."""
        if shuffle and not balanced:
            return self._sample_cells(kernels.draw_indices(self._table, size, rng), rng, out)
        counts = self._systematic_counts(size, rng) if balanced else self._multinomial_counts(size, rng)
        chosen = np.flatnonzero(counts)
        records = self._sample_counts(chosen, counts[chosen], balanced, rng, None if shuffle else out)
        return kernels.shuffle(records, rng, out=out) if shuffle else records

    def _sample_cells(self, indices: Indices, rng: np.random.Generator, out: NDArray[Any] | None) -> NDArray[Any]:
        """A record in the cell at each index."""
        return self._domain.sample_cells(CellDraws(self._codes, self._levels, indices), rng=rng, out=out)

    def _sample_counts(
        self, indices: Indices, counts: Counts, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None
    ) -> NDArray[Any]:
        """`counts[i]` records in the cell at `indices[i]`, in the order of the cells."""
        allocation = Allocation(self._codes[indices], self._levels[indices], counts)
        return self._domain.sample_allocation(allocation, balanced=balanced, rng=rng, out=out)

    def _systematic_counts(self, size: int, rng: np.random.Generator) -> Counts:
        """Counts of a systematic sample: the expected number of each cell, to within one."""
        ends = np.floor(self._ends * size + rng.random()).astype(np.int64)
        return np.diff(np.minimum(ends, size), prepend=0)

    def _multinomial_counts(self, size: int, rng: np.random.Generator) -> Counts:
        """Counts of independent draws.

        Independent Poisson counts are multinomial given their sum, and faster
        to draw. Their means leave out two standard deviations of the sum, so
        that the sum rarely exceeds `size`; the rest is drawn one by one.
        """
        means = self._probabilities * max(size - 2.0 * math.sqrt(size), 0.0)
        counts = rng.poisson(means)
        while counts.sum() > size:
            counts = rng.poisson(means)
        others = kernels.draw_indices(self._table, size - int(counts.sum()), rng)
        return counts + np.bincount(others, minlength=counts.size)

    @cached_property
    def _table(self) -> kernels.AliasTable:
        """Alias table of the cells' probabilities."""
        return kernels.build_alias_table(self._probabilities)


class RegionSampler(Sampler):
    """Samples records from a histogram conditional on a region."""

    def __init__(self, histogram: Histogram, region: Any) -> None:
        covered = cover(histogram, region)
        indices = np.concatenate([covered.boundary, covered.inside()])
        shares = np.concatenate([covered.shares, np.ones(indices.size - covered.boundary.size)])
        order = np.argsort(indices)
        indices, shares = indices[order], shares[order]
        masses = histogram.probabilities[indices] * shares
        self.mass = float(masses.sum())
        if not self.mass > 0:
            raise QueryError("the region has mass 0, so it cannot be sampled; check it with mass()")
        self._domain, self._codes, self._levels = histogram.domain, histogram.codes[indices], histogram.levels[indices]
        self._probabilities = masses / self.mass
        self._ends = cumulative(self._probabilities)
        self._region, self._boundary = region, shares < 1

    def _sample_cells(self, indices: Indices, rng: np.random.Generator, out: NDArray[Any] | None) -> NDArray[Any]:
        boundary = self._boundary[indices]
        records = self._empty_records(indices.size, rng, out)
        records[~boundary] = super()._sample_cells(indices[~boundary], rng, None)
        records[boundary] = self._sample_overlaps(indices[boundary], rng)
        return records

    def _sample_counts(
        self, indices: Indices, counts: Counts, balanced: bool, rng: np.random.Generator, out: NDArray[Any] | None
    ) -> NDArray[Any]:
        """Records of cells that lie only partly in the region are independent, in a balanced sample, too."""
        boundary = self._boundary[indices]
        in_cut = np.repeat(boundary, counts)
        records = self._empty_records(in_cut.size, rng, out)
        records[~in_cut] = super()._sample_counts(indices[~boundary], counts[~boundary], balanced, rng, None)
        records[in_cut] = self._sample_overlaps(np.repeat(indices[boundary], counts[boundary]), rng)
        return records

    def _empty_records(self, size: int, rng: np.random.Generator, out: NDArray[Any] | None) -> NDArray[Any]:
        """`out`, or a new array for `size` records."""
        if out is not None:
            return out
        like = self._domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)
        return np.empty((size, *like.shape[1:]), dtype=like.dtype)

    def _sample_overlaps(self, indices: Indices, rng: np.random.Generator) -> NDArray[Any]:
        """A record in the intersection of the region with the cell at each index."""
        records = self._empty_records(indices.size, rng, None)
        for level, chosen in by_level(self._levels[indices]):
            codes = self._codes[indices[chosen]]
            for part, own in self._draw_parts(codes, level, rng):
                records[chosen[own]] = self._domain.decode_within(part, codes[own], level=level, rng=rng)
        return records

    def _draw_parts(self, codes: Codes, level: int, rng: np.random.Generator) -> Iterator[tuple[Any, Indices]]:
        """Each part of the region, with the indices of the cells whose record is in it."""
        parts = parts_in(self._domain, self._region)
        if len(parts) == 1:
            yield parts[0], np.arange(codes.size)
            return
        ends = np.cumsum([self._domain.overlap(part, codes, level=level) for part in parts], axis=0)
        drawn = (rng.random(codes.size) * ends[-1] >= ends[:-1]).sum(axis=0)
        for number, part in enumerate(parts):
            yield part, np.flatnonzero(drawn == number)

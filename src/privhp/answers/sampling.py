"""Records drawn from a histogram, all of it or the part in a region."""

from __future__ import annotations  # numpy.random is only imported when something is sampled

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.histogram import Histogram, Places, cumulated
from privhp.answers.regions import touched
from privhp.core.cells import Counts
from privhp.errors import QueryError
from privhp.kernels import AliasTable, alias_table, draw
from privhp.kernels import shuffle as shuffled


class Sampler:
    """Draws records from a histogram."""

    def __init__(self, histogram: Histogram) -> None:
        self._domain, self._codes, self._levels = histogram.domain, histogram.codes, histogram.levels
        self._probabilities, self._ends = histogram.probabilities, histogram.ends

    def sample(
        self, size: int, *, even: bool, shuffle: bool, rng: np.random.Generator, out: NDArray[Any] | None
    ) -> NDArray[Any]:
        """So many records, as the domain's `decode` gives them, in an array if given."""
        if shuffle and not even:
            return self._scattered(draw(self._table, size, rng), rng, out)
        counts = self._even_counts(size, rng) if even else self._random_counts(size, rng)
        chosen = np.flatnonzero(counts)
        records = self._filled(chosen, counts[chosen], even, rng, None if shuffle else out)
        return shuffled(records, rng, out=out) if shuffle else records

    def _scattered(self, places: Places, rng: np.random.Generator, out: NDArray[Any] | None) -> NDArray[Any]:
        """A record in each of these cells."""
        return self._domain.scatter(self._codes, self._levels, places, rng=rng, out=out)

    def _filled(
        self, places: Places, counts: Counts, even: bool, rng: np.random.Generator, out: NDArray[Any] | None
    ) -> NDArray[Any]:
        """As many records in each of these cells as are asked for, in the order of the cells."""
        return self._domain.populate(self._codes[places], self._levels[places], counts, even=even, rng=rng, out=out)

    def _even_counts(self, size: int, rng: np.random.Generator) -> Counts:
        """How many of evenly spaced points fall on each cell: its expected number, to within one."""
        ends = np.floor(self._ends * size + rng.random()).astype(np.int64)
        return np.diff(np.minimum(ends, size), prepend=0)

    def _random_counts(self, size: int, rng: np.random.Generator) -> Counts:
        """How many of independent points fall on each cell.

        Most of them as Poisson numbers, which are drawn faster than a
        multinomial: given their sum, they are how that many independent points
        fall. The others one by one.
        """
        means = self._probabilities * max(size - 2.0 * math.sqrt(size), 0.0)  # so that the sum is rarely too large
        counts = rng.poisson(means)
        while counts.sum() > size:
            counts = rng.poisson(means)
        others = draw(self._table, size - int(counts.sum()), rng)
        return counts + np.bincount(others, minlength=counts.size)

    @cached_property
    def _table(self) -> AliasTable:
        """The cells, to draw them one at a time."""
        return alias_table(self._probabilities)


class RegionSampler(Sampler):
    """Draws records from the part of a histogram that lies in a region."""

    def __init__(self, histogram: Histogram, region: Any) -> None:
        part = touched(histogram, region)
        places = np.concatenate([part.cut, part.whole()])
        shares = np.concatenate([part.shares, np.ones(places.size - part.cut.size)])
        order = np.argsort(places)
        places, shares = places[order], shares[order]
        masses = histogram.probabilities[places] * shares
        self.mass = float(masses.sum())
        if not self.mass > 0:
            raise QueryError("expected a region with some probability to sample from, got one with none; ask mass()")
        self._domain, self._codes, self._levels = histogram.domain, histogram.codes[places], histogram.levels[places]
        self._probabilities = masses / self.mass
        self._ends = cumulated(self._probabilities)
        self._region, self._cut = region, shares < 1

    def _scattered(self, places: Places, rng: np.random.Generator, out: NDArray[Any] | None) -> NDArray[Any]:
        cut = self._cut[places]
        records = self._room(places.size, rng, out)
        records[~cut] = super()._scattered(places[~cut], rng, None)
        records[cut] = self._drawn(places[cut], rng)
        return records

    def _filled(
        self, places: Places, counts: Counts, even: bool, rng: np.random.Generator, out: NDArray[Any] | None
    ) -> NDArray[Any]:
        """In the cells that the region cuts, records are drawn one by one."""
        cut = self._cut[places]
        inside = np.repeat(cut, counts)
        records = self._room(inside.size, rng, out)
        records[~inside] = super()._filled(places[~cut], counts[~cut], even, rng, None)
        records[inside] = self._drawn(np.repeat(places[cut], counts[cut]), rng)
        return records

    def _room(self, size: int, rng: np.random.Generator, out: NDArray[Any] | None) -> NDArray[Any]:
        if out is not None:
            return out
        like = self._domain.decode(np.zeros(1, dtype=np.uint64), level=0, rng=rng)
        return np.empty((size, *like.shape[1:]), dtype=like.dtype)

    def _drawn(self, places: Places, rng: np.random.Generator) -> NDArray[Any]:
        """A record in the region's part of each of these cells."""
        records = self._room(places.size, rng, None)
        levels = self._levels[places]
        for level in np.unique(levels).tolist():
            chosen = np.flatnonzero(levels == level)
            codes = self._codes[places[chosen]]
            records[chosen] = self._domain.decode_within(self._region, codes, level=level, rng=rng)
        return records

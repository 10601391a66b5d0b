"""Points in grid cells, draws from a discrete distribution, and shuffles, in NumPy.

`src/native/point_sampling.cpp` holds the native kernel. The two draw samples of the
same distribution, but not the same samples.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws, Indices, store_records
from privhp.core.bits import BitPermutation
from privhp.core.cells import Codes, Counts, Floats


class CellSides(NamedTuple):
    """The sides of the cells of every level of a grid."""

    masks: Codes
    """Bit mask of each side in the codes of each level, shape (levels, d)."""
    low: Floats
    """Lower end of each side of the grid."""
    width: Floats
    """Length of each side of the grid."""
    margin: Floats
    """Distance of points from the edges of their cell, so that rounding cannot move them to another."""


class AliasTable(NamedTuple):
    """Walker's alias table of a discrete distribution.

    A draw picks an index uniformly, and keeps it with the index's own
    probability or takes its alias.
    """

    thresholds: Codes
    """Probability to keep each index, in units of 2**-64."""
    aliases: Indices


def sample_grid_allocation(
    allocation: Allocation, sides: CellSides, *, balanced: bool, rng: np.random.Generator, out: Floats | None = None
) -> Floats:
    """Points in cells of a grid, in the order of the cells, shape (n, d), in `out` if given.

    Independent points are uniform. In a balanced sample the first side of a
    cell is divided into as many slices as the cell has points, one point in
    each, and the other sides follow a rank-1 lattice with a random start for
    each cell, so that every point by itself is uniform, too.
    """
    if not balanced:
        return sample_grid_cells(allocation.draws(), sides, rng=rng, out=out)
    counts, owner, ranks = allocation.counts, allocation.owner, allocation.ranks
    points = np.empty((owner.size, sides.low.size))
    for side, step in enumerate(lattice_steps(sides.low.size)):
        base, span = _strips(allocation.codes, allocation.levels, sides, side)
        shares = rng.random(owner.size)
        if side == 0:
            shares = (ranks + shares) / counts[owner]
        else:
            jitter = shares * (counts[owner] ** (-1.0 / sides.low.size))
            start = rng.integers(0, 2**64, size=counts.size, dtype=np.uint64)
            shares = (((start[owner] + ranks.astype(np.uint64) * step) >> np.uint64(11)) * 2.0**-53 + jitter) % 1.0
        points[:, side] = base[owner] + shares * span[owner]
    return store_records(points, out)


def sample_grid_cells(
    draws: CellDraws, sides: CellSides, *, rng: np.random.Generator, out: Floats | None = None
) -> Floats:
    """A uniform point in the cell of each draw, shape (n, d), in `out` if given."""
    points = rng.random((draws.size, sides.low.size))
    for side, column in enumerate(points.T):
        base, span = _strips(draws.codes, draws.levels, sides, side)
        column *= span[draws.indices]
        column += base[draws.indices]
    return store_records(points, out)


def _strips(codes: Codes, levels: Counts, sides: CellSides, side: int) -> tuple[Floats, Floats]:
    """Lower end and length of one side of each cell, without its margins."""
    low, width, margin = sides.low[side], sides.width[side], sides.margin[side]
    base, span = np.empty(codes.shape), np.empty(codes.shape)
    for level in np.unique(levels).tolist():
        chosen, mask = levels == level, int(sides.masks[level, side])
        length = width / 2.0 ** mask.bit_count()
        base[chosen] = low + BitPermutation.extract(mask)(codes[chosen]) * length + margin
        span[chosen] = length - 2.0 * margin
    return base, span


def lattice_steps(sides: int) -> Codes:
    """Step of each side of a rank-1 lattice, in 2**-64 of a cell: powers of the generalised golden ratio."""
    ratio = 1.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / sides)
    return np.array([int(ratio**-side * 2.0**64) % 2**64 for side in range(sides)], dtype=np.uint64)


def build_alias_table(probabilities: Floats) -> AliasTable:
    """Alias table of probabilities that sum to 1, each rounded to about 2**-61.

    Vectorised Walker construction: every index has the same capacity, deficits
    are matched to surpluses in order by prefix sums, and an index whose surplus
    is exceeded takes the next one as its alias.
    """
    size, bits = probabilities.size, 62 - probabilities.size.bit_length()
    capacity = 2**bits
    kept = np.rint(probabilities * (size * 2.0**bits)).astype(np.int64)
    kept[np.argmax(kept)] += size * capacity - kept.sum()
    below, above = np.flatnonzero(kept < capacity), np.flatnonzero(kept >= capacity)
    deficits = np.concatenate([[0], np.cumsum(capacity - kept[below])])
    surpluses = np.cumsum(kept[above] - capacity)
    aliases = np.empty(size, dtype=np.int64)
    aliases[below] = above[np.searchsorted(surpluses, deficits[:-1], side="right")]
    aliases[above] = np.append(above[1:], above[-1])
    kept[above] = capacity - (deficits[np.searchsorted(deficits, surpluses)] - surpluses)
    full = kept == capacity  # a threshold of 1 does not fit in 64 bits, so the alias is the index itself
    return AliasTable(kept.view(np.uint64) << np.uint64(64 - bits), np.where(full, np.arange(size), aliases))


def draw_indices(table: AliasTable, size: int, rng: np.random.Generator) -> Indices:
    """Independent draws from the distribution of an alias table."""
    indices = rng.integers(0, table.aliases.size, size=size)
    keeps = rng.integers(0, 2**64, size=size, dtype=np.uint64) < table.thresholds[indices]
    return np.where(keeps, indices, table.aliases[indices])


def shuffle(records: NDArray[Any], rng: np.random.Generator, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """The records in a uniformly random order, in `out` if given."""
    return store_records(records[rng.permutation(len(records))], out)

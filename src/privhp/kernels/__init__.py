"""The few loops that see every record or every candidate cell.

`plain` is written in NumPy and complete by itself. `native` is the same
compiled; where it could not be built, everything works without it. Codes,
counts and estimates are equal bit for bit, samples in distribution.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws, store_records
from privhp.core.cells import Codes, Counts, Floats
from privhp.kernels import plain, search
from privhp.kernels.plain import AliasTable, CellSides, Grid, Group, alias_table
from privhp.kernels.search import Buckets, PiecewiseLinear, TextTable

try:
    from privhp.kernels import native
except ImportError:  # no compiler was found when privhp was installed
    native = None  # type: ignore[assignment]  # the stub says it is there

__all__ = [
    "AliasTable",
    "Buckets",
    "CellSides",
    "Grid",
    "Group",
    "PiecewiseLinear",
    "TextTable",
    "add",
    "alias_table",
    "buckets",
    "draw",
    "encode_grid",
    "encode_integers",
    "estimate",
    "find_texts",
    "in_use",
    "interleave",
    "lay_out",
    "native",
    "sample_grid_allocation",
    "sample_grid_cells",
    "shuffle",
]


def in_use() -> str:
    """Which kernels run: "native" or "plain"."""
    return "plain" if native is None else "native"


def encode_grid(points: Floats, grid: Grid) -> Codes:
    """The code of each point of shape (n, d), OUTSIDE for those out of bounds or with a NaN."""
    if native is None:
        return plain.encode_grid(points, grid)
    codes = np.empty(len(points), dtype=np.uint64)
    native.encode_grid(_ready(points), *grid, codes)
    return codes


def encode_integers(numbers: Counts, *, low: int, high: int, shift: int, clamp: bool) -> Codes:
    """The code of each whole number: its distance from the lowest, less the last bits."""
    if native is None:
        return plain.encode_integers(numbers, low=low, high=high, shift=shift, clamp=clamp)
    codes = np.empty(numbers.size, dtype=np.uint64)
    native.encode_integers(_ready(numbers), low, high, int(shift), clamp, codes)
    return codes


def interleave(own: Codes, mask: int, codes: Codes) -> None:
    """Put codes into the bits of a mask of other codes, in place; what is OUTSIDE in either is so in both."""
    if native is None:
        plain.interleave(own, mask, codes)
    else:
        native.interleave(_ready(own), mask, codes)


def lay_out(numbers: Floats, line: PiecewiseLinear) -> Floats:
    """How far along the line each number lies, NaN for those beyond its ends."""
    if native is None:
        return search.lay_out(numbers, line)
    positions = np.empty(numbers.shape)
    low, high, widths, steps, buckets = line
    native.lay_out(_ready(numbers), low, high, widths, steps, *buckets, positions)
    return positions


def find_texts(texts: NDArray[np.uint32], known: TextTable, values: Codes, *, other: int) -> Codes:
    """The value of the declared text that each text is, or another; both are rows of characters, see `search`."""
    if native is None:
        return search.find_texts(texts, known, values, other)
    found = np.empty(len(texts), dtype=np.uint64)
    native.find_texts(_ready(texts), *known, values, other, found)
    return found


def sample_grid_allocation(
    allocation: Allocation, sides: CellSides, *, balanced: bool, rng: np.random.Generator, out: Floats | None = None
) -> Floats:
    """Points in cells of a grid, in the order of the cells, shape (n, d); see `plain.sample_grid_allocation`."""
    if native is None:
        return store_records(plain.sample_grid_allocation(allocation, sides, balanced=balanced, rng=rng), out)
    codes, levels = _ready(allocation.codes), _ready(allocation.levels, np.int64)
    counts = _ready(allocation.counts, np.int64)
    points = np.empty((allocation.size, sides.low.size)) if out is None else out
    steps = plain.lattice_steps(sides.low.size)
    native.fill_grid(codes, levels, counts, *sides, steps, balanced, _words(rng), points)
    return points


def sample_grid_cells(
    draws: CellDraws, sides: CellSides, *, rng: np.random.Generator, out: Floats | None = None
) -> Floats:
    """A uniform point in the cell of each draw, shape (n, d)."""
    if native is None:
        return store_records(plain.sample_grid_cells(draws, sides, rng=rng), out)
    codes, levels = _ready(draws.codes), _ready(draws.levels, np.int64)
    indices = _ready(draws.indices, np.int64)
    points = np.empty((draws.size, sides.low.size)) if out is None else out
    native.scatter_grid(codes, levels, indices, *sides, _words(rng), points)
    return points


def draw(table: AliasTable, size: int, rng: np.random.Generator) -> Counts:
    """Places drawn one by one, each with its share of the table."""
    if native is None:
        return plain.draw(table, size, rng)
    places = np.empty(size, dtype=np.int64)
    native.draw(*table, _words(rng), places)
    return places


def shuffle(records: NDArray[Any], rng: np.random.Generator, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """The records in random order, in `out` if given."""
    if native is None or records.dtype.hasobject or records.dtype.itemsize % 8 or not len(records):
        return store_records(plain.shuffle(records, rng), out)
    records = _ready(records)
    shuffled = np.empty_like(records) if out is None else out
    rows = (len(records), -1)
    native.shuffle(records.view(np.uint64).reshape(rows), _words(rng), shuffled.view(np.uint64).reshape(rows))
    return shuffled


def _ready(array: NDArray[Any], dtype: type | None = None) -> NDArray[Any]:
    """An array as the native kernels read it: one value after the other, each where its type may be."""
    if (dtype is None or array.dtype == dtype) and array.flags.c_contiguous and array.flags.aligned:
        return array  # asking first is faster
    return np.require(array, dtype, ["C", "A"])


def _words(rng: np.random.Generator) -> Codes:
    """A state for the generator of the native kernels."""
    return rng.integers(0, 2**64, size=32, dtype=np.uint64)


def add(
    codes: Codes,
    weights: Counts | None,
    *,
    depth: int,
    exact_depth: int,
    counters: Counts,
    groups: list[Group],
    level: int = 0,
    slots: Counts | None = None,
) -> None:
    """Count codes of level `depth` in counters, sketches and the slots of a partition, in place; see `plain.add`."""
    if native is not None:
        native.add(_ready(codes), weights, depth, exact_depth, counters, groups, level, slots)
        return
    plain.add(
        codes,
        weights,
        depth=depth,
        exact_depth=exact_depth,
        counters=counters,
        groups=groups,
        level=level,
        slots=slots,
    )


def buckets(words: Codes, cells: Codes, *, apart: int, width: int) -> NDArray[np.int64]:
    """Bucket of each cell of one level, `apart` below the hashed level, in every row of its sketch."""
    if native is None:
        return plain.buckets(words, cells, apart=apart, width=width)
    places = np.empty((len(words), cells.size), dtype=np.int64)
    native.buckets(_ready(words), _ready(cells), apart, width, places)
    return places


def estimate(table: Counts, words: Codes, cells: Codes, *, apart: int) -> Counts:
    """Count-Min estimate of each cell of one level, `apart` below the hashed level: the least of its buckets."""
    if native is None:
        return plain.estimate(table, words, cells, apart=apart)
    least = np.empty(cells.shape, dtype=np.int64)
    native.estimate(_ready(table), _ready(words), _ready(cells).ravel(), apart, least.reshape(-1))
    return least

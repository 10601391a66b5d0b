"""The compiled kernels, with the signatures of `plain`.

Codes, counts and estimates are equal to those of `plain` bit for bit, samples
in distribution. The extension module takes arrays in C order, aligned and of
the right type, and writes results to arrays that it is given.
"""

from __future__ import annotations  # numpy.random is only imported when something is sampled

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.core.allocation import Allocation, CellDraws, Indices
from privhp.core.cells import Codes, Counts, Floats
from privhp.kernels import native, plain
from privhp.kernels.counting import LeafCounters, SketchGroup
from privhp.kernels.cut_search import PiecewiseLinear
from privhp.kernels.encoding import DayCells, Grid
from privhp.kernels.point_sampling import AliasTable, CellSides, lattice_steps
from privhp.kernels.text_lookup import TextTable

CSV_KERNELS = {"count_line_feeds", "find_record_bounds", "line_bounds", "scan_records"}
"""Kernels of the extension module that read CSV, for `io.sources`."""

if not {*plain.__all__, *CSV_KERNELS} <= set(dir(native)):
    raise ImportError("the extension module privhp.kernels.native is out of date; install privhp again")


def encode_days(ticks: Counts, days: DayCells, *, shift: int, clamp: bool) -> Codes:
    """Code of each tick: its deepest cell in the widest one, without the lowest bits; OUTSIDE if out of bounds."""
    codes = np.empty(ticks.size, dtype=np.uint64)
    native.encode_days(_ready(ticks), *days, int(shift), clamp, codes)
    return codes


def encode_grid(points: Floats, grid: Grid) -> Codes:
    """Code of each point of shape (n, d); OUTSIDE for points out of bounds or with a NaN."""
    codes = np.empty(len(points), dtype=np.uint64)
    native.encode_grid(_ready(points), *grid, codes)
    return codes


def encode_integers(numbers: Counts, *, low: int, high: int, shift: int, clamp: bool) -> Codes:
    """Code of each integer: its offset from `low`, without the lowest `shift` bits; OUTSIDE if out of bounds."""
    codes = np.empty(numbers.size, dtype=np.uint64)
    native.encode_integers(_ready(numbers), low, high, int(shift), clamp, codes)
    return codes


def interleave(column_codes: Codes, mask: int, codes: Codes) -> None:
    """Deposit the codes of a column at the set bits of a mask, in place; OUTSIDE where either code is OUTSIDE."""
    native.interleave(_ready(column_codes), mask, codes)


def interpolate(numbers: Floats, scale: PiecewiseLinear) -> Floats:
    """Position of each number on the scale; NaN for numbers out of bounds."""
    positions = np.empty(numbers.shape)
    low, high, widths, length, index = scale
    native.interpolate(_ready(numbers), low, high, widths, length, *index, positions)
    return positions


def look_up_texts(texts: NDArray[np.uint32], known: TextTable, values: Codes, *, default: int) -> Codes:
    """Value of each text: that of the declared text it equals, else `default`."""
    found = np.empty(len(texts), dtype=np.uint64)
    native.look_up_texts(_ready(texts), *known, values, default, found)
    return found


def count_codes(
    codes: Codes,
    weights: Counts | None,
    *,
    depth: int,
    exact_depth: int,
    counters: Counts | None,
    groups: list[SketchGroup],
    leaves: LeafCounters | None = None,
) -> None:
    """Count codes in the counters of one exact level, in sketches and in the leaves of a partition, in place."""
    native.count_codes(_ready(codes), weights, depth, exact_depth, counters, groups, leaves)


def find_buckets(words: Codes, cells: Codes, *, levels_below: int, width: int) -> NDArray[np.int64]:
    """Bucket of each cell in every row of its sketch; the cells are `levels_below` the hashed level."""
    buckets = np.empty((len(words), cells.size), dtype=np.int64)
    native.find_buckets(_ready(words), _ready(cells), levels_below, width, buckets)
    return buckets


def estimate_counts(table: Counts, words: Codes, cells: Codes, *, levels_below: int) -> Counts:
    """Count-Min estimate of each cell: the least of its buckets; the cells are `levels_below` the hashed level."""
    least = np.empty(cells.shape, dtype=np.int64)
    native.estimate_counts(_ready(table), _ready(words), _ready(cells).ravel(), levels_below, least.reshape(-1))
    return least


def sample_grid_allocation(
    allocation: Allocation, sides: CellSides, *, balanced: bool, rng: np.random.Generator, out: Floats | None = None
) -> Floats:
    """Points in cells of a grid, in the order of the cells, shape (n, d), in `out` if given."""
    codes, levels = _ready(allocation.codes), _ready(allocation.levels, np.int64)
    counts = _ready(allocation.counts, np.int64)
    points = np.empty((allocation.size, sides.low.size)) if out is None else out
    steps = lattice_steps(sides.low.size)
    native.sample_grid_allocation(codes, levels, counts, *sides, steps, balanced, _random_state(rng), points)
    return points


def sample_grid_cells(
    draws: CellDraws, sides: CellSides, *, rng: np.random.Generator, out: Floats | None = None
) -> Floats:
    """A uniform point in the cell of each draw, shape (n, d), in `out` if given."""
    codes, levels = _ready(draws.codes), _ready(draws.levels, np.int64)
    indices = _ready(draws.indices, np.int64)
    points = np.empty((draws.size, sides.low.size)) if out is None else out
    native.sample_grid_cells(codes, levels, indices, *sides, _random_state(rng), points)
    return points


def draw_indices(table: AliasTable, size: int, rng: np.random.Generator) -> Indices:
    """Independent draws from the distribution of an alias table."""
    indices = np.empty(size, dtype=np.int64)
    native.draw_indices(*table, _random_state(rng), indices)
    return indices


def shuffle(records: NDArray[Any], rng: np.random.Generator, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """The records in a uniformly random order, in `out` if given."""
    if records.dtype.hasobject or records.dtype.itemsize % 8 or not len(records):
        return plain.shuffle(records, rng, out=out)
    records = _ready(records)
    shuffled = np.empty_like(records) if out is None else out
    rows = (len(records), -1)
    native.shuffle(records.view(np.uint64).reshape(rows), _random_state(rng), shuffled.view(np.uint64).reshape(rows))
    return shuffled


def _ready(array: NDArray[Any], dtype: type | None = None) -> NDArray[Any]:
    """The array, or a copy of it in C order, aligned and of the right type."""
    if (dtype is None or array.dtype == dtype) and array.flags.c_contiguous and array.flags.aligned:
        return array  # checking first is faster than np.require
    return np.require(array, dtype, ["C", "A"])


def _random_state(rng: np.random.Generator) -> Codes:
    """State of the random generators of the extension module, drawn from `rng`."""
    return rng.integers(0, 2**64, size=32, dtype=np.uint64)

"""The loops over all records, codes or candidate cells.

Each kernel exists twice: `plain` in NumPy, and `compiled` with the extension
module `native`. The choice between them is made here, once. Callers use
`kernels.<name>`, so that tests and benchmarks can replace a kernel.

All kernels but some take numbers, characters, codes and counts as arrays. The
exceptions find and parse records of CSV for `io.sources`; their definitions in
Python are `io.sources.csv_records` and `csv_fields`. So records are visible to
the readers and writers in `io`, to `domains`, to these kernels, and to `evaluate`
and `reporting`, which compare a generator with data; behind the domains there are
only codes.
"""

from typing import Literal

from privhp.kernels.counting import LeafCounters, SketchGroup
from privhp.kernels.cut_search import CutIndex, PiecewiseLinear
from privhp.kernels.encoding import DayCells, Grid
from privhp.kernels.point_sampling import AliasTable, CellSides, build_alias_table, lattice_steps
from privhp.kernels.text_lookup import TextTable

BACKEND: Literal["native", "plain"]
"""The kernels in use."""

try:
    from privhp.kernels import native
    from privhp.kernels.compiled import (
        count_codes,
        draw_indices,
        encode_days,
        encode_grid,
        encode_integers,
        estimate_counts,
        find_buckets,
        interleave,
        interpolate,
        look_up_texts,
        sample_grid_allocation,
        sample_grid_cells,
        shuffle,
    )

    BACKEND = "native"
except ImportError:  # installed without a compiler
    from privhp.kernels.plain import (
        count_codes,
        draw_indices,
        encode_days,
        encode_grid,
        encode_integers,
        estimate_counts,
        find_buckets,
        interleave,
        interpolate,
        look_up_texts,
        sample_grid_allocation,
        sample_grid_cells,
        shuffle,
    )

    native = None  # type: ignore[assignment]  # the stub declares it as a module
    BACKEND = "plain"

__all__ = [
    "BACKEND",
    "AliasTable",
    "CellSides",
    "CutIndex",
    "DayCells",
    "Grid",
    "LeafCounters",
    "PiecewiseLinear",
    "SketchGroup",
    "TextTable",
    "build_alias_table",
    "count_codes",
    "draw_indices",
    "encode_days",
    "encode_grid",
    "encode_integers",
    "estimate_counts",
    "find_buckets",
    "interleave",
    "interpolate",
    "lattice_steps",
    "look_up_texts",
    "native",
    "sample_grid_allocation",
    "sample_grid_cells",
    "shuffle",
]

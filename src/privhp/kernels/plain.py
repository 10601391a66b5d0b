"""The NumPy kernels, complete without a compiler."""

from privhp.kernels.counting import count_codes, estimate_counts, find_buckets
from privhp.kernels.cut_search import interpolate
from privhp.kernels.encoding import encode_days, encode_grid, encode_integers, interleave
from privhp.kernels.point_sampling import draw_indices, sample_grid_allocation, sample_grid_cells, shuffle
from privhp.kernels.text_lookup import look_up_texts

__all__ = [
    "count_codes",
    "draw_indices",
    "encode_days",
    "encode_grid",
    "encode_integers",
    "estimate_counts",
    "find_buckets",
    "interleave",
    "interpolate",
    "look_up_texts",
    "sample_grid_allocation",
    "sample_grid_cells",
    "shuffle",
]

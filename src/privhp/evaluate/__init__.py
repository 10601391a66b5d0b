"""Distances between two distributions, for evaluation: the results are NOT private.

Each side is a generator or records. The distance between two halves of the
real records is the baseline. A generator counts as a distribution, without
sampling error.
"""

from privhp.evaluate.grid_distance import grid_masses, grid_wasserstein
from privhp.evaluate.line_distance import wasserstein
from privhp.evaluate.range_queries import random_regions, range_errors
from privhp.evaluate.tree_distance import tree_wasserstein

__all__ = ["grid_masses", "grid_wasserstein", "random_regions", "range_errors", "tree_wasserstein", "wasserstein"]

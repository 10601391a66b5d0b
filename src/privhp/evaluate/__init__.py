"""How far two distributions are apart. For evaluation only: the answers are NOT private.

Each side is a generator or real records, so that real records can also be
compared with others of their kind: no generator can be expected to come closer.
A generator is taken as the distribution that it is, not as samples of it.
"""

from privhp.evaluate.grid_distance import grid_masses, grid_wasserstein
from privhp.evaluate.line_distance import wasserstein
from privhp.evaluate.range_errors import random_regions, range_errors
from privhp.evaluate.tree_distance import tree_wasserstein

__all__ = ["grid_masses", "grid_wasserstein", "random_regions", "range_errors", "tree_wasserstein", "wasserstein"]

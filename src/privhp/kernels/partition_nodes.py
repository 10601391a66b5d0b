"""Nodes of a partition, as the counting loops read them.

A node is one int32. A leaf is the index of its counter. A split node is
negative: the complement of the index of its first child and the number of levels
of the split. `planning.partition` writes nodes; the counting loops follow them.
"""

import numpy as np
from numpy.typing import NDArray

LEVEL_BITS = 5
"""Bits for the number of levels of a split."""

MAX_NODES = 2 ** (31 - LEVEL_BITS)


def split_nodes(first: NDArray[np.int64], levels: int) -> NDArray[np.int32]:
    """Nodes that are split by `levels`, from the index of each one's first child."""
    return (~(first << LEVEL_BITS | levels)).astype(np.int32)


def read_split_nodes(nodes: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index of the first child and number of levels of each split node."""
    fields = ~nodes.astype(np.int64)
    return fields >> LEVEL_BITS, fields & (2**LEVEL_BITS - 1)

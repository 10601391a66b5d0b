"""Nodes of a partition, as the counting loops read them.

A node is one int32 for a cell that is split by some levels, or by none. Its
lowest bits are the number of levels and whether the parts are leaves. The other
bits are an index: of the first of these leaves, or of the node of the first part.
`planning.partition` writes nodes, and the counting loops follow them.
"""

import numpy as np
from numpy.typing import NDArray

LEVEL_BITS = 3
"""Bits for the number of levels of a split; the next bit marks a family of leaves."""

INDEX_BITS = LEVEL_BITS + 1


def pack_nodes(first: NDArray[np.int64], levels: NDArray[np.int64], is_family: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Nodes from the index of the first leaf or part, the levels of the split, and whether the parts are leaves."""
    return (first << INDEX_BITS | is_family.astype(np.int64) << LEVEL_BITS | levels).astype(np.int32)


def read_nodes(nodes: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Index of the first leaf or part, levels of the split, and whether the parts are leaves, for each node."""
    fields = nodes.astype(np.int64)
    return fields >> INDEX_BITS, fields & (2**LEVEL_BITS - 1), (fields >> LEVEL_BITS & 1).astype(np.bool_)

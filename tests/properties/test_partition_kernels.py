"""Counting in the leaves of a partition: compiled and NumPy kernels agree with a binary search."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from backends import both, needs_native
from cases import case_count
from privhp import Partition, kernels
from privhp.core.cells import OUTSIDE, Codes, Counts
from privhp.kernels import LeafCounters
from privhp.kernels.counting import find_leaves
from privhp.kernels.partition_nodes import LEVEL_BITS, pack_nodes, read_nodes
from strategies import partitions


def chain(depth: int) -> Partition:
    """The first cell of every level is split, down to the deepest."""
    return Partition([depth, *range(depth, 0, -1)])


def starts_of(partition: Partition, depth: int) -> list[int]:
    """First cell of level `depth` in each leaf."""
    starts = [0]
    for level in partition.levels.tolist():
        starts.append(starts[-1] + 2 ** (depth - level))
    assert starts.pop() == 2**depth
    return starts


def search(partition: Partition, codes: Codes, depth: int) -> NDArray[np.intp]:
    """Reference: binary search among the first cells of the leaves."""
    return np.searchsorted(np.array(starts_of(partition, depth), dtype=np.uint64), codes, side="right") - 1


def near_edges(partition: Partition, depth: int, rng: np.random.Generator, size: int) -> Codes:
    """Codes anywhere and at both sides of the edges of leaves."""
    edges = np.array(starts_of(partition, depth), dtype=np.uint64)[rng.integers(0, partition.size, size)]
    edges = edges - rng.integers(0, 2, size).astype(np.uint64) * (edges > 0)
    return np.where(rng.random(size) < 0.7, edges, rng.integers(0, 2**depth, size, dtype=np.uint64))


@both
@settings(max_examples=case_count(80))
@given(
    partition=st.integers(0, 5).flatmap(lambda level: partitions(root_level=level)) | st.integers(1, 63).map(chain),
    below=st.integers(0, 10),
    seed=st.integers(0, 2**32),
    size=st.sampled_from([0, 1, 63, 64, 65, 500]),
    weighted=st.booleans(),
    exact=st.booleans(),
)
def test_count_codes_in_leaves(
    partition: Partition, below: int, seed: int, size: int, weighted: bool, exact: bool, native: bool
) -> None:
    """Codes of the level of the finest leaves or of a deeper one; some are out of the domain."""
    rng, depth = np.random.default_rng(seed), min(partition.max_level + below, 63)
    codes = near_edges(partition, depth, rng, size)
    codes[rng.random(size) < 0.1] = OUTSIDE
    weights = rng.integers(0, 5, size) if weighted else None
    inside = codes != OUTSIDE
    expected = rng.integers(-(2**40), 2**40, partition.size)
    counts: Counts = expected.copy()
    np.add.at(expected, search(partition, codes[inside], depth), 1 if weights is None else weights[inside])
    counters = np.zeros(1, dtype=np.int64) if exact else None
    kernels.count_codes(
        codes,
        weights,
        depth=depth,
        exact_depth=0,
        counters=counters,
        groups=[],
        leaves=LeafCounters(partition.root_level, partition.nodes, counts),
    )
    assert np.array_equal(counts, expected)
    if counters is not None:
        assert counters[0] == (inside.sum() if weights is None else weights[inside].sum())


@given(partition=partitions(), seed=st.integers(0, 2**32))
def test_find_leaves(partition: Partition, seed: int) -> None:
    codes = near_edges(partition, 63, np.random.default_rng(seed), 100)
    found = find_leaves(codes, depth=63, level=partition.root_level, nodes=partition.nodes)
    assert np.array_equal(found.view(np.int64), search(partition, codes, 63))


@given(
    first=st.lists(st.integers(0, 2**27 - 1), min_size=1),
    levels=st.integers(0, 2**LEVEL_BITS - 1),
    is_family=st.booleans(),
)
def test_nodes_round_trip(first: list[int], levels: int, is_family: bool) -> None:
    indices = np.array(first)
    nodes = pack_nodes(indices, np.full(indices.shape, levels), np.full(indices.shape, is_family))
    assert nodes.dtype == np.int32
    assert (nodes >= 0).all()
    fields = read_nodes(nodes)
    assert [own.tolist() for own in fields] == [first, [levels] * len(first), [is_family] * len(first)]


@needs_native
@pytest.mark.parametrize("change", ["read-only counts", "float counts", "strided counts", "nodes of 64 bits"])
def test_invalid_leaf_counters(change: str) -> None:
    """A converted copy would receive the counts and be discarded."""
    partition, codes = Partition([1, 2, 2]), np.zeros(1, dtype=np.uint64)
    counts: Any = np.zeros(3, dtype=np.float64 if change == "float counts" else np.int64)
    if change == "strided counts":
        counts = np.zeros(6, dtype=np.int64)[::2]
    counts.flags.writeable = change != "read-only counts"
    nodes: Any = partition.nodes.astype(np.int64 if change == "nodes of 64 bits" else np.int32)
    leaves = LeafCounters(partition.root_level, nodes, counts)
    options: dict[str, Any] = {"depth": 2, "exact_depth": 0, "counters": None, "groups": []}
    with pytest.raises(TypeError):
        kernels.count_codes(codes, None, **options, leaves=leaves)

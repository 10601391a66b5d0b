"""Laws of partitions, compared with a slow reference: a tree of cells in Python integers."""

import base64
import contextlib
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from cases import case_count
from privhp import Partition, PlanError
from privhp.core.cells import MAX_DEPTH
from privhp.kernels.partition_nodes import read_nodes
from privhp.planning.partition import MAX_NODE_LEVELS, complete_nbytes
from strategies import partitions

Cell = tuple[int, int]
"""Level and code."""

ANY_PARTITION = st.integers(0, 4).flatmap(lambda level: partitions(root_level=level))


def leaves_of(levels: list[int]) -> list[Cell]:
    """The leaves in the order of the domain, each after the end of the one before."""
    leaves, end = [], 0
    for level in levels:
        width = 2 ** (MAX_DEPTH - level)
        assert end % width == 0, "a leaf is not a cell of its level"
        leaves.append((level, end // width))
        end += width
    assert end == 2**MAX_DEPTH, "the leaves do not cover the domain"
    return leaves


def is_below(cell: Cell, ancestor: Cell) -> bool:
    return cell[0] >= ancestor[0] and cell[1] >> (cell[0] - ancestor[0]) == ancestor[1]


def children_of(cell: Cell, leaves: list[Cell]) -> list[Cell]:
    """All descendants of a node at the coarsest level with a leaf below the node; none for a leaf."""
    level = min(leaf[0] for leaf in leaves if is_below(leaf, cell))
    step = level - cell[0]
    return [(level, (cell[1] << step) + part) for part in range(2**step)] if step else []


def tree_layers(partition: Partition) -> list[set[Cell]]:
    """The nodes by their number of splits from the roots."""
    leaves, root = leaves_of(partition.levels.tolist()), int(partition.levels.min())
    layers = [{(root, code) for code in range(2**root)}]
    while below := {child for cell in layers[-1] for child in children_of(cell, leaves)}:
        layers.append(below)
    return layers


@given(partition=ANY_PARTITION)
def test_leaves_cover_the_domain(partition: Partition) -> None:
    leaves = leaves_of(partition.levels.tolist())
    assert partition.codes().tolist() == [code for _, code in leaves]
    assert partition.size == len(leaves)
    assert (partition.min_level, partition.max_level) == (min(leaves)[0], max(leaves)[0])


@settings(max_examples=case_count(300))
@given(levels=st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_any_levels(levels: list[int]) -> None:
    """Levels are a partition exactly if leaves of these levels cover the domain."""
    try:
        leaves = leaves_of(levels)
    except AssertionError:
        with pytest.raises(PlanError, match="cover the domain"):
            Partition(levels)
    else:
        assert Partition(levels).codes().tolist() == [code for _, code in leaves]


@given(partition=ANY_PARTITION)
def test_layers_equal_reference(partition: Partition) -> None:
    leaves, layers = leaves_of(partition.levels.tolist()), list(partition.layers())
    assert [set(zip(own.levels.tolist(), own.codes.tolist(), strict=True)) for own in layers] == tree_layers(partition)
    for number, layer in enumerate(layers):
        cells = list(zip(layer.levels.tolist(), layer.codes.tolist(), strict=True))
        found: dict[Cell, list[Cell]] = {cell: [] for cell in cells}
        for parents, children in layer.splits:
            below = layers[number + 1]
            for parent, own in zip(parents.tolist(), children.tolist(), strict=True):
                found[cells[parent]] = [(int(below.levels[child]), int(below.codes[child])) for child in own]
        assert found == {cell: children_of(cell, leaves) for cell in cells}
        for cell, leaf in zip(cells, layer.leaves.tolist(), strict=True):
            assert (leaf == -1) if found[cell] else (leaves[leaf] == cell)


@given(partition=ANY_PARTITION)
def test_nodes_equal_reference(partition: Partition) -> None:
    """A walk from the first nodes finds every leaf where it is; a family of leaves has one node."""
    leaves, nodes = leaves_of(partition.levels.tolist()), partition.nodes
    assert nodes.dtype == np.int32
    pending = [(code, (partition.root_level, code)) for code in range(2**partition.root_level)]
    seen: list[tuple[Cell, int]] = []
    for index, (level, code) in pending:
        (first,), (step,), (is_family,) = (own.tolist() for own in read_nodes(nodes[index : index + 1]))
        assert step <= MAX_NODE_LEVELS
        parts = [(first + part, (level + step, (code << step) + part)) for part in range(2**step)]
        if is_family:
            seen += [(cell, leaf) for leaf, cell in parts]
        else:
            assert step, "a node leads to itself"
            pending += parts
    assert sorted(index for index, _ in pending) == list(range(nodes.size)), "a node is unused, or used twice"
    assert sorted(seen, key=lambda own: own[1]) == [(cell, leaf) for leaf, cell in enumerate(leaves)]
    assert partition.nbytes == 4 * nodes.size + 8 * len(leaves)


@pytest.mark.parametrize("level", range(12))
def test_nbytes_of_complete_partitions(level: int) -> None:
    assert Partition.complete(level).nbytes == complete_nbytes(level)


@given(partition=partitions(max_level=40), data=st.data())
def test_split(partition: Partition, data: st.DataObject) -> None:
    leaves = leaves_of(partition.levels.tolist())
    steps = data.draw(st.lists(st.integers(0, 3), min_size=len(leaves), max_size=len(leaves)))
    split = partition.split(np.array(steps, dtype=np.int64))
    assert leaves_of(split.levels.tolist()) == [
        (level + step, (code << step) + part)
        for (level, code), step in zip(leaves, steps, strict=True)
        for part in range(2**step)
    ]
    assert (split == partition) == (not any(steps))


@given(partition=ANY_PARTITION)
def test_spec_round_trip(partition: Partition) -> None:
    spec = partition.spec()
    assert Partition.from_spec(spec) == partition
    assert Partition.from_spec(spec).spec() == spec
    nodes = 2 * partition.size - 1  # of the binary tree
    assert len(base64.b64decode(spec)) == (nodes + 7) // 8


@pytest.mark.parametrize("depth", [1, 2, 31, 32, 33, 62, 63])
@pytest.mark.parametrize("side", ["first", "last", "middle"])
def test_deep_chains(depth: int, side: str) -> None:
    """One path is split down to the deepest level: the first cell, the last one, or one in between."""
    down = list(range(1, depth + 1))
    levels = {
        "first": [depth, *reversed(down)],
        "last": [*down, depth],
        "middle": [*down[::2], depth, *reversed(down[1::2])],
    }[side]
    partition = Partition(levels)
    assert partition.size == depth + 1
    assert (partition.min_level, partition.max_level) == (1, depth)
    assert Partition.from_spec(partition.spec()) == partition
    assert len(list(partition.layers())) == depth
    assert [(int(level), int(code)) for level, code in zip(levels, partition.codes(), strict=True)] == leaves_of(levels)


@given(one=partitions(max_splits=2), other=partitions(max_splits=2))
def test_equality(one: Partition, other: Partition) -> None:
    same = one.levels.tolist() == other.levels.tolist()
    assert (one == other) == same
    assert (one.spec() == other.spec()) == same
    assert len({one, other}) == 2 - same
    assert one != one.levels.tolist()


@settings(max_examples=case_count(300))
@given(spec=st.one_of(st.binary(max_size=40).map(base64.b64encode).map(bytes.decode), st.text(max_size=20)))
def test_any_spec(spec: str) -> None:
    """A text is refused, or it is a partition with a spec that is as long."""
    with contextlib.suppress(PlanError):
        partition = Partition.from_spec(spec)
        leaves_of(partition.levels.tolist())
        assert len(partition.spec()) == len(spec)
        assert Partition.from_spec(partition.spec()) == partition


@given(partition=ANY_PARTITION, data=st.data())
def test_damaged_spec(partition: Partition, data: st.DataObject) -> None:
    """A changed bit is another partition or refused; it never gives the same one, except in the padding."""
    content = bytearray(base64.b64decode(partition.spec()))
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 0x80 >> bit % 8
    changed: Any = None
    with contextlib.suppress(PlanError):
        changed = Partition.from_spec(base64.b64encode(content).decode())
    assert changed != partition

"""A partition of the domain into leaves of several levels, as a public value.

The level of each leaf, in the order of the domain, determines all leaves. A
partition that was learned has fine leaves where records are and coarse ones
elsewhere.
"""

import base64
import binascii
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import MAX_DEPTH, Codes, descendants
from privhp.errors import PlanError
from privhp.kernels.partition_nodes import pack_nodes

MAX_LEAVES = 2**24
MAX_NODE_LEVELS = 4
"""Levels by which a node is split, at most: a family of up to 16 leaves takes one node."""

Indices = NDArray[np.int64]


def complete_nbytes(level: int) -> int:
    """Bytes of the partition into all cells of a level; see `Partition.nbytes`."""
    return (4 << max(level - MAX_NODE_LEVELS, 0)) + (8 << level)


class Splits(NamedTuple):
    """Nodes of a layer that have the same number of children in the next layer.

    Args:
        parents: Index in the layer of each of the m nodes.
        children: Index in the next layer of their g children, shape (m, g).
    """

    parents: Indices
    children: Indices


class NodeLayer(NamedTuple):
    """Nodes of a partition at the same number of splits from its roots.

    Args:
        codes: Cell of each node.
        levels: Level of each node.
        leaves: Index of each node among the leaves; -1 if the node is split.
        splits: The nodes that have children in the next layer.
    """

    codes: Codes
    levels: Indices
    leaves: Indices
    splits: list[Splits]


class Partition:
    """Leaves of several levels that cover the domain; public and immutable.

    Args:
        levels: Level of each leaf, in the order of the domain.
    """

    def __init__(self, levels: Any) -> None:
        given = np.asarray(levels)
        if given.ndim != 1 or not 1 <= given.size <= MAX_LEAVES or given.dtype.kind not in "iu":
            raise PlanError(f"expected the levels of 1 to {MAX_LEAVES} leaves as a sequence of integers")
        if given.min() < 0 or given.max() > MAX_DEPTH:
            raise PlanError(f"expected leaves of levels 0 to {MAX_DEPTH}")
        self.levels: NDArray[np.uint8] = given.astype(np.uint8)
        self.levels.flags.writeable = False
        starts, widths = self._starts(), self._widths()
        end = np.uint64(2**self.max_level)
        covered = starts[-1] + widths[-1] == end and not (starts >= end).any()
        if not covered or (starts & (widths - np.uint64(1))).any():
            raise PlanError("the leaves of a partition must cover the domain, each part of it once")

    @classmethod
    def complete(cls, level: int) -> "Partition":
        """All cells of a level."""
        return cls(np.full(2**level, level, dtype=np.uint8))

    @property
    def size(self) -> int:
        """Number of leaves."""
        return self.levels.size

    @cached_property
    def min_level(self) -> int:
        """Level of the coarsest leaves; its cells are the roots of the partition."""
        return int(self.levels.min())

    @cached_property
    def max_level(self) -> int:
        """Level of the finest leaves."""
        return int(self.levels.max())

    @property
    def nbytes(self) -> int:
        """Bytes of its nodes and of one counter for each leaf."""
        return self.nodes.nbytes + 8 * self.size

    @cached_property
    def root_level(self) -> int:
        """Level of the first nodes."""
        return max(self.min_level - MAX_NODE_LEVELS, 0)

    @cached_property
    def nodes(self) -> NDArray[np.int32]:
        """The nodes as the kernels read them, from all cells of the root level; see `kernels.partition_nodes`."""
        codes, levels, found, start = *self._cells(self.root_level), [np.zeros(0, dtype=np.int32)], 0
        while codes.size:
            first, sizes, steps = self._below(codes, levels)
            steps = np.minimum(steps, MAX_NODE_LEVELS)
            is_family = sizes == 1 << steps
            start += codes.size
            inner = np.flatnonzero(~is_family)
            children = 1 << steps[inner]
            first[inner] = start + np.cumsum(children) - children
            found.append(pack_nodes(first, steps, is_family))
            within = np.arange(children.sum()) - np.repeat(np.cumsum(children) - children, children)
            codes = np.repeat(codes[inner] << steps[inner].astype(np.uint64), children) + within.astype(np.uint64)
            levels = np.repeat(levels[inner] + steps[inner], children)
        nodes = np.concatenate(found)
        nodes.flags.writeable = False
        return nodes

    def codes(self) -> Codes:
        """Code of each leaf at its level."""
        return self._starts() >> self._levels_below()

    def split(self, steps: NDArray[np.int64]) -> "Partition":
        """The partition whose leaves are split, each by its number of levels; 0 for none."""
        return Partition(np.repeat(self.levels + steps.astype(np.uint8), 1 << steps))

    def layers(self) -> Iterator[NodeLayer]:
        """The nodes, from the roots to the leaves.

        A node is split into all its descendants of the coarsest level with a leaf
        below the node.
        """
        codes, levels = self._cells(self.min_level)
        while codes.size:
            first, _, steps = self._below(codes, levels)
            splits: list[Splits] = []
            below = [(codes[:0], levels[:0])]
            start = 0
            for step in np.unique(steps[steps > 0]).tolist():
                parents = np.flatnonzero(steps == step)
                cells = descendants(codes[parents], levels=step)
                splits.append(Splits(parents, start + np.arange(cells.size).reshape(cells.shape)))
                below.append((cells.ravel(), np.repeat(levels[parents] + step, 2**step)))
                start += cells.size
            yield NodeLayer(codes, levels, np.where(steps == 0, first, -1), splits)
            codes, levels = (np.concatenate(parts) for parts in zip(*below, strict=True))

    def _cells(self, level: int) -> tuple[Codes, Indices]:
        """Codes and levels of all cells of a level."""
        return np.arange(2**level, dtype=np.uint64), np.full(2**level, level)

    def _below(self, codes: Codes, levels: Indices) -> tuple[Indices, Indices, Indices]:
        """Index of the first leaf below each node, number of leaves below it, and levels to the coarsest of them."""
        starts, shifts = self._starts(), (self.max_level - levels).astype(np.uint64)
        first, end = (np.searchsorted(starts, edge << shifts) for edge in (codes, codes + np.uint64(1)))
        edges = np.stack([first, end], axis=1).ravel()
        coarsest = np.minimum.reduceat(np.append(self.levels, np.uint8(0)), edges)[::2]
        return first, end - first, coarsest - levels

    def spec(self) -> str:
        """The partition as text: a bit for each node, 1 if it is split, level by level from the root."""
        starts, bits = self._starts(), []
        for level in range(self.max_level + 1):
            inside = np.uint64(2 ** (self.max_level - level) - 1)
            nodes = (self.levels >= level) & (starts & inside == 0)
            bits.append(self.levels[nodes] > level)
        return base64.b64encode(np.packbits(np.concatenate(bits)).tobytes()).decode()

    @classmethod
    def from_spec(cls, spec: Any) -> "Partition":
        """The partition of a text."""
        try:
            bits = np.unpackbits(np.frombuffer(base64.b64decode(spec, validate=True), dtype=np.uint8))
        except (binascii.Error, TypeError, ValueError):
            raise PlanError("expected a partition as base64 text") from None
        splits = int(np.count_nonzero(bits))
        if splits >= MAX_LEAVES or not 0 <= bits.size - (2 * splits + 1) < 8:
            raise PlanError(f"expected a partition of at most {MAX_LEAVES} leaves, with two bits for each but one bit")
        codes, starts, leaf_levels = np.zeros(1, dtype=np.uint64), [], []
        for level in range(MAX_DEPTH + 1):
            split, bits = bits[: codes.size].astype(np.bool_), bits[codes.size :]
            if split.size < codes.size:
                break
            starts.append(codes[~split] << np.uint64(MAX_DEPTH - level))
            leaf_levels.append(np.full(starts[-1].shape, level, dtype=np.uint8))
            codes = descendants(codes[split], levels=1).ravel()
            if not codes.size and not bits.any():
                return cls(np.concatenate(leaf_levels)[np.argsort(np.concatenate(starts))])
        raise PlanError("the partition does not end with its last leaf, or is too deep")

    def _levels_below(self) -> Codes:
        """Levels between each leaf and the finest leaves."""
        return (self.max_level - self.levels).astype(np.uint64)

    def _widths(self) -> Codes:
        """Number of cells of the finest level in each leaf."""
        return np.uint64(1) << self._levels_below()

    def _starts(self) -> Codes:
        """First cell of the finest level in each leaf."""
        widths = self._widths()
        return np.cumsum(widths) - widths

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and np.array_equal(self.levels, other.levels)

    def __hash__(self) -> int:
        return hash(self.levels.tobytes())

    def __repr__(self) -> str:
        return f"<Partition: {self.size:,} leaves of levels {self.min_level} to {self.max_level}>"

"""1-Wasserstein distance in the hierarchy of a domain's cells, for every domain."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.distribution import Distribution
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.errors import QueryError
from privhp.evaluate.inputs import Side, cells_of, common_domain, sorted_once

DEPTH = 24
"""Default depth of the comparison, the same for every plan."""


def tree_wasserstein(one: Side, other: Side, *, domain: Domain | None = None, depth: int | None = None) -> float:
    """Exact 1-Wasserstein distance in the hierarchy of the domain. NOT private.

    The distance of two records is the diameter of the deepest cell that holds
    both, or 0 if that cell has the level `depth`. It is at least the domain's
    own distance, up to the diameter of such a cell. The cost is one pass over
    the leaves and the records per level.

    Args:
        one: A generator or records.
        other: A generator or records.
        domain: Domain of the records, if neither side is a generator.
        depth: Deepest level of the comparison; by default 24, or the depth of the domain.
    """
    space = common_domain(one, other, domain)
    depth = min(space.depth, DEPTH) if depth is None else depth
    if isinstance(depth, bool) or not isinstance(depth, int) or not 0 <= depth <= space.depth:
        raise QueryError(f"expected a depth between 0 and {space.depth}, the domain's, got {depth!r}")
    leaves = _difference(*(_leaves(side, depth) for side in (one, other)), domain=space, depth=depth)
    points = [
        (cells_of(side, space, level=depth), sign)
        for side, sign in ((one, 1.0), (other, -1.0))
        if not isinstance(side, Distribution)
    ]
    codes = np.concatenate([codes for codes, _ in points]) if points else np.empty(0, dtype=np.uint64)
    masses = np.repeat([sign / codes.size for codes, sign in points], [codes.size for codes, _ in points])
    order = np.argsort(codes, kind="stable")
    return _cost(leaves, _Points(codes[order], masses[order]), space, depth)


class _Leaves(NamedTuple):
    """A partition of the domain in order, with the mass of each cell, spread by the base measure."""

    codes: Codes
    levels: NDArray[np.int64]
    masses: Floats

    def starts(self, depth: int) -> Codes:
        return self.codes << (depth - self.levels).astype(np.uint64)


class _Points(NamedTuple):
    """Masses on cells of one level, in order; a cell may occur repeatedly."""

    codes: Codes
    masses: Floats


def _leaves(side: Side, depth: int) -> _Leaves:
    """The leaves of a generator down to a depth; for records, the root with mass 0."""
    if not isinstance(side, Distribution):
        return _Leaves(np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.zeros(1))
    found = side.leaves()
    codes = found.codes >> np.maximum(found.levels - depth, 0).astype(np.uint64)
    levels = np.minimum(found.levels, depth)
    starts = codes << (depth - levels).astype(np.uint64)
    first = np.flatnonzero(np.diff(starts, prepend=starts[:1] + np.uint64(1)))
    return _Leaves(codes[first], levels[first], np.add.reduceat(side.probabilities, first))


def _difference(one: _Leaves, other: _Leaves, *, domain: Domain, depth: int) -> _Leaves:
    """Difference of two sides on their common refinement."""
    starts = sorted_once(one.starts(depth), other.starts(depth))
    containing = [np.searchsorted(side.starts(depth), starts, side="right") - 1 for side in (one, other)]
    levels = np.maximum(one.levels[containing[0]], other.levels[containing[1]])
    codes = starts >> (depth - levels).astype(np.uint64)
    measures = _measures(codes, levels, domain)
    masses = np.zeros(starts.shape)
    for side, indices, sign in ((one, containing[0], 1.0), (other, containing[1], -1.0)):
        wholes = _measures(side.codes, side.levels, domain)[indices]
        masses += sign * side.masses[indices] * np.divide(measures, wholes, out=np.ones_like(wholes), where=wholes > 0)
    return _Leaves(codes, levels, masses)


def _measures(codes: Codes, levels: NDArray[np.int64], domain: Domain) -> Floats:
    measures = np.empty(codes.shape)
    for level in np.unique(levels).tolist():
        chosen = levels == level
        measures[chosen] = domain.measure(codes[chosen], level=level)
    return measures


def _cost(leaves: _Leaves, points: _Points, domain: Domain, depth: int) -> float:
    """Cost of balancing signed masses: the absolute imbalance of each level's cells.

    Cells that hold a point or a whole leaf are visited one by one. All others
    lie inside leaves and have the leaf's sign, so their sum is known.
    """
    measures = _measures(leaves.codes, leaves.levels, domain)
    above = np.concatenate([[0.0], np.cumsum(np.bincount(leaves.levels, np.abs(leaves.masses), minlength=depth + 1))])
    codes, masses = points
    inside = np.searchsorted(leaves.starts(depth), codes, side="right") - 1
    total = 0.0
    for level in range(depth, 0, -1):
        whole = np.flatnonzero(leaves.levels == level)
        codes, masses, inside = _sum_by_cell(
            np.concatenate([codes, leaves.codes[whole]]),
            np.concatenate([masses, leaves.masses[whole]]),
            np.concatenate([inside, whole]),
        )
        partial = leaves.levels[inside] < level
        spread = np.zeros(codes.shape)
        held = inside[partial]
        spread[partial] = leaves.masses[held] * domain.measure(codes[partial], level=level) / measures[held]
        imbalance = np.abs(masses + spread).sum() + above[level] - np.abs(spread).sum()
        narrower = domain.diameter(level) if level < depth else 0.0
        total += (domain.diameter(level - 1) - narrower) / 2 * imbalance
        codes = codes >> np.uint64(1)
    return float(total)


def _sum_by_cell(codes: Codes, masses: Floats, inside: NDArray[np.int64]) -> tuple[Codes, Floats, NDArray[np.int64]]:
    """Distinct cells in order, with their total mass and the leaf that contains each."""
    order = np.argsort(codes, kind="stable")
    first = np.flatnonzero(np.diff(codes[order], prepend=~codes[order][:1]))
    masses = np.add.reduceat(masses[order], first) if first.size else masses
    return codes[order][first], masses, inside[order][first]

"""Wasserstein distance in the tree of a domain's cells, whatever the domain."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privhp.answers.generator import Generator
from privhp.core.cells import Codes, Floats
from privhp.domains.domain import Domain
from privhp.errors import QueryError
from privhp.evaluate.inputs import Side, cells_of, common_domain, sorted_once

DEPTH = 24
"""Deepest level that is told apart unless another is given: the same for every plan."""


def tree_wasserstein(one: Side, other: Side, *, domain: Domain | None = None, depth: int | None = None) -> float:
    """Exact 1-Wasserstein distance in the hierarchy of the domain. NOT private.

    Two records are as far apart as the deepest cell that holds both is wide,
    or not at all where that cell is of the level `depth`. No record moves less
    in it than in the domain's own distance, but for the width of such a cell.
    It costs a pass over the leaves and the records for every level.

    Args:
        one: A generator or records.
        other: A generator or records.
        domain: Where the records live, if neither side is a generator.
        depth: Deepest level that is told apart; by default 24, or what the domain has.
    """
    space = common_domain(one, other, domain)
    depth = min(space.depth, DEPTH) if depth is None else depth
    if isinstance(depth, bool) or not isinstance(depth, int) or not 0 <= depth <= space.depth:
        raise QueryError(f"expected a depth between 0 and {space.depth}, the domain's, got {depth!r}")
    leaves = _difference(*(_leaves(side, depth) for side in (one, other)), domain=space, depth=depth)
    points = [
        (cells_of(side, space, level=depth), sign)
        for side, sign in ((one, 1.0), (other, -1.0))
        if not isinstance(side, Generator)
    ]
    codes = np.concatenate([codes for codes, _ in points]) if points else np.empty(0, dtype=np.uint64)
    masses = np.repeat([sign / codes.size for codes, sign in points], [codes.size for codes, _ in points])
    order = np.argsort(codes, kind="stable")
    return _cost(leaves, _Points(codes[order], masses[order]), space, depth)


class _Leaves(NamedTuple):
    """A partition of the domain in its order, with a mass that each of its cells spreads by the base measure."""

    codes: Codes
    levels: NDArray[np.int64]
    masses: Floats

    def starts(self, depth: int) -> Codes:
        return self.codes << (depth - self.levels).astype(np.uint64)


class _Points(NamedTuple):
    """Masses on cells of one level, in order; a cell may come more than once."""

    codes: Codes
    masses: Floats


def _leaves(side: Side, depth: int) -> _Leaves:
    """The leaves of a generator, none deeper than the depth; for records the whole domain with nothing on it."""
    if not isinstance(side, Generator):
        return _Leaves(np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.zeros(1))
    grown = side.leaves()
    codes = grown.codes >> np.maximum(grown.levels - depth, 0).astype(np.uint64)
    levels = np.minimum(grown.levels, depth)
    starts = codes << (depth - levels).astype(np.uint64)
    first = np.flatnonzero(np.diff(starts, prepend=starts[:1] + np.uint64(1)))
    return _Leaves(codes[first], levels[first], np.add.reduceat(side.probabilities, first))


def _difference(one: _Leaves, other: _Leaves, *, domain: Domain, depth: int) -> _Leaves:
    """One side less the other on the cells that both have in common: where they meet, the deeper leaf."""
    starts = sorted_once(one.starts(depth), other.starts(depth))
    own = [np.searchsorted(side.starts(depth), starts, side="right") - 1 for side in (one, other)]
    levels = np.maximum(one.levels[own[0]], other.levels[own[1]])
    codes = starts >> (depth - levels).astype(np.uint64)
    measures = _measures(codes, levels, domain)
    masses = np.zeros(starts.shape)
    for side, places, sign in ((one, own[0], 1.0), (other, own[1], -1.0)):
        wholes = _measures(side.codes, side.levels, domain)[places]
        masses += sign * side.masses[places] * np.divide(measures, wholes, out=np.ones_like(wholes), where=wholes > 0)
    return _Leaves(codes, levels, masses)


def _measures(codes: Codes, levels: NDArray[np.int64], domain: Domain) -> Floats:
    measures = np.empty(codes.shape)
    for level in np.unique(levels).tolist():
        chosen = levels == level
        measures[chosen] = domain.measure(codes[chosen], level=level)
    return measures


def _cost(leaves: _Leaves, points: _Points, domain: Domain, depth: int) -> float:
    """What it costs to even out signed masses: at each level, what the cells have too much or too little.

    Cells that hold a point or a whole leaf are gone through one by one. All
    others lie inside leaves and have the leaf's sign, so they are summed at once.
    """
    measures = _measures(leaves.codes, leaves.levels, domain)
    above = np.concatenate([[0.0], np.cumsum(np.bincount(leaves.levels, np.abs(leaves.masses), minlength=depth + 1))])
    codes, masses = points
    inside = np.searchsorted(leaves.starts(depth), codes, side="right") - 1
    total = 0.0
    for level in range(depth, 0, -1):
        whole = np.flatnonzero(leaves.levels == level)
        codes, masses, inside = _gathered(
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


def _gathered(codes: Codes, masses: Floats, inside: NDArray[np.int64]) -> tuple[Codes, Floats, NDArray[np.int64]]:
    """Each cell once, in order, with all its mass and the leaf that it lies in, if it lies in one."""
    order = np.argsort(codes, kind="stable")
    first = np.flatnonzero(np.diff(codes[order], prepend=~codes[order][:1]))
    masses = np.add.reduceat(masses[order], first) if first.size else masses
    return codes[order][first], masses, inside[order][first]

"""Growing the partition: from a release to the leaves of its tree.

A pure function of the release, by the rule that its plan names: least squares
over all that was measured, or Algorithm 2 of the paper, top-down, one measured
level at a time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privhp.answers.estimators import share_out
from privhp.answers.hierarchy import Hierarchy
from privhp.core.cells import Codes, Floats, descendants, domain_order
from privhp.kernels import estimate
from privhp.release import Release


@dataclass(frozen=True)
class Leaves:
    """A partition of the domain, in the domain's own order; its arrays are read-only.

    Args:
        codes: Cell of each leaf.
        levels: Level of each leaf.
        counts: Consistent noisy count of each leaf, non-negative.
    """

    codes: Codes
    levels: NDArray[np.int64]
    counts: Floats

    def __post_init__(self) -> None:
        for array in (self.codes, self.levels, self.counts):
            array.flags.writeable = False


def grow(release: Release) -> Leaves:
    """The leaves of the tree that the release describes."""
    if release.plan.inference == "top-down":
        return _grow_top_down(release)
    grown: list[tuple[Codes, int | NDArray[np.int64], Floats]] = []
    for layer in Hierarchy(release).layers:
        leaves = layer.leaves()
        grown.append((layer.codes[leaves], layer.levels[leaves], layer.found[leaves]))
    return _in_order(grown, release.plan.depth)


def _grow_top_down(release: Release) -> Leaves:
    plan, domain = release.plan, release.plan.domain
    level = plan.exact_levels[0]
    codes = np.arange(2**level, dtype=np.uint64)
    live = domain.measure(codes, level=level) > 0
    counts = np.where(live, np.maximum(release.counts[level], 0.0), 0.0)
    grown: list[tuple[Codes, int | NDArray[np.int64], Floats]] = []
    for deeper in [*plan.exact_levels[1:], *plan.sketched_levels]:
        if level >= plan.exact_depth:
            everything = plan.expand == "all" and level == plan.exact_depth
            hot = np.ones(codes.shape, dtype=np.bool_) if everything else _hottest(counts, plan.hot_cells)
            grown.append((codes[~hot], level, counts[~hot]))
            codes, counts = codes[hot], counts[hot]
        children = descendants(codes, levels=deeper - level)
        estimates = _estimates(release, deeper, children)
        codes, level = children.ravel(), deeper
        live = domain.measure(codes, level=level) > 0
        counts = share_out(counts, estimates, live.reshape(children.shape)).ravel()
    grown.append((codes, level, counts))
    return _in_order(grown, plan.depth)


def _hottest(counts: Floats, most: int) -> NDArray[np.bool_]:
    """Which are the largest counts, the lower cell first on a tie."""
    hot = np.zeros(counts.shape, dtype=np.bool_)
    hot[np.argsort(-counts, kind="stable")[:most]] = True
    return hot


def _estimates(release: Release, level: int, cells: Codes) -> Floats:
    """What the release says of cells of a measured level."""
    counters = release.counts[level]
    if level <= release.plan.exact_depth:
        return counters[cells.view(np.int64)].astype(np.float64)
    words, apart = release.plan.hash_coefficients(level), level - release.plan.hash_levels[level]
    return estimate(counters, words, cells, apart=apart).astype(np.float64)


def _in_order(grown: list[tuple[Codes, int | NDArray[np.int64], Floats]], depth: int) -> Leaves:
    codes = np.concatenate([codes for codes, _, _ in grown])
    levels = np.concatenate([np.broadcast_to(level, codes.shape) for codes, level, _ in grown])
    counts = np.concatenate([counts for _, _, counts in grown])
    order = domain_order(codes, levels, depth=depth)
    return Leaves(codes[order], levels[order], counts[order])

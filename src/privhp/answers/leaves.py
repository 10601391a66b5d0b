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
from privhp.domains.domain import Domain
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

    def measure(self, domain: Domain) -> Floats:
        """Base measure of each leaf."""
        measures = np.empty(self.counts.shape)
        for level in np.unique(self.levels).tolist():
            chosen = self.levels == level
            measures[chosen] = domain.measure(self.codes[chosen], level=level)
        return measures


def build_leaves(hierarchy: Hierarchy) -> Leaves:
    """Leaves of a solved hierarchy, with its least-squares estimates."""
    layers = list(zip(hierarchy.layers, hierarchy.leaf_masks, strict=True))
    codes, levels, counts = (
        np.concatenate([getattr(layer, name)[leaf] for layer, leaf in layers]) for name in ("codes", "levels", "found")
    )
    order = hierarchy.leaf_order
    return Leaves(codes[order], levels[order], counts[order])


def build_leaves_top_down(release: Release) -> Leaves:
    """Leaves by the paper's Algorithm 2: from the root down, one measured level at a time."""
    plan, domain = release.plan, release.plan.domain
    level = plan.exact_levels[0]
    codes = np.arange(2**level, dtype=np.uint64)
    live = domain.measure(codes, level=level) > 0
    counts = np.where(live, np.maximum(release.counts[level], 0.0), 0.0)
    grown: list[tuple[Codes, int, Floats]] = []
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
    codes = np.concatenate([codes for codes, _, _ in grown])
    levels = np.concatenate([np.full(codes.shape, level) for codes, level, _ in grown])
    counts = np.concatenate([counts for _, _, counts in grown])
    order = domain_order(codes, levels, depth=plan.depth)
    return Leaves(codes[order], levels[order], counts[order])


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

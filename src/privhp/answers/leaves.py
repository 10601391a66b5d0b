"""The leaves of a release: a partition of the domain with a consistent, non-negative count for each cell.

The leaves are a pure function of the release. The plan names the inference:
least squares over all measurements, or the paper's Algorithm 2, top-down.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privhp import kernels
from privhp.answers.constrained_inference import enforce_consistency
from privhp.answers.hierarchy import Hierarchy
from privhp.core.cells import Codes, Floats, by_level, descendants, domain_order
from privhp.domains.domain import Domain
from privhp.release import Release


@dataclass(frozen=True)
class CountedCells:
    """Cells of a domain with their counts, some of which may lie inside others; its arrays are read-only.

    Args:
        codes: Code of each cell.
        levels: Level of each cell.
        counts: Consistent, non-negative estimate of the count of each cell.
    """

    codes: Codes
    levels: NDArray[np.int64]
    counts: Floats

    def __post_init__(self) -> None:
        for array in (self.codes, self.levels, self.counts):
            array.flags.writeable = False


class Leaves(CountedCells):
    """A partition of the domain, in the order of the domain, with the count of each leaf."""

    def measure(self, domain: Domain) -> Floats:
        """Base measure of each leaf."""
        measures = np.empty(self.counts.shape)
        for level, chosen in by_level(self.levels):
            measures[chosen] = domain.measure(self.codes[chosen], level=level)
        return measures


def build_leaves(hierarchy: Hierarchy) -> Leaves:
    """Leaves of a solved hierarchy, with their least-squares estimates."""
    order = hierarchy.leaf_order
    return Leaves(*(hierarchy.leaf_values(name)[order] for name in ("codes", "levels", "estimate")))


def build_leaves_top_down(release: Release) -> Leaves:
    """Leaves by the paper's Algorithm 2: from the root down, one measured level at a time."""
    plan, domain = release.plan, release.plan.domain
    level = plan.exact_levels[0]
    codes = np.arange(2**level, dtype=np.uint64)
    possible = domain.measure(codes, level=level) > 0
    counts = np.where(possible, np.maximum(release.counts[level], 0.0), 0.0)
    leaves: list[tuple[Codes, int, Floats]] = []
    for next_level in [*plan.exact_levels[1:], *plan.sketched_levels]:
        if level >= plan.exact_depth:
            split_all = plan.expand == "all" and level == plan.exact_depth
            split = np.ones(codes.shape, dtype=np.bool_) if split_all else _largest(counts, plan.hot_cells)
            leaves.append((codes[~split], level, counts[~split]))
            codes, counts = codes[split], counts[split]
        children = descendants(codes, levels=next_level - level)
        estimates = _lookup(release, next_level, children)
        codes, level = children.ravel(), next_level
        possible = domain.measure(codes, level=level) > 0
        counts = enforce_consistency(counts, estimates, possible.reshape(children.shape)).ravel()
    leaves.append((codes, level, counts))
    all_codes = np.concatenate([codes for codes, _, _ in leaves])
    all_levels = np.concatenate([np.full(codes.shape, level) for codes, level, _ in leaves])
    all_counts = np.concatenate([counts for _, _, counts in leaves])
    order = domain_order(all_codes, all_levels, depth=plan.depth)
    return Leaves(all_codes[order], all_levels[order], all_counts[order])


def _largest(counts: Floats, number: int) -> NDArray[np.bool_]:
    """Mask of the largest counts; on a tie the lower cell comes first."""
    mask = np.zeros(counts.shape, dtype=np.bool_)
    mask[np.argsort(-counts, kind="stable")[:number]] = True
    return mask


def _lookup(release: Release, level: int, cells: Codes) -> Floats:
    """Noisy counts of cells of a measured level: its counters, or estimates from its sketch."""
    counters = release.counts[level]
    if level <= release.plan.exact_depth:
        return counters[cells.view(np.int64)].astype(np.float64)
    coefficients, levels_below = release.plan.hash_coefficients(level), level - release.plan.hash_levels[level]
    return kernels.estimate_counts(counters, coefficients, cells, levels_below=levels_below).astype(np.float64)

"""Standard errors by their definition: leaf by leaf and parent by parent, with all weights, also those that are 0."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privhp.answers.hierarchy_errors import HierarchyErrors
from privhp.answers.projected_leaves import ProjectedLeaves
from privhp.answers.share_deviations import heap_deviation, slope_deviation
from privhp.answers.standard_errors import LeafShares
from privhp.core.cells import Codes
from privhp.domains.shares import ALMOST_ONE, MIN_SHARE, AxisShares

Floats = NDArray[np.float64]


def dense_shares(leaves: ProjectedLeaves, region: Any) -> LeafShares:
    """Shares of all leaves in a region, one after the other."""
    mean, deviation, scatter = np.array([_leaf_share(leaves, region, leaf) for leaf in range(leaves.codes.size)]).T
    return LeafShares.of_region(np.arange(mean.size), mean, deviation, scatter)


def _leaf_share(leaves: ProjectedLeaves, region: Any, leaf: int) -> tuple[float, float, float]:
    parts = leaves.domain.axis_shares(region, leaves.codes[[leaf]], level=int(leaves.levels[leaf]))
    sides = [_side_share(leaves, region, part.axis, leaf) for part in parts]
    mean, deviation, variance = math.prod(share for share, _, _ in sides), 0.0, 0.0
    for index, (_, own, scatter) in enumerate(sides):
        others = math.prod(share for other, (share, _, _) in enumerate(sides) if other != index)
        deviation += others * own
        variance += (others * scatter) ** 2
    mean = max(mean, MIN_SHARE) if all(share > 0 for share, _, _ in sides) else 0.0
    return mean, deviation * (mean > 0), variance**0.5 * (mean > 0)


def _side_share(leaves: ProjectedLeaves, region: Any, axis: int, leaf: int) -> tuple[float, float, float]:
    """Share of the side of a leaf in a region, with its deviation and scatter."""
    codes, level = leaves.codes[[leaf]], int(leaves.levels[leaf])
    (part,) = (own for own in leaves.domain.axis_shares(region, codes, level=level) if own.axis == axis)
    cells, cuts = leaves.domain.axis_cells(codes, level=level)[axis]
    scatter = float(slope_deviation(part.share, leaves.unevenness[axis].further_own(cuts))[0])
    division = leaves.divisions.get(axis)
    group = 0 if division is None else int(division.group_of_leaf[leaf])
    divided = _divided_share(leaves, region, axis, (int(cells[0]), cuts), group)
    if divided is not None:
        return *divided, scatter
    share, deviation = _even_share(leaves, region, axis, (codes[0], level), group)
    return share, max(deviation, _expected_error(leaves, region, part, level, (cells, cuts))), scatter


def _divided_share(
    leaves: ProjectedLeaves, region: Any, axis: int, side: tuple[int, int], group: int
) -> tuple[float, float] | None:
    """Share of a side in a region by those of its halves, and its deviation; None if no cell shows its halves."""
    cell, cuts = side
    division = leaves.divisions.get(axis)
    known = division.known.get(cuts) if division else None
    if known is None or cell not in known.sides.tolist():
        return None
    index = known.sides.tolist().index(cell)
    halves = []
    for half in (0, 1):
        inner = _divided_share(leaves, region, axis, (2 * cell + half, cuts + 1), group)
        if inner is None:
            code = known.codes[index] * np.uint64(2) + np.uint64(half)
            inner = _even_share(leaves, region, axis, (code, known.level + 1), group)
        halves.append(inner)
    (first, first_deviation), (second, second_deviation) = halves
    share, told = known.first[group, index], known.told[group, index]
    mean = first if first == second else min(max(share * first + (1 - share) * second, MIN_SHARE), ALMOST_ONE)
    by_halves = share * first_deviation + (1 - share) * second_deviation
    dependence = math.sqrt(_dependence(leaves, region, axis, (cell, cuts), group, told)[cuts])
    by_dependence = dependence * (
        (1 - dependence) * math.sqrt(share * (1 - share)) + dependence * max(share, 1 - share)
    )
    variance = by_halves**2 + (max(known.deviation[group, index], by_dependence) * (first - second)) ** 2
    _, even_deviation = _even_share(leaves, region, axis, (known.codes[index], known.level), group)
    weight = (1 - known.shown[group, index]) ** 2
    return float(mean), math.sqrt((1 - weight) * variance + weight * even_deviation**2)


def _even_share(
    leaves: ProjectedLeaves, region: Any, axis: int, place: tuple[np.uint64, int], group: int
) -> tuple[float, float]:
    """Share of the side of a cell in a region if its records are even, and its deviation."""
    domain, codes, level = leaves.domain, np.array([place[0]]), place[1]
    (part,) = (own for own in domain.axis_shares(region, codes, level=level) if own.axis == axis)
    ((cell,), cuts), unevenness, share = (
        domain.axis_cells(codes, level=level)[axis],
        leaves.unevenness[axis],
        part.share,
    )
    heap = _heap(leaves, axis, int(cell), cuts) * max(share[0], 1 - share[0]) * (0 < share[0] < 1)
    heaped = unevenness.further_heaps(cuts)
    steepness = np.array([_steepness(leaves, axis, int(cell), cuts)])
    dependence = _dependence(leaves, region, axis, (int(cell), cuts), group, 0.0)
    further = [
        max(own, dependence[min(cuts + more, dependence.size - 1)])
        for more, own in enumerate(unevenness.further(np.array([cell]), cuts, steepness)[:, 0])
    ]
    slopes = slope_deviation(share, np.array(further)[:, None] - heaped[:, None])
    return float(share[0]), max(math.hypot(float(slopes[0]), float(heap_deviation(share, heaped)[0])), heap)


def _dependence(
    leaves: ProjectedLeaves, region: Any, axis: int, side: tuple[int, int], group: int, told: float
) -> Floats:
    """Squared dependence of a side in a group on all that the region or the condition cuts, by the number of cuts."""
    whole = leaves.domain.axis_shares(region, np.zeros(1, dtype=np.uint64), level=0)
    cut = {leaves.table_axes[own.axis] for own in whole if own.share[0] < 1} | leaves.condition.axes
    division, own = leaves.divisions.get(axis), leaves.table_axes[axis]
    if division is None or not cut & division.groups.axes:
        return leaves.dependence.on(own, cut)
    factor = 1.0
    if _is_whole(leaves, region, axis, group):
        cell, cuts = side
        around = [(above, cell >> (cuts - above)) for above in range(cuts, -1, -1)]
        limits = (
            division.known[above].limit[group, division.known[above].sides.tolist().index(place)]
            for above, place in around
            if above in division.known and place in division.known[above].sides.tolist()
        )
        factor = float(next(limits, 1.0)) * (1.0 - told)
    return np.maximum(division.dependence[group] * factor**2, leaves.dependence.on(own, cut - division.groups.axes))


def _is_whole(leaves: ProjectedLeaves, region: Any, axis: int, group: int) -> bool:
    """Whether what the region restricts of other axes, and the condition, hold a group as a whole or not at all."""
    held = total = 0.0
    for leaf in np.flatnonzero(leaves.divisions[axis].group_of_leaf == group):
        parts = leaves.domain.axis_shares(region, leaves.codes[[leaf]], level=int(leaves.levels[leaf]))
        others = math.prod(float(part.share[0]) for part in parts if part.axis != axis)
        held += leaves.release.counts[leaf] * others * leaves.condition.share[leaf]
        total += leaves.release.counts[leaf]
    return held <= 0 or held >= (1 - 1e-9) * total


def _heap(leaves: ProjectedLeaves, axis: int, cell: int, cuts: int) -> float:
    """Share of the records of a side beyond the mean of its neighbours; of a side that is divided, of one half."""
    before, own, after = (_count(leaves, axis, cell + step, cuts) for step in (-1, 0, 1))
    excess = min(max(1 - (before + after) / 2 / max(own, 1e-300), 0.0), 1.0)
    unevenness = leaves.unevenness[axis]
    if 0 < cell < 2**cuts - 1:
        least = min(before, after)
        beyond_least = min(max(1 - least / max(own, 1e-300), 0.0), 1.0)
        imbalance = max(excess, beyond_least / (2 - beyond_least))
        excess = beyond_least if imbalance > min(2 * math.sqrt(unevenness.by_cuts[cuts - 1]), 0.9) else 0.0
    if excess == 0 or not unevenness.are_measured(np.array([cell], dtype=np.uint64), cuts)[0]:
        return excess
    halves = [(_count(leaves, axis, half, cuts + 1), half) for half in (2 * cell, 2 * cell + 1)]
    return max(count * _heap(leaves, axis, half, cuts + 1) for count, half in halves) / max(own, 1e-300)


def _steepness(leaves: ProjectedLeaves, axis: int, cell: int, cuts: int) -> float:
    """A fourth of the logarithm of a side's count in units of that of its smaller neighbour."""
    own = max(_count(leaves, axis, cell, cuts), 1.0)
    neighbours = [cell + step for step in (-1, 1) if 0 <= cell + step < 2**cuts]
    if not neighbours:
        return 0.0
    smaller = max(min(_count(leaves, axis, each, cuts) for each in neighbours), 1.0)
    rate = math.log(own / smaller) / 4
    return abs(rate) if len(neighbours) == 1 else max(rate, 0.0)


def _is_null(leaves: ProjectedLeaves, axis: int, code: Codes, level: int) -> bool:
    """Whether a leaf holds null alone in the column of an axis of values."""
    domain = leaves.domain
    columns = zip(domain.columns, domain.column_axes, strict=True)
    nulls = {own: axes[0] for column, axes in columns if column.domain.nullable for own in axes[1:]}
    if domain.nullable:
        nulls = dict.fromkeys(range(1, len(domain.axis_cells(code, level=level))), 0)
    if axis not in nulls:
        return False
    (place,), cuts = domain.axis_cells(code, level=level)[nulls[axis]]
    return cuts > 0 and place == 0


def _count(leaves: ProjectedLeaves, axis: int, cell: int, cuts: int) -> float:
    """Count of all leaves with values in a cell along an axis, if each leaf is even."""
    low, high, total = cell * 0.5**cuts, (cell + 1) * 0.5**cuts, 0.0
    for code, level, count in zip(leaves.codes, leaves.levels, leaves.release.counts, strict=True):
        (place,), own = leaves.domain.axis_cells(np.array([code]), level=int(level))[axis]
        first, last = int(place) * 0.5**own, (int(place) + 1) * 0.5**own
        if _is_null(leaves, axis, np.array([code]), int(level)):
            continue
        total += count * max(min(high, last) - max(low, first), 0.0) / (last - first)
    return float(total)


def _expected_error(
    leaves: ProjectedLeaves, region: Any, part: AxisShares, level: int, side: tuple[Codes, int]
) -> float:
    """Error of the share of a leaf along an axis, if its records lie as those of the finer leaves along this axis."""
    if not 0 < part.share[0] < 1:
        return 0.0
    (cell,), cuts = side
    own = total = inside = 0.0
    for code, other, count in zip(leaves.codes, leaves.levels, leaves.release.counts, strict=True):
        (place,), more = leaves.domain.axis_cells(np.array([code]), level=int(other))[part.axis]
        there = more >= cuts and int(place) >> (more - cuts) == int(cell)
        if there and not _is_null(leaves, part.axis, np.array([code]), int(other)):
            parts = leaves.domain.axis_shares(region, np.array([code]), level=int(other))
            share = next(each.share[0] for each in parts if each.axis == part.axis)
            own += count * (more == cuts)
            total += count * (more > cuts)
            inside += count * share * (more > cuts)
    return float(abs(inside - total * part.share[0]) / max(own + total, 1e-300))


def dense_standard_error(errors: HierarchyErrors, shares: LeafShares) -> float:
    """Standard error of the mass of a region, given the shares of all leaves."""
    top = errors.hierarchy.layers[0]
    total = float(top.estimate.sum())
    if total <= 0:
        return 1.0
    weights, variance, _ = _climb(errors, shares.mean, unbiased=False)
    share = float(shares.mean @ errors.counts) / total
    variance += float((weights - share) ** 2 @ top.variance)
    inside = float(shares.variance @ errors.counts + shares.scatter**2 @ errors.counts**2)
    weights, unbiased_variance, difference = _climb(errors, shares.mean, unbiased=True)
    weights = weights - share
    estimate, own_variance = (np.where(top.possible, own, 0.0) for own in (top.subtree_estimate, top.subtree_variance))
    difference += float(weights @ (estimate - top.estimate))
    unbiased_variance += float(weights**2 @ own_variance)
    removed = max(unbiased_variance - variance, 0.0)
    squared_bias = max(difference**2 - removed, 0.0)
    if not errors.hierarchy.trusts_sums:
        count = float(shares.mean @ errors.counts)
        squared_bias = max(squared_bias, min(difference**2 / 4 + removed / 2, min(count, total - count) ** 2))
    resolution = float(shares.deviation @ errors.counts)
    return min(float(np.sqrt(variance + inside + squared_bias + resolution**2)) / total, 1.0)


def _climb(errors: HierarchyErrors, mean: Floats, *, unbiased: bool) -> tuple[Floats, float, float]:
    """Weights of the top layer, and the variance and the difference that the layers below it add."""
    layers, weights = errors.hierarchy.layers, _by_layer(errors, mean)
    variance = difference = 0.0
    for index in range(len(layers) - 2, -1, -1):
        below = layers[index + 1]
        for parents, children, measurement in layers[index].child_groups:
            for parent, own in zip(parents, children, strict=True):
                spread = np.where(below.possible, below.subtree_variance, 0.0)[own] if unbiased else below.variance[own]
                prior = spread
                if measurement == "hashed":
                    possible = below.possible[own]
                    each = 0.0 if unbiased else np.sqrt(spread.sum()) * possible / max(possible.sum(), 1)
                    prior = below.estimate[own] + each
                weight = (weights[index + 1][own] * prior).sum() / max(prior.sum(), 1e-300)
                weights[index][parent] = weight
                if measurement == "counted" or not unbiased:
                    residuals = weights[index + 1][own] - weight
                    variance += float(residuals**2 @ spread)
                    estimate = np.where(below.possible, below.subtree_estimate, 0.0)[own]
                    difference += float(residuals @ (estimate - below.estimate[own]))
    return weights[0], variance, difference


def _by_layer(errors: HierarchyErrors, values: Floats) -> list[Floats]:
    """Values of the leaves in the order of the domain, by layer; 0 for cells that have children."""
    hierarchy = errors.hierarchy
    listed = np.empty(values.shape)
    listed[hierarchy.leaf_order] = values
    found, start = [], 0
    for mask in hierarchy.leaf_masks:
        own = np.zeros(mask.shape)
        own[mask] = listed[start : start + np.count_nonzero(mask)]
        found.append(own)
        start += np.count_nonzero(mask)
    return found

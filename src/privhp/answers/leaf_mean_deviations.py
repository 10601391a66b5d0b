"""How far the mean of the records of each leaf on a line may be from that of the base measure."""

import numpy as np

from privhp.answers.projected_leaves import ProjectedLeaves
from privhp.answers.share_deviations import mean_deviation
from privhp.answers.unevenness import FINER_CUTS
from privhp.core.cells import Floats, by_level


def leaf_mean_deviations(leaves: ProjectedLeaves) -> Floats:
    """Standard deviation of the mean of the records of each leaf on a line, as a share of its width."""
    codes, levels, cell_of_leaf = leaves.cells
    axis, (groups, group_of_leaf) = leaves.line_axis, leaves.groups(leaves.line_axis)
    division, dependent = leaves.divisions.get(axis), leaves.dependent_on(axis)
    evenly = leaves.unevenness[-1].by_cuts
    dependently = np.maximum(dependent.on_groups, dependent.on_others)
    dependently = dependently[:, np.minimum(np.arange(evenly.size), dependently.shape[1] - 1)]
    deepest = max(int(levels.max(initial=0)), 0 if division is None else division.deepest)
    even, *rows = (_by_cuts(each, deepest) for each in (evenly, *dependently))
    by_group = np.array(rows)
    divided = {} if division is None else division.mean_deviations(even, by_group, dependent)
    deviations = np.empty((groups, codes.size))
    for level, here in by_level(levels):
        sides, cuts = leaves.domain.axis_cells(codes[here], level=level)[axis]
        deviations[:, here] = np.maximum(even[cuts], by_group[:, cuts, None])
        if division is not None and cuts in divided:
            known, index = division.find(sides, cuts)
            deviations[:, here[known]] = divided[cuts][:, index]
    of_leaves: Floats = deviations[group_of_leaf, cell_of_leaf]
    return of_leaves


def _by_cuts(unevenness: Floats, deepest: int) -> Floats:
    """Deviation of the mean of sides by the number of their cuts, from their unevenness and that of finer sides."""
    return np.array([mean_deviation(unevenness[cuts : cuts + FINER_CUTS]) for cuts in range(deepest + 1)])

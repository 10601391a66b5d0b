"""Error model: predicted 1-Wasserstein distance between the records and the generator.

The model takes the noise variances and sizes of a plan, never a record, and splits the distance into noise, sketch
collisions and resolution, for each kind of stream. On a line the distance is exact. Elsewhere it is the tree
distance: two records are as far apart as the diameter of their smallest common cell.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from privhp.planning.parameter_checks import COUNTER_BYTES
from privhp.planning.streams import ATOMS, MEAN_ABS_NORMAL, MIN_UNEVENNESS, Expected, Geometry, Stream, expect


class Prediction(NamedTuple):
    """Expected distance between records and generator and its components, in the domain's unit."""

    total: float
    noise: float
    collisions: float
    resolution: float


KNOWN = (1.0,)
"""Weights that stand for a partition from elsewhere: as if it was learned on all records."""


class LearnedPartition(NamedTuple):
    """A learned partition, as far as the error depends on it.

    Args:
        level: Its root level.
        variance: Noise variance of a leaf.
        nbytes: Bytes of the partition, at most.
        weights: Sampling rate of each pass that learns it, times the budget of the pass as a share of that of a leaf:
            counts are as certain as those of this share of the records with the budget of a leaf.
    """

    level: int
    variance: float
    nbytes: int
    weights: tuple[float, ...]


class Sketches(NamedTuple):
    """The sketched levels, as far as the error depends on them.

    Args:
        variances: Noise variance of a bucket at each level.
        rows: Rows of a sketch.
        width: Buckets of a row.
        hot_cells: Cells of each level that are split further.
    """

    variances: Mapping[int, float]
    rows: int
    width: int
    hot_cells: int


class Measurements(NamedTuple):
    """The measurements of a plan, as far as the error depends on them.

    Args:
        geometry: Geometry of the domain.
        expected_records: Expected number of records.
        exact: Noise variance of a cell at each exact level, coarsest first.
        deeper: Measurement of the levels below the exact ones.
    """

    geometry: Geometry
    expected_records: float
    exact: Mapping[int, float]
    deeper: LearnedPartition | Sketches | None = None


def predict_error(measurements: Measurements, stream: Stream) -> Prediction:
    """Expected distance for one kind of stream."""
    expected = expect(measurements.geometry, measurements.expected_records, stream)
    return predict(expected, measurements.exact, measurements.deeper)


def predict(expected: Expected, exact: Mapping[int, float], deeper: LearnedPartition | Sketches | None) -> Prediction:
    """Expected distance for a stream.

    Args:
        expected: What is expected of the stream.
        exact: Noise variance of a cell at each exact level, coarsest first.
        deeper: Measurement of the levels below the exact ones.
    """
    levels, variances, n = list(exact), list(exact.values()), expected.records
    leaf, collisions, leaf_variance = max(levels, default=0), 0.0, 0.0
    if isinstance(deeper, LearnedPartition):
        leaf, leaves = _learned_leaves(expected, deeper)
        leaf_variance = deeper.variance
        levels.append(deeper.level)
        variances.append(leaf_variance * leaves)
    fluctuation, unevenness = expected.resolution(leaf)
    if isinstance(deeper, Sketches):
        unevenness, collisions = _sketch_errors(expected, leaf, deeper)
    _combine_bottom_up(levels, variances)
    if leaf_variance and leaf > levels[-1]:
        levels.append(leaf)
        variances.append(leaf_variance)
    if expected.geometry.is_line:
        noise = _line_noise(expected, levels, variances) * expected.geometry.diameters[0]
        total = math.hypot(noise, fluctuation) + unevenness  # noise and fluctuation are independent and signed
    else:
        noise = _tree_noise(expected, levels, variances)
        total = noise + fluctuation + unevenness
    return Prediction((total + collisions) / n, noise / n, collisions / n, (fluctuation + unevenness) / n)


def distance_without_noise(expected: Expected, leaf: int, sketched: int) -> float:
    """Lower bound of the expected distance for a stream, which is computed fast.

    Args:
        expected: What is expected of the stream.
        leaf: Level of the leaves.
        sketched: Level at which sketches find all atoms; that of the leaves without sketches.
    """
    return sum(expected.resolution(sketched if expected.stream == "sparse" else leaf)) / expected.records


def leaf_level(measurements: Measurements, stream: Stream) -> int:
    """Level of the leaves that hold most records of a stream."""
    if isinstance(measurements.deeper, LearnedPartition):
        expected = expect(measurements.geometry, measurements.expected_records, stream)
        return _learned_leaves(expected, measurements.deeper)[0]
    return max(measurements.exact)


def _noisy_cells(expected: Expected, level: int, *, variance: float) -> float:
    """Number of cells whose noise remains in the estimates: all, or the occupied ones if inference finds them."""
    occupied = expected.occupied[level]
    return occupied if expected.records > expected.tuning.occupied_z * math.sqrt(variance) * occupied else 2.0**level


def _learned_leaves(expected: Expected, partition: LearnedPartition) -> tuple[int, float]:
    """Level of the leaves that hold the records, and noisy leaves of each root that holds any.

    See `collect.refinement`. On a line, trusted sums leave out the noise of empty leaves.
    """
    tuning, level, stream = expected.tuning, partition.level, expected.stream
    unevenness = 1.0 if stream == "sparse" else max(tuning.min_unevenness, MIN_UNEVENNESS.get(stream, 0.0))
    roots = expected.occupied[level]
    free, used = partition.nbytes / COUNTER_BYTES - 2.0**level, 0.0
    # The number of records with `_split_signal(records, unevenness) == tuning.split_signal * partition.variance`.
    square = unevenness**2
    least = (math.sqrt(1.0 + 4.0 * square * tuning.split_signal * partition.variance) - 1.0) / (2.0 * square)
    for number, weight in enumerate(partition.weights, start=1):
        cells = expected.occupied[level]
        records = expected.records / cells
        if records * weight <= tuning.split_z * math.sqrt(partition.variance):
            continue
        affordable = _halvings((free * number / len(partition.weights) - used) / cells)
        most = tuning.zoom_levels if 1.0 / cells >= tuning.zoom_share else tuning.max_split_levels
        deepest = min(most, expected.geometry.depth - level, affordable)
        steps = min(deepest, _halvings(2.0 * records / least))
        used += cells * (2.0**steps - 1.0)
        level += steps
    leaves = roots + used
    if expected.geometry.is_line:
        leaves = min(leaves, _noisy_cells(expected, level, variance=partition.variance))
    return level, leaves / roots


def _halvings(ratio: float) -> int:
    return int(math.log2(max(ratio, 1.0)))


def _combine_bottom_up(levels: list[int], variances: list[float]) -> None:
    """Replace the variances by those of inverse-variance means of a cell and the sum of its children."""
    for index in range(len(levels) - 2, -1, -1):
        children = variances[index + 1] * 2.0 ** (levels[index + 1] - levels[index])
        variances[index] = variances[index] * children / (variances[index] + children)


def _line_noise(expected: Expected, levels: list[int], variances: list[float]) -> float:
    """Noise on a line of length 1, in records: the mean absolute error of the distribution function.

    Conditional on the parent, the error of the distribution function inside a group of g cells is a bridge, with
    variance 0 at the ends, g / 4 in the middle and g / 6 on average. Bridges of different levels are independent. A
    point in an empty cell has the error of the coarser levels only.
    """
    total, bridges, above, inside, coarser = 0.0, 0.0, 1.0, 1.0, 0
    for level, variance in zip(levels, variances, strict=True):
        cells = _noisy_cells(expected, level, variance=variance)
        group, noise, left = cells / above, 0.0, 0.0
        for split in range(coarser + 1, level + 1):
            difference = variance * 2.0 ** (level - split + 1)
            noise += difference
            left += _tempered(difference, expected.signals[split])
        bridges += variance * (group - 1.0 / group) / 6.0 * (left / noise if noise else 1.0)
        deeper = cells / 2.0**level if level != levels[-1] else 0.0
        total += (inside - deeper) * math.sqrt(bridges)
        above, inside, coarser = cells, deeper, level
    return MEAN_ABS_NORMAL * total


def _tempered(noise: float, signal: float) -> float:
    """Squared error of the difference of two halves, tempered by its noise; see `answers.constrained_inference`."""
    return noise * signal / (noise + signal)


def _tree_noise(expected: Expected, levels: list[int], variances: list[float]) -> float:
    """Noise in the tree distance, in records times distance: the absolute errors of all cells times their edges.

    All cells of a group count as occupied. If inference finds some of them
    empty, the others gain as much noise as the empty ones lose.
    """
    total, error, above, cells, most = 0.0, 0.0, 0, 1.0, 2.0 * expected.records
    signals, edges, sqrt = expected.signals, expected.edges, math.sqrt
    for level, variance in zip(levels, variances, strict=True):
        noisy, noise = _noisy_cells(expected, level, variance=variance), variance * 2.0 ** (level - above)
        for split in range(above + 1, level + 1):
            cells *= 2.0
            signal = signals[split]
            error = (error + noise * signal / (noise + signal)) / 4.0  # tempered; a call is slow here
            deviations = MEAN_ABS_NORMAL * sqrt(error) * (cells if cells < noisy else noisy)
            total += edges[split] * (deviations if deviations < most else most)
            noise /= 2.0
        above = level
    return total


def _sketch_errors(expected: Expected, above: int, sketches: Sketches) -> tuple[float, float]:
    """Unevenness that remains after hot cells are split, and the error that the sketches below a level add."""
    geometry, n = expected.geometry, expected.records
    unevenness = expected.resolution(above)[1]
    if expected.stream != "sparse":  # children as full as their siblings are left uniform
        return unevenness, 0.0
    left, added, hot = unevenness, 0.0, 1.0
    collision = n / ATOMS * min(1.0, ATOMS / sketches.width) ** sketches.rows
    for level in sorted(sketches.variances):
        cells = expected.occupied[above]
        hot = min(hot, sketches.hot_cells / cells)
        noise = math.sqrt(sketches.variances[level]) * MEAN_ABS_NORMAL
        added += hot * cells * (noise + collision) * geometry.diameters[above]
        deeper = expected.resolution(level)[1]
        left -= hot * (unevenness - deeper)
        above, unevenness = level, deeper
    return left, added

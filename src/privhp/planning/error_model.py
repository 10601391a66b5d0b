"""Error model: predicted 1-Wasserstein distance between the records and the generator.

The model takes the noise variances and sizes of a plan, never a record, and splits the distance into noise, sketch
collisions and resolution. The distribution of the records is unknown, so it predicts for four streams:

- *smooth*: uniform over the domain;
- *clustered*: uniform over a sixteenth of it, one interval of a line or 40 regions;
- *sparse*: forty atoms;
- *uneven*: clustered, and uneven at all scales.

On a line the distance is exact. Elsewhere it is the tree distance: two records
are as far apart as the diameter of their smallest common cell.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from privhp.domains.domain import Domain
from privhp.planning.parameter_checks import COUNTER_BYTES
from privhp.planning.tuning import Tuning, choose_tuning

Stream = Literal["smooth", "clustered", "sparse", "uneven"]
STREAMS: tuple[Stream, ...] = ("smooth", "clustered", "sparse", "uneven")

ATOMS = 40
"""Atoms of a sparse stream, and regions of a clustered stream outside lines."""

COVERED = {"smooth": 1.0, "clustered": 1 / 16, "sparse": 0.0, "uneven": 1 / 16}
"""Share of the domain that each stream covers."""

MIN_UNEVENNESS = {"uneven": 0.25}
"""Lower bound on the unevenness inside a cell: 0 for a uniform cell, 1 for a single atom."""

_MEAN_ABS_NORMAL = math.sqrt(2.0 / math.pi)


class Prediction(NamedTuple):
    """Expected distance between records and generator and its components, in the domain's unit."""

    total: float
    noise: float
    collisions: float
    resolution: float


class Geometry(NamedTuple):
    """The diameter of a cell at each level of a domain, and whether its values are on a line."""

    diameters: tuple[float, ...]
    is_line: bool

    @classmethod
    def of(cls, domain: Domain) -> "Geometry":
        """The geometry of a domain."""
        values = domain.columns[0].domain if len(domain.columns) == 1 else domain
        is_line = values.is_line or (values.nullable and values.inner.is_line)
        return cls(tuple(domain.diameter(level) for level in range(domain.depth + 1)), is_line)

    @property
    def depth(self) -> int:
        """Deepest level."""
        return len(self.diameters) - 1

    @property
    def tuning(self) -> Tuning:
        """Tuning constants for this geometry."""
        return choose_tuning(self.diameters, is_line=self.is_line)

    def edge(self, level: int) -> float:
        """Length of the tree's edges between a level and its parent level: half the difference of the diameters."""
        return (self.diameters[level - 1] - self.diameters[level]) / 2.0


KNOWN = (1.0,)
"""Sampling rates that stand for a partition from elsewhere: as if it was learned on all records."""


class LearnedPartition(NamedTuple):
    """A learned partition, as far as the error depends on it.

    Args:
        level: Its root level.
        variance: Noise variance of a leaf.
        nbytes: Bytes of the partition, at most.
        rates: Sampling rates of the passes that learn it.
    """

    level: int
    variance: float
    nbytes: int
    rates: tuple[float, ...]


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
        exact: Noise variance of a cell at each exact level.
        deeper: Measurement of the levels below the exact ones.
    """

    geometry: Geometry
    expected_records: float
    exact: Mapping[int, float]
    deeper: LearnedPartition | Sketches | None = None


class Expected(NamedTuple):
    """What is expected of a stream in a domain, whatever is measured.

    Args:
        geometry: Geometry of the domain.
        tuning: Tuning constants of the geometry.
        records: Number of records.
        stream: Kind of stream.
        occupied: Cells of each level that hold records.
        signals: Squared difference of the halves of the cells above each level.
        edges: Length of the tree's edges above each level: half the difference of the diameters.
    """

    geometry: Geometry
    tuning: Tuning
    records: float
    stream: Stream
    occupied: tuple[float, ...]
    signals: tuple[float, ...]
    edges: tuple[float, ...]


@lru_cache(maxsize=64)
def _expect(geometry: Geometry, records: float, stream: Stream) -> Expected:
    """Expectations for a stream."""
    occupied = tuple(_occupied_cells(geometry.is_line, level, stream) for level in range(geometry.depth + 1))
    signals = [math.inf]
    for cells, halves in pairwise(occupied):
        unevenness = max(2.0 - halves / cells, MIN_UNEVENNESS.get(stream, 0.0) ** 2)
        signals.append(_split_signal(records / cells, math.sqrt(unevenness)))
    edges = (0.0, *(geometry.edge(level) for level in range(1, geometry.depth + 1)))
    return Expected(geometry, geometry.tuning, records, stream, occupied, tuple(signals), edges)


def predict_error(measurements: Measurements, stream: Stream) -> Prediction:
    """Expected distance for one kind of stream."""
    levels, n = sorted(measurements.exact), measurements.expected_records
    expected = _expect(measurements.geometry, n, stream)
    variances = [measurements.exact[level] for level in levels]
    leaf, collisions, leaf_variance = max(levels, default=0), 0.0, 0.0
    if isinstance(measurements.deeper, LearnedPartition):
        partition = measurements.deeper
        leaf, leaves = _learned_leaves(expected, partition)
        leaf_variance = partition.variance
        levels, variances = [*levels, partition.level], [*variances, leaf_variance * leaves]
    fluctuation, unevenness = _resolution(measurements.geometry, n, leaf, stream)
    if isinstance(measurements.deeper, Sketches):
        unevenness, collisions = _sketch_errors(measurements, measurements.deeper, stream)
    variances = _bottom_up_variances(levels, variances)
    if leaf_variance and leaf > levels[-1]:
        levels, variances = [*levels, leaf], [*variances, leaf_variance]
    if expected.geometry.is_line:
        noise = _line_noise(expected, levels, variances) * expected.geometry.diameters[0]
        total = math.hypot(noise, fluctuation) + unevenness  # noise and fluctuation are independent and signed
    else:
        noise = _tree_noise(expected, levels, variances)
        total = noise + fluctuation + unevenness
    return Prediction((total + collisions) / n, noise / n, collisions / n, (fluctuation + unevenness) / n)


def leaf_level(measurements: Measurements, stream: Stream) -> int:
    """Level of the leaves that hold most records of a stream."""
    if isinstance(measurements.deeper, LearnedPartition):
        expected = _expect(measurements.geometry, measurements.expected_records, stream)
        return _learned_leaves(expected, measurements.deeper)[0]
    return max(measurements.exact)


def _occupied_cells(is_line: bool, level: int, stream: Stream) -> float:
    """Expected number of cells of a level that hold records, for regions at uniformly random positions."""
    cells = 2.0**level
    regions = 1 if is_line and stream != "sparse" else ATOMS
    touched = 1.0 / cells + COVERED[stream] / regions
    return cells if stream == "smooth" or touched >= 1.0 else -cells * math.expm1(regions * math.log1p(-touched))


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
    free, used, threshold = partition.nbytes / COUNTER_BYTES - 2.0**level, 0.0, tuning.split_signal * partition.variance
    for number, rate in enumerate(partition.rates, start=1):
        cells = expected.occupied[level]
        records = expected.records / cells
        if records * rate <= tuning.split_z * math.sqrt(partition.variance):
            continue
        affordable = _halvings((free * number / len(partition.rates) - used) / cells)
        most = tuning.zoom_levels if 1.0 / cells >= tuning.zoom_share else tuning.max_split_levels
        deepest = min(most, expected.geometry.depth - level, affordable)
        steps = 0
        while steps < deepest and _split_signal(records / 2.0**steps, unevenness) >= threshold:
            steps += 1
        used += cells * (2.0**steps - 1.0)
        level += steps
    leaves = roots + used
    if expected.geometry.is_line:
        leaves = min(leaves, _noisy_cells(expected, level, variance=partition.variance))
    return level, leaves / roots


def _split_signal(records: float, unevenness: float) -> float:
    """Expected squared difference of the two halves of a cell."""
    return (unevenness * records) ** 2 + records


def _halvings(ratio: float) -> int:
    return int(math.log2(max(ratio, 1.0)))


def _bottom_up_variances(levels: list[int], variances: list[float]) -> list[float]:
    """Variance of each level's subtree estimate: the inverse-variance mean of a cell and the sum of its children."""
    combined = list(variances)
    for index in range(len(levels) - 2, -1, -1):
        children = combined[index + 1] * 2.0 ** (levels[index + 1] - levels[index])
        combined[index] = combined[index] * children / (combined[index] + children)
    return combined


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
    return _MEAN_ABS_NORMAL * total


def _tempered(noise: float, signal: float) -> float:
    """Squared error of the difference of two halves, tempered by its noise; see `answers.constrained_inference`."""
    return noise * signal / (noise + signal)


def _tree_noise(expected: Expected, levels: list[int], variances: list[float]) -> float:
    """Noise in the tree distance, in records times distance: the absolute errors of all cells times their edges.

    All cells of a group count as occupied. If inference finds some of them
    empty, the others gain as much noise as the empty ones lose.
    """
    total, error, above, cells, most = 0.0, 0.0, 0, 1.0, 2.0 * expected.records
    for level, variance in zip(levels, variances, strict=True):
        noisy, noise = _noisy_cells(expected, level, variance=variance), variance * 2.0 ** (level - above)
        for split in range(above + 1, level + 1):
            cells *= 2.0
            error = (error + _tempered(noise, expected.signals[split])) / 4.0
            deviations = _MEAN_ABS_NORMAL * math.sqrt(error) * (cells if cells < noisy else noisy)
            total += expected.edges[split] * (deviations if deviations < most else most)
            noise /= 2.0
        above = level
    return total


@lru_cache(maxsize=1024)
def _resolution(geometry: Geometry, n: float, level: int, stream: Stream) -> tuple[float, float]:
    """Distance between n records and their uniform spread over cells of a level, in records times distance.

    Returns:
        The sampling fluctuation of uniform records inside a cell, and the
        unevenness of records that cover a part of their cell.
    """
    if level >= geometry.depth:
        return 0.0, 0.0
    cells, least = _occupied_cells(geometry.is_line, level, stream), MIN_UNEVENNESS.get(stream, 0.0)
    if geometry.is_line:
        uncovered = max(1.0 - COVERED[stream] * 2.0**level / cells, least)
        width = geometry.diameters[0] * 2.0**-level
        fluctuation = 0.0 if stream == "sparse" else _MEAN_ABS_NORMAL * math.sqrt(n * cells / 6.0) * width
        atoms = cells / ATOMS / 6.0 if cells < ATOMS else 1 / 6
        return fluctuation, _MEAN_ABS_NORMAL * n * math.sqrt(atoms) * width * uncovered
    fluctuation = unevenness = 0.0
    for deeper in range(level + 1, geometry.depth + 1):
        children = _occupied_cells(geometry.is_line, deeper, stream)
        empty = max(1.0 - children / cells * 2.0 ** (level - deeper), least)
        unevenness += geometry.edge(deeper) * 2.0 * n * empty
        share = n / children
        if stream != "sparse":
            deviation = min(_MEAN_ABS_NORMAL * math.sqrt(share / 2.0), 2.0 * share)
            fluctuation += geometry.edge(deeper) * children * deviation
            if share < 0.01:  # below, each record has a cell to itself
                return fluctuation + n * geometry.diameters[deeper], unevenness
    return fluctuation, unevenness


def _sketch_errors(measurements: Measurements, sketches: Sketches, stream: Stream) -> tuple[float, float]:
    """Unevenness that remains after hot cells are split, and the error that the sketches add."""
    geometry, n, above = measurements.geometry, measurements.expected_records, max(measurements.exact)
    unevenness = _resolution(geometry, n, above, stream)[1]
    if stream != "sparse":  # children as full as their siblings are left uniform
        return unevenness, 0.0
    left, added, hot = unevenness, 0.0, 1.0
    collision = n / ATOMS * min(1.0, ATOMS / sketches.width) ** sketches.rows
    for level in sorted(sketches.variances):
        cells = _occupied_cells(geometry.is_line, above, stream)
        hot = min(hot, sketches.hot_cells / cells)
        noise = math.sqrt(sketches.variances[level]) * _MEAN_ABS_NORMAL
        added += hot * cells * (noise + collision) * geometry.diameters[above]
        deeper = _resolution(geometry, n, level, stream)[1]
        left -= hot * (unevenness - deeper)
        above, unevenness = level, deeper
    return left, added

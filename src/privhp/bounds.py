"""How far a generator will be from its records, predicted from what is public.

Takes what a plan would measure, gives the expected 1-Wasserstein distance in
parts: noise, collisions in sketches, and resolution. What the records look
like is unknown, so there are four answers: for a *smooth* stream, spread evenly
over the domain; for a *clustered* one, spread over a sixteenth of it; for a
*sparse* one, of forty places; and for a *sorted* one, clustered, uneven at all
scales and in the order of the cells, so that no refinement foresees where
records will come. On a line distances are exact; elsewhere they are those of
the domain's tree, where two records are as far apart as the smallest cell that
holds both is wide.
"""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Literal, NamedTuple

from privhp.domains.base import Domain

Stream = Literal["smooth", "clustered", "sparse", "sorted"]
STREAMS: tuple[Stream, ...] = ("smooth", "clustered", "sparse", "sorted")

PLACES = 40
"""How many places a sparse stream has."""

FILLED = {"smooth": 1.0, "clustered": 1 / 16, "sparse": 0.0, "sorted": 1 / 16}
"""Share of the domain that records fill."""

UNEVENNESS = {"sparse": 1.0, "sorted": 0.25}
"""How uneven records are inside a cell: 1 if they are all in one place."""

GROUP_LEVELS = 6
"""By how many levels a growing partition cuts a full cell at each refinement."""

_MEAN = math.sqrt(2.0 / math.pi)  # mean of the absolute value of a standard normal number


class Prediction(NamedTuple):
    """Expected distance between records and generator, and what it is made of, in the domain's own unit."""

    total: float
    noise: float
    collisions: float
    resolution: float


class Geometry(NamedTuple):
    """What the error depends on in a domain: the diameter of a cell at each level, and whether it is a line."""

    diameters: tuple[float, ...]
    is_line: bool

    @classmethod
    def of(cls, domain: Domain) -> "Geometry":
        """The geometry of a domain."""
        return cls(tuple(domain.diameter(level) for level in range(domain.depth + 1)), domain.is_line)

    @property
    def depth(self) -> int:
        """Deepest level."""
        return len(self.diameters) - 1

    def edge(self, level: int) -> float:
        """Length of the tree's edges between a level and the one above: half of what the diameter loses."""
        return (self.diameters[level - 1] - self.diameters[level]) / 2.0


class Growing(NamedTuple):
    """The growing partition of an outline: its first level, variance of a cell's noise, slots, moments, least part."""

    level: int
    variance: float
    slots: int
    refinements: int
    before: float
    """Share of the records that come before the last refinement."""
    least: float


class Sketched(NamedTuple):
    """The sketches of an outline: variance of a bucket's noise at each level, rows, width, and cells that are grown."""

    variances: Mapping[int, float]
    rows: int
    width: int
    hot_cells: int


class Outline(NamedTuple):
    """What would be measured of so many records, as far as the error depends on it.

    Args:
        geometry: Of the domain.
        records: How many are expected.
        exact: Variance of the noise in each cell of each exact level.
        deeper: What is below.
    """

    geometry: Geometry
    records: float
    exact: Mapping[int, float]
    deeper: Growing | Sketched | None = None


def predict(outline: Outline, stream: Stream) -> Prediction:
    """The expected distance for one kind of stream."""
    levels, geometry = sorted(outline.exact), outline.geometry
    variances = [outline.exact[level] for level in levels]
    resolved, collisions, inner = levels[-1], 0.0, 0.0
    if isinstance(outline.deeper, Growing):
        variance, resolved = _grown(outline, outline.deeper, stream)
        levels, variances, inner = [*levels, outline.deeper.level], [*variances, variance], outline.deeper.variance
    elif isinstance(outline.deeper, Sketched):
        resolved, collisions = _sketched(outline, outline.deeper, stream)
    variances = _from_below(levels, variances)
    if inner and resolved > levels[-1]:
        levels, variances = [*levels, resolved], [*variances, inner]
    if geometry.is_line:  # what noise adds to empty cells is far from all records, so they count as well
        groups = [2.0 ** (level - above) for above, level in pairwise([0, *levels])]
        groups[-1] = min(groups[-1], 4.0) if stream == "sparse" and inner else groups[-1]
        noise = _line_noise(groups, variances) * geometry.diameters[0]
    else:
        noise = _tree_noise(outline, levels, variances, [_occupied(level, stream) for level in levels])
    resolution = _resolution(outline, resolved, stream)
    fluctuating = geometry.is_line and stream not in UNEVENNESS  # then both are errors of either sign
    total = math.hypot(noise, resolution) if fluctuating else noise + resolution
    n = outline.records
    return Prediction((total + collisions) / n, noise / n, collisions / n, resolution / n)


def _occupied(level: int, stream: Stream) -> float:
    """How many cells of a level hold records."""
    return min(2.0**level, max(2.0**level * FILLED[stream], float(PLACES)))


def _grown(outline: Outline, growing: Growing, stream: Stream) -> tuple[float, int]:
    """Variance of the cells that a partition starts from, and the level that its leaves reach."""
    if stream == "sorted":
        return growing.variance * (growing.refinements + 1), growing.level
    room = growing.slots - 2**growing.level
    rest = outline.records * (1.0 - growing.before)
    cells = _occupied(growing.level, stream)
    worth, affordable = rest / cells / growing.least, room / cells
    if stream == "sparse":  # a full cell is cut blindly, so its slots buy few levels at each refinement
        steps = growing.refinements * min(GROUP_LEVELS, _halvings(worth), _halvings(affordable / growing.refinements))
        leaves = 2.0  # all others of a place are found empty
    else:
        steps = _halvings(min(worth, affordable / 1.2))
        leaves = 2.0**steps
    if steps == 0:
        return growing.variance * (growing.refinements + 1), growing.level
    return growing.variance * (1.0 + leaves), min(growing.level + steps, outline.geometry.depth)


def _halvings(parts: float) -> int:
    return int(math.log2(max(parts, 1.0)))


def _from_below(levels: list[int], variances: list[float]) -> list[float]:
    """Variance of each level's cells when their parts are asked too, by least squares."""
    asked = list(variances)
    for place in range(len(levels) - 2, -1, -1):
        parts = asked[place + 1] * 2.0 ** (levels[place + 1] - levels[place])
        asked[place] = asked[place] * parts / (asked[place] + parts)
    return asked


def _line_noise(groups: list[float], variances: list[float]) -> float:
    """Noise on a line of length 1, in records: the mean absolute error of the distribution function.

    Given its parent, the error in front of a point inside a group of g cells is
    a bridge of variance between 0 at the ends and g / 4 in the middle, g / 6 on
    average; those of different levels are independent.
    """
    bridges = (variance * (group - 1.0 / group) / 6.0 for group, variance in zip(groups, variances, strict=True))
    return _MEAN * math.sqrt(sum(bridges))


def _tree_noise(outline: Outline, levels: list[int], variances: list[float], occupied: list[float]) -> float:
    """Noise in the tree's metric, in records times distance: the errors of all cells of all levels, by their edges."""
    total, error, above = 0.0, 0.0, 0
    for place, (level, variance) in enumerate(zip(levels, variances, strict=True)):
        for between in range(above + 1, level + 1):
            cells = min(2.0**between, occupied[place])
            inside, among = 2.0 ** (level - between), 2.0 ** (level - above)
            spread = error / 4.0 ** (between - above) + variance * inside * (1.0 - inside / among)
            deviation = min(_MEAN * math.sqrt(spread), 2.0 * outline.records / cells)
            total += outline.geometry.edge(between) * cells * deviation
        error = error / 4.0 ** (level - above) + variance * (1.0 - 2.0 ** (above - level))
        above = level
    return total


def _resolution(outline: Outline, level: int, stream: Stream) -> float:
    """Distance, in records times length, between records and their even spread over cells of a level."""
    geometry, n = outline.geometry, outline.records
    if level >= geometry.depth:
        return 0.0
    if stream in UNEVENNESS:
        return n * geometry.diameters[level] * (1 / 3 if geometry.is_line else 1 / 2) * UNEVENNESS[stream]
    if geometry.is_line:
        share = n / _occupied(level, stream)
        return _MEAN * math.sqrt(share / 6.0) * geometry.diameters[0] * max(FILLED[stream], 2.0**-level)
    total = 0.0
    for deeper in range(level + 1, geometry.depth + 1):
        cells = _occupied(deeper, stream)
        share = n / cells
        total += geometry.edge(deeper) * cells * min(_MEAN * math.sqrt(share / 2.0), 2.0 * share)
        if share < 0.01:
            return total + n * geometry.diameters[deeper]
    return total


def _sketched(outline: Outline, sketched: Sketched, stream: Stream) -> tuple[int, float]:
    """Level that hot cells reach, and what collisions and noise in the sketches add, in records times length."""
    exact = max(outline.exact)
    if stream != "sparse":
        return exact, 0.0
    added, above = 0.0, exact
    for level in sorted(sketched.variances):
        error = math.sqrt(sketched.variances[level]) * _MEAN
        crowd = outline.records / PLACES * min(1.0, (PLACES / sketched.width)) ** sketched.rows
        added += min(PLACES, sketched.hot_cells) * (error + crowd) * outline.geometry.diameters[above]
        above = level
    return above, added


def paper_bound(outline: Outline, budgets: Mapping[int, float], *, tail: float = 1.0) -> Prediction:
    """The paper's bound on the expected distance, with the constants of its proof.

    Args:
        outline: What is measured; every level, sketches below the exact ones.
        budgets: Budget of each level.
        tail: Share of the records outside the hot cells at the deepest level, 1 at worst.
    """
    diameters, n = outline.geometry.diameters, outline.records
    sketched = outline.deeper if isinstance(outline.deeper, Sketched) else None
    rows, hot = (sketched.rows, sketched.hot_cells) if sketched else (0, 0)
    exact, noise, lost = max(outline.exact), 0.0, 0.0
    for level, budget in budgets.items():
        above = diameters[max(level - 1, 0)]
        if level <= exact:
            noise += 2.0 ** max(level - 1, 0) * above / budget
        else:
            noise += hot * rows * above / budget
            lost += (tail + 2.0**-rows) * above
    resolution = diameters[max(budgets)]
    return Prediction(noise / n + lost + resolution, noise / n, lost, resolution)

"""How far a generator will be from its records, predicted from what is public.

Takes what a plan would measure, gives the expected 1-Wasserstein distance in
parts: noise, collisions in sketches, and resolution. What the records look
like is unknown, so there are four answers: for a *smooth* stream, spread evenly
over the domain; for a *clustered* one, spread over a sixteenth of it, a line in
one piece, other domains in forty; for a *sparse* one, of forty places; and for
a *sorted* one, clustered, uneven at all scales and in the order of the cells, so
that no refinement foresees where records will come. On a line distances are exact; elsewhere they are those of
the domain's tree, where two records are as far apart as the smallest cell that
holds both is wide.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from privhp.domains.domain import Domain

Stream = Literal["smooth", "clustered", "sparse", "sorted"]
STREAMS: tuple[Stream, ...] = ("smooth", "clustered", "sparse", "sorted")

PLACES = 40
"""How many places a sparse stream has."""

FILLED = {"smooth": 1.0, "clustered": 1 / 16, "sparse": 0.0, "sorted": 1 / 16}
"""Share of the domain that records fill."""

UNEVENNESS = {"sorted": 0.25}
"""How uneven records are inside a cell, at least: 1 if they are all in one place."""

SURE = 3.0
"""A cell is cut when it counts so many standard deviations of its noise."""

CLEAR = 3.0
"""Cells that hold so many standard deviations of their noise are told from empty ones."""

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
    moments: tuple[float, ...]
    """Shares of the records after which it is refined."""
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
    fluctuation, unevenness = _resolution(geometry, outline.records, resolved, stream)
    if isinstance(outline.deeper, Sketched):
        unevenness, collisions = _sketched(outline, outline.deeper, stream)
    variances = _from_below(levels, variances)
    if inner and resolved > levels[-1]:
        levels, variances = [*levels, resolved], [*variances, inner]
    if geometry.is_line:
        noise = _line_noise(outline, levels, variances, stream) * geometry.diameters[0]
        total = math.hypot(noise, fluctuation) + unevenness  # the first two are errors of either sign
    else:
        noise = _tree_noise(outline, levels, variances, stream)
        total = noise + fluctuation + unevenness
    n = outline.records
    return Prediction((total + collisions) / n, noise / n, collisions / n, (fluctuation + unevenness) / n)


def leaf_level(outline: Outline, stream: Stream) -> int:
    """The level of the cells that most records of a stream end up in."""
    if isinstance(outline.deeper, Growing):
        return _grown(outline, outline.deeper, stream)[1]
    return max(outline.exact)


@lru_cache(maxsize=1024)
def _occupied(is_line: bool, level: int, stream: Stream) -> float:
    """How many cells of a level hold records, where places are anywhere and so mostly reach into one cell more."""
    cells = 2.0**level
    places = 1 if is_line and stream != "sparse" else PLACES
    touched = 1.0 / cells + FILLED[stream] / places
    return cells if stream == "smooth" or touched >= 1.0 else -cells * math.expm1(places * math.log1p(-touched))


def _noisy(outline: Outline, level: int, stream: Stream, *, variance: float) -> float:
    """How many cells of a level share its noise: those with records, if these stand out from it, or all."""
    occupied = _occupied(outline.geometry.is_line, level, stream)
    return occupied if outline.records / occupied > CLEAR * math.sqrt(variance) else 2.0**level


def _grown(outline: Outline, growing: Growing, stream: Stream) -> tuple[float, int]:
    """Variance of the cells that a partition starts from, and the level that its leaves reach."""
    level, leaves, since = growing.level, 1.0, 0.0
    room, used = growing.slots - 2.0**level, 0.0
    for place, moment in enumerate(growing.moments if stream != "sorted" else ()):
        cells = _occupied(outline.geometry.is_line, level, stream)
        seen, rest = (outline.records * share / cells for share in (moment - since, 1.0 - moment))
        if seen <= SURE * math.sqrt(growing.variance * (place + 1 if since == 0.0 else 1)):
            continue
        affordable = (room * (place + 1) / len(growing.moments) - used) / cells
        deepest = outline.geometry.depth - level
        steps = min(GROUP_LEVELS, deepest, _halvings(rest / growing.least), _halvings(affordable))
        if steps > 0:
            used += cells * 2.0**steps
            level, leaves, since = level + steps, leaves + 2.0**steps, moment
    if level == growing.level:
        leaves = len(growing.moments) + 1.0
    return growing.variance * leaves, level


def _halvings(parts: float) -> int:
    return int(math.log2(max(parts, 1.0)))


def _from_below(levels: list[int], variances: list[float]) -> list[float]:
    """Variance of each level's cells when their parts are asked too, by least squares."""
    asked = list(variances)
    for place in range(len(levels) - 2, -1, -1):
        parts = asked[place + 1] * 2.0 ** (levels[place + 1] - levels[place])
        asked[place] = asked[place] * parts / (asked[place] + parts)
    return asked


def _line_noise(outline: Outline, levels: list[int], variances: list[float], stream: Stream) -> float:
    """Noise on a line of length 1, in records: the mean absolute error of the distribution function.

    Given its parent, the error in front of a point inside a group of g cells is
    a bridge of variance between 0 at the ends and g / 4 in the middle, g / 6 on
    average; those of different levels are independent. A point in an empty cell
    has the error of the coarser levels alone.
    """
    total, bridges, above, inside = 0.0, 0.0, 1.0, 1.0
    for level, variance in zip(levels, variances, strict=True):
        cells = _noisy(outline, level, stream, variance=variance)
        group = cells / above
        bridges += variance * (group - 1.0 / group) / 6.0
        deeper = cells / 2.0**level if level != levels[-1] else 0.0
        total += (inside - deeper) * math.sqrt(bridges)
        above, inside = cells, deeper
    return _MEAN * total


def _tree_noise(outline: Outline, levels: list[int], variances: list[float], stream: Stream) -> float:
    """Noise in the tree's metric, in records times distance: the errors of all cells of all levels, by their edges.

    Groups count as full whatever the stream: what one cell gains when the
    others of its group are found empty, it loses where they are not.
    """
    total, error, above = 0.0, 0.0, 0
    for level, variance in zip(levels, variances, strict=True):
        noisy = _noisy(outline, level, stream, variance=variance)
        for between in range(above + 1, level + 1):
            cells = min(2.0**between, noisy)
            inside, among = 2.0 ** (level - between), 2.0 ** (level - above)
            spread = error / 4.0 ** (between - above) + variance * inside * (1.0 - inside / among)
            deviation = min(_MEAN * math.sqrt(spread), 2.0 * outline.records / cells)
            total += outline.geometry.edge(between) * cells * deviation
        error = error / 4.0 ** (level - above) + variance * (1.0 - 2.0 ** (above - level))
        above = level
    return total


@lru_cache(maxsize=1024)
def _resolution(geometry: Geometry, n: float, level: int, stream: Stream) -> tuple[float, float]:
    """Distance between n records and their even spread over cells of a level, in records times length.

    Two parts: records that are spread by chance are not spread evenly, and
    those of a cell may fill a part of it only.
    """
    if level >= geometry.depth:
        return 0.0, 0.0
    cells = _occupied(geometry.is_line, level, stream)
    if geometry.is_line:
        open_ = max(1.0 - FILLED[stream] * 2.0**level / cells, UNEVENNESS.get(stream, 0.0))
        width = geometry.diameters[0] * 2.0**-level
        fluctuation = 0.0 if stream == "sparse" else _MEAN * math.sqrt(n * cells / 6.0) * width
        return fluctuation, _MEAN * n * math.sqrt(cells / PLACES / 6.0 if cells < PLACES else 1 / 6) * width * open_
    fluctuation = unevenness = 0.0
    for deeper in range(level + 1, geometry.depth + 1):
        parts = _occupied(geometry.is_line, deeper, stream)
        empty = max(1.0 - parts / cells * 2.0 ** (level - deeper), UNEVENNESS.get(stream, 0.0))
        unevenness += geometry.edge(deeper) * 2.0 * n * empty
        share = n / parts
        if stream != "sparse":
            fluctuation += geometry.edge(deeper) * parts * min(_MEAN * math.sqrt(share / 2.0), 2.0 * share)
            if share < 0.01:
                return fluctuation + n * geometry.diameters[deeper], unevenness
    return fluctuation, unevenness


def _sketched(outline: Outline, sketched: Sketched, stream: Stream) -> tuple[float, float]:
    """What is left of the unevenness when hot cells are cut, and what collisions and noise in the sketches add."""
    geometry, n, above = outline.geometry, outline.records, max(outline.exact)
    unevenness = _resolution(geometry, n, above, stream)[1]
    if stream != "sparse":  # parts that are as full as their neighbours are left even
        return unevenness, 0.0
    left, added, hot = unevenness, 0.0, 1.0
    crowd = n / PLACES * min(1.0, PLACES / sketched.width) ** sketched.rows
    for level in sorted(sketched.variances):
        cells = _occupied(geometry.is_line, above, stream)
        hot = min(hot, sketched.hot_cells / cells)
        error = math.sqrt(sketched.variances[level]) * _MEAN
        added += hot * cells * (error + crowd) * geometry.diameters[above]
        deeper = _resolution(geometry, n, level, stream)[1]
        left -= hot * (unevenness - deeper)
        above, unevenness = level, deeper
    return left, added


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

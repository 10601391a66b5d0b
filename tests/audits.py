"""Statistical checks of the noise in releases; they raise AssertionError.

An audit asks one level, which has nearly all the budget, whether an empty cell
and a cell with one record can be told apart better than the budget allows. The
cells of a summary are independent trials. Events are fixed in advance.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from privhp import Integers, Interval, Partition, Plan, Summary, Tally
from privhp.core.cells import Counts

ALPHA = 1e-9
AUDIT_ALPHA = 1e-7
SAMPLES = 100_000

Whole = NDArray[np.int64]


def released_noise_is_discrete_laplace(samples: int = SAMPLES) -> None:
    """Chi-square of the released noise against the exact discrete Laplace, on every kind of level."""
    for level, counts, scale in _released_noise(samples):
        p_value = chi_square(counts[:samples], scale)
        assert p_value >= ALPHA, f"the noise of level {level} does not follow its law: p = {p_value:.2g}"


def _released_noise(samples: int) -> Iterator[tuple[int, Counts, Fraction]]:
    """Released counts of an empty summary (exact depth, coarser level, sketch, leaves) with their declared scales."""
    depth = math.ceil(math.log2(samples)) + 1
    plan = Plan(
        Interval(0, 1),
        epsilon=4,
        budgets={depth - 1: 1, depth: 1, depth + 1: 2},
        exact_depth=depth,
        sketch_rows=3,
        sketch_width=samples,
        hot_cells=1,
    )
    counts = Summary(plan).release().release.counts
    yield depth - 1, counts[depth - 1], Fraction(1)
    yield depth, counts[depth], Fraction(1)
    for row in counts[depth + 1]:
        yield depth + 1, row, Fraction(3, 2)
    leaves: dict[str, Any] = {"partition": Partition.complete(depth), "inference": "least-squares"}
    plan = Plan(Interval(0, 1), epsilon=1, budgets={depth: 1}, exact_depth=0, **leaves)
    yield depth, Summary(plan).release().release.counts[depth], Fraction(1)


def chi_square(values: Counts, scale: Fraction) -> float:
    """P-value of integers against the discrete Laplace distribution; bins of at least 50 expected, tails pooled."""
    ratio = math.exp(-1 / float(scale))
    zero = (1 - ratio) / (1 + ratio)
    last = max(1, math.floor(math.log(50 / (values.size * zero)) / math.log(ratio)))
    inner = zero * ratio ** np.abs(np.arange(1 - last, last))
    tail = ratio**last / (1 + ratio)
    clipped = np.clip(values, -last, last) + last
    observed = np.bincount(clipped, minlength=2 * last + 1)
    expected = np.concatenate([[tail], inner, [tail]]) * values.size
    return float(stats.chisquare(observed, expected).pvalue)


@dataclass
class Events:
    """Number of occurrences of each event, over trials that are rows of cells."""

    seen: Whole
    trials: int = 0

    @classmethod
    def none(cls, scale: Fraction) -> "Events":
        return cls(np.zeros(2 * len(_thresholds(scale)), dtype=np.int64))

    def add(self, cells: Counts, scale: Fraction) -> None:
        """Trials: whether all cells of a row are above a threshold, whether all are at or below it."""
        least, most = cells.min(axis=1), cells.max(axis=1)
        above = [np.count_nonzero(least > threshold) for threshold in _thresholds(scale)]
        below = [np.count_nonzero(most <= threshold) for threshold in _thresholds(scale)]
        self.seen += np.array(above + below)
        self.trials += len(cells)


def _thresholds(scale: Fraction) -> list[int]:
    """Thresholds around 0, where a record has the largest effect, and at 3, 6 and 10 scales."""
    tails = [math.ceil(times * scale) for times in (3, 6, 10)]
    return [0, *tails, *(-tail for tail in tails)]


def measured_epsilon(one: Events, other: Events) -> float:
    """Lower confidence bound on epsilon from all events, at level 1 - AUDIT_ALPHA."""
    alpha = AUDIT_ALPHA / (4 * one.seen.size)
    bounds = []
    for first, second in ((one, other), (other, one)):
        least = stats.beta.ppf(alpha, np.maximum(first.seen, 1), first.trials - first.seen + 1)
        most = stats.beta.ppf(1 - alpha, second.seen + 1, np.maximum(second.trials - second.seen, 1))
        least = np.where(first.seen > 0, least, 0.0)
        most = np.where(second.seen < second.trials, most, 1.0)
        with np.errstate(divide="ignore"):
            bounds.append(np.log(least / most).max())
    return float(max(bounds))


def exact_level_spends_at_most_its_budget(trials: int = SAMPLES) -> None:
    """Measured epsilon of an exact level with a budget of 2: cells with one record against empty cells."""
    level = 18
    plan = Plan(Interval(0, 1), epsilon=2, budgets={level: 2}, exact_depth=level)
    records = np.arange(0.5, 2**level, 2) / 2**level
    empty, touched = Events.none(Fraction(1, 2)), Events.none(Fraction(1, 2))
    while touched.trials < trials:
        summary = Summary(plan)
        summary.update(records)
        cells = summary.release().release.counts[level].reshape(-1, 2)
        touched.add(cells[:, :1], Fraction(1, 2))
        empty.add(cells[:, 1:], Fraction(1, 2))
    _within(measured_epsilon(touched, empty), 2)


def sketch_spends_at_most_its_budget(trials: int = SAMPLES) -> None:
    """Measured epsilon of a sketch with a budget of 3: the buckets of one record against empty buckets."""
    level, rows, width = 20, 2, 2**19
    plan = Plan(
        Integers(0, 2**level - 1),
        epsilon=4,
        budgets={0: 1, level: 3},
        exact_depth=0,
        sketch_rows=rows,
        sketch_width=width,
        hot_cells=1,
        hash_seed=3,  # privacy does not depend on it, but how many records stay apart does
    )
    records, places, free = _apart(plan, level)
    scale = Fraction(rows, 3)
    empty, touched = Events.none(scale), Events.none(scale)
    while touched.trials < trials:
        summary = Summary(plan)
        summary.update(records)
        table = summary.release().release.counts[level]
        touched.add(np.take_along_axis(table, places, axis=1).T, scale)
        empty.add(np.take_along_axis(table, free, axis=1).T, scale)
    _within(measured_epsilon(touched, empty), 3)


def _apart(plan: Plan, level: int) -> tuple[Whole, Whole, Whole]:
    """Records without common buckets, their bucket in each row, and as many empty buckets of each row."""
    records = np.random.default_rng(0).permutation(2**level)[: 2**18]
    ones, names = Tally(plan), Tally(plan)
    ones.add(records)
    names.add(records, counts=np.arange(records.size))
    places = np.full((plan.sketch_rows, records.size), -1)
    for row, counts, name in zip(places, ones.sketches[level], names.sketches[level], strict=True):
        alone = np.flatnonzero(counts == 1)
        row[name[alone]] = alone
    apart = (places >= 0).all(axis=0)
    free = [np.flatnonzero(counts == 0)[: apart.sum()] for counts in ones.sketches[level]]
    return records[apart], places[:, apart], np.stack(free)


def _within(measured: float, claim: float) -> None:
    assert measured <= claim, f"an epsilon of at least {measured:.3f} is measured where {claim} is claimed"

"""Statistical checks of releases with a learned partition; they raise AssertionError.

With slots for all splits, the split of a cell depends on its own noisy count
alone. Counts of neighbours are drawn together, but not where one of them is full.
So with a full cell among them the others are independent trials.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from audits import ALPHA, SAMPLES, Events, measured_epsilon
from partition_checks import MARK_ZERO, MARKS_END
from privhp import Integers, Plan, Summary
from privhp.core.cells import Counts
from privhp.planning.refinement_schedule import RefinementSchedule
from privhp.planning.tuning import LINE

LEVEL, CHILDREN = 18, 2
"""First level of the partition, and number of descendants of each of its cells."""

ROOTS = 2**LEVEL

NEIGHBOURS = 2**LINE.shrinkage_levels


def plan_of(*, budget: int, refinement_rows: tuple[int, ...], expected_records: int, min_child_records: int) -> Plan:
    """A partition of 2**18 cells of two integers each, with slots for all splits."""
    return Plan(
        Integers(0, ROOTS * CHILDREN - 1),
        epsilon=budget + 1,
        budgets={0: 1, LEVEL: budget},
        exact_depth=0,
        learned=RefinementSchedule(
            slots=len(refinement_rows) * ROOTS * (CHILDREN + 2),
            refinement_rows=refinement_rows,
            min_child_records=min_child_records,
        ),
        inference="least-squares",
        expected_records=expected_records,
        neighbours="zero-out",
        hash_seed=0,
    )


def slots_after_epochs(plan: Plan, epochs: list[NDArray[Any]]) -> Counts:
    summary = Summary(plan)
    for rows in epochs:
        summary.update(rows)
    return summary.release().release.counts[LEVEL]


def released_noise_is_one_draw_per_pass(samples: int = SAMPLES) -> None:
    """Chi-square of the noise of cells against sums of one draw for each epoch."""
    for epochs, noise in _released_noise():
        p_value = _fit(noise[:samples], epochs, Fraction(1))
        assert p_value >= ALPHA, f"sums of {epochs} draws have another distribution: p = {p_value:.2g}"


def _released_noise() -> Iterator[tuple[int, Counts]]:
    """Noise of cells split after one epoch, of their children after two more, and of unsplit cells after three.

    Every second cell has many records in the first epoch. In the second epoch one
    empty cell and one child in each neighbourhood have many, and there are no
    other records. A cell is split from 60 records on; noise of scale 1 causes a
    wrong split in one of 10**10 such partitions.
    """
    many, blank = 100, -1
    first = np.repeat(np.arange(0, ROOTS, 2) * CHILDREN, many)
    full_cell, full_child = 1, 0  # of 32 cells: the first odd cell, the first child of the first even cell
    second = np.repeat(
        [np.arange(own, ROOTS, NEIGHBOURS // CHILDREN) * CHILDREN for own in (full_cell, full_child)], many
    )
    plan = plan_of(
        budget=1,
        refinement_rows=(first.size, first.size + second.size),
        expected_records=2 * first.size,
        min_child_records=many * 3 // 10,
    )
    slots = slots_after_epochs(plan, [first, second, np.array([blank])])
    fields = slots[:ROOTS:2] - MARK_ZERO
    empty = np.delete(np.arange(1, ROOTS, 2), np.s_[:: NEIGHBOURS // CHILDREN // 2])
    assert (slots[:ROOTS:2] < MARKS_END).all(), "a cell of many records was not split"
    assert (slots[empty] >= MARKS_END).all(), "an empty cell was split"
    yield 1, slots[(fields >> 16) - 1] - many
    children = (fields >> 16)[:, None] + np.arange(CHILDREN)
    yield 2, slots[np.delete(children, np.s_[:: NEIGHBOURS // CHILDREN // 2], axis=0)].ravel()
    yield 3, slots[empty]


def _fit(values: Counts, draws: int, scale: Fraction) -> float:
    """P-value against the sum of `draws` draws; bins of at least 50 expected, tails pooled."""
    reach = math.ceil(60 * scale)
    one = np.exp(-np.abs(np.arange(-reach, reach + 1)) / float(scale))
    probabilities = np.ones(1)
    for _ in range(draws):
        probabilities = np.convolve(probabilities, one / one.sum())
    middle = probabilities.size // 2
    last = next(last for last in range(1, middle) if probabilities[middle + last :].sum() * values.size < 50) - 1
    tail = probabilities[middle + last :].sum()
    expected = np.concatenate([[tail], probabilities[middle + 1 - last : middle + last], [tail]]) * values.size
    observed = np.bincount(np.clip(values, -last, last) + last, minlength=2 * last + 1)
    return float(stats.chisquare(observed, expected * (values.size / expected.sum())).pvalue)


def learned_partition_spends_at_most_its_budget(trials: int = SAMPLES) -> None:
    """Measured epsilon at a budget of 2: cells with two records, which may be split, against cells with three."""
    kind = np.arange(ROOTS) % 3
    kind[::NEIGHBOURS] = _FULL
    _check_budget(kind, trials)


def shrunk_counts_spend_at_most_their_budget(trials: int = SAMPLES // 5) -> None:
    """The same for cells among empty cells, which are shrunk to their mean."""
    kind = np.full(ROOTS, _EMPTY)
    kind[::NEIGHBOURS] = np.arange(ROOTS // NEIGHBOURS) % 3
    _check_budget(kind, trials)


_FULL, _EMPTY, _MANY = 3, 4, 200


def _check_budget(kind: NDArray[np.int64], trials: int) -> None:
    """Cells of kind 0 have two records; those of kind 1 have one more early, those of kind 2 one more late."""
    base, early, late = (Events(np.zeros(_EVENTS, dtype=np.int64)) for _ in range(3))
    roots = np.arange(ROOTS) * CHILDREN
    of_all, full = roots[kind < _FULL], np.repeat(roots[kind == _FULL], _MANY)
    first = np.concatenate([of_all, of_all, np.where(kind == 1, roots, -1), full])
    second = np.where(kind == 2, roots, -1)
    plan = plan_of(budget=2, refinement_rows=(first.size,), expected_records=5 * first.size, min_child_records=1)
    while late.trials < trials:
        seen = _events(slots_after_epochs(plan, [first, second]))
        for events, own in zip((base, early, late), range(3), strict=True):
            events.seen += seen[:, kind == own].sum(axis=1)
            events.trials += int((kind == own).sum())
    assert 0.05 < base.seen[0] / base.trials < 0.95, "cells are not near the split threshold"
    for other, when in ((early, "early"), (late, "late")):
        measured = measured_epsilon(base, other)
        assert measured <= 2, f"an epsilon of at least {measured:.3f} is measured for a record that comes {when}"


_THRESHOLDS = np.arange(-3, 7)[:, None]
_EVENTS = 1 + 6 * _THRESHOLDS.size


def _events(slots: Counts) -> NDArray[np.bool_]:
    """For each cell, whether it was split, and comparisons of its earlier and later counts with thresholds."""
    whole = slots[:ROOTS]
    split = whole < MARKS_END
    first = np.where(split, (whole - MARK_ZERO) >> 16, 1)
    values = (~split, whole), (split, slots[first - 1]), (split, slots[first])
    events = [split[None]]
    for when, value in values:
        events += [when & (value > _THRESHOLDS), when & (value <= _THRESHOLDS)]
    return np.concatenate(events)

"""The privacy argument as named checks that raise AssertionError.

The state of a summary is noise plus a sum of fixed 0/1 vectors, one per
record. So privacy follows from three facts: one record moves each level by no
more than its share, every cell has one draw of the declared scale before the
first record, and the draws follow the exact law. And
no state is seen twice, no record counted twice. The statistical checks are in
audits.py, what must not be seen at all in leaks.py.

Every planted defect in tests/mutants is killed by one of these checks. Limits
are computed from the definitions, never asked of the code under test.
"""

import contextlib
import copy
import hashlib
import itertools
import os
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from fixed_neighbours import fixed_line_pairs, fixed_pairs
from neighbours import Pair, line_pairs, stream_pairs
from privacy_plans import (
    cells_by_part,
    cells_of,
    example_plans,
    example_records,
    parts_of,
    rows_of,
    sensitivity_by_definition,
)
from privhp import Interval, Plan, PlanError, StateError, Summary, Tally
from privhp.collect.noisy_counters import NoisyCounters
from privhp.collect.summary import restore_summary
from privhp.core.cells import Counts
from privhp.release import Release
from silent import assert_silent
from spies import draws_by_level, fixed_noise, record_draws, released_counts

# How far one record goes


def record_changes_at_most_its_sensitivity(examples: int = 50) -> None:
    """The states of streams that differ in the records of one person differ by at most the sensitivity."""
    _holds_for_all(fixed_pairs(), stream_pairs(), examples)


def line_changes_at_most_its_sensitivity(examples: int = 50) -> None:
    """The same for text files: a line does not affect another."""
    _holds_for_all(fixed_line_pairs(), line_pairs(), examples)


def _holds_for_all(fixed: list[Pair], pairs: Any, examples: int) -> None:
    for pair in fixed:
        _check_change(pair)
    generated = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    generated(given(pairs)(_check_change))()


def _check_change(pair: Pair) -> None:
    plan, whole = pair.plan, pair.plan.max_records_per_person
    state, release, seen = _outcome(plan, pair.one)
    other_state, other_release, other_seen = _outcome(plan, pair.other)
    assert seen == other_seen, "something moves that has no noise"
    numbers = set()
    for part, *counts in zip(parts_of(plan), state, other_state, release, other_release, strict=True):
        for before, after in (counts[:2], counts[2:]):
            for level in part.budgets:
                change = (before[level] - after[level]).reshape(rows_of(part, level), -1)
                moved = np.abs(change).sum(axis=1)
                limit = sensitivity_by_definition(part, level) * pair.changed // whole
                assert moved.sum() <= limit, f"level {level} moves by more than {limit}"
                assert moved.sum() <= part.sensitivity(level), f"level {level} moves by more than the plan says"
                assert moved.max() <= limit // moved.size, f"a row of level {level} moves by more than its share"
                numbers |= set(change.sum(axis=1).tolist()) if before is counts[2] else set()
        for level in part.exact_levels[:-1]:
            assert np.array_equal(counts[0][level], counts[1][level]), f"a record moves the correction of {level}"
    assert len(numbers) == 1, "a record counts in some levels or columns, and not in others"


def _outcome(plan: Plan, stream: Any) -> tuple[list[dict[int, Counts]], list[dict[int, Counts]], list[Any]]:
    """State, release and visible outputs of a summary of the stream, under fixed noise."""
    with fixed_noise() as draws, assert_silent():
        summary = Summary(plan)
        stream.feed(summary)
        state = cells_by_part(plan, summary.state())
        seen = [repr(summary), summary.nbytes, summary.plan.spec(), len(draws)]
        return state, released_counts(summary.close()), seen


# What was drawn, and when


def every_counter_has_one_draw_at_its_scale(plans: list[Plan] | None = None) -> None:
    """One draw per counter at the scale sensitivity / budget, before the first record, and none later."""
    for plan in plans or example_plans():
        with record_draws() as draws:
            summary = Summary(plan)
            initial = Counter((draw.values.size, draw.scale) for draw in draws)
            summary.update(example_records(plan))
            summary.absorb(Tally(plan))
            summary.release()
        due = Counter(
            (cells_of(part, level), sensitivity_by_definition(part, level) / budget)
            for part in parts_of(plan)
            for level, budget in part.budgets.items()
        )
        assert initial == due, "the draws of a new summary are not those that are due"
        assert len(draws) == initial.total(), "noise is drawn after the first record"


def pan_private_release_has_second_draws() -> None:
    """What a release adds to the state is one fresh draw for every counter, at its scale."""
    for plan in example_plans():
        with record_draws() as draws:
            summary = Summary(replace(plan, pan_private=True))
            first = list(draws)
            before = released_counts(restore_summary(plan, summary.state(), summary.merged_ids).close())
            after = released_counts(summary.close())
        second = draws[len(first) :]
        levels = [(own, part, level) for own, part in enumerate(parts_of(plan)) for level in after[own]]
        assert [(draw.scale, draw.values.size) for draw in second] == [
            (sensitivity_by_definition(part, level) / part.budgets[level], cells_of(part, level))
            for _, part, level in levels
        ], "the draws of a release are not those that are due"
        for (own, _, level), draw in zip(levels, second, strict=True):
            change = (after[own][level] - before[own][level]).ravel()
            assert np.array_equal(change, draw.values), f"level {level} changes by another amount than its draw"


def draws_spend_at_most_epsilon(plans: list[Plan] | None = None) -> None:
    """The sum over levels of sensitivity / scale, with the scales of the draws, is at most epsilon."""
    for plan in plans or example_plans():
        cost = sum(
            Fraction(sensitivity_by_definition(part, level)) / draw.scale
            for part, draws in zip(parts_of(plan), draws_by_level(plan), strict=True)
            for level, draw in draws.items()
        )
        assert cost <= plan.epsilon, f"the draws cost {float(cost):g}, more than epsilon"
    assert Plan(Interval(0, 1), epsilon=0.1, budgets={0: 0.1}, exact_depth=0).epsilon == Fraction(1, 10)
    for budgets in ({0: 1, 1: 1}, {0: 1, 1: Fraction(1, 10**9)}):
        with contextlib.suppress(PlanError):
            Plan(Interval(0, 1), epsilon=1, budgets=budgets, exact_depth=1)
            raise AssertionError("budgets beyond epsilon are accepted")
    spent = example_plans()[-1]
    for label, own in spent.columns.items():
        budget = own.budgets[own.exact_depth] + Fraction(1, 10**25)
        more = own._replace(budgets={**own.budgets, own.exact_depth: budget})
        with contextlib.suppress(PlanError):
            replace(spent, columns={**spent.columns, label: more})
            raise AssertionError("budgets of a column beyond epsilon are accepted")


def released_counts_are_exact_counts_plus_noise(plans: list[Plan] | None = None) -> None:
    """Each released level is its noise-free count plus its draw, for updates, tallies and merges."""
    for plan in plans or example_plans():
        own = [
            {level: draw.values.reshape(part.shapes[level]) for level, draw in draws.items()}
            for part, draws in zip(parts_of(plan), draws_by_level(plan), strict=True)
        ]
        truth = Tally(plan)
        truth.add(example_records(plan))
        with fixed_noise():
            summary, other = Summary(plan), Summary(plan)
        others = _less(other.close(), Tally(plan))
        summary.update(example_records(plan))
        _same(_less(summary.close(), truth), own)
        with fixed_noise():
            summary, other = Summary(plan), Summary(plan)
        summary.absorb(truth)
        summary = restore_summary(plan, summary.state(), summary.merged_ids)
        summary.merge(other)
        both = [{level: part[level] + more[level] for level in part} for part, more in zip(own, others, strict=True)]
        _same(_less(summary.close(), truth), both)


def _less(release: Release, truth: Tally) -> list[dict[int, Counts]]:
    """Released counts minus noise-free counts, by level, of each part."""
    left: list[dict[int, Counts]] = []
    for released, true in zip(released_counts(release), [truth, *truth.columns.values()], strict=True):
        left.append({})
        for level, counts in released.items():
            assert counts.dtype == np.int64, "the release is not made of integers"
            deeper = true.sketches.get(level, true.leaves)
            exact = level <= true.plan.exact_depth
            left[-1][level] = counts - (true.counters.reshape(2**level, -1).sum(axis=1) if exact else deeper)
    return left


def _same(left: list[dict[int, Counts]], noise: list[dict[int, Counts]]) -> None:
    for counts, draws in zip(left, noise, strict=True):
        for level, own in counts.items():
            assert np.array_equal(own, draws[level]), f"level {level} is not its count and its own draw"


def draws_come_from_system_entropy() -> None:
    """The noise is a function of the bytes of the operating system only."""

    def state(seed: int) -> list[int]:
        blocks = itertools.count()

        def urandom(size: int) -> bytes:
            return hashlib.shake_256(f"{seed} {next(blocks)}".encode()).digest(size)

        with mock.patch.object(os, "urandom", urandom):
            return [Summary(plan).state().tolist() for plan in example_plans()]

    assert state(1) == state(1), "noise has another source than the operating system"
    assert state(1) != state(2), "noise does not depend on the operating system"


def draws_are_independent_between_summaries(summaries: int = 64) -> None:
    """Over many new summaries no counter is constant, and no two counters and no two summaries are equal."""
    sketch: dict[str, Any] = {"sketch_rows": 3, "sketch_width": 8, "hot_cells": 1}
    budgets = {0: 0.1, 2: 0.1, 3: 0.1, 5: 0.3, 6: 0.3}
    plan = Plan(Interval(0, 1), epsilon=1, budgets=budgets, exact_depth=3, **sketch)
    cells = np.stack([Summary(plan).release().release.cells() for _ in range(summaries)])
    assert (cells != cells[0]).any(axis=0).all(), "a cell is constant"
    assert np.unique(cells, axis=1).shape == cells.shape, "two cells share their noise"
    assert np.unique(cells, axis=0).shape == cells.shape, "two summaries share their noise"


# Seen once, counted once


def summary_is_released_once() -> None:
    """After the release every operation is refused, and so are copies."""
    plan = example_plans()[0]
    summary, other = Summary(plan), Summary(plan)
    _refused(lambda: copy.copy(summary), lambda: copy.deepcopy(summary), lambda: pickle.dumps(summary))
    part = Summary(plan)
    summary.merge(part)
    _refused(part.release, part.state, lambda: part.update([0.5]), lambda: other.merge(part))
    summary.release()
    _refused(summary.release, summary.state, lambda: summary.update([0.5]), lambda: summary.absorb(Tally(plan)))
    _refused(lambda: summary.merge(other), lambda: other.merge(summary))


def records_are_merged_once() -> None:
    """Counts are merged once: directly, as a copy or inside another summary; other plans are refused.

    Nor can an update be repeated that was interrupted, here or from a checkpoint.
    """
    plan = example_plans()[0]
    summary, tally, wider = Summary(plan), Tally(plan), Tally(plan)
    wider.merge(tally)
    _refused(lambda: wider.merge(tally), lambda: tally.merge(tally), lambda: tally.merge(wider))
    summary.absorb(wider)
    _refused(lambda: summary.absorb(tally), lambda: summary.absorb(wider))
    _refused(lambda: summary.absorb(pickle.loads(pickle.dumps(tally))), lambda: summary.merge(summary))
    twin = restore_summary(plan, summary.state(), summary.merged_ids)
    _refused(lambda: summary.merge(twin), lambda: summary.absorb(Tally(example_plans()[1])))
    torn, other, whole = Tally(plan), Summary(plan), Summary(plan)
    with mock.patch.object(Tally, "add_counts", side_effect=KeyboardInterrupt), contextlib.suppress(KeyboardInterrupt):
        summary.absorb(torn)
    with (
        mock.patch.object(NoisyCounters, "arrays", side_effect=KeyboardInterrupt),
        contextlib.suppress(KeyboardInterrupt),
    ):
        whole.merge(other)
    _refused(lambda: summary.absorb(torn), summary.release, lambda: whole.merge(other), other.release, whole.release)
    half, fresh = Summary(plan), Summary(plan)
    with (
        mock.patch("privhp.kernels.count_codes", side_effect=KeyboardInterrupt),
        contextlib.suppress(KeyboardInterrupt),
    ):
        half.update([0.5])
    _refused(lambda: half.update([0.5]), half.state, lambda: half.merge(fresh), lambda: fresh.merge(half), half.release)


def _refused(*actions: Callable[[], Any]) -> None:
    for action in actions:
        with contextlib.suppress(StateError):
            action()
            raise AssertionError("a second look at a state, or a second count, is not refused")

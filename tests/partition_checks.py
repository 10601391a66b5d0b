"""The privacy argument of a learned partition as named checks that raise AssertionError.

Each record is counted in one cell, in one epoch, the rows between two
refinements. Privacy follows from three facts: epochs end at fixed row numbers;
given the splits, one row changes one counter of one epoch by one; and in every
epoch each counted cell has a fresh noise draw before the first record.

The checks choose splits at random, independent of the counts, so that two
streams can be compared under the same splits. Expected counts come from a
reference with rows in a list and cells in a dict.
"""

import contextlib
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import privhp.collect.summary
import privhp.collect.tally
import privhp.planning.partition
from privhp import Integers, Plan, PlanError, RecordsError, StateError, Summary, Tally, kernels
from privhp.core.cells import Counts
from privhp.planning.partition import Cells, Partition
from privhp.planning.refinement_schedule import RefinementSchedule
from spies import record_draws

Cell = tuple[int, int]
"""Level and code."""

MARKS_END, MARK_ZERO = -(2**62), -(2**63)


def plan_of(**changes: Any) -> Plan:
    """A plan with two refinements over the integers below 1024, and slots for nearly all splits."""
    schedule = RefinementSchedule(slots=3000, refinement_rows=(7, 12), min_child_records=1)
    settings: dict[str, Any] = {
        "epsilon": 4,
        "budgets": {1: "1/2", 2: "1/2", 4: 3},
        "exact_depth": 2,
        "learned": schedule,
        "inference": "least-squares",
        "expected_records": 40,
        "neighbours": "zero-out",
        "hash_seed": 0,
    }
    return Plan(Integers(0, 1023), **(settings | changes))


@dataclass(frozen=True)
class Chosen:
    """Splits that depend on the codes of cells only, in place of a `Refinement`."""

    plan: Plan
    seed: int
    refinement: int

    def levels_of(self, level: int, code: int) -> int:
        rng = np.random.default_rng([self.seed, self.refinement, level, code])
        return min(int(rng.choice([0, 0, 0, 1, 2, 3])), self.plan.depth - level)

    def levels(self, cells: Cells) -> Counts:
        return np.array([self.levels_of(cells.level, code) for code in cells.codes.tolist()], dtype=np.int64)

    def shrink(self, cells: Cells, counts: Counts) -> Counts:
        return counts


@dataclass
class RefinementLog:
    """Rows and a copy of the slots of a summary at each refinement."""

    rows: list[int]
    slots: list[Counts]


@contextlib.contextmanager
def splits_by_code(seed: int = 0) -> Iterator[RefinementLog]:
    """Split cells by their codes."""
    seen = RefinementLog([], [])

    def choose(plan: Plan, partition: Partition, *, rows: int, chunk: int) -> Chosen:
        seen.rows.append(rows)
        seen.slots.append(partition.slots.copy())
        return Chosen(plan, seed, partition.refinements)

    with mock.patch.object(privhp.collect.summary, "Refinement", choose):
        yield seen


def no_noise(size: int, scale: Fraction) -> Counts:
    return np.zeros(size, dtype=np.int64)


def unit_noise(size: int, scale: Fraction) -> Counts:
    """Every draw is 1, so the count of an empty cell is the number of its draws."""
    return np.ones(size, dtype=np.int64)


def read_slots(slots: Counts, level: int) -> tuple[dict[Cell, int], dict[Cell, int], dict[Cell, int]]:
    """Counts of leaves and of split cells, and the first epoch of each."""
    live: dict[Cell, int] = {}
    frozen: dict[Cell, int] = {}
    first_epoch: dict[Cell, int] = {}

    def read(place: int, cell: Cell, since: int) -> None:
        value, first_epoch[cell] = int(slots[place]), since
        if value >= MARKS_END:
            live[cell] = value
            return
        mark = value - MARK_ZERO
        first, levels, when = mark >> 16, mark >> 8 & 0xFF, mark & 0xFF
        frozen[cell] = int(slots[first - 1])
        for part in range(2**levels):
            read(first + part, (cell[0] + levels, (cell[1] << levels) + part), when)

    for code in range(2**level):
        read(code, (level, code), 0)
    return live, frozen, first_epoch


def count_reference(plan: Plan, rows: list[Any], seed: int) -> tuple[dict[Cell, int], dict[Cell, int]]:
    """Reference counts of the leaves and of the split cells: each row in the leaf of its epoch."""
    assert plan.learned is not None
    live = {(plan.learned_level, code): 0 for code in range(2**plan.learned_level)}
    frozen: dict[Cell, int] = {}
    refinements = 0
    for number, row in enumerate(rows, start=1):
        if isinstance(row, int) and 0 <= row < 2**plan.depth:
            (cell,) = [(level, code) for level, code in live if row >> (plan.depth - level) == code]
            live[cell] += 1
        if number in plan.learned.refinement_rows:
            cuts = Chosen(plan, seed, refinements)
            refinements += 1
            for level, code in list(live):
                step = cuts.levels_of(level, code)
                if step:
                    frozen[level, code] = live.pop((level, code))
                    live |= {(level + step, (code << step) + part): 0 for part in range(2**step)}
    return live, frozen


def example_stream(size: int, *, seed: int = 0, dropped: float = 0.3) -> list[Any]:
    """Rows, some of which are out of the domain."""
    rng = np.random.default_rng(seed)
    return [None if rng.random() < dropped else int(rng.integers(0, 1024)) for _ in range(size)]


def slots_of(summary: Summary) -> Counts:
    return summary.release().release.counts[summary.plan.learned_level]


# When it is refined


def refinements_follow_row_numbers() -> None:
    """Refinements follow the row numbers of the plan; skipped rows have a number, rows of a refused batch do not."""
    plan = plan_of()
    for dropped in (0.0, 0.5, 1.0):
        rows = example_stream(20, dropped=dropped)
        for size in (1, 5, 7, 12, 20):
            with record_draws(no_noise), splits_by_code() as seen:
                summary = Summary(plan)
                for start in range(0, 20, size):
                    with contextlib.suppress(RecordsError):
                        summary.update(np.zeros((3, 3, 3)))
                    summary.update(rows[start : start + size])
                assert summary.rows == 20, "a row is not counted as one"
            assert seen.rows == [7, 12], "the partition is not refined after the rows that the plan says"
            for end, slots in zip(seen.rows, seen.slots, strict=True):
                live, frozen, _ = read_slots(slots, plan.learned_level)
                counted = sum(live.values()) + sum(frozen.values())
                assert counted == sum(row is not None for row in rows[:end]), "a refinement sees other rows"


# How far one row goes


def row_changes_one_counter(streams: int = 30) -> None:
    """Under the same noise and splits, zeroing out a row changes one slot by one, replacing it two slots at most."""
    for seed in range(streams):
        rows = example_stream(20, seed=seed)
        place = seed % 20
        before = _state(plan_of(), rows, seed)
        blanked = _state(plan_of(), [*rows[:place], None, *rows[place + 1 :]], seed)
        moved = 0 if rows[place] is None else 1
        for level, slots in before.items():
            change = np.abs(slots - blanked[level])
            assert change.sum() == (moved if level in (2, 4) else 0), (
                f"a blank row moves level {level} by {change.sum()}"
            )
        plan = plan_of(neighbours="replace-one")
        before = _state(plan, rows, seed)
        replaced = _state(plan, [*rows[:place], 1023 - seed, *rows[place + 1 :]], seed)
        for level, slots in before.items():
            change = np.abs(slots - replaced[level]).sum()
            assert change <= (0 if level == 1 else 2), f"another row moves level {level} by {change}"


def _state(plan: Plan, rows: list[Any], seed: int) -> dict[int, Counts]:
    with record_draws(lambda size, scale: np.arange(size) * 7 + 10**6), splits_by_code(seed):
        summary = Summary(plan)
        summary.update(rows)
        return plan.unpack(summary.state())


# What was drawn, and when


def every_pass_has_fresh_noise() -> None:
    """Before the first record of a epoch each leaf gets one more draw, and split cells get none."""
    for plan in (plan_of(), plan_of(neighbours="replace-one", max_records_per_person=3), plan_of(memory=2**16)):
        persons = plan.max_records_per_person * (2 if plan.neighbours == "replace-one" else 1)
        for seed in range(5):
            checked = Counter[int]()
            with record_draws(unit_noise) as draws, splits_by_code(seed), _before_counting(checked):
                summary = Summary(plan)
                drawn = len(draws)
                summary.update([None] * 20)
            assert checked == {0: 1, 1: 1, 2: 1}, "a epoch was not counted at once"
            assert {draw.scale for draw in draws[drawn:]} == {Fraction(persons, 3)}, "noise of another scale is added"


@contextlib.contextmanager
def _before_counting(checked: Counter[int]) -> Iterator[None]:
    """Check the slots before each call that counts records."""
    count = kernels.count_codes

    def watch(codes: NDArray[np.uint64], weights: Any, **details: Any) -> None:
        if codes.size:
            checked[_draws_are_complete(details["slots"], details["level"])] += 1
        count(codes, weights, **details)

    with mock.patch.object(kernels, "count_codes", watch):
        yield


def _draws_are_complete(slots: Counts, level: int) -> int:
    """Check that each cell has one draw for each of its epochs; return the number of refinements."""
    live, frozen, first_epoch = read_slots(slots, level)
    now = max(first_epoch.values())
    for cell, draws in live.items():
        assert draws == now + 1 - first_epoch[cell], "a cell has no noise for this epoch"
    for split, draws in frozen.items():
        when = min(first_epoch[cell] for cell in first_epoch if _is_descendant(cell, split))
        assert draws == when - first_epoch[split], (
            "a split cell does not have one draw for each epoch in which it counted"
        )
    return now


def _is_descendant(cell: Cell, of: Cell) -> bool:
    return cell[0] > of[0] and cell[1] >> (cell[0] - of[0]) == of[1]


def interrupted_refinement_only_allows_release() -> None:
    """After an interrupt at any line, updates and saves are refused, and the release is valid."""
    plan = plan_of(budgets={1: "1/2", 2: "1/2", 6: 3}, memory=24_800)  # so that it works in pieces
    lines = _refined(plan, stop=None)[1]
    assert lines > 100
    for stop in range(lines):
        summary, _ = _refined(plan, stop=stop)
        for action in (lambda: summary.update([5]), summary.state):  # noqa: B023 - called at once
            with contextlib.suppress(StateError):
                action()
                raise AssertionError("a summary goes on after a refinement that broke off")
        live, frozen, _ = read_slots(slots_of(summary), plan.learned_level)
        draws = sum(live.values()) + sum(frozen.values()) - 7
        assert draws >= 2**plan.learned_level, "counts are lost where a refinement breaks off"


def _refined(plan: Plan, *, stop: int | None) -> tuple[Summary, int]:
    """A summary of seven records and the number of lines of its refinement, interrupted before line `stop`."""
    lines, rooms = itertools.count(), (privhp.collect.summary.__file__, privhp.planning.partition.__file__)

    def in_room(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and next(lines) == stop:
            raise KeyboardInterrupt
        return in_room

    def in_refinement(frame: FrameType, event: str, argument: Any) -> Any:
        return in_room if frame.f_code.co_filename in rooms else None

    refine = Summary._refine

    def traced(summary: Summary) -> None:
        before = sys.gettrace()
        sys.settrace(in_refinement)
        try:
            refine(summary)
        finally:
            sys.settrace(before)

    with record_draws(unit_noise), splits_by_code(), mock.patch.object(Summary, "_refine", traced):
        summary = Summary(plan)
        with contextlib.suppress(KeyboardInterrupt):
            summary.update([5] * 7)
            assert stop is None, "nothing was interrupted"
    return summary, next(lines)


def plans_without_row_numbers_are_refused() -> None:
    """Learned partitions are refused under add-remove, with counts=, for tallies and for merges."""
    plan = plan_of()
    with contextlib.suppress(PlanError):
        replace(plan, neighbours="add-remove")
        raise AssertionError("a learned partition is accepted under add-remove")
    summary, other, tally = Summary(plan), Summary(plan), Tally(plan)
    for action in (
        lambda: summary.update([3, 5], counts=[1, 1]),
        lambda: summary.update([3, 5], counts=[1, 1], threads=2),
        lambda: tally.add([3]),
        lambda: tally.merge(Tally(plan)),
        lambda: summary.absorb(tally),
        lambda: summary.merge(other),
    ):
        with contextlib.suppress(StateError):
            action()
            raise AssertionError("a learned partition accepts records without row numbers")
    assert summary.rows == 0

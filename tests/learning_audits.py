"""Statistical checks of releases with a learned partition; they raise AssertionError.

Cells. With memory for all splits, and a split rule that looks at a cell alone,
the cells of one partition are independent trials. Each pass may split a cell by
one level, so the release shows what each pass decided. A candidate cell is
empty or has the records of one person. Its neighbours, in the same batches, have
many records, which would show an observer that a batch is in the sample.

Streams. Each trial is a whole run over a short stream.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from audits import AUDIT_ALPHA, SAMPLES
from learning_runs import array_file, ingest, run_resumed
from privhp import Integers, Partition, Plan
from privhp.audit.bounds import Events, measured_epsilon
from privhp.core.cells import Counts
from privhp.planning.learning import Learning, LearningPass
from privhp.planning.tuning import LINE
from privhp.release import Release

LEVEL, PASSES = 15, 2
DEPTH = LEVEL + PASSES
CELLS = 2**LEVEL
NEARBY = 12
"""Records of each neighbour of a candidate."""

TUNING = LINE._replace(min_unevenness=1.0, split_signal=1e-9, split_z=0.3, max_split_levels=1, zoom_levels=1)
"""A split rule for one cell at a time: a count of 1 or more splits it by one level."""

THRESHOLDS = np.array([-2, -1, 0, 1, 2, 4])[:, None]


def plan_of(**changes: Any) -> Plan:
    """Two passes at rate 1/2 and budget 3/2, a measuring pass of budget 1, and memory for all splits."""
    passes = (LearningPass(Fraction(1, 2), Fraction(3, 2)),) * PASSES
    settings: dict[str, Any] = {
        "epsilon": "4.1",
        "budgets": {0: 1, LEVEL: 1},
        "exact_depth": 0,
        "learning": Learning(nbytes=64 * CELLS, passes=passes),
        "inference": "least-squares",
    }
    return Plan(Integers(0, 2**DEPTH - 1), **(settings | changes))


def claimed_epsilon(plan: Plan) -> float:
    """What the plan accounts for the learning passes and the leaves; a cell does not see the root level."""
    assert plan.learning is not None
    return float(plan.budgets[plan.learned_level] + plan.learning.cost)


@contextmanager
def cell_by_cell() -> Iterator[None]:
    """Split each cell by its own count."""
    with mock.patch.object(Plan, "tuning", TUNING):
        yield


def learned_partition_spends_at_most_its_cost(trials: int = 2 * SAMPLES // 3) -> None:
    """Measured epsilon of one person: one record, three records, one record that is replaced by another.

    The rows are sorted, so that a candidate is in the batch of its neighbours.
    """
    _check_added(plan_of(), trials, _in_memory)
    _check_added(plan_of(max_records_per_person=3), trials // 3, _in_memory)
    _check_replaced(plan_of(neighbours="replace-one"), trials // 3)


def resumed_run_spends_at_most_its_cost(trials: int = SAMPLES // 10) -> None:
    """The same for one record, in runs that are killed and resumed several times in each pass."""
    _check_added(plan_of(), trials, _resumed)


def _in_memory(plan: Plan, rows: NDArray[np.int64]) -> Release:
    ingestion = ingest(plan, np.array_split(rows, 500))
    return ingestion.summary.close()


def _resumed(plan: Plan, rows: NDArray[np.int64]) -> Release:
    size = -(-rows.size // 7)
    with tempfile.TemporaryDirectory() as folder, array_file(Path(folder), rows, rows=size) as data:
        ingestion, runs = run_resumed(plan, data, Path(folder) / "state", batches=2, kill=True)
        assert runs > 3 * PASSES, "nothing was interrupted"
        return ingestion.summary.close()


def _check_added(plan: Plan, trials: int, run: Callable[[Plan, NDArray[np.int64]], Release]) -> None:
    """Every fourth cell is a candidate, every second candidate has the records of a person."""
    cells = np.arange(CELLS)
    person = np.where(cells % 8, 0, plan.max_records_per_person)
    records = np.where(cells % 4, NEARBY, person)
    rows = np.repeat(cells << PASSES, records)
    with_person, without = _no_events(2), _no_events(2)
    with cell_by_cell():
        while with_person.trials < trials:
            steps, counts = _outcomes(run(plan, rows))
            events = _events(steps, counts)
            nearby = (steps.reshape(-1, 4)[:, 1:] == PASSES).all(axis=1)
            told = np.concatenate([events[:, ::4], events[:, ::4] & nearby])
            with_person.add(told[:, ::2])
            without.add(told[:, 1::2])
    _within(measured_epsilon(with_person, without, alpha=AUDIT_ALPHA), claimed_epsilon(plan))


def _check_replaced(plan: Plan, trials: int) -> None:
    """Of two cells, the first has a record or the second."""
    cells = np.arange(CELLS)
    rows = (cells << PASSES)[cells % 2 == cells // 2 % 2]
    in_first, in_second = _no_events(2), _no_events(2)
    with cell_by_cell():
        while in_first.trials < trials:
            steps, counts = _outcomes(_in_memory(plan, rows))
            events = _events(steps, counts)
            empty = (steps[1::2] == 0) & (counts[1::2] <= 0)
            told = np.concatenate([events[:, ::2], events[:, ::2] & empty])
            in_first.add(told[:, ::2])
            in_second.add(told[:, 1::2])
    _within(measured_epsilon(in_first, in_second, alpha=AUDIT_ALPHA), claimed_epsilon(plan))


def _outcomes(release: Release) -> tuple[NDArray[np.int64], Counts]:
    """For the first value of each cell of the root level: levels by which it was split, and the count of the leaf."""
    partition = release.plan.partition
    assert partition is not None
    starts = partition.codes().astype(np.int64) << (DEPTH - partition.levels.astype(np.int64))
    leaves = np.searchsorted(starts, np.arange(CELLS) << PASSES)
    return partition.levels[leaves].astype(np.int64) - LEVEL, release.counts[LEVEL][leaves]


def _events(steps: NDArray[np.int64], counts: Counts) -> NDArray[np.bool_]:
    """For each cell: split by so many levels, and comparisons of the count with thresholds."""
    sides = np.concatenate([counts > THRESHOLDS, counts <= THRESHOLDS])
    return np.concatenate([np.concatenate([(steps == own)[None], (steps == own) & sides]) for own in range(PASSES + 1)])


def _no_events(kinds: int) -> Events:
    return Events.none(kinds * (PASSES + 1) * (1 + 2 * THRESHOLDS.size))


def _within(measured: float, claim: float) -> None:
    assert measured <= claim, f"an epsilon of at least {measured:.3f} is measured where {claim:.3f} is claimed"


# Whole runs

STREAM_PLAN = Plan(
    Integers(0, 63),
    epsilon="1.1",
    budgets={1: "1/4", 3: "1/2"},
    exact_depth=1,
    learning=Learning(nbytes=600, passes=(LearningPass(Fraction(1, 4), Fraction(1, 2)),) * 2),
    inference="least-squares",
)


def stream_pairs() -> dict[str, tuple[list[Any], list[Any]]]:
    """Neighbouring streams whose old releases told them apart, each as batches."""
    rows = np.random.default_rng(0).integers(10, 64, 156)
    skewed = np.sort(np.repeat([9, 10, 40], [3, 60, 93]))
    in_batches = np.array_split(skewed, 12)
    return {
        "156 against 155 rows": ([rows], [rows[:-1]]),
        "no record against one": ([rows[:0]], [rows[:1]]),
        "a record that a filter drops": (_without_nines([*rows[:155], 19]), _without_nines([*rows[:155], 9])),
        "a sorted stream": (in_batches, [in_batches[0][1:], *in_batches[1:]]),
        "a record that tips a split": ([np.full(12, 33)], [np.full(11, 33)]),
    }


def _without_nines(values: list[Any]) -> list[Any]:
    """One batch, as `grep -v '^9'` leaves it."""
    return [np.array([value for value in values if not str(value).startswith("9")])]


def streams_spend_at_most_epsilon(trials: int = 100, names: Sequence[str] | None = None) -> None:
    """Measured epsilon of neighbouring streams, each trial a whole run, at the epsilon of the plan."""
    for name, pair in stream_pairs().items():
        if names is None or name in names:
            one, other = (_stream_events(batches, trials) for batches in pair)
            measured = measured_epsilon(one, other, alpha=AUDIT_ALPHA)
            claim = float(STREAM_PLAN.epsilon)
            assert measured <= claim, f"{name}: an epsilon of at least {measured:.3f} is measured, {claim} is claimed"


def _stream_events(batches: list[Any], trials: int) -> Events:
    """Comparisons of the numbers of leaves, of levels and of counts with thresholds."""
    events = Events.none(10 * _LIMITS.size)
    for _ in range(trials):
        with cell_by_cell():
            release = ingest(STREAM_PLAN, batches).summary.close()
        partition, counts = release.plan.partition, release.counts
        assert partition is not None
        numbers = [partition.size, int(partition.levels.max()), int(counts[1].sum()), int(counts[3].sum())]
        above = np.array([*numbers, _leaf_level(partition, 33)])[:, None] > _LIMITS
        events.add(np.concatenate([above, ~above]).reshape(-1, 1))
    return events


_LIMITS = np.array([0, 3, 4, 5, 8, 9, 12, 16, 24, 40, 80, 120, 154, 155, 156, 160, 200])


def _leaf_level(partition: Partition, value: int) -> int:
    """Level of the leaf with a value."""
    levels = partition.levels.astype(np.int64)
    starts = partition.codes().astype(np.int64) << (6 - levels)
    return int(levels[np.searchsorted(starts, value, side="right") - 1])

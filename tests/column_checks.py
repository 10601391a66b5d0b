"""The privacy argument of measured columns in learning passes as named checks that raise AssertionError.

A learning pass counts one sample in the leaves of the table and in those of each column that learns. So a row that is
taken changes one leaf of each by one, and every leaf has a fresh draw at the scale of its own budget. Limits
are computed from the definitions, never asked of the code.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from learning_checks import table_relations
from learning_runs import (
    TABLE,
    Refined,
    count_leaves,
    ingest,
    no_noise,
    replaced_coins,
    splits_by_code,
    table_plan_of,
    watched_refinements,
)
from privhp import Partition, Plan
from privhp.collect.learning import refine_plan
from privhp.core.cells import OUTSIDE, Counts
from privhp.release import Release
from silent import assert_silent
from spies import fixed_noise, record_draws

LEARNED = ("a", "b")
"""Columns that learn a partition."""


def table_rows(size: int = 300) -> dict[str, NDArray[np.int64]]:
    """Rows of the table, about a tenth of the values of each column outside their bounds."""
    rng = np.random.default_rng(0)
    return {"a": rng.integers(-2, 34, size), "b": rng.integers(-4, 68, size), "c": rng.integers(-1, 17, size)}


def inside(rows: dict[str, NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Whether all values of each row are within their bounds."""
    bounds = {"a": 32, "b": 64, "c": 16}
    return np.all([(rows[name] >= 0) & (rows[name] < bound) for name, bound in bounds.items()], axis=0)


def parts_of_pass(refined: Refined) -> list[tuple[Counts, Partition]]:
    """Noisy counts of the table and of its columns in a learning pass, and the partitions in which it counted."""
    found = []
    for own in (refined.release, *(refined.release.columns[label] for label in LEARNED)):
        (counts,) = own.counts.values()
        assert own.plan.partition is not None
        found.append((counts, own.plan.partition))
    assert set(refined.release.columns) == set(LEARNED), "a pass counts other columns than those that learn"
    return found


def parts_have_fresh_noise_in_every_pass() -> None:
    """Each leaf of the table and of each column has a draw at sensitivity / budget of its own, and nothing else has."""
    rows = table_rows()
    for plan in table_relations():
        sensitivity = plan.max_records_per_person * (1 if plan.neighbours == "add-remove" else 2)
        coins = [False] * 2 * len(rows["a"])
        with fixed_noise() as draws, splits_by_code(), watched_refinements() as seen, replaced_coins(coins):
            ingest(plan, [rows])
        learning = [plan.learning, *(plan.columns[label].learning for label in LEARNED)]
        own = iter(draws)
        for refined in seen:
            for (counts, _), budgets in zip(parts_of_pass(refined), learning, strict=True):
                draw = next(own)
                assert budgets is not None
                scale = Fraction(sensitivity) / budgets.passes[refined.number].budget
                assert draw.scale == scale, "a part of a pass has noise of another scale"
                assert np.array_equal(counts, draw.values), "the counts of an empty sample are not its fresh noise"
        measured = [budget for part in (plan, *plan.columns.values()) for budget in part.budgets.values()]
        assert sorted(draw.scale for draw in own) == sorted(sensitivity / budget for budget in measured), (
            "the measuring pass has other draws than are due"
        )


def parts_of_a_pass_count_one_sample() -> None:
    """The table and each column count the rows that the coins take, without those that are skipped in any column."""
    plan, rows = table_plan_of(), table_rows()
    with record_draws(no_noise), splits_by_code(), watched_refinements() as seen, replaced_coins() as coins:
        ingest(plan, [{name: values[:100] for name, values in rows.items()}, {n: v[100:] for n, v in rows.items()}])
    codes = TABLE.encode(rows, level=TABLE.depth)
    assert np.array_equal(codes != OUTSIDE, inside(rows))
    depths = {column.label: column.domain.depth for column in TABLE.columns}
    for refined, heads in zip(seen, np.reshape(coins.heads, (2, -1)), strict=True):
        taken = np.flatnonzero(heads & inside(rows))
        values = [codes[taken].astype(np.int64), *(rows[label][taken] for label in LEARNED)]
        for (counts, partition), own, depth in zip(
            parts_of_pass(refined), values, [TABLE.depth, *(depths[label] for label in LEARNED)], strict=True
        ):
            expected = count_leaves(partition, own.tolist(), depth)
            assert counts.tolist() == expected, "a part of a pass counts other rows than its coins take"


def row_changes_one_counter_of_each_part() -> None:
    """Under the same coins and noise, one more row changes a leaf of each part by one if taken, and nothing otherwise.

    In the measuring pass it changes each level of each part by one at most.
    """
    plan, others = table_plan_of(), [(3, 7, 1), (31, 63, 15), (None, 1, 1), (4, "9", 2), (5, 5, 99), (0, 0, 0)]
    for row in ((5, 40, 3), (5, 40, 99), (-1, 40, 3), (5, None, 3), ("x", 1, 1), None, (1, 2)):
        for taken in (False, True):
            with_row, without = (_counts(plan, stream, taken) for stream in ([row, *others], others))
            for number, (one, other) in enumerate(zip(with_row, without, strict=True)):
                limit = int(taken) if number < 2 * (1 + len(LEARNED)) else 1
                assert np.abs(one - other).sum() <= limit, "a row changes more than one counter by one"


def _counts(plan: Plan, rows: list[Any], taken: bool) -> list[Counts]:
    """Counts of all parts of all passes; the other rows have the same coins with and without the first one."""
    coins = [True, True, False, True, False, True]
    coins = [taken, *coins] if len(rows) > len(coins) else coins
    with fixed_noise(), splits_by_code(), watched_refinements() as seen, replaced_coins(coins * 2), assert_silent():
        release = ingest(plan, [rows]).summary.close()
    learned = [counts for refined in seen for counts, _ in parts_of_pass(refined)]
    return [*learned, *(counts for own in (release, *release.columns.values()) for counts in own.counts.values())]


def columns_are_refined_by_noisy_counts() -> None:
    """Each partition of a column follows from the noisy counts, the plan and the number of the pass."""
    rows = table_rows()
    heavy = {name: np.repeat(np.array([3, 9, 12]), 200) for name in rows}
    for batch in (rows, heavy):
        with watched_refinements() as seen:
            release = ingest(table_plan_of(), [batch]).summary.close()
        assert len(seen) == 2, "a refinement is missing"
        for own in seen:
            again = refine_plan(own.before, own.number, Release.from_bytes(own.release.to_bytes()))
            assert own.after == again, "a partition does not follow from the noisy counts"
        assert release.plan.columns == seen[-1].after.columns, "the measuring pass has other partitions"
        for label in LEARNED:
            assert release.columns[label].plan.partition == release.plan.columns[label].partition, "another partition"

"""Defects: columns that are learned with too little noise, from other rows, or by more than the noisy counts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import column_checks
import learning_costs
import privhp.collect.ingest
import privhp.collect.learning
from mutants import noise_defects, record_defects
from mutants.learning_defects import _change_pass_plans
from mutants.planting import caught_by
from privhp import Plan, kernels
from privhp.collect.noisy_counters import NoisyCounters
from privhp.core.cells import Counts
from privhp.planning.partition import Partition
from privhp.release import Release


@caught_by(column_checks.parts_have_fresh_noise_in_every_pass)
def column_learned_without_noise(patch: pytest.MonkeyPatch) -> None:
    noise_defects.column_without_noise(patch)


@caught_by(column_checks.parts_have_fresh_noise_in_every_pass, learning_costs.passes_cost_at_most_epsilon)
def columns_learned_with_less_noise(patch: pytest.MonkeyPatch) -> None:
    def doubled(plan: Plan, own: Plan) -> Plan:
        columns = {
            label: sizes._replace(budgets={level: 4 * budget for level, budget in sizes.budgets.items()})
            for label, sizes in own.columns.items()
        }
        return replace(own, epsilon=100, columns=columns)

    _change_pass_plans(patch, doubled)


@caught_by(column_checks.parts_have_fresh_noise_in_every_pass, learning_costs.passes_cost_at_most_epsilon)
def all_columns_counted_while_learning(patch: pytest.MonkeyPatch) -> None:
    def more(plan: Plan, own: Plan) -> Plan:
        others = {label: sizes for label, sizes in plan.columns.items() if sizes.learning is None}
        return replace(own, epsilon=100, columns={**own.columns, **others})

    _change_pass_plans(patch, more)


@caught_by(column_checks.parts_have_fresh_noise_in_every_pass)
def columns_share_the_noise_of_the_table(patch: pytest.MonkeyPatch) -> None:
    draw, drawn = NoisyCounters._draw_noise, list[Counts]()

    def again(self: NoisyCounters, level: int, size: int) -> Counts:
        drawn.append(draw(self, level, size))
        return np.resize(drawn[0], size)

    patch.setattr(NoisyCounters, "_draw_noise", again)


@caught_by(column_checks.parts_of_a_pass_count_one_sample)
def skipped_rows_learned_in_columns(patch: pytest.MonkeyPatch) -> None:
    record_defects.skipped_record_counts_in_columns(patch)


@caught_by(column_checks.row_changes_one_counter_of_each_part, column_checks.parts_of_a_pass_count_one_sample)
def row_learned_twice_in_columns(patch: pytest.MonkeyPatch) -> None:
    """A value of a column counts in the next leaf, too."""
    count, calls = kernels.count_codes, [0]

    def twice(codes: Any, weights: Any, **targets: Any) -> None:
        count(codes, weights, **targets)
        calls[0] += 1
        if targets["counters"] is None and calls[0] % 3 == 2:
            count(codes, weights, **targets)

    patch.setattr(kernels, "count_codes", twice)


@caught_by(column_checks.columns_are_refined_by_noisy_counts)
def columns_refined_by_another_secret(patch: pytest.MonkeyPatch) -> None:
    """A partition of a column depends on more than the noisy counts."""
    refine_plan, rng = privhp.collect.ingest.refine_plan, np.random.default_rng()

    def telling(plan: Plan, number: int, release: Release) -> Plan:
        refined = refine_plan(plan, number, release)
        columns = dict(refined.columns)
        columns["b"] = columns["b"]._replace(partition=Partition.complete(2 + int(rng.integers(1, 3))))
        return replace(refined, columns=columns)

    patch.setattr(privhp.collect.ingest, "refine_plan", telling)

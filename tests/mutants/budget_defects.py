"""Defects: wrong sensitivities and overspent budgets."""

from dataclasses import replace
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from math import expm1, log1p
from typing import Any

import pytest

import audits
import leaks
import learning_audits
import learning_costs
import privacy
import privhp.collect.summary
import privhp.collect.tally
import privhp.core.budget
import privhp.planning.learning
import privhp.planning.paper
import privhp.planning.plan_checks
import privhp.planning.plan_layout
from mutants.planting import caught_by
from privhp import Summary


@caught_by(
    privacy.every_counter_has_one_draw_at_its_scale,
    privacy.draws_spend_at_most_epsilon,
    privacy.record_changes_at_most_its_sensitivity,
    audits.sketch_spends_at_most_its_budget,
)
def sketch_noise_without_factor_of_rows(patch: pytest.MonkeyPatch) -> None:
    _change_sensitivity(patch, rows=1)


@caught_by(
    privacy.every_counter_has_one_draw_at_its_scale,
    privacy.draws_spend_at_most_epsilon,
    privacy.record_changes_at_most_its_sensitivity,
)
def replace_one_not_doubled(patch: pytest.MonkeyPatch) -> None:
    original = privhp.planning.plan_layout.sensitivity
    patch.setattr(
        privhp.planning.plan_layout, "sensitivity", lambda neighbours, **details: original("add-remove", **details)
    )


@caught_by(
    privacy.every_counter_has_one_draw_at_its_scale,
    privacy.draws_spend_at_most_epsilon,
    privacy.record_changes_at_most_its_sensitivity,
)
def max_records_per_person_ignored(patch: pytest.MonkeyPatch) -> None:
    _change_sensitivity(patch, max_records_per_person=1)


def _change_sensitivity(patch: pytest.MonkeyPatch, **changed: int) -> None:
    original = privhp.planning.plan_layout.sensitivity
    patch.setattr(
        privhp.planning.plan_layout,
        "sensitivity",
        lambda neighbours, **details: original(neighbours, **{**details, **changed}),
    )


@caught_by(privacy.draws_spend_at_most_epsilon)
def root_without_share_of_budget(patch: pytest.MonkeyPatch) -> None:
    split_epsilon = privhp.planning.paper.split_epsilon

    def generous(epsilon: Fraction, weights: dict[int, float]) -> dict[int, Fraction]:
        deeper = {level: weight for level, weight in weights.items() if level > 0}
        return {0: epsilon / 10, **split_epsilon(epsilon, deeper)}

    patch.setattr(privhp.planning.paper, "split_epsilon", generous)
    patch.setattr(privhp.planning.plan_checks, "check_privacy", lambda plan: None)


@caught_by(privacy.draws_spend_at_most_epsilon, learning_costs.cost_of_a_pass_is_rounded_up)
def overspent_budgets_accepted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.planning.plan_checks, "check_privacy", lambda plan: None)


@caught_by(privacy.draws_spend_at_most_epsilon)
def epsilon_read_as_its_nearest_float(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.planning.plan_checks, "exact_epsilon", lambda value: Fraction(float(value)))


@caught_by(
    learning_costs.passes_cost_at_most_epsilon,
    learning_costs.cost_of_a_pass_is_rounded_up,
    learning_audits.learned_partition_spends_at_most_its_cost,
)
def cost_without_logarithm(patch: pytest.MonkeyPatch) -> None:
    for module in (privhp.core.budget, privhp.planning.learning):
        patch.setattr(module, "amplified_cost", lambda rate, budget: rate * budget)


@caught_by(learning_costs.cost_of_a_pass_is_rounded_up)
def logarithm_rounded_down(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.core.budget, "_rounding_up", lambda digits: Context(prec=digits, rounding=ROUND_FLOOR))


@caught_by(learning_costs.cost_of_a_pass_is_rounded_up)
def logarithm_in_floats(patch: pytest.MonkeyPatch) -> None:
    for module in (privhp.planning.learning, learning_costs):
        patch.setattr(module, "amplified_cost", lambda rate, budget: Fraction(log1p(rate * expm1(budget))))


@caught_by(learning_costs.cost_of_a_pass_is_rounded_up)
def learning_not_paid_for(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.planning.learning.Learning, "cost", Fraction(0))


@caught_by(leaks.header_is_independent_of_records)
def budget_from_number_of_records(patch: pytest.MonkeyPatch) -> None:
    update, release = Summary.update, Summary.release

    def counting(self: Summary, records: Any, *, counts: Any = None) -> None:
        update(self, records, counts=counts)
        self._seen = getattr(self, "_seen", 0) + len(records)

    def telling(self: Summary) -> Any:
        generator = release(self)
        epsilon = self.plan.epsilon + Fraction(1, self._seen)
        object.__setattr__(generator.release, "plan", replace(self.plan, epsilon=epsilon))
        return generator

    patch.setattr(Summary, "update", counting)
    patch.setattr(Summary, "release", telling)

"""Defects: wrong sensitivities and overspent budgets."""

from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from math import expm1, log1p
from types import ModuleType
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
import privhp.planning.column_planner
import privhp.planning.learning
import privhp.planning.paper
import privhp.planning.plan
import privhp.planning.plan_checks
import privhp.planning.plan_layout
from mutants.planting import caught_by
from privhp import Plan, PlanError, Summary
from privhp.planning.column_planner import TablePlanner
from privhp.planning.plan_layout import PlanLayout


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
    _change_cost(patch, lambda rate, budget: rate * budget, privhp.core.budget)


def _change_cost(
    patch: pytest.MonkeyPatch, cost: Callable[[Fraction, Fraction], Fraction], *modules: ModuleType
) -> None:
    planning = (privhp.planning.learning, privhp.planning.plan_layout, privhp.planning.column_planner)
    for module in (*planning, *modules):
        patch.setattr(module, "amplified_cost", cost)


@caught_by(learning_costs.cost_of_a_pass_is_rounded_up)
def logarithm_rounded_down(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.core.budget, "_rounding_up", lambda digits: Context(prec=digits, rounding=ROUND_FLOOR))


@caught_by(learning_costs.cost_of_a_pass_is_rounded_up)
def logarithm_in_floats(patch: pytest.MonkeyPatch) -> None:
    _change_cost(patch, lambda rate, budget: Fraction(log1p(rate * expm1(budget))), learning_costs)


@caught_by(learning_costs.cost_of_a_pass_is_rounded_up)
def learning_not_paid_for(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PlanLayout, "learning_cost", Fraction(0))


def _pay(patch: pytest.MonkeyPatch, cost: Callable[[Plan], Fraction]) -> None:
    """Accept plans whose budgets and this cost sum to at most epsilon."""

    def check(plan: Plan) -> None:
        if sum(plan.budgets.values()) + cost(plan) > plan.epsilon:
            raise PlanError("expected budgets and learning passes that cost at most epsilon")

    patch.setattr(privhp.planning.plan_checks, "check_privacy", check)


@caught_by(privacy.draws_spend_at_most_epsilon, learning_costs.learning_columns_are_paid_for)
def columns_not_paid_for(patch: pytest.MonkeyPatch) -> None:
    _pay(patch, lambda plan: plan.learning_cost)


@caught_by(learning_costs.learning_columns_are_paid_for)
def columns_learn_for_nothing(patch: pytest.MonkeyPatch) -> None:
    def alone(plan: Plan) -> list[tuple[Fraction, Fraction]]:
        return [] if plan.learning is None else [(own.rate, own.budget) for own in plan.learning.passes]

    patch.setattr(PlanLayout, "pass_budgets", property(alone))


@caught_by(learning_costs.learning_columns_are_paid_for)
def cost_of_parts_instead_of_their_sum(patch: pytest.MonkeyPatch) -> None:
    """Each part of a pass is amplified by itself, which costs less than their sum does."""

    def apart(plan: Plan) -> Fraction:
        learning = [plan.learning, *(own.learning for own in plan.columns.values())]
        return sum((own.cost for own in learning if own is not None), Fraction(0))

    patch.setattr(PlanLayout, "learning_cost", property(apart))


@caught_by(learning_costs.passes_cost_at_most_epsilon)
def planner_forgets_that_columns_learn(patch: pytest.MonkeyPatch) -> None:
    plan_columns = TablePlanner._plan_columns

    def forgetful(self: TablePlanner, *share: Any) -> Any:
        sizes, cost, _ = plan_columns(self, *share)
        return sizes, cost, None

    patch.setattr(TablePlanner, "_plan_columns", forgetful)
    patch.setattr(privhp.planning.plan_checks, "check_privacy", lambda plan: None)


@caught_by(privacy.every_counter_has_one_draw_at_its_scale, privacy.draws_spend_at_most_epsilon)
def relation_ignored_in_columns(patch: pytest.MonkeyPatch) -> None:
    plans = Plan.column_plans.func
    patch.setattr(
        Plan,
        "column_plans",
        property(lambda plan: {label: replace(own, neighbours="add-remove") for label, own in plans(plan).items()}),
    )


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

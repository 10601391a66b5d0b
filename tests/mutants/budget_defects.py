"""Sensitivities and budgets that promise too much."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import audits
import leaks
import privacy
import privhp.collect.summary
import privhp.collect.tally
import privhp.planning.paper
import privhp.planning.plan
import privhp.planning.plan_checks
from mutants.planting import killed_by
from privhp import Summary


@killed_by(
    privacy.every_cell_gets_one_draw,
    privacy.draws_cost_at_most_epsilon,
    privacy.one_record_moves_its_share,
    audits.sketch_keeps_its_budget,
)
def sketch_noise_ignores_the_rows(patch: pytest.MonkeyPatch) -> None:
    _change_sensitivity(patch, rows=1)


@killed_by(privacy.every_cell_gets_one_draw, privacy.draws_cost_at_most_epsilon, privacy.one_record_moves_its_share)
def replace_one_not_doubled(patch: pytest.MonkeyPatch) -> None:
    original = privhp.planning.plan.sensitivity
    patch.setattr(privhp.planning.plan, "sensitivity", lambda neighbours, **details: original("add-remove", **details))


@killed_by(privacy.every_cell_gets_one_draw, privacy.draws_cost_at_most_epsilon, privacy.one_record_moves_its_share)
def max_records_per_person_ignored(patch: pytest.MonkeyPatch) -> None:
    _change_sensitivity(patch, max_records_per_person=1)


def _change_sensitivity(patch: pytest.MonkeyPatch, **changed: int) -> None:
    original = privhp.planning.plan.sensitivity
    patch.setattr(
        privhp.planning.plan,
        "sensitivity",
        lambda neighbours, **details: original(neighbours, **{**details, **changed}),
    )


@killed_by(privacy.draws_cost_at_most_epsilon)
def root_left_out_of_the_budget(patch: pytest.MonkeyPatch) -> None:
    split = privhp.planning.paper.split

    def generous(epsilon: Fraction, weights: dict[int, float]) -> dict[int, Fraction]:
        deeper = {level: weight for level, weight in weights.items() if level > 0}
        return {0: epsilon / 10, **split(epsilon, deeper)}

    patch.setattr(privhp.planning.paper, "split", generous)
    patch.setattr(privhp.planning.plan_checks, "check_privacy", lambda plan: None)


@killed_by(privacy.draws_cost_at_most_epsilon)
def overspent_budgets_accepted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.planning.plan_checks, "check_privacy", lambda plan: None)


@killed_by(privacy.draws_cost_at_most_epsilon)
def epsilon_read_as_its_nearest_float(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(privhp.planning.plan_checks, "exact_epsilon", lambda value: Fraction(float(value)))


@killed_by(leaks.header_does_not_know_the_records)
def budget_from_the_true_number_of_records(patch: pytest.MonkeyPatch) -> None:
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

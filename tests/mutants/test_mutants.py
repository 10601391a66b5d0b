"""Every planted defect is caught by the checks that it names."""

import inspect

import pytest

import audits
import column_checks
import delivery_checks
import engine_checks
import leaks
import learning_audits
import learning_checks
import learning_costs
import locks
import person_checks
import privacy
import reading
from mutants import (  # noqa: F401 - they plant
    budget_defects,
    column_defects,
    delivery_defects,
    engine_defects,
    learning_defects,
    life_defects,
    noise_defects,
    person_defects,
    reading_defects,
    record_defects,
)
from mutants.planting import DEFECTS, Check, Defect

CASES = [(defect, check) for defect in DEFECTS for check in defect.checks]
CHECKS = list(dict.fromkeys(check for _, check in CASES))


TESTED = [
    privacy.record_changes_at_most_its_sensitivity,
    privacy.line_changes_at_most_its_sensitivity,
    audits.exact_level_spends_at_most_its_budget,
    audits.sketch_spends_at_most_its_budget,
    audits.stolen_summary_and_release_spend_at_most_epsilon,
    audits.released_noise_is_discrete_laplace,
    learning_audits.learned_partition_spends_at_most_its_cost,
    learning_audits.resumed_run_spends_at_most_its_cost,
    learning_audits.streams_spend_at_most_epsilon,
]
"""Checks that tests/properties/test_sensitivity.py and tests/statistical run, with as many cases or more."""


@pytest.mark.parametrize("check", [check for check in CHECKS if check not in TESTED], ids=lambda check: check.__name__)
def test_check_passes_without_defect(check: Check) -> None:
    check()


@pytest.mark.parametrize(("defect", "check"), CASES, ids=lambda item: getattr(item, "__name__", None) or item.name)
def test_defect_is_caught(defect: Defect, check: Check, monkeypatch: pytest.MonkeyPatch, offline: bool) -> None:
    if defect.trials and not offline:
        pytest.skip("needs --offline for enough trials")
    defect.plant(monkeypatch)
    with pytest.raises(AssertionError):
        check(defect.trials) if defect.trials else check()


def test_every_check_catches_a_defect() -> None:
    """Every privacy check is named by a planted defect."""
    for module in (
        privacy,
        audits,
        column_checks,
        delivery_checks,
        engine_checks,
        leaks,
        locks,
        learning_checks,
        learning_costs,
        learning_audits,
        person_checks,
        reading,
    ):
        for name, check in inspect.getmembers(module, inspect.isfunction):
            is_check = check.__module__ == module.__name__ and inspect.signature(check).return_annotation is None
            if is_check and not name.startswith("_"):
                assert check in CHECKS, f"no planted defect is caught by {name}"

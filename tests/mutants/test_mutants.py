"""Every planted defect is noticed by the checks that it names. A surviving one fails the build."""

import inspect

import pytest

import audits
import growing
import growing_audits
import leaks
import privacy
import reading
from mutants import (  # noqa: F401 - they plant
    budget_defects,
    growing_defects,
    life_defects,
    noise_defects,
    reading_defects,
    record_defects,
)
from mutants.planting import DEFECTS, Check, Defect

KILLS = [(defect, killer) for defect in DEFECTS for killer in defect.killers]
KILLERS = list(dict.fromkeys(killer for _, killer in KILLS))


@pytest.mark.parametrize("killer", KILLERS, ids=lambda killer: killer.__name__)
def test_check_passes_without_a_defect(killer: Check) -> None:
    killer()


@pytest.mark.parametrize(("defect", "killer"), KILLS, ids=lambda item: getattr(item, "__name__", None) or item.name)
def test_defect_is_killed(defect: Defect, killer: Check, monkeypatch: pytest.MonkeyPatch, offline: bool) -> None:
    if defect.trials and not offline:
        pytest.skip("needs --offline: as many trials as it takes to see this defect")
    defect.plant(monkeypatch)
    with pytest.raises(AssertionError):
        killer(defect.trials) if defect.trials else killer()


def test_every_check_kills_a_defect() -> None:
    """A check that nothing can fail proves nothing."""
    for module in (privacy, audits, leaks, growing, growing_audits, reading):
        for name, check in inspect.getmembers(module, inspect.isfunction):
            is_check = check.__module__ == module.__name__ and inspect.signature(check).return_annotation is None
            if is_check and not name.startswith("_"):
                assert check in KILLERS, f"no planted defect is killed by {name}"

"""`privhp audit`: exit codes, table, and planted defects that it refutes in a tenth of the time of its quick mode.

By default the defects are planted under a few of the plans, with --slow under all of them.
"""

import time
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

import privhp.audit.parts
import privhp.collect.ingest
from cli.running import Outcome
from mutants import noise_defects
from privhp.audit.example_plans import example_plans

Run = Callable[..., Outcome]


PLANS = example_plans()
KINDS = [
    "exact levels and sketches",
    "learned partition",
    "pan-private, known partition",
    "known partition, measured columns",
]
FEW = [f"add-remove, {kind}" for kind in KINDS]


@pytest.fixture(autouse=True)
def time_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes do not shorten the audit."""
    monkeypatch.setattr("privhp.audit.findings.time", SimpleNamespace(monotonic=time.process_time))


@pytest.fixture(params=[FEW, pytest.param(list(PLANS), marks=pytest.mark.slow)], ids=["few plans", "all plans"])
def plans(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> set[str]:
    """Names of the plans that are audited."""
    chosen = {name: PLANS[name] for name in request.param}
    monkeypatch.setattr("privhp.audit.example_plans.example_plans", lambda: chosen)
    return set(chosen)


def refuted(run: Run, plans: set[str]) -> set[str]:
    """Plans with a refuted claim."""
    outcome = run("audit", "--time", f"{4 * len(plans) / len(PLANS)}s")
    assert outcome.code == 1
    assert "REFUTED: " in outcome.out
    assert not outcome.err
    blocks = outcome.out.split("\n\n")[1:-1]
    return {block.splitlines()[0] for block in blocks if "REFUTED" in block}


def test_installed_package_is_not_refuted(run: Run) -> None:
    code, out, err = run("audit", "--time", "4s")
    assert (code, err) == (0, "")
    header, *plans, end = out.split("\n\n")
    assert header.split() == ["measurement", "trials", "claim", "measured", "resolution", "verdict"]
    assert len(plans) == 18
    assert "None of 80 claims is refuted, at 99% confidence" in end
    assert "never prove it" in end
    measurements = [line.split() for plan in plans for line in plan.splitlines()[1:]]
    assert len(measurements) == 80
    for *_, claim, measured, resolution, _, verdict in measurements:
        assert verdict == "refuted"
        assert 0 <= float(measured) <= float(claim)
        assert float(measured) <= float(resolution)
    whole = [own for own in measurements if "column" not in own and "columns" not in own]  # columns have small claims
    tight = [float(measured) / float(claim) for *_, claim, measured, _, _, _ in whole]
    assert np.median(tight) > 0.5, "the audit has no power"


def test_plan_of_the_user(run: Run) -> None:
    run(
        "plan",
        "--domain",
        "a=interval:0:1",
        "--domain",
        "b=ipv4",
        "--epsilon",
        "1",
        "--expected-records",
        "1e5",
        "-o",
        "p",
    )
    code, out, _ = run("audit", "--plan", "p", "--time", "0.5s")
    assert code == 0
    assert "\np\n" in out
    assert "all passes" in out


def test_times_of_the_modes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    times = []
    monkeypatch.setattr("privhp.audit.findings.audit", lambda plans, *, seconds: times.append(seconds) or [])
    monkeypatch.setattr("privhp.audit.findings.format_findings", str)
    assert [run("audit", *mode).code for mode in ([], ["--deep"], ["--time", "5m"])] == [0, 0, 0]
    assert times == [40, 7200, 300]
    assert run("audit", "--deep", "--time", "5m").code == 2


def test_missing_plan_is_refused(run: Run) -> None:
    assert run("audit", "--plan", "none.json").code == 2


def test_halved_noise_is_refuted(run: Run, plans: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    noise_defects.noise_halved(monkeypatch)
    assert len(refuted(run, plans)) > 0.7 * len(plans)


def test_level_without_noise_is_refuted(run: Run, plans: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    noise_defects.one_level_without_noise(monkeypatch)
    assert {name for name in plans if "exact levels and sketches" in name} <= refuted(run, plans)


def test_column_without_noise_is_refuted(run: Run, plans: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    noise_defects.column_without_noise(monkeypatch)
    assert refuted(run, plans) == {name for name in plans if "measured columns" in name}


def test_columns_that_are_not_paid_for_are_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A joint claim below the sum of the budgets is refuted, although no level exceeds its own claim."""
    plan = PLANS["add-remove, known partition, measured columns"]
    monkeypatch.setattr("privhp.audit.example_plans.example_plans", lambda: {"columns": plan})
    monkeypatch.setattr(privhp.audit.parts.Part, "finest_budget", Fraction(1, 2))
    outcome = run("audit", "--time", "1s")
    (line,) = [line for line in outcome.out.splitlines() if "REFUTED" in line and "claims" not in line]
    assert line.startswith("table and columns ")


def test_larger_rate_than_accounted_is_refuted(run: Run, plans: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    sample = privhp.collect.ingest.poisson_sample

    def half(rows: int, *, rate: Fraction) -> NDArray[np.intp]:
        assert rate == Fraction(1, 16)
        return sample(rows, Fraction(1, 2))

    monkeypatch.setattr(privhp.collect.ingest, "poisson_sample", half)
    found = refuted(run, plans)
    assert "add-remove, learned partition" in found
    assert all("learned" in name for name in found)


def test_missing_second_draw_is_refuted(run: Run, plans: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    noise_defects.second_draw_missing(monkeypatch)
    assert refuted(run, plans) == {name for name in plans if "pan-private" in name}

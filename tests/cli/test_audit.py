"""`privhp audit`: exit codes, table, and planted defects that it refutes in a tenth of the time of its quick mode."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import privhp.collect.ingest
from cli.running import Outcome
from mutants import noise_defects

Run = Callable[..., Outcome]


TENTH = ["--time", "4s"]
"""A tenth of the time of the quick mode."""


def refuted(outcome: Outcome) -> set[str]:
    """Plans with a refuted claim."""
    assert outcome.code == 1
    assert "REFUTED: " in outcome.out
    assert not outcome.err
    blocks = outcome.out.split("\n\n")[1:-1]
    return {block.splitlines()[0] for block in blocks if "REFUTED" in block}


def test_installed_package_is_not_refuted(run: Run) -> None:
    code, out, err = run("audit", *TENTH)
    assert (code, err) == (0, "")
    header, *plans, end = out.split("\n\n")
    assert header.split() == ["measurement", "trials", "claim", "measured", "resolution", "verdict"]
    assert len(plans) == 14
    assert "None of 44 claims is refuted, at 99% confidence" in end
    assert "never prove it" in end
    measurements = [line.split() for plan in plans for line in plan.splitlines()[1:]]
    assert len(measurements) == 44
    for *_, claim, measured, resolution, _, verdict in measurements:
        assert verdict == "refuted"
        assert 0 <= float(measured) <= float(claim)
        assert float(measured) <= float(resolution)
    tight = [float(measured) / float(claim) for *_, claim, measured, _, _, _ in measurements]
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
    code, out, _ = run("audit", "--plan", "p", "--time", "2s")
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


def test_halved_noise_is_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    noise_defects.noise_halved(monkeypatch)
    assert len(refuted(run("audit", *TENTH))) > 10


def test_level_without_noise_is_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    noise_defects.one_level_without_noise(monkeypatch)
    found = refuted(run("audit", *TENTH))
    assert {f"{relation}, exact levels and sketches" for relation in ("add-remove", "replace-one")} <= found


def test_larger_rate_than_accounted_is_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = privhp.collect.ingest.poisson_sample

    def half(rows: int, *, rate: Fraction) -> NDArray[np.intp]:
        assert rate == Fraction(1, 16)
        return sample(rows, Fraction(1, 2))

    monkeypatch.setattr(privhp.collect.ingest, "poisson_sample", half)
    found = refuted(run("audit", *TENTH))
    assert "add-remove, learned partition" in found
    assert all("learned" in plan for plan in found)


def test_missing_second_draw_is_refuted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    noise_defects.second_draw_missing(monkeypatch)
    found = refuted(run("audit", *TENTH))
    assert len(found) == 4
    assert all("pan-private" in plan for plan in found)

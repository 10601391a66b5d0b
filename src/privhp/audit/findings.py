"""Findings of an audit: a lower bound on the privacy loss of each measurement, and a verdict."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from privhp.audit.bounds import measured_epsilon, resolution
from privhp.audit.trials import Trials
from privhp.planning.plan import Plan

CONFIDENCE = 0.99
"""Probability that no bound exceeds the true privacy loss, of all findings together."""

LIMITS = (
    "An audit can refute a guarantee, never prove it: it does not notice a defect that concerns other plans,\n"
    "records or outcomes than these, or that is smaller than the difference between claim and measured bound."
)


@dataclass(frozen=True)
class Finding:
    """What the trials of one measurement show.

    Args:
        plan: Name of the plan.
        measurement: The measurement: a level, the leaves, a pass, or all passes.
        trials: Number of trials.
        claim: Privacy loss that the plan claims, at most.
        measured: Lower confidence bound on the privacy loss.
        resolution: Largest bound that so many trials can give.
    """

    plan: str
    measurement: str
    trials: int
    claim: float
    measured: float
    resolution: float

    @property
    def refuted(self) -> bool:
        """Whether the privacy loss is above the claim."""
        return self.measured > self.claim


def audit(plans: Mapping[str, Plan], *, seconds: float) -> list[Finding]:
    """Findings of all plans, from as many runs as the time allows, and at least one of each plan.

    Args:
        plans: The plans, by their names.
        seconds: Time of all runs together.
    """
    trials = {name: _run_trials(plan, seconds / len(plans)) for name, plan in plans.items()}
    arms = [(name, arm) for name, own in trials.items() for arm in own.arms]
    alpha = (1 - CONFIDENCE) / len(arms)
    return [
        Finding(
            plan=name,
            measurement=arm.name,
            trials=arm.present.trials + arm.absent.trials,
            claim=float(arm.claim),
            measured=measured_epsilon(arm.present, arm.absent, alpha=alpha),
            resolution=resolution(arm.present, arm.absent, alpha=alpha),
        )
        for name, arm in arms
    ]


def _run_trials(plan: Plan, seconds: float) -> Trials:
    end = time.monotonic() + seconds
    trials = Trials(plan)
    trials.run()
    while time.monotonic() < end:
        trials.run()
    return trials


def findings_object(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings as a JSON object."""
    return {
        "refuted": any(own.refuted for own in findings),
        "confidence": CONFIDENCE,
        "findings": [asdict(own) | {"refuted": own.refuted} for own in findings],
    }


def format_findings(findings: Sequence[Finding]) -> str:
    """The findings as a table, and what they mean."""
    header = ("measurement", "trials", "claim", "measured", "resolution", "verdict")
    rows = [
        (own.measurement, f"{own.trials:,}", f"{own.claim:.3f}", f"{own.measured:.3f}", f"{own.resolution:.1f}")
        for own in findings
    ]
    widths = [max(map(len, column)) for column in zip(header[:-1], *rows, strict=True)]
    lines, plan = ["  ".join([f"{header[0]:{widths[0]}}", *map(str.rjust, header[1:-1], widths[1:]), header[-1]])], None
    for own, row in zip(findings, rows, strict=True):
        if own.plan != plan:
            plan = own.plan
            lines += ["", plan]
        verdict = "REFUTED" if own.refuted else "not refuted"
        lines.append("  ".join([f"{row[0]:{widths[0]}}", *map(str.rjust, row[1:], widths[1:]), verdict]))
    refuted, size = sum(own.refuted for own in findings), len(findings)
    verdict = f"REFUTED: {refuted} of {size} claims" if refuted else f"None of {size} claims is refuted"
    return "\n".join([*lines, "", f"{verdict}, at {CONFIDENCE:.0%} confidence for all bounds together.", LIMITS])

"""Pan-private plans: a second noise draw in every counter of a release."""

from typing import Any

import numpy as np
import pytest

import privhp as hp
from privhp.release import Release

DOMAIN = hp.Interval(0, 1)
SETTINGS: dict[str, Any] = {"epsilon": 1, "expected_records": 10_000, "memory": "16 KiB"}
RECORDS = np.random.default_rng(0).random(1000)


def counts_at_checkpoint(summary: hp.Summary) -> Release:
    """The release that the state of a summary gives without further noise."""
    plan = summary.plan
    cells = plan.unpack(summary.state())
    depth = plan.exact_depth
    for level in plan.exact_levels[:-1]:
        cells[level] = cells[level] + cells[depth].reshape(2**level, -1).sum(axis=1)
    return Release(plan, cells)


@pytest.mark.parametrize("pan_private", [False, True])
def test_release_differs_from_checkpoint_by_fresh_noise(pan_private: bool) -> None:
    """Nothing is counted in between, so all that differs is the second draw, in every counter of every level."""
    partition = hp.learn(RECORDS, DOMAIN, **SETTINGS | {"epsilon": 100}).partition
    plan = hp.Plan.auto(DOMAIN, **SETTINGS, partition=partition, pan_private=pan_private)
    summary = hp.Summary(plan)
    summary.update(RECORDS)
    checkpoint = counts_at_checkpoint(summary)
    release = summary.release().release
    for level in plan.budgets:
        changes = release.counts[level] - checkpoint.counts[level]
        if not pan_private:
            assert not changes.any()
            continue
        scale = float(plan.scale(level))
        mean = np.abs(changes).mean()  # of Laplace noise: its scale; the standard error is the scale / sqrt(size)
        assert abs(mean - scale) < 6 * scale / np.sqrt(changes.size)


def test_variance_of_released_counts() -> None:
    plain, pan = (hp.Plan.auto(DOMAIN, **SETTINGS, passes=3, pan_private=own) for own in (False, True))
    for plan, draws in ((plain, 1), (pan, 2)):
        for level in plan.budgets:
            assert plan.noise_variance(level) == pytest.approx(2 * float(plan.scale(level)) ** 2 * draws)
            assert plan.noise_variance(level, merged=3) == pytest.approx(
                2 * float(plan.scale(level)) ** 2 * (draws + 2)
            )


def test_cost_in_the_plan() -> None:
    plain, pan = (hp.Plan.auto(DOMAIN, **SETTINGS, pan_private=own) for own in (False, True))
    for stream, prediction in pan.predictions().items():
        assert plain.predictions()[stream].total < prediction.total < 1.6 * plain.predictions()[stream].total
    assert "stolen summary file" in str(pan)
    assert "stolen summary file" not in str(plain)
    assert hp.Plan.from_spec(pan.spec()) == pan != plain


def test_learning_passes_are_pan_private() -> None:
    assert hp.learn(RECORDS, DOMAIN, **SETTINGS, pan_private=True).pan_private
    generator = hp.fit(RECORDS, DOMAIN, **SETTINGS, pan_private=True)
    assert generator.plan.pan_private
    assert hp.Generator.from_bytes(generator.to_bytes()).plan == generator.plan


def test_other_values_are_refused() -> None:
    with pytest.raises(hp.PlanError, match="pan_private="):
        hp.Plan.auto(DOMAIN, **SETTINGS, pan_private=1)

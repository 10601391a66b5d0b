"""The noise of a growing partition and its measured privacy loss, as released."""

from fractions import Fraction

import pytest

import growing_audits
import privhp.collect.summary
from audits import SAMPLES
from privhp import Summary


def test_noise_adds_up_by_stretches() -> None:
    growing_audits.noise_adds_up_by_stretches()


@pytest.mark.parametrize("percent", [90, 110])
def test_noise_of_another_scale_is_rejected(percent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _scale_noise(monkeypatch, percent)
    with pytest.raises(AssertionError):
        growing_audits.noise_adds_up_by_stretches()


def test_a_growing_partition_keeps_its_budget(offline: bool) -> None:
    growing_audits.growing_keeps_its_budget(5_000_000 if offline else SAMPLES)


def test_cells_that_are_drawn_together_keep_their_budget(offline: bool) -> None:
    growing_audits.drawn_together_keeps_its_budget(500_000 if offline else SAMPLES // 5)


def test_the_audit_rejects_noise_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    _scale_noise(monkeypatch, 85)
    with pytest.raises(AssertionError, match="early"):
        growing_audits.growing_keeps_its_budget()


def test_the_audit_rejects_a_refinement_without_fresh_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Summary, "_add_noise_at", lambda summary, slots: None)
    with pytest.raises(AssertionError, match="late"):
        growing_audits.growing_keeps_its_budget()


def _scale_noise(patch: pytest.MonkeyPatch, percent: int) -> None:
    sampler = privhp.collect.summary.discrete_laplace
    factor = Fraction(percent, 100)
    patch.setattr(
        privhp.collect.summary, "discrete_laplace", lambda size, *, scale: sampler(size, scale=factor * scale)
    )

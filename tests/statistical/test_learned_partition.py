"""Released noise of a learned partition, and its measured privacy loss."""

from fractions import Fraction

import pytest

import partition_audits
import privhp.collect.summary
from audits import SAMPLES
from privhp import Summary


def test_released_noise_is_one_draw_per_pass() -> None:
    partition_audits.released_noise_is_one_draw_per_pass()


@pytest.mark.parametrize("percent", [90, 110])
def test_noise_of_other_scale_is_rejected(percent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _scale_noise(monkeypatch, percent)
    with pytest.raises(AssertionError):
        partition_audits.released_noise_is_one_draw_per_pass()


def test_privacy_loss_of_learned_partition(offline: bool) -> None:
    partition_audits.learned_partition_spends_at_most_its_budget(5_000_000 if offline else SAMPLES)


def test_privacy_loss_of_shrunk_counts(offline: bool) -> None:
    partition_audits.shrunk_counts_spend_at_most_their_budget(500_000 if offline else SAMPLES // 5)


def test_audit_rejects_small_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    _scale_noise(monkeypatch, 85)
    with pytest.raises(AssertionError, match="early"):
        partition_audits.learned_partition_spends_at_most_its_budget()


def test_audit_rejects_refinement_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Summary, "_add_noise_at", lambda summary, slots: None)
    with pytest.raises(AssertionError, match="late"):
        partition_audits.learned_partition_spends_at_most_its_budget()


def _scale_noise(patch: pytest.MonkeyPatch, percent: int) -> None:
    sampler = privhp.collect.summary.discrete_laplace
    factor = Fraction(percent, 100)
    patch.setattr(
        privhp.collect.summary, "discrete_laplace", lambda size, *, scale: sampler(size, scale=factor * scale)
    )

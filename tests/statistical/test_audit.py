"""Measured privacy loss of each kind of level, and the distribution of its released noise."""

from fractions import Fraction

import pytest

import audits
import privhp.collect.noisy_counters


@pytest.fixture
def trials(offline: bool) -> int:
    return 5_000_000 if offline else audits.SAMPLES


def test_privacy_loss_of_exact_level(trials: int) -> None:
    audits.exact_level_spends_at_most_its_budget(trials)


def test_privacy_loss_of_sketch(trials: int) -> None:
    audits.sketch_spends_at_most_its_budget(trials)


def test_privacy_loss_of_stolen_summary(trials: int) -> None:
    audits.stolen_summary_and_release_spend_at_most_epsilon(trials)


@pytest.mark.parametrize("percent", [85, 95])
def test_audit_rejects_small_noise(percent: int, trials: int, offline: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 100,000 trials the audit of a sketch cannot detect 5%, since its events are rarer."""
    _scale_noise(monkeypatch, percent)
    with pytest.raises(AssertionError):
        audits.exact_level_spends_at_most_its_budget(trials)
    if offline or percent < 95:
        with pytest.raises(AssertionError):
            audits.sketch_spends_at_most_its_budget(trials)


def test_released_noise_is_discrete_laplace() -> None:
    audits.released_noise_is_discrete_laplace()


@pytest.mark.parametrize("percent", [90, 110])
def test_noise_of_other_scale_is_rejected(percent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _scale_noise(monkeypatch, percent)
    with pytest.raises(AssertionError):
        audits.released_noise_is_discrete_laplace()


def _scale_noise(patch: pytest.MonkeyPatch, percent: int) -> None:
    sampler = privhp.collect.noisy_counters.discrete_laplace
    factor = Fraction(percent, 100)
    patch.setattr(
        privhp.collect.noisy_counters, "discrete_laplace", lambda size, *, scale: sampler(size, scale=factor * scale)
    )

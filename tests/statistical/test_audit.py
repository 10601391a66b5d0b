"""The measured privacy loss of each kind of level, and the law of its noise, as released."""

from fractions import Fraction

import numpy as np
import pytest

import audits
import privhp.collect.summary


@pytest.fixture
def trials(offline: bool) -> int:
    return 5_000_000 if offline else audits.SAMPLES


def test_exact_level_keeps_its_budget(trials: int) -> None:
    audits.exact_level_keeps_its_budget(trials)


def test_sketch_keeps_its_budget(trials: int) -> None:
    audits.sketch_keeps_its_budget(trials)


@pytest.mark.parametrize("percent", [85, 95])
def test_an_audit_rejects_noise_that_is_too_small(
    percent: int, trials: int, offline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 100,000 trials a sketch cannot tell 5%: its events are rarer."""
    _scale_noise(monkeypatch, percent)
    with pytest.raises(AssertionError):
        audits.exact_level_keeps_its_budget(trials)
    if offline or percent < 95:
        with pytest.raises(AssertionError):
            audits.sketch_keeps_its_budget(trials)


def test_released_noise_follows_the_law() -> None:
    audits.draws_follow_the_law()


@pytest.mark.parametrize("percent", [90, 110])
def test_released_noise_of_another_scale_is_rejected(percent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _scale_noise(monkeypatch, percent)
    with pytest.raises(AssertionError):
        audits.draws_follow_the_law()


def test_measured_epsilon_is_a_lower_bound_that_nears_the_truth() -> None:
    """Counts of a coin with heads 3/4 against 1/4: epsilon is log 3."""
    one = audits.Events(np.array([750_000]), trials=1_000_000)
    other = audits.Events(np.array([250_000]), trials=1_000_000)
    assert np.log(3) - 0.02 < audits.measured_epsilon(one, other) < np.log(3)


def _scale_noise(patch: pytest.MonkeyPatch, percent: int) -> None:
    sampler = privhp.collect.summary.discrete_laplace
    factor = Fraction(percent, 100)
    patch.setattr(
        privhp.collect.summary, "discrete_laplace", lambda size, *, scale: sampler(size, scale=factor * scale)
    )

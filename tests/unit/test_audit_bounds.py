"""Confidence bounds of audits."""

import math

import numpy as np
import pytest
from scipy import stats

from privhp.audit.bounds import Events, clopper_pearson_lower, clopper_pearson_upper, measured_epsilon, resolution

TRIALS = [1, 2, 10, 1000, 10**5, 10**7]


@pytest.mark.parametrize("alpha", [0.05, 1e-5, 1e-12])
@pytest.mark.parametrize("trials", TRIALS)
def test_clopper_pearson_bounds_agree_with_scipy(trials: int, alpha: float) -> None:
    for seen in {0, 1, 2, trials // 1000, trials // 7, trials // 2, trials - 1, trials}:
        if seen > trials:
            continue
        lower = stats.beta.ppf(alpha, seen, trials - seen + 1) if seen else 0.0
        upper = stats.beta.isf(alpha, seen + 1, trials - seen) if seen < trials else 1.0
        assert clopper_pearson_lower(seen, trials, alpha=alpha) == pytest.approx(lower, rel=1e-6, abs=1e-15)
        assert clopper_pearson_upper(seen, trials, alpha=alpha) == pytest.approx(upper, rel=1e-6)


def test_measured_epsilon_of_coin() -> None:
    """A coin with probability 3/4 against 1/4: epsilon is log 3, whichever data set has it."""
    often, rarely = Events(np.array([750_000]), 10**6), Events(np.array([250_000]), 10**6)
    for pair in ((often, rarely), (rarely, often)):
        assert math.log(3) - 0.02 < measured_epsilon(*pair, alpha=1e-7) < math.log(3)


def test_measured_epsilon_is_the_largest_of_all_events() -> None:
    one, other = Events(np.array([500, 900, 0]), 1000), Events(np.array([500, 100, 3]), 1000)
    lower = clopper_pearson_lower(900, 1000, alpha=0.01 / 12)
    upper = clopper_pearson_upper(100, 1000, alpha=0.01 / 12)
    assert measured_epsilon(one, other, alpha=0.01) == math.log(lower / upper)


def test_measured_epsilon_without_evidence_is_zero() -> None:
    same = Events(np.array([3, 5]), 10)
    assert measured_epsilon(same, same, alpha=0.01) == 0
    assert measured_epsilon(Events.none(2), same, alpha=0.01) == 0


def test_measured_epsilon_rarely_exceeds_the_truth() -> None:
    """In at most a share alpha of repetitions; here the bound of a coin with epsilon log 3, at 50 and 5 percent."""
    rng = np.random.default_rng(0)
    for alpha in (0.5, 0.05):
        seen = rng.binomial(400, [0.75, 0.25], size=(1000, 2))
        bounds = [measured_epsilon(Events(own[:1], 400), Events(own[1:], 400), alpha=alpha) for own in seen]
        assert np.mean(np.array(bounds) > math.log(3)) <= alpha


def test_resolution_grows_with_the_logarithm_of_trials() -> None:
    nothing = [Events(np.zeros(10, dtype=np.int64), trials) for trials in (1000, 10**4, 10**5)]
    bounds = [resolution(own, own, alpha=0.01) for own in nothing]
    steps = np.diff(bounds)
    assert np.allclose(steps, math.log(10), atol=0.02)


def test_events_are_counted_by_row() -> None:
    events = Events.none(2)
    events.add(np.array([[True, False, True], [False, False, False]]))
    events.add(np.array([[True], [True]]))
    assert events.seen.tolist() == [3, 1]
    assert events.trials == 4

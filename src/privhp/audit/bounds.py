"""Confidence bounds on epsilon from events in trials under neighbouring data sets.

If a method is epsilon-differentially private, no event is more than
exp(epsilon) times as likely under one data set as under a neighbouring one. So a
lower bound of one probability and an upper bound of the other bound epsilon from
below. Both are Clopper-Pearson bounds, which hold for every number of trials.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privhp.core.cells import Counts

_BISECTIONS = 60


@dataclass
class Events:
    """Number of occurrences of each event, over independent trials."""

    seen: Counts
    trials: int = 0

    @classmethod
    def none(cls, events: int) -> "Events":
        """No trial of this number of events."""
        return cls(np.zeros(events, dtype=np.int64))

    def add(self, found: NDArray[np.bool_]) -> None:
        """Add trials: a row for each event, a column for each trial, true where the event occurred."""
        self.seen += np.count_nonzero(found, axis=1)
        self.trials += found.shape[1]


def clopper_pearson_lower(seen: int, trials: int, *, alpha: float) -> float:
    """Lower confidence bound, at level 1 - alpha, on the probability of an event seen in some of the trials.

    The bound is the probability p for which as many occurrences or more have the
    probability alpha. Found by bisection below seen / trials, where the terms of the
    binomial tail decrease.
    """
    if seen == 0:
        return 0.0
    steps = np.arange(min(trials - seen, 64 + 12 * math.isqrt(trials)), dtype=np.float64)
    ratios = np.cumsum(np.log((trials - seen - steps) / (seen + 1 + steps)))  # of the binomial coefficients
    coefficient = math.lgamma(trials + 1) - math.lgamma(seen + 1) - math.lgamma(trials - seen + 1)

    def tail(p: float) -> float:
        first = coefficient + seen * math.log(p) + (trials - seen) * math.log1p(-p)
        return math.exp(first) * (1 + float(np.exp(ratios + (steps + 1) * (math.log(p) - math.log1p(-p))).sum()))

    low, high = 0.0, seen / trials
    if high == 1:
        return float(alpha ** (1 / trials))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) < alpha else (low, middle)
    return low


def clopper_pearson_upper(seen: int, trials: int, *, alpha: float) -> float:
    """Upper confidence bound, at level 1 - alpha, on the probability of an event seen in some of the trials."""
    return 1 - clopper_pearson_lower(trials - seen, trials, alpha=alpha)


def measured_epsilon(one: Events, other: Events, *, alpha: float) -> float:
    """Lower confidence bound on epsilon, at level 1 - alpha, from all events in both directions."""
    share = alpha / (4 * one.seen.size)  # two directions, two bounds
    best = 0.0
    if not one.trials or not other.trials:
        return best
    for first, second in ((one, other), (other, one)):
        for event in np.flatnonzero(first.seen).tolist():
            rates = int(first.seen[event]) / first.trials, int(second.seen[event]) / second.trials
            if rates[0] > math.exp(best) * rates[1]:  # the bound is below the ratio of the rates
                least = clopper_pearson_lower(int(first.seen[event]), first.trials, alpha=share)
                most = clopper_pearson_upper(int(second.seen[event]), second.trials, alpha=share)
                best = max(best, math.log(least / most))
    return best


def resolution(one: Events, other: Events, *, alpha: float) -> float:
    """Largest bound that `measured_epsilon` can give: an event in all trials of one and in no trial of the other."""
    always = Events(np.full_like(one.seen, one.trials), one.trials)
    never = Events(np.zeros_like(other.seen), other.trials)
    return measured_epsilon(always, never, alpha=alpha)

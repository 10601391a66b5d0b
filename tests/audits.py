"""Statistical checks of the noise in releases; they raise AssertionError.

An audit isolates one level, which has nearly all the budget, and asks whether counters
with and without a person's records can be told apart better than the budget allows.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from privhp import Integers, Interval, Partition, Plan, Summary
from privhp.audit.bounds import measured_epsilon
from privhp.audit.trials import Trials
from privhp.core.cells import Counts

ALPHA = 1e-9
AUDIT_ALPHA = 1e-7
SAMPLES = 100_000


def released_noise_is_discrete_laplace(samples: int = SAMPLES) -> None:
    """Chi-square of the released noise against the exact discrete Laplace, on every kind of level."""
    for level, counts, scale in _released_noise(samples):
        p_value = chi_square(counts[:samples], scale)
        assert p_value >= ALPHA, f"the noise of level {level} does not follow its law: p = {p_value:.2g}"


def _released_noise(samples: int) -> Iterator[tuple[int, Counts, Fraction]]:
    """Released counts of an empty summary (exact depth, coarser level, sketch, leaves) with their declared scales."""
    depth = math.ceil(math.log2(samples)) + 1
    plan = Plan(
        Interval(0, 1),
        epsilon=4,
        budgets={depth - 1: 1, depth: 1, depth + 1: 2},
        exact_depth=depth,
        sketch_rows=3,
        sketch_width=samples,
        hot_cells=1,
    )
    counts = Summary(plan).release().release.counts
    yield depth - 1, counts[depth - 1], Fraction(1)
    yield depth, counts[depth], Fraction(1)
    for row in counts[depth + 1]:
        yield depth + 1, row, Fraction(3, 2)
    leaves: dict[str, Any] = {"partition": Partition.complete(depth), "inference": "least-squares"}
    plan = Plan(Interval(0, 1), epsilon=1, budgets={depth: 1}, exact_depth=0, **leaves)
    yield depth, Summary(plan).release().release.counts[depth], Fraction(1)


def chi_square(values: Counts, scale: Fraction) -> float:
    """P-value of integers against the discrete Laplace distribution; bins of at least 50 expected, tails pooled."""
    ratio = math.exp(-1 / float(scale))
    zero = (1 - ratio) / (1 + ratio)
    last = max(1, math.floor(math.log(50 / (values.size * zero)) / math.log(ratio)))
    inner = zero * ratio ** np.abs(np.arange(1 - last, last))
    tail = ratio**last / (1 + ratio)
    clipped = np.clip(values, -last, last) + last
    observed = np.bincount(clipped, minlength=2 * last + 1)
    expected = np.concatenate([[tail], inner, [tail]]) * values.size
    return float(stats.chisquare(observed, expected).pvalue)


def exact_level_spends_at_most_its_budget(trials: int = SAMPLES) -> None:
    """Measured epsilon of an exact level with a budget of 2."""
    level = 14
    _audit(Plan(Interval(0, 1), epsilon=2, budgets={level: 2}, exact_depth=level), trials)


def sketch_spends_at_most_its_budget(trials: int = SAMPLES) -> None:
    """Measured epsilon of a sketch with a budget of 3."""
    level = 20
    plan = Plan(
        Integers(0, 2**level - 1),
        epsilon=4,
        budgets={0: 1, level: 3},
        exact_depth=0,
        sketch_rows=2,
        sketch_width=2**15,
        hot_cells=1,
        hash_seed=3,  # privacy does not depend on it, but how many records stay apart does
    )
    _audit(plan, trials)


def stolen_summary_and_release_spend_at_most_epsilon(trials: int = SAMPLES) -> None:
    """Measured epsilon of a pan-private plan: one record, and three records of a person, before and after the theft."""
    level = 12
    leaves: dict[str, Any] = {"partition": Partition.complete(level), "inference": "least-squares"}
    settings: dict[str, Any] = {"epsilon": 2, "budgets": {level: 2}, "exact_depth": 0, "pan_private": True, **leaves}
    for neighbours, persons in (("add-remove", 1), ("add-remove", 3), ("replace-one", 2)):
        relation: dict[str, Any] = {"neighbours": neighbours, "max_records_per_person": persons}
        _audit(Plan(Interval(0, 1), **settings, **relation), trials)


def _audit(plan: Plan, trials: int) -> None:
    """Compare the measured epsilon of the deepest level of a plan with its claim."""
    runs = Trials(plan)
    arm = runs.arms[-1]
    while arm.present.trials < trials:
        runs.run()
    measured = measured_epsilon(arm.present, arm.absent, alpha=AUDIT_ALPHA)
    assert measured <= arm.claim, f"an epsilon of at least {measured:.3f} is measured where {arm.claim} is claimed"

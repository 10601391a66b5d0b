"""Dependence of the columns of a table, and the intervals of groups that it widens."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privhp as hp
from cases import case_count
from dependent_table import KINDS, TABLE, fitted, records
from privhp.answers import division
from privhp.answers.dependence import UNKNOWN, Dependence, Shown, measure
from privhp.answers.group_splits import Groups
from privhp.answers.leaf_errors import LeafErrors

Rows = list[tuple[int, float, float, float]]


def slow_measure(rows: Rows, total: float) -> Shown:
    """Side by side and group by group: the excess over independence, of what the counts of both columns allow."""
    squares = errors = weights = shown = 0.0
    for side in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == side]
        count, first = sum(row[1] for row in own), sum(row[2] for row in own)
        share = min(max(first / count, 0.0), 1.0)
        grouped = min(2 * (1 - sum((row[1] / count) ** 2 for row in own)), 1.0)
        for _, size, inside, variance in own:
            excess, others = inside - size * share, count - size
            allowed = min(others * share, size * (1 - share)) if excess > 0 else min(size * share, others * (1 - share))
            noise = variance / 2 * (share**2 + (1 - share) ** 2) + size * share * (1 - share)
            noise *= 1 - size / count
            shown += size * 4 * share * (1 - share) * grouped
            if allowed > 0:
                error = math.sqrt(2) * noise / allowed**2
                weight = size / (1 + error**2)
                squares += weight * (excess**2 - noise) / allowed**2
                errors, weights = errors + (weight * error) ** 2, weights + weight
    if weights <= 0:
        return Shown(0.0, 1.0, 0.0)
    return Shown(max(squares / weights, 0.0), math.sqrt(errors) / weights, min(shown / total, 1.0))


@settings(max_examples=case_count(200))
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_measure_equals_slow_definition(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    sides = np.sort(np.unique(rng.integers(0, 4, size), return_inverse=True)[1])
    counts, variances = rng.uniform(1, 1000, size), rng.uniform(0, 50, size)
    firsts = counts * rng.choice([0.0, 0.3, 1.0, 1.01], size)  # noise may put more in a half than in both
    rows = list(zip(sides.tolist(), counts.tolist(), firsts.tolist(), variances.tolist(), strict=True))
    found = measure(sides, counts, firsts, variances, total=5000.0)
    assert found == pytest.approx(slow_measure(rows, 5000.0), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("firsts", "square"),
    [((500, 500), 0.0), ((1000, 0), 1.0), ((750, 250), 0.25), ((20, 0), 1.0)],
    ids=["independent", "decides", "half of it", "rare half"],
)
def test_measure_of_two_groups(firsts: tuple[float, float], square: float) -> None:
    shown = measure(np.zeros(2, dtype=np.intp), np.full(2, 1000.0), np.array(firsts), np.full(2, 1e-9), total=2000.0)
    assert shown.square == pytest.approx(square, abs=2.5 * shown.error)


def test_rare_half_or_rare_group_shows_little() -> None:
    sides = np.zeros(2, dtype=np.intp)
    rare_half = measure(sides, np.full(2, 1000.0), np.array([10.0, 10.0]), np.full(2, 1.0), total=2000.0)
    rare_group = measure(sides, np.array([1990.0, 10.0]), np.array([995.0, 5.0]), np.full(2, 1.0), total=2000.0)
    assert max(rare_half.share, rare_group.share) < 0.05


def test_one_group_shows_nothing() -> None:
    assert measure(np.zeros(1, dtype=np.intp), np.ones(1), np.ones(1), np.ones(1), total=1.0).share == 0
    assert measure(*np.zeros((1, 0), dtype=np.intp), *np.zeros((3, 0)), total=1.0).share == 0


def errors_of(generator: hp.Generator) -> LeafErrors:
    assert isinstance(generator._errors, LeafErrors)
    return generator._errors


def test_dependence_is_that_of_the_records() -> None:
    dependence = errors_of(fitted()).leaves.dependence
    kind, visits, other = range(3)
    assert dependence.on(visits, [kind])[1] > 0.5
    assert dependence.on(other, [kind]).min() < 0.1 < UNKNOWN
    assert np.array_equal(
        dependence.on(visits, [kind, other]), np.maximum(*(dependence.on(visits, [own]) for own in (kind, other)))
    )


def test_axes_of_one_column_have_none() -> None:
    plane = hp.fit(
        np.random.default_rng(0).random((2000, 2)), hp.Box([(0, 1), (0, 1)]), epsilon=1, expected_records=2000
    )
    assert not errors_of(plane).leaves.dependence.on(0, [0, 1]).any()
    nullable = hp.Table(day=hp.Nullable(hp.Integers(0, 7)), kind=hp.Categories(KINDS))
    plan = hp.Plan.auto(nullable, epsilon=1, expected_records=100)
    dependence = errors_of(hp.Summary(plan).release()).leaves.dependence
    assert not dependence.on(0, [0, 1]).any()
    assert (dependence.on(1, [0, 2]) == UNKNOWN).all()


RANGES = [(0, 20), (21, 41), (42, 63), (10, 30), (5, 15), (25, 35)]


def held(generator: hp.Generator, level: float = 0.9) -> list[bool]:
    """Whether intervals of ranges of visits hold, in each kind: of conjunctions, of groups, and of means of groups."""
    data, found = records(), []
    for kind in KINDS:
        chosen = data["visits"][data["kind"] == kind]
        group = generator.marginal("visits", where={"kind": kind})
        answers = [(group.mean(), chosen.mean())]
        for low, high in RANGES:
            share = np.mean((chosen >= low) & (chosen <= high))
            conjunction = generator.mass({"visits": (low, high), "kind": kind})
            answers += [(group.mass((low, high)), share), (conjunction, share * chosen.size / data["visits"].size)]
        found += [own.interval(level)[0] <= truth <= own.interval(level)[1] for own, truth in answers]
    return found


def test_groups_of_dependent_columns_hold() -> None:
    """All but those of ranges that one kind fills alone, at the ends of what the columns allow."""
    assert np.mean(held(fitted())) > 0.75


def test_groups_do_not_hold_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The must-reject arm: as if columns were independent."""
    monkeypatch.setattr(Dependence, "on", lambda *_: np.zeros(TABLE.depth + 1))
    monkeypatch.setattr(division, "choose_groups", lambda domain, *_: Groups(domain, {}))
    generator = hp.Generator(fitted().release)
    assert np.mean(held(generator)) < 0.4

"""Groups of records that divide otherwise than all: which groups are found, what is known of them, and the answers."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import privhp as hp
from privhp.answers import division
from privhp.answers.group_splits import Groups, GroupSplits, LevelSides
from privhp.answers.known_sides import KnownSides
from privhp.answers.leaf_errors import LeafErrors
from privhp.answers.side_splits import Splits

WARDS = list("abcdefgh")
TABLE = hp.Table(ward=hp.Categories(WARDS), cost=hp.Interval(0, 1000), age=hp.Integers(0, 99), day=hp.Interval(0, 366))
WARD, COST, AGE, DAY = range(4)


def records(seed: int, size: int = 40_000) -> dict[str, NDArray[Any]]:
    """Costs and ages that follow the ward, and days that do not."""
    rng = np.random.default_rng(seed)
    ward = rng.choice(8, size, p=np.array([30, 20, 15, 12, 10, 7, 4, 2]) / 100)
    cost = np.exp(rng.normal(3 + 0.3 * ward, 0.6, size)).clip(0, 999)
    age = np.clip(rng.normal(30 + 5 * ward, 12, size), 0, 99).astype(int)
    return {"ward": np.array(WARDS)[ward], "cost": cost, "age": age, "day": rng.beta(2, 3, size) * 366}


@cache
def fitted(seed: int) -> hp.Generator:
    return hp.fit(records(seed), TABLE, epsilon=3, expected_records=40_000)


def divisions(generator: hp.Generator) -> Any:
    assert isinstance(generator._errors, LeafErrors)
    return generator._errors.leaves.divisions


def test_groups_are_those_of_the_column_that_decides() -> None:
    found = divisions(fitted(0))
    assert set(found[COST].groups.cuts) == {WARD}
    assert WARD in found[AGE].groups.cuts
    assert not found[DAY].groups.cuts
    assert found[COST].groups.axes == {WARD}


def test_independent_columns_have_no_groups() -> None:
    rng = np.random.default_rng(1)
    shuffled = {name: rng.permutation(own) for name, own in records(1).items()}
    generators = [hp.fit(shuffled, TABLE, epsilon=3, expected_records=40_000) for _ in range(8)]
    found = [any(own.groups.cuts for own in divisions(generator).values()) for generator in generators]
    assert sum(found) < 3  # noise shows groups in 5 of 150 fits


def errors_of_groups(generator: hp.Generator, data: dict[str, NDArray[Any]]) -> float:
    """Mean absolute error of the share of low costs in each ward."""
    errors = []
    for ward in WARDS:
        costs = data["cost"][data["ward"] == ward]
        group = generator.marginal("cost", where={"ward": ward})
        errors += [abs(group.mass((0, high)).value - (costs <= high).mean()) for high in (20, 50, 100)]
    return float(np.mean(errors))


def test_answers_about_groups_are_nearer_than_without_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without groups all wards divide alike: the arm that must lose. One fit has a ratio of 0.68 +- 0.045."""
    data = records(0)
    generators = [hp.fit(data, TABLE, epsilon=3, expected_records=40_000) for _ in range(10)]
    with_groups = sum(errors_of_groups(own, data) for own in generators)
    monkeypatch.setattr(division, "choose_groups", lambda domain, *_: Groups(domain, {}))
    without = sum(errors_of_groups(hp.Generator(own.release), data) for own in generators)
    assert with_groups < 0.75 * without, (with_groups, without)


def test_samples_follow_the_groups() -> None:
    generator, data = fitted(0), records(0)
    sampled = generator.sample(100_000, rng=0)
    for ward in "ae":
        group = generator.marginal("cost", where={"ward": ward})
        chosen = sampled["cost"][sampled["ward"] == ward]
        assert np.mean(chosen <= 50) == pytest.approx(group.mass((0, 50)).value, abs=0.02)
        assert np.mean(chosen <= 50) == pytest.approx(np.mean(data["cost"][data["ward"] == ward] <= 50), abs=0.1)


def one_level(first: NDArray[np.float64], counts: NDArray[np.float64], variance: float) -> tuple[Groups, LevelSides]:
    """Cells of two sides of one axis (columns) in four groups (rows) of the other."""
    domain = hp.Table(group=hp.Integers(0, 3), value=hp.Integers(0, 3))
    level = next(own for own in range(5) if domain.splits_by_column(own) == {"group": 2, "value": 1})
    codes = np.arange(2**level, dtype=np.uint64)
    along = domain.axis_cells(codes, level=level)
    place = along[0][0].astype(int), along[1][0].astype(int)
    cells = Splits(codes, first[place], counts[place], np.full(codes.size, variance))
    sides, side = np.unique(along[1][0], return_inverse=True)
    return Groups(domain, {0: 2}), LevelSides(cells, along, sides, side)


def test_groups_of_cells() -> None:
    groups, level = one_level(np.ones((4, 2)), np.full((4, 2), 2.0), 1e-6)
    assert groups.size == 5
    assert sorted(groups.find(level.along).tolist()) == [1, 1, 2, 2, 3, 3, 4, 4]
    coarse = np.zeros(1, dtype=np.uint64)
    assert groups.of(coarse, 0).tolist() == [0]
    assert groups.of_leaves(np.array([0, 7], dtype=np.uint64), np.array([0, 3])).tolist() == [0, 4]
    assert Groups(groups.domain, {}).of(coarse, 0).tolist() == [0]
    assert Groups(groups.domain, {}).size == 1


def test_share_of_a_group_is_told_as_far_as_it_differs_by_more_than_noise() -> None:
    counts = np.full((4, 2), 1000.0)
    for share, variance, low, high in ((0.9, 1.0, 0.9, 1.0), (0.6, 60_000.0, 0.0, 0.3), (0.9, 70_000.0, 0.0, 0.0)):
        first = counts * np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [share, 0.5]])
        groups, level = one_level(first, counts, variance)
        found = level.split_by_groups(groups, level.sides, own=0.0, records=np.vstack([np.zeros(2), counts]))
        assert low <= found.told[4, 0] <= high, variance
        assert found.first[4, 0] == pytest.approx(share)
    assert (found.told[0] == 0).all()
    assert (found.shown[1:] == 1).all()


def test_rows_mix_the_share_of_all_and_that_of_the_group() -> None:
    side = np.zeros(1, dtype=np.uint64)
    known = KnownSides(side, side, 2, np.full(1, 0.5), *(np.full((1, 1), own) for own in (0.4, 0.1, 0.8, 0.0, 1.0)))
    splits = GroupSplits(*(np.array([[0.0], [own]]) for own in (0.9, 0.0004, 0.75, 0.6)))
    rows = known.in_groups(splits, np.array([[0.0], [30.0]]))
    assert rows.first.ravel() == pytest.approx([0.4, 0.25 * 0.4 + 0.75 * 0.9])
    assert rows.deviation.ravel() == pytest.approx([0.1, (0.25 * 0.01 + 0.75 * 0.0004) ** 0.5])
    assert rows.shown.ravel() == pytest.approx([0.8, 0.25 * 0.8 + 0.75 * 0.6])
    assert rows.limit.ravel().tolist() == [1, 0], "no other group has records of the side"


def test_a_group_that_fills_its_side_cannot_divide_otherwise() -> None:
    """The others must make up for what a group has more in one half."""
    side = np.zeros(1, dtype=np.uint64)
    known = KnownSides(side, side, 2, np.full(1, 0.5), *(np.full((1, 1), own) for own in (0.5, 0.0, 1.0, 0.0, 1.0)))
    rows = known.in_groups(GroupSplits.unknown(3, 1), np.array([[0.0], [90.0], [10.0]]))
    assert rows.limit.ravel() == pytest.approx([1, 1 / 9, 1])


def test_restrictions_that_split_a_group() -> None:
    own = divisions(fitted(0))[COST]
    counts = fitted(0)._errors.leaves.release.counts  # type: ignore[union-attr]  # a LeafErrors
    share = (own.group_of_leaf == 1).astype(float)
    assert own.are_whole(share, counts).all()
    share[np.flatnonzero((own.group_of_leaf == 1) & (counts > 0))[0]] = 0
    assert not own.are_whole(share, counts)[1]
    assert own.are_whole(share, counts)[2:].all()

"""Leaves of tables, divided as their columns are: against slow references, and against the truth."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privhp as hp
from cases import case_count
from dense_errors import dense_shares
from privhp.answers.axis_division import AxisDivision, MovedShares
from privhp.answers.division import Division
from privhp.answers.hierarchy import Hierarchy
from privhp.answers.known_sides import Dependent, KnownSides, SideRegion
from privhp.answers.leaf_errors import LeafErrors
from privhp.answers.leaves import Leaves, build_leaves
from privhp.planning.partition import Partition
from privhp.release import Release

TABLE = hp.Table(age=hp.Integers(0, 63), day=hp.Nullable(hp.Interval(0, 16)), kind=hp.Categories(["a", "b", "c"]))


def heaped(seed: int, size: int = 20_000) -> dict[str, Any]:
    """Ages that are often multiples of 8, days that are often missing, and rare kinds."""
    rng = np.random.default_rng(seed)
    ages = np.where(rng.random(size) < 0.5, 8 * rng.integers(0, 8, size), rng.integers(0, 64, size))
    days = np.ma.masked_array(np.minimum(rng.gamma(2, 2, size), 16), mask=rng.random(size) < 0.3)
    return {"age": ages, "day": days, "kind": rng.choice(["a", "b", "c"], size, p=[0.7, 0.2, 0.1])}


def release(records: Any, epsilon: float = 2.0) -> Release:
    size = len(records["age"])
    whole = min(epsilon * 15 / 13, 1000)  # the two columns that are left out have two fifteenths
    plan = hp.Plan.auto(TABLE, epsilon=whole, expected_records=size, memory="64 KiB", passes=3)
    return hp.fit(records, plan=replace(plan, columns={})).release


@pytest.fixture(scope="module", name="solved")
def fixture_solved() -> Hierarchy:
    return Hierarchy(release(heaped(1)))


def test_parts_add_up_to_their_leaves(solved: Hierarchy) -> None:
    leaves = build_leaves(solved)
    parts = Division(solved, leaves, TABLE, {}).divide()
    depth = int(parts.levels.max())
    starts, own = (each.codes << (depth - each.levels).astype(np.uint64) for each in (leaves, parts))
    assert (np.diff(own.astype(np.int64)) == 2.0 ** (depth - parts.levels[:-1])).all()  # a partition, in order
    leaf = np.searchsorted(starts, own, side="right") - 1
    assert parts.codes.size > 1.2 * leaves.codes.size
    assert (parts.levels[:] >= leaves.levels[leaf]).all()
    assert (parts.counts >= 0).all()
    np.testing.assert_allclose(np.bincount(leaf, parts.counts), leaves.counts, rtol=1e-9, atol=1e-9)


def slow_count(division: Division, leaves: Leaves, code: int, level: int) -> float:
    """Count of a part: the count of the leaf that holds it, times the share of each half on the way down."""
    for above in range(level, -1, -1):
        cell = np.uint64(code >> (level - above))
        leaf = np.flatnonzero((leaves.levels == above) & (leaves.codes == cell))
        if leaf.size:
            break
    count = float(leaves.counts[leaf[0]])
    for own in range(above, level):
        parent, half = np.array([code >> (level - own)], dtype=np.uint64), code >> (level - own - 1) & 1
        measures = [float(TABLE.measure(2 * parent + np.uint64(side), level=own + 1)[0]) for side in (0, 1)]
        cuts = [[bits for _, bits in TABLE.axis_cells(parent, level=deep)] for deep in (own, own + 1)]
        axis = next(index for index, pair in enumerate(zip(*cuts, strict=True)) if pair[0] != pair[1])
        share = measures[0] / sum(measures)
        known = division.axes[axis].known.get(cuts[0][axis])
        side = TABLE.axis_cells(parent, level=own)[axis][0][0]
        if known is not None and side in known.sides and min(measures) > 0:
            (group,) = division.axes[axis].groups.of(parent, own)
            share = float(known.first[group, known.sides == side][0])
        count *= 1 - share if half else share
    return count


def test_counts_of_parts_equal_a_slow_descent(solved: Hierarchy) -> None:
    leaves = build_leaves(solved)
    division = Division(solved, leaves, TABLE, {})
    parts = division.divide()
    for index in np.random.default_rng(3).choice(parts.codes.size, 300, replace=False):
        code, level = int(parts.codes[index]), int(parts.levels[index])
        assert parts.counts[index] == pytest.approx(slow_count(division, leaves, code, level), rel=1e-9, abs=1e-12)


def test_first_shares_are_those_of_all_cells_with_the_side() -> None:
    """Of a table without noise, the share of a half is that of the column."""
    records = heaped(2)
    solved = Hierarchy(release(records, epsilon=1e3))
    found = Division(solved, build_leaves(solved), TABLE, {}).axes[0]
    assert not found.groups.cuts
    for cuts, own in found.known.items():
        for side, share in zip(own.sides.tolist(), own.first[0].tolist(), strict=True):
            inside = records["age"] >> (6 - cuts) == side
            first = records["age"] >> (5 - cuts) == 2 * side
            if inside.sum() > 2_000:
                assert share == pytest.approx(first.sum() / inside.sum(), abs=0.05), (cuts, side)


def test_points_stay_even() -> None:
    rng = np.random.default_rng(4)
    place = hp.Box([(0, 1), (0, 1)])
    table = hp.Table({("x", "y"): place, "age": hp.Integers(0, 63)})
    records = {"x": rng.random(20_000) ** 3, "y": rng.random(20_000), "age": rng.integers(0, 64, 20_000)}
    generator = hp.fit(records, domain=table, epsilon=2.0, expected_records=20_000)
    solved = Hierarchy(generator.release)
    assert list(Division(solved, build_leaves(solved), table, {}).axes) == [2]


@pytest.mark.parametrize("domain", [hp.Interval(0, 64), hp.Table(age=hp.Interval(0, 64))])
def test_lines_are_not_divided(domain: hp.Domain) -> None:
    ages = heaped(5)["age"].astype(float)
    generator = hp.fit({"age": ages} if domain.columns else ages, domain=domain, epsilon=1.0, expected_records=20_000)
    hierarchy = Hierarchy(generator.release)
    leaves = build_leaves(hierarchy)
    assert Division(hierarchy, leaves, domain, {}).divide() is leaves


REGIONS = [{"age": (low, high)} for low, high in ((8, 8), (16, 23), (0, 4), (25, 63))] + [
    {"age": (24, 24), "day": (1.0, 3.3)},
    {"day": None},
    {"day": (0.5, 2.25), "kind": "b"},
]


def uneven(seed: int) -> Release:
    """Leaves of levels 3, 7 and 8 in the halves of the ages, with large counts."""
    rng = np.random.default_rng(seed)
    levels = [3, 3, *[7] * 32, 3, 3, *[7] * 16, *[8] * 32]
    plan = hp.Plan.auto(TABLE, epsilon=1.0, expected_records=10_000, partition=Partition(levels))
    plan = replace(plan, columns={})
    leaves = rng.integers(0, 1_000, len(levels)) * rng.integers(0, 2, len(levels))
    return Release(plan, {2: np.full(4, leaves.sum() // 4), plan.learned_level: leaves})


@pytest.mark.parametrize("region", REGIONS, ids=str)
@pytest.mark.parametrize("columns", [None, ["age", "day"]])
def test_errors_of_divided_leaves_equal_dense_definition(region: Any, columns: list[str] | None) -> None:
    generator = hp.Generator(uneven(6))
    kept = {name: own for name, own in region.items() if columns is None or name in columns}
    errors = (generator if columns is None else generator.marginal(columns))._errors
    assert isinstance(errors, LeafErrors)
    assert errors.leaves.divisions[0].known
    assert errors.leaves.divisions[0].groups.cuts
    sparse, dense = errors.region_shares(kept), dense_shares(errors.leaves, kept)
    assert np.array_equal(sparse.leaves, np.flatnonzero(dense.mean))
    for own, expected in zip(sparse[1:], dense[1:], strict=True):
        np.testing.assert_allclose(own, expected[sparse.leaves], rtol=1e-9, atol=1e-15)


@settings(max_examples=case_count(40))
@given(st.integers(0, 2**32), st.sampled_from(["age", "day"]))
def test_errors_below_values_equal_those_of_regions(seed: int, column: str) -> None:
    """They are computed along the sides that hold a value; those of regions for all known sides."""
    line = hp.Generator(uneven(seed)).marginal(column, null=column == "age")
    values = np.random.default_rng(seed).integers(0, 16, 5).astype(np.int64 if column == "age" else np.float64)
    errors: Any = line._errors
    inner, found = getattr(errors, "_errors", errors), errors.cdf_masses(values)
    for index, value in enumerate(values):
        shares = errors.cdf_shares(value)
        counts = inner.leaves.counts[shares.leaves] / inner.leaves.total / getattr(errors, "_given", 1.0)
        resolution = math.hypot((counts * shares.deviation).sum(), *(counts * shares.scatter))
        assert found.resolution[index] == pytest.approx(resolution, rel=1e-9, abs=1e-12)


def test_moved_bounds_what_the_division_moves(solved: Hierarchy) -> None:
    age: AxisDivision = Division(solved, build_leaves(solved), TABLE, {}).axes[0]
    bounds, group = MovedShares(age), np.zeros(1, dtype=np.intp)
    for cuts in age.known:
        for side in age.known[cuts].sides.tolist():
            finest = _shares(age, side, cuts)
            moved = np.abs(np.cumsum(finest) - np.arange(1, finest.size + 1) / finest.size).max()
            assert moved <= bounds.of(np.array([side], dtype=np.uint64), cuts, group)[0] + 1e-12


def _shares(axis: AxisDivision, side: int, cuts: int) -> np.ndarray[Any, Any]:
    """Shares of the single ages in a side; those of a side that is not known are even, also if its halves are known."""
    if not axis.find(np.array([side], dtype=np.uint64), cuts)[0].size:
        return np.full(2 ** (6 - cuts), 0.5 ** (6 - cuts))
    group = np.zeros(1, dtype=np.intp)
    (first,) = axis.first_shares(np.array([side], dtype=np.uint64), cuts, np.array([0.5]), group)
    halves = [_shares(axis, 2 * side + half, cuts + 1) for half in (0, 1)]
    return np.concatenate([first * halves[0], (1 - first) * halves[1]])


def test_division_takes_most_of_the_error_of_heaps() -> None:
    """Multiples of 8 have 7.0% of the records each, other ages 0.8%; without a division leaves spread them."""
    records = heaped(7)
    solved = Hierarchy(release(records, epsilon=1.0))
    leaves = build_leaves(solved)
    errors = []
    for own in (leaves, Division(solved, leaves, TABLE, {}).divide()):
        ages = TABLE.project(own.codes, own.levels, columns=[TABLE.columns[0]])
        shares = np.zeros(64)
        for code, level, count in zip(*ages, own.counts, strict=True):
            width = 2 ** (6 - int(level))
            shares[int(code) * width : (int(code) + 1) * width] += count / width / own.counts.sum()
        truth = np.bincount(records["age"], minlength=64) / records["age"].size
        errors.append(float(np.abs(shares - truth).sum()))
    assert errors[1] < 0.5 * errors[0], errors


def test_answers_samples_and_moments_agree() -> None:
    generator = hp.Generator(release(heaped(8)))
    ages = generator.marginal("age")
    sampled = np.bincount(generator.sample(200_000, rng=1)["age"], minlength=64) / 200_000
    asked = np.array([generator.mass({"age": (age, age)}).value for age in range(64)])
    np.testing.assert_allclose([ages.mass((age, age)).value for age in range(64)], asked, atol=1e-9)
    np.testing.assert_allclose(np.diff(ages.cdf(np.arange(64)).value, prepend=0.0), asked, atol=1e-9)
    np.testing.assert_allclose(sampled, asked, atol=1e-3)
    assert ages.mean().value == pytest.approx(asked @ np.arange(64), abs=0.1)
    assert ages.std().value == pytest.approx(math.sqrt(asked @ (np.arange(64) - ages.mean().value) ** 2), rel=0.01)


def test_sides_with_one_possible_half_are_known() -> None:
    """All their records are in this half, and a region holds as much of them as of the half."""
    sides = np.array([2, 0, 1, 1], dtype=np.uint64)
    domain = hp.Categories(list("abcde"))  # cells of two cuts hold a, b; c; d; e
    known = KnownSides.of_one_sided(sides, 2, sides, 2, domain)
    halves = domain.measure(np.arange(8, dtype=np.uint64), level=3).reshape(-1, 2)
    expected = [side for side in (0, 1, 2) if (halves[side] > 0).sum() == 1]
    assert known.sides.tolist() == expected == [1, 2]
    regions = [SideRegion(np.full(len(expected), own), np.full(len(expected), own / 8)) for own in (0.4, 0.7)]
    dependent = Dependent.without_groups(np.full(5, 0.5))
    by_split = known.split_deviation(dependent, 2)
    joined = known.join((regions[0], regions[1]), np.ones(len(expected)), by_split)
    possible = [0.4 if halves[side][0] > 0 else 0.7 for side in expected]
    assert joined.share.tolist() == [possible]
    assert joined.deviation[0] == pytest.approx(np.array(possible) / 8)
    assert not by_split.any()
    side, rows = np.zeros(1, dtype=np.uint64), np.full((5, 1, 1), 0.25)
    two_sided = KnownSides(side, side, 2, np.full(1, 0.25), *rows)
    assert two_sided.plus(known).sides.tolist() == [0, *expected]

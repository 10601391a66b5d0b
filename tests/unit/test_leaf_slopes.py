"""Leaves of a line are divided along the slope that their neighbours show."""

from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import privhp as hp
from privhp.answers.leaf_slopes import MAX_HALVINGS, MAX_PARTS, divide_along_slopes
from privhp.answers.leaves import Leaves
from privhp.core.cells import Floats

UNIT = hp.Interval(0, 1)
LINEAR = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


def leaves_of_level(counts: list[float]) -> Leaves:
    """All cells of a level of a binary tree, with their counts."""
    level = len(counts).bit_length() - 1
    return Leaves(np.arange(2**level, dtype=np.uint64), np.full(2**level, level), np.array(counts))


def divided(counts: list[float], domain: hp.Domain = UNIT) -> Leaves:
    return divide_along_slopes(leaves_of_level(counts), domain)


def sums(parts: Leaves, level: int) -> Floats:
    """Records of the parts in each cell of a level."""
    owner = (parts.codes >> (parts.levels - level).astype(np.uint64)).astype(np.int64)
    return np.bincount(owner, parts.counts, 2**level)


def reference(counts: list[int]) -> list[Fraction]:
    """Eight parts of each leaf of equal width, one leaf after the other."""

    def limited(left: Fraction, own: Fraction, right: Fraction) -> Fraction:
        """Difference of the neighbours over two widths, where the leaf is between both."""
        if left * right <= 0:
            return Fraction(0)
        size = min(abs(left + right) / 2, 2 * abs(left), 2 * abs(right), 2 * own)
        return size if left > 0 else -size

    steps = [Fraction(second - first) for first, second in pairwise(counts)]
    rises = [
        limited(left, Fraction(own), right)
        for left, own, right in zip([steps[1], *steps], counts, [*steps, steps[-2]], strict=True)
    ]
    held = total = Fraction(0)
    for place in range(2, len(counts) - 2, 2):  # siblings with neighbours on both sides
        before, first, second, after = counts[place - 1 : place + 3]
        mean = Fraction(first + second, 2)
        predicted = limited((mean - before) / Fraction(3, 2), mean / 2, (after - mean) / Fraction(3, 2))
        held, total = held + predicted * (second - first), total + predicted**2
    share = min(max(held / total, Fraction(0)), Fraction(1)) if total else Fraction(0)
    return [
        (own + share * rise * Fraction(2 * part - 7, 16)) / 8
        for own, rise in zip(counts, rises, strict=True)
        for part in range(8)
    ]


@given(st.lists(st.integers(0, 50), min_size=16, max_size=16))
def test_parts_equal_the_reference(counts: list[int]) -> None:
    parts = divided([float(own) for own in counts])
    finest = np.zeros(128)
    for code, level, count in zip(parts.codes.tolist(), parts.levels.tolist(), parts.counts.tolist(), strict=True):
        width = 1 << (7 - level)
        finest[code * width : (code + 1) * width] = count / width
    assert finest == pytest.approx([float(own) for own in reference(counts)], abs=1e-9)


@given(st.lists(st.floats(0, 1e6), min_size=16, max_size=16))
def test_parts_sum_to_their_leaf_and_are_not_negative(counts: list[float]) -> None:
    parts = divided(counts)
    assert sums(parts, 4) == pytest.approx(counts, rel=1e-9, abs=1e-9)
    assert (parts.counts >= 0).all()
    starts = parts.codes << (UNIT.depth - parts.levels).astype(np.uint64)
    assert (np.diff(starts.astype(np.float64)) > 0).all()
    assert np.ldexp(1.0, -parts.levels).sum() == pytest.approx(1)


def test_linear_density_is_found() -> None:
    parts = divided(LINEAR)
    assert (parts.levels == 3 + MAX_HALVINGS).all()
    steps = np.diff(parts.counts)
    assert steps == pytest.approx(np.full(steps.shape, 1 / 64))


@pytest.mark.parametrize(
    "counts",
    [
        [5.0] * 8,
        [9.0, 1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0],  # heaps: no leaf lies between its neighbours
        [1.0, 1.0, 1.0, 50.0, 1.0, 1.0, 1.0, 1.0],
        [50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # an end, beside which there is no slope
        [0.0] * 8,
    ],
)
def test_no_slope(counts: list[float]) -> None:
    parts = divided(counts)
    assert parts.levels.tolist() == [3] * 8
    assert parts.counts.tolist() == counts


def test_slopes_hold_as_far_as_siblings_show_them() -> None:
    """Stairs that rise between parents and hardly within them are no slope: their rise counts by a sixth."""
    stairs, line = [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0], [5.0 * own for own in range(8)]
    for counts, share in ((stairs, 3 / 19), (line, 1)):  # neighbours predict 19 / 3 where siblings differ by 1
        quarters = sums(divided(counts), 4)
        rise = min((counts[4] - counts[2]) / 2, 2 * (counts[3] - counts[2]))
        assert 4 * (quarters[7] - quarters[6]) == pytest.approx(share * rise)


def test_other_domains_are_unchanged() -> None:
    for domain in (hp.Box([(0, 1), (0, 1)]), hp.IPv4(), hp.Table(a=UNIT, b=UNIT)):
        leaves = leaves_of_level(LINEAR)
        assert divide_along_slopes(leaves, domain) is leaves


def test_many_leaves_have_fewer_parts() -> None:
    for level, halvings in ((11, 3), (12, 2), (13, 1), (14, 0)):
        parts = divided(np.arange(1.0, 2**level + 1).tolist())
        assert int(parts.levels.max()) == level + halvings
        assert parts.codes.size <= MAX_PARTS


def test_cells_of_single_values_have_no_parts() -> None:
    parts = divided(LINEAR, hp.Integers(0, 15))
    assert parts.levels.tolist() == [4] * 16
    assert (np.diff(parts.counts) > 0).all()


def test_values_that_no_record_can_have_stay_empty() -> None:
    """Of the eight cells of integers from 0 to 9, the last two and a half hold no value."""
    parts = divided([2.0, 4.0, 6.0, 8.0, 10.0, 0.0, 0.0, 0.0], hp.Integers(0, 9))
    assert sums(parts, 4).tolist()[10:] == [0] * 6
    assert (np.diff(sums(parts, 4)[:10]) > 0).all()


def test_null_is_no_value() -> None:
    """Null, the first half of the cells, is neither divided nor a neighbour."""
    alone = divided(LINEAR)
    nullable = divided([500.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, *LINEAR], hp.Nullable(UNIT))
    assert nullable.levels[:8].tolist() == [4] * 8
    assert nullable.counts[8:].tolist() == alone.counts.tolist()
    listed = divided([500.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, *LINEAR], hp.Table(x=hp.Nullable(UNIT)))
    assert listed.counts.tolist() == nullable.counts.tolist()


def test_slopes_take_a_tenth_off_the_error_of_little_smooth_data() -> None:
    """Even leaves are the arm that must lose."""
    rng, edges, sloped, even = np.random.default_rng(0), np.linspace(0, 1, 4_097), 0.0, 0.0
    plan = hp.Plan.auto(UNIT, epsilon=1, expected_records=1_000, memory="64 KiB", passes=3)
    for _ in range(24):
        records = rng.normal(0.6, 0.1, 1_000).clip(0, 1)
        generator = hp.fit(records, plan=plan)
        ends = np.append(0.0, np.cumsum(np.ldexp(1.0, -generator.partition.levels.astype(np.int64))))
        truth, found = np.searchsorted(np.sort(records), edges) / 1_000, generator.cdf(edges).value
        sloped += float(np.abs(found - truth).mean())
        even += float(np.abs(np.interp(edges, ends, generator.cdf(ends).value) - truth).mean())
    assert sloped < 0.9 * even

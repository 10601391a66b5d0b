"""Counting and hashing kernels: compiled and NumPy versions agree bit for bit with references."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy import stats

from backends import both, needs_native
from cases import case_count
from privhp import Box, Interval, Plan, StateError, Summary, Tally, kernels
from privhp.core.cells import OUTSIDE, Codes
from privhp.kernels import SketchGroup, plain
from privhp.kernels.counting import hash_cells

ALPHA = 1e-9


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


@needs_native
@pytest.mark.parametrize(
    "counters", [np.zeros(4), np.zeros(8, dtype=np.int64)[::2], read_only(np.zeros(4, dtype=np.int64))]
)
def test_invalid_counters(counters: NDArray[Any]) -> None:
    """A converted copy would receive the counts and be discarded."""
    codes = np.zeros(1, dtype=np.uint64)
    with pytest.raises(TypeError):
        kernels.count_codes(codes, None, depth=2, exact_depth=2, counters=counters, groups=[])


@needs_native
@pytest.mark.parametrize("table", [np.zeros((1, 4)), read_only(np.zeros((1, 4), dtype=np.int64))])
def test_invalid_sketch_table(table: NDArray[Any]) -> None:
    codes, words = np.zeros(1, dtype=np.uint64), np.ones((1, 3), dtype=np.uint64)
    counters = np.zeros(4, dtype=np.int64)
    with pytest.raises(TypeError):
        kernels.count_codes(
            codes, None, depth=3, exact_depth=2, counters=counters, groups=[SketchGroup(3, words, [(3, table)])]
        )


@needs_native
def test_missing_weights() -> None:
    codes, counters = np.zeros(2, dtype=np.uint64), np.zeros(4, dtype=np.int64)
    with pytest.raises(ValueError, match="a weight for each code"):
        kernels.count_codes(codes, np.ones(1, dtype=np.int64), depth=2, exact_depth=2, counters=counters, groups=[])


@st.composite
def sketches(draw: st.DrawFn) -> Plan:
    """Plans with sketches of any shape, also at levels whose codes exceed 32 bits."""
    exact_depth = draw(st.integers(0, 8))
    gaps = draw(st.lists(st.integers(1, 3), max_size=3) | st.lists(st.integers(1, 5), min_size=9, max_size=11))
    levels = [exact_depth + sum(gaps[: index + 1]) for index in range(len(gaps))]
    group = draw(st.integers(0, 8)) if levels else 0
    return Plan(
        Box([(0, 1)] * 2),
        epsilon=1,
        budgets=dict.fromkeys([exact_depth, *levels], "0.01"),
        exact_depth=exact_depth,
        sketch_rows=draw(st.integers(1, 3)) if levels else 0,
        sketch_width=draw(st.integers(1, 40)) * 2**group if levels else 0,
        hot_cells=1 if levels else 0,
        hash_group=group,
    )


def count_with(plan: Plan, codes: NDArray[np.uint64], weights: NDArray[np.int64] | None, add: Any) -> Tally:
    tally = Tally(plan)
    add(codes, weights, **tally._targets)
    return tally


def one_by_one(plan: Plan, codes: NDArray[np.uint64], weights: NDArray[np.int64] | None) -> Tally:
    """Reference counts, one record, level and row at a time."""
    tally = Tally(plan)
    for code, weight in zip(codes.tolist(), [1] * len(codes) if weights is None else weights.tolist(), strict=True):
        if code < 2**plan.depth:
            tally.counters[code >> (plan.depth - plan.exact_depth)] += weight
            for level, table in tally.sketches.items():
                cell = np.array([code >> (plan.depth - level)], dtype=np.uint64)
                levels_below = level - plan.hash_levels[level]
                for row, words in enumerate(plan.hash_coefficients(level)):
                    ancestor = cell >> np.uint64(levels_below)
                    bucket = int(hash_cells(ancestor, words, width=plan.sketch_width)[0])
                    table[row, bucket ^ (int(cell[0]) & (2**levels_below - 1))] += weight
    return tally


def same(one: Tally, other: Tally) -> bool:
    return np.array_equal(one.counters, other.counters) and all(
        np.array_equal(one.sketches[level], other.sketches[level]) for level in one.sketches
    )


@both
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar add")  # counts wrap around, also in the reference
@settings(max_examples=case_count(60))
@given(data=st.data(), plan=sketches(), weighted=st.booleans())
def test_count_codes_equals_reference(data: st.DataObject, plan: Plan, weighted: bool, native: bool) -> None:
    cells, wild = st.integers(0, 2**plan.depth - 1), st.integers(2**plan.depth, 2**64 - 1)
    codes = data.draw(arrays.arrays(np.uint64, st.integers(0, 40), elements=cells | wild))
    counts = arrays.arrays(np.int64, codes.size, elements=st.integers(0, 2**62))
    weights = data.draw(counts) if weighted else None
    assert same(count_with(plan, codes, weights, kernels.count_codes), one_by_one(plan, codes, weights))


@needs_native
@settings(max_examples=case_count(60))
@given(
    plan=sketches(),
    seed=st.integers(0, 2**32),
    size=st.integers(0, 30_000),
    distinct=st.sampled_from([1, 10, 1000, 10**6]),
)
def test_count_codes_of_large_skewed_batches(plan: Plan, seed: int, size: int, distinct: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2**plan.depth, size=distinct, dtype=np.uint64)[rng.integers(0, distinct, size=size)]
    codes[rng.random(size) < 0.01] = OUTSIDE
    weights = rng.integers(0, 5, size=size)
    assert same(count_with(plan, codes, None, kernels.count_codes), count_with(plan, codes, None, plain.count_codes))
    assert same(
        count_with(plan, codes, weights, kernels.count_codes), count_with(plan, codes, weights, plain.count_codes)
    )


@needs_native
@pytest.mark.parametrize("size", [65_534, 65_535, 65_536, 65_537, 140_000])
@pytest.mark.parametrize("hash_group", [0, 4])
def test_counts_above_16_bits(size: int, hash_group: int) -> None:
    """The first codes differ, so that they are not combined, and share one cell of the coarser levels."""
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=1e6, hot_cells=8, depth=40, hash_group=hash_group)
    codes = np.minimum(np.arange(size, dtype=np.uint64), 4096)
    tally = count_with(plan, codes, None, kernels.count_codes)
    assert same(tally, count_with(plan, codes, None, plain.count_codes))
    assert tally.counters.sum() == size


def reference_bucket(cell: int, words: list[int], levels_below: int, width: int) -> int:
    ancestor, own = cell >> levels_below, cell & (2**levels_below - 1)
    mixed = ((ancestor >> 32) * words[0] + (ancestor & 0xFFFF_FFFF) * words[1] + words[2]) % 2**64
    return ((mixed >> 32) * width >> 32) ^ own


@both
@given(
    cells=arrays.arrays(np.uint64, st.integers(0, 40), elements=st.integers(0, 2**63 - 1)),
    rows=st.integers(1, 5),
    levels_below=st.integers(0, 4),
    log_width=st.integers(4, 16),
    seed=st.integers(0, 2**32),
)
def test_find_buckets_and_estimate_counts(
    cells: Codes, rows: int, levels_below: int, log_width: int, seed: int, native: bool
) -> None:
    rng, width = np.random.default_rng(seed), 2**log_width
    words = rng.integers(0, 2**64, size=(rows, 3), dtype=np.uint64)
    table = rng.integers(-(2**62), 2**62, size=(rows, width))
    by_hand = [[reference_bucket(cell, row, levels_below, width) for cell in cells.tolist()] for row in words.tolist()]
    assert kernels.find_buckets(words, cells, levels_below=levels_below, width=width).tolist() == by_hand
    counts = [[row[place] for place in places] for row, places in zip(table.tolist(), by_hand, strict=True)]
    least = [min(held) for held in zip(*counts, strict=True)]
    assert kernels.estimate_counts(table, words, cells, levels_below=levels_below).tolist() == least


@both
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_of_tally(threads: int, native: bool) -> None:
    plan = Plan.paper(Box([(0, 1), (0, 1)]), epsilon=1, expected_records=1e5, hot_cells=8, sketch_rows=3)
    points = np.random.default_rng(0).random((50_001, 2))
    counts = np.arange(len(points)) % 4
    alone, together = Tally(plan), Tally(plan)
    for records, weights in ((points, None), (points[:5], None), (points[:0], None), (points, counts)):
        alone.add(records, counts=weights)
        together.add(records, counts=weights, threads=threads)
    assert same(alone, together)


def test_threads_of_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privhp.collect.noisy_counters.discrete_laplace", lambda size, scale: np.arange(size))
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=1e5, hot_cells=8, hash_seed=1)
    states = []
    for threads in (1, 2):
        summary = Summary(plan)
        summary.update(np.random.default_rng(0).random(1000), threads=threads)
        states.append(summary.state())
    assert np.array_equal(*states)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_invalid_number_of_threads(threads: Any) -> None:
    tally = Tally(Plan.paper(Interval(0, 1), epsilon=1, expected_records=1e3, hot_cells=2))
    with pytest.raises(StateError, match="threads"):
        tally.add(np.zeros(3), threads=threads)
    assert not tally.counters.any()


def collisions(words: NDArray[np.uint64], keys: NDArray[np.uint64], width: int, hashed: Any) -> NDArray[np.bool_]:
    """For each random hash function and pair of successive keys, whether the two share a bucket."""
    places = np.array([hashed(keys, row, width=width) for row in words])
    return places[:, 1:] == places[:, :-1]


KEYS = np.array([0, 1, 2, 4, 2**20, 2**31, 2**32, 2**32 + 1, 2**40, 3 * 2**40, 2**62], dtype=np.uint64)


@pytest.mark.parametrize("width", [2, 16, 512, 3, 100])
def test_hash_collision_probability(width: int) -> None:
    """A strongly universal hash has collision probability 1 / width for any pair, exactly at powers of two."""
    words = np.random.default_rng(3).integers(0, 2**64, size=(20_000, 3), dtype=np.uint64)
    for met in collisions(words, KEYS, width, hash_cells).T:
        assert stats.binomtest(int(met.sum()), met.size, 1 / width).pvalue > ALPHA


def test_hash_collision_check_rejects_weak_hash() -> None:
    def bad(cells: NDArray[np.uint64], words: NDArray[np.uint64], *, width: int) -> NDArray[np.uint64]:
        return (cells * words[1] + words[2]) % np.uint64(width)

    words = np.random.default_rng(3).integers(0, 2**64, size=(20_000, 3), dtype=np.uint64)
    met = collisions(words, KEYS, 16, bad)
    assert min(stats.binomtest(int(pair.sum()), pair.size, 1 / 16).pvalue for pair in met.T) < ALPHA


@given(plan=sketches(), seed=st.integers(0, 2**32))
def test_siblings_never_collide(plan: Plan, seed: int) -> None:
    for level in plan.sketched_levels:
        base = plan.hash_levels[level]
        family = np.random.default_rng(seed).integers(0, 2**base, dtype=np.uint64) << np.uint64(level - base)
        cells = family + np.arange(2 ** (level - base), dtype=np.uint64)
        table = np.zeros((plan.sketch_rows, plan.sketch_width), dtype=np.int64)
        group = SketchGroup(base, plan.hash_coefficients(level), [(level, table)])
        counters = np.zeros(1, dtype=np.int64)
        kernels.count_codes(cells, None, depth=level, exact_depth=0, counters=counters, groups=[group])
        assert table.max() == 1

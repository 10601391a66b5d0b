"""The native kernels are the NumPy kernels, bit for bit; both draw points where they should be."""

from fractions import Fraction
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy import stats

from backends import both, needs_native
from privhp import Box, Integers, Interval, Plan, StateError, Summary, Tally, kernels
from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import OUTSIDE, Codes
from privhp.kernels import AliasTable, SketchGroup, plain
from privhp.kernels.counting import hash_cells
from privhp.planning.partition import Partition

ALPHA = 1e-9


@st.composite
def sides(draw: st.DrawFn) -> list[tuple[float, float]]:
    lows = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
    return [(low, low + draw(st.floats(1e-3, 1e9))) for low in lows]


def awkward_points(box: Box) -> st.SearchStrategy[NDArray[np.float64]]:
    ends = [end for axis in box.axes for end in (axis.low, axis.high)]
    near = [np.nextafter(end, to) for end in ends for to in (-np.inf, np.inf)]
    inside = st.floats(min(ends), max(ends))
    values = inside | st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from(ends + near)
    return arrays.arrays(np.float64, st.tuples(st.integers(0, 50), st.just(len(box.axes))), elements=values)


@needs_native
@given(data=st.data(), bounds=sides(), clamp=st.booleans())
def test_points_have_the_same_cells(data: st.DataObject, bounds: list[tuple[float, float]], clamp: bool) -> None:
    box = Box(bounds, outside="clamp" if clamp else "drop")
    points = data.draw(awkward_points(box))
    grid = box._axes.grid(data.draw(st.integers(0, box.depth)))
    assert np.array_equal(kernels.encode_grid(points, grid), plain.encode_grid(points, grid))


HARD_BOXES = [
    Box([(5e-324, 1.0)]),
    Box([(-5e-324, 2.0**-950), (-1.0, 5e-324)]),
    Box([(-8e307, 9e307)]),  # the inverse of this width is subnormal
    Box([(0.1, 0.7), (1 / 3, np.pi), (-1e-280, 1e-270)]),
    Box([(1e15, 1e15 + 64), (-0.0, 49.0), (7.0, 10.0), (0.0, 1.1)]),
    Box([(0.0, 1.0 + side / 7) for side in range(63)]),
]


@needs_native
@pytest.mark.parametrize("clamp", [False, True])
@pytest.mark.parametrize("box", HARD_BOXES, ids=repr)
def test_points_on_the_edges_of_cells_have_the_same_cells(box: Box, clamp: bool) -> None:
    rng = np.random.default_rng(4)
    for level in {0, 1, 30, 31, 32, 33, box.depth - 1, box.depth} & set(range(box.depth + 1)):
        grid = box._axes.grid(level)._replace(clamp=clamp)
        edges = [
            axis.low + rng.integers(0, 2**bits, size=200, endpoint=True) * (axis.width / 2.0**bits)
            for axis, bits in zip(box.axes, grid.bits.tolist(), strict=True)
        ]
        on = np.stack(edges, axis=1)
        points = np.concatenate([on, np.nextafter(on, -np.inf), np.nextafter(on, np.inf)])
        found = kernels.encode_grid(points, grid)
        assert np.array_equal(found, plain.encode_grid(points, grid))
        assert (found[found != OUTSIDE] < 2**level).all()


def spread_out(array: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(array, 2, axis=0)[::2]


def out_of_step(array: NDArray[Any]) -> NDArray[Any]:
    """A copy whose values begin at odd addresses."""
    room = np.empty(array.nbytes + 1, dtype=np.uint8)[1:]
    copy = room.view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


@both
@pytest.mark.parametrize("layout", [np.asfortranarray, spread_out, out_of_step, read_only])
def test_arrays_may_lie_in_memory_in_any_way(layout: Any, native: bool) -> None:
    rng = np.random.default_rng(5)
    box, points = Box([(0, 1)] * 2), rng.random((1000, 2))
    codes = box.encode(points, level=20)
    assert np.array_equal(box.encode(layout(points), level=20), codes)
    assert np.array_equal(
        Integers(0, 9).encode(layout(np.arange(12)), level=2), Integers(0, 9).encode(range(12), level=2)
    )
    shuffled = kernels.shuffle(layout(points), rng)
    assert np.array_equal(np.sort(shuffled, axis=0), np.sort(points, axis=0))
    assert set(map(tuple, shuffled)) == set(map(tuple, points))
    allocation = Allocation(layout(codes), layout(np.full(1000, 20)), layout(np.ones(1000, dtype=np.int64)))
    filled = box.sample_allocation(allocation, balanced=True, rng=rng)
    assert np.array_equal(box.encode(filled, level=20), codes)
    indices = np.arange(1000)[::-1]
    drawn = box.sample_cells(CellDraws(layout(codes), layout(np.full(1000, 20)), layout(indices)), rng=rng)
    assert np.array_equal(box.encode(drawn, level=20), codes[indices])
    plan = Plan.paper(box, epsilon=1, expected_records=1e5, hot_cells=8, depth=20)
    assert same(counted(plan, layout(codes), None, kernels.count_codes), counted(plan, codes, None, plain.count_codes))


@needs_native
@pytest.mark.parametrize(
    "counters", [np.zeros(4), np.zeros(8, dtype=np.int64)[::2], read_only(np.zeros(4, dtype=np.int64))]
)
def test_what_cannot_be_counted_in_place_is_refused(counters: NDArray[Any]) -> None:
    """A converted copy would be counted in, and lost."""
    codes = np.zeros(1, dtype=np.uint64)
    with pytest.raises(TypeError):
        kernels.count_codes(codes, None, depth=2, exact_depth=2, counters=counters, groups=[])


@needs_native
@pytest.mark.parametrize("table", [np.zeros((1, 4)), read_only(np.zeros((1, 4), dtype=np.int64))])
def test_sketches_that_cannot_be_counted_in_are_refused(table: NDArray[Any]) -> None:
    codes, words = np.zeros(1, dtype=np.uint64), np.ones((1, 3), dtype=np.uint64)
    counters = np.zeros(4, dtype=np.int64)
    with pytest.raises(TypeError):
        kernels.count_codes(
            codes, None, depth=3, exact_depth=2, counters=counters, groups=[SketchGroup(3, words, [(3, table)])]
        )


@needs_native
def test_codes_without_a_weight_each_are_refused() -> None:
    codes, counters = np.zeros(2, dtype=np.uint64), np.zeros(4, dtype=np.int64)
    with pytest.raises(ValueError, match="a weight for each code"):
        kernels.count_codes(codes, np.ones(1, dtype=np.int64), depth=2, exact_depth=2, counters=counters, groups=[])


@needs_native
@given(
    data=st.data(),
    low=st.integers(-(2**61), 2**61 - 2),
    clamp=st.booleans(),
    numbers=arrays.arrays(np.int64, st.integers(0, 50)),
)
def test_whole_numbers_have_the_same_cells(
    data: st.DataObject, low: int, clamp: bool, numbers: NDArray[np.int64]
) -> None:
    domain = Integers(low, data.draw(st.integers(low + 1, 2**61 - 1)))
    near = data.draw(st.lists(st.integers(domain.low - 2, domain.high + 2), max_size=20))
    numbers = np.concatenate([numbers, np.array(near, dtype=np.int64)])
    shift = data.draw(st.integers(0, domain.depth))
    options: dict[str, Any] = {"low": domain.low, "high": domain.high, "shift": shift, "clamp": clamp}
    assert np.array_equal(kernels.encode_integers(numbers, **options), plain.encode_integers(numbers, **options))


@st.composite
def sketches(draw: st.DrawFn) -> Plan:
    """A plan with any shape of sketches, down to levels whose cells need more than 32 bits."""
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


def counted(plan: Plan, codes: NDArray[np.uint64], weights: NDArray[np.int64] | None, add: Any) -> Tally:
    tally = Tally(plan)
    options = {"depth": plan.depth, "exact_depth": plan.exact_depth, "counters": tally.counters}
    add(codes, weights, **options, groups=tally._groups)
    return tally


def one_by_one(plan: Plan, codes: NDArray[np.uint64], weights: NDArray[np.int64] | None) -> Tally:
    """The same counts, one record, level and row at a time."""
    tally = Tally(plan)
    for code, weight in zip(codes.tolist(), [1] * len(codes) if weights is None else weights.tolist(), strict=True):
        if code < 2**plan.depth:
            tally.counters[code >> (plan.depth - plan.exact_depth)] += weight
            for level, table in tally.tables.items():
                cell = np.array([code >> (plan.depth - level)], dtype=np.uint64)
                levels_below = level - plan.hash_levels[level]
                for row, words in enumerate(plan.hash_coefficients(level)):
                    ancestor = cell >> np.uint64(levels_below)
                    bucket = int(hash_cells(ancestor, words, width=plan.sketch_width)[0])
                    table[row, bucket ^ (int(cell[0]) & (2**levels_below - 1))] += weight
    return tally


def same(one: Tally, other: Tally) -> bool:
    return np.array_equal(one.counters, other.counters) and all(
        np.array_equal(one.tables[level], other.tables[level]) for level in one.tables
    )


@both
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar add")  # counts wrap around, in the reference too
@settings(max_examples=60)
@given(data=st.data(), plan=sketches(), weighted=st.booleans())
def test_counting_is_one_by_one(data: st.DataObject, plan: Plan, weighted: bool, native: bool) -> None:
    cells, wild = st.integers(0, 2**plan.depth - 1), st.integers(2**plan.depth, 2**64 - 1)
    codes = data.draw(arrays.arrays(np.uint64, st.integers(0, 40), elements=cells | wild))
    counts = arrays.arrays(np.int64, codes.size, elements=st.integers(0, 2**62))
    weights = data.draw(counts) if weighted else None
    assert same(counted(plan, codes, weights, kernels.count_codes), one_by_one(plan, codes, weights))


@needs_native
@settings(max_examples=60)
@given(
    plan=sketches(),
    seed=st.integers(0, 2**32),
    size=st.integers(0, 30_000),
    distinct=st.sampled_from([1, 10, 1000, 10**6]),
)
def test_large_and_skewed_batches_are_counted_the_same(plan: Plan, seed: int, size: int, distinct: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2**plan.depth, size=distinct, dtype=np.uint64)[rng.integers(0, distinct, size=size)]
    codes[rng.random(size) < 0.01] = OUTSIDE
    weights = rng.integers(0, 5, size=size)
    assert same(counted(plan, codes, None, kernels.count_codes), counted(plan, codes, None, plain.count_codes))
    assert same(counted(plan, codes, weights, kernels.count_codes), counted(plan, codes, weights, plain.count_codes))


@needs_native
@pytest.mark.parametrize("size", [65_534, 65_535, 65_536, 65_537, 140_000])
@pytest.mark.parametrize("hash_group", [0, 4])
def test_counts_do_not_stop_at_16_bits(size: int, hash_group: int) -> None:
    """Different codes at first, so that equal ones are not combined, all in one cell of the coarser levels."""
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=1e6, hot_cells=8, depth=40, hash_group=hash_group)
    codes = np.minimum(np.arange(size, dtype=np.uint64), 4096)
    tally = counted(plan, codes, None, kernels.count_codes)
    assert same(tally, counted(plan, codes, None, plain.count_codes))
    assert tally.counters.sum() == size


def bucket_by_hand(cell: int, words: list[int], levels_below: int, width: int) -> int:
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
def test_cells_are_looked_up_where_they_are_counted(
    cells: Codes, rows: int, levels_below: int, log_width: int, seed: int, native: bool
) -> None:
    rng, width = np.random.default_rng(seed), 2**log_width
    words = rng.integers(0, 2**64, size=(rows, 3), dtype=np.uint64)
    table = rng.integers(-(2**62), 2**62, size=(rows, width))
    by_hand = [[bucket_by_hand(cell, row, levels_below, width) for cell in cells.tolist()] for row in words.tolist()]
    assert kernels.find_buckets(words, cells, levels_below=levels_below, width=width).tolist() == by_hand
    counts = [[row[place] for place in places] for row, places in zip(table.tolist(), by_hand, strict=True)]
    least = [min(held) for held in zip(*counts, strict=True)]
    assert kernels.estimate_counts(table, words, cells, levels_below=levels_below).tolist() == least


@st.composite
def partitions(draw: st.DrawFn) -> Partition:
    """A partition that was cut up to three times, here and there, with some counts in it."""
    partition = Partition(draw(st.integers(0, 5)), np.zeros(4000, dtype=np.int64))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, 3))):
        partition.refinements += 1
        for cells in list(partition.counted(2**12)):
            partition.slots[cells.slots] += rng.integers(-5, 5, size=cells.slots.size)
            partition.cut(cells, rng.choice([0, 0, 0, 0, 0, 1, 3], size=cells.slots.size))
    return partition


@both
@settings(max_examples=60)
@given(
    partition=partitions(),
    depth=st.sampled_from([14, 40, 63]),
    seed=st.integers(0, 2**32),
    size=st.sampled_from([0, 1, 63, 64, 65, 500]),
    weighted=st.booleans(),
)
def test_a_record_is_counted_in_the_cell_of_a_partition_that_holds_it(
    partition: Partition, depth: int, seed: int, size: int, weighted: bool, native: bool
) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2**depth, size=size, dtype=np.uint64)
    codes[rng.random(size) < 0.1] = OUTSIDE
    weights = rng.integers(0, 5, size=size) if weighted else None
    expected = partition.slots.copy()
    for cells in partition.counted(2**12):
        for slot, cell in zip(cells.slots.tolist(), cells.codes.tolist(), strict=True):
            held = codes >> np.uint64(depth - cells.level) == cell
            expected[slot] += held.sum() if weights is None else weights[held].sum()
    counters = np.zeros(1, dtype=np.int64)
    kernels.count_codes(
        codes,
        weights,
        depth=depth,
        exact_depth=0,
        counters=counters,
        groups=[],
        level=partition.level,
        slots=partition.slots,
    )
    assert np.array_equal(partition.slots, expected)


@needs_native
def test_slots_that_cannot_be_counted_in_are_refused() -> None:
    codes, counters = np.zeros(1, dtype=np.uint64), np.zeros(4, dtype=np.int64)
    slots = read_only(np.zeros(8, dtype=np.int64))
    with pytest.raises(TypeError):
        kernels.count_codes(codes, None, depth=3, exact_depth=2, counters=counters, groups=[], level=3, slots=slots)


@both
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_give_the_same_counts(threads: int, native: bool) -> None:
    plan = Plan.paper(Box([(0, 1), (0, 1)]), epsilon=1, expected_records=1e5, hot_cells=8, sketch_rows=3)
    points = np.random.default_rng(0).random((50_001, 2))
    counts = np.arange(len(points)) % 4
    alone, together = Tally(plan), Tally(plan)
    for records, weights in ((points, None), (points[:5], None), (points[:0], None), (points, counts)):
        alone.add(records, counts=weights)
        together.add(records, counts=weights, threads=threads)
    assert same(alone, together)


def test_threads_of_a_summary_are_those_of_its_tally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privhp.collect.summary.discrete_laplace", lambda size, scale: np.arange(size))
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=1e5, hot_cells=8, hash_seed=1)
    states = []
    for threads in (1, 2):
        summary = Summary(plan)
        summary.update(np.random.default_rng(0).random(1000), threads=threads)
        states.append(summary.state())
    assert np.array_equal(*states)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads: Any) -> None:
    tally = Tally(Plan.paper(Interval(0, 1), epsilon=1, expected_records=1e3, hot_cells=2))
    with pytest.raises(StateError, match="threads"):
        tally.add(np.zeros(3), threads=threads)
    assert not tally.counters.any()


@both
@given(data=st.data(), bounds=sides(), balanced=st.booleans(), seed=st.integers(0, 2**32))
def test_points_fill_their_cells(
    data: st.DataObject, bounds: list[tuple[float, float]], balanced: bool, seed: int, native: bool
) -> None:
    box, rng = Box(bounds), np.random.default_rng(seed)
    levels = np.array(data.draw(st.lists(st.integers(0, box.depth), min_size=1, max_size=5)))
    codes = np.array([rng.integers(0, 2**level, dtype=np.uint64) for level in levels.tolist()])
    counts = np.array(data.draw(st.lists(st.integers(0, 30), min_size=levels.size, max_size=levels.size)))
    points = box.sample_allocation(Allocation(codes, levels, counts), balanced=balanced, rng=rng)
    homes = np.split(points, np.cumsum(counts)[:-1])
    for code, level, inside in zip(codes, levels.tolist(), homes, strict=True):
        assert (box.encode(inside, level=level) == code).all()


@needs_native
@pytest.mark.parametrize(
    ("levels", "counts"),
    [([0, 0], [-1, 2]), ([-1, 0], [1, 1]), ([0, 0], [2**62, -(2**62)]), ([0], [1, 1]), ([0, 0], [2])],
)
def test_points_are_not_drawn_where_they_have_no_place(levels: list[int], counts: list[int]) -> None:
    codes, rng = np.zeros(2, dtype=np.uint64), np.random.default_rng(6)
    with pytest.raises(ValueError, match="expected"):
        Box([(0, 1)]).sample_allocation(Allocation(codes, np.array(levels), np.array(counts)), balanced=True, rng=rng)


@both
@given(data=st.data(), bounds=sides(), seed=st.integers(0, 2**32))
def test_scattered_points_lie_in_the_cells_at_their_places(
    data: st.DataObject, bounds: list[tuple[float, float]], seed: int, native: bool
) -> None:
    box, rng = Box(bounds), np.random.default_rng(seed)
    levels = np.array(data.draw(st.lists(st.integers(0, box.depth), min_size=1, max_size=5)))
    codes = np.array([rng.integers(0, 2**level, dtype=np.uint64) for level in levels.tolist()])
    places = rng.integers(0, levels.size, size=data.draw(st.integers(0, 30)))
    points = box.sample_cells(CellDraws(codes, levels, places), rng=rng)
    assert points.shape == (places.size, len(bounds))
    for point, place in zip(points, places, strict=True):
        assert box.encode(point[None], level=int(levels[place])) == codes[place]


@needs_native
@pytest.mark.parametrize(("levels", "places"), [([0, 0], [0, 2]), ([0, 0], [0, -1]), ([0, -1], [0, 1]), ([0], [0, 1])])
def test_points_are_not_scattered_where_there_is_no_cell(levels: list[int], places: list[int]) -> None:
    codes, grid = np.zeros(2, dtype=np.uint64), (np.zeros((1, 1), dtype=np.uint64), *np.zeros((3, 1)))
    with pytest.raises(ValueError, match="expected"):
        kernels.sample_grid_cells(
            CellDraws(codes, np.array(levels), np.array(places)), kernels.CellSides(*grid), rng=np.random.default_rng(6)
        )


@both
@pytest.mark.parametrize("sides", [1, 2, 3])
def test_scattered_points_are_uniform_and_independent(sides: int, native: bool) -> None:
    """Places in their four quarters, and of neighbours on the last and the first side."""
    codes, levels, places = np.arange(4, dtype=np.uint64), np.full(4, 2), np.arange(100_000) % 4
    draws = CellDraws(codes, levels, places)
    points = Box([(0, 1)] * sides).sample_cells(draws, rng=np.random.default_rng(8))
    cell = np.histogramdd(points, bins=4, range=[(0, 1)] * sides)[0].ravel()
    assert stats.chisquare(cell).pvalue > ALPHA
    inside = points * 4 % 1
    neighbours = np.histogram2d(inside[:-1, -1], inside[1:, 0], bins=8, range=[(0, 1)] * 2)[0].ravel()
    assert stats.chisquare(neighbours).pvalue > ALPHA
    same_twice = np.histogram2d(inside[:, -1], inside[:, -1], bins=8, range=[(0, 1)] * 2)[0].ravel()
    assert stats.chisquare(same_twice).pvalue < ALPHA


def shares_of(table: AliasTable) -> list[Fraction]:
    """What a table gives each place, exactly."""
    given = [Fraction(0)] * table.aliases.size
    for place, (threshold, other) in enumerate(zip(*(column.tolist() for column in table), strict=True)):
        stays = Fraction(threshold, 2**64)
        given[place] += stays / len(given)
        given[other] += (1 - stays) / len(given)
    return given


WEIGHTS = st.lists(st.floats(0, 1) | st.floats(0, 1e-9) | st.sampled_from([0.0, 1.0, 1e9]), min_size=1, max_size=40)


@given(weights=WEIGHTS.filter(any))
def test_an_alias_table_gives_every_place_its_share(weights: list[float]) -> None:
    shares = np.array(weights) / np.sum(weights)
    given = shares_of(kernels.build_alias_table(shares))
    assert sum(given) == 1
    assert all(abs(found - Fraction(share)) < 2.0**-50 for found, share in zip(given, shares.tolist(), strict=True))
    assert all(found == 0 for found, share in zip(given, shares.tolist(), strict=True) if share == 0)


@pytest.mark.parametrize("size", [1, 2, 3, 1024])
def test_places_of_equal_shares_share_with_none(size: int) -> None:
    assert np.array_equal(kernels.build_alias_table(np.full(size, 1 / size)).aliases, np.arange(size))


def test_an_alias_table_may_have_a_million_places() -> None:
    shares = np.random.default_rng(9).pareto(1.0, size=1_000_000)
    shares /= shares.sum()
    table = kernels.build_alias_table(shares)
    stays = table.thresholds * 2.0**-64
    given = (stays + np.bincount(table.aliases, weights=1.0 - stays, minlength=shares.size)) / shares.size
    assert np.allclose(given, shares, rtol=1e-9, atol=1e-18)


@both
def test_draws_follow_their_table_and_a_wrong_one_is_rejected(native: bool) -> None:
    shares = np.array([0.3, 0.02, 0.18, 0.4, 0.1])
    table = kernels.build_alias_table(shares)

    def significance(table: AliasTable, by: float = 0.0) -> float:
        drawn = np.bincount(kernels.draw_indices(table, 100_000, np.random.default_rng(10)), minlength=5)
        changed = shares * (1.0 + by * np.array([0, 1, 0, 1, 0]))
        return float(stats.chisquare(drawn, changed / changed.sum() * 100_000).pvalue)

    assert significance(table) > ALPHA
    assert significance(table, -0.1) < ALPHA
    assert significance(table, 0.1) < ALPHA
    assert significance(table._replace(aliases=np.roll(table.aliases, 1))) < ALPHA
    assert significance(table._replace(thresholds=table.thresholds // np.uint64(10) * np.uint64(9))) < ALPHA
    assert significance(kernels.build_alias_table(shares[::-1])) < ALPHA


@both
def test_draws_do_not_know_of_each_other(native: bool) -> None:
    """Pairs of neighbours, and of draws as far levels_below as the native kernel takes random words."""
    shares = np.array([0.3, 0.02, 0.18, 0.4, 0.1])
    drawn = kernels.draw_indices(kernels.build_alias_table(shares), 204_800, np.random.default_rng(11))
    expected = np.outer(shares, shares).ravel()
    for one, other in ((drawn[::2], drawn[1::2]), drawn.reshape(-1, 2, 1024).transpose(1, 0, 2).reshape(2, -1)):
        pairs = np.bincount(one * 5 + other, minlength=25)
        assert stats.chisquare(pairs, expected * one.size).pvalue > ALPHA
    assert stats.chisquare(np.bincount(drawn * 6, minlength=25) + 1, expected * drawn.size + 1).pvalue < ALPHA


@both
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize(("sides", "bins"), [(1, 512), (2, 22), (3, 8)])
def test_each_point_is_uniform_in_its_cell(sides: int, bins: int, balanced: bool, count: int, native: bool) -> None:
    cells = 200_000 // count
    box, rng = Box([(0, 1)] * sides), np.random.default_rng(count)
    codes, levels = np.full(cells, 2**sides - 3 if sides > 1 else 1, dtype=np.uint64), np.full(cells, sides)
    allocation = Allocation(codes, levels, np.full(cells, count))
    points = box.sample_allocation(allocation, balanced=balanced, rng=rng) * 2 % 1
    place = np.arange(cells) % count + np.arange(cells) * count  # one point of each cell, so that they are independent
    chosen = (points[place] * bins).astype(int)
    observed = np.bincount(np.ravel_multi_index(tuple(chosen.T), (bins,) * sides), minlength=bins**sides)
    assert stats.chisquare(observed).pvalue > ALPHA
    skewed = observed + np.where(np.arange(bins**sides) % 2, 1, -1) * observed.mean() * 0.35
    assert stats.chisquare(skewed).pvalue < ALPHA


@both
@pytest.mark.parametrize("sides", [1, 2, 3, 5])
def test_many_points_of_one_cell_keep_to_their_slices_and_lattice(sides: int, native: bool) -> None:
    count, tiny = 5000, 1e-9
    one = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([count]))
    points = Box([(0, 1)] * sides).sample_allocation(Allocation(*one), balanced=True, rng=np.random.default_rng(7))
    ranks = np.arange(count)
    assert np.abs(points[:, 0] * count - ranks - 0.5).max() <= 0.5 + tiny * count
    for side, step in enumerate(kernels.lattice_steps(sides).tolist()[1:], start=1):
        starts = (points[:, side] - ranks * (step / 2.0**64)) % 1.0
        around = (starts - starts[0] + 0.5) % 1.0  # all within one jitter, wherever the first start lies
        assert np.ptp(around) <= count ** (-1.0 / sides) + tiny


@both
@pytest.mark.parametrize("sides", [1, 2, 3])
def test_many_points_of_one_cell_are_uniform(sides: int, native: bool) -> None:
    one = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([100_000]))
    points = Box([(0, 1)] * sides).sample_allocation(Allocation(*one), balanced=False, rng=np.random.default_rng(8))
    observed = np.histogramdd(points, bins=4, range=[(0, 1)] * sides)[0].ravel()
    assert stats.chisquare(observed).pvalue > ALPHA
    neighbours = np.histogram2d(points[:-1, -1], points[1:, 0], bins=8, range=[(0, 1)] * 2)[0].ravel()
    assert stats.chisquare(neighbours).pvalue > ALPHA


@both
def test_evenly_spread_points_are_closer_to_uniform(native: bool) -> None:
    """Masses of a 16 x 16 grid, 4,096 points in one cell: an eighth of the variance of independent ones at most."""
    box, rng = Box([(0, 1), (0, 1)]), np.random.default_rng(1)
    one = (np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64), np.array([4096]))

    def variance(balanced: bool) -> float:
        places = (box.sample_allocation(Allocation(*one), balanced=balanced, rng=rng) * 16).astype(int)
        return float(np.var(np.bincount(places @ [16, 1], minlength=256)))

    assert np.mean([variance(True) for _ in range(20)]) < np.mean([variance(False) for _ in range(20)]) / 8


@both
def test_shuffling_gives_every_order_its_chance(native: bool) -> None:
    rng = np.random.default_rng(2)
    records = np.arange(4.0)
    orders = [tuple(kernels.shuffle(records, rng)) for _ in range(24_000)]
    observed = np.unique(orders, axis=0, return_counts=True)[1]
    assert observed.size == 24
    assert stats.chisquare(observed).pvalue > ALPHA
    stuck = np.where(np.arange(24) < 6, observed * 1.3, observed * 0.9)
    assert stats.chisquare(stuck * observed.sum() / stuck.sum()).pvalue < ALPHA


@both
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_many_records_end_up_anywhere(columns: int, native: bool) -> None:
    """More than the generator of random words holds, also in each of the piles that the native kernel makes."""
    size, parts = 300_000, 16
    records = np.arange(size * columns).reshape(size, columns)
    found = kernels.shuffle(records, np.random.default_rng(9))[:, 0] // columns
    assert np.array_equal(np.sort(found), np.arange(size))

    def moves(order: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.histogram2d(order, np.arange(size), bins=parts)[0]

    assert stats.chisquare(moves(found).ravel()).pvalue > ALPHA
    inside = found[size // 2 : size // 2 + 1000]  # within one pile: about as many steps up as down
    assert stats.binomtest(int((np.diff(inside) > 0).sum()), 999).pvalue > ALPHA
    sticky = np.where(np.arange(size) % 10 == 0, np.arange(size), found)
    assert stats.chisquare(moves(sticky).ravel()).pvalue < ALPHA


@both
@given(size=st.integers(0, 2000), columns=st.integers(1, 3), seed=st.integers(0, 2**32))
def test_shuffling_keeps_every_record(size: int, columns: int, seed: int, native: bool) -> None:
    records = np.arange(float(size * columns)).reshape(size, columns)
    found = kernels.shuffle(records, np.random.default_rng(seed))
    assert np.array_equal(np.sort(found, axis=0), records)
    assert (np.diff(found, axis=1) == 1).all()


def collisions(words: NDArray[np.uint64], keys: NDArray[np.uint64], width: int, hashed: Any) -> NDArray[np.bool_]:
    """Whether each of many random functions sends neighbouring keys of a list to one bucket."""
    places = np.array([hashed(keys, row, width=width) for row in words])
    return places[:, 1:] == places[:, :-1]


KEYS = np.array([0, 1, 2, 4, 2**20, 2**31, 2**32, 2**32 + 1, 2**40, 3 * 2**40, 2**62], dtype=np.uint64)


@pytest.mark.parametrize("width", [2, 16, 512, 3, 100])
def test_two_cells_share_a_bucket_as_often_as_by_chance(width: int) -> None:
    """Strongly universal: a probability of 1 / width for any pair, at powers of two above all."""
    words = np.random.default_rng(3).integers(0, 2**64, size=(20_000, 3), dtype=np.uint64)
    for met in collisions(words, KEYS, width, hash_cells).T:
        assert stats.binomtest(int(met.sum()), met.size, 1 / width).pvalue > ALPHA


def test_a_family_without_its_high_bits_fails_that_test() -> None:
    def bad(cells: NDArray[np.uint64], words: NDArray[np.uint64], *, width: int) -> NDArray[np.uint64]:
        return (cells * words[1] + words[2]) % np.uint64(width)

    words = np.random.default_rng(3).integers(0, 2**64, size=(20_000, 3), dtype=np.uint64)
    met = collisions(words, KEYS, 16, bad)
    assert min(stats.binomtest(int(pair.sum()), pair.size, 1 / 16).pvalue for pair in met.T) < ALPHA


@given(plan=sketches(), seed=st.integers(0, 2**32))
def test_descendants_of_a_hashed_cell_never_collide(plan: Plan, seed: int) -> None:
    for level in plan.sketched_levels:
        base = plan.hash_levels[level]
        family = np.random.default_rng(seed).integers(0, 2**base, dtype=np.uint64) << np.uint64(level - base)
        cells = family + np.arange(2 ** (level - base), dtype=np.uint64)
        table = np.zeros((plan.sketch_rows, plan.sketch_width), dtype=np.int64)
        group = SketchGroup(base, plan.hash_coefficients(level), [(level, table)])
        counters = np.zeros(1, dtype=np.int64)
        kernels.count_codes(cells, None, depth=level, exact_depth=0, counters=counters, groups=[group])
        assert table.max() == 1


def test_backend_name() -> None:
    assert (kernels.BACKEND == "plain") == (kernels.native is None)


def test_plain_kernels_have_the_signatures_of_the_kernels_in_use() -> None:
    for name in plain.__all__:
        assert signature(getattr(kernels, name), eval_str=True) == signature(getattr(plain, name), eval_str=True)

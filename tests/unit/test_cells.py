import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from privhp.core.bits import BitPermutation
from privhp.core.cells import MAX_DEPTH, OUTSIDE, Codes, ancestors, by_level, descendants, fold

words = st.integers(0, 2**64 - 1)
batches_of_words = st.lists(words, max_size=20).map(lambda values: np.array(values, dtype=np.uint64))


@st.composite
def bit_targets(draw: st.DrawFn) -> dict[int, int]:
    """Any one-to-one choice of source bits and of target bits."""
    sources = draw(st.lists(st.integers(0, 63), unique=True, max_size=64))
    targets = draw(st.permutations(range(64)))
    return dict(zip(sources, targets, strict=False))


def permute_bit_by_bit(value: int, targets: dict[int, int]) -> int:
    return sum(1 << target for source, target in targets.items() if value >> source & 1)


@given(bit_targets(), batches_of_words)
def test_bit_permutation_equals_reference(targets: dict[int, int], values: Codes) -> None:
    moved = BitPermutation(targets)(values)
    assert moved.dtype == np.uint64
    assert moved.tolist() == [permute_bit_by_bit(value, targets) for value in values.tolist()]


@given(bit_targets(), batches_of_words)
def test_inverse_bit_permutation(targets: dict[int, int], values: Codes) -> None:
    kept = np.uint64(sum(1 << source for source in targets))
    back = BitPermutation({target: source for source, target in targets.items()})
    assert np.array_equal(back(BitPermutation(targets)(values)), values & kept)


@given(words, batches_of_words)
def test_deposit_and_extract(mask: int, values: Codes) -> None:
    places = [bit for bit in range(64) if mask >> bit & 1]
    spread, gathered = BitPermutation.deposit(mask)(values), BitPermutation.extract(mask)(values)
    assert spread.tolist() == [permute_bit_by_bit(value, dict(enumerate(places))) for value in values.tolist()]
    inverse = {place: own for own, place in enumerate(places)}
    assert gathered.tolist() == [permute_bit_by_bit(value, inverse) for value in values.tolist()]


def test_bit_permutation_of_no_bits() -> None:
    assert BitPermutation({})(np.array([0, 5, OUTSIDE], dtype=np.uint64)).tolist() == [0, 0, 0]


def test_bit_permutation_of_a_strided_array() -> None:
    values = np.arange(20, dtype=np.uint64)
    swap = BitPermutation({0: 1, 1: 0})
    assert swap(values[::3]).tolist() == [permute_bit_by_bit(value, {0: 1, 1: 0}) for value in range(0, 20, 3)]
    assert np.array_equal(values, np.arange(20))


@given(st.integers(0, MAX_DEPTH), st.data())
def test_ancestors(level: int, data: st.DataObject) -> None:
    paths = data.draw(st.lists(st.text("01", min_size=level, max_size=level), min_size=1, max_size=5))
    steps = data.draw(st.integers(0, level))
    codes = np.array([int("0" + path, 2) for path in paths], dtype=np.uint64)
    above = [int("0" + path[: level - steps], 2) for path in paths]
    assert ancestors(codes, levels=steps).tolist() == above


@given(st.integers(0, 5), st.data())
def test_descendants(levels: int, data: st.DataObject) -> None:
    codes = data.draw(hnp.arrays(np.uint64, st.integers(0, 4), elements=st.integers(0, 2 ** (MAX_DEPTH - levels) - 1)))
    below = descendants(codes, levels=levels)
    assert below.shape == (codes.size, 2**levels)
    assert below.dtype == np.uint64
    for code, row in zip(codes.tolist(), below.tolist(), strict=True):
        assert row == [int(f"{code:b}" + f"{path:0{levels}b}" * (levels > 0), 2) for path in range(2**levels)]


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@given(counts=st.data(), deep=st.integers(0, 7), levels=st.integers(0, 7))
def test_fold(counts: st.DataObject, deep: int, levels: int, dtype: type) -> None:
    levels = min(levels, deep)
    leaves = counts.draw(hnp.arrays(dtype, 2**deep, elements=st.integers(-(2**30), 2**30)))
    folded = fold(leaves, levels=levels)
    assert folded.dtype == dtype
    rows = descendants(np.arange(2 ** (deep - levels), dtype=np.uint64), levels=levels)
    assert folded.tolist() == [sum(leaves[cell] for cell in row) for row in rows.tolist()]


def test_deepest_cells_differ_from_outside() -> None:
    deepest = np.uint64(2**MAX_DEPTH - 1)
    assert deepest < OUTSIDE
    assert ancestors(np.array([deepest]), levels=MAX_DEPTH).tolist() == [0]


@given(st.lists(st.integers(0, 5), max_size=20))
def test_by_level(levels: list[int]) -> None:
    found = [(level, here.tolist()) for level, here in by_level(np.array(levels, dtype=np.int64))]
    expected = [(level, [index for index, own in enumerate(levels) if own == level]) for level in sorted(set(levels))]
    assert found == expected

"""Lookup kernels: positions between cuts, indices of texts and interleaved codes, compared with Python."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from backends import both
from privhp import Categories, Interval, kernels
from privhp.core.cells import OUTSIDE, Floats
from privhp.kernels import CutIndex
from silent import assert_silent


def knots_of(domain: Interval) -> Floats:
    return np.array([domain.low, *(domain.cuts or ()), domain.high])


def quantiles(distribution: Any, count: int) -> list[float]:
    return list(distribution.ppf(np.arange(1, count + 1) / (count + 1)))


FAR_APART = [
    Interval(0, 1, cuts=[1e-12]),
    Interval(0, 1.7e308, cuts=[1.0]),
    Interval(-8e307, 8e307, cuts=[-1e-300, 0, 1e-300]),
    Interval(0, 1.79e308, cuts=[8.9e307]),  # distances overflow
    Interval(5e-324, 1, cuts=[1e-300, 1e-10]),
    Interval(0, 1e-300, cuts=[1e-305]),
    Interval(0, 1, cuts=list(np.linspace(0, 1e-9, 500)[1:])),  # dense at one end
    Interval(-5, 5, cuts=list(np.linspace(-4.9, 4.9, 3000))),
    Interval(-1e6, 1e6, cuts=quantiles(stats.cauchy, 999)),  # dense in the middle
    Interval(0, 1e9, cuts=quantiles(stats.lognorm(3), 999)),
    Interval(0, 1, cuts=sorted(np.random.default_rng(0).random(999))),  # several in a bucket
    Interval(0, 100, cuts=[*np.linspace(1, 1 + 1e-9, 99), *np.linspace(99, 99 + 1e-9, 99)]),  # a hundred in one bucket
]


@st.composite
def intervals_with_cuts(draw: st.DrawFn) -> Interval:
    ends = st.floats(-1e9, 1e9)
    knots = sorted(draw(st.sets(ends, min_size=3, max_size=40)))
    gaps = [knots[0]]
    for knot in knots[1:]:
        gaps.append(max(knot, gaps[-1] + 1e-3))  # far enough apart to be split
    return Interval(gaps[0], gaps[-1], cuts=gaps[1:-1])


def positions_by_search(numbers: Floats, domain: Interval) -> Floats:
    """Reference position: the number of cuts at or below a number plus its share of the interval between two cuts."""
    knots = knots_of(domain)
    widths = np.diff(knots)
    inside = (numbers >= knots[0]) & (numbers <= knots[-1])
    index = np.minimum(np.searchsorted(knots, numbers, side="right") - 1, widths.size - 1)
    with np.errstate(all="ignore"):
        steps = (index + (numbers - knots[index]) / widths[index]) / widths.size * domain.axis.width
    return np.where(inside, steps, np.nan)


@both
@pytest.mark.parametrize("domain", FAR_APART, ids=range(len(FAR_APART)))
def test_encoding_of_extreme_numbers_is_silent(native: bool, domain: Interval) -> None:
    numbers = [5e-324, -5e-324, 2.3e-308, 1e-200, 1.7e308, -1.7e308, np.inf, -np.inf, np.nan, *knots_of(domain)]
    with assert_silent():
        domain.encode(np.array(numbers), level=domain.depth)


@both
@given(data=st.data(), domain=intervals_with_cuts() | st.sampled_from(FAR_APART))
def test_positions_between_cuts_equal_reference(native: bool, data: st.DataObject, domain: Interval) -> None:
    knots = knots_of(domain)
    near = np.concatenate([np.nextafter(knots, to) for to in (-np.inf, np.inf)])
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    within = np.concatenate([rng.uniform(domain.low, domain.high, 600), rng.choice(knots, 600) * rng.random(600)])
    drawn = data.draw(st.lists(st.floats() | st.floats(domain.low, domain.high), max_size=20))
    numbers = np.concatenate([knots, near, within, drawn, [0.0, -0.0, np.nan, np.inf, -np.inf]])
    assert np.array_equal(domain.scale_map.positions(numbers), positions_by_search(numbers, domain), equal_nan=True)
    inside = numbers[~np.isnan(positions_by_search(numbers, domain))]
    assert np.array_equal(domain.scale_map.positions(inside), positions_by_search(inside, domain))


def test_cut_index_size() -> None:
    for domain in FAR_APART[5:9]:
        index = CutIndex.build(knots_of(domain))
        assert index.half <= 2
        assert index.before.size <= 2**15


WORDS = st.text(st.sampled_from("ab 0é🙂") | st.characters(exclude_categories=["Cs"]), max_size=6).filter(
    lambda text: not text.endswith("\0")
)


@both
@given(
    declared=st.lists(WORDS, min_size=2, max_size=30, unique=True),
    others=st.lists(WORDS, max_size=20),
    width=st.integers(1, 20),
    other=st.booleans(),
)
@example(
    declared=["aaaaX", "aaaaY"], others=["aa"], width=2, other=False
)  # the batch lacks the distinguishing character
@example(declared=["", "a"], others=["b", "aa"], width=3, other=True)
def test_text_lookup_equals_dict(native: bool, declared: list[str], others: list[str], width: int, other: bool) -> None:
    domain = Categories(declared, other="something else") if other else Categories(declared)
    texts = np.array(declared + others, dtype=f"U{width}")  # truncates longer texts
    codes = dict(zip(domain.values, domain.encode(list(domain.values), level=domain.depth).tolist(), strict=True))
    missing = domain.encode(["something else"], level=domain.depth)[0] if other else OUTSIDE
    expected = [codes.get(text, missing) for text in texts.tolist()]
    assert domain.encode(texts, level=domain.depth).tolist() == expected


@both
def test_text_lookup_memory(native: bool) -> None:
    domain = Categories([f"{number:05}" for number in range(5000)])
    texts = np.array(["00007", "x" * 20_000, "00007" + "\0" * 9_000 + "x", "00008"])
    tracemalloc.start()
    try:
        codes = domain.encode(texts, level=domain.depth).tolist()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    seven, eight = domain.encode(["00007", "00008"], level=domain.depth).tolist()
    assert codes == [seven, OUTSIDE, OUTSIDE, eight]
    assert peak < 10 * texts.nbytes


def test_list_of_mixed_types() -> None:
    class Name(str):
        """A subclass of str."""

    words: list[Any] = ["red", b"red", np.str_("red"), Name("red"), None, float("nan"), 3, ["red"], "mauve", [], {}]
    domain = Categories(["red", "blue"])
    alone = [domain.encode([word], level=1).tolist()[0] for word in words]
    assert domain.encode(words, level=1).tolist() == alone
    assert alone[:4] == [0] * 4
    numbers: list[Any] = [1, True, 1.0, "1", b"1", np.int8(1), 2**70, 1.5, None]
    whole = Categories([0, 1])
    assert whole.encode(numbers, level=1).tolist() == [1] * 6 + [OUTSIDE] * 3


@both
@given(mask=st.integers(0, 2**63 - 1), seed=st.integers(0, 99))
def test_interleave_equals_reference(native: bool, mask: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    own = rng.integers(0, 2 ** mask.bit_count(), 50, dtype=np.uint64)
    codes = rng.integers(0, 2**63, 50, dtype=np.uint64) & ~np.uint64(mask)
    own[rng.random(50) < 0.1], codes[rng.random(50) < 0.1] = OUTSIDE, OUTSIDE
    positions = [position for position in range(63) if mask >> position & 1]
    expected = [
        OUTSIDE
        if OUTSIDE in (one, other)
        else other | sum((one >> rank & 1) << position for rank, position in enumerate(positions))
        for one, other in zip(own.tolist(), codes.tolist(), strict=True)
    ]
    kernels.interleave(own, mask, codes)
    assert codes.tolist() == expected

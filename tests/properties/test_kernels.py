"""Encoding kernels: compiled and NumPy versions agree bit for bit."""

from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from backends import both, needs_native
from privhp import Box, Integers, kernels
from privhp.core.allocation import Allocation, CellDraws
from privhp.core.cells import OUTSIDE
from privhp.kernels import plain
from strategies import box_sides


def edge_case_points(box: Box) -> st.SearchStrategy[NDArray[np.float64]]:
    ends = [end for axis in box.axes for end in (axis.low, axis.high)]
    near = [np.nextafter(end, to) for end in ends for to in (-np.inf, np.inf)]
    inside = st.floats(min(ends), max(ends))
    values = inside | st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from(ends + near)
    return arrays.arrays(np.float64, st.tuples(st.integers(0, 50), st.just(len(box.axes))), elements=values)


@needs_native
@given(data=st.data(), bounds=box_sides(), clamp=st.booleans())
def test_encode_grid_equals_numpy(data: st.DataObject, bounds: list[tuple[float, float]], clamp: bool) -> None:
    box = Box(bounds, outside="clamp" if clamp else "drop")
    points = data.draw(edge_case_points(box))
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
def test_encode_grid_at_cell_edges(box: Box, clamp: bool) -> None:
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


def strided(array: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(array, 2, axis=0)[::2]


def unaligned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy whose values start at odd addresses."""
    buffer = np.empty(array.nbytes + 1, dtype=np.uint8)[1:]
    copy = buffer.view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


@both
@pytest.mark.parametrize("layout", [np.asfortranarray, strided, unaligned, read_only])
def test_array_memory_layouts(layout: Any, native: bool) -> None:
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
    expected, counters = np.bincount(codes.view(np.int64) >> 12, minlength=2**8), np.zeros(2**8, dtype=np.int64)
    kernels.count_codes(layout(codes), None, depth=20, exact_depth=8, counters=counters, groups=[])
    assert np.array_equal(counters, expected)


@needs_native
@given(
    data=st.data(),
    low=st.integers(-(2**61), 2**61 - 2),
    clamp=st.booleans(),
    numbers=arrays.arrays(np.int64, st.integers(0, 50)),
)
def test_encode_integers_equals_numpy(data: st.DataObject, low: int, clamp: bool, numbers: NDArray[np.int64]) -> None:
    domain = Integers(low, data.draw(st.integers(low + 1, 2**61 - 1)))
    near = data.draw(st.lists(st.integers(domain.low - 2, domain.high + 2), max_size=20))
    numbers = np.concatenate([numbers, np.array(near, dtype=np.int64)])
    shift = data.draw(st.integers(0, domain.depth))
    options: dict[str, Any] = {"low": domain.low, "high": domain.high, "shift": shift, "clamp": clamp}
    assert np.array_equal(kernels.encode_integers(numbers, **options), plain.encode_integers(numbers, **options))


@needs_native
@given(
    data=st.data(),
    day=st.sampled_from([1, 7, 96, 86_400, 86_400 * 10**3, 86_400 * 10**6, 86_400 * 10**9]),
    first=st.integers(-(2**61), 2**61),
    clamp=st.booleans(),
    ticks=arrays.arrays(np.int64, st.integers(0, 50)),
)
def test_encode_days_equals_numpy(
    data: st.DataObject, day: int, first: int, clamp: bool, ticks: NDArray[np.int64]
) -> None:
    halvings = (day & -day).bit_length() - 1
    odd = day >> halvings
    bits = (odd - 1).bit_length()
    midnight, most = first - data.draw(st.integers(0, day - 1)), min(2**62, 2 ** (62 - halvings - bits) * day)
    last = first + data.draw(st.integers(1, most))
    near = data.draw(st.lists(st.integers(first - 2, last + 2), max_size=20))
    ticks = np.concatenate([ticks, np.array(near, dtype=np.int64)])
    shift = data.draw(st.integers(0, halvings + bits + 8))
    days = kernels.DayCells(first, last, midnight, odd, bits, root=0)
    assert np.array_equal(*(own.encode_days(ticks, days, shift=shift, clamp=clamp) for own in (kernels, plain)))


def test_backend_name() -> None:
    assert (kernels.BACKEND == "plain") == (kernels.native is None)


def test_kernel_signatures() -> None:
    for name in plain.__all__:
        assert signature(getattr(kernels, name), eval_str=True) == signature(getattr(plain, name), eval_str=True)

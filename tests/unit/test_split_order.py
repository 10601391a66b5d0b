"""Split orders and their masks, against slow definitions."""

from hypothesis import given
from hypothesis import strategies as st

from privhp.core.cells import MAX_DEPTH
from privhp.domains.split_order import split_masks, split_order

AXES = st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0.5, 1.0, 2.0, 3.0])), max_size=4)


def slow_order(depths: list[int], sizes: list[float]) -> tuple[int, ...]:
    order: tuple[int, ...] = ()
    while len(order) < MAX_DEPTH:
        open_axes = [axis for axis, depth in enumerate(depths) if order.count(axis) < depth]
        if not open_axes:
            break
        order += (max(open_axes, key=lambda axis: sizes[axis] * 2.0 ** -order.count(axis)),)
    return order


@given(AXES)
def test_order_and_masks(axes: list[tuple[int, float]]) -> None:
    depths, sizes = [depth for depth, _ in axes], [size for _, size in axes]
    order = split_order(depths, lambda axis, bits: sizes[axis] * 2.0**-bits)
    assert order == slow_order(depths, sizes)
    masks = split_masks(order, len(axes))
    assert len(masks) == len(order) + 1
    for level, own in enumerate(masks):
        for axis, mask in enumerate(own):
            assert mask == sum(2 ** (level - 1 - step) for step in range(level) if order[step] == axis)

"""The order in which the levels of a hierarchy split several axes or columns."""

from collections.abc import Callable, Sequence

from privhp.core.cells import MAX_DEPTH


def split_order(depths: Sequence[int], size: Callable[[int, int], float]) -> tuple[int, ...]:
    """Index of the axis that each level splits: the one of the largest remaining size, the first on a tie.

    The order ends when every axis has its full depth, or at the deepest level of a domain.

    Args:
        depths: Number of splits that each axis allows.
        size: Remaining size of an axis, given its index and the number of its splits so far.
    """
    splits = [0] * len(depths)
    remaining = {index: size(index, 0) for index, depth in enumerate(depths) if depth > 0}
    order: list[int] = []
    while remaining and len(order) < MAX_DEPTH:
        largest = max(remaining, key=remaining.__getitem__)
        order.append(largest)
        splits[largest] += 1
        if splits[largest] < depths[largest]:
            remaining[largest] = size(largest, splits[largest])
        else:
            del remaining[largest]
    return tuple(order)


def split_masks(order: Sequence[int], axes: int) -> list[list[int]]:
    """Mask of the code bits of each axis, for each level from 0 on."""
    masks = [[0] * axes]
    for split in order:
        masks.append([mask << 1 | (index == split) for index, mask in enumerate(masks[-1])])
    return masks

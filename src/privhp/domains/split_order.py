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
    order: list[int] = []
    while len(order) < MAX_DEPTH:
        remaining = [index for index, depth in enumerate(depths) if splits[index] < depth]
        if not remaining:
            break
        largest = max(remaining, key=lambda index: size(index, splits[index]))
        splits[largest] += 1
        order.append(largest)
    return tuple(order)

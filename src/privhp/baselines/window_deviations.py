"""Deviations of counts from their mean, in all windows of a length."""

import numpy as np

from privhp.core.cells import Counts


class WindowDeviations:
    """Sums of |count - mean| over windows of counts, rounded down to whole numbers.

    Twice the excess of the counts above the mean is the deviation. A wavelet
    matrix of the ranks of the counts finds these counts in one step for each binary digit,
    for all windows at once. A layer of it splits by a digit, the highest first: the
    ranks with digit 0 precede those with digit 1, in their former order.
    """

    def __init__(self, counts: Counts) -> None:
        self._sums = _prefix_sums(counts)
        order = np.argsort(counts, kind="stable")
        self._sorted = counts[order]
        ranks = np.empty(order.shape, dtype=np.int64)
        ranks[order] = np.arange(order.size)
        self._layers: list[tuple[int, Counts, Counts]] = []  # digit, zeros before each index, sums after the split
        for digit in reversed(range(max(counts.size - 1, 1).bit_length())):
            zero = ranks >> digit & 1 == 0
            ranks = np.concatenate([ranks[zero], ranks[~zero]])
            self._layers.append((digit, _prefix_sums(zero.astype(np.int64)), _prefix_sums(self._sorted[ranks])))

    def of_length(self, length: int) -> Counts:
        """Deviation of each window of a length, by its first index."""
        size = self._sorted.size
        first, end = np.arange(size - length + 1), np.arange(length, size + 1)
        sums = self._sums[end] - self._sums[first]
        least = np.searchsorted(self._sorted, sums // length, side="right")  # the lowest rank above the mean
        above = np.minimum(least, size - 1)
        number, total = np.zeros((2, first.size), dtype=np.int64)
        for digit, zeros, values in self._layers:
            one = above >> digit & 1 == 1
            zero_first, zero_end = zeros[first], zeros[end]
            one_first, one_end = first - zero_first + zeros[-1], end - zero_end + zeros[-1]
            number += np.where(one, 0, one_end - one_first)
            total += np.where(one, 0, values[one_end] - values[one_first])
            first, end = np.where(one, one_first, zero_first), np.where(one, one_end, zero_end)
        number += end - first
        total += values[end] - values[first]
        return np.where(least < size, 2 * (length * total - number * sums) // length, 0)


def _prefix_sums(values: Counts) -> Counts:
    return np.concatenate([[0], np.cumsum(values)])

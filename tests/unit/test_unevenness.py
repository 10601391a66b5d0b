"""Unevenness of the sides of leaves, against a slow search."""

import numpy as np
import pytest

from privhp.answers.hierarchy_errors import _hidden_bias
from privhp.answers.unevenness import FINER_CUTS, AxisUnevenness, _Measured


def slow_slope(measured: list[_Measured], cell: int, cuts: int) -> float:
    """Squared imbalance of the smallest measured side that holds a side."""
    for above in range(min(cuts, len(measured) - 1), -1, -1):
        shown = dict(zip(measured[above].cells.tolist(), measured[above].squares.tolist(), strict=True))
        if cell >> (cuts - above) in shown:
            return float(shown[cell >> (cuts - above)])
    return 0.0


@pytest.mark.parametrize("seed", range(4))
def test_unevenness_of_a_side_is_at_least_that_of_the_smallest_measured_side_around_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    measured = []
    for cuts in range(8):
        cells = np.flatnonzero(rng.random(2**cuts) < 0.4).astype(np.uint64)
        measured.append(_Measured(rng.random() * 0.3, cells.size, 0.5, cells, rng.random(cells.size)))
    axis = AxisUnevenness(measured)
    for cuts in (0, 3, 7, 8):
        cells = np.arange(2**cuts, dtype=np.uint64)
        found = axis.further(cells, cuts)
        assert found.shape == (FINER_CUTS, cells.size)
        for cell in range(0, cells.size, 5):
            slopes = slow_slope(measured, cell, cuts) / 4.0 ** np.arange(FINER_CUTS)
            assert found[:, cell] == pytest.approx(np.maximum(axis.by_cuts[cuts : cuts + FINER_CUTS], slopes))


def test_hidden_bias() -> None:
    """Half of the removed noise and of the difference, at most the count; none where no noise was removed."""
    found = _hidden_bias(np.array([2.0, 0.0, 0.0, 0.0]), np.array([4.0, 4.0, 4.0, 0.0]), np.array([9.0, 9.0, 1.0, 9.0]))
    assert found.tolist() == [3.0, 2.0, 1.0, 0.0]

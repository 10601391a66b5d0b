"""W1 distance on the line, against closed forms and SciPy."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from datasets import DATASETS
from privhp import Box, DomainError, Generator, Integers, Interval, Plan, RecordsError, wasserstein
from releases import histogram, release_of


def flat() -> Generator:
    return histogram(Interval(0, 1), 0, [10])


@pytest.mark.parametrize("point", [0.0, 0.2, 0.5, 1.0])
def test_uniform_to_point(point: float) -> None:
    assert wasserstein(flat(), [point]) == pytest.approx((point**2 + (1 - point) ** 2) / 2, rel=1e-14)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_uniform_to_grid(size: int) -> None:
    """Smallest possible distance for this number of points."""
    assert wasserstein(flat(), (np.arange(size) + 0.5) / size) == pytest.approx(1 / (4 * size), rel=1e-9)


def test_half_to_point() -> None:
    assert wasserstein(histogram(Interval(0, 1), 1, [1, 0]), [0.75]) == pytest.approx(0.5, rel=1e-14)


def test_unequal_halves_to_end_points() -> None:
    """Of the mass 0.7 in the lower half, 0.5 moves to 0 and 0.2 to 1; the upper 0.3 moves to 1."""
    down, up = 0.5 * (5 / 7 / 2 / 2), 0.2 * (1 - (5 / 7 + 1) / 2 / 2) + 0.3 * 0.25
    assert wasserstein(histogram(Interval(0, 1), 1, [7, 3]), [0, 1]) == pytest.approx(down + up, rel=1e-12)


def test_records_out_of_bounds() -> None:
    assert wasserstein(flat(), [3.0]) == pytest.approx(2.5, rel=1e-14)
    assert wasserstein(flat(), [-1.0]) == pytest.approx(1.5, rel=1e-14)


def test_repeated_records() -> None:
    generator = histogram(Interval(0, 1), 1, [7, 3])
    assert wasserstein(generator, [0.1, 0.1, 0.9, 0.9]) == pytest.approx(wasserstein(generator, [0.1, 0.9]), rel=1e-14)


@pytest.mark.parametrize("factor", [0.001, 3.0, 1e6])
def test_scaled_interval(factor: float) -> None:
    shares, counts = DATASETS["lognormal"](50), [7, 0, 2, 1]
    small, large = histogram(Interval(0, 1), 2, counts), histogram(Interval(0, factor), 2, counts)
    assert wasserstein(large, shares * factor) == pytest.approx(factor * wasserstein(small, shares), rel=1e-12)


@pytest.mark.parametrize("name", DATASETS)
def test_equals_scipy_on_fine_grid(name: str) -> None:
    """A leaf is approximated by atoms, to within half their spacing."""
    real = DATASETS[name](3000)
    plan = Plan.paper(Interval(0, 1), epsilon=1, expected_records=3000, hot_cells=8, exact_depth=4, hash_seed=9)
    generator = Generator(release_of(plan, DATASETS["gaussian mixture"](3000, seed=1)))
    leaves = generator.leaves()
    widths, pieces = 2.0**-leaves.levels, 1000
    atoms = (leaves.codes[:, None] + (np.arange(pieces) + 0.5) / pieces) * widths[:, None]
    weights = np.repeat(generator.probabilities / pieces, pieces)
    expected = stats.wasserstein_distance(atoms.ravel(), real, u_weights=weights)
    assert wasserstein(generator, real) == pytest.approx(expected, abs=float(widths.max()) / pieces / 2)


@pytest.mark.parametrize("records", [[], [0.5, float("nan")], [float("inf")], ["text"], np.zeros((3, 2)), 0.5])
def test_invalid_records(records: Any) -> None:
    with pytest.raises(RecordsError, match="expected"):
        wasserstein(flat(), records)


@pytest.mark.parametrize("domain", [Integers(0, 9), Interval(1, 9, scale="log"), Box([(0, 1), (0, 1)])], ids=repr)
def test_other_domains(domain: Any) -> None:
    with pytest.raises(DomainError, match="linear Interval"):
        wasserstein(histogram(domain, 1, [1, 1]), [1])

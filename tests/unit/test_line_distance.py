"""W1 distance on the line, against closed forms and SciPy."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from datasets import DATASETS
from privhp import Box, DomainError, Generator, Integers, Interval, Plan, RecordsError, Time, wasserstein
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


@pytest.mark.parametrize(
    "domain", [Time("2020-01-01", "2020-01-09"), Interval(1, 9, scale="log"), Box([(0, 1), (0, 1)])], ids=repr
)
def test_other_domains(domain: Any) -> None:
    with pytest.raises(DomainError, match="linear Interval"):
        wasserstein(histogram(domain, 1, [1, 1]), [1])


@pytest.mark.parametrize(
    "domain", [Integers(-3, 40), Interval(0, 1, step="0.01"), Interval(-0.3, 9.7, step="0.5")], ids=repr
)
@pytest.mark.parametrize("level", [0, 1, 3, None])
def test_values_with_a_step_equal_scipy(domain: Any, level: int | None) -> None:
    rng = np.random.default_rng(7)
    depth = domain.depth if level is None else level
    codes = np.arange(2**depth, dtype=np.uint64)
    counts = rng.integers(0, 9, codes.size) * (domain.measure(codes, level=depth) > 0) + (codes == 0)
    generator = histogram(domain, depth, counts.tolist())
    leaf = np.arange(2**domain.depth, dtype=np.uint64)
    leaf = leaf[domain.measure(leaf, level=domain.depth) > 0]
    values = domain.decode(leaf, level=domain.depth, rng=rng)
    cells = domain.encode(values, level=depth).astype(np.int64)
    weights = (generator.probabilities / np.maximum(np.bincount(cells, minlength=codes.size), 1))[cells]
    records = np.concatenate([rng.choice(values, 30), [values[0] - 7 * domain.value_step, values[-1] + 2]])
    nearest = values[0] + np.rint((records - values[0]) / domain.value_step) * domain.value_step
    expected = stats.wasserstein_distance(values, nearest, u_weights=weights)
    assert wasserstein(generator, records) == pytest.approx(expected, rel=1e-9)
    assert wasserstein(records, values, domain=domain) == pytest.approx(stats.wasserstein_distance(nearest, values))
    other = histogram(domain, 1, [1, 0])
    half = values[domain.encode(values, level=1) == 0]
    assert wasserstein(generator, other) == pytest.approx(stats.wasserstein_distance(values, half, weights), rel=1e-9)


def test_single_values_have_no_error_of_resolution() -> None:
    domain = Interval(0, 1, step="0.25")
    assert wasserstein(histogram(domain, 3, [1, 2, 3, 0, 0, 0, 0, 0]), [0, 0.25, 0.25, 0.5, 0.5, 0.5]) == 0

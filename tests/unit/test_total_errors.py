"""Standard error of the number of records of a release."""

import math

import numpy as np
import pytest

from privhp import Categories, Generator, Interval, Plan, Summary, Table
from releases import release_of


def test_standard_error_of_total() -> None:
    """One level adds up the noise of its cells; two levels are averaged; the paper's inference takes the first.

    The posterior of a cell adds 1% of its variance.
    """
    domain, records = Interval(0, 1), np.linspace(0, 1, 1000)
    one = Plan(domain, epsilon=1, budgets={3: 1}, exact_depth=3, inference="least-squares")
    assert Generator(release_of(one, records)).total_stderr == pytest.approx(
        math.sqrt(8 * one.noise_variance(3)), rel=0.006
    )
    two = Plan(domain, epsilon=1, budgets={1: "1/4", 3: "3/4"}, exact_depth=3, inference="least-squares")
    coarse, fine = (2**level * two.noise_variance(level) for level in (1, 3))
    assert Generator(release_of(two, records)).total_stderr == pytest.approx((1 / coarse + 1 / fine) ** -0.5, rel=0.006)
    paper = Plan(domain, epsilon=1, budgets={1: "1/4", 3: "3/4"}, exact_depth=3, inference="top-down")
    assert Generator(release_of(paper, records)).total_stderr == pytest.approx(math.sqrt(coarse))


def test_total_of_one_full_cell() -> None:
    """Empty cells add little to the standard error of the total, and to its error."""
    plan = Plan(Interval(0, 1), epsilon=1, budgets={4: 1}, exact_depth=4, inference="least-squares")
    generators = []
    for _ in range(100):
        summary = Summary(plan)
        summary.update(np.full(1000, 0.5))
        generators.append(summary.release())
    sums = math.sqrt(16 * plan.noise_variance(4))
    assert np.mean([generator.total_stderr for generator in generators]) < 0.7 * sums
    errors = [(generator.total - 1000) / generator.total_stderr for generator in generators]
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.6


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_standard_error_of_total_covers_its_noise(epsilon: float) -> None:
    table, rng = Table(a=Interval(0, 1), b=Categories(["x", "y", "z"])), np.random.default_rng(0)
    plan, errors = Plan.auto(table, epsilon=epsilon, expected_records=1000, memory="8 KiB"), []
    for _ in range(100):
        summary = Summary(plan)
        summary.update({"a": rng.random(1000), "b": rng.choice(["x", "y"], 1000)})
        generator = summary.release()
        errors.append((generator.total - 1000) / generator.total_stderr)
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.6  # five standard deviations of 100 draws

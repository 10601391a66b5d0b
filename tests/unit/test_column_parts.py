"""Parts of a group along one column: consistent with masses, as fine as the release shows, also in wide tables."""

import numpy as np
import pytest

import privhp as hp
from learning_runs import ingest

SIZE = 30_000
QUESTIONS = [f"q{place}" for place in range(8)]
TABLE = hp.Table(
    **{name: hp.Categories([1, 2, 3, 4, 5]) for name in QUESTIONS},
    income=hp.Nullable(hp.Integers(0, 1_000_000)),
)


@pytest.fixture(scope="module")
def records() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    incomes = np.ma.MaskedArray(rng.lognormal(7.6, 0.6, SIZE).astype(int), mask=rng.random(SIZE) < 0.3)
    return {**{name: rng.integers(1, 6, SIZE) for name in QUESTIONS}, "income": incomes}


@pytest.fixture(scope="module")
def generator(records: dict[str, np.ndarray]) -> hp.Generator:
    plan = hp.Plan.auto(TABLE, epsilon=1, expected_records=SIZE, passes=3)
    assert "income" in plan.columns
    return hp.Generator(ingest(plan, [records]).summary.close())


def test_a_group_of_a_wide_table_is_answered_as_all_records(
    generator: hp.Generator, records: dict[str, np.ndarray]
) -> None:
    """Its leaves are not cut along incomes. All records show them, and the intervals say that the group may differ."""
    truth = records["income"][records["q0"] == 3].compressed()
    incomes = generator.marginal("income", null=False, where={"q0": 3})
    found = incomes.quantile([0.25, 0.5, 0.75]).value
    assert found == pytest.approx(np.quantile(truth, [0.25, 0.5, 0.75]), rel=0.1)
    low, high = incomes.quantile(0.5).interval()
    assert low <= np.median(truth) <= high
    assert repr(incomes.quantile([0.05, 0.95]))
    low, high = incomes.mean().interval()
    assert low <= truth.mean() <= high
    assert float(incomes.mean()) < 20_000


@pytest.mark.parametrize("region", [(0, 1000), (500, 2500), (10_000, None)], ids=str)
def test_parts_of_a_group_have_the_masses_of_the_group(generator: hp.Generator, region: tuple[int, int | None]) -> None:
    group = generator.marginal("income", where={"q1": 2})
    ratio = generator.mass({"income": region, "q1": 2}).value / generator.mass({"q1": 2}).value
    assert group.mass(region).value == pytest.approx(ratio, abs=1e-5)
    parts = group.leaves()
    assert float(parts.counts.sum()) == pytest.approx(
        generator.mass({"q1": 2}).value * float(generator.leaves().counts.sum()), rel=1e-6
    )
    assert (parts.counts >= 0).all()


def test_parts_are_a_partition(generator: hp.Generator) -> None:
    parts = generator.marginal("income", where={"q2": 1}).leaves()
    assert parts.measure(hp.Nullable(hp.Integers(0, 1_000_000))).sum() == pytest.approx(1.0)
    assert parts.codes.size < 2**18

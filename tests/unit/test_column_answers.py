"""Answers about one column of a table that is measured by itself."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import privhp as hp
from learning_runs import ingest
from privhp.domains.unions import AnyOf

TABLE = hp.Table(
    {("x", "y"): hp.Box([(0, 1), (0, 2)])},
    age=hp.Integers(0, 99),
    fare=hp.Nullable(hp.Interval(0, 64)),
    kind=hp.Categories([f"c{place}" for place in range(12)]),
    flag=hp.Categories(["no", "yes"]),
)
NAMES: list[Any] = [("x", "y"), "age", "fare", "kind"]
REGIONS: list[dict[Any, Any]] = [
    {"age": (18, 30)},
    {"age": (18, 18)},
    {"age": (50, None)},
    {"fare": (1.0, 7.3)},
    {"fare": None},
    {"fare": [None, (1.0, 7.3)]},
    {"kind": "c3"},
    {"kind": ["c3", "c4"]},
    {("x", "y"): ((0.1, 0.4), (0.5, 2))},
]
CONJUNCTION = {"age": (18, 30), "fare": (1.0, 7.3)}


@cache
def fitted(passes: int = 3) -> hp.Generator:
    size, rng = 40_000, np.random.default_rng(0)
    plan = hp.Plan.auto(TABLE, epsilon=1, expected_records=size, memory="128 KiB", passes=passes)
    assert list(plan.columns) == [column.label for column in TABLE.columns if column.name in NAMES]
    fare = (64 * rng.random(size) ** 3).astype(object)
    fare[::5] = None
    records = {
        "x": rng.random(size) ** 2,
        "y": 2 * rng.random(size),
        "age": rng.integers(0, 60, size),
        "fare": list(fare),
        "kind": [f"c{place}" for place in rng.integers(0, 10, size)],
        "flag": ["no" if own else "yes" for own in rng.integers(0, 3, size)],
    }
    return hp.Generator(ingest(plan, [records]).summary.close())


@cache
def without_columns(generator: hp.Generator) -> hp.Generator:
    """Answers from the leaves of the table alone."""
    twin = hp.Generator(generator.release)
    twin._measured = {}
    return twin


def alike(one: Any, other: Any) -> bool:
    """Whether two estimates are the same: value, standard error and interval."""
    same = float(one) == float(other) and one.stderr == other.stderr
    return bool(same and tuple(one.interval()) == tuple(other.interval()))


@pytest.fixture(scope="module", params=[1, 3])
def generator(request: pytest.FixtureRequest) -> hp.Generator:
    return fitted(request.param)


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_mass_is_that_of_the_marginal(generator: hp.Generator, region: dict[Any, Any]) -> None:
    ((name, own),) = region.items()
    column = generator.marginal(name)
    assert alike(generator.mass(region), column.mass(own))
    assert generator.mass_bounds(region) == column.mass_bounds(own)
    assert generator.shows_records(region) == column.shows_records(own)
    together = generator.masses([region, region])
    assert np.asarray(together).tolist() == pytest.approx([float(column.mass(own))] * 2, abs=1e-12)
    low, high = generator.mass_bounds(region)
    assert low - 1e-12 <= float(generator.mass(region)) <= high + 1e-12


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_mass_of_one_column_comes_from_its_counters(generator: hp.Generator, region: dict[Any, Any]) -> None:
    leaves = without_columns(generator)
    ((name, own),) = region.items()
    label = ", ".join(name) if isinstance(name, tuple) else name
    (column,) = (found for found in TABLE.columns if found.name == name)
    alone = hp.Generator(generator.release.columns[column.label])
    assert label == column.label
    assert alike(generator.mass(region), alone.mass(own))
    assert float(generator.mass(region)) != float(leaves.mass(region))


def test_other_answers_come_from_the_leaves(generator: hp.Generator) -> None:
    leaves = without_columns(generator)
    for region in ({"flag": "yes"}, {}):
        assert generator.mass(region).value == pytest.approx(leaves.mass(region).value, rel=1e-9)
        assert generator.mass_bounds(region) == pytest.approx(leaves.mass_bounds(region), rel=1e-9)
        assert generator.shows_records(region) == leaves.shows_records(region)
    assert generator.sample(20, rng=1)["age"].tolist() == leaves.sample(20, rng=1)["age"].tolist()


def test_leaves_divide_as_finely_as_columns_show(generator: hp.Generator) -> None:
    """Columns are independent here; parts of leaves are too few for six axes."""
    expected = generator.mass({"age": (18, 30)}).value * generator.mass({"fare": (1.0, 7.3)}).value
    assert generator.mass(CONJUNCTION).value == pytest.approx(expected, rel=0.15)
    assert generator.mass({"flag": "yes", "age": (18, 30)}).value == pytest.approx(
        generator.mass({"flag": "yes"}).value * generator.mass({"age": (18, 30)}).value, rel=0.15
    )


def test_union_of_ranges_of_one_column(generator: hp.Generator) -> None:
    ranges = [(0, 9), (18, 30), (50, None)]
    union = AnyOf(tuple({"age": own} for own in ranges))
    expected = generator.marginal("age").mass(AnyOf(tuple(ranges)))
    assert alike(generator.mass(union), expected)
    assert generator.mass(union).value == pytest.approx(sum(generator.mass({"age": own}).value for own in ranges))
    assert generator.masses([union]).value[0] == pytest.approx(expected.value)


def test_masses_are_those_of_each_region(generator: hp.Generator) -> None:
    regions: list[Any] = [{"age": (18, 30)}, CONJUNCTION, {"fare": (1.0, 7.3)}, {"flag": "yes"}, {"age": (18, 18)}]
    found, single = generator.masses(iter(regions)), [generator.mass(region) for region in regions]
    assert np.allclose(found.value, [own.value for own in single], rtol=1e-9)
    assert np.allclose(found.stderr, [own.stderr for own in single], rtol=1e-9)
    assert np.allclose(found.interval(0.9), np.transpose([own.interval(0.9) for own in single]), rtol=1e-9)
    assert generator.masses([]).value.shape == (0,)


def same_distribution(one: hp.Distribution, other: hp.Distribution) -> bool:
    """Whether two distributions have the same leaves and counts."""
    return all(np.array_equal(getattr(one.leaves(), own), getattr(other.leaves(), own)) for own in ("codes", "counts"))


def test_marginals_of_lists_and_conditions_use_the_leaves(generator: hp.Generator) -> None:
    leaves = without_columns(generator)
    alone, listed = generator.marginal("age"), generator.marginal(["age"])
    assert same_distribution(listed, leaves.marginal(["age"]))
    assert not np.array_equal(alone.leaves().counts, listed.leaves().counts)
    where = {"fare": (0.0, 40.0)}  # most records: a small group may not show in the leaves, which is a warning
    assert same_distribution(generator.marginal("age", where=where), leaves.marginal("age", where=where))
    assert same_distribution(generator.marginal("flag"), leaves.marginal("flag"))
    assert same_distribution(generator.marginal(["age", "fare"]), leaves.marginal(["age", "fare"]))
    assert generator.marginal("age").domain == leaves.marginal("age").domain == TABLE.columns[1].domain


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_marginal_is_a_distribution_of_the_column(generator: hp.Generator, name: Any) -> None:
    column = generator.marginal(name)
    total = float(np.sum(column.leaves().counts))
    assert total == pytest.approx(float(np.sum(generator.leaves().counts)), rel=0.05)
    assert (column.leaves().counts >= 0).all()
    assert len(column.sample(10, rng=0)) == (10 if not isinstance(name, tuple) else len(column.sample(10, rng=0)))


def test_quantiles_of_a_measured_column(generator: hp.Generator) -> None:
    """Of ages that are even below 60, and of fares, without their nulls."""
    ages = generator.marginal("age")
    assert [ages.quantile(share).value for share in (0.1, 0.5, 0.9)] == pytest.approx([6, 30, 54], abs=2)
    assert float(ages.cdf(29)) == pytest.approx(0.5, abs=0.02)
    fares = generator.marginal("fare", null=False)
    assert float(fares.quantile(0.5)) == pytest.approx(64 * 0.5**3, rel=0.15)
    assert float(fares.mass((0, 8))) == pytest.approx(0.5, abs=0.03)
    assert float(generator.marginal("fare").mass(None)) == pytest.approx(0.2, abs=0.01)
    joint = without_columns(generator).marginal("fare", null=False)
    assert fares.domain == joint.domain
    assert float(fares.mass((0, 8))) == pytest.approx(float(joint.mass((0, 8))), abs=0.05)


def test_values_of_a_column_without_nulls_are_its_marginal(generator: hp.Generator) -> None:
    for own in (generator, without_columns(generator)):
        assert same_distribution(own.marginal("age", null=False), own.marginal("age"))


WRONG: list[Any] = [
    {"z": (0, 1)},
    {"age": 10.5},
    {"age": None},
    {"age": (30, 18)},
    {"age": ("a", "b")},
    {"fare": "x"},
    {"kind": "c99"},
    {("x", "y"): (0, 1)},
    {"x": (0, 1)},
    "age",
    7,
]


@pytest.mark.parametrize("region", WRONG, ids=str)
@pytest.mark.parametrize("query", ["mass", "mass_bounds", "shows_records", "masses"])
def test_wrong_regions_are_refused_as_before(generator: hp.Generator, region: Any, query: str) -> None:
    """With the same message: it names the column."""
    messages = []
    for own in (generator, without_columns(generator)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                getattr(own, query)([region] if query == "masses" else region)
            messages.append("no error")
        except Exception as error:
            messages.append(f"{type(error).__name__}: {error}")
    assert messages[0] == messages[1]
    known = isinstance(region, dict) and next(iter(region)) in NAMES
    assert not known or messages[0].startswith("DomainError: column ")


@pytest.mark.parametrize("columns", ["z", ("x",), ("age", "z"), 3], ids=str)
def test_wrong_columns_are_refused_as_before(generator: hp.Generator, columns: Any) -> None:
    messages = []
    for own in (generator, without_columns(generator)):
        with pytest.raises(hp.PrivhpError) as error:
            own.marginal(columns)
        messages.append((type(error.value), str(error.value)))
    assert messages[0] == messages[1]


def test_region_outside_the_bounds_warns_once(generator: hp.Generator) -> None:
    with pytest.warns(hp.PrivhpWarning, match="no record of the domain is in the region") as caught:
        assert float(generator.mass({"age": (200, 300)})) == 0
    assert len(caught) == 1


def test_codes_of_groups_are_as_deep_as_the_column_shows() -> None:
    """Codes go on with one half alone at many levels; there the division of the column goes on, too."""
    size, rng = 40_000, np.random.default_rng(0)
    codes = rng.choice(["E11.9", "E11.65", "I10", "I10.9", "J45.20"], size, p=[0.4, 0.2, 0.2, 0.1, 0.1])
    records = {
        "age": rng.integers(0, 100, size),
        "stay": np.round(rng.exponential(5, size), 1).clip(0, 365),
        "ward": rng.choice(["a", "b", "c"], size),
        "code": codes,
    }
    table = hp.Table(
        age=hp.Integers(0, 120),
        stay=hp.Interval(0, 365, step="0.1"),
        ward=hp.Categories(["a", "b", "c"]),
        code=hp.Pattern("[A-Z][0-9]{2}([.][0-9]{1,2})?"),
    )
    with pytest.warns(hp.PrivhpWarning, match="too many columns"):
        generator = hp.fit(records, table, epsilon=1, expected_records=size)
    assert generator.plan.columns["code"].learning is not None  # codes learn from little data
    assert generator.mass({"code": "E11.9"}).value == pytest.approx(np.mean(codes == "E11.9"), rel=0.2)
    for code in ("E11.9", "I10", "I10*"):
        share = float(np.mean(codes == code if "*" not in code else np.char.startswith(codes, code[:-1])))
        assert generator.mass({"code": code, "ward": "a"}).value == pytest.approx(
            share / 3, rel=0.5
        )  # it was 0.1 of it

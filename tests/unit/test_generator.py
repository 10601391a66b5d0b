"""Answers of a generator, against brute force over its leaves and against its samples."""

import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis.strategies import DataObject

from datasets import lognormal
from privhp import (
    Box,
    Categories,
    Domain,
    DomainError,
    FileError,
    Generator,
    Integers,
    Interval,
    IPv4,
    Plan,
    PrivhpWarning,
    QueryError,
    Summary,
    Table,
    Time,
    fit,
    save,
)
from releases import histogram, nodes_of, release_of
from strategies import generators, integers, linear_intervals, ordered_domains

CLOSE = 1e-9
LINES = st.one_of(linear_intervals(), integers())


def below_in_leaf(domain: Domain, level: int, code: int, record: float) -> Fraction:
    """Share of a leaf at or below a record."""
    if isinstance(domain, Integers):
        first = domain.low + (code << (domain.depth - level))
        last = min(first + (1 << (domain.depth - level)) - 1, domain.high)
        size = max(last - first + 1, 0)
        return Fraction(min(max(math.floor(record) - first + 1, 0), size), max(size, 1))
    assert isinstance(domain, Interval)
    low, high = Fraction(domain.low), Fraction(domain.high)
    return min(max((Fraction(record) - low) / (high - low) * 2**level - code, Fraction(0)), Fraction(1))


def brute_cdf(generator: Generator, record: float) -> float:
    shares = (below_in_leaf(generator.plan.domain, level, code, record) for level, code in nodes_of(generator))
    return float(sum(Fraction(chance) * share for chance, share in zip(generator.probabilities, shares, strict=True)))


def numbers(domain: Domain) -> st.SearchStrategy[Any]:
    """Records of an ordered domain."""
    if isinstance(domain, Interval):
        return st.floats(domain.low, domain.high)
    if isinstance(domain, Time):
        root = np.zeros(1, dtype=np.uint64)
        return st.floats(0, 1).map(lambda share: domain.cell_quantile(np.array([share]), root, level=0)[0])
    if isinstance(domain, IPv4):
        return st.integers(int(domain.network.network_address), int(domain.network.broadcast_address))
    return st.integers(domain.low, domain.high)


@given(data=st.data(), generator=generators(LINES))
def test_cdf_is_the_sum_over_leaves(data: DataObject, generator: Generator) -> None:
    domain = generator.plan.domain
    margin = (domain.high - domain.low) / 9
    around = st.floats(domain.low - margin, domain.high + margin)
    points = data.draw(st.lists(st.one_of(numbers(domain), around), min_size=1, max_size=20))
    expected = [brute_cdf(generator, point) for point in points]
    np.testing.assert_allclose(generator.cdf(points).value, expected, rtol=0, atol=CLOSE)


@given(data=st.data(), generator=generators(ordered_domains()))
def test_cdf_is_monotone_from_0_to_1(data: DataObject, generator: Generator) -> None:
    domain = generator.plan.domain
    low, high = domain.cell_quantile(np.array([0.0, 1.0]), np.zeros(2, dtype=np.uint64), level=0).astype(
        f"M8[{domain.unit}]" if isinstance(domain, Time) else object
    )
    step = np.timedelta64(1, domain.unit) if isinstance(domain, Time) else 1
    points = np.array([low - step, *sorted(data.draw(st.lists(numbers(domain), max_size=30))), high, high + step])
    answers = generator.cdf(points).value
    assert (np.diff(answers) >= 0).all()
    assert (answers[0], answers[-2], answers[-1]) == (0, 1, 1)


@given(data=st.data(), generator=generators(LINES))
def test_mass_is_a_difference_of_the_cdf(data: DataObject, generator: Generator) -> None:
    domain = generator.plan.domain
    low, high = sorted(data.draw(st.tuples(numbers(domain), numbers(domain))))
    before = low - 1 if isinstance(domain, Integers) else low
    assert generator.mass((low, high)).value == pytest.approx(
        float(generator.cdf(high).value - generator.cdf(before).value), abs=CLOSE
    )
    assert generator.mass((None, high)).value == pytest.approx(float(generator.cdf(high)), abs=CLOSE)
    assert generator.mass((low, None)).value == pytest.approx(float(1 - generator.cdf(before).value), abs=CLOSE)
    assert generator.mass((None, None)).value == pytest.approx(1, abs=CLOSE)


@given(generator=generators(integers()), shares=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_quantile_is_the_least_integer_with_the_share(generator: Generator, shares: list[float]) -> None:
    shares.sort()
    records = generator.quantile(shares).value
    assert (np.diff(records) >= 0).all()
    assert (generator.cdf(records).value >= np.array(shares) - CLOSE).all()
    assert (generator.cdf(records - 1).value <= np.array(shares) + CLOSE).all()


@given(
    generator=generators(ordered_domains().filter(lambda domain: isinstance(domain, Interval))),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_cdf_of_quantile_is_the_share(generator: Generator, shares: list[float]) -> None:
    """Up to the float spacing at the bounds of the interval."""
    domain = generator.plan.domain
    shares.sort()
    records = generator.quantile(shares).value
    step = np.spacing(max(abs(domain.low), abs(domain.high)))
    assert (np.diff(records) >= 0).all()
    assert (generator.cdf(records + 4 * step).value >= np.array(shares) - CLOSE).all()
    assert (generator.cdf(records - 4 * step).value <= np.array(shares) + CLOSE).all()


@given(data=st.data(), generator=generators(linear_intervals()))
def test_quantile_inverts_cdf_where_mass_is_positive(data: DataObject, generator: Generator) -> None:
    domain = generator.plan.domain
    span = domain.high - domain.low
    record = data.draw(st.floats(domain.low + span / 1000, domain.high - span / 1000))
    share = float(generator.cdf(record))
    near = generator.cdf([record - span / 1000, record + span / 1000]).value
    assume(near[0] + 1e-5 < share < near[1] - 1e-5)
    assert float(generator.quantile(share)) == pytest.approx(record, rel=0, abs=span * 1e-9)


def test_quantiles_of_0_and_1_are_ends_of_support() -> None:
    assert histogram(Interval(0, 1), 2, [0, 3, 1, 0]).quantile([0, 1]).value.tolist() == [0.25, 0.75]
    assert histogram(Integers(10, 17), 2, [0, 3, 1, 0]).quantile([0, 1]).value.tolist() == [12, 15]
    assert histogram(Integers(10, 14), 2, [0, 0, 1, 9]).quantile([0, 1]).value.tolist() == [14, 14]


@pytest.mark.parametrize("domain", [Interval(0.1, 0.7), Integers(0, 7), Integers(-4, 11)], ids=repr)
def test_quantiles_do_not_depend_on_the_partition(domain: Domain) -> None:
    shares = np.arange(9) / 8
    whole, cut = histogram(domain, 0, [8]), histogram(domain, 3, [1] * 8)
    assert whole.quantile(shares).value.tolist() == pytest.approx(cut.quantile(shares).value.tolist(), rel=1e-12)


def test_quantile_at_a_gap_is_its_lower_end() -> None:
    generator = histogram(Interval(0, 1), 2, [1, 0, 0, 1])
    assert generator.quantile([0.5, 0.75]).value.tolist() == [0.25, 0.875]


@pytest.mark.parametrize("shares", [-0.1, 1.1, float("nan"), [0.5, 2]])
def test_shares_outside_0_to_1_are_refused(shares: Any) -> None:
    with pytest.raises(QueryError, match="between 0 and 1"):
        histogram(Interval(0, 1), 1, [3, 4]).quantile(shares)


@pytest.mark.parametrize("domain", [Interval(0, 1), Integers(0, 9)], ids=repr)
def test_cdf_of_nan_is_refused(domain: Domain) -> None:
    with pytest.raises(QueryError, match="NaN"):
        histogram(domain, 1, [3, 4]).cdf([0.5, float("nan")])


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_shapes_of_cdf_and_quantile(shape: tuple[int, ...]) -> None:
    generator = histogram(Interval(0, 1), 2, [1, 2, 0, 3])
    question = np.linspace(0, 1, math.prod(shape)).reshape(shape)
    for ask in (generator.cdf, generator.quantile):
        values = ask(question).value
        assert np.shape(values) == shape
        assert np.ravel(values).tolist() == [ask(number).value for number in question.ravel()]


def test_fractional_values_of_integers() -> None:
    generator = histogram(Integers(0, 3), 2, [1, 2, 3, 4])
    assert generator.cdf([-0.5, 0, 0.5, 2.7, 3, 3.5]).value.tolist() == pytest.approx([0, 0.1, 0.1, 0.6, 1, 1])
    assert generator.mass((0.5, 2.5)).value == pytest.approx(0.5)
    assert generator.mass((1, 2)).value == pytest.approx(0.5)
    with pytest.warns(PrivhpWarning, match="no record of the domain is in the region"):
        assert generator.mass((2.2, 2.8)).value == 0
    assert generator.mass((2.8, None)).value == pytest.approx(0.4)
    assert generator.mass((-7, 70)).value == pytest.approx(1)


def test_adjacent_huge_integers_are_distinguished() -> None:
    domain, record = Integers(0, 2**60), 2**59 + 12345
    plan = Plan.paper(
        domain, epsilon=1, expected_records=1000, hot_cells=2, depth=61, exact_depth=2, sketch_rows=1, hash_seed=3
    )
    generator = Generator(release_of(plan, np.full(1000, record)))
    assert generator.cdf([record - 1, record, record + 1]).value.tolist() == [0, 1, 1]
    assert generator.mass((record, record)).value == 1
    assert generator.quantile([0, 0.5, 1]).value.tolist() == [record] * 3
    assert set(generator.sample(50).tolist()) == {record}


def test_mass_of_prefixes() -> None:
    generator = histogram(IPv4(), 3, [1, 2, 3, 4, 0, 0, 0, 0])
    assert generator.mass("0.0.0.0/0").value == pytest.approx(1)
    assert generator.mass("32.0.0.0/3").value == pytest.approx(0.2)
    assert generator.mass("0.0.0.0/2").value == pytest.approx(0.3)
    assert generator.mass("96.0.0.0/5").value == pytest.approx(0.1)
    assert generator.mass("96.0.0.1/32").value == pytest.approx(0.4 / 2**29)


def rectangle(domain: Box, level: int, code: int) -> list[tuple[float, float]]:
    """Sides of a cell, by halving the box along the path to the cell."""
    sides = [(axis.low, axis.high) for axis in domain.axes]
    for step, axis in enumerate(domain.split_axes[:level]):
        low, high = sides[axis]
        middle = (low + high) / 2
        sides[axis] = (middle, high) if code >> (level - 1 - step) & 1 else (low, middle)
    return sides


def ranges(low: float, high: float) -> st.SearchStrategy[tuple[float, ...]]:
    return st.lists(st.floats(low - 0.1, high + 0.1), min_size=2, max_size=2).map(sorted).map(tuple)


@given(
    generator=generators(st.just(Box([(0.0, 1.0), (-2.0, 2.0), (0.0, 0.5)]))),
    region=st.tuples(st.none() | ranges(0, 1), st.none() | ranges(-2, 2), st.none() | ranges(0, 0.5)),
)
def test_mass_of_a_box_is_the_sum_over_leaves(generator: Generator, region: tuple[Any, ...]) -> None:
    expected = 0.0
    for (level, code), chance in zip(nodes_of(generator), generator.probabilities.tolist(), strict=True):
        sides = rectangle(generator.plan.domain, level, code)
        wanted = [side if ends is None else ends for side, ends in zip(sides, region, strict=True)]
        overlaps = [
            max(min(side[1], ends[1]) - max(side[0], ends[0]), 0.0) / (side[1] - side[0])
            for side, ends in zip(sides, wanted, strict=True)
        ]
        expected += chance * math.prod(overlaps)
    assert generator.mass(region).value == pytest.approx(expected, abs=CLOSE)


@pytest.mark.parametrize(
    ("domain", "region", "close"),
    [
        (Interval(0, 1), (0.01, 0.04), 4e-4),
        (Interval(0, 1), (0.03, None), 4e-4),
        (Interval(1e-3, 2, scale="log"), (0.01, 0.04), 4e-4),
        (Integers(0, 100), (1, 3), 4e-4),
        (Box([(0, 1), (0, 1)]), ((0, 0.03), (0.01, 0.5)), 0.03),
        (Box([(0, 1), (0, 1)]), ((0.02, None), None), 0.03),
    ],
)
def test_mass_is_the_share_of_samples(domain: Domain, region: Any, close: float) -> None:
    """Balanced samples on a line deviate by at most two records at each end, in a box by less than independent ones."""
    real = lognormal(2000)
    records = {"box": np.stack([real, real[::-1]], axis=1), "integers": (real * 100).astype(np.int64)}
    plan = Plan.paper(domain, epsilon=2, expected_records=2000, hot_cells=8, hash_seed=4)
    generator = Generator(release_of(plan, records.get(domain.kind, real)))
    samples = generator.sample(10_000, rng=6).reshape(10_000, -1)
    inside = np.ones(10_000, dtype=bool)
    for column, ends in zip(samples.T, region if domain.kind == "box" else [region], strict=True):
        low, high = ends or (None, None)
        inside &= (column >= (-math.inf if low is None else low)) & (column <= (math.inf if high is None else high))
    assert 0.05 < inside.mean() < 0.95
    assert generator.mass(region).value == pytest.approx(inside.mean(), abs=close)


def test_box_has_no_cdf() -> None:
    generator = histogram(Box([(0, 1), (0, 1)]), 2, [1, 2, 3, 4])
    with pytest.raises(DomainError, match="no order"):
        generator.cdf([[0.5, 0.5]])
    with pytest.raises(DomainError, match="no order"):
        generator.quantile(0.5)


@given(generator=generators())
def test_probabilities_are_read_only_and_sum_to_1(generator: Generator) -> None:
    assert generator.probabilities.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="read-only"):
        generator.probabilities[0] = 1


def test_total_is_the_noisy_root() -> None:
    generator = Summary(Plan.paper(Interval(0, 1), epsilon=1, expected_records=100, hot_cells=2)).release()
    assert generator.total == pytest.approx(max(int(generator.release.counts[0][0]), 0))


def test_repr_of_generator() -> None:
    generator = histogram(Interval(0, 1), 1, [3, 4])
    assert repr(generator) == "Generator(Interval(0, 1), epsilon=1, 2 leaves, about 7 records)"


# Bytes, pickles and frames


def test_generator_to_bytes_and_back() -> None:
    generator = histogram(Interval(0, 1), 2, [1, 2, 0, 3])
    data = generator.to_bytes()
    assert isinstance(data, bytes)
    again = Generator.from_bytes(data)
    assert again.release == generator.release
    assert again.sample(10, rng=1).tolist() == generator.sample(10, rng=1).tolist()
    assert again.to_bytes() == data
    with pytest.raises(FileError):
        Generator.from_bytes(data[:-1])


def test_bytes_are_those_of_the_file(tmp_path: Path) -> None:
    generator = histogram(Interval(0, 1), 2, [1, 2, 0, 3])
    save(generator, tmp_path / "a.privhp")
    assert (tmp_path / "a.privhp").read_bytes() == generator.to_bytes()


def test_pickle_holds_release_and_frame() -> None:
    generator = histogram(Interval(0, 1), 2, [1, 2, 0, 3])
    generator.frame = "pandas"
    again = pickle.loads(pickle.dumps(generator))
    assert again.release == generator.release
    assert again.frame == "pandas"


COLUMNS = {"fare": np.linspace(0, 9, 100), "kind": ["a", "b"] * 50}
FRAMES: dict[str, Any] = {
    "pandas": lambda: pytest.importorskip("pandas").DataFrame(COLUMNS),
    "polars": lambda: pytest.importorskip("polars").DataFrame(COLUMNS),
    "pyarrow": lambda: pytest.importorskip("pyarrow").table(COLUMNS),
}


@pytest.mark.parametrize("library", FRAMES)
def test_sample_has_the_kind_of_the_fitted_frame(library: str) -> None:
    data = FRAMES[library]()
    generator = fit(data, Table(fare=Interval(0, 10), kind=Categories(["a", "b"])), epsilon=1, expected_records=100)
    assert type(generator.sample(5, rng=1)) is type(data)
    assert list(dict(generator.sample(5, frame="numpy", rng=1))) == ["fare", "kind"]
    assert type(generator.sample(5, where={"kind": "a"}, rng=1)) is type(data)
    assert type(generator.marginal(["fare"]).sample(5)) is type(data)
    assert isinstance(generator.marginal("fare").sample(5), np.ndarray)
    out = generator.domain.decode(np.zeros(5, dtype=np.uint64), level=0, rng=np.random.default_rng(0))
    assert generator.sample(out=out) is out
    assert isinstance(Generator.from_bytes(generator.to_bytes()).sample(5), dict)


def test_sample_of_fitted_dict_is_dict() -> None:
    generator = fit(COLUMNS, Table(fare=Interval(0, 10), kind=Categories(["a", "b"])), epsilon=1, expected_records=100)
    assert isinstance(generator.sample(5), dict)
    assert type(generator.sample(5, frame="pandas")).__module__.startswith("pandas")

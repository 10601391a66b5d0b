"""Domains with a step: declarations, files, queries and samples."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privhp
from privhp import Box, Domain, DomainError, Generator, Geo, Integers, Interval, Nullable, Table
from privhp.domains.conditions import read_condition
from privhp.domains.short_forms import parse_columns, parse_domain
from privhp.evaluate import grid_masses

CENTS = Interval(0, 1000, step="0.01")
PRICES = [19.99, 4.99, 4.99, 0.1 + 0.2, 1000.0, 0.0, 7.0]
OFFSETS = [1999, 499, 499, 30, 100_000, 0, 700]


@pytest.mark.parametrize("step", ["0.01", 0.01, "0.010", "1e-2", Decimal("0.01"), np.float64(0.01)])
def test_one_spec_for_every_way_to_write_a_step(step: Any) -> None:
    domain = Interval(0, 1000, step=step)
    assert domain == CENTS
    assert json.loads(json.dumps(domain.spec()))["step"] == "0.01"
    assert repr(domain) == 'Interval(0, 1000, step="0.01")'


def test_short_forms_and_files(tmp_path: Path) -> None:
    assert parse_domain("interval:0:1000:step=0.01") == CENTS
    assert parse_domain("box:0:1,0:2:step=1e-3:clamp") == Box([(0, 1), (0, 2)], step="0.001", outside="clamp")
    assert parse_domain("geo:-9:49.8:2:61:step=0.0001") == Geo(-9, 49.8, 2, 61, step="0.0001")
    assert parse_columns(["fare=interval:0:1000:step=0.01:nullable"]) == Table({"fare": Nullable(CENTS)})
    for written in ("0.01", '"0.01"'):
        (tmp_path / "fare.toml").write_text(f'kind = "interval"\nlow = 0\nhigh = 1000\nstep = {written}\n')
        assert privhp.read_domain(tmp_path / "fare.toml") == CENTS


def test_a_spec_without_a_step_is_unchanged() -> None:
    assert "step" not in Interval(0, 1000).spec()
    assert "step" not in Box([(0, 1)]).spec()
    assert Domain.from_spec({"kind": "interval", "low": 0, "high": 1}).spec() == Interval(0, 1).spec()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "0.03"}, "whole number of steps apart, got 0.0 and 1.0 with step 0.03; the last value would be 0.99"),
        ({"step": 0}, "positive decimal"),
        ({"step": "-0.1"}, "positive decimal"),
        ({"step": "a"}, "positive decimal"),
        ({"step": "inf"}, "positive decimal"),
        ({"step": True}, "positive decimal"),
        ({"step": [0.1]}, "positive decimal"),
        ({"step": 2}, "between 1e-22 and the width"),
        ({"step": "1e-23"}, "between 1e-22 and the width"),
        ({"step": "1e99999"}, "between 1e-22 and the width"),
        ({"step": "1e-16"}, "a width of at most 15 digits, which float64 holds"),
        ({"step": "1e-7", "dtype": "float32"}, "a width of at most 6 digits, which float32 holds"),
        ({"step": 0.1 + 0.2}, "whole number of steps apart"),
        ({"step": "0.1", "cuts": [0.5]}, "leave out the step or cuts"),
    ],
)
def test_refused_steps(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        Interval(0, 1, **options)


def test_widths_have_at_most_15_digits() -> None:
    """Otherwise rounding errors could move a value to the cell of its neighbour."""
    Interval(-5e12, 5e12, step="0.01")
    with pytest.raises(DomainError, match="a width of at most 15 digits"):
        Interval(-1e13, 1e13, step="0.01")


def test_no_step_on_a_log_scale() -> None:
    with pytest.raises(DomainError, match='linear scale, without cuts; leave out the step or scale="log"'):
        Interval(1, 2, step="0.1", scale="log")


@pytest.mark.parametrize(
    "batch",
    [
        PRICES,
        np.array(PRICES),
        [str(price) for price in PRICES],
        [Decimal(repr(price)) for price in PRICES],
        pd.Series(PRICES),
        pa.array(PRICES),
        pa.array([Decimal(f"{price:.2f}") for price in PRICES], pa.decimal128(12, 2)),
        np.array(PRICES, dtype=np.float32),
    ],
    ids=["list", "numpy", "text", "decimals", "pandas", "arrow", "decimal128", "float32"],
)
def test_every_kind_of_batch(batch: Any) -> None:
    assert CENTS.encode(batch, level=CENTS.depth).tolist() == OFFSETS


def test_rounding_and_bounds() -> None:
    dropped, clamped = CENTS, Interval(0, 1000, step="0.01", outside="clamp")
    numbers = [19.994, 19.996, -0.004, -0.006, 1000.004, 1000.006, float("nan"), float("inf")]
    outside = 2**64 - 1
    assert dropped.encode(numbers, level=17).tolist() == [1999, 2000, 0, outside, 100_000, outside, outside, outside]
    assert clamped.encode(numbers, level=17).tolist() == [1999, 2000, 0, 0, 100_000, 100_000, outside, 100_000]


def test_sums_of_decimals_are_decimals() -> None:
    """An end of a range that is off by a rounding error is the value."""
    tenths, root = Interval(0, 1, step="0.1"), np.zeros(1, dtype=np.uint64)
    assert 0.1 + 0.2 > 0.3
    assert 0.1 + 0.7 < 0.8
    assert tenths.overlap((0.1 + 0.2, 0.1 + 0.7), root, level=0) == pytest.approx(6 / 11)
    assert tenths.cell_cdf(np.array([0.1 + 0.7]), root, level=0) == pytest.approx(9 / 11)
    assert read_condition("value >= 0.30000000000000004 and value < 0.7999999999999999", tenths) == (0.3, 0.7)


def heaped() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Prices of which 30% are 19.99 and 20% are 5."""
    rng = np.random.default_rng(5)
    prices = np.round(rng.lognormal(2, 0.7, 100_000), 2).clip(0, 1000)
    prices[:30_000], prices[30_000:50_000] = 19.99, 5
    return rng.permutation(prices)


@pytest.fixture(scope="module")
def generator() -> Generator:
    return privhp.fit(heaped(), domain=CENTS, epsilon=1, expected_records=100_000)


def test_answers(generator: Generator) -> None:
    prices = heaped()
    for condition, share in {
        "value = 19.99": np.mean(prices == 19.99),
        "value >= 5 and value <= 19.99": np.mean((prices >= 5) & (prices <= 19.99)),
        "value > 5 and value < 19.99": np.mean((prices > 5) & (prices < 19.99)),
        "value < 5.001": np.mean(prices <= 5),
    }.items():
        assert generator.mass(read_condition(condition, CENTS)).value == pytest.approx(share, abs=0.01)
    assert generator.cdf(19.99).value - generator.cdf(19.989).value == pytest.approx(0.3, abs=0.01)
    assert generator.quantile(np.mean(prices < 19.99) + 0.1).value == 19.99
    assert (19.99, 19.99) in [hitter.region for hitter in generator.heavy_hitters(0.25)]
    with pytest.raises(DomainError, match="not a possible value"):
        read_condition("value = 19.995", CENTS)


def test_samples_are_decimals(generator: Generator) -> None:
    for sample in (generator.sample(50_000), generator.sample(50_000, method="independent")):
        assert sample.dtype == np.float64
        assert all(value == round(value, 2) for value in sample.tolist())
        assert np.mean(sample == 19.99) == pytest.approx(0.3, abs=0.02)
    assert set(generator.sample(100, where=(4.995, 5.004)).tolist()) == {5.0}


def test_release_files(generator: Generator, tmp_path: Path) -> None:
    privhp.save(generator, tmp_path / "prices.privhp")
    again = privhp.load(tmp_path / "prices.privhp")
    assert again.domain == CENTS
    assert np.array_equal(again.sample(1000, rng=1), generator.sample(1000, rng=1))


def test_single_precision_prints_decimals() -> None:
    domain = Interval(0, 1000, step="0.01", dtype="float32")
    drawn = domain.to_output(domain.decode(np.array(OFFSETS, dtype=np.uint64), level=17, rng=np.random.default_rng(0)))
    assert drawn.dtype == np.float32
    assert [str(value) for value in drawn] == ["19.99", "4.99", "4.99", "0.3", "1000.0", "0.0", "7.0"]
    assert domain.overlap((19.99, 19.99), np.array([1999], dtype=np.uint64), level=17) == 1


def test_columns_of_tables(tmp_path: Path) -> None:
    table = Table({"fare": Nullable(CENTS), ("x", "y"): Box([(0, 1), (0, 1)], step="0.1"), "kind": Integers(0, 3)})
    rng = np.random.default_rng(2)
    fares = [None if rng.random() < 0.1 else Decimal(int(rng.integers(0, 500))) / 100 for _ in range(3000)]
    frame = pa.table(
        {
            "fare": pa.array(fares, pa.decimal128(8, 2)),
            "x": np.round(rng.random(3000), 1),
            "y": np.round(rng.random(3000), 1),
            "kind": rng.integers(0, 4, 3000),
        }
    )
    pq.write_table(frame, tmp_path / "trips.parquet")
    generator = privhp.fit(tmp_path / "trips.parquet", domain=table, epsilon=4, expected_records=3000)
    sample = generator.sample(500)
    for name, digits in {"fare": 2, "x": 1, "y": 1}.items():
        values = np.ma.compressed(sample[name])
        assert values.tolist() == [round(value, digits) for value in values.tolist()]
    assert generator.mass(read_condition("x = 0.3 and fare is not null", table)).value < 0.5


def test_places() -> None:
    """A heap at one rounded place stays there, and regions are closed."""
    domain = Geo(-74.3, 40.5, -73.7, 40.9, step="0.0001")
    rng = np.random.default_rng(4)
    places = np.round(rng.normal([-74, 40.7], 0.03, (50_000, 2)), 4)
    places[:15_000] = -73.9857, 40.7484
    generator = privhp.fit(rng.permutation(places), domain=domain, epsilon=1, expected_records=50_000, memory="4 MiB")
    sample = generator.sample(20_000)
    assert sample.tolist() == np.round(sample, 4).tolist()
    assert (sample == [-73.9857, 40.7484]).all(axis=1).mean() == pytest.approx(0.3, abs=0.02)
    assert generator.mass((-73.9857, 40.7484, -73.9857, 40.7484)).value == pytest.approx(0.3, abs=0.02)
    assert (-73.9857, 40.7484, -73.9857, 40.7484) in [own.region for own in generator.heavy_hitters(0.25)]
    assert Domain.from_spec(json.loads(json.dumps(domain.spec()))) == domain
    with pytest.raises(DomainError, match="whole number of steps apart"):
        Geo(step="0.7")


def test_grid_of_a_box() -> None:
    """The cells of a box with a step are shares of its rectangle, also where the finest level has empty cells."""
    box = Box([(0, 2), (0, 0.5)], step="0.1")
    rng = np.random.default_rng(3)
    points = np.round(rng.random((50_000, 2)) * [2, 0.5], 1)
    generator = privhp.fit(points, domain=box, epsilon=5, expected_records=50_000)
    assert np.abs(grid_masses(generator, cells=2) - grid_masses(points, domain=box, cells=2)).max() < 0.1
    assert grid_masses(generator, cells=97).sum() == pytest.approx(1)


# Whole numbers without a step


def whole_numbers(kind: str, folder: Path) -> Any:
    """The numbers 3 and 4 in a column `n` of a type of integers."""
    table = {"n": np.array([3, 4], dtype=np.int32)}
    if kind == "parquet":
        pq.write_table(pa.table(table), folder / "n.parquet")
    return {
        "array": table["n"],
        "dict": table,
        "pandas": pd.DataFrame(table),
        "pandas with null": pd.DataFrame(table).astype("Int32"),
        "arrow": pa.table(table),
        "parquet": folder / "n.parquet",
        "batches": iter([table["n"]] * 3),
    }[kind]


KINDS = ["array", "dict", "pandas", "pandas with null", "arrow", "parquet", "batches"]


@pytest.mark.parametrize("kind", KINDS)
def test_warning_of_whole_numbers_in_an_interval(kind: str, tmp_path: Path) -> None:
    data = whole_numbers(kind, tmp_path)
    with pytest.warns(UserWarning, match="holds whole numbers .* declared as interval: .*; declare it as") as caught:
        privhp.fit(data, Interval(0, 10), epsilon=1, expected_records=1000)
    (message,) = [str(one.message) for one in caught if "whole numbers" in str(one.message)]
    assert "3" not in message.replace("int32", "").replace("Int32", "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "domain",
    [Integers(0, 10), Interval(0, 10, step=1), Interval(1, 10, scale="log"), Interval(0, 10, cuts=[3])],
    ids=repr,
)
def test_no_warning(kind: str, domain: Domain, tmp_path: Path) -> None:
    privhp.fit(whole_numbers(kind, tmp_path), domain, epsilon=1, expected_records=1000)


def test_types_decide_about_the_warning_not_values() -> None:
    privhp.fit([3, 4], Interval(0, 10), epsilon=1, expected_records=1000)
    privhp.fit(np.array([3.0, 4.0]), Interval(0, 10), epsilon=1, expected_records=1000)
    privhp.fit(np.array([[3.0, 4.0]]), Box([(0, 10)] * 2), epsilon=1, expected_records=1000)
    with pytest.warns(UserWarning, match="declared as box: .*; declare a step"):
        privhp.fit(np.array([[3, 4]]), Box([(0, 10)] * 2), epsilon=1, expected_records=1000)
    table = Table(n=Nullable(Interval(0, 10)), m=Integers(0, 10))
    with pytest.warns(UserWarning, match="column 'n' holds whole numbers"):
        privhp.fit({"m": np.array([3]), "n": np.array([4])}, table, epsilon=1, expected_records=1000)


def test_bounds_and_regions_may_be_decimals() -> None:
    domain = Interval(Decimal(0), Decimal("100.5"), step=Decimal("0.01"))
    assert domain == Interval(0, 100.5, step="0.01")
    codes = np.arange(8, dtype=np.uint64)
    shares = [domain.overlap(region, codes, level=3) for region in ((Decimal("5.00"), Decimal("20.5")), (5.0, 20.5))]
    assert np.array_equal(*shares)


@pytest.mark.parametrize("bound", ["sNaN", "NaN", "Infinity", "1e400"])
def test_decimals_that_are_no_finite_numbers_are_refused(bound: str) -> None:
    with pytest.raises(DomainError, match="expected a finite number"):
        Interval(0, Decimal(bound))

"""Fits on a local session of Spark that retries tasks: the counters of one process, and refused queries."""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from pyarrow import parquet
from pyspark.sql import SparkSession, functions

import privhp as hp
from engines.faulty_folds import FaultyFold, struck
from engines.spark_sessions import counters, one_process, released_counters, spark_session, write_shards
from learning_runs import ingest, no_noise, plan_of
from privhp.engines import PassFold, fit_passes, spark
from spies import record_draws
from strategies import integers, plans

VALUES = np.random.default_rng(0).integers(0, 1024, 3000)
DOMAIN = hp.Table(x=hp.Integers(0, 1023))
pytestmark = pytest.mark.filterwarnings("default")  # of Spark


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    with spark_session("local[2,4]") as started:
        yield started


@pytest.fixture(scope="module")
def stored(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The values in seven files."""
    return session.read.parquet(write_shards(tmp_path_factory.mktemp("stored") / "x", VALUES, 7))


def arrange(frame: Any, way: str) -> Any:
    """The same rows in other shards and another order."""
    ways = {
        "files": lambda: frame,
        "fewer": lambda: frame.coalesce(2),
        "hashed": lambda: frame.repartition(9, "x"),
        "skewed": lambda: frame.repartition(3, "k"),
        "sorted": lambda: frame.orderBy("x"),
        "union": lambda: frame.where("x < 500").union(frame.where("x >= 500")),
        "cached": lambda: frame.where("x >= 0").cache(),
    }
    return ways[way]()


@pytest.mark.parametrize("way", ["files", "fewer", "hashed", "skewed", "sorted", "union", "cached"])
def test_counters_of_one_process(way: str, stored: Any) -> None:
    fold = PassFold(hp.Plan.auto(hp.Integers(0, 1023), epsilon=1, expected_records=3000, memory=8192))
    frame = arrange(stored, way).select("x")
    assert counters(fold.merge(spark.count_frame(frame, fold))) == one_process(fold, VALUES)


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_counters_of_any_plan(data: st.DataObject, session: SparkSession, tmp_path: Path) -> None:
    plan = data.draw(plans(integers()))
    numbers = st.integers(max(plan.domain.low - 1, -(2**63)), min(plan.domain.high + 1, 2**63 - 1))
    values = np.array(data.draw(st.lists(numbers, max_size=40)), dtype=np.int64)
    parquet.write_table(pa.table({"x": values}), tmp_path / "x.parquet")
    stored = session.read.parquet(str(tmp_path)).repartition(data.draw(st.integers(1, 12)), "x")
    fold = PassFold(plan)
    assert counters(fold.merge(spark.count_frame(stored, fold))) == one_process(fold, values)


def test_all_passes_equal_one_process(stored: Any) -> None:
    plan = plan_of("1", "1")
    with record_draws(no_noise):
        expected = ingest(plan, [VALUES]).summary.close()
        generator = spark.fit(stored, plan=plan, columns=["x"])
    assert released_counters(generator.release.counts) == released_counters(expected.counts)
    assert generator.release.plan.partition == expected.plan.partition


def test_failed_tasks_of_each_pass_and_stage(stored: Any, tmp_path: Path) -> None:
    plan = plan_of("1", "1")

    def run_pass(fold: PassFold) -> list[bytes]:
        return spark.count_frame(stored.select("x"), FaultyFold.arm(fold, tmp_path, "raise", "count", "merge"))

    with record_draws(no_noise):
        expected = ingest(plan, [VALUES]).summary.close()
        generator = fit_passes(plan, run_pass)
    assert released_counters(generator.release.counts) == released_counters(expected.counts)
    assert struck(tmp_path) == 6


def test_coins_are_drawn_in_each_attempt(stored: Any, tmp_path: Path) -> None:
    fold = PassFold(hp.Plan.auto(hp.Integers(0, 1023), epsilon=1, expected_records=9, memory=2**14), Fraction(1, 4))
    faulty = partial(FaultyFold.arm, fold, tmp_path, "raise", "count")
    samples = [fold.merge(spark.count_frame(stored.select("x"), own)) for own in (fold, faulty(), faulty())]
    sizes = [max(sum(own) for own in counters(sample).values()) for sample in samples]
    assert all(500 < size < 1000 for size in sizes)
    assert len({str(counters(sample)) for sample in samples}) == 3


def test_fit(stored: Any) -> None:
    generator = spark.fit(stored, DOMAIN, epsilon=1, expected_records=3000)
    assert abs(generator.total - 3000) < 100
    assert generator.release.plan.passes == 3


def test_no_rows(session: SparkSession, stored: Any) -> None:
    for frame in (stored.where("x < 0"), session.range(0, 0, 1, 3).toDF("x")):
        assert abs(spark.fit(frame, DOMAIN, epsilon=1, expected_records=3000, passes=2).total) < 100


def test_refused_frames(session: SparkSession, stored: Any) -> None:
    fit = partial(spark.fit, domain=DOMAIN, epsilon=1, expected_records=3000)
    for frame in (
        stored.repartition(4),
        stored.repartition(4, functions.rand()),
        stored.sample(0.5).repartition(4, "x"),
        stored.limit(10),
        stored.dropDuplicates(["k"]).repartition(4, "x"),
        session.createDataFrame([(1, 2)], ["x", "k"]),
    ):
        with pytest.raises(hp.RecordsError, match="may count a row twice"):
            fit(frame)
    with pytest.raises(hp.RecordsError, match="no such name"):
        fit(stored.select("k"))
    with pytest.raises(hp.RecordsError, match="declared as integers"):
        fit(stored.selectExpr("array(x) as x"))


def test_persons(session: SparkSession, stored: Any) -> None:
    """One person, however many records that person has, adds at most c, and changes no other person's records."""
    owned = stored.withColumn("who", functions.col("x") % 300).repartition(5, "k")
    heavy = session.range(2000).selectExpr("id % 1024 as x", "id % 5 as k", "7000L as who")
    plan = hp.Plan.auto(DOMAIN, epsilon=1, expected_records=900, passes=1, max_records_per_person=3, memory=8192)
    with record_draws(no_noise):
        first, again, more = (
            released_counters(spark.fit(frame, plan=plan, person="who").release.counts)
            for frame in (owned, owned.orderBy("x"), owned.union(heavy))
        )
    assert first == again
    for level, counts in first.items():
        assert sum(counts) == np.minimum(np.bincount(VALUES % 300), 3).sum()
        moved = np.array(more[level]) - np.array(counts)
        assert moved.min() == 0
        assert moved.sum() == 3


def test_persons_without_an_id(stored: Any) -> None:
    owned = stored.withColumn("who", functions.when(functions.col("x") < 900, functions.col("x").cast("string")))
    settings = {"epsilon": 1, "expected_records": 900, "passes": 1, "max_records_per_person": 3, "person": "who"}
    with pytest.raises(Exception, match="a row has no person"):
        spark.fit(owned, DOMAIN, **settings)
    with record_draws(no_noise):
        generator = spark.fit(owned, DOMAIN, **settings, null_person="one")
        named = spark.fit(owned.where("who is not null"), DOMAIN, **settings)
    assert round(float(generator.total) - float(named.total)) == 3
    with pytest.raises(hp.RecordsError, match="integers or text"):
        spark.fit(owned.withColumn("who", functions.lit(0.5)), DOMAIN, **settings)
    with pytest.raises(hp.RecordsError, match="may count a row twice"):
        spark.fit(owned.sample(0.5), DOMAIN, **settings)

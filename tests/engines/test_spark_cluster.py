"""Fits on executors of their own processes, with speculation: executors are killed in each pass and stage."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from engines.faulty_folds import FaultyFold, struck
from engines.spark_sessions import counters, one_process, released_counters, spark_session, write_shards
from learning_runs import ingest, no_noise, plan_of
from privhp.collect.learning import pass_plan
from privhp.engines import PassFold, fit_passes, spark
from spies import record_draws

VALUES = np.random.default_rng(0).integers(0, 1024, 3000)
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.2",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "200ms",
    "spark.executor.memory": "512m",
}
pytestmark = pytest.mark.filterwarnings("default")  # of Spark


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    with spark_session("local-cluster[2,1,600]", **SPECULATION) as started:
        yield started


@pytest.fixture(scope="module")
def stored(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The values in six files."""
    return session.read.parquet(write_shards(tmp_path_factory.mktemp("stored") / "x", VALUES, 6))


@pytest.mark.parametrize("hashed", [False, True])
def test_killed_executors_of_each_pass_and_stage(hashed: bool, stored: Any, tmp_path: Path) -> None:
    plan = plan_of("1", "1")
    frame = (stored.repartition(6, "x") if hashed else stored).select("x")

    def run_pass(fold: PassFold) -> list[bytes]:
        return spark.count_frame(frame, FaultyFold.arm(fold, tmp_path, "kill", "count", "merge"))

    with record_draws(no_noise):
        expected = ingest(plan, [VALUES]).summary.close()
        generator = fit_passes(plan, run_pass)
    assert released_counters(generator.release.counts) == released_counters(expected.counts)
    assert struck(tmp_path) == 6


def test_speculative_attempts_count_once(stored: Any, tmp_path: Path) -> None:
    fold = PassFold(pass_plan(plan_of("1"), 0))
    slow = FaultyFold.arm(fold, tmp_path, "wait", "count")
    assert counters(fold.merge(spark.count_frame(stored.select("x"), slow))) == one_process(fold, VALUES)
    assert struck(tmp_path) == 1

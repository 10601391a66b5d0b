"""Streaming queries of Spark: batches exactly once, through restarts and repetitions; a full refresh is refused."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import privhp as hp
from engines.spark_sessions import spark_session
from learning_runs import no_noise
from privhp.engines import spark_stream
from privhp.engines.spark_stream import BatchCounter
from spies import record_draws

PLAN = hp.Plan.auto(hp.Table(x=hp.Integers(0, 1023)), epsilon=1, expected_records=300, memory=8192)
pytestmark = pytest.mark.filterwarnings("default")  # of Spark


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    with spark_session("local[2,4]") as started:
        yield started


def add_file(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    parquet.write_table(pa.table({"x": np.arange(100) + number}), folder / f"{number}.parquet")


def run(session: SparkSession, folder: Path, counter: BatchCounter, *, by: tuple[Any, ...] = (3, "x")) -> None:
    """One run of the query over all files that are new to it."""
    stream = session.readStream.schema("x long").option("maxFilesPerTrigger", 1).parquet(str(folder / "trips"))
    writer = counter.writer(stream.where("x >= 0").repartition(*by)).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "query")).start().awaitTermination()


def test_query_is_counted_once(session: SparkSession, tmp_path: Path) -> None:
    counter = BatchCounter(tmp_path / "trips.state", PLAN)
    for number in range(2):
        add_file(tmp_path / "trips", number)
    with record_draws(no_noise):
        run(session, tmp_path, counter)
        add_file(tmp_path / "trips", 2)
        run(session, tmp_path, counter)  # restarted, with one file more

        add_file(tmp_path / "trips", 3)
        count = spark_stream.BatchCounter.count

        def counted_then_lost(*arguments: Any) -> None:
            count(*arguments)
            raise RuntimeError("the driver ends before Spark commits the batch")

        with (
            mock.patch.object(BatchCounter, "count", counted_then_lost),
            pytest.raises(StreamingQueryException, match="the driver ends"),
        ):
            run(session, tmp_path, counter)
        run(session, tmp_path, counter)  # repeats the batch
        assert round(float(counter.release().total)) == 400

        add_file(tmp_path / "trips", 4)
        run(session, tmp_path, counter)
        shutil.rmtree(tmp_path / "query")
        with pytest.raises(StreamingQueryException, match="counted twice"):
            run(session, tmp_path, counter)  # a full refresh
        assert round(float(counter.release().total)) == 100


def test_unstable_query_is_refused(session: SparkSession, tmp_path: Path) -> None:
    add_file(tmp_path / "trips", 0)
    with pytest.raises(hp.RecordsError, match="may count a row twice"):
        run(session, tmp_path, BatchCounter(tmp_path / "trips.state", PLAN), by=(3,))
    assert not (tmp_path / "trips.state").exists()

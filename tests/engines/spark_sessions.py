"""Sessions of Spark for tests, and the counters of one process."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyspark
from numpy.typing import NDArray
from pyarrow import parquet
from pyspark.sql import SparkSession

import privhp as hp
from privhp.core.cells import Counts
from privhp.engines import PassFold


@contextmanager
def spark_session(master: str, **settings: str) -> Iterator[SparkSession]:
    """A session on this machine."""
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["SPARK_WORKER_DIR"] = tempfile.mkdtemp()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(master).appName("privhp")
    common = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3", "spark.log.level": "OFF"}
    for name, value in {**common, **settings}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def write_shards(folder: Path, values: NDArray[Any], shards: int) -> str:
    """The values in as many files, so that Spark reads each in a task of its own."""
    folder.mkdir()
    for number, part in enumerate(np.array_split(values, shards)):
        parquet.write_table(pa.table({"x": part, "k": part % 5}), folder / f"{number}.parquet")
    return str(folder)


def one_process(fold: PassFold, values: NDArray[Any]) -> dict[int, list[int]]:
    """Counters of all values in one tally."""
    tally = fold.start()
    tally.add(values)
    return counters(tally.to_bytes())


def counters(data: bytes) -> dict[int, list[int]]:
    """Counters of a tally by level."""
    return {level: own.ravel().tolist() for level, own in hp.Tally.from_bytes(data).by_level().items()}


def released_counters(counts: dict[int, Counts]) -> dict[int, list[int]]:
    """Counts of a release by level."""
    return {level: own.ravel().tolist() for level, own in counts.items()}

"""A fit on Spark Connect, run in a process of its own: it prints the counters of the release, without noise."""

import json
import sys

import numpy as np
from pyspark.sql import SparkSession

from learning_runs import no_noise, plan_of
from privhp.engines import spark
from spies import record_draws

session = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(session).__module__
frame = session.read.parquet(sys.argv[1])
with record_draws(no_noise):
    generator = spark.fit(frame, plan=plan_of("1", "1"), columns=["x"])
print(json.dumps({str(level): np.ravel(own).tolist() for level, own in generator.release.counts.items()}))  # noqa: T201 - the test reads it
session.stop()

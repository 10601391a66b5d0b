"""Fits on Spark Connect, which has no RDDs, in a process without a classic session."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from engines.spark_sessions import released_counters, write_shards
from learning_runs import ingest, no_noise, plan_of
from spies import record_draws

TESTS = Path(__file__).parents[1]
VALUES = np.random.default_rng(0).integers(0, 1024, 3000)


def test_all_passes_equal_one_process(tmp_path: Path) -> None:
    stored = write_shards(tmp_path / "x", VALUES, 5)
    script = [sys.executable, str(TESTS / "engines" / "connect_fit.py"), stored]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment.pop("SPARK_HOME", None)
    done = subprocess.run(script, env=environment, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True)
    with record_draws(no_noise):
        expected = ingest(plan_of("1", "1"), [VALUES]).summary.close()
    counts = {int(level): own for level, own in json.loads(done.stdout.splitlines()[-1]).items()}
    assert counts == released_counters(expected.counts)

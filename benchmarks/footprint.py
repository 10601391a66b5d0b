"""Memory growth over a long stream, import time and release time."""

import os
import subprocess
import sys
import time

import numpy as np

import privhp as hp

STREAM = """
import resource, sys
import numpy as np
import privhp as hp

square = hp.Box([(0, 1), (0, 1)])
plan = hp.Plan.paper(square, epsilon=1, expected_records=1e8, hot_cells=1024, sketch_rows=4, exact_depth=13)
batch = np.random.default_rng(0).random((1_000_000, 2))
summary = hp.Summary(plan)
for _ in range(int(sys.argv[1])):
    summary.update(batch)
print(plan.nbytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def growth_of_memory(batches: int) -> tuple[int, float]:
    """Bytes of the plan, and growth of peak memory in MB from 1e6 records to `batches` times as many."""

    def peak(count: int) -> list[int]:
        command = [sys.executable, "-c", STREAM, str(count)]
        return [int(value) for value in subprocess.run(command, capture_output=True, check=True).stdout.split()]

    (size, short), (_, long) = peak(1), peak(batches)
    return size, (long - short) / 1024


def time_to_import(turns: int = 15) -> float:
    """Milliseconds to import the main classes after NumPy, by `-X importtime`; the best of several processes."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-X", "importtime", "-c", "import numpy; from privhp import Interval, Plan, Summary"]
    times = []
    for _ in range(turns):
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        _, after = done.stderr.split("| numpy\n")
        times.append(sum(int(line.split("|")[0].removeprefix("import time:")) for line in after.splitlines()))
    return min(times) / 1000


def time_to_release() -> list[tuple[str, float]]:
    """Seconds to release a summary: one of 1 MiB, and one with a million leaves."""
    rng = np.random.default_rng(0)
    line = hp.Interval(0, 1)
    plans = {
        "release of 1 MiB": hp.Plan.paper(
            line, epsilon=1, expected_records=1e6, hot_cells=1024, sketch_rows=4, exact_depth=15, sketch_width=4096
        ),
        "release of 1,048,576 leaves": hp.Plan.paper(
            line, epsilon=1, expected_records=1e6, hot_cells=1, exact_depth=20
        ),
    }
    rows = []
    for name, plan in plans.items():
        summary = hp.Summary(plan)
        summary.update(rng.random(1_000_000))
        start = time.perf_counter()
        generator = summary.release()
        rows.append(
            (
                f"{name} ({plan.nbytes / 2**20:.2f} MiB, {generator.leaves().codes.size:,} leaves), seconds",
                time.perf_counter() - start,
            )
        )
    return rows

"""Passes on many workers: records per second, bytes moved, where the time goes, and a model for larger jobs.

python -m benchmarks.scaling [--records N] [--spark]     writes benchmarks/SCALING.md
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import privhp as hp
from benchmarks.timing import best_seconds, load
from privhp.collect.learning import is_learning, pass_plan, refine_plan
from privhp.collect.summary import Summary
from privhp.collect.tally import Tally
from privhp.engines import PassFold, fit_passes

PAGE = Path(__file__).parent / "SCALING.md"
MEMORY = "1 MiB"
FAN_IN = 16
SHARDS = (2, 20, 200)
WORKERS = (1, 2)
PASSES = (2, 3)
MACHINES, CORES, JOB, SHARD, RECORD_BYTES, DISK = 1000, 16, 10**12, 10**7, 8, 10**9
"""The job of the model: machines, cores of each, records, records of a shard, bytes of a record and of a second."""


class Setting(NamedTuple):
    """The setting of one fit."""

    engine: str
    workers: int
    shards: int
    passes: int


@dataclass
class Run:
    """One fit: seconds of all passes, and bytes of the tallies that left their workers."""

    seconds: float = 0
    moved: int = 0


RunShards = Callable[[list[Path], Run, PassFold], list[bytes]]


@dataclass(frozen=True)
class Costs:
    """Processor seconds of the steps of one pass."""

    count: float
    to_bytes: float
    merge: float
    coordinator: float
    nbytes: int


def write_files(folder: Path, records: int, shards: int) -> list[Path]:
    """Lognormal fares in as many files."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    paths = []
    for number, part in enumerate(np.array_split(rng.lognormal(2.5, 0.7, records), shards)):
        paths.append(folder / f"{number:03}.parquet")
        parquet.write_table(pa.table({"fare": part}), paths[-1])
    return paths


def plan_of(records: int, passes: int) -> hp.Plan:
    """The plan of all measurements."""
    return hp.Plan.auto(hp.Interval(0, 1000), epsilon=1, expected_records=records, memory=MEMORY, passes=passes)


@contextmanager
def processes(workers: int) -> Iterator[RunShards]:
    """Passes on a pool of processes, which merges tallies in a tree."""
    with ProcessPoolExecutor(workers) as pool:
        list(pool.map(abs, range(workers)))

        def run_pass(paths: list[Path], run: Run, fold: PassFold) -> list[bytes]:
            tallies = list(pool.map(fold.count, paths))
            run.moved += sum(map(len, tallies))
            while len(tallies) > 1:
                groups = [tallies[start : start + FAN_IN] for start in range(0, len(tallies), FAN_IN)]
                run.moved += sum(map(len, tallies))
                tallies = list(pool.map(fold.merge, groups))
                run.moved += sum(map(len, tallies))
            return tallies

        yield run_pass


@contextmanager
def spark(workers: int) -> Iterator[RunShards]:
    """Passes on a local session of Spark. The bytes are those of the tallies of all shards and of the collected one."""
    from pyspark.sql import SparkSession

    from privhp.engines.spark import count_frame, select_records

    builder = SparkSession.builder.master(f"local[{workers},4]").config("spark.ui.enabled", "false")
    session = builder.config("spark.log.level", "OFF").getOrCreate()

    def run_pass(paths: list[Path], run: Run, fold: PassFold) -> list[bytes]:
        frame = select_records(session.read.parquet(str(paths[0].parent)), fold.plan.domain)
        tallies = count_frame(frame, fold)
        run.moved += sum(map(len, tallies)) * (len(paths) + 1)
        return tallies

    try:
        yield run_pass
    finally:
        session.stop()


def measure(run_shards: RunShards, paths: list[Path], records: int, passes: int) -> Run:
    """One fit."""
    run, start = Run(), time.perf_counter()
    fit_passes(plan_of(records, passes), partial(run_shards, paths, run))
    run.seconds = time.perf_counter() - start
    return run


def pass_costs(path: Path, records: int, plan: hp.Plan) -> Iterator[tuple[str, Costs]]:
    """Processor time of the steps of each pass."""
    for number in range(plan.passes):
        learning = plan.learning if is_learning(plan, number) else None
        fold = PassFold(pass_plan(plan, number), None if learning is None else learning.passes[number].rate)
        data = fold.count(path)
        tally = Tally.from_bytes(data)
        summary = Summary(fold.plan)
        summary.absorb(tally)
        best = best_seconds(
            {
                "count": partial(fold.count, path),
                "empty": partial(fold.count, np.zeros(0)),
                "bytes": tally.to_bytes,
                "merge": partial(_merge, fold, data),
                "noise": partial(Summary, fold.plan),
            },
            turns=3,
        )
        start = time.process_time()
        released = summary.close()
        if learning is not None:
            plan = refine_plan(plan, number, released)
        coordinator = best["noise"] + time.process_time() - start
        counted = (best["count"] - best["empty"]) / records
        yield (
            f"learning pass {number + 1}" if learning is not None else "measuring pass",
            Costs(counted, best["bytes"], best["merge"], coordinator, len(data)),
        )


def _merge(fold: PassFold, data: bytes) -> None:
    total = fold.start()
    total.merge(Tally.from_bytes(data))


@dataclass(frozen=True)
class Model:
    """Seconds of the steps of all passes of the job, and bytes of tallies moved."""

    counting: float
    engine: float
    reading: float
    tasks: float
    merging: float
    coordinator: float
    moved: float


def model(costs: list[Costs], records: int, runs: dict[Setting, Run]) -> Model:
    """The job, from the costs of each pass and the runs of the last engine that was measured."""
    shards, cores, passes = JOB // SHARD, MACHINES * CORES, len(costs)
    name = list(runs)[-1].engine
    few, *_, many = (runs[Setting(name, 1, own, passes)].seconds for own in SHARDS)
    overhead = max(many - few, 0) / (SHARDS[-1] - SHARDS[0]) / passes
    merging, left = 0.0, shards
    while left > 1:
        left = -(-left // FAN_IN)
        merging += sum(own.merge * FAN_IN * max(1, left / cores) for own in costs)
    return Model(
        counting=sum(own.count for own in costs) * JOB / cores,
        engine=few / records * JOB / cores,
        reading=passes * JOB * RECORD_BYTES / MACHINES / DISK,
        tasks=sum(overhead + own.to_bytes for own in costs) * shards / cores,
        merging=merging,
        coordinator=sum(own.coordinator for own in costs),
        moved=sum(own.nbytes for own in costs) * shards * (1 + 1 / (FAN_IN - 1)),
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--spark", action="store_true", help="measure Spark too, which needs Java")
    options = parser.parse_args()
    records, before = options.records, load()
    engines = {"processes": processes} | ({"Spark": spark} if options.spark else {})
    runs: dict[Setting, Run] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {shards: write_files(Path(folder) / str(shards), records, shards) for shards in (1, *SHARDS)}
        for name, workers in product(engines, WORKERS):
            with engines[name](workers) as run_shards:
                measure(run_shards, files[SHARDS[0]], records, PASSES[0])  # warm-up
                for shards, passes in product(SHARDS, PASSES):
                    run = measure(run_shards, files[shards], records, passes)
                    runs[Setting(name, workers, shards, passes)] = run
                    print(name, workers, shards, passes, run, flush=True)
        steps = dict(pass_costs(files[1][0], records, plan_of(records, 3)))
    PAGE.write_text(page(records, before, runs, steps))


def page(records: int, before: str, runs: dict[Setting, Run], steps: dict[str, Costs]) -> str:
    """The page of results."""
    lines = [
        f"| {own.engine} | {own.workers} | {own.shards} | {own.passes} "
        f"| {records * own.passes / run.seconds / 1e6:.2f} | {run.moved / 1e6:.2f} |"
        for own, run in sorted(runs.items())
    ]
    table = [
        f"| {name} | {own.count * 1e9:.0f} | {own.to_bytes * 1e3:.1f} | {own.merge * 1e3:.1f} "
        f"| {own.coordinator * 1e3:.0f} | {own.nbytes / 1e3:,.0f} |"
        for name, own in steps.items()
    ]
    costs, engine = list(steps.values()), list(runs)[-1].engine
    job = model(costs, records, runs)
    worth = sum(own.merge + own.to_bytes for own in costs) / sum(own.count for own in costs)
    return f"""# Scaling

Fits of {records:,} lognormal fares in {MEMORY}, from Parquet files, one file a shard. Written by `make scaling` at a
{before} on {os.cpu_count()} cores. Wall-clock times carry that load, processor times do not.

## Records per second and bytes moved

Records of all passes per second of wall-clock time, and megabytes of tallies that leave a worker. Two passes are one
learning pass and the measuring pass. Processes merge tallies in a tree of fan-in {FAN_IN}, Spark in two shuffles.

| engine | workers | shards | passes | million records/s | MB moved |
|---|---|---|---|---|---|
{chr(10).join(lines)}

## Where the time goes

Processor time of each step of a fit of three passes, best of 3. Counting includes reading the file and drawing coins.
The coordinator draws the noise of a pass and refines the partition.

| pass | counting, ns a record | tally to bytes, ms | merging a tally, ms | coordinator, ms | KB of a tally |
|---|---|---|---|---|---|
{chr(10).join(table)}

The bytes of a tally depend on the plan alone, not on the records. To write and merge one takes as long as to count
{worth:,.0f} records, so shards should hold many more than that.

## {JOB:.0e} records on {MACHINES:,} machines

A model, not a measurement: three passes on {CORES} cores a machine, shards of {SHARD:,} records of
{RECORD_BYTES} bytes, a tree of fan-in {FAN_IN}. Measured above: the processor times, and the times of {engine} on one
worker, for its smallest job and for each further task. Assumed: other cores are as fast, the storage of a machine
delivers {DISK / 1e9:.0f} GB/s, and the memory of the plan is the same.

| step | seconds |
|---|---|
| counting on all cores, as in one process | {job.counting:,.1f} |
| counting on all cores, as fast as {engine} with {SHARDS[0]} shards, with all its overhead | {job.engine:,.1f} |
| reading {JOB * RECORD_BYTES / 1e12:.0f} TB in each pass | {job.reading:,.1f} |
| overhead of {JOB // SHARD:,} tasks a pass, on all cores | {job.tasks:,.1f} |
| merging, along the longest path of the tree | {job.merging:,.1f} |
| noise and refinement, on the coordinator | {job.coordinator:,.2f} |

The tallies that move are {job.moved / 1e9:,.0f} GB together. The work of the coordinator does not grow with the
records, and the tree grows with the logarithm of the number of shards. So the storage, or what {engine} does with each
record before it is counted, sets the time.
"""


if __name__ == "__main__":
    main()

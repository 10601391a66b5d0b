"""Error on tables in order of time, on points sorted by cell, and on both shuffled; writes ORDER.md.

    python -m benchmarks.order

Most files are in order of time, and some are sorted by value. Each stream is
fitted in its own order and shuffled, with a learned partition, with a mergeable
plan, and with the paper's plan.
"""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

import privhp as hp
from benchmarks.streams import DATA, FLIGHTS, TAXI, load

RUNS = 5
MEMORIES = ("16 KiB", "64 KiB", "256 KiB", "1 MiB")
TABLES = {
    "taxi trips": (
        TAXI,
        hp.Table(
            pickup_time=hp.Time("2018-01-01", "2020-12-31T23:59:59"),
            fare_amount=hp.Interval(0, 1000),
            total_amount=hp.Interval(0, 1500),
        ),
    ),
    "flights": (
        FLIGHTS,
        hp.Table(
            date=hp.Time("2013-01-01", "2013-12-31", unit="D"),
            arr_delay=hp.Integers(-120, 1440),
            distance=hp.Integers(0, 5000),
        ),
    ),
}

SORTED = "postcodes, sorted"

Records = dict[str, Any] | Any
"""Columns by name, or an array."""


def read(file: str, table: hp.Table) -> Records:
    """Columns of a table in the order of the file, the order of time."""
    names = [name for column in table.columns for name in column.names]
    found = parquet.read_table(DATA / file, columns=names)
    return {name: found[name].to_numpy() for name in names}


def size_of(records: Records) -> int:
    """Number of records."""
    return len(next(iter(records.values()))) if isinstance(records, dict) else len(records)


def shuffle(records: Records, run: int) -> Records:
    """The same records in random order."""
    order = np.random.default_rng(run).permutation(size_of(records))
    return {name: own[order] for name, own in records.items()} if isinstance(records, dict) else records[order]


def error(plan: hp.Plan, records: Records) -> float:
    """Tree W1 x n of one fit, with the domain scaled to 1."""
    summary = hp.Summary(plan)
    summary.update(records)
    return hp.tree_wasserstein(summary.release(), records) * size_of(records) / plan.domain.diameter(0)


def measure(plan: hp.Plan, records: Records) -> list[str]:
    """Mean and standard deviation over runs, in the given order and shuffled."""
    in_order = [error(plan, records) for _ in range(RUNS)]
    in_random_order = [error(plan, shuffle(records, run)) for run in range(RUNS)]
    return [f"{np.mean(errors):,.0f} ± {np.std(errors):,.0f}" for errors in (in_order, in_random_order)]


def main() -> None:
    """Measure all streams and plans, print the table and write ORDER.md."""
    lines = []
    streams = {name: (read(file, table), table) for name, (file, table) in TABLES.items()}
    points = load(SORTED)
    for name, (records, domain) in {**streams, SORTED: (points.records, points.domain)}.items():
        size = size_of(records)
        plans = {
            f"{label}, {memory}": hp.Plan.auto(
                domain, epsilon=1, expected_records=size, memory=memory, mergeable=mergeable
            )
            for memory in MEMORIES
            for label, mergeable in (("learned", False), ("mergeable", True))
        }
        plans["paper, 1,024 hot cells"] = hp.Plan.paper(domain, epsilon=1, expected_records=size, hot_cells=1024)
        for label, plan in plans.items():
            lines.append(f"| {name}, {size:,} | {label} | {' | '.join(measure(plan, records))} |")
            print(lines[-1], flush=True)
    text = [
        "# Order of records",
        "",
        f"`python -m benchmarks.order`, {dt.date.today().isoformat()}: tree W1 x n at epsilon = 1, mean and standard "
        f"deviation of {RUNS} fits.",
        "The tables have a time and two numbers, and their files are in order of time. The points are sorted by cell.",
        "",
        "| records | plan | in order | shuffled |",
        "|---|---|---|---|",
        *lines,
        "",
    ]
    (Path(__file__).parent / "ORDER.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()

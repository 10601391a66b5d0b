"""Tables in the order of time and shuffled: writes ORDER.md.

    python -m benchmarks.order

Files mostly come in the order of time. Each stream is fitted as it came and
shuffled, with a partition that grows, with a plan whose parts can be merged,
and with the paper's.
"""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

import privhp as hp
from benchmarks.streams import DATA, FLIGHTS, TAXI

RUNS = 5
MEMORIES = ("64 KiB", "256 KiB", "1 MiB")
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

Columns = dict[str, Any]


def read(file: str, table: hp.Table) -> Columns:
    """The columns of a table in the order of the file, which is that of time."""
    names = [name for column in table.columns for name in column.names]
    found = parquet.read_table(DATA / file, columns=names)
    return {name: found[name].to_numpy() for name in names}


def error(plan: hp.Plan, columns: Columns) -> float:
    """Tree W1 of one fit, in records that would have to be moved across the whole domain."""
    summary = hp.Summary(plan)
    summary.update(columns)
    return hp.tree_wasserstein(summary.release(), columns) * len(next(iter(columns.values())))


def measured(plan: hp.Plan, columns: Columns) -> list[str]:
    """Means over runs as it came and shuffled, each with its standard deviation."""
    cells = []
    for shuffled in (False, True):
        errors = []
        for run in range(RUNS):
            order = np.random.default_rng(run).permutation(len(next(iter(columns.values()))))
            errors.append(error(plan, {name: own[order] if shuffled else own for name, own in columns.items()}))
        cells.append(f"{np.mean(errors):,.0f} ± {np.std(errors):,.0f}")
    return cells


def main() -> None:
    """Measure everything, print it, keep it."""
    lines = []
    for name, (file, table) in TABLES.items():
        columns = read(file, table)
        size = len(next(iter(columns.values())))
        plans = {
            f"{label}, {memory}": hp.Plan.auto(table, epsilon=1, records=size, memory=memory, mergeable=mergeable)
            for memory in MEMORIES
            for label, mergeable in (("grows", False), ("mergeable", True))
        }
        plans["the paper's, 1,024 hot cells"] = hp.Plan.paper(table, epsilon=1, records=size, hot_cells=1024)
        for label, plan in plans.items():
            lines.append(f"| {name}, {size:,} | {label} | {' | '.join(measured(plan, columns))} |")
            print(lines[-1], flush=True)
    text = [
        "# The order of rows",
        "",
        f"`python -m benchmarks.order`, {dt.date.today().isoformat()}: tree W1 x n at epsilon = 1, mean and standard",
        f"deviation of {RUNS} fits, of tables of a time and two numbers. Files are in the order of time.",
        "",
        "| records | plan | in order | shuffled |",
        "|---|---|---|---|",
        *lines,
        "",
    ]
    (Path(__file__).parent / "ORDER.md").write_text("\n".join(text))


if __name__ == "__main__":
    main()

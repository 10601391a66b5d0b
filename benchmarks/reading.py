"""Fitting a file against reading it: writes READING.md.

    python -m benchmarks.reading [rows]

The anchor is the fastest reader into NumPy arrays of the same columns, found
in the same run: polars or pyarrow, both with all their threads. Contenders take
turns, and the best turn of each counts, on the wall clock. Peaks of memory are
measured in a process of their own, beyond interpreter and libraries.
"""

import datetime as dt
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv, parquet

import privhp as hp
from benchmarks.timing import best_seconds, load

ROWS = 10**7
CHUNK = 10**6
KINDS = np.array(["bus", "tram", "taxi"])
BOX = hp.Box([(-9, 2), (49.8, 61)])
TABLE = hp.Table({("lon", "lat"): BOX, "kind": hp.Categories(KINDS.tolist())})

PEAK = """
import sys
import privhp as hp, pyarrow.parquet, privhp.ingest, privhp.sources.text, privhp.sources.arrow

def peak() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
hp.fit(sys.argv[1], hp.Box([(-9, 2), (49.8, 61)]), epsilon=1, records=1e7, columns=["lon", "lat"])
print((peak() - before) / 1024)
"""


def write_files(folder: Path, rows: int) -> dict[str, Path]:
    """The same rows as Parquet and as CSV: a number, a place, a word."""
    rng = np.random.default_rng(0)
    paths = {"Parquet": folder / "a.parquet", "CSV": folder / "a.csv"}
    schema = pa.schema([("id", pa.int64()), ("lon", pa.float64()), ("lat", pa.float64()), ("kind", pa.string())])
    with parquet.ParquetWriter(paths["Parquet"], schema) as columns, csv.CSVWriter(paths["CSV"], schema) as lines:
        for start in range(0, rows, CHUNK):
            size = min(CHUNK, rows - start)
            table = pa.table(
                {
                    "id": np.arange(start, start + size),
                    "lon": rng.normal(-2, 1, size),
                    "lat": rng.normal(53, 1, size),
                    "kind": KINDS[rng.integers(0, 3, size)],
                },
                schema=schema,
            )
            columns.write_table(table)
            lines.write_table(table)
    return paths


def readers(path: Path, names: list[str]) -> dict[str, Callable[[], object]]:
    """Ways to get the columns of a file as arrays."""
    if path.suffix == ".parquet":
        return {
            "polars": lambda: [column.to_numpy() for column in pl.read_parquet(path, columns=names)],
            "pyarrow": lambda: [column.to_numpy() for column in parquet.read_table(path, columns=names).columns],
        }
    options = csv.ConvertOptions(include_columns=names)
    return {
        "polars": lambda: [column.to_numpy() for column in pl.read_csv(path, columns=names)],
        "pyarrow": lambda: [column.to_numpy() for column in csv.read_csv(path, convert_options=options).columns],
    }


def measure(path: Path, what: str, domain: hp.Domain, names: list[str], rows: int, turns: int) -> str:
    """A line of the table."""
    plan = hp.Plan.auto(domain, epsilon=1, records=rows)

    def fit(plan: hp.Plan) -> None:
        total = hp.fit(path, plan=plan, columns=names).total
        assert 0.9 * rows < total < 1.1 * rows

    fits = {"bound": partial(fit, plan), "free": partial(fit, replace(plan, memory=0))}
    seconds = best_seconds(readers(path, names) | fits, turns=turns, clock=time.perf_counter)
    bound, free = seconds.pop("bound"), seconds.pop("free")
    fastest = min(seconds, key=lambda name: seconds[name])
    anchor = seconds[fastest]
    cells = [f"{rows / own / 1e6:.1f}, {anchor / own:.0%}" for own in (bound, free)]
    return f"| {path.suffix[1:]} | {what} | {rows / anchor / 1e6:.1f}, {fastest} | {cells[0]} | {cells[1]} |"


def peak(path: Path) -> float:
    """MB that a fit takes beyond interpreter and libraries."""
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, check=True, text=True)
    return float(done.stdout)


def main(rows: int = ROWS) -> None:
    """Measure everything, print it, keep it."""
    before = load()
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), rows)
        lines = [
            measure(path, what, domain, names, rows, turns)
            for path, turns in ((paths["Parquet"], 7), (paths["CSV"], 3))
            for what, domain, names in (
                ("one number", hp.Interval(-9, 2), ["lon"]),
                ("a place", BOX, ["lon", "lat"]),
                ("a place and a word", TABLE, ["lon", "lat", "kind"]),
            )
        ]
        peaks = [
            f"| {path.suffix[1:]} | {path.stat().st_size / 1e6:,.0f} MB | {peak(path):.0f} MB |"
            for path in paths.values()
        ]
    text = "\n".join(
        [
            "# Reading",
            "",
            f"`python -m benchmarks.reading`, {dt.date.today().isoformat()}: {rows:,} rows of a number, two",
            "coordinates and a word, in million rows a second and as a share of the fastest reader into NumPy.",
            f"{os.cpu_count()} cores, {before}.",
            "",
            "`Plan.auto` counts in 256 KiB, the work on a batch included, which leaves room for a few hundred rows",
            "at a time. The last column is the same plan without a limit on the work.",
            "",
            "| file | record | fastest reader | fit in 256 KiB | fit, work not limited |",
            "|---|---|---|---|---|",
            *lines,
            "",
            "Asked for: 40% for Parquet, 50% for CSV.",
            "",
            "| file | size | peak of a fit beyond interpreter and libraries |",
            "|---|---|---|",
            *peaks,
            "",
        ]
    )
    print(text)
    (Path(__file__).parent / "READING.md").write_text(text)


if __name__ == "__main__":
    main(*(int(float(argument)) for argument in sys.argv[1:]))

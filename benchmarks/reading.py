"""Speed of fitting a file relative to reading it; writes READING.md.

    python -m benchmarks.reading [rows]

The anchor is the fastest reader of the same columns into NumPy arrays in the
same run: polars or pyarrow, both with all threads. Contenders run in rotation;
the figure is the best wall-clock time of each. Peak memory is measured in a
separate process, beyond interpreter and libraries.
"""

import datetime as dt
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv, parquet

import privhp as hp
from benchmarks.timing import best_seconds, load

ROWS = 10**7
LONG = 10
"""Factor for the rows of the files whose peak memory is measured."""
CHUNK = 10**6
MEMORY = "256 KiB"
KINDS = np.array(["bus", "tram", "taxi"])
BOX = hp.Box([(-9, 2), (49.8, 61)])
SCHEMA = pa.schema([("id", pa.int64()), ("lon", pa.float64()), ("lat", pa.float64()), ("kind", pa.string())])
TABLE = hp.Table({("lon", "lat"): BOX, "kind": hp.Categories(KINDS.tolist())})

PEAK = """
import sys
import privhp as hp, pyarrow.parquet, privhp.collect.ingest, privhp.io.sources.csv_reader, privhp.io.sources.arrow

def peak() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
hp.fit(sys.argv[1], hp.Box([(-9, 2), (49.8, 61)]), epsilon=1, expected_records=1e7, columns=["lon", "lat"])
print((peak() - before) / 1024)
"""


def batches(rows: int) -> Iterator[pa.Table]:
    """Batches of rows with an integer, a point and a text."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, CHUNK):
        size = min(CHUNK, rows - start)
        columns = {
            "id": np.arange(start, start + size),
            "lon": rng.normal(-2, 1, size),
            "lat": rng.normal(53, 1, size),
            "kind": KINDS[rng.integers(0, 3, size)],
        }
        yield pa.table(columns, schema=SCHEMA)


def write(path: Path, rows: int) -> Path:
    """Write a file of `rows` rows."""
    writer = parquet.ParquetWriter if path.suffix == ".parquet" else csv.CSVWriter
    with writer(path, SCHEMA) as file:
        for batch in batches(rows):
            file.write_table(batch)
    return path


def readers(path: Path, names: list[str]) -> dict[str, Callable[[], object]]:
    """Readers of some columns of a file into arrays, by name."""
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


def measure(path: Path, record: str, domain: hp.Domain, names: list[str], rows: int, turns: int) -> str:
    """Line of the table for one file and domain."""
    plan = hp.Plan.auto(domain, epsilon=1, expected_records=rows, memory=MEMORY)

    def fit() -> None:
        total = hp.fit(path, plan=plan, columns=names).total
        assert 0.9 * rows < total < 1.1 * rows

    seconds = best_seconds({**readers(path, names), "fit": fit}, turns=turns, clock=time.perf_counter)
    own = seconds.pop("fit")
    fastest = min(seconds, key=lambda name: seconds[name])
    anchor = seconds[fastest]
    rates = f"{rows / anchor / 1e6:.1f}, {fastest} | {rows / own / 1e6:.1f}, {anchor / own:.0%}"
    return f"| {path.suffix[1:]} | {record} | {rates} |"


def measure_passes(path: Path, record: str, domain: hp.Domain, names: list[str], rows: int, turns: int) -> str:
    """Line of the table of passes: throughput of whole fits, relative to one pass."""
    parameters: dict[str, Any] = {"epsilon": 1, "expected_records": rows, "memory": MEMORY}
    plans = {str(passes): hp.Plan.auto(domain, **parameters, passes=passes) for passes in (1, 2, 3)}
    learned = hp.learn(path, domain, **parameters, columns=names)
    plans["known partition"] = hp.Plan.auto(domain, **parameters, partition=learned)
    fits = {name: partial(hp.fit, path, plan=plan, columns=names) for name, plan in plans.items()}
    seconds = best_seconds(fits, turns=turns, clock=time.perf_counter)
    one = seconds.pop("1")
    ratios = " | ".join(f"{one / own:.2f}" for own in seconds.values())
    return f"| {path.suffix[1:]} | {record} | {rows / one / 1e6:.1f} | {ratios} |"


def peak(path: Path) -> float:
    """Peak memory of a fit beyond interpreter and libraries, in MB."""
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, check=True, text=True)
    return float(done.stdout)


def main(rows: int = ROWS) -> None:
    """Measure all files, print the tables and write READING.md."""
    before = load()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [write(folder / "a.parquet", rows), write(folder / "a.csv", rows)]
        cases = [
            (path, record, domain, names, rows, turns)
            for path, turns in zip(paths, (7, 3), strict=True)
            for record, domain, names in (
                ("number", hp.Interval(-9, 2), ["lon"]),
                ("point", BOX, ["lon", "lat"]),
                ("point and text", TABLE, ["lon", "lat", "kind"]),
            )
        ]
        lines = [measure(*case) for case in cases]
        passes = [measure_passes(*case) for case in cases]
        peaks = []
        for path in paths:
            path.unlink()
            write(path, LONG * rows)
            size = path.stat().st_size / 1e6
            peaks.append(f"| {path.suffix[1:]} | {LONG * rows:,} | {size:,.0f} MB | {peak(path):.0f} MB |")
    text = "\n".join(
        [
            "# Reading",
            "",
            f"`python -m benchmarks.reading`, {dt.date.today().isoformat()}: {rows:,} rows of an integer, two",
            "coordinates and a text, in million rows per second and as a share of the fastest reader into NumPy.",
            f"{os.cpu_count()} cores, {before}.",
            "",
            f"`hp.fit` has a plan of one pass and {MEMORY}, made by `Plan.auto` before the measurement.",
            "",
            "| format | record | fastest reader | hp.fit |",
            "|---|---|---|---|",
            *lines,
            "",
            "The target is 40% for Parquet and 50% for CSV.",
            "",
            "Whole fits by number of passes over the file: one in million rows per second, others as a ratio to it.",
            "",
            "| format | record | one pass | two passes | three passes | one pass, known partition |",
            "|---|---|---|---|---|---|",
            *passes,
            "",
            "The target for numbers is 0.55 for two passes and 0.40 for three.",
            "",
            "| format | rows | size | peak memory of a fit beyond interpreter and libraries |",
            "|---|---|---|---|",
            *peaks,
            "",
        ]
    )
    print(text)
    (Path(__file__).parent / "READING.md").write_text(text)


if __name__ == "__main__":
    main(*(int(float(argument)) for argument in sys.argv[1:]))

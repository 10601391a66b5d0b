"""Speed of writing synthetic records of one number to files; writes WRITING.md.

    python -m benchmarks.writing [rows]

Text is written column by column where pyarrow is installed, else row by row,
with the same bytes. Both run in rotation; the figure is the best time of each.
Then `privhp sample` writes a long file of each format in a separate process,
whose peak memory includes interpreter and libraries.
"""

import datetime as dt
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np

import privhp as hp
from benchmarks.timing import best_seconds, load
from privhp.io.sinks import write_sample

ROWS = 10**6
LONG = 10**9
DOMAIN = hp.Interval(0, 1000)

SAMPLE = """
import resource, sys
from privhp.cli import main

assert main(["sample", sys.argv[1], "-n", sys.argv[2], "--seed", "1", "-o", sys.argv[3], "--quiet"]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def rates(generator: hp.Generator, folder: Path) -> list[str]:
    """Lines of the table, one for each text format."""
    lines = []
    for ending in ("csv", "ndjson"):
        path = folder / f"a.{ending}"

        def columns(path: Path = path) -> None:
            write_sample(generator, path, rows=ROWS, seed=1)

        def rows(write: Callable[[], None] = columns) -> None:
            with mock.patch.dict("sys.modules", pyarrow=None):
                write()

        seconds = best_seconds({"columns": columns, "rows": rows}, turns=5, clock=time.perf_counter)
        own, other = (ROWS / seconds[name] / 1e6 for name in ("columns", "rows"))
        lines.append(f"| {ending} | {own:.1f} | {other:.1f} | {own / other:.1f} |")
    return lines


def long_file(release: Path, path: Path, rows: int) -> str:
    """Line of the table for a long file, which is written and removed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", SAMPLE, release, str(rows), path], capture_output=True, check=True, text=True
    )
    seconds = time.perf_counter() - start
    size = path.stat().st_size / 1e9
    path.unlink()
    return f"| {path.suffix[1:]} | {rows:,} | {size:.1f} GB | {seconds:,.0f} s | {float(done.stdout):.0f} MB |"


def main(rows: int = LONG) -> None:
    """Measure all formats, print the tables and write WRITING.md."""
    before = load()
    generator = hp.fit(np.random.default_rng(0).gamma(2, 20, 10**5), DOMAIN, epsilon=1, expected_records=1e5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hp.save(generator, folder / "a.privhp")
        texts = rates(generator, folder)
        files = [
            long_file(folder / "a.privhp", folder / f"long.{ending}", rows) for ending in ("parquet", "csv", "ndjson")
        ]
    text = "\n".join(
        [
            "# Writing",
            "",
            f"`python -m benchmarks.writing`, {dt.date.today().isoformat()}: synthetic records of one number,",
            f"sampled and written to disk. {os.cpu_count()} cores, {before}.",
            "",
            "Million rows per second, with and without pyarrow:",
            "",
            "| format | column by column | row by row | speed-up |",
            "|---|---|---|---|",
            *texts,
            "",
            "`privhp sample` with a long file:",
            "",
            "| format | rows | size | time | peak memory |",
            "|---|---|---|---|---|",
            *files,
            "",
        ]
    )
    print(text)
    (Path(__file__).parent / "WRITING.md").write_text(text)


if __name__ == "__main__":
    main(*(int(float(argument)) for argument in sys.argv[1:]))

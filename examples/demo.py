"""A tour of the command line on a year of flights. Run it with `make demo`.

It fits arrival delays, and departure time with arrival delay, writes synthetic
flights and a page that shows them, and compares them with the real ones. The
comparison looks at the real data, so it is NOT private; all else in `demo/` is.
"""

import csv
import gzip
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
FLIGHTS = Path("examples", "flights13.csv.gz")
SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
PERIODS = {"06:00 to 10:00": 360, "10:00 to 14:00": 600, "14:00 to 18:00": 840, "18:00 to 22:00": 1080}
LATE = 30
HALF = 0.5  # real minutes are whole and those of a box are not: cut between two whole ones, that is fair to both

Table = list[tuple[str, str, str]]


def main(folder: Path) -> None:
    """Fit, sample, compare, report. Paths are relative to the project's folder."""
    (ROOT / folder).mkdir(exist_ok=True)
    delays, times = folder / "arr_delay.privhp", folder / "departure_and_delay.privhp"
    synthetic = folder / "synthetic.csv"
    synthetic_pairs = folder / f"synthetic_pairs.{'parquet' if find_spec('pyarrow') else 'csv'}"
    page, compared = folder / "report.html", folder / "NOT-PRIVATE.html"
    options = ["--epsilon", "1", "--records", "300000"]

    say("What would one number per flight, the arrival delay, cost? No data is needed to tell.")
    plan = privhp("plan", "--domain", "integers:-120:1440", *options)
    say("Read the flights once and keep a private summary of the delays.")
    fit = ["fit", str(FLIGHTS), "--force", *options]
    privhp(*fit, "--columns", "arr_delay", "--domain", "integers:-120:1440", "-o", str(delays))
    say("Make as many synthetic flights as the noisy count says there were.")
    privhp("sample", str(delays), "--force", "--columns", "arr_delay", "-o", str(synthetic))
    say("The same for two numbers per flight, departure and delay. A box is continuous: it gives fractional minutes.")
    pair = "sched_dep_min,arr_delay"
    privhp(*fit, "--columns", pair, "--domain", "box:0:1439,-120:1440", "-o", str(times))
    privhp("sample", str(times), "--force", "--columns", pair, "-o", str(synthetic_pairs))
    say("Show what was promised and what came out of it, on a page for a browser. It is as private as the release.")
    title = "Flights from New York City"
    privhp("report", str(times), "--force", "--columns", pair, "--title", title, "-o", str(page))

    say("Now open the real data beside them. This comparison is NOT private: it is for you, not for publication.")
    beside = ["--columns", pair, "--against", str(FLIGHTS), "--title", title]
    privhp("report", str(times), "--force", *beside, "-o", str(compared))
    real = read(ROOT / FLIGHTS, ["sched_dep_min", "arr_delay"])
    quantiles = compare_quantiles(real[:, 1], read(ROOT / synthetic, ["arr_delay"])[:, 0])
    lateness = compare_lateness(real, read(ROOT / synthetic_pairs, ["sched_dep_min", "arr_delay"]))
    tables = [
        ("Arrival delay in minutes", as_markdown(["share of flights at or below", "real", "synthetic"], quantiles)),
        (
            f"Flights more than {LATE} minutes late, by scheduled departure",
            as_markdown(["departure", "real", "synthetic"], lateness),
        ),
    ]
    for title, table in tables:
        print(f"{title}\n\n{table}\n")
    summary = folder / "comparison.md"
    (ROOT / summary).write_text(report(plan, tables))
    say("Done. These files were written:")
    for path, what in {
        delays: "the release of the delays, public",
        times: "the release of departures and delays, public",
        synthetic: "synthetic delays, public",
        synthetic_pairs: "synthetic departures and delays, public",
        page: "what was promised and what came out of it, public; open it in a browser",
        compared: "the same with the real flights beside, NOT private",
        summary: "the plan and the tables above, NOT private",
    }.items():
        print(f"{path}  {what}")


def say(sentence: str) -> None:
    """A step of the tour."""
    print(f"\n# {sentence}\n")


def privhp(*arguments: str) -> str:
    """Print a command as it could be typed in the folder of the project, run it, and give what it printed."""
    command = [sys.executable, "-m", "privhp", *arguments]
    python = os.path.relpath(command[0], ROOT) if Path(command[0]).is_relative_to(ROOT) else command[0]
    print("$", shlex.join([python, *command[1:]]), flush=True)
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    return done.stdout


def read(path: Path, columns: Sequence[str]) -> NDArray[np.float64]:
    """Columns of a CSV or Parquet file, one row a flight."""
    if path.suffix == ".parquet":
        from pyarrow.parquet import read_table

        flights = read_table(path, columns=list(columns))
        return np.stack([flights[column].to_numpy() for column in columns], axis=1).astype(np.float64)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="") as file:
        return np.array([[float(row[column]) for column in columns] for row in csv.DictReader(file)])


def compare_quantiles(real: NDArray[np.float64], synthetic: NDArray[np.float64]) -> Table:
    """Quantiles of both. NOT private."""
    pairs = zip(np.quantile(real, SHARES), np.quantile(synthetic, SHARES), strict=True)
    return [(f"{share:.0%}", f"{true:.0f}", f"{made:.0f}") for share, (true, made) in zip(SHARES, pairs, strict=True)]


def compare_lateness(real: NDArray[np.float64], synthetic: NDArray[np.float64]) -> Table:
    """Share of late flights among those that leave in each period. NOT private."""

    def late(flights: NDArray[np.float64], start: int) -> str:
        leaving = flights[(flights[:, 0] > start - HALF) & (flights[:, 0] <= start + 240 - HALF)]
        return f"{np.mean(leaving[:, 1] > LATE + HALF):.1%}"

    return [(period, late(real, start), late(synthetic, start)) for period, start in PERIODS.items()]


def as_markdown(header: Sequence[str], rows: Table) -> str:
    """A table that reads well as it is, too."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, [f"{'-' * (width - 1)}:" for width in widths], *rows]
    return "\n".join("| " + " | ".join(map(str.rjust, line, widths)) + " |" for line in lines)


def report(plan: str, tables: Sequence[tuple[str, str]]) -> str:
    """The whole tour on one page."""
    parts = [
        "# Synthetic flights",
        "Each of the two releases is 1-differentially private, whether a flight is added or removed; one flight that\n"
        "is in both is protected by the sum, epsilon 2. The synthetic flights are made from the releases alone, and\n"
        "any number of them can be made and shared without further cost.",
        "## The plan of the arrival delays",
        f"```\n{plan.strip()}\n```",
        "## Real against synthetic",
        "**This comparison is not private**: it was made with the real data beside. Do not publish it where the data\n"
        "is sensitive. These flights are public.",
        f"Real minutes are whole. A box is continuous and gives fractional ones, so late means beyond {LATE + HALF}.",
    ]
    for title, table in tables:
        parts += [f"### {title}", table]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main(Path("demo"))

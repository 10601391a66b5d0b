"""`privhp demo`: the command line on a year of flights, which come with the package."""

import io
import shlex
import shutil
from argparse import Namespace
from collections.abc import Iterator
from contextlib import chdir, nullcontext, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

from privhp.cli import main
from privhp.errors import FileError

FLIGHTS = Path(__file__).with_name("flights13.csv.gz")
DELAY = "integers:-120:1440"
PLAN = ["--epsilon", "1", "--expected-records", "300000"]


def run(options: Namespace) -> None:
    """Fit, sample, ask, report and compare, each by a command that is shown."""
    folder = Path(options.folder)
    if folder.exists() and not options.force:
        raise FileError(
            f"expected nothing at {folder}, got a folder or a file; choose another name, or replace files by --force"
        )
    folder.mkdir(exist_ok=True)
    if not FLIGHTS.is_file():
        raise FileError("expected the flights that come with privhp beside its code, got none; install it again")
    shutil.copyfile(FLIGHTS, folder / FLIGHTS.name)
    with redirect_stdout(io.StringIO()) if options.quiet else nullcontext(), chdir(folder):
        for sentence, command in _steps():
            print(f"# {sentence}\n\n$ {shlex.join(['privhp', *command])}", flush=True)
            silenced = ["--quiet"] if options.quiet and command[0] not in ("plan", "query") else []
            code = main([*command, *silenced])
            if code:
                raise SystemExit(code)  # it has said why
            print()
        print(
            f"All files are in {options.folder}, and the commands can be typed again there. Open report.html in a "
            "browser.\nNOT-PRIVATE.html shows the real flights beside. Each release is 1-differentially private; a "
            "flight that\nis in both is protected by the sum, epsilon 2."
        )


def _steps() -> Iterator[tuple[str, list[str]]]:
    """What is done, and the command that does it."""
    data, delays, pairs = FLIGHTS.name, "arr_delay.privhp", "departure_and_delay.privhp"
    fit, own = ["fit", data, "--force", *PLAN], ["--columns", "arr_delay"]
    yield (
        "What would one number per flight, the arrival delay, cost? No data is needed to tell.",
        ["plan", "--domain", DELAY, *PLAN],
    )
    yield (
        "Read the flights once and write a private release of the delays.",
        [*fit, *own, "--domain", DELAY, "-o", delays],
    )
    yield (
        "Make as many synthetic flights as the noisy count says there were.",
        ["sample", delays, "--force", *own, "-o", "synthetic.csv"],
    )
    yield (
        "Ask the release. Answers cost no more privacy.",
        [
            "query",
            delays,
            *own,
            "--where",
            "arr_delay <= 0",
            "--where",
            "arr_delay > 30",
            "--quantile",
            "0.05,0.5,0.95",
        ],
    )
    yield (
        "The same for two numbers per flight, departure and delay, as a table.",
        [*fit, "--domain", "sched_dep_min=integers:0:1439", "--domain", f"arr_delay={DELAY}", "-o", pairs],
    )
    yield (
        "As synthetic flights again.",
        ["sample", pairs, "--force", "-o", f"synthetic_pairs.{'parquet' if find_spec('pyarrow') else 'csv'}"],
    )
    morning, evening = "sched_dep_min < 600", "sched_dep_min >= 1080"
    asked = _where(*(f"{time}{late}" for time in (morning, evening) for late in ("", " and arr_delay > 30")))
    yield "Are flights late in the morning or in the evening?", ["query", pairs, *asked]
    title = "Flights from New York City"
    yield (
        "What was promised and what came out of it, on a page that is as private as the release.",
        ["report", pairs, "--force", "--title", title, "-o", "report.html"],
    )
    yield (
        "Now beside the real flights. This is NOT private: it is for you, and not for publication.",
        ["compare", data, delays, *own],
    )
    yield (
        "The same on a page. NOT private either.",
        ["report", pairs, "--force", "--against", data, "--title", title, "-o", "NOT-PRIVATE.html"],
    )


def _where(*conditions: str) -> list[str]:
    return [part for condition in conditions for part in ("--where", condition)]

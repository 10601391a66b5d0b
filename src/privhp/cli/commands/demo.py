"""`privhp demo`: the command line on a year of flights, which come with the package."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from privhp.cli.options import add_quiet
from privhp.cli.parsers import Commands, add_command

FLIGHTS = Path(__file__).with_name("flights13.csv.gz")
DELAY = "integers:-120:1440"
PLAN = ["--epsilon", "1", "--expected-records", "300000"]


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "demo",
        "Run the main commands on a year of flights. Each command is printed before it runs.",
        "example:\n  privhp demo flights\n",
    )
    parser.add_argument("folder", nargs="?", default="privhp-demo", help="output folder; default privhp-demo")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    add_quiet(parser)


def run(options: Namespace) -> None:
    """Fit, sample, query, report and compare, each with a printed command."""
    import io
    import shlex
    from contextlib import chdir, nullcontext, redirect_stdout

    from privhp.cli import main
    from privhp.errors import FileError
    from privhp.io.disk import write_file

    folder = Path(options.folder)
    if folder.exists() and not options.force:
        raise FileError(f"{folder} exists; choose another name, or replace its files with --force")
    folder.mkdir(exist_ok=True)
    if not FLIGHTS.is_file():
        raise FileError("the flights of the demo are missing from the installation; reinstall privhp")
    write_file(folder / FLIGHTS.name, [FLIGHTS.read_bytes()], mode=0o644)
    with redirect_stdout(io.StringIO()) if options.quiet else nullcontext(), chdir(folder):
        for sentence, command in _steps():
            print(f"# {sentence}\n\n$ {shlex.join(['privhp', *command])}", flush=True)
            silenced = ["--quiet"] if options.quiet and command[0] != "query" else []
            code = main([*command, *silenced])
            if code:
                raise SystemExit(code)  # the command has printed why
            print()
        print(
            f"All files are in {options.folder}; the commands can be repeated there. Open report.html in a browser.\n"
            "NOT-PRIVATE.html also shows the real flights. Each release has epsilon = 1 (pure differential privacy);\n"
            "both come from the same flights, so together they have epsilon = 2."
        )


def _steps() -> Iterator[tuple[str, list[str]]]:
    """Sentences and the commands that they introduce."""
    from importlib.util import find_spec

    data, delays, pairs = FLIGHTS.name, "arr_delay.privhp", "departure_and_delay.privhp"
    fit = ["fit", data, "--force", *PLAN]
    yield (
        "Plan a release of one number per flight, the arrival delay. No data is needed.",
        ["plan", "--domain", DELAY, *PLAN],
    )
    yield (
        "Read the flights and write a private release of the delays.",
        [*fit, "--columns", "arr_delay", "--domain", DELAY, "-o", delays],
    )
    yield (
        "Write as many synthetic delays as the noisy number of flights.",
        ["sample", delays, "--force", "-o", "synthetic.csv"],
    )
    yield (
        "Query the release. Queries cost no privacy.",
        [
            "query",
            delays,
            "--where",
            "arr_delay <= 0",
            "--where",
            "arr_delay > 30",
            "--quantile",
            "0.05,0.5,0.95",
        ],
    )
    yield (
        "Fit a table of two numbers per flight, departure and delay.",
        [*fit, "--domain", "sched_dep_min=integers:0:1439", "--domain", f"arr_delay={DELAY}", "-o", pairs],
    )
    yield (
        "Write synthetic flights.",
        ["sample", pairs, "--force", "-o", f"synthetic_pairs.{'parquet' if find_spec('pyarrow') else 'csv'}"],
    )
    morning, evening = "sched_dep_min < 600", "sched_dep_min >= 1080"
    asked = _where(*(f"{time}{late}" for time in (morning, evening) for late in ("", " and arr_delay > 30")))
    yield "Compare delays in the morning and in the evening.", ["query", pairs, *asked]
    title = "Flights from New York City"
    yield (
        "Write a report with guarantee, accuracy and plots. It is as private as the release.",
        ["report", pairs, "--force", "--title", title, "-o", "report.html"],
    )
    yield (
        "Compare the release with the real flights. NOT private: do not publish the result.",
        ["compare", data, delays],
    )
    yield (
        "Show the real flights in a report. NOT private either.",
        ["report", pairs, "--force", "--against", data, "--title", title, "-o", "NOT-PRIVATE.html"],
    )


def _where(*conditions: str) -> list[str]:
    return [part for condition in conditions for part in ("--where", condition)]

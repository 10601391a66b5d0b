"""Arguments and help. It imports nothing but the standard library, so that help is quick."""

import argparse
import difflib
import itertools
from typing import Any, NoReturn

DOMAINS = """\
domains:
  interval:0:1000            numbers from 0 to 1000
  interval:0.01:1e6:log      positive numbers over many magnitudes
  integers:-120:1440:clamp   whole numbers; those outside move to the nearer bound
  box:-9:2,49.8:61           points, one pair of bounds for each column
  time:2018-01-01:2020-12-31 times, in UTC unless they or :zone=Europe/Berlin say otherwise
  geo:-9:49.8:2:61           places: west, south, east, north; longitude and latitude
  categories:bus,tram,taxi   a list of values, with :other=rest for those that are not in it
  ipv4                       addresses, dotted or as whole numbers; ipv4:10.0.0.0/8 a network
  ipv6:2001:db8::/32         addresses of a network; ipv6 all of them
  fares.toml                 a file that says kind = "interval", low = 0, high = 1000
                             and, if you like, columns = ["fare"]; one of a table has a
                             section [columns.NAME] with such lines for each column

A column of a table may end in :nullable, where values may be missing, and in
:weight=2, which makes its distances count twice:
  --column fare=interval:0:1000:weight=2 --column delay=integers:-120:1440:nullable
  --column lon,lat=box:-9:2,49.8:61

Bounds must be public knowledge: never take them from the data.
"""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look."""
        end = "" if message.endswith("?") else ";"
        self.exit(2, f"privhp: error: {message}{end} see {self.prog} --help\n")


class CommandParser(Parser):
    """The parser of one command, which knows best what a misspelt option of it was meant to be."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse at once what is unknown, before anything that is missing."""
        for argument in itertools.takewhile("--".__ne__, args):
            option = argument.partition("=")[0]
            if option.startswith("--") and option not in self._option_string_actions:
                near = difflib.get_close_matches(option, self._option_string_actions, n=1)
                self.error(f"unrecognized arguments: {option}" + "".join(f"; did you mean {name}?" for name in near))
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return options, unknown


class Version(argparse.Action):
    """Print the version and leave."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> NoReturn:
        """Import it only now."""
        from privhp import __version__

        print(f"privhp {__version__}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="privhp",
        description="Turn sensitive records into a differentially private generator of synthetic ones.",
        epilog=(
            "example:\n"
            "  privhp fit trips.csv --columns fare --domain interval:0:1000 --epsilon 1 --records 1e6 -o fares.privhp\n"
            "  privhp sample fares.privhp -n 100000 --columns fare -o synthetic.csv\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True, parser_class=CommandParser)
    _add_plan(commands)
    _add_fit(commands)
    _add_sample(commands)
    _add_inspect(commands)
    _add_report(commands)
    return parser


def _add_plan(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    plan = _command(
        commands,
        "plan",
        "Show what a fit would guarantee and cost, without any data.",
        "example:\n  privhp plan --domain interval:0:1000 --epsilon 1 --records 1e6\n\n" + DOMAINS,
    )
    _add_plan_options(plan)


def _add_fit(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    fit = _command(
        commands,
        "fit",
        "Read records once and write a private release. A record that makes no sense is left out in silence.",
        "examples:\n"
        "  privhp fit trips.csv --columns fare --domain interval:0:1000 --epsilon 1 --records 1e6 -o fares.privhp\n"
        "  privhp fit gb.csv.gz --columns lon,lat --domain box:-9:2,49.8:61 --epsilon 0.5 --records 2e6 -o gb.privhp\n"
        "  privhp fit 'trips/*.parquet' --domain t.toml --epsilon 1 --records 1e8 --checkpoint t.state -o t.privhp\n"
        "  zcat log.gz | privhp fit - --no-header --columns 3 --domain ipv4 --epsilon 1 --records 1e7 -o log.privhp\n\n"
        + DOMAINS
        + "\nThe noisy number of records is told at the end. One near 0 means a wrong column or\nwrong bounds.\n",
    )
    fit.add_argument(
        "data",
        nargs="+",
        help="files or globs: .csv and .ndjson, also .gz and .zst, one record a line; .parquet, .arrow, .npy; "
        "- for standard input",
    )
    fit.add_argument(
        "--format",
        choices=["csv", "ndjson", "parquet", "arrow", "npy"],
        help="what the data is, where its name does not say it; csv by default",
    )
    fit.add_argument(
        "--columns", type=names, metavar="NAMES", help="columns of a record, such as lon,lat; by number if no header"
    )
    fit.add_argument(
        "--no-header",
        action="store_true",
        help="the first line is a record; number columns from 1; without --columns the first ones are read",
    )
    keeping = fit.add_argument_group("checkpoints, for files that take long")
    keeping.add_argument(
        "--checkpoint", metavar="FILE", help="save the state there now and then; confidential, removed at the end"
    )
    keeping.add_argument(
        "--every", type=seconds, default=30.0, metavar="TIME", help="how often, such as 30s, 5m or 1h; default 30s"
    )
    keeping.add_argument(
        "--resume", action="store_true", help="go on with the checkpoint; each record still counts exactly once"
    )
    _add_plan_options(fit)
    _add_output(fit, "release to write, such as fares.privhp")


def _add_sample(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    sample = _command(
        commands,
        "sample",
        "Write synthetic records. This can be done for ever without further cost to privacy.",
        "examples:\n"
        "  privhp sample fares.privhp -n 100000 --columns fare -o synthetic.csv\n"
        "  privhp sample gb.privhp -n 1e6 --seed 1 --columns lon,lat -o synthetic.parquet\n\n"
        "Records are spread evenly over the distribution, so that every cell gets its\n"
        "expected number to within one. Beyond a million rows this holds for each million\n"
        "of them. With --independent each is drawn by itself.\n",
    )
    sample.add_argument("release", help="a file written by privhp fit")
    sample.add_argument("-n", type=whole, metavar="ROWS", help="how many; by default the noisy number of records")
    sample.add_argument("--seed", type=whole, help="seed of the sampling, to get the same rows again")
    sample.add_argument("--independent", action="store_true", help="draw each record by itself")
    sample.add_argument(
        "--columns", type=names, metavar="NAMES", help="names for the columns of the file, such as lon,lat"
    )
    _add_output(sample, "file to write: .csv, .ndjson, .parquet, .arrow or .npy")


def _add_inspect(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    inspect = _command(
        commands,
        "inspect",
        "Show what a release promises and what it says; of a checkpoint, which is confidential, its plan alone.",
        "examples:\n  privhp inspect fares.privhp\n  privhp inspect --system\n",
    )
    what = inspect.add_mutually_exclusive_group(required=True)
    what.add_argument("file", nargs="?", help="a release or a checkpoint")
    what.add_argument("--system", action="store_true", help="show the version of privhp and which kernels it runs")


def _add_report(commands: "argparse._SubParsersAction[CommandParser]") -> None:
    report = _command(
        commands,
        "report",
        "Write a page for a browser that shows what a release promises and what it says. It needs no network.",
        "examples:\n"
        "  privhp report fares.privhp --columns fare -o fares.html\n"
        "  privhp report fares.privhp --columns fare --against trips.csv -o NOT-PRIVATE.html\n\n"
        "With --against the page shows the real records too. It is then NOT PRIVATE, and says so.\n",
    )
    report.add_argument("release", help="a file written by privhp fit")
    report.add_argument(
        "--columns", type=names, metavar="NAMES", help="names of the values of a record, where the release has none"
    )
    report.add_argument(
        "--against", nargs="+", metavar="DATA", help="real records to compare with, read like those of privhp fit"
    )
    report.add_argument("--no-header", action="store_true", help="the first line of DATA is a record")
    report.add_argument("--title", help="heading of the page; by default the name of the release")
    _add_output(report, "page to write, such as fares.html")


def _command(
    commands: "argparse._SubParsersAction[CommandParser]", name: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=description.split(".")[0],
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_plan_options(parser: argparse.ArgumentParser) -> None:
    plan = parser.add_argument_group("plan, fixed before the data")
    where = plan.add_mutually_exclusive_group(required=True)
    where.add_argument("--domain", help="where records live: see below")
    where.add_argument(
        "--column",
        action="append",
        metavar="NAME=DOMAIN",
        help="one column of a table, such as fare=interval:0:1000; once for each column",
    )
    plan.add_argument("--epsilon", required=True, help="privacy budget; smaller is more private and noisier")
    plan.add_argument(
        "--records", required=True, type=number, help="public guess of how many, such as 1e6; never a count of the data"
    )
    plan.add_argument(
        "--memory", metavar="SIZE", help="memory of the summary, for which the best plan is chosen; default 256KiB"
    )
    plan.add_argument(
        "--hot-cells", type=whole, help="the paper's plan instead, with so many cells grown at each level"
    )
    plan.add_argument("--exact-depth", type=whole, metavar="LEVEL", help="deepest level counted cell by cell")
    plan.add_argument("--depth", type=whole, metavar="LEVEL", help="deepest level of all")
    plan.add_argument(
        "--sketch-rows",
        type=whole,
        metavar="ROWS",
        help="rows of each sketch; fewer mean less noise and more collisions",
    )
    plan.add_argument("--sketch-width", type=whole, metavar="BUCKETS", help="buckets of a row")
    plan.add_argument("--expand", choices=["top", "all"], help="cells grown at the exact depth; default top")
    plan.add_argument(
        "--neighbours",
        choices=["add-remove", "zero-out", "replace-one"],
        help="what one person may change; default zero-out, or add-remove with --hot-cells",
    )
    plan.add_argument(
        "--max-records-per-person",
        type=whole,
        default=1,
        metavar="RECORDS",
        help="the most records that one person may have in the data; the guarantee covers a person "
        "with up to that many, and the noise grows with it; default 1",
    )


def _add_output(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=what)
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")
    parser.add_argument("--quiet", action="store_true", help="say nothing unless something is wrong")


def number(text: str) -> float:
    """An argument that is a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number such as 1e6, got {text!r}") from None


def whole(text: str) -> int:
    """An argument that is a whole number, also written as 1e6."""
    try:
        value = int(text)
    except ValueError:
        value = int(number(text)) if number(text).is_integer() else -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return value


def seconds(text: str) -> float:
    """An argument that is a duration such as 30s, 5m or 1h; without a letter, in seconds."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    digits, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        value = float(digits) * unit
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a time such as 30s, 5m or 1h, got {text!r}")
    return value


def names(text: str) -> list[str]:
    """An argument that is a list of columns."""
    return [name.strip() for name in text.split(",")]

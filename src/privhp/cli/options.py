"""Options that several commands share, and the types of their values."""

import argparse
import shlex
from typing import Any

from privhp.cli.parsers import CommandParser, OptionGroup, Options

DOMAINS = """\
domains:
  interval:0:1000            numbers from 0 to 1000
  interval:0:1000:step=0.01  decimals, such as amounts in cents; samples are such decimals, too
  interval:0.01:1e6:log      positive numbers on a logarithmic scale
  integers:-120:1440:clamp   integers; values outside the bounds are moved to the nearest bound
  box:-9:2,49.8:61           points, one pair of bounds per coordinate
  time:2018-01-01:2020-12-31 times, in UTC unless the values or :zone=Europe/Berlin give a zone;
                             :unit=D for dates; :format=%d.%m.%Y if they are not written as
                             2018-01-31, :format=epoch for seconds since 1970
  geo:-9:49.8:2:61           longitude and latitude: west, south, east, north
  categories:bus,tram,taxi   listed values; :other=rest collects all others
  pattern:[A-Z][0-9]{2}      codes with prefixes, such as postcodes: a regular expression of
                             finitely many texts; :ignore_case, :ignore=- leaves out characters
  pattern:file=codes.txt     the same for a list of all codes, one per line; also
                             categories:file=FILE, and taxonomy:file=FILE with paths such as
                             web/https
  ipv4                       addresses, dotted or as integers; ipv4:10.0.0.0/8 for a network
  ipv6:2001:db8::/32         addresses of a network; ipv6 for all addresses
  fares.toml                 a file with kind = "interval", low = 0, high = 1000 and optionally
                             columns = ["fare"]; for a table, one section [columns.NAME] per
                             column; privhp init writes a template; a section [plan] may hold
                             epsilon, expected_records, memory, max_records_per_person and person

A table has one --domain NAME=DOMAIN per column. A column may end in :nullable, if values
may be missing, and in :weight=2, which doubles its distances:
  --domain fare=interval:0:1000:weight=2 --domain delay=integers:-120:1440:nullable
  --domain lon,lat=box:-9:2,49.8:61

Bounds must be public knowledge. Never take them from the data.
"""

SIZES = ("hot_cells", "exact_depth", "depth", "sketch_rows", "sketch_width", "expand")
"""Options of the sizes of --method paper."""

FORMATS = ["csv", "ndjson", "parquet", "arrow", "npy"]

# The completions of a file argument, as in shtab.FILE: shtab is optional.
_FILE = {"bash": "_shtab_compgen_files", "zsh": "_files", "fish": "(__fish_complete_path (commandline -ct))"}


def number(text: str) -> float:
    """Value of an option: a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number such as 1e6, got {text!r}") from None


def integer(text: str) -> int:
    """Value of an option: a non-negative integer, which may be written as 1e6."""
    try:
        value = int(text)
    except ValueError:
        value = int(number(text)) if number(text).is_integer() else -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return value


def seconds(text: str) -> float:
    """Value of an option: a duration such as 30s, 5m or 1h; the default unit is seconds."""
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
    """Value of an option: column names, separated by commas."""
    return [name.strip() for name in text.split(",")]


def character(text: str) -> str:
    """Value of an option: a character; a tab and a space by their names."""
    return {"tab": "\t", r"\t": "\t", "space": " "}.get(text, text)


def quote_character(text: str) -> str:
    """Text of an option for the shell, which `character` reads."""
    return {"\t": "tab", r"\t": "tab", " ": "space"}.get(text) or shlex.quote(text)


def shares(text: str) -> list[float]:
    """Value of an option: numbers, separated by commas."""
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a number such as 0.5, or several as 0.25,0.5, got {text!r}"
        ) from None


def add_file(parser: Options, *flags: str, **settings: Any) -> None:
    """Add an argument that is the name of a file; shells complete it."""
    vars(parser.add_argument(*flags, **settings))["complete"] = _FILE


def add_data(parser: CommandParser) -> None:
    """Add the input files of a command and how to read them."""
    add_file(
        parser,
        "data",
        nargs="+",
        help="files or globs: .csv and .ndjson, also .gz and .zst; .parquet, .arrow, .npy; - for standard input",
    )
    parser.add_argument("--format", choices=FORMATS, help="input format, if the file name does not say; default csv")
    parser.add_argument(
        "--columns",
        type=names,
        metavar="NAMES",
        help="columns of a record, such as lon,lat; without a header, their numbers from 1",
    )
    add_csv(parser)


def add_persons(parser: CommandParser) -> None:
    """Add the column of persons."""
    parser.add_argument(
        "--person",
        metavar="NAME",
        help="column of the ids of persons, by which the files are sorted, as numbers or as LC_ALL=C sort does; of "
        "each person the first --max-records-per-person records are counted and the others left out, so do not sort "
        "these by values: sort -s keeps their order",
    )
    parser.add_argument(
        "--null-person",
        choices=["refuse", "one"],
        default="refuse",
        help="what a record without a person means; refuse: an error; one: all such records are one person's; default "
        "refuse",
    )


def add_csv(parser: CommandParser) -> None:
    """Add how to read CSV files: `--no-header` and the dialect."""
    group = parser.add_group("CSV files; nothing is guessed from their records")
    group.add_argument(
        "--no-header",
        action="store_true",
        help="the files have no header; columns are numbered from 1; without --columns, the first columns are read",
    )
    add_records(group)
    add_text(group)
    group.add_argument(
        "--null",
        type=names,
        metavar="TEXTS",
        help="texts that are null in nullable columns, separated by commas and in any case, such as NA,-; --null=-,NA "
        "if the first begins with -; empty fields are null too; default NA,N/A,null,NaN,\\N",
    )
    group.add_argument("--decimal", choices=[".", ","], default=".", help="decimal mark of numbers; default .")
    group.add_argument("--thousands", metavar="CHARACTER", help="separator of groups of three digits, such as . or ,")
    group.add_argument("--currency", metavar="SIGN", help="sign before or behind a number, such as $, EUR or %%")


def add_records(group: Options) -> None:
    """Add what a record of CSV files is."""
    group.add_argument(
        "--csv",
        choices=["rfc4180", "lines", "unquoted"],
        default="rfc4180",
        help="what a record is; rfc4180: quoted line breaks belong to the record, as CSV writers write them, and all "
        "quotes must be balanced; lines: every line is a record, for logs; unquoted: the same, and quotes are "
        "characters like others; default rfc4180",
    )


def add_text(group: Options) -> None:
    """Add how fields and characters of CSV files are written."""
    group.add_argument(
        "--delimiter",
        type=character,
        metavar="CHARACTER",
        help="character between two fields, such as ';', tab or space; default: a comma, and a tab in .tsv files",
    )
    group.add_argument(
        "--encoding",
        choices=["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"],
        default="utf-8",
        help="encoding of the text; cp1252 is that of Windows in Western Europe; default utf-8",
    )


def add_domain(group: Options, *, required: bool, plan_file: bool = False) -> None:
    """Add `--domain` and what excludes it: if it is required, a domain file; if asked for, `--plan`."""
    exclusive = group.add_exclusive_group(required=required)
    exclusive.add_argument(
        "--domain",
        action="append",
        metavar="DOMAIN",
        help="domain of the records, see below; NAME=DOMAIN for a column of a table, once per column",
    )
    if required:
        add_file(exclusive, "file", nargs="?", help="a domain file (.toml), in place of --domain")
    if plan_file:
        add_file(exclusive, "--plan", metavar="FILE", help="read the plan from a file that privhp plan -o wrote")


def add_plan(parser: CommandParser, *, plan_file: bool = False) -> None:
    """Add the options of a plan."""
    plan = add_learning_plan(parser, plan_file=plan_file, required=not plan_file)
    add_file(
        plan,
        "--partition",
        metavar="FILE",
        help="a release or a learned plan of such data, whose partition is used: one pass, and no cost of learning",
    )
    plan.add_argument(
        "--method",
        choices=["auto", "paper"],
        help="auto: the planner minimises the predicted error; paper: the settings of the paper, with --hot-cells "
        "and the other sizes below; default auto",
    )
    paper = parser.add_group("sizes of --method paper")
    paper.add_argument("--hot-cells", type=integer, metavar="CELLS", help="cells expanded at each sketched level")
    paper.add_argument("--exact-depth", type=integer, metavar="LEVEL", help="deepest level with exact counters")
    paper.add_argument("--depth", type=integer, metavar="LEVEL", help="deepest level")
    paper.add_argument(
        "--sketch-rows",
        type=integer,
        metavar="ROWS",
        help="rows of each sketch; fewer mean less noise and more collisions",
    )
    paper.add_argument("--sketch-width", type=integer, metavar="BUCKETS", help="buckets per row of a sketch")
    paper.add_argument("--expand", choices=["top", "all"], help="cells expanded at the exact depth; default top")


def add_learning_plan(parser: CommandParser, *, plan_file: bool = False, required: bool = False) -> OptionGroup:
    """Add the options of a plan of the planner, and return their group; a file beside the data may be the domain."""
    plan = parser.add_group("plan, fixed before the data is read")
    add_domain(plan, required=required, plan_file=plan_file)
    plan.add_argument("--epsilon", help="privacy loss of the release; smaller is more private and noisier")
    plan.add_argument(
        "--expected-records",
        type=number,
        metavar="RECORDS",
        help="expected number of records, such as 1e6: a public guess, never a count of the data",
    )
    plan.add_argument("--memory", metavar="SIZE", help="memory for counters and scratch; default 256KiB or more")
    plan.add_argument(
        "--neighbours",
        choices=["add-remove", "replace-one"],
        help="neighbouring relation of the guarantee; default add-remove",
    )
    plan.add_argument(
        "--passes",
        type=integer,
        metavar="PASSES",
        help="number of times that the data is read: 2 or 3 learn a partition on private samples first, which lowers "
        "the error of most data, see privhp plan --passes 1; 1 for streams and for summaries to merge; default 3, or 1 "
        "for standard input and with --partition",
    )
    plan.add_argument(
        "--max-records-per-person",
        type=integer,
        metavar="RECORDS",
        help="largest number of records of one person; the guarantee covers all of them, and the noise grows in "
        "proportion; fit and learn enforce it with --person; fit --plan FILE --person NAME may count fewer than the "
        "plan says; default 1",
    )
    plan.add_argument(
        "--pan-private",
        action="store_true",
        default=None,
        help="draw noise a second time at release: a summary file that was stolen while records were still to come and "
        "the release together keep the guarantee, but not a checkpoint of fit; errors grow by about 40%% where noise "
        "dominates",
    )
    return plan


def add_names(parser: CommandParser) -> None:
    """Add `--columns` for a release without column names."""
    parser.add_argument(
        "--columns", type=names, metavar="NAMES", help="column names, such as lon,lat, if the release has none"
    )


def add_by(parser: CommandParser, answers: str) -> None:
    """Add `--by` for answers of each group of records."""
    parser.add_argument(
        "--by",
        metavar="COLUMN",
        help=f"{answers} for each value of this column: categories, a tree, up to 128 integers",
    )


def add_output(parser: CommandParser, text: str, *, default: str | None = None, optional: bool = False) -> None:
    """Add the options of an output file."""
    required = default is None and not optional
    add_file(parser, "-o", "--output", required=required, default=default, metavar="FILE", help=text)
    parser.add_argument("--force", action="store_true", help="replace an existing file")
    add_quiet(parser)


def add_json(parser: CommandParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of text")


def add_quiet(parser: CommandParser) -> None:
    """Add `--quiet`."""
    parser.add_argument("--quiet", action="store_true", help="print nothing except warnings and errors")

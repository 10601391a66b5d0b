"""Arguments that several commands take: where records live, the plan, what is written."""

import argparse

from privhp.cli.arguments.values import names, number, whole

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
                             section [columns.NAME] with such lines for each column;
                             privhp init writes one to fill in

A column of a table may end in :nullable, where values may be missing, and in
:weight=2, which makes its distances count twice:
  --domain fare=interval:0:1000:weight=2 --domain delay=integers:-120:1440:nullable
  --domain lon,lat=box:-9:2,49.8:61

Bounds must be public knowledge: never take them from the data.
"""


def add_domain(
    group: argparse._ActionsContainer, *, required: bool, plan_file: bool = False
) -> argparse._MutuallyExclusiveGroup:
    """The domain: `--domain` once, or once for each column of a table; or a plan file."""
    where = group.add_mutually_exclusive_group(required=required)
    where.add_argument(
        "--domain",
        action="append",
        metavar="DOMAIN",
        help="domain of the records, see below; NAME=DOMAIN for a column of a table, once for each column",
    )
    if plan_file:
        where.add_argument(
            "--plan", metavar="FILE", help="all of this from a file that privhp plan -o wrote, in place of the rest"
        )
    return where


def add_plan(parser: argparse.ArgumentParser, *, plan_file: bool = False) -> None:
    """All that a plan is made of; or a file that has it."""
    plan = parser.add_argument_group("plan, fixed before the data")
    add_domain(plan, required=True, plan_file=plan_file)
    plan.add_argument("--epsilon", required=not plan_file, help="privacy budget; smaller is more private and noisier")
    plan.add_argument(
        "--expected-records",
        required=not plan_file,
        type=number,
        help="public guess of how many, such as 1e6; never a count of the data",
    )
    plan.add_argument(
        "--memory", metavar="SIZE", help="memory of the summary, for which the best plan is chosen; default 256KiB"
    )
    plan.add_argument(
        "--method",
        choices=["auto", "paper"],
        help="auto: the planner minimises the predicted error; paper: the paper's settings, with --hot-cells and the "
        "other sizes; default auto",
    )
    plan.add_argument("--hot-cells", type=whole, metavar="CELLS", help="cells expanded at each sketched level")
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
        help="what one person may change; default zero-out, or add-remove with --method paper or --mergeable",
    )
    plan.add_argument(
        "--max-records-per-person",
        type=whole,
        metavar="RECORDS",
        help="the most records that one person may have in the data; the guarantee covers a person "
        "with up to that many, and the noise grows with it; default 1",
    )


def add_names(parser: argparse.ArgumentParser) -> None:
    """What the values of a record are called."""
    parser.add_argument(
        "--columns", type=names, metavar="NAMES", help="names of the values of a record, where the release has none"
    )


def add_output(parser: argparse.ArgumentParser, what: str, *, default: str | None = None) -> None:
    """A file to write, and how much is said about it."""
    parser.add_argument("-o", "--output", required=default is None, default=default, metavar="FILE", help=what)
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")
    add_quiet(parser)


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """For scripts."""
    parser.add_argument("--quiet", action="store_true", help="say nothing unless something is wrong")

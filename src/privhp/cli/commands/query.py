"""`privhp query`: shares, moments, quantiles and heavy hitters from a release."""

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from privhp.cli.options import add_by, add_file, add_names, names, number, shares
from privhp.cli.parsers import Commands, add_command

if TYPE_CHECKING:
    from privhp.answers.generator import Generator
    from privhp.cli.answer_tables import Answers

KINDS = ("where", "shares", "mean", "std", "correlation", "quantile")
"""Options that ask for an answer, beside --heavy-hitters."""

_EXAMPLES = """\
examples:
  privhp query fares.privhp --where 'fare < 10' --where 'fare < 5 or fare >= 100'
  privhp query fares.privhp --mean --std --quantile 0.25,0.5,0.75
  privhp query t.privhp --mean --marginal fare --correlation fare,tip
  privhp query t.privhp --mean --marginal fare --by paid
  privhp query t.privhp --shares --marginal paid
  privhp query log.privhp --where 'value in 10.0.0.0/8' --heavy-hitters 0.05 --json

conditions, joined by and; conditions on one column also by or; without parentheses around them:
  fare >= 5 and fare < 10           numbers; on a continuous scale < and <= are the same
  5 <= fare < 10                    the same; fare between 5 and 10 has both ends
  port in [22, 445], port != 80     any of several integers, all but one
  pickup < 2018-02-01               times; a date is the whole day; quote '2018-02-01 12:30'
  kind = cash                       categories and nodes of a tree, such as service = web/https
  kind in [cash, card, 'gift card'] any of several values; kind != cash, kind not in [cash, card]
  code in E11*, code = E11.9        prefixes and texts of a pattern; code in [E10*, E11*]
  source in 10.0.0.0/8              addresses; source = 10.0.0.1; source in [10.0.0.0/8, 1.1.1.1]
  lon,lat in -9:49.8:2:61           places: west, south, east, north
  x,y in 0:1,2:3                    points: one pair per coordinate; x < 0.5 for a single one
  delay is null, delay is not null  missing values; also delay = null, delay = NA

A release keeps the names that fit had by --columns or --domain. Without names a value is called
value, the coordinates of a point x1, x2, ..., and those of a place longitude and latitude. Queries
cost no privacy. The standard error covers noise and discretisation. The columns 90% from and to
are the interval that holds 90% of true values; it need not be symmetric. A region finer than the
cells of the release has an interval alone, and no share. At least and at most are what the cells
allow if values are heaped inside them. Plans of --method paper have no standard errors.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands, "query", "Compute shares, means, quantiles and heavy hitters from a release.", _EXAMPLES
    )
    add_file(parser, "release", help="a release that privhp fit wrote")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="share of the records that satisfy the condition; may be repeated; other answers are of all counted "
        "records",
    )
    parser.add_argument(
        "--shares", action="store_true", help="share of each value of categories, of a tree or of up to 128 integers"
    )
    parser.add_argument("--mean", action="store_true", help="mean of numbers or times")
    parser.add_argument("--std", action="store_true", help="standard deviation of numbers or times")
    parser.add_argument(
        "--correlation", type=names, metavar="COLUMNS", help="correlation of two columns of a table, such as fare,tip"
    )
    parser.add_argument(
        "--quantile", type=shares, default=[], metavar="SHARES", help="quantiles at these shares, such as 0.25,0.5"
    )
    parser.add_argument(
        "--heavy-hitters",
        type=number,
        metavar="SHARE",
        help="prefixes, values or regions with at least this share of the records",
    )
    parser.add_argument(
        "--marginal", metavar="COLUMN", help="column of a table for all but --where and --correlation: its marginal"
    )
    add_by(parser, "--mean, --std and --quantile")
    parser.add_argument("--json", action="store_true", help="print one JSON object per answer and line")
    add_names(parser)


def run(options: Namespace) -> None:
    """Print the answers: shares, moments, quantiles, heavy hitters."""
    from privhp.api import load
    from privhp.cli.answer_tables import describe_noise, name_outside, print_answers
    from privhp.cli.messages import warn
    from privhp.cli.paths import read_file
    from privhp.cli.watching import watch
    from privhp.errors import QueryError

    if not any(getattr(options, name) for name in KINDS) and options.heavy_hitters is None:
        raise QueryError("nothing to query; give --where, --mean, --quantile or others; see privhp query --help")
    if options.by is not None and not (options.mean or options.std or options.quantile):
        raise QueryError("--by groups the records of --mean, --std and --quantile; give one of them")
    with watch(options):
        generator = read_file(load, options.release)
        answers = list(_answer(generator, options))
    warn(name_outside(generator, options), describe_noise(generator, options.release))
    print_answers(answers, as_json=options.json)


def _answer(generator: "Generator", options: Namespace) -> Iterator["Answers"]:
    from privhp.cli import answer_tables, column_tables

    if options.where:
        yield answer_tables.find_masses(generator, options.where, options)
    if options.shares:
        yield answer_tables.find_shares(generator, options)
    if moments := [kind for kind in ("mean", "std") if getattr(options, kind)]:
        yield column_tables.find_moments(generator, moments, options)
    if options.correlation:
        yield column_tables.find_correlation(generator, options.correlation)
    if options.quantile:
        yield column_tables.find_quantiles(generator, options.quantile, options, flag="--quantile")
    if options.heavy_hitters is not None:
        yield answer_tables.find_heavy_hitters(generator, options.heavy_hitters, options)

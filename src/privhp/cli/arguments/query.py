"""Arguments of `privhp query`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import add_names
from privhp.cli.arguments.values import number, shares

_EXAMPLES = """\
examples:
  privhp query fares.privhp --columns fare --where 'fare < 10' --where 'fare >= 100'
  privhp query fares.privhp --quantile 0.25,0.5,0.75
  privhp query t.privhp --quantile 0.5 --marginal fare
  privhp query log.privhp --where 'value in 10.0.0.0/8' --heavy-hitters 0.05 --json

conditions, joined by and:
  fare >= 5 and fare < 10           numbers; on a continuous scale < and <= are the same
  pickup < 2018-02-01               times; a date alone is its midnight; '2018-02-01 12:30' in quotes
  kind = cash                       categories and nodes of a tree, such as service = web/https
  kind in [cash, card, 'gift card'] any of several
  source in 10.0.0.0/8              addresses; source = 10.0.0.1
  lon,lat in -9:49.8:2:61           places: west, south, east, north
  x,y in 0:1,2:3                    points: a pair for each number; x < 0.5 of one of them
  delay is null, delay is not null  values that may be missing

Where a release has no names, a value is called value, and those of a point x1, x2
and so on; --columns gives other names. Answers come from the release alone and cost
no more privacy. With plans that tell it, they have a standard error: the truth lies
within 1.645 of them nine times in ten.
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands, "query", "Ask a release for shares of records, quantiles and heavy prefixes or values.", _EXAMPLES
    )
    parser.add_argument("release", help="a file written by privhp fit")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="share of records that meet it; may be repeated",
    )
    parser.add_argument(
        "--quantile", type=shares, default=[], metavar="SHARES", help="values that these shares lie at or below"
    )
    parser.add_argument(
        "--heavy-hitters",
        type=number,
        metavar="SHARE",
        help="prefixes, values or regions with at least this share of records",
    )
    parser.add_argument(
        "--marginal", metavar="COLUMN", help="the column of a table that --quantile and --heavy-hitters are about"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line for each answer")
    add_names(parser)

"""Arguments of `privhp compare`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import add_domain, add_quiet
from privhp.cli.arguments.values import names

_EXAMPLES = """\
examples:
  privhp compare trips.csv fares.privhp --columns fare
  privhp compare trips.csv synthetic.csv --columns fare --domain interval:0:1000

Either side is a file of records or a release; a release is taken as the distribution
that it is, and knows its domain. The answers are NOT PRIVATE where a side is real
records: they are for whoever may see those. Records that the domain has no cell for
are left out. All others are kept in memory, 16 bytes or more each.

For a yardstick the same distances are told between two random halves of REAL: a
generator that is closer than that is off by less than chance is.
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands,
        "compare",
        "Tell how far synthetic records or a release are from real records: NOT PRIVATE.",
        _EXAMPLES,
    )
    parser.add_argument("real", help="records, as privhp fit reads them, or a release")
    parser.add_argument("synthetic", help="the same")
    add_domain(parser, required=False)
    parser.add_argument("--columns", type=names, metavar="NAMES", help="columns of a record, such as lon,lat")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    add_quiet(parser)

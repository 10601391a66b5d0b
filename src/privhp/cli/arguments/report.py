"""Arguments of `privhp report`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import add_names, add_output

_EXAMPLES = """\
examples:
  privhp report fares.privhp --columns fare -o fares.html
  privhp report fares.privhp --columns fare --against trips.csv -o NOT-PRIVATE.html

With --against the page shows the real records too. It is then NOT PRIVATE, and says so.
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(
        commands,
        "report",
        "Write a page for a browser that shows what a release promises and what it says. It needs no network.",
        _EXAMPLES,
    )
    parser.add_argument("release", help="a file written by privhp fit")
    add_names(parser)
    parser.add_argument(
        "--against", nargs="+", metavar="DATA", help="real records to compare with, read like those of privhp fit"
    )
    parser.add_argument("--no-header", action="store_true", help="the first line of DATA is a record")
    parser.add_argument("--title", help="heading of the page; by default the name of the release")
    add_output(parser, "page to write, such as fares.html")

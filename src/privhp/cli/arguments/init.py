"""Arguments of `privhp init`."""

from privhp.cli.arguments.parsers import Commands, command
from privhp.cli.arguments.shared import add_output

_EXAMPLES = """\
examples:
  privhp init trips/0.parquet
  privhp init trips.csv -o trips.toml

Only names and types are read: those of the schema of a Parquet or Arrow file, and the
names alone in the first line of CSV text, which must be a header: words of a record
would be taken for names. No value is looked at, nor what a file says of its smallest
and largest ones. Bounds are left blank: they must come from public
knowledge, what anyone could say of such records without seeing them.
"""


def add(commands: Commands) -> None:
    """Put the command among the others."""
    parser = command(commands, "init", "Write a domain file to fill in, from the schema of the data.", _EXAMPLES)
    parser.add_argument("data", help="a file with a schema: .parquet, .arrow, or .csv with a header")
    add_output(parser, "file to write; default domain.toml", default="domain.toml")

"""`privhp init`: a template of a domain file, from the schema of the data."""

from argparse import Namespace

from privhp.cli.options import add_file, add_output
from privhp.cli.parsers import Commands, add_command

_EXAMPLES = """\
examples:
  privhp init trips/0.parquet
  privhp init trips.csv -o trips.toml

Only names and types of columns are read: from the schema of a Parquet or Arrow file, or
the names in the first line of a CSV file. That line must be a header, because the words
of a record would be taken for names. No value is read, nor the statistics of a Parquet
file. Bounds are left blank: take them from public knowledge, never from the data.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "init", "Write a template of a domain file from the schema of the data.", _EXAMPLES)
    add_file(parser, "data", help="a file with a schema: .parquet, .arrow, or .csv with a header")
    add_output(parser, "file to write; default domain.toml", default="domain.toml")


def run(options: Namespace) -> None:
    """Write the template."""
    from privhp.cli.domain_template import domain_template
    from privhp.cli.paths import check_output, read_file
    from privhp.errors import FileError
    from privhp.io.disk import replace_file
    from privhp.io.sources.byte_streams import STANDARD_INPUT
    from privhp.io.sources.schemas import read_schema

    if not options.output.endswith(".toml"):
        raise FileError(f"a domain file is TOML; choose a name such as domain.toml in place of {options.output}")
    output = check_output(options.output, force=options.force)
    if options.data == STANDARD_INPUT:
        raise FileError("init cannot read a schema from standard input; give a file")
    text = domain_template(read_file(read_schema, options.data))
    with replace_file(output) as file:
        file.write(text.encode())
    if not options.quiet:
        print(f"wrote {output}; fill in the bounds from public knowledge, never from the data")

"""`privhp init`: a template of a domain file, from the schema of the data."""

import shlex
from argparse import Namespace
from functools import partial

from privhp.cli.options import add_file, add_output, add_records, add_text, quote_character
from privhp.cli.parsers import Commands, add_command

_EXAMPLES = """\
examples:
  privhp init 'trips/*.parquet'
  privhp init trips.csv --header -o trips.toml
  privhp init log.gz --no-header -o log.toml

Only names and types of columns are read, from the schema of a Parquet or Arrow file, and of
several files from that of the first. No value is read, nor the statistics of a Parquet file. CSV
has no schema: --header copies the first line of the file as column names, so look at the line
first. With --no-header the columns are called column1, column2, ..., and nothing is copied from
the file. Bounds are left blank: take them from public knowledge, never from the data.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "init", "Write a template of a domain file from the schema of the data.", _EXAMPLES)
    add_file(
        parser,
        "data",
        nargs="+",
        help="a file, or several or a glob, of which the first is read: .parquet, .arrow, or .csv with --header or "
        "--no-header",
    )
    first_line = parser.add_exclusive_group(required=False)
    first_line.add_argument(
        "--header",
        action="store_true",
        default=None,
        help="the first line of the CSV file names the columns; the names are copied",
    )
    first_line.add_argument(
        "--no-header",
        dest="header",
        action="store_false",
        help="the first line of the CSV file is a record; the columns are numbered from 1",
    )
    add_records(parser)
    add_text(parser)
    add_output(parser, "file to write; default domain.toml", default="domain.toml")


def run(options: Namespace) -> None:
    """Write the template."""
    from privhp.cli.domain_template import blank_keys, domain_template
    from privhp.cli.paths import check_output, read_file
    from privhp.errors import FileError
    from privhp.io.disk import write_file
    from privhp.io.sources.csv_dialect import CsvDialect
    from privhp.io.sources.files import find_files
    from privhp.io.sources.identity import STANDARD_INPUT
    from privhp.io.sources.schemas import read_schema

    if not options.output.endswith(".toml"):
        raise FileError(f"a domain file is TOML; choose a name such as domain.toml in place of {options.output}")
    if STANDARD_INPUT in options.data:
        raise FileError("init cannot read a schema from standard input; give a file")
    first, *_ = find_files(options.data)  # a missing input is reported before an output that exists
    output = check_output(options)
    dialect = CsvDialect(records=options.csv, delimiter=options.delimiter, encoding=options.encoding)
    columns = read_file(partial(read_schema, header=options.header, csv=dialect), first.name)
    text = domain_template(columns, header=options.header)
    write_file(output, [text.encode()], mode=0o644, replace=options.force)
    if not options.quiet:
        copied = ", with the first line of the file as column names" if options.header else ""
        print(f"wrote {output}{copied}; fill in the bounds from public knowledge, never from the data\n")
        print(f"{blank_keys(columns)}\n\nThen: {_next_command(options, len(columns))}")
        if options.header is False:
            print("--columns lists the numbers of the columns that you keep.")
        if options.header is False and len(columns) == 1 and options.delimiter is None:
            print("The file has one column. If it has several, run privhp init again with --delimiter.")


def _next_command(options: Namespace, width: int) -> str:
    """Command that fits files with this number of columns once the template is filled in.

    A file without a header and with spaces between its fields is a log, in which every line is a record.
    """
    numbers = ",".join(map(str, range(1, width + 1)))
    numbered = f" --no-header --columns {numbers}" if options.header is False else ""
    is_log = options.csv == "rfc4180" and options.header is False and options.delimiter == " "
    records = "lines" if is_log else options.csv
    lines = "" if records == "rfc4180" else f" --csv {records}"
    delimiter = "" if options.delimiter is None else f" --delimiter {quote_character(options.delimiter)}"
    encoding = "" if options.encoding == "utf-8" else f" --encoding {options.encoding}"
    return f"privhp fit {shlex.join([*options.data, options.output])}{lines}{numbered}{delimiter}{encoding}"

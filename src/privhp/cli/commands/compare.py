"""`privhp compare`: distances between real and synthetic records. NOT PRIVATE."""

from argparse import Namespace
from typing import Any

from privhp.cli.options import add_csv, add_domain, add_file, add_json, add_quiet, names
from privhp.cli.parsers import Commands, add_command

_EXAMPLES = """\
examples:
  privhp compare trips.csv fares.privhp
  privhp compare trips.csv synthetic.csv --columns fare --domain interval:0:1000

Each side is a file of records or a release; next to a release, the file of records is REAL
in either order. A release has a domain, and its distribution is compared without
sampling. The result is NOT PRIVATE if a side is real records. Records outside the domain are
skipped, and their number is printed; all others are held in memory, at least 16 bytes each.

The options of CSV files are those of REAL. A file of SYNTHETIC is plain CSV with a header, as
privhp sample writes it.

The baseline is the distance between two random halves of REAL. A generator closer than
the baseline is within sampling error.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "compare",
        "Measure the distance between real records and synthetic records or a release: NOT PRIVATE.",
        _EXAMPLES,
    )
    add_file(parser, "real", help="records, in any format of privhp fit, or a release")
    add_file(parser, "synthetic", help="records or a release")
    add_domain(parser, required=False)
    parser.add_argument("--columns", type=names, metavar="NAMES", help="columns of a record, such as lon,lat")
    add_json(parser)
    add_csv(parser)
    add_quiet(parser)


def run(options: Namespace) -> None:
    """Print the distances and their baselines."""
    from glob import has_magic
    from pathlib import Path

    from privhp.answers.generator import Generator
    from privhp.api import compare, is_release, load
    from privhp.cli.data_options import csv_dialect
    from privhp.cli.paths import read_file
    from privhp.cli.plan_options import domain_from_options
    from privhp.cli.streams import print_object
    from privhp.cli.watching import WatchedSource, watch
    from privhp.errors import DomainError
    from privhp.io.sources.files import FileSource
    from privhp.io.sources.identity import STANDARD_INPUT
    from privhp.io.sources.selection import Selection

    for name in (options.real, options.synthetic):
        if name != STANDARD_INPUT and not has_magic(name):
            Path(name).stat()  # a missing file is refused, whatever else is missing
    given = domain_from_options(options) if options.domain else None
    with watch(options) as progress:
        sides: list[Any] = [
            read_file(load, name) if is_release(name) else name for name in (options.synthetic, options.real)
        ]
        domain = next((side.domain for side in sides if isinstance(side, Generator)), given)
        if domain is None:
            raise DomainError("neither side is a release, so the domain is unknown; give --domain")
        declared = Selection(domain, options.columns, header=not options.no_header, csv=csv_dialect(options))
        plain = Selection(domain, None if options.no_header else options.columns)
        mixed = any(isinstance(side, Generator) for side in sides)  # the file beside a release is the real side
        comparison = compare(
            *(
                side if isinstance(side, Generator) else WatchedSource(FileSource([side], selection), progress)
                for side, selection in zip(sides, (declared if mixed else plain, declared), strict=True)
            ),
            domain=given,
        )
    print_object(comparison.to_dict()) if options.json else print(comparison)

"""`privhp report`: an HTML report on a release."""

from argparse import Namespace
from pathlib import Path

from privhp.cli.options import add_csv, add_file, add_names, add_output
from privhp.cli.parsers import Commands, add_command
from privhp.cli.signals import saying_what_is_kept

_EXAMPLES = """\
examples:
  privhp report fares.privhp -o fares.html
  privhp report fares.privhp --against trips.csv -o NOT-PRIVATE.html

With --against the page shows real records as well. It is then NOT PRIVATE, and says so.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(
        commands,
        "report",
        "Write an HTML page with the guarantee, the accuracy and plots of a release. It needs no network.",
        _EXAMPLES,
    )
    add_file(parser, "release", help="a release that privhp fit wrote")
    add_names(parser)
    add_file(
        parser, "--against", nargs="+", metavar="DATA", help="real records to compare with, in any format of privhp fit"
    )
    add_csv(parser)
    parser.add_argument("--title", help="heading of the page; default: the name of the release")
    add_output(parser, "page to write, such as fares.html")


@saying_what_is_kept
def run(options: Namespace) -> None:
    """Write the page."""
    from privhp.api import check_page, load, report
    from privhp.cli.data_options import csv_dialect
    from privhp.cli.paths import check_output, read_file
    from privhp.cli.watching import watch
    from privhp.planning.guarantee import state_guarantee

    check_page(options.output)
    output = check_output(options)
    with watch(options):
        generator = read_file(load, options.release)
        real = report(
            generator,
            output,
            title=options.title or Path(options.release).stem,
            columns=options.columns,
            against=None if options.against is None else [Path(name) for name in options.against],
            header=not options.no_header,
            replace=options.force,
            csv=csv_dialect(options),
        )
    if not options.quiet:
        if options.against is None:
            print(f"wrote {output}, as private as the release; open it in a browser\n{state_guarantee(generator.plan)}")
        else:
            print(f"wrote {output}, NOT PRIVATE: it shows real records; open it in a browser\n{real}")

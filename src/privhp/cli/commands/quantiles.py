"""`privhp quantiles`: evenly spaced quantiles from a release."""

from argparse import Namespace

from privhp.cli.options import add_by, add_file, add_names, integer
from privhp.cli.parsers import Commands, add_command

_EXAMPLES = """\
examples:
  privhp quantiles fares.privhp                # deciles: 0.1, 0.2, ..., 0.9
  privhp quantiles fares.privhp 99             # percentiles
  privhp quantiles t.privhp 3 --marginal fare  # quartiles of a column
  privhp quantiles t.privhp 3 --marginal fare --by paid  # of each kind of payment

All quantiles come from one release and cost no privacy, however many there are. Each has a
standard error and an interval that holds the true quantile nine times in ten. Plans of
--method paper have none. privhp query --quantile takes shares of your choice.
"""


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = add_command(commands, "quantiles", "Compute evenly spaced quantiles from a release.", _EXAMPLES)
    add_file(parser, "release", help="a release that privhp fit wrote")
    parser.add_argument("number", type=integer, nargs="?", default=9, help="how many quantiles, such as 99 (default 9)")
    parser.add_argument("--marginal", metavar="COLUMN", help="column of a table: its marginal")
    add_by(parser, "the quantiles")
    parser.add_argument("--json", action="store_true", help="print one JSON object per quantile and line")
    add_names(parser)


def run(options: Namespace) -> None:
    """Print the quantiles."""
    from privhp.api import load
    from privhp.cli.answer_tables import describe_noise, print_answers
    from privhp.cli.column_tables import find_quantiles
    from privhp.cli.messages import warn
    from privhp.cli.paths import read_file
    from privhp.cli.watching import watch
    from privhp.errors import QueryError

    if options.number < 1:
        raise QueryError("expected at least 1 quantile, such as 9 for deciles")
    shares = [rank / (options.number + 1) for rank in range(1, options.number + 1)]
    with watch(options):
        generator = read_file(load, options.release)
        answers = find_quantiles(generator, shares, options, flag="privhp quantiles")
    warn(describe_noise(generator, options.release))
    print_answers([answers], as_json=options.json)
